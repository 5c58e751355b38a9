"""Boards of rush by the million: the kernel reads them, gives their canonical form, and searches thousands a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from unjam._kernels import Control, rush_form, rush_many
from unjam.puzzles import from_canonical
from unjam.puzzles.grid import symmetries
from unjam.puzzles.puzzle import Metric
from unjam.puzzles.rush import Rush
from unjam.search.solution import Budget, Outcome, Solution
from unjam.search.solve import Method, limits_of, solution_of

METHOD = Method("bfs", None, None)  # what `choose` says of rush where the user forces nothing

SIDES = ("right", "left", "top", "bottom")


def quick_rush(board: object, *, exit: object = None, **unknown: Any) -> Rush | None:
    """What ``Rush.parse`` gives, ten times as fast; None where the rules must look, for it is wrong or unusual."""
    if unknown or not isinstance(board, str) or not board.isascii() or exit not in (None, *SIDES):
        return None
    form = rush_form(board, str(exit or ""))
    if form is None:
        return None
    width, height, text, side, symmetry, canonical = form
    puzzle = Rush(width, height, text, side)
    puzzle.note_canonical(f'{{"board":"{canonical}","exit":"right"}}', symmetries(width, height)[symmetry])
    return puzzle


def solve_many(
    canonical: Sequence[str], metric: Metric, budget: Budget, seconds: float, control: Control
) -> list[Solution | None]:
    """Solve canonical boards of rush, each within the budget, until ``seconds`` have passed: as many as were come to.

    None stands for a board that ``solve`` has to look at, a large one. The answers have passed the C++ checker.
    """
    boards = [orjson.loads(text)["board"] for text in canonical]
    plain = [board if isinstance(board, str) and board.isascii() else "" for board in boards]
    found = rush_many(plain, metric, limits_of(budget), seconds, control)
    return [
        _without_search(text, metric) if result is None else solution_of(result, metric, METHOD, wall, cpu)
        for text, (result, wall, cpu) in zip(canonical, found, strict=False)
    ]


def _without_search(canonical: str, metric: Metric) -> Solution | None:
    reason = from_canonical(Rush.family, canonical).unsolvable_reason()
    return None if reason is None else Solution(metric, Outcome.UNSOLVABLE, reason=reason)
