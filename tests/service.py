"""The service as real processes over one database and one broker, and what must hold whatever happened to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import redis
from sqlalchemy import Engine, text

from tests.waiting import wait_until
from unjam.packs.entry import Entry
from unjam.search.solution import Budget
from unjam.search.verify import verify
from unjam.store import batches
from unjam.store.batches import Queue, Submitted
from unjam.store.chunks import LOST_LEASES
from unjam.store.lookup import stored_solution

ROOT = Path(__file__).parents[1]
LEASE_SECONDS = 2.0
TERMINAL = {"optimal", "unsolvable", "bounded", "failed"}

# In a process of its own: the Celery app reads its settings once.
ANNOUNCE = "import sys; from worker.tasks import announce; announce([(int(n), sys.argv[1]) for n in sys.argv[2:]])"


class Service:
    """Programs over one database and one broker."""

    def __init__(self, stack: ExitStack, database_url: str, redis_url: str, folder: Path) -> None:
        self._stack = stack
        self._folder = folder
        self.environment = os.environ | {
            "UNJAM_DATABASE_URL": database_url,
            "UNJAM_REDIS_URL": redis_url,
            "UNJAM_LEASE_SECONDS": str(LEASE_SECONDS),
        }
        self.broker = stack.enter_context(redis.Redis.from_url(redis_url))
        self.broker.flushall()

    def start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        """A module of Python as a process in a session of its own."""
        log = self._stack.enter_context((self._folder / f"{name}.log").open("wb"))
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            env=self.environment,
            cwd=ROOT,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self._stack.callback(_end, process)
        return process

    def worker(self, name: str, *options: str) -> subprocess.Popen[bytes]:
        """A worker with one pool process, once it is ready."""
        command = (
            f"celery --app worker.app worker --hostname {name}@here --concurrency 1 --loglevel info --without-mingle"
        )
        process = self.start(name, *command.split(), *options)
        wait_until(lambda: b"ready." in self.log(name), lambda: f"{name}: {self.log(name).decode()}")
        return process

    def reconciler(self, name: str = "reconciler") -> subprocess.Popen[bytes]:
        return self.start(name, "cli", "reconcile")

    def log(self, name: str) -> bytes:
        return (self._folder / f"{name}.log").read_bytes()

    def announce(self, batch: Submitted, queue: Queue = "bulk") -> subprocess.Popen[bytes]:
        """By a process of its own, which need not have ended when the first chunk is taken."""
        command = [sys.executable, "-c", ANNOUNCE, queue, *map(str, batch.chunks)]
        process = subprocess.Popen(command, env=self.environment, cwd=ROOT)
        self._stack.callback(_end_well, process)
        return process

    def cli(self, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run ``unjam`` to its end."""
        command = [sys.executable, "-m", "cli", *words]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=120, **more
        )


def kill(process: subprocess.Popen[bytes], number: int = signal.SIGKILL) -> None:
    """Send a signal to a worker's main process and its pool at once."""
    os.killpg(process.pid, number)


def _end_well(process: subprocess.Popen[bytes]) -> None:
    assert process.wait(60) == 0


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        kill(process)
    process.wait()


def wait_for(engine: Engine, batch: Submitted, state: str = "done") -> None:
    def now() -> batches.BatchStatus:
        return batches.status(engine, batch.batch_id)

    wait_until(lambda: now().state == state, now)


def holders(engine: Engine) -> list[int]:
    """The pool processes that hold chunks."""
    return [pid for _, pid in _held(engine)]


def _held(engine: Engine) -> list[tuple[UUID, int]]:
    query = text("SELECT lease_token, worker FROM chunk WHERE state = 'leased' ORDER BY id")
    with engine.connect() as connection:
        return [(token, int(name.rpartition(":")[2])) for token, name in connection.execute(query)]


def wait_for_holder(engine: Engine) -> int:
    """A pool process in the middle of a long search: it still holds a chunk that it held some time ago."""
    end = time.monotonic() + 90
    before = _held(engine)
    while True:
        time.sleep(0.3)
        now = _held(engine)
        for lease in now:
            if lease in before:
                return lease[1]
        assert time.monotonic() < end, "nobody searches for long"
        before = now


def answers(engine: Engine, batch: Submitted) -> list[dict[str, Any]]:
    """The results without what differs from run to run."""
    return [row | {"seconds": None} for row in batches.results(engine, batch.batch_id)]


def attempts(engine: Engine) -> int:
    """How many answers were ever stored."""
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM attempt")).scalar_one())


def assert_nothing_lost(
    engine: Engine, batch: Submitted, entries: Sequence[Entry], budget: Budget, failed: Sequence[int] = ()
) -> None:
    """What holds after every fault, in a store whose only order was this batch, which is done.

    Every level that went in has one terminal answer, ``failed`` (by index) those only that must; nothing was tried more
    often than allowed; the Python rules replay every solution; ordering the same again solves nothing and changes
    nothing, but for the failed ones, which are tried again.
    """
    rows = answers(engine, batch)
    assert [row["index"] for row in rows] == [entry.index for entry in entries]
    assert {row["outcome"] for row in rows} <= TERMINAL
    assert [row["index"] for row in rows if row["outcome"] == "failed"] == list(failed)
    now = batches.status(engine, batch.batch_id)
    assert (now.state, now.done, now.waiting_chunks, now.running_chunks) == ("done", len(entries), 0, 0)
    with engine.connect() as connection:
        left = connection.execute(
            text("SELECT (SELECT count(*) FROM pending), (SELECT max(attempts) FROM chunk)")
        ).one()
        stored = connection.execute(text("SELECT count(*) FROM attempt GROUP BY puzzle_id, metric")).scalars().all()
    assert left[0] == 0
    assert left[1] <= LOST_LEASES
    assert stored == [1] * batch.new, "each puzzle was answered once"
    for entry, row in zip(entries, rows, strict=True):
        assert entry.puzzle is not None
        solution = stored_solution(engine, entry.puzzle, row["metric"])
        assert solution is not None
        verify(entry.puzzle, solution)

    again = batches.submit(engine, entries, budget=budget)
    assert again.new == len({rows[index]["key"] for index in failed})
    assert answers(engine, again) == rows or failed
    assert attempts(engine) == batch.new
    batches.cancel(engine, again.batch_id)
