"""Tables as files: built once, checked, and mapped into every process of the machine that solves with them.

A file starts with a page that says what it holds; the table follows. It gets its name when it is whole and on the
disk, so what has the name is whole unless something spoilt it later, and the checksum, which each process checks when
it opens the file, tells that.
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, TextIO, TypeVar

import platformdirs

from unjam._kernels import Control, checksum
from unjam.errors import TableError

HEADER = 4096  # bytes: the table starts on a page
POLL = 0.02
BLANK = r"(?:-blank-(\d{1,2}))?"  # at the end of a name

Version = tuple[int, int, int]
Opened = TypeVar("Opened")

_told: set[str] = set()
_open: dict[Path, tuple[Version | None, Any]] = {}  # a text says why not: an error would keep the frames that raise it


class Stopped(Exception):
    """The control or the time said stop before the table was built."""


def folder() -> Path:
    """Where tables are kept: ``UNJAM_TABLES``, or the user's cache."""
    return _folder(os.environ.get("UNJAM_TABLES"))


@cache
def _folder(chosen: str | None) -> Path:
    return Path(chosen) if chosen else platformdirs.user_cache_path("unjam") / "tables"


def blank_suffix(blank: int) -> str:
    """The end of a name that says where the blank belongs, if not in the corner."""
    return f"-blank-{blank}" if blank else ""


def make(
    path: Path,
    write: Callable[[BinaryIO, float], None],
    check: Callable[[BinaryIO], None],
    control: Control,
    *,
    seconds: float = inf,
    again: bool = False,
) -> None:
    """Make a file unless it is there. One process makes it, others that want the same one wait for it.

    The folder need not be writable when nothing is to be made.

    ``write`` is given the file and the time (of ``time.monotonic``) at which it must end; what ``check`` raises keeps
    the file from its place. Raises Stopped, and TableError where the folder, the disk or the memory is not enough.
    """
    if not again and path.exists():
        return
    end = time.monotonic() + seconds
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path, control, end):
            if again or not path.exists():
                _replace(path, write, check, end)
    except OSError as error:
        raise TableError(f"{path} cannot be made: {error.strerror}") from error
    except MemoryError as error:
        raise TableError(f"{path} cannot be made: there is not enough memory") from error


def _replace(
    path: Path, write: Callable[[BinaryIO, float], None], check: Callable[[BinaryIO], None], end: float
) -> None:
    part = path.with_suffix(".part")  # overwrites that of a process that died: the lock is ours
    try:
        with part.open("w+b") as file:
            write(file, end)
            check(file)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    _sync(path.parent)


def is_open(path: Path) -> bool:
    """Whether this process has found the file before."""
    return path in _open


def find(path: Path, read: Callable[[BinaryIO], Opened]) -> Opened | TableError | None:
    """The table, why it cannot be used, or None where there is none. Each version of a file is read once."""
    try:
        version, found = _open.get(path, (None, None))
        if version != _version(os.stat(path)):
            with path.open("rb") as file:
                try:
                    found = read(file)
                except TableError as error:
                    found = str(error)
                _open[path] = _version(os.fstat(file.fileno())), found
    except (FileNotFoundError, NotADirectoryError):
        _open.pop(path, None)
        return None
    except OSError as error:
        return TableError(f"{path}: {error.strerror}")
    return TableError(found) if isinstance(found, str) else found


def warn(error: TableError) -> None:
    """Once a process: several parts of a search look for one table."""
    if str(error) not in _told:
        _told.add(str(error))
        warnings.warn(str(error), RuntimeWarning, stacklevel=3)


def remove(path: Path, name: str) -> None:
    """Raises TableError if it is not there. Processes that have mapped it keep it until they end."""
    try:
        with _locked(path, Control(), inf):
            path.unlink()
    except FileNotFoundError:
        raise TableError(f"there is no table {name} in {folder()}") from None


def finish(file: BinaryIO, magic: bytes, fields: Mapping[str, Any]) -> None:
    """Write the header before the table that follows it already, and all to the disk."""
    file.flush()
    with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped, memoryview(mapped)[HEADER:] as table:
        header = _header(magic, fields, table)
    file.seek(0)
    file.write(header)
    file.flush()
    os.fsync(file.fileno())


def mapped(file: BinaryIO, magic: bytes, fields: Mapping[str, Any], again: str) -> memoryview:
    """The table, if the file holds what the fields say. Raises TableError, which names the command that helps."""
    file.seek(0)
    header = file.read(HEADER)
    if not header.startswith(magic):
        raise TableError(f"{file.name} is no {magic.decode().strip().removeprefix('unjam ')} of unjam; {again}")
    if os.fstat(file.fileno()).st_size <= HEADER:
        raise TableError(f"{file.name} is cut off; {again}")
    everything = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    use_huge_pages(everything)
    table = memoryview(everything)[HEADER:]
    if header != _header(magic, fields, table):
        raise TableError(f"{file.name} is corrupted, or of another version; {again}")
    return table


def _header(magic: bytes, fields: Mapping[str, Any], table: memoryview) -> bytes:
    everything = {**fields, "bytes": len(table), "checksum": f"{checksum(table):016x}"}
    return (magic + json.dumps(everything).encode() + b"\n").ljust(HEADER, b"\0")


@contextmanager
def memory(size: int) -> Iterator[memoryview]:
    """Zeros. A file's own pages would be written back again and again while a search fills them."""
    with mmap.mmap(-1, size) as zeros:
        use_huge_pages(zeros)
        with memoryview(zeros) as view:
            yield view


def use_huge_pages(memory: mmap.mmap) -> None:
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without them
            memory.madvise(mmap.MADV_HUGEPAGE)


def _version(status: os.stat_result) -> Version:
    return status.st_ino, status.st_mtime_ns, status.st_size


@contextmanager
def _locked(path: Path, control: Control, end: float) -> Iterator[None]:
    """Alone among the processes that write this file. Who has the lock takes its file away; a lock on a file that was
    taken away is none.
    """
    place = path.with_suffix(".lock")
    while True:
        with place.open("w") as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if control.cancelled or time.monotonic() > end:
                        raise Stopped from None
                    time.sleep(POLL)
            if _is_at(lock, place):
                try:
                    yield
                finally:
                    place.unlink(missing_ok=True)
                return


def _is_at(file: TextIO, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
