"""CSV with a header that names the fields."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from unjam.errors import PackError, ParseError
from unjam.packs.entry import Entry
from unjam.packs.fields import Defaults, from_text, read_entry, refuse_misspelt
from unjam.packs.lines import MAX_LINE, Line

_DELIMITERS = ",;\t"
_MAX_ROW_LINES = 300  # a quoted board may go over lines, but a quote that is never closed must not eat the pack


def is_header(text: str) -> bool:
    """Whether a line names the columns of a pack."""
    return any(_is_board(name) for name in _columns(text))


def read(lines: Iterable[Line], defaults: Defaults, board_column: str | None) -> Iterator[Entry]:
    """Raises PackError if the header is no good."""
    lines = iter(lines)
    first = next(lines)
    if first.error:
        raise PackError(f"line {first.number}: {first.error}")
    delimiter = _delimiter(first.text)
    columns = _columns(first.text)
    board = _board_column(columns, board_column)
    names = ["board" if name == board else "" if name == "board" else name for name in columns]
    named = [name for name in names if name]
    if twice := sorted(name for name, count in Counter(named).items() if count > 1):
        raise PackError(f"column {twice[0]!r:.40} is there twice")
    try:
        refuse_misspelt(dict.fromkeys(named))
    except ParseError as error:
        raise PackError(f"header: {error}") from None
    return _entries(lines, names, delimiter, defaults)


def _entries(lines: Iterator[Line], names: list[str], delimiter: str, defaults: Defaults) -> Iterator[Entry]:
    waiting: list[Line] = []
    index = 0
    while row := _row(lines, waiting):
        first = row[0]
        if not first.error and not any(line.text.strip() for line in row):
            continue
        try:
            fields = _fields(row, names, delimiter)
        except (csv.Error, ParseError) as problem:
            waiting[:0] = row[1:]  # the quote may be the mistake: what follows is tried as rows of their own
            yield Entry(index, first.number, error=str(problem))
        else:
            yield read_entry(index, first.number, fields, defaults)
        index += 1


def _row(lines: Iterator[Line], waiting: list[Line]) -> list[Line]:
    """The lines of the next row, those in ``waiting`` first: more than one while a quote is open."""
    row: list[Line] = []
    quotes = length = 0
    while len(row) < _MAX_ROW_LINES and length <= MAX_LINE:
        line = waiting.pop(0) if waiting else next(lines, None)
        if line is None:
            break
        row.append(line)
        quotes += line.text.count('"')
        length += len(line.text)
        if line.error or quotes % 2 == 0:
            break
    return row


def _fields(row: list[Line], names: list[str], delimiter: str) -> dict[str, Any]:
    for line in row:
        if line.error:
            raise ParseError(line.error if line is row[0] else "a quote is opened and never closed")
    text = "\n".join(line.text for line in row)
    if text.count('"') % 2:
        raise ParseError("a quote is opened and never closed")
    cells = next(csv.reader([text], delimiter=delimiter, strict=True))
    if len(cells) != len(names):
        raise ParseError(f"{len(cells)} cells, but the header has {len(names)}")
    return from_text({name: cell for name, cell in zip(names, cells, strict=True) if name})


def _board_column(columns: list[str], asked: str | None) -> str:
    if asked is not None:
        if asked.strip().lower() not in columns:
            raise PackError(f"there is no column {asked!r}; there are {', '.join(columns)}")
        return asked.strip().lower()
    candidates = ["board"] if "board" in columns else [name for name in columns if _is_board(name)]
    if not candidates:
        raise PackError(f"no column is called 'board': name it with --board-column, one of {', '.join(columns):.500}")
    if len(candidates) > 1:
        raise PackError(f"choose the column of the boards with --board-column: {', '.join(candidates):.500}")
    return candidates[0]


def _is_board(column: str) -> bool:
    return column == "board" or column == "tiles" or column.startswith(("board_", "tiles_"))


def _columns(text: str) -> list[str]:
    try:
        return [name.strip().lower() for name in next(csv.reader([text], delimiter=_delimiter(text)))]
    except (csv.Error, StopIteration):
        return []


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)
