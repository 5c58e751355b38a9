"""Is a proven count really the least? Proven once more, by a search of another kind than the one behind the claim."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from unjam._kernels import Control
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.puzzles.tiles import Tiles
from unjam.search.encode import run_kernel, walking_distance_fits
from unjam.search.interrupt import interruptibly
from unjam.search.solution import Budget, Outcome, Solution
from unjam.search.solve import Method, choose, limits_of, solution_of, solve
from unjam.search.verify import verify

MOST_BOTH_ENDS = 45_000_000  # positions of the layers in the middle, about, so that all fit in 2 GB
TURNS = 2.4  # ways on from a board of tiles in steps, about; in slides the longer side less one


@dataclass(frozen=True, slots=True)
class Proof:
    """``holds`` is None where the budget ended before the second search could tell. ``second`` is its own answer."""

    holds: bool | None
    reason: str | None  # why not, or which budget ended
    second: Solution


def prove(
    puzzle: Puzzle, claim: Solution, budget: Budget = Budget(), *, cancelled: Callable[[], bool] = lambda: False
) -> Proof:
    """Whether the lower bound of an answer that ``verify`` lets pass holds, or that there is no solution.

    Replayed moves show that a puzzle needs no more moves than is claimed; this shows that it needs no fewer. The second
    search ends as soon as it knows as much. ``second_method`` says how it differs from the one behind the claim; nor
    does it use the reasons why some puzzles need no search. What it finds is replayed by the Python rules: raises
    VerificationError where that fails. ``cancelled`` is asked some times a second.
    """
    if isinstance(puzzle, Tiles) and claim.outcome is Outcome.UNSOLVABLE:
        return _prove_parity(puzzle, claim.metric)
    method = second_method(puzzle, claim)
    began = time.perf_counter()

    def search(control: Control) -> Solution:
        how = method.algorithm, method.heuristic, bool(method.pruned)
        result = run_kernel(puzzle, claim.metric, *how, limits_of(budget), control)
        return solution_of(result, claim.metric, method)

    def watch(control: Control) -> None:
        if cancelled() or (claim.lower is not None and control.depth >= claim.lower):
            control.cancel()

    second = replace(interruptibly(search, watch), seconds=time.perf_counter() - began)
    verify(puzzle, second)
    return _judged(claim, second)


def second_method(puzzle: Puzzle, claim: Solution) -> Method:
    """A search that shares as little as can be with the one behind the claim, and can still end.

    Klotski, rush and parkout: A* by single pieces for breadth-first search, and the reverse. Tiles: from both ends and
    without any bound where that fits in memory, else IDA* with another heuristic.
    """
    usual = choose(puzzle, claim.metric)
    used = claim.algorithm or usual.algorithm
    if not isinstance(puzzle, Tiles):
        return choose(puzzle, claim.metric, "astar" if used == "bfs" else "bfs")
    if used == "two-way":
        return choose(puzzle, claim.metric, "idastar", usual.heuristic)
    if puzzle.width * puzzle.height <= 12 or _fits_both_ends(puzzle, claim):
        return choose(puzzle, claim.metric, "two-way")
    heuristics = ["manhattan"] if claim.metric == "slide" else ["linear-conflict", "manhattan"]
    if walking_distance_fits(puzzle):
        heuristics.insert(0, "walking-distance")
    other = next(heuristic for heuristic in heuristics if heuristic != (claim.heuristic or usual.heuristic))
    return choose(puzzle, claim.metric, "idastar", other)


def _fits_both_ends(puzzle: Tiles, claim: Solution) -> bool:
    turns = max(puzzle.width, puzzle.height) - 1 if claim.metric == "slide" else TURNS
    return claim.lower is not None and turns ** (claim.lower / 2) <= MOST_BOTH_ENDS


def _prove_parity(puzzle: Tiles, metric: Metric) -> Proof:
    """Moves that exchange two tiles and nothing else do not exist: each exchanges the blank with one tile, and an even
    number of them brings the blank back, but one exchange is odd. So a board has no solution if it has one with two of
    its tiles exchanged; which is found, and replayed.
    """
    one, other = [cell for cell, tile in enumerate(puzzle.board) if tile][:2]
    board = list(puzzle.board)
    board[one], board[other] = board[other], board[one]
    exchanged = replace(puzzle, board=tuple(board))
    solution = solve(exchanged, metric, Budget(nodes=1), algorithm="bfs")
    verify(exchanged, solution)
    if solution.upper is None:
        reason = "it has no solution with two tiles exchanged, so it has one as it is"
        return Proof(False, reason, Solution(metric, Outcome.BOUNDED, lower=1, reason=reason))
    reason = f"with two tiles exchanged it has a solution of {solution.upper} moves"
    return Proof(True, None, Solution(metric, Outcome.UNSOLVABLE, reason=reason))


def _judged(claim: Solution, second: Solution) -> Proof:
    how = second.algorithm
    if second.outcome is Outcome.UNSOLVABLE:
        holds = claim.outcome is Outcome.UNSOLVABLE
        return Proof(holds, None if holds else f"{how} finds no way to the goal", second)
    if second.upper is not None and (claim.lower is None or second.upper < claim.lower):
        return Proof(False, f"{how} finds a solution of {second.upper} moves", second)
    if claim.lower is not None and second.lower is not None and second.lower >= claim.lower:
        holds = claim.upper is None or second.lower <= claim.upper
        return Proof(holds, None if holds else f"{how} finds that {second.lower} moves are needed", second)
    return Proof(None, f"{second.reason}: {how} knows that {second.lower} moves are needed, no more", second)
