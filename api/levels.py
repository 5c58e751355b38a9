"""Levels from request bodies: JSON objects, or packs in the formats of docs/formats.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from fastapi import Request
from starlette.datastructures import Headers

import unjam
from api.errors import ApiError
from api.schemas import Level, PackOptions
from unjam.packs.entry import Entry
from unjam.packs.fields import PUZZLE_FIELDS, Defaults
from unjam.packs.read import read_objects, read_pack

JSON = "application/json"
FORMATS = {  # content type: pack format, None to find out
    "application/x-ndjson": "jsonl",
    "application/jsonl": "jsonl",
    "text/csv": "csv",
    "text/plain": None,
}
EXAMPLES = {
    "application/x-ndjson": '{"family": "tiles", "board": "1 2 3/4 0 6/7 5 8"}\n',
    "application/jsonl": '{"family": "rush", "board": "ooooooooooooAAoooBoooooBoooooooooooo"}\n',
    "text/csv": "family,board,name\ntiles,1 2 3/4 0 6/7 5 8,two presses\n",
    "text/plain": "60 IBBxooIooLDDJAALooJoKEEMFFKooMGGHHHM 2332\n",
}


def content_type(headers: Headers) -> str:
    """Of a body, without its parameters; empty if it is not said."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def media_type(request: Request) -> str:
    """The content type of levels, or 415."""
    given = content_type(request.headers)
    if given != JSON and given not in FORMATS:
        supported = [JSON, *FORMATS]
        message = f"Content-Type is {given or 'missing'!r}; it must be one of {', '.join(supported)}."
        raise ApiError(415, "unsupported_media_type", message, supported=supported)
    return given


def from_pack(body: BinaryIO, media: str, options: PackOptions) -> Iterator[Entry]:
    """The entries of a pack; raises PackError where it cannot be read as a whole."""
    return read_pack(body, format=options.format or FORMATS[media], defaults=Defaults(family=options.family))


def from_objects(objects: Iterable[object]) -> Iterator[Entry]:
    """The entries that JSON objects describe."""
    return read_objects(objects)


def from_order(order: Level) -> Entry:
    """The one entry of an order; raises ParseError or MetricError where it is none."""
    raw = order.fields()
    entry = next(read_objects([raw]))
    if entry.puzzle is None:
        # The entry only has the message; parsing again raises the error itself, with its place.
        puzzle = unjam.parse(order.family, order.board, **{name: raw[name] for name in PUZZLE_FIELDS if name in raw})
        puzzle.check_metric(order.metric)
        raise ApiError(422, "parse_error", entry.error or "This is no level.")
    return entry


def bounded(entries: Iterable[Entry], limit: int) -> Iterator[Entry]:
    """The entries, or 413 as soon as there are more than ``limit``."""
    for count, entry in enumerate(entries):
        if count == limit:
            raise ApiError(413, "too_many_levels", f"A batch has at most {limit} levels.", limit=limit)
        yield entry
