"""Which algorithm for which puzzle, and the way to the kernels and back."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Literal

from unjam._kernels import Control, Limits, PatternTable, Result
from unjam.errors import MetricError, SearchError, TableError, VerificationError
from unjam.puzzles.grid import Move
from unjam.puzzles.parkout import Parkout
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.puzzles.tiles import Tiles
from unjam.search import table_files, tables
from unjam.search.atlas import MAX_CELLS, TilesAtlas, find_atlas
from unjam.search.encode import run_kernel, walking_distance_fits
from unjam.search.interrupt import interruptibly
from unjam.search.partitions import tables_for
from unjam.search.solution import NO_LIMIT, Budget, Outcome, Solution, ended
from unjam.search.upper import share, with_upper
from unjam.search.verify import check

Algorithm = Literal["bfs", "two-way", "astar", "idastar"]
Heuristic = Literal["manhattan", "linear-conflict", "walking-distance", "pdb"]

ALGORITHMS: tuple[Algorithm, ...] = ("bfs", "two-way", "astar", "idastar")
HEURISTICS: tuple[Heuristic, ...] = ("manhattan", "linear-conflict", "walking-distance", "pdb")


@dataclass(frozen=True, slots=True)
class Method:
    """How a puzzle is searched."""

    algorithm: str
    heuristic: str | None  # "pdb" needs a table
    pruned: bool | None
    tries_table: bool = False  # and uses it instead of the heuristic
    tries_atlas: bool = False  # instead of a search


def choose(
    puzzle: Puzzle,
    metric: Metric,
    algorithm: str | None = None,
    heuristic: str | None = None,
    prune: bool | None = None,
) -> Method:
    """The method for a puzzle, with what the user forces; raises SearchError where that does not fit."""
    if algorithm is not None and algorithm not in ALGORITHMS:
        raise SearchError(f"no such algorithm {algorithm!r}; there are {', '.join(ALGORITHMS)}")
    if heuristic is not None and heuristic not in HEURISTICS:
        raise SearchError(f"no such heuristic {heuristic!r}; there are {', '.join(HEURISTICS)}")
    if heuristic is not None and not isinstance(puzzle, Tiles):
        raise SearchError(f"heuristics can be chosen for tiles only, not for {puzzle.family}")
    if algorithm == "two-way" and not isinstance(puzzle, Tiles):
        raise SearchError(f"searching from both ends needs a puzzle with one known goal position, not {puzzle.family}")
    if isinstance(puzzle, Parkout):
        return Method(algorithm or "astar", None, prune is not False)
    if prune:
        raise SearchError(f"pruning is for parking lots, not for {puzzle.family}")
    if not isinstance(puzzle, Tiles):
        return Method(algorithm or "bfs", None, None)
    if algorithm in ("bfs", "two-way"):
        if heuristic is not None:
            raise SearchError("breadth-first search uses no heuristic")
        return Method(algorithm, None, None)
    walking = walking_distance_fits(puzzle)
    if heuristic == "walking-distance" and not walking:
        raise SearchError(f"the walking-distance table of a {puzzle.width}x{puzzle.height} board is too large")
    if heuristic == "linear-conflict" and metric == "slide":
        raise SearchError("linear-conflict is not admissible for slides")
    if heuristic == "pdb" and metric == "slide":
        raise SearchError("pattern databases count steps and are not admissible for slides")
    if heuristic == "pdb" and not tables_for(puzzle):
        raise SearchError(f"there are no pattern databases for a {puzzle.width}x{puzzle.height} board")
    default = "walking-distance" if walking else "manhattan" if metric == "slide" else "linear-conflict"
    tries_atlas = algorithm is None and heuristic is None and puzzle.width * puzzle.height <= MAX_CELLS
    algorithm = algorithm or "idastar"
    tries_table = algorithm == "idastar" and heuristic is None and metric == "step"
    return Method(algorithm, heuristic or default, None, tries_table, tries_atlas)


def check_table(puzzle: Puzzle, metric: str | None, algorithm: str | None, heuristic: str | None) -> None:
    """Raise the TableError with which ``solve`` would end; other errors are left to it."""
    try:
        method = choose(puzzle, puzzle.check_metric(metric), algorithm, heuristic)
    except (MetricError, SearchError):
        return
    if method.heuristic == "pdb" and puzzle.unsolvable_reason() is None:
        assert isinstance(puzzle, Tiles)
        tables.check_required(puzzle)


def solve(
    puzzle: Puzzle,
    metric: str | None = None,
    budget: Budget = Budget(),
    *,
    algorithm: str | None = None,
    heuristic: str | None = None,
    prune: bool | None = None,
    control: Control | None = None,
) -> Solution:
    """Find and prove the shortest solution, within a budget.

    ``metric`` defaults to the family's own. ``algorithm`` (ALGORITHMS), ``heuristic`` (HEURISTICS, tiles only) and
    ``prune`` (parkout only: a car leaves as soon as it may) default to what is quickest. ``control`` lets another
    thread watch and cancel the search; without it Ctrl-C does. Raises MetricError and SearchError for what does not fit
    the puzzle, TableError where ``pdb`` is asked for and there is no table; a budget that ends is an outcome, and for
    tiles one with a solution (``unjam.search.upper``).
    """
    metric = puzzle.check_metric(metric)
    method = choose(puzzle, metric, algorithm, heuristic, prune)
    reason = puzzle.unsolvable_reason()
    if reason is not None:
        return Solution(metric, Outcome.UNSOLVABLE, reason=reason)
    if control is not None:
        return _search(puzzle, metric, budget, method, control)
    return interruptibly(partial(_search, puzzle, metric, budget, method))


def _search(puzzle: Puzzle, metric: Metric, budget: Budget, method: Method, control: Control) -> Solution:
    wall, cpu = time.perf_counter(), time.thread_time()
    solution = _from_atlas(puzzle, metric) if method.tries_atlas else None
    if solution is None:
        solution = _from_search(puzzle, metric, budget, method, control)
    try:
        check(puzzle, solution)
    except VerificationError as error:
        solution = replace(solution, outcome=Outcome.FAILED, length=None, upper=None, moves=(), reason=str(error))
    return replace(solution, seconds=time.perf_counter() - wall, cpu_seconds=time.thread_time() - cpu)


def _from_atlas(puzzle: Puzzle, metric: Metric) -> Solution | None:
    """The answer, if there is an atlas of such boards."""
    assert isinstance(puzzle, Tiles)
    atlas = find_atlas(puzzle.width, puzzle.height, puzzle.goal.index(0), metric)
    if isinstance(atlas, TableError):
        table_files.warn(atlas)
    if not isinstance(atlas, TilesAtlas):
        return None
    moves = atlas.solution(puzzle)
    assert moves is not None  # unsolvable boards are told by their parity before
    length = len(moves)
    return Solution(metric, Outcome.OPTIMAL, length, length, length, moves, algorithm="atlas")


def _from_search(puzzle: Puzzle, metric: Metric, budget: Budget, method: Method, control: Control) -> Solution:
    began = time.perf_counter()
    whole = limits_of(budget)
    method, table = _with_table(puzzle, method, control, whole.seconds)
    kept = share(puzzle, whole) if isinstance(puzzle, Tiles) else Limits(0, 0, 0)
    seconds = max(whole.seconds - kept.seconds - (time.perf_counter() - began), 0)
    limits = Limits(seconds, whole.nodes - kept.nodes, whole.bytes)
    result = run_kernel(puzzle, metric, method.algorithm, method.heuristic, bool(method.pruned), limits, control, table)
    solution = solution_of(result, metric, method)
    if isinstance(puzzle, Tiles) and solution.outcome is Outcome.BOUNDED and not control.cancelled:
        seconds = max(whole.seconds - (time.perf_counter() - began), 0)
        left = Limits(seconds, max(whole.nodes - solution.generated, 0), whole.bytes)
        solution = with_upper(puzzle, solution, left, control, table)
    return solution


def limits_of(budget: Budget) -> Limits:
    """The budget as the kernels take it."""
    return Limits(
        inf if budget.seconds is None else budget.seconds,
        NO_LIMIT if budget.nodes is None else budget.nodes,
        NO_LIMIT if budget.bytes is None else budget.bytes,
    )


def _with_table(puzzle: Puzzle, method: Method, control: Control, seconds: float) -> tuple[Method, PatternTable | None]:
    if not isinstance(puzzle, Tiles):
        return method, None
    if method.heuristic == "pdb":
        table = tables.required(puzzle, control, seconds)
        return (method if table else replace(method, heuristic="manhattan")), table  # no time left for either
    table = tables.at_hand(puzzle, control, seconds) if method.tries_table else None
    return (replace(method, heuristic="pdb") if table else method), table


def solution_of(
    result: Result, metric: Metric, method: Method, seconds: float = 0.0, cpu_seconds: float = 0.0
) -> Solution:
    """What a kernel has found by this method."""
    outcome = Outcome(result.outcome)
    has_bounds = outcome in (Outcome.OPTIMAL, Outcome.BOUNDED)
    reason: str | None = result.reason or None
    if outcome is Outcome.UNSOLVABLE:
        reason = "every position that can be reached was searched"
    elif outcome is Outcome.BOUNDED and reason != "cancelled":
        reason = ended(result.reason)
    return Solution(
        metric,
        outcome,
        length=result.length if outcome is Outcome.OPTIMAL else None,
        lower=result.lower if has_bounds else None,
        upper=result.upper if has_bounds and result.upper >= 0 else None,
        moves=tuple([Move(cell, to) for cell, to in result.moves]) if has_bounds else (),
        reason=reason,
        expanded=result.expanded,
        generated=result.generated,
        peak_states=result.peak_states,
        peak_bytes=result.peak_bytes,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        profile=tuple(result.profile),
        algorithm=method.algorithm,
        heuristic=method.heuristic,
        pruned=method.pruned,
    )
