"""JSON Lines: one object a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import orjson

from unjam.packs.entry import Entry
from unjam.packs.fields import Defaults, read_entry
from unjam.packs.lines import Line


def read(lines: Iterable[Line], defaults: Defaults) -> Iterator[Entry]:
    index = 0
    for line in lines:
        if not line.error and not line.text.strip():
            continue
        yield _read(index, line, defaults)
        index += 1


def _read(index: int, line: Line, defaults: Defaults) -> Entry:
    if line.error:
        return Entry(index, line.number, error=line.error)
    try:
        raw = orjson.loads(line.text)
    except orjson.JSONDecodeError as error:
        return Entry(index, line.number, error=f"is no JSON at column {error.colno}: {error.msg}")
    return read_entry(index, line.number, raw, defaults)
