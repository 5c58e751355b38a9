"""Write a pack, entry by entry, so that reading it back gives the same puzzles."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from io import StringIO
from typing import Any

import orjson

from unjam.errors import PackError
from unjam.packs.entry import Entry
from unjam.packs.fields import FIELDS, METRICS

WRITABLE = ("jsonl", "csv", "text")
_COLUMNS = (*(name for name in FIELDS if name != "known"), *METRICS)


def write_pack(entries: Iterable[Entry], format: str) -> Iterator[str]:
    """The text of a pack in one of the WRITABLE formats, piece by piece; bad entries are left out."""
    if format not in WRITABLE:
        raise PackError(f"cannot write {format!r}, only {', '.join(WRITABLE)}")
    if format == "csv":
        yield _csv_row(_COLUMNS)
    write = {"jsonl": _json, "csv": _csv, "text": _text}[format]
    for entry in entries:
        if entry.puzzle is not None:
            yield write(_fields(entry))


def _fields(entry: Entry) -> dict[str, Any]:
    assert entry.puzzle is not None
    fields = {
        "family": entry.puzzle.family,
        "name": entry.name,
        **entry.puzzle.fields(),
        "metric": entry.metric,
        "tags": list(entry.tags),
        "known": entry.known,
    }
    return {key: value for key, value in fields.items() if value not in (None, [], {})}


def _json(fields: dict[str, Any]) -> str:
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE).decode()


def _csv(fields: dict[str, Any]) -> str:
    known = {metric: "unsolvable" if count is None else count for metric, count in fields.pop("known", {}).items()}
    cells = {name: _cell(name, value).replace("\n", "/") for name, value in fields.items()}
    return _csv_row([cells.get(name, known.get(name, "")) for name in _COLUMNS])


def _text(fields: dict[str, Any]) -> str:
    board = _cell("board", fields.pop("board"))
    known = fields.pop("known", {})
    lines = [f"{name}: {_cell(name, value)}" for name, value in fields.items() if name != "goal"]
    lines += [f"{metric}: {'unsolvable' if count is None else count}" for metric, count in known.items()]
    if "goal" in fields:
        goal = _cell("goal", fields["goal"])
        lines += ["goal:", goal, "board:"] if "\n" in goal else [f"goal: {goal}"]
    return "\n".join([*lines, board.replace("/", "\n"), "", ""])


def _cell(name: str, value: object) -> str:
    """A field as text: rows by new lines, lists by commas, and JSON for what is more than that."""
    if isinstance(value, str):
        return value
    if name in ("board", "goal") and isinstance(value, list | tuple):
        return "\n".join(row if isinstance(row, str) else " ".join(map(str, row)) for row in value)
    if isinstance(value, list | tuple) and all(isinstance(item, str) and "," not in item for item in value):
        return ",".join(value)
    return orjson.dumps(value).decode()


def _csv_row(cells: Iterable[object]) -> str:
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue()
