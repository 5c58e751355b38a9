"""A database that restarts, and connections that break between COMMIT and its answer."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import Engine, make_url

from tests.levels import mixed_levels
from tests.service import Service, assert_nothing_lost, wait_for, wait_for_holder
from tests.tcp_proxy import CuttingProxy, cutting_proxy
from tests.waiting import wait_until
from unjam.packs.write import write_pack
from unjam.search.solution import Budget
from unjam.store import batches
from unjam.store.database import migrate, open_engine
from unjam.store.postgres import PORT, PrivatePostgres

BUDGET = Budget(seconds=1.5, bytes=10**9)


class Postgres(PrivatePostgres):
    """One of our own, which may be taken away."""

    def crash(self) -> None:
        """Immediate shutdown: nothing is finished, nothing written; the next start has to recover."""
        pid = self.pid()
        assert pid is not None
        os.kill(pid, signal.SIGQUIT)
        wait_until(lambda: self.pid() is None or not self._alive(pid))

    def restart(self) -> None:
        self._start()


@pytest.fixture
def own_postgres(tmp_path: Path) -> Iterator[Postgres]:
    server = Postgres(tmp_path / "postgres")
    with server.running():
        migrate(server.url)
        yield server


def test_an_immediate_restart_in_the_middle_of_a_chunk(own_postgres: Postgres, redis_url: str, tmp_path: Path) -> None:
    entries = mixed_levels(12, 1)
    engine = open_engine(own_postgres.url)
    with ExitStack() as stack:
        service = Service(stack, own_postgres.url, redis_url, tmp_path)
        service.worker("one")
        service.reconciler()
        batch = batches.submit(engine, entries, budget=BUDGET)
        service.announce(batch)
        wait_for_holder(engine)
        engine.dispose()
        own_postgres.crash()
        own_postgres.restart()
        wait_for(engine, batch)
        assert_nothing_lost(engine, batch, entries, BUDGET)
    engine.dispose()


def behind(proxy: CuttingProxy, database_url: str) -> str:
    """The same database, reached through the proxy."""
    return f"postgresql://unjam@127.0.0.1:{proxy.port}/{make_url(database_url).database}"


def socket_of(database_url: str) -> str:
    return f"{make_url(database_url).query['host']}/.s.PGSQL.{PORT}"


def test_a_connection_that_breaks_between_commit_and_its_answer_at_submit(
    engine: Engine, database_url: str, redis_url: str, tmp_path: Path
) -> None:
    """Nobody heard that the order was accepted, but it was: it is carried out, and ordering it again costs nothing."""
    entries = mixed_levels(12, 1)
    pack = tmp_path / "pack.jsonl"
    pack.write_text("".join(write_pack(entries, "jsonl")))
    with ExitStack() as stack, cutting_proxy(socket_of(database_url), b"INSERT INTO batch ") as proxy:
        unlucky = Service(stack, behind(proxy, database_url), redis_url, tmp_path)
        told = unlucky.cli("submit", str(pack), "--seconds=1.5", "--memory=1GB")
        assert proxy.cut == 1, told
        assert (told.returncode, told.stdout) == (2, "")
        assert "Traceback" not in told.stderr
        service = Service(stack, database_url, redis_url, tmp_path)
        service.worker("one")
        service.reconciler()
        [accepted] = batches.list_batches(engine)
        assert accepted.levels == len(entries)
        again = batches.submit(engine, entries, budget=BUDGET)
        wait_for(engine, again)
        wait_until(lambda: batches.status(engine, accepted.batch_id).state == "done")
        assert_nothing_lost(engine, again, entries, BUDGET)


@pytest.mark.parametrize("words", [b"COPY ", b"INSERT INTO turn"], ids=["finish", "lease"])
def test_a_connection_that_breaks_between_commit_and_its_answer_at_a_worker(
    engine: Engine, database_url: str, redis_url: str, tmp_path: Path, words: bytes
) -> None:
    entries = mixed_levels(12, 1)
    batch = batches.submit(engine, entries, budget=BUDGET)
    with ExitStack() as stack, cutting_proxy(socket_of(database_url), words, times=2) as proxy:
        service = Service(stack, behind(proxy, database_url), redis_url, tmp_path)
        service.worker("one")
        service.reconciler()
        wait_for(engine, batch)
        assert proxy.cut == 2
        assert_nothing_lost(engine, batch, entries, BUDGET)
