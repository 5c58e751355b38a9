"""Two real Celery workers over a real Redis and Postgres."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import Engine, text

import unjam
from tests.levels import hard_levels, random_levels
from unjam.packs.entry import Entry
from unjam.puzzles import from_canonical
from unjam.search.solution import Budget
from unjam.store import batches
from unjam.store.batches import Submitted
from unjam.work import drain

BUDGET = Budget(seconds=60, bytes=10**9)
FAMILIES = ("klotski", "rush", "parkout")

# Announces, or reconciles, in a process of its own: the Celery app reads its settings once.
ANNOUNCE = "import sys; from worker.tasks import announce; announce([(int(n), sys.argv[1]) for n in sys.argv[2:]])"


class Service:
    """Programs over one database and one broker."""

    def __init__(self, stack: ExitStack, database_url: str, redis_url: str, folder: Path) -> None:
        self._stack = stack
        self._folder = folder
        self.environment = os.environ | {
            "UNJAM_DATABASE_URL": database_url,
            "UNJAM_REDIS_URL": redis_url,
            "UNJAM_LEASE_SECONDS": "2",
        }
        self.broker = stack.enter_context(redis.Redis.from_url(redis_url))
        self.broker.flushall()

    def start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        log = self._stack.enter_context((self._folder / f"{name}.log").open("wb"))
        process = subprocess.Popen(
            [sys.executable, "-m", *command], env=self.environment, stdout=log, stderr=log, start_new_session=True
        )
        self._stack.callback(self._end, process)
        return process

    def worker(self, name: str) -> subprocess.Popen[bytes]:
        command = f"celery --app worker.app worker --hostname {name}@here --concurrency 1 --loglevel info"
        process = self.start(name, *command.split())
        wait_until(lambda: b"ready." in self.log(name), f"{name}: {self.log(name).decode()}", 60)
        return process

    def log(self, name: str) -> bytes:
        return (self._folder / f"{name}.log").read_bytes()

    def announce(self, batch: Submitted, queue: str = "bulk") -> None:
        command = [sys.executable, "-c", ANNOUNCE, queue, *map(str, batch.chunks)]
        subprocess.run(command, env=self.environment, check=True)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def service(database_url: str, redis_url: str, tmp_path: Path) -> Iterator[Service]:
    with ExitStack() as stack:
        yield Service(stack, database_url, redis_url, tmp_path)


def wait_until(true: Callable[[], bool], why: object = "waited in vain", seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, why
        time.sleep(0.05)


def wait_for(engine: Engine, batch: Submitted, state: str = "done") -> None:
    wait_until(lambda: batches.status(engine, batch.batch_id).state == state, batches.status(engine, batch.batch_id))


def answers(engine: Engine, batch: Submitted) -> list[dict[str, Any]]:
    """The results without what differs from run to run."""
    return [row | {"seconds": None} for row in batches.results(engine, batch.batch_id)]


def attempts(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM attempt")).scalar_one())


def test_two_workers_give_the_answers_of_a_local_run_and_a_rerun_solves_nothing(
    engine: Engine, database_url: str, service: Service
) -> None:
    entries = random_levels(150, families=FAMILIES)
    local = batches.submit(engine, entries, budget=BUDGET)
    drain(database_url, local.batch_id, 1)
    expected = answers(engine, local)
    with engine.begin() as connection:
        connection.execute(text("TRUNCATE batch, puzzle CASCADE"))

    for name in ("one", "two"):
        service.worker(name)
    batch = batches.submit(engine, entries, budget=BUDGET)
    service.announce(batch)
    wait_for(engine, batch)
    assert answers(engine, batch) == expected
    assert service.broker.dbsize() < 10, "no results pile up in Redis"

    solved = attempts(engine)
    again = batches.submit(engine, entries, budget=BUDGET)
    assert (again.new, again.chunks) == (0, [])
    assert answers(engine, again) == expected
    assert attempts(engine) == solved


def test_killing_a_worker_in_the_middle_loses_nothing(engine: Engine, service: Service) -> None:
    workers = [service.worker(name) for name in ("one", "two")]
    service.start("reconciler", "cli", "reconcile")
    batch = batches.submit(engine, hard_levels(6), budget=Budget(seconds=1.5, bytes=10**9))
    service.announce(batch)
    wait_until(lambda: batches.status(engine, batch.batch_id).running_chunks == 2)
    os.killpg(workers[0].pid, signal.SIGKILL)  # the main process and its pool
    wait_for(engine, batch)
    assert batches.status(engine, batch.batch_id).outcomes == {"bounded": 6}
    assert attempts(engine) == 6, "each puzzle was answered once"


def test_a_killed_pool_process_costs_no_lease_time(engine: Engine, service: Service) -> None:
    service.environment["UNJAM_LEASE_SECONDS"] = "300"
    service.worker("one")
    batch = batches.submit(engine, hard_levels(1), budget=Budget(seconds=8, bytes=10**9))
    service.announce(batch)
    wait_until(lambda: batches.status(engine, batch.batch_id).running_chunks == 1)
    with engine.connect() as connection:
        name = connection.execute(text("SELECT worker FROM chunk WHERE state = 'leased'")).scalar_one()
    os.kill(int(name.rpartition(":")[2]), signal.SIGKILL)
    wait_for(engine, batch)  # in less than the lease
    assert batches.status(engine, batch.batch_id).outcomes == {"bounded": 1}


def test_lost_messages_are_announced_again(engine: Engine, service: Service) -> None:
    batch = batches.submit(engine, random_levels(20, families=FAMILIES), budget=BUDGET)
    service.announce(batch)
    service.broker.flushall()
    service.worker("one")
    service.start("reconciler", "cli", "reconcile")
    wait_for(engine, batch)


def test_messages_delivered_twice_change_nothing(engine: Engine, service: Service) -> None:
    batch = batches.submit(engine, random_levels(20, families=("rush",)), budget=BUDGET)
    for _ in range(3):
        service.announce(batch)
    service.worker("one")
    wait_for(engine, batch)
    wait_until(lambda: service.log("one").count(b"succeeded") == 3 * len(batch.chunks))
    assert attempts(engine) == batch.new


def test_cancelling_reaches_a_running_search(engine: Engine, service: Service) -> None:
    service.worker("one")
    batch = batches.submit(engine, hard_levels(1), budget=BUDGET)
    service.announce(batch)
    wait_until(lambda: batches.status(engine, batch.batch_id).running_chunks == 1)
    batches.cancel(engine, batch.batch_id)
    wait_until(lambda: batches.status(engine, batch.batch_id).running_chunks == 0, seconds=15)
    assert batches.status(engine, batch.batch_id).outcomes == {}


def test_a_worker_that_is_told_to_stop_hands_its_chunk_back(engine: Engine, service: Service) -> None:
    worker = service.worker("one")
    batch = batches.submit(engine, hard_levels(1), budget=BUDGET)
    service.announce(batch)
    wait_until(lambda: batches.status(engine, batch.batch_id).running_chunks == 1)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0
    now = batches.status(engine, batch.batch_id)
    assert (now.waiting_chunks, now.running_chunks, now.outcomes) == (1, 0, {})
    assert service.broker.llen("bulk") == 1, "the chunk is announced again"


def test_interactive_work_overtakes_the_bulk(engine: Engine, service: Service) -> None:
    bulk = batches.submit(engine, hard_levels(8), budget=Budget(seconds=1))
    urgent = batches.submit(engine, random_levels(1, families=("rush",)), budget=BUDGET, queue="interactive")
    service.announce(bulk)
    service.announce(urgent, "interactive")
    service.worker("one")
    wait_for(engine, urgent)
    assert batches.status(engine, bulk.batch_id).done <= 2


def test_running_out_of_memory_does_not_leave_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    from worker import tasks

    def work(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(tasks, "work", work)
    monkeypatch.setattr(tasks, "_engine", lambda: None)
    tasks.next_chunk("bulk")


def test_a_killed_worker_of_a_shared_search_loses_nothing_but_time(engine: Engine, service: Service) -> None:
    puzzle = unjam.parse("tiles", " ".join(map(str, random.Random(13).sample(range(16), 16))))  # 159 million nodes
    workers = [service.worker(name) for name in ("one", "two")]
    service.start("reconciler", "cli", "reconcile")
    batch = batches.submit(
        engine, [Entry(0, 1, puzzle)], metric="step", budget=BUDGET, heuristic="manhattan", distributed=True
    )
    service.announce(batch)
    wait_until(lambda: held_slices(engine) == 2)
    os.killpg(workers[0].pid, signal.SIGKILL)
    wait_for(engine, batch)
    [row] = batches.results(engine, batch.batch_id)
    alone = unjam.solve(from_canonical("tiles", puzzle.canonical), "step", heuristic="manhattan")
    assert (row["outcome"], row["length"]) == ("optimal", alone.length)
    with engine.connect() as connection:
        profile = connection.execute(text("SELECT profile FROM attempt")).scalar_one()
    full = list(alone.profile[:-1])
    assert profile[: len(full)] == full


def held_slices(engine: Engine) -> int:
    with engine.connect() as connection:
        query = text("SELECT count(*) FROM chunk WHERE state = 'leased' AND checkpoint_id IS NOT NULL")
        return int(connection.execute(query).scalar_one())
