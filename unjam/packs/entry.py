"""One entry of a pack, read: a puzzle with what the pack says about it, or the reason why it is no puzzle."""

from __future__ import annotations

from dataclasses import dataclass, field

from unjam.puzzles.puzzle import Metric, Puzzle


@dataclass(frozen=True, slots=True)
class Entry:
    """The ``index``-th entry of a pack (from 0), which starts at ``line`` (from 1).

    Either ``puzzle`` or ``error`` is None. ``metric`` is None where the pack asks for none; ``known`` holds the counts
    that the pack claims, by metric, None for "unsolvable".
    """

    index: int
    line: int
    puzzle: Puzzle | None = None
    metric: Metric | None = None
    name: str | None = None
    tags: tuple[str, ...] = ()
    known: dict[str, int | None] = field(default_factory=dict)
    error: str | None = None
