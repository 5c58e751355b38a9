"""Hints that are lost, doubled or shuffled, and a Redis that is gone or deaf: Postgres knows what is to be done."""

from __future__ import annotations

import random
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from tests.levels import mixed_levels
from tests.service import Service, assert_nothing_lost, wait_for, wait_for_holder
from tests.waiting import wait_until
from unjam.packs.write import write_pack
from unjam.search.solution import Budget
from unjam.store import batches
from unjam.store.batches import Submitted
from unjam.store.redis import _program

BUDGET = Budget(seconds=1.5, bytes=10**9)
ENTRIES = mixed_levels(12, 1)


class Redis:
    """One of our own, on a free port, that keeps nothing and may be taken away."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        options = ["--port", str(self.port), "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen([_program(), *options], stdout=subprocess.DEVNULL)
        wait_until(self._answers)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port)) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(7) == b"+PONG\r\n"
        except OSError:
            return False


@pytest.fixture
def own_redis() -> Iterator[Redis]:
    server = Redis()
    yield server
    server.kill()


@pytest.fixture
def pack(tmp_path: Path) -> str:
    path = tmp_path / "pack.jsonl"
    path.write_text("".join(write_pack(ENTRIES, "jsonl")))
    return str(path)


@contextmanager
def deaf() -> Iterator[str]:
    """The URL of a Redis that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listener:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


def test_flushing_redis_in_the_middle(engine: Engine, service: Service) -> None:
    service.worker("one")
    service.reconciler()
    batch = batches.submit(engine, ENTRIES, budget=BUDGET)
    service.announce(batch)
    wait_for_holder(engine)
    service.broker.flushall()
    wait_for(engine, batch)
    assert_nothing_lost(engine, batch, ENTRIES, BUDGET)


def test_a_restart_of_redis_that_keeps_nothing(
    engine: Engine, own_redis: Redis, database_url: str, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        service = Service(stack, database_url, own_redis.url, tmp_path)
        service.worker("one")
        service.reconciler()
        batch = batches.submit(engine, ENTRIES, budget=BUDGET)
        service.announce(batch)
        wait_for_holder(engine)
        own_redis.kill()
        time.sleep(1)
        own_redis.start()
        wait_for(engine, batch)
        assert_nothing_lost(engine, batch, ENTRIES, BUDGET)


def test_a_redis_that_is_deaf_while_hints_are_published(engine: Engine, service: Service, pack: str) -> None:
    with deaf() as nowhere:
        service.environment["UNJAM_REDIS_URL"], ears = nowhere, service.environment["UNJAM_REDIS_URL"]
        before = time.monotonic()
        told = service.cli("submit", pack, "--seconds=1.5", "--memory=1GB")
        assert time.monotonic() - before < 60
        service.environment["UNJAM_REDIS_URL"] = ears
    assert (told.returncode, told.stdout) == (0, "1\n"), told.stderr
    assert "the reconciler will announce the batch" in told.stderr
    the_reconciler_makes_up_for_it(engine, service)


def test_a_submitter_killed_between_commit_and_publishing(engine: Engine, service: Service, pack: str) -> None:
    with deaf() as nowhere:  # it cannot get on from there
        service.environment["UNJAM_REDIS_URL"], ears = nowhere, service.environment["UNJAM_REDIS_URL"]
        submitter = service.start("submitter", "cli", "submit", pack, "--seconds=1.5", "--memory=1GB")
        wait_until(lambda: bool(batches.list_batches(engine)))
        submitter.kill()
        service.environment["UNJAM_REDIS_URL"] = ears
    assert service.log("submitter") == b"", "it did not come to saying so"
    the_reconciler_makes_up_for_it(engine, service)


def the_reconciler_makes_up_for_it(engine: Engine, service: Service) -> None:
    [accepted] = batches.list_batches(engine)
    service.worker("one")
    service.reconciler()
    with engine.connect() as connection:
        chunks = connection.execute(text("SELECT id FROM chunk ORDER BY id")).scalars().all()
        new = connection.execute(text("SELECT count(*) FROM pending")).scalar_one()
    batch = Submitted(accepted.batch_id, accepted.levels, new, 0, 0, list(chunks))
    wait_for(engine, batch)
    assert_nothing_lost(engine, batch, ENTRIES, BUDGET)


def test_every_message_delivered_twice_and_shuffled(engine: Engine, service: Service) -> None:
    batch = batches.submit(engine, ENTRIES, budget=BUDGET)
    service.announce(batch).wait()
    messages = service.broker.lrange("bulk", 0, -1) * 2
    assert len(messages) == 2 * len(batch.chunks)
    random.Random(3).shuffle(messages)
    service.broker.delete("bulk")
    service.broker.rpush("bulk", *messages)
    for name in ("one", "two"):
        service.worker(name)
    wait_for(engine, batch)
    assert_nothing_lost(engine, batch, ENTRIES, BUDGET)


def test_two_reconcilers_at_once(engine: Engine, service: Service) -> None:
    """They neither announce nor recover anything twice."""
    reconcilers = [service.reconciler(name) for name in ("one", "two")]
    batch = batches.submit(engine, ENTRIES, budget=BUDGET)  # not announced
    wait_until(lambda: service.broker.llen("bulk") >= len(batch.chunks))
    time.sleep(2)
    assert service.broker.llen("bulk") == len(batch.chunks)
    service.worker("worker")
    wait_for(engine, batch)
    assert_nothing_lost(engine, batch, ENTRIES, BUDGET)
    assert [process.poll() for process in reconcilers] == [None, None]
