"""Rows of answers as JSON Lines, CSV or text."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

import orjson
import rich_click as click

from cli.report import Report, answer, title

ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".txt": "text"}
FORMATS = ("jsonl", "csv", "text")
_COLUMNS = (
    *("index", "name", "family", "metric", "key", "outcome", "length", "lower", "upper", "moves", "expanded"),
    *("generated", "seconds", "algorithm", "heuristic", "pruned", "reason", "known", "known_ok", "line", "error"),
)

_OUTPUT = (
    click.option("--output", type=click.Path(dir_okay=False, writable=True), help="Write to this file."),
    click.option(
        "--output-format", type=click.Choice(FORMATS), help="Format of the file.  [default: by its name, else jsonl]"
    ),
)


def takes_output(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--output`` and ``--output-format``."""
    for option in reversed(_OUTPUT):
        command = option(command)
    return command


def format_of(path: str | None, asked: str | None) -> str:
    """The format that was asked for, or the one that the file's name says, or JSON Lines."""
    return asked or (ENDINGS.get(Path(path).suffix.lower(), "jsonl") if path else "jsonl")


def encode(rows: Iterable[Mapping[str, Any]], format: str) -> Iterator[bytes]:
    if format == "csv":
        yield _csv(_COLUMNS)
    write: Callable[[Mapping[str, Any]], bytes] = {"jsonl": json_line, "csv": _csv_row, "text": _text}[format]
    for row in rows:
        yield write(row)


def json_line(row: Mapping[str, Any]) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A file that takes the place of ``path`` when all is written, and leaves no trace when it is not."""
    target = Path(path)
    if target.exists() and not target.is_file():  # /dev/stdout, a pipe
        with target.open("wb") as file:
            yield file
        return
    with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
        try:
            yield file
            file.close()
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(file.name, 0o666 & ~umask)
            os.replace(file.name, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(file.name)
            raise


def write_out(pieces: Iterable[bytes], path: str | None) -> None:
    """Write to a file, or to standard output."""
    if path is not None:
        with replacing(path) as file:
            file.writelines(pieces)
    else:
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()


def write_rows(
    rows: Callable[[], Iterable[Mapping[str, Any]]], report: Report, as_json: bool, path: str | None, asked: str | None
) -> None:
    """Write answers to the file that was asked for and, with ``as_json``, to standard output; count them once."""
    if path is not None:
        write_out(encode(report.count(rows()), format_of(path, asked)), path)
    if as_json:
        write_out(encode(rows() if path is not None else report.count(rows()), "jsonl"), None)
    if path is None and not as_json:
        for _ in report.count(rows()):
            pass


def _csv_row(row: Mapping[str, Any]) -> bytes:
    return _csv([_cell(row.get(name)) for name in _COLUMNS])


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, Mapping):
        return orjson.dumps(value).decode()
    return str(value).lower() if isinstance(value, bool) else value


def _csv(cells: Iterable[object]) -> bytes:
    out = StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue().encode()


def _text(row: Mapping[str, Any]) -> bytes:
    if row.get("error"):
        return f"line {row['line']}: {row['error']}\n".encode()
    moves = f": {' '.join(row['moves'])}" if row.get("moves") else ""
    return f"{title(row)}: {row['metric']} {answer(row)}{moves}\n".encode()
