"""Read a pack: find its format, then give its entries one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import PurePath
from typing import BinaryIO

from unjam.errors import PackError
from unjam.packs import blocks, boards, jsonlines, table
from unjam.packs.entry import Entry
from unjam.packs.fields import Defaults, read_entry
from unjam.packs.lines import Line, is_comment, read_lines

FORMATS = ("jsonl", "csv", "text", "lines")
ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "csv"}


def read_pack(
    stream: BinaryIO,
    *,
    format: str | None = None,
    defaults: Defaults | None = None,
    board_column: str | None = None,
) -> Iterator[Entry]:
    """The entries of a pack in its order, bad ones included, read as they are asked for.

    ``format`` is one of FORMATS, or None to find out by the stream's name or by the first line; ``board_column`` names
    the CSV column that holds the boards.
    Raises PackError, at once, if the pack as a whole cannot be read; at its end, if it has a header and no level.
    """
    lines = read_lines(stream)
    head: list[Line] = []
    for line in lines:
        head.append(line)
        if line.text.strip() and not is_comment(line.text):
            break
        if len(head) > 10_000:
            raise PackError("the pack begins with more than 10,000 lines without a level")
    else:
        if not any(line.error for line in head):
            raise PackError("the pack is empty")
    if format is None:
        named = ENDINGS.get(PurePath(str(getattr(stream, "name", ""))).suffix.lower())
        format = "csv" if board_column else named or _detect(head[-1].text)
    elif format not in FORMATS:
        raise PackError(f"there is no format {format!r}; there are {', '.join(FORMATS)}")
    if format in ("jsonl", "csv"):
        head = [line for line in head if line.error or line is head[-1]]
    every_line = chain(head, lines)
    defaults = defaults or Defaults()
    if format == "jsonl":
        return _some(jsonlines.read(every_line, defaults))
    if format == "csv":
        return _some(table.read(every_line, defaults, board_column))
    if format == "text":
        return _some(blocks.read(every_line, defaults))
    return _some(boards.read(every_line, defaults))


def read_objects(objects: Iterable[object], defaults: Defaults | None = None) -> Iterator[Entry]:
    """The entries that already decoded JSON objects describe; the line of each is its place, from 1."""
    for index, raw in enumerate(objects):
        yield read_entry(index, index + 1, raw, defaults or Defaults())


def _some(entries: Iterator[Entry]) -> Iterator[Entry]:
    """The same entries; raises PackError if there are none."""
    first = next(entries, None)
    if first is None:
        raise PackError("the pack has no levels")
    yield first
    yield from entries


def _detect(first: str) -> str:
    if first.lstrip().startswith("{"):
        return "jsonl"
    if first.lstrip().startswith("[") and not first.strip().strip("[]{").strip():
        raise PackError("the pack is one JSON array: write one object a line, for example `jq -c '.[]' PACK`")
    if table.is_header(first):
        return "csv"
    return "lines" if boards.is_board_line(first) else "text"
