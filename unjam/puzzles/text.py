"""Reading grids of text. Sizes are checked before anything is allocated; every refusal says where and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isqrt
from typing import TypedDict

from unjam.errors import ParseError

MAX_CELLS = 128
MAX_SIDE = 16


class Place(TypedDict):
    """Where a cell is, as ParseError takes it: ``raise ParseError(..., **place(cell, width))``."""

    row: int
    column: int


def place(cell: int, width: int) -> Place:
    return {"row": cell // width + 1, "column": cell % width + 1}


def read_rows(
    board: object,
    *,
    field: str = "board",
    max_cells: int = MAX_CELLS,
    max_side: int = MAX_SIDE,
    square: bool = False,
) -> list[str]:
    """The rows of a board given as text (rows separated by new lines or ``/``) or as a list of rows.

    The rows are of one length, from 1 to ``max_side``, and hold printable characters only: no spaces, no ``/``. Empty
    lines before and after the board are ignored. With ``square``, text without separators is a square board (``AA..``
    is 2x2), and a board of one row has to be given as a list. Raises ParseError with ``field``, row and column.
    """
    limit = f"a board has at most {max_cells} cells, {max_side} on a side"
    rows: Sequence[object]
    if isinstance(board, str):
        if len(board) > 4 * max_cells:
            raise ParseError(f"the text has {len(board):,} characters; {limit}", field=field)
        text = board.replace("\r\n", "\n").strip("\n")
        rows = text.replace("/", "\n").split("\n") if text else []
        if square and len(rows) == 1:
            side = isqrt(len(text))
            if side * side != len(text):
                message = f"{len(text)} characters are no square board; separate the rows by new lines or /"
                raise ParseError(message, field=field)
            rows = [text[at : at + side] for at in range(0, len(text), side)]
    elif isinstance(board, list | tuple):
        rows = board
    else:
        raise ParseError(f"expected text or a list of rows, not {type(board).__name__}", field=field)

    if not rows:
        raise ParseError("the board is empty", field=field)
    if len(rows) > max_side:
        raise ParseError(f"the board has {len(rows):,} rows; {limit}", field=field)
    checked: list[str] = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, str):
            raise ParseError(f"a row is text, not {type(row).__name__}", row=number, field=field)
        if len(row) > max_side:
            raise ParseError(f"the row has {len(row):,} cells; {limit}", row=number, field=field)
        if not row.isprintable() or " " in row or "/" in row:
            column = next(i for i, char in enumerate(row) if not char.isprintable() or char in " /")
            raise ParseError(f"{row[column]!a} cannot be in a board", row=number, column=column + 1, field=field)
        if not row:
            raise ParseError("the row is empty", row=number, field=field)
        if checked and len(row) != len(checked[0]):
            message = f"the row has {len(row)} cells, the first row has {len(checked[0])}"
            raise ParseError(message, row=number, field=field)
        checked.append(row)
    if len(checked) * len(checked[0]) > max_cells:
        raise ParseError(f"the board is {len(checked[0])}x{len(checked)}; {limit}", field=field)
    return checked


def shown(value: object) -> str:
    """A value for an error message, cut short."""
    if isinstance(value, str):
        return ascii(value[:40])
    try:
        return ascii(value)[:40]
    except (ValueError, RecursionError):  # Python writes no integer of thousands of digits, and no list as deep
        return f"this {type(value).__name__}"


def refuse_fields(family: str, unknown: Mapping[str, object], known: Iterable[str]) -> None:
    """Raise ParseError if there are fields that the family does not have; all have a board."""
    for name in unknown:
        raise ParseError(f"{family} has no such field; it has {', '.join(('board', *known))}", field=name[:40])
