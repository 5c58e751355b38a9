"""Pattern databases as files: built once, checked, and mapped into every process of the machine that solves with them.

A file starts with a page that says what it holds; the entries of the patterns follow (kernels/tiles_patterns.hpp). It
gets its name when it is whole and on the disk, so what has the name is whole unless something spoilt it later, and the
checksum, which each process checks when it opens the file, tells that.
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import random
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from math import inf
from pathlib import Path
from typing import BinaryIO

import platformdirs

from unjam._kernels import Control, Limits, PatternTable, build_pattern, checksum, tiles
from unjam.errors import TableError
from unjam.puzzles.tiles import Tiles
from unjam.search.partitions import SUFFIX, Table, named, tables_for

FORMAT = 1
MAGIC = b"unjam pattern database\n"
HEADER = 4096  # bytes: the entries start on a page
SMALL = 40_000_000  # bytes: a table that a search may build by itself, in a second or two
PATIENCE = 10.0  # seconds that a search may spend on building a table, or on waiting for another process that does
POLL = 0.02
NO_LIMIT = 2**64 - 1
SPOT_CHECKS = 20

_open: dict[Path, tuple[tuple[int, int, int], PatternTable | TableError]] = {}


class Stopped(Exception):
    """The control or the time said stop before the table was built."""


def folder() -> Path:
    """Where tables are kept: ``UNJAM_TABLES``, or the user's cache."""
    return _folder(os.environ.get("UNJAM_TABLES"))


@cache
def _folder(chosen: str | None) -> Path:
    return Path(chosen) if chosen else platformdirs.user_cache_path("unjam") / "tables"


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

    ``control.expanded`` counts the entries that are done. Raises Stopped, and OSError where the folder cannot be
    written.
    """
    end = time.monotonic() + seconds
    folder().mkdir(parents=True, exist_ok=True)
    path = path_of(table)
    with _locked(path.with_suffix(".lock"), control, end):
        if path.exists() and not again:
            return
        part = path.with_suffix(".part")  # overwrites that of a process that died: the lock is ours
        try:
            with part.open("w+b") as file:
                _write(table, file, control, end)
                written = _mapped(table, file)
            if isinstance(written, TableError):
                raise written
            spot_check(table, written, control)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        _sync_folder()


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
    try:
        path_of(table).unlink()
    except FileNotFoundError:
        raise TableError(f"there is no table {table.name} in {folder()}") from None


def required(puzzle: Tiles, control: Control, seconds: float) -> PatternTable | None:
    """The best table that is there, or else a small one, built now; None when control or time said stop.

    Raises TableError when there is none, or when the best one does not pass its check.
    """
    candidates = tables_for(puzzle)
    for table in candidates:
        if _find(table) is not None:
            return open_table(table)
    smallest = candidates[-1]
    if sum(smallest.entries) <= SMALL:
        try:
            build(smallest, control, seconds=seconds)
        except Stopped:
            return None
        except OSError as error:
            raise TableError(f"the table {smallest.name} cannot be made: {error}") from error
    return open_table(smallest)


def at_hand(puzzle: Tiles, control: Control, seconds: float) -> PatternTable | None:
    """The best table that is there and whole. For 4x4 boards the small one is built when a search has the time."""
    spoilt = False
    for table in tables_for(puzzle):
        found = _find(table)
        if isinstance(found, PatternTable):
            return found
        if found is not None:
            spoilt = True
            warnings.warn(str(found), RuntimeWarning, stacklevel=2)
    if spoilt or (puzzle.width, puzzle.height) != (4, 4) or seconds < PATIENCE:
        return None
    try:
        return required(puzzle, control, PATIENCE)
    except TableError as error:  # a folder that cannot be written is no reason not to solve
        warnings.warn(str(error), RuntimeWarning, stacklevel=2)
        return None


def _find(table: Table) -> PatternTable | TableError | None:
    """The table, why it cannot be used, or None where there is none. Each version of a file is checked once."""
    path = path_of(table)
    try:
        if path in _open and _open[path][0] == _version(os.stat(path)):
            return _open[path][1]
        with path.open("rb") as file:
            _open[path] = _version(os.fstat(file.fileno())), _mapped(table, file)
    except (FileNotFoundError, NotADirectoryError):
        _open.pop(path, None)
        return None
    except OSError as error:
        return TableError(f"{path}: {error.strerror}")
    return _open[path][1]


def _version(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_mtime_ns, status.st_size


def _header(table: Table, sum_of_entries: int) -> bytes:
    fields = {
        "format": FORMAT,
        "width": table.width,
        "height": table.height,
        "blank": table.blank,
        "patterns": table.patterns,
        "bytes": sum(table.entries),
        "checksum": f"{sum_of_entries:016x}",
    }
    return (MAGIC + json.dumps(fields).encode() + b"\n").ljust(HEADER, b"\0")


def _mapped(table: Table, file: BinaryIO) -> PatternTable | TableError:
    again = f"`unjam tables build --again {table.name}` makes it anew"
    file.seek(0)
    header = file.read(HEADER)
    if not header.startswith(MAGIC):
        return TableError(f"{file.name} is no pattern database of unjam; {again}")
    size, wanted = os.fstat(file.fileno()).st_size, HEADER + sum(table.entries)
    if size != wanted:
        return TableError(f"{file.name} has {size:,} bytes, not {wanted:,}; {again}")
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    _use_huge_pages(mapped)
    entries = memoryview(mapped)[HEADER:]
    if header != _header(table, checksum(entries)):
        return TableError(f"{file.name} is corrupted, or of another version; {again}")
    return PatternTable(table.width, table.height, table.blank, table.patterns, table.compressed, entries)


def _write(table: Table, file: BinaryIO, control: Control, end: float) -> None:
    file.seek(HEADER)
    for pattern, size in zip(table.patterns, table.entries, strict=True):
        limits = Limits(end - time.monotonic(), NO_LIMIT, NO_LIMIT)
        with _memory(size) as entries:
            reason = build_pattern(
                table.width, table.height, table.blank, pattern, table.compressed, entries, limits, control
            )
            if reason == "bytes":
                raise MemoryError
            if reason:
                raise Stopped
            file.write(entries)
    file.flush()
    with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped, memoryview(mapped)[HEADER:] as entries:
        total = checksum(entries)
    file.seek(0)
    file.write(_header(table, total))
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _memory(size: int) -> Iterator[memoryview]:
    """A file's own pages would be written back again and again while the search fills them."""
    with mmap.mmap(-1, size) as memory:
        _use_huge_pages(memory)
        with memoryview(memory) as view:
            yield view


def _use_huge_pages(memory: mmap.mmap) -> None:
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without them
            memory.madvise(mmap.MADV_HUGEPAGE)


@contextmanager
def _locked(path: Path, control: Control, end: float) -> Iterator[None]:
    with path.open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if control.cancelled or time.monotonic() > end:
                    raise Stopped from None
                time.sleep(POLL)
        yield


def _sync_folder() -> None:
    descriptor = os.open(folder(), os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
