"""Ingest: levels by the million, in blocks, so that they are read and stored at the same time, in little memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
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
WORK_MEMORY = "64MB"  # of each sort and hash of Postgres for a large order

Method = tuple[str | None, str | None]  # algorithm and heuristic, where the user forces them
Row = tuple[object, ...]
ERROR = 5  # its place in a row


@dataclass(slots=True)
class Levels:
    """How many levels an order has, and how many of these are none."""

    number: int = 0
    bad: int = 0


@contextmanager
def staged(
    engine: Engine, entries: Iterable[Entry], metric: Metric | None, method: Method
) -> Iterator[tuple[Connection, Levels]]:
    """A transaction on a session whose table ``staging`` has the levels of an order.

    Their puzzles are in the store already, and remain there if the order comes to nothing: they are nobody's.
    """
    with engine.connect() as connection:
        try:
            with connection.begin():
                connection.exec_driver_sql(sql("block"))
                connection.exec_driver_sql(sql("staging"))
            levels = _stage(connection, entries, metric, method)
            with connection.begin():
                connection.exec_driver_sql(f"SET LOCAL work_mem = '{WORK_MEMORY}'")
                connection.exec_driver_sql("ANALYZE staging")
                yield connection, levels
        finally:
            if not connection.invalidated:
                with connection.begin():
                    connection.exec_driver_sql("DROP TABLE IF EXISTS staging")


def storable(text: str) -> str:
    """Postgres keeps no NUL and UTF-8 has no lone surrogates."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode(errors="replace").decode()


def _stage(connection: Connection, entries: Iterable[Entry], metric: Metric | None, method: Method) -> Levels:
    levels = Levels()
    rows = (_row(entry, metric, method) for entry in entries)
    storing: Future[None] | None = None
    with ThreadPoolExecutor(1, "unjam-ingest") as thread:
        while block := list(islice(rows, BLOCK)):
            if storing is not None:
                storing.result()
            storing = thread.submit(_store, connection, block)
            levels.number += len(block)
            levels.bad += sum([row[ERROR] is not None for row in block])
        if storing is not None:
            storing.result()
    return levels


def _store(connection: Connection, block: list[Row]) -> None:
    with connection.begin():
        driver = connection.connection.driver_connection
        assert driver is not None
        with driver.cursor() as cursor, cursor.copy("COPY block FROM STDIN") as copy:
            for row in block:
                copy.write_row(row)
        connection.exec_driver_sql(sql("add_puzzles"))
        connection.exec_driver_sql(sql("stage"))


def _row(entry: Entry, metric: Metric | None, method: Method) -> Row:
    error, puzzle_columns = entry.error, _NO_PUZZLE
    if entry.puzzle is not None:
        try:
            puzzle_columns = _puzzle_columns(entry.puzzle, metric or entry.metric, method)
        except UnjamError as problem:
            error = str(problem)
    return (
        entry.index,
        entry.line,
        entry.name and storable(entry.name),
        [storable(tag) for tag in entry.tags] if entry.tags else "{}",  # the driver is slow at lists
        orjson.dumps(entry.known).decode() if entry.known else "{}",
        error and storable(error),
        *puzzle_columns,
    )


_NO_PUZZLE: Row = (None,) * 10


def _puzzle_columns(puzzle: Puzzle, asked: Metric | None, method: Method) -> Row:
    metric = puzzle.check_metric(asked)
    if method != (None, None):
        choose(puzzle, metric, *method)
    return (
        puzzle.key,
        puzzle.family,
        puzzle.rules_version,
        puzzle.width,
        puzzle.height,
        puzzle.pieces,
        puzzle.canonical,
        metric,
        symmetry_number(puzzle),
        orjson.dumps(puzzle.fields()).decode(),
    )
