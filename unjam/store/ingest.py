"""Ingest: levels by the million, in blocks, so that they are read and stored at the same time, in little memory."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import orjson
from sqlalchemy import Connection, Engine

from unjam.errors import UnjamError
from unjam.packs.entry import Entry
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.search.solve import choose
from unjam.store.answers import symmetry_number
from unjam.store.sql import sql

BLOCK = 20_000

Method = tuple[str | None, str | None]  # algorithm and heuristic, where the user forces them
Row = tuple[tuple[object, ...], tuple[object, ...] | None]  # of batch_item, and of puzzle where there is one


@dataclass(slots=True)
class Levels:
    """How many levels an order has, and how many of these are none."""

    number: int = 0
    bad: int = 0


def add_levels(
    engine: Engine,
    connection: Connection,
    batch_id: int,
    entries: Iterable[Entry],
    metric: Metric | None,
    method: Method,
) -> Levels:
    """Add the levels of an order to its batch, in its transaction, whose table ``staging`` has what they ask for.

    Their puzzles enter the store in transactions of their own, which are short, so that no two orders wait for each
    other; they remain if the order comes to nothing, since they are nobody's.
    """
    connection.exec_driver_sql(sql("block"))
    connection.exec_driver_sql(sql("staging"))
    levels = Levels()
    rows = (_row(entry, metric, method) for entry in entries)
    storing: Future[None] | None = None
    with engine.connect() as beside, ThreadPoolExecutor(1, "unjam-ingest") as thread:
        while block := list(islice(rows, BLOCK)):
            if storing is not None:
                storing.result()
            storing = thread.submit(_store, connection, beside, batch_id, block)
            levels.number += len(block)
            levels.bad += sum([item[ERROR] is not None for item, _ in block])
        if storing is not None:
            storing.result()
    return levels


def storable(text: str) -> str:
    """Postgres keeps no NUL and UTF-8 has no lone surrogates."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def _store(connection: Connection, beside: Connection, batch_id: int, block: list[Row]) -> None:
    with beside.begin():
        beside.exec_driver_sql(sql("block_puzzles"))
        _copy(beside, "block_puzzles", [puzzle for _, puzzle in block if puzzle is not None])
        beside.exec_driver_sql(sql("add_puzzles"))
    connection.exec_driver_sql("TRUNCATE block")
    _copy(connection, "block", [item for item, _ in block])
    connection.exec_driver_sql(sql("add_items"), {"batch": batch_id})


def _copy(connection: Connection, table: str, rows: Iterable[tuple[object, ...]]) -> None:
    driver = connection.connection.driver_connection
    assert driver is not None
    with driver.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _row(entry: Entry, metric: Metric | None, method: Method) -> Row:
    error, asked, puzzle = entry.error, _NOTHING, entry.puzzle
    if puzzle is not None:
        try:
            asked = _asked(puzzle, metric or entry.metric, method)
        except UnjamError as problem:
            error, puzzle = str(problem), None
    item = (
        entry.index,
        entry.line,
        entry.name and storable(entry.name),
        [storable(tag) for tag in entry.tags] if entry.tags else "{}",  # the driver is slow at lists
        orjson.dumps(entry.known).decode() if entry.known else "{}",
        error and storable(error),
        *asked,
    )
    return item, None if puzzle is None else _columns(puzzle)


ERROR = 5  # its place in an item
_NOTHING: tuple[object, ...] = (None,) * 7


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
