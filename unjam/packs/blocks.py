"""Plain text: boards as they are drawn, between blank lines, with ``name: value`` lines where more is to be said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from unjam.errors import ParseError
from unjam.packs.entry import Entry
from unjam.packs.fields import FIELDS, METRICS, Defaults, from_text, read_entry
from unjam.packs.lines import MAX_LINE, Line, is_comment

_MAX_BLOCK_LINES = 1000
_HEADER = re.compile(rf"(?:({'|'.join((*FIELDS, *METRICS, 'optimal'))}):|([A-Za-z_][\w-]*):(?=\s))\s*(.*)")


def read(lines: Iterable[Line], defaults: Defaults) -> Iterator[Entry]:
    """A block of header lines alone, without a name, sets the fields of all blocks after it."""
    common: dict[str, str] = {}
    index = 0
    for block in _blocks(lines):
        first = block[0]
        try:
            fields = _fields(block)
            if "board" not in fields and "name" not in fields:
                common |= fields
                from_text(common)
                continue
            entry = read_entry(index, first.number, from_text(common | fields), defaults)
        except ParseError as error:
            entry = Entry(index, first.number, error=str(error))
        yield entry
        index += 1


def _blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    block: list[Line] = []
    length = 0
    for line in lines:
        if line.error or line.text.strip():
            if is_comment(line.text) or len(block) > _MAX_BLOCK_LINES or length > MAX_LINE:
                continue
            length += len(line.text)
            if length > MAX_LINE:
                line = Line(line.number, "", f"more than {MAX_LINE:,} characters without a blank line between boards")
            block.append(line)
        elif block:
            yield block
            block, length = [], 0
    if block:
        yield block


def _fields(block: list[Line]) -> dict[str, str]:
    if len(block) > _MAX_BLOCK_LINES:
        raise ParseError(f"more than {_MAX_BLOCK_LINES} lines without a blank line between boards")
    fields: dict[str, list[str]] = {}
    grid = "board"
    for line in block:
        if line.error:
            raise ParseError(line.error if line is block[0] else f"line {line.number}: {line.error}")
        if header := _HEADER.fullmatch(line.text.strip()):
            known, other, value = header.groups()
            name = (known or other).lower()
            if name in fields:
                raise ParseError("is said twice", field=name)
            fields[name] = [value] if value else []
            grid = name if name in ("board", "goal") and not value else "board"
        else:
            fields.setdefault(grid, []).append(line.text.rstrip())
    return {name: "\n".join(value) for name, value in fields.items()}
