"""Pattern databases as files (table_files.py): the entries of their patterns (kernels/tiles_patterns.hpp)."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, BinaryIO

from unjam._kernels import Control, Limits, PatternTable, build_pattern, tiles
from unjam.errors import TableError
from unjam.puzzles.tiles import Tiles
from unjam.search import table_files
from unjam.search.partitions import SUFFIX, Table, named, tables_for
from unjam.search.solution import NO_LIMIT
from unjam.search.table_files import HEADER, Stopped, folder

FORMAT = 1
MAGIC = b"unjam pattern database\n"
SMALL = 40_000_000  # bytes: a table that a search may build by itself, in a second or two
PATIENCE = 10.0  # seconds that a search may spend on building a table, or on waiting for another process that does
CHECKED = 2_000_000_000  # bytes of a table that a process checks in a second
SPOT_CHECKS = 20


def path_of(table: Table) -> Path:
    return folder() / table.file


def stored() -> list[Table]:
    """The tables that are in the folder, whole or not."""
    found = []
    for path in sorted(folder().glob(f"*{SUFFIX}")):
        with suppress(TableError):  # a file of somebody else
            found.append(named(path.name.removesuffix(SUFFIX)))
    return found


def open_table(table: Table) -> PatternTable:
    """Map a table, checked the first time. Raises TableError if it is missing, truncated, foreign or corrupted."""
    found = _find(table)
    if found is None:
        size = sum(table.entries) / 1e6
        raise TableError(
            f"there is no table {table.name} in {folder()}; `unjam tables build {table.name}` makes it ({size:,.0f} MB)"
        )
    if isinstance(found, TableError):
        raise found
    return found


def build(
    table: Table,
    control: Control,
    *,
    seconds: float = inf,
    again: bool = False,
) -> None:
    """Make a table unless it is there. One process builds, others that want the same table wait for it.

    ``control.expanded`` counts the entries that are done. Raises Stopped, and TableError where it cannot be made.
    """
    table_files.make(
        path_of(table),
        partial(_write, table, control),
        lambda file: spot_check(table, _read(table, file), control),
        control,
        seconds=seconds,
        again=again,
    )


def spot_check(table: Table, entries: PatternTable, control: Control, boards: int = SPOT_CHECKS) -> None:
    """Solve boards near the goal with the table and without it; raises TableError if the lengths differ."""
    rng = random.Random(table.name)
    limits = Limits(inf, NO_LIMIT, NO_LIMIT)
    for _ in range(boards):
        board = _walk(table, rng, 30)
        with_table, without = (
            tiles(table.width, table.height, board, table.blank, "step", "idastar", heuristic, limits, control, entries)
            for heuristic in ("pdb", "linear-conflict")
        )
        if control.cancelled:
            raise Stopped
        if with_table.length != without.length:
            raise TableError(
                f"the table {table.name} is wrong: {with_table.length} steps for {board}, not {without.length}"
            )


def remove(table: Table) -> None:
    """Raises TableError if it is not there. Processes that have mapped it keep it until they end."""
    table_files.remove(path_of(table), table.name)


def required(puzzle: Tiles, control: Control, seconds: float) -> PatternTable | None:
    """The best table that is there, or else a small one, built now; None when control or time said stop.

    Raises TableError when there is none, or when the best one does not pass its check.
    """
    try:
        return open_or_build(_forced(puzzle), control, seconds)
    except Stopped:
        return None


def check_required(puzzle: Tiles) -> None:
    """Raise what ``required`` would, but build nothing."""
    table = _forced(puzzle)
    if _find(table) is not None or not _is_small(table):
        open_table(table)


def _forced(puzzle: Tiles) -> Table:
    """The best table that is there, else the one that takes least."""
    candidates = tables_for(puzzle)
    return next((table for table in candidates if _find(table) is not None), candidates[-1])


def _is_small(table: Table) -> bool:
    return sum(table.entries) <= SMALL


def open_or_build(table: Table, control: Control, seconds: float = inf) -> PatternTable:
    """Map a table; a small one is built if it is missing. Raises TableError, and Stopped as ``build`` does."""
    if _find(table) is None and _is_small(table):
        build(table, control, seconds=seconds)
    return open_table(table)


def chosen(puzzle: Tiles) -> Table | None:
    """The best table that is there and whole: what a search uses."""
    return next((table for table in tables_for(puzzle) if isinstance(_find(table), PatternTable)), None)


def at_hand(puzzle: Tiles, control: Control, seconds: float) -> PatternTable | None:
    """The best table that is there and whole, of those that take no more than a third of the time to check.

    For 4x4 boards the small one is built when a search has the time.
    """
    spoilt = False
    for table in tables_for(puzzle):
        found = _find(table) if _soon(table, seconds / 3) else None
        if isinstance(found, PatternTable):
            return found
        if found is not None:
            spoilt = True
            table_files.warn(found)
    if spoilt or (puzzle.width, puzzle.height) != (4, 4) or seconds < PATIENCE:
        return None
    try:
        return required(puzzle, control, PATIENCE)
    except TableError as error:  # a folder that cannot be written is no reason not to solve
        table_files.warn(error)
        return None


def quickly(puzzle: Tiles, seconds: float) -> PatternTable | None:
    """The best table that is there and whole, of those that are open or can be checked in so many seconds."""
    for table in tables_for(puzzle):
        if _soon(table, seconds):
            found = _find(table)
            if isinstance(found, PatternTable):
                return found
    return None


def _soon(table: Table, seconds: float) -> bool:
    """Whether it is open already or can be checked in so many seconds."""
    return table_files.is_open(path_of(table)) or sum(table.entries) < seconds * CHECKED


def _find(table: Table) -> PatternTable | TableError | None:
    return table_files.find(path_of(table), partial(_read, table))


def _fields(table: Table) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "width": table.width,
        "height": table.height,
        "blank": table.blank,
        "patterns": table.patterns,
    }


def _read(table: Table, file: BinaryIO) -> PatternTable:
    again = f"`unjam tables build --again {table.name}` makes it anew"
    entries = table_files.mapped(file, MAGIC, _fields(table), again)
    if len(entries) != sum(table.entries):
        raise TableError(f"{file.name} has {len(entries):,} entries, not {sum(table.entries):,}; {again}")
    return PatternTable(table.width, table.height, table.blank, table.patterns, table.compressed, entries)


def _write(table: Table, control: Control, file: BinaryIO, end: float) -> None:
    file.seek(HEADER)
    for pattern, size in zip(table.patterns, table.entries, strict=True):
        limits = Limits(end - time.monotonic(), NO_LIMIT, NO_LIMIT)
        with table_files.memory(size) as entries:
            reason = build_pattern(
                table.width, table.height, table.blank, pattern, table.compressed, entries, limits, control
            )
            if reason == "bytes":
                raise MemoryError
            if reason:
                raise Stopped
            file.write(entries)
    table_files.finish(file, MAGIC, _fields(table))


def _walk(table: Table, rng: random.Random, steps: int) -> list[int]:
    """The board some random steps from the goal."""
    board, blank = list(range(table.width * table.height)), table.blank
    for _ in range(steps):
        row, column = divmod(blank, table.width)
        near = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        r, c = rng.choice([(r, c) for r, c in near if 0 <= r < table.height and 0 <= c < table.width])
        board[blank], board[r * table.width + c] = board[r * table.width + c], board[blank]
        blank = r * table.width + c
    return board
