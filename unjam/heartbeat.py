"""Signs of progress that the worker processes of this machine leave for its health check, as files in the data folder.

Only progress moves them: a process that is stuck, or whose worker hears no hints any more, still answers a ping.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from unjam.settings import get_settings

_MOVED = "moved"  # when any process last took, handed back or went on with a chunk


def beat() -> None:
    """This process has a chunk, and has just taken it or got on with it."""
    _touch(str(os.getpid()))
    _touch(_MOVED)


def rest() -> None:
    """This process has no chunk any more."""
    _touch(_MOVED)
    with suppress(OSError):
        (_folder() / str(os.getpid())).unlink()


def forget_all() -> None:
    """A worker starts: what killed processes left means nothing, least of all for those that get their pids."""
    with suppress(OSError):
        for path in _folder().iterdir():
            path.unlink()
    _touch(_MOVED)


def stuck(seconds: float) -> list[int]:
    """The processes that have a chunk and made no progress for so long."""
    with suppress(OSError):
        pids = [int(path.name) for path in _folder().iterdir() if path.name.isdecimal() and _age(path) > seconds]
        return sorted(filter(_lives, pids))
    return []


def still(seconds: float) -> bool:
    """Whether nothing was taken, handed back or got on with for so long."""
    return _age(_folder() / _MOVED) > seconds


def _folder() -> Path:
    return get_settings().home / "workers"


def _touch(name: str) -> None:
    with suppress(OSError):  # not worth a search: where the folder cannot be written there is no health check
        folder = _folder()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
