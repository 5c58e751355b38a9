"""Ingest: levels by the million, in blocks, so that they are read and stored at the same time, in little memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson
from sqlalchemy import Connection, Engine

from unjam.errors import UnjamError
from unjam.packs.entry import Entry
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.search.solve import choose
from unjam.store.answers import symmetry_number
from unjam.store.database import beside
from unjam.store.sql import sql

BLOCK = 20_000
SWITCH_SECONDS = 0.0005

Method = tuple[str | None, str | None]  # algorithm and heuristic, where the user forces them
Row = tuple[str, str, bool]  # of the tables block and block_puzzles, "" without a puzzle; whether it has an error


@dataclass(slots=True)
class Levels:
    """How many levels an order has, and how many of these are none."""

    number: int = 0
    bad: int = 0

    def add(self, block: list[Row]) -> None:
        self.number += len(block)
        self.bad += sum([bad for _, _, bad in block])


def add_levels(
    engine: Engine,
    connection: Connection,
    batch_id: int,
    entries: Iterable[Entry],
    metric: Metric | None,
    method: Method,
) -> Levels:
    """Add the levels of an order to its batch, in its transaction, whose table ``staging`` has what they ask for.

    The puzzles of a large order enter the store in transactions of their own, which are short, so that no two orders
    wait for each other; they remain if the order comes to nothing, since they are nobody's.
    """
    connection.exec_driver_sql(sql("block"))
    connection.exec_driver_sql(sql("staging"))
    levels = Levels()
    rows = (_row(entry, metric, method) for entry in entries)
    block = list(islice(rows, BLOCK))
    levels.add(block)
    if len(block) < BLOCK:
        _add_puzzles(connection, block)
        _add_items(connection, batch_id, block)
        return levels
    # The thread that stores mostly waits for Postgres: let it have the interpreter soon when an answer is there.
    sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_SECONDS))
    with beside(engine) as other, ThreadPoolExecutor(1, "unjam-ingest") as thread:
        while block:
            storing = thread.submit(_store, connection, other, batch_id, block)
            block = list(islice(rows, BLOCK))
            levels.add(block)
            storing.result()
    return levels


def storable(text: str) -> str:
    """Postgres keeps no NUL and UTF-8 has no lone surrogates."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def _store(connection: Connection, other: Connection, batch_id: int, block: list[Row]) -> None:
    with other.begin():
        _add_puzzles(other, block)
    _add_items(connection, batch_id, block)


def _add_puzzles(connection: Connection, block: list[Row]) -> None:
    connection.exec_driver_sql(sql("block_puzzles"))
    _copy(connection, "block_puzzles", "".join([puzzle for _, puzzle, _ in block]))
    connection.exec_driver_sql(sql("add_puzzles"))


def _add_items(connection: Connection, batch_id: int, block: list[Row]) -> None:
    connection.exec_driver_sql("TRUNCATE block")
    _copy(connection, "block", "".join([item for item, _, _ in block]))
    connection.exec_driver_sql(sql("add_items"), {"batch": batch_id})


def _copy(connection: Connection, table: str, lines: str) -> None:
    """In one go: each wait for Postgres gives the interpreter to the thread that reads, which keeps it for a while."""
    driver = connection.connection.driver_connection
    assert driver is not None
    with driver.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
        copy.write(lines)


def _row(entry: Entry, metric: Metric | None, method: Method) -> Row:
    error, asked, puzzle = entry.error, _NOTHING, entry.puzzle
    if puzzle is not None:
        try:
            asked = _asked(puzzle, metric or entry.metric, method)
        except UnjamError as problem:
            error, puzzle = str(problem), None
    item = _line(
        entry.index,
        entry.line,
        entry.name and storable(entry.name),
        _array([storable(tag) for tag in entry.tags]) if entry.tags else "{}",
        orjson.dumps(entry.known).decode() if entry.known else "{}",
        error and storable(error),
        *asked,
    )
    return item, "" if puzzle is None else _line(*_columns(puzzle)), error is not None


_NOTHING: tuple[object, ...] = (None,) * 7


def _line(*values: object) -> str:
    """A row in the text format of COPY."""
    return "\t".join([_WRITE[type(value)](value) for value in values]) + "\n"


_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
_WRITE: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: r"\N",
    int: str,
    str: lambda text: text if text.isprintable() and "\\" not in text else text.translate(_ESCAPES),
    bytes: lambda data: rf"\\x{data.hex()}",
}


def _array(texts: list[str]) -> str:
    quoted = [text.replace("\\", r"\\").replace('"', r"\"") for text in texts]
    return "{" + ",".join([f'"{text}"' for text in quoted]) + "}"


def _asked(puzzle: Puzzle, metric: Metric | None, method: Method) -> tuple[object, ...]:
    metric = puzzle.check_metric(metric)
    if method != (None, None):
        choose(puzzle, metric, *method)
    fields = orjson.dumps(puzzle.fields()).decode()
    cells = puzzle.width * puzzle.height
    return puzzle.key, puzzle.family, cells, puzzle.pieces, metric, symmetry_number(puzzle), fields


def _columns(puzzle: Puzzle) -> tuple[object, ...]:
    return (
        puzzle.key,
        puzzle.family,
        puzzle.rules_version,
        puzzle.width,
        puzzle.height,
        puzzle.pieces,
        puzzle.canonical,
    )
