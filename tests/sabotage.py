"""Loaded by workers of tests (``celery worker --include tests.sabotage``): searches that go wrong as none should."""

import os
import resource
import time
from typing import Any

import unjam.watch
import unjam.work

_solve, _solve_many = unjam.work.solve, unjam.work.rush_bulk.solve_many


def _spoil(board: str) -> None:
    if board == os.environ.get("ABORTS"):
        os.abort()
    while board == os.environ.get("NEVER_ENDS"):
        time.sleep(1)  # and does not look whether it is cancelled
    hoard = []
    while board == os.environ.get("HOARDS"):
        hoard.append(bytearray(10**7))


def solve(puzzle: Any, *rest: Any, **more: Any) -> Any:
    _spoil(puzzle.canonical)
    return _solve(puzzle, *rest, **more)


def solve_many(boards: Any, *rest: Any) -> Any:
    for board in boards:
        _spoil(board)
    return _solve_many(boards, *rest)


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
unjam.work.solve = solve
unjam.work.rush_bulk.solve_many = solve_many
unjam.watch.STUCK_SECONDS = 1.0
