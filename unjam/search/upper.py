"""A solution for boards of tiles whose search did not end: not the shortest, but real, and soon there."""

from __future__ import annotations

import time
from dataclasses import replace

from unjam._kernels import Control, Limits, PatternTable
from unjam.puzzles.grid import Move
from unjam.puzzles.tiles import Tiles
from unjam.search import tables
from unjam.search.encode import run_tiles_upper
from unjam.search.solution import Outcome, Solution

SHARE = 1 / 8  # of a budget that the search leaves over for this; of a small one up to a half
LARGE, LARGE_SHARE = 16, 1 / 2  # boards of more cells: few searches end soon, and wide beams find far better solutions
LEAST_SECONDS, MOST_SECONDS = 0.05, 2.0
MOST_NODES = 10_000_000


def share(puzzle: Tiles, limits: Limits) -> Limits:
    """What is kept of the limits of a solve, so that ``with_upper`` can keep within them. All of the memory."""
    part = LARGE_SHARE if puzzle.width * puzzle.height > LARGE else SHARE
    seconds = max(min(limits.seconds * part, MOST_SECONDS), min(limits.seconds / 2, LEAST_SECONDS))
    return Limits(seconds, min(int(limits.nodes * part), MOST_NODES), limits.bytes)


def with_upper(
    puzzle: Tiles, solution: Solution, limits: Limits, control: Control, table: PatternTable | None
) -> Solution:
    """The bounded ``solution`` with moves, and ``optimal`` if they are no more than its lower bound.

    There always are moves, even when nothing is left of the limits: tiles brought home one by one take a millisecond or
    two. Without a time limit the same limits and tables give the same moves.
    """
    began = time.perf_counter()
    limits = Limits(limits.seconds, min(limits.nodes, MOST_NODES), limits.bytes)
    if table is None:
        table = tables.quickly(puzzle, min(limits.seconds, MOST_SECONDS) / 3)
        limits = Limits(limits.seconds - (time.perf_counter() - began), limits.nodes, limits.bytes)
    result = run_tiles_upper(puzzle, solution.metric, solution.lower or 0, limits, control, table)
    solution = replace(
        solution,
        lower=result.lower,
        expanded=solution.expanded + result.expanded,
        generated=solution.generated + result.generated,
        peak_bytes=max(solution.peak_bytes, result.peak_bytes),
    )
    if solution.upper is None or result.upper < solution.upper:
        moves = tuple(Move(cell, to) for cell, to in result.moves)
        solution = replace(solution, upper=result.upper, moves=moves)
    if solution.upper == solution.lower:
        solution = replace(solution, outcome=Outcome.OPTIMAL, length=solution.upper, reason=None)
    return solution
