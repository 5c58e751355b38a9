"""What a search is allowed to spend, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unjam.puzzles.grid import Move
from unjam.puzzles.puzzle import Metric

NO_LIMIT = 2**64 - 1  # of nodes or bytes, in the words of the kernels


class Outcome(StrEnum):
    """How a solve ended. ``bounded`` is "gave up": never the same as ``unsolvable``."""

    OPTIMAL = "optimal"
    UNSOLVABLE = "unsolvable"
    BOUNDED = "bounded"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one solve: wall-clock seconds, generated nodes, and bytes of search memory; None is no limit."""

    seconds: float | None = None
    nodes: int | None = None
    bytes: int | None = 2_000_000_000


def ended(budget: str) -> str:
    """The reason of ``bounded`` answers: ``budget`` is seconds, nodes or bytes."""
    return f"the budget of {budget} ended"


@dataclass(frozen=True, slots=True)
class Solution:
    """The answer to one puzzle in one metric.

    ``lower <= optimum <= upper``; ``upper`` is None while no solution is known, and both are None when the puzzle is
    unsolvable. ``length`` is None unless the outcome is optimal. ``moves`` are cells of the puzzle that was asked.
    ``profile`` holds the nodes of each layer (breadth-first search) or bound (IDA*), from the start on.
    """

    metric: Metric
    outcome: Outcome
    length: int | None = None
    lower: int | None = None
    upper: int | None = None
    moves: tuple[Move, ...] = ()
    reason: str | None = None  # why unsolvable, which budget ended, or what failed
    expanded: int = 0
    generated: int = 0
    peak_states: int = 0
    peak_bytes: int = 0
    seconds: float = 0.0  # wall clock
    cpu_seconds: float = 0.0
    profile: tuple[int, ...] = ()
    algorithm: str | None = None  # "bfs", "two-way", "astar", "idastar", "atlas", or None where no search was needed
    heuristic: str | None = None
    pruned: bool | None = None  # parkout: whether "leave now" pruning was used
