"""One board a line, with a number or two beside it, as the well-known lists of boards come."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import isqrt
from typing import Any

from unjam.errors import ParseError
from unjam.packs.entry import Entry
from unjam.packs.fields import Defaults, read_entry
from unjam.packs.lines import Line, is_comment

_MAX_SIDE = 16  # a longer row of letters is a whole board
_MAX_TILES_SIDE = 6
_TILES = re.compile(r"[_.,/\s]*\d[\d_.,/\s]*")


def is_board_line(text: str) -> bool:
    """Whether a line is a whole board: rows separated by ``/``, or more than any row has."""
    if "/" in text:
        return ":" not in text
    if _TILES.fullmatch(text):
        return len(text.replace(",", " ").split()) > _MAX_TILES_SIDE
    return any(len(word) > _MAX_SIDE for word in text.split())


def read(lines: Iterable[Line], defaults: Defaults) -> Iterator[Entry]:
    index = 0
    for line in lines:
        if not line.error and (not line.text.strip() or is_comment(line.text)):
            continue
        if line.error:
            yield Entry(index, line.number, error=line.error)
        else:
            yield _read(index, line, defaults)
        index += 1


def _read(index: int, line: Line, defaults: Defaults) -> Entry:
    try:
        is_tiles = defaults.family == "tiles" or (defaults.family is None and bool(_TILES.fullmatch(line.text)))
        fields = _tiles(line.text) if is_tiles else _grid(line.text, defaults.family)
    except ParseError as error:
        return Entry(index, line.number, error=str(error))
    return read_entry(index, line.number, fields, defaults)


def _tiles(text: str) -> dict[str, Any]:
    """``[id] tiles... [optimum]``; the optimum is in steps. Korf's list of 15-puzzles is written so."""
    fields: dict[str, Any] = {"family": "tiles"}
    words = text.replace(",", " ").split()
    if "/" in text or _is_square(len(words)):
        return fields | {"board": text}
    for before, after in ((1, 0), (1, 1)):
        if _is_square(len(words) - before - after):
            fields |= {"name": words[0], "board": " ".join(words[before : len(words) - after])}
            if after:
                fields["step"] = _number(words[-1], "the optimum")
            return fields
    raise ParseError(f"{len(words)} numbers are no square board; separate the rows of another with /")


def _grid(text: str, family: str | None) -> dict[str, Any]:
    """``[moves] board [states]``; Michael Fogleman's database of Rush Hour boards is written so."""
    words = text.split()
    if len(words) > 3:
        raise ParseError("a line is a board, with the number of moves before it and of states after it, or without")
    fields: dict[str, Any] = {}
    if len(words) > 1 and words[0].isdigit():
        fields["known"] = _number(words.pop(0), "the number of moves")
    if len(words) > 1:
        _number(words.pop(), "the number of states")
    if len(words) > 1:
        raise ParseError(f"{words[0]!r:.40} is no number of moves")
    if family is None and "/" not in words[0]:
        fields["family"] = "rush"
    return fields | {"board": words[0]}


def _is_square(count: int) -> bool:
    return 2 <= isqrt(max(count, 0)) <= _MAX_TILES_SIDE and isqrt(count) ** 2 == count


def _number(word: str, what: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 16):
        raise ParseError(f"{what} is a number, not {word!r:.40}")
    return int(word)
