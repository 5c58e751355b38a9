"""From stored answers to the words of users: their letters, their orientation, JSON fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from unjam.puzzles.grid import OUT, Move, Symmetry, symmetries
from unjam.puzzles.puzzle import Puzzle

OUT_BYTE = 255
ANSWER_FIELDS = (
    "family",
    "metric",
    "key",
    "outcome",
    "length",
    "lower",
    "upper",
    "moves",
    "expanded",
    "generated",
    "seconds",
    "algorithm",
    "heuristic",
    "pruned",
    "reason",
)


def pack_moves(moves: Iterable[Move]) -> bytes:
    """Two bytes a move."""
    return bytes(OUT_BYTE if cell == OUT else cell for move in moves for cell in move)


def unpack_moves(data: bytes, back: Symmetry) -> list[Move]:
    """The moves as ``back`` shows them."""
    places = [OUT if byte == OUT_BYTE else back.cells[byte] for byte in data]
    return [Move(cell, to) for cell, to in zip(places[::2], places[1::2], strict=True)]


@cache
def way_back(width: int, height: int, number: int) -> Symmetry:
    """The inverse of symmetry ``number`` of a ``width`` x ``height`` grid."""
    return symmetries(width, height)[number].inverse(width, height)


def symmetry_number(puzzle: Puzzle) -> int:
    """Which of its grid's symmetries leads from the puzzle to its canonical form."""
    return symmetries(puzzle.width, puzzle.height).index(puzzle.to_canonical)


def answer(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of ``solution`` as JSON fields, the moves still in bytes; outcome None: not solved yet."""
    return {name: row[name] for name in ANSWER_FIELDS} | {"key": row["key"].hex()}


def write_moves(row: Mapping[str, Any], puzzle: Puzzle, back: Symmetry) -> list[str] | None:
    """The moves of a row of ``solution`` in the letters of ``puzzle``, which ``back`` leads to."""
    moves = row["moves"]
    return None if moves is None else puzzle.notation(unpack_moves(moves, back), row["metric"], checked=True)


def known_holds(known: Mapping[str, int | None], row: Mapping[str, Any]) -> bool | None:
    """Whether the pack's count for this metric is right; None where that is not known or not claimed."""
    if row["metric"] not in known:
        return None
    claim = known[row["metric"]]
    match row["outcome"]:
        case "optimal" | "unsolvable":
            return bool(claim == row["length"])
        case "bounded" if claim is None:
            return False if row["upper"] is not None else None
        case "bounded" if claim is not None:
            refuted = claim < row["lower"] or (row["upper"] is not None and claim > row["upper"])
            return False if refuted else None
    return None
