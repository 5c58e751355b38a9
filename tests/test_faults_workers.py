"""Workers that are killed, stopped, stuck or out of memory: whatever happens to them, no level is lost."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from tests.levels import mixed_levels, random_levels
from tests.service import Service, assert_nothing_lost, attempts, wait_for, wait_for_holder
from unjam.search.solution import Budget
from unjam.store import batches

BUDGET = Budget(seconds=1.5, bytes=10**9)


def test_a_pool_process_killed_in_the_middle_of_a_search(engine: Engine, service: Service) -> None:
    service.environment["UNJAM_LEASE_SECONDS"] = "300"  # it does not have to run out
    service.worker("one")
    entries = mixed_levels(4, 2)
    batch = batches.submit(engine, entries, budget=BUDGET)
    service.announce(batch)
    os.kill(wait_for_holder(engine), signal.SIGKILL)
    wait_for(engine, batch)
    assert_nothing_lost(engine, batch, entries, BUDGET)


def test_a_worker_killed_with_its_pool(engine: Engine, service: Service) -> None:
    for name in ("one", "two"):
        service.worker(name)
    service.reconciler()
    entries = mixed_levels(4, 3)
    batch = batches.submit(engine, entries, budget=BUDGET)
    service.announce(batch)
    os.killpg(os.getpgid(wait_for_holder(engine)), signal.SIGKILL)
    wait_for(engine, batch)
    assert_nothing_lost(engine, batch, entries, BUDGET)


def test_a_worker_that_is_told_to_stop_hands_its_chunk_back(engine: Engine, service: Service) -> None:
    worker = service.worker("one")
    entries = mixed_levels(4, 1)
    budget = replace(BUDGET, seconds=5)
    batch = batches.submit(engine, entries, budget=budget)
    service.announce(batch)
    wait_for_holder(engine)
    before = time.monotonic()
    for _ in range(2):  # an impatient one
        worker.send_signal(signal.SIGTERM)
        time.sleep(0.2)
    assert worker.wait(30) == 0
    assert time.monotonic() - before < 20
    assert b"Bad file descriptor" not in service.log("one")
    now = batches.status(engine, batch.batch_id)
    assert (now.running_chunks, now.outcomes.get("bounded")) == (0, None)
    assert now.waiting_chunks > 0
    service.worker("two")  # which needs no reconciler: the chunks are announced again
    wait_for(engine, batch)
    assert_nothing_lost(engine, batch, entries, budget)


@pytest.mark.parametrize("whole", [True, False], ids=["worker", "pool process"])
def test_a_worker_that_sleeps_beyond_its_lease_is_refused(engine: Engine, service: Service, whole: bool) -> None:
    """Its search has an answer as soon as it goes on, since the clock went on, too."""
    sleeper = service.worker("sleeper")
    service.reconciler()
    entries = mixed_levels(4, 1)
    batch = batches.submit(engine, entries, budget=BUDGET)
    service.announce(batch)
    holder = wait_for_holder(engine)
    sleeping = [sleeper.pid, holder] if whole else [holder]
    for pid in sleeping:
        os.kill(pid, signal.SIGSTOP)
    service.worker("two")
    wait_for(engine, batch)
    answered = attempts(engine)
    for pid in sleeping:
        os.kill(pid, signal.SIGCONT)
    sleeper.send_signal(signal.SIGTERM)
    assert sleeper.wait(60) == 0, "it has tried to store what it found"
    assert attempts(engine) == answered
    assert_nothing_lost(engine, batch, entries, BUDGET)


def test_a_search_that_hangs_loses_its_lease_and_its_process(engine: Engine, service: Service) -> None:
    entries = mixed_levels(9, 0)
    assert entries[3].puzzle is not None
    service.environment["NEVER_ENDS"] = entries[3].puzzle.canonical
    service.worker("one", "--include", "tests.sabotage")
    service.reconciler()
    batch = batches.submit(engine, entries, budget=BUDGET)
    service.announce(batch)
    wait_for(engine, batch)
    [reason] = [row["reason"] for row in batches.results(engine, batch.batch_id) if row["outcome"] == "failed"]
    assert reason == "the worker process died 3 times on this puzzle"
    assert_nothing_lost(engine, batch, entries, BUDGET, failed=[3])


def test_a_puzzle_that_aborts_the_process_among_499_good_ones(engine: Engine, service: Service) -> None:
    entries = random_levels(500, families=("klotski", "rush", "parkout"))
    boards = [entry.puzzle.canonical for entry in entries if entry.puzzle is not None]
    deadly = next(index for index, board in enumerate(boards) if index > 200 and boards.count(board) == 1)
    service.environment["ABORTS"] = boards[deadly]
    for name in ("one", "two"):
        service.worker(name, "--include", "tests.sabotage")
    batch = batches.submit(engine, entries, budget=BUDGET)
    service.announce(batch)
    wait_for(engine, batch)
    assert_nothing_lost(engine, batch, entries, BUDGET, failed=[deadly])


def test_a_search_that_runs_out_of_its_memory(engine: Engine, service: Service) -> None:
    service.worker("one")
    entries = mixed_levels(4, 2)
    budget = Budget(seconds=60, bytes=20_000_000)
    batch = batches.submit(engine, entries, budget=budget)
    service.announce(batch)
    wait_for(engine, batch)
    reasons = [row["reason"] for row in batches.results(engine, batch.batch_id) if row["outcome"] == "bounded"]
    assert reasons == ["the budget of bytes ended"] * 2
    assert_nothing_lost(engine, batch, entries, budget)
    assert b"signal 9" not in service.log("one")


def test_a_search_that_would_take_more_than_its_process_may(engine: Engine, service: Service) -> None:
    """It has no budget of bytes: the limit of the process is what keeps the machine up."""
    entries = mixed_levels(9, 1)
    hoarder = next(entry for entry in entries if entry.puzzle is not None and entry.puzzle.family == "parkout")
    assert hoarder.puzzle is not None
    service.environment |= {"UNJAM_MAX_WORKER_BYTES": "400000000", "HOARDS": hoarder.puzzle.canonical}
    service.worker("one", "--include", "tests.sabotage")
    budget = Budget(seconds=60)
    batch = batches.submit(engine, entries, budget=budget)
    service.announce(batch)
    wait_for(engine, batch)
    rows = list(batches.results(engine, batch.batch_id))
    assert rows[0]["reason"] == "the budget of bytes ended"
    assert rows[hoarder.index]["reason"].startswith("MemoryError")
    assert_nothing_lost(engine, batch, entries, budget, failed=[hoarder.index])
