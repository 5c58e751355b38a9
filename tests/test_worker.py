"""Two real Celery workers over a real Redis and Postgres."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal

import pytest
from sqlalchemy import Engine, text

import unjam
from tests.levels import hard_levels, random_levels
from tests.service import Service, answers, attempts, wait_for, wait_for_holder
from tests.waiting import wait_until
from unjam.packs.entry import Entry
from unjam.puzzles import from_canonical
from unjam.search.solution import Budget
from unjam.store import batches
from unjam.work import drain

BUDGET = Budget(seconds=60, bytes=10**9)
FAMILIES = ("klotski", "rush", "parkout")


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


def test_interactive_work_overtakes_the_bulk(engine: Engine, service: Service) -> None:
    bulk = batches.submit(engine, hard_levels(8), budget=Budget(seconds=1))
    urgent = batches.submit(engine, random_levels(1, families=("rush",)), budget=BUDGET, queue="interactive")
    service.announce(bulk).wait()
    service.announce(urgent, "interactive").wait()
    service.worker("one")
    wait_for(engine, urgent)
    assert batches.status(engine, bulk.batch_id).done <= 2


def test_running_out_of_memory_ends_the_process_and_not_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    from worker import tasks

    def work(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(tasks, "work", work)
    monkeypatch.setattr(tasks, "_engine", lambda: None)
    child = multiprocessing.get_context("fork").Process(target=tasks.next_chunk, args=("bulk",))
    child.start()
    child.join(30)
    assert child.exitcode == 1


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


def test_connections_are_opened_by_pool_processes_and_not_before_they_work(engine: Engine, service: Service) -> None:
    """One that was opened before the fork would be shared, and break."""
    service.worker("one")
    mine = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"

    def others() -> int:
        with engine.connect() as connection:
            return int(connection.execute(text(mine)).scalar_one())

    wait_until(lambda: others() == 0, others)  # the main process has looked at the schema
    batch = batches.submit(engine, hard_levels(1), budget=BUDGET)
    service.announce(batch)
    wait_for_holder(engine)
    assert others() in (1, 2)
    batches.cancel(engine, batch.batch_id)
