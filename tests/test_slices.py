"""One hard board searched by several workers through the store, and what may happen to them."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import Engine, text

import unjam
import unjam.work
from unjam.packs.entry import Entry
from unjam.search.solution import Budget, Solution
from unjam.store import batches, chunks, slices
from unjam.store.batches import Submitted
from unjam.work import drain, work

HEURISTIC = "manhattan"
EMPTY = {"checkpoint": 0, "slice": 0, "pending": 0}


def board(seed: int) -> Entry:
    """A random 15-puzzle."""
    numbers = random.Random(seed).sample(range(16), 16)
    return Entry(0, 1, unjam.parse("tiles", " ".join(map(str, numbers))))


MEDIUM, LONG, HARD = board(9), board(13), board(24)  # 39 and 159 million nodes; more than a test has time for


@pytest.fixture(autouse=True)
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unjam.work, "DISTRIBUTED_SECONDS", 0.02)
    monkeypatch.setattr(unjam.work, "SLICE_SECONDS", 0.1)


def submit(engine: Engine, entry: Entry, budget: Budget = Budget()) -> Submitted:
    return batches.submit(engine, [entry], metric="step", budget=budget, heuristic=HEURISTIC, distributed=True)


def query(engine: Engine, statement: str) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(text(statement)))


def left(engine: Engine) -> dict[str, int]:
    return {table: query(engine, f"SELECT count(*) FROM {table}")[0][0] for table in EMPTY}


def one_process(entry: Entry) -> Solution:
    assert entry.puzzle is not None
    canonical = unjam.puzzles.from_canonical(entry.puzzle.family, entry.puzzle.canonical)
    return unjam.solve(canonical, "step", heuristic=HEURISTIC)


def assert_answered(engine: Engine, batch: Submitted, expected: Solution) -> None:
    """The one process's length, its nodes under every full bound, and nothing left behind."""
    [row] = batches.results(engine, batch.batch_id)
    assert (row["outcome"], row["length"]) == ("optimal", expected.length)
    [(profile,)] = query(engine, "SELECT profile FROM attempt")
    full = list(expected.profile[:-1])
    assert profile[: len(full)] == full
    assert row["generated"] == sum(profile)
    assert left(engine) == EMPTY
    assert batches.status(engine, batch.batch_id).state == "done"


def wait_until(true: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_two_processes_do_what_one_does(engine: Engine, database_url: str) -> None:
    batch = submit(engine, MEDIUM)
    told: list[int] = []
    drain(database_url, batch.batch_id, 2, told.append)
    assert_answered(engine, batch, one_process(MEDIUM))
    assert told[-1] == 1
    finished = query(engine, "SELECT DISTINCT worker FROM chunk WHERE worker IS NOT NULL")
    assert len(finished) == 2, "both had a part in it"


def test_killed_processes_lose_nothing_but_time(engine: Engine, database_url: str) -> None:
    batch = submit(engine, LONG)
    thread = threading.Thread(target=drain, args=(database_url, batch.batch_id, 2))
    thread.start()
    killed = 0
    while thread.is_alive():
        thread.join(0.4)
        for (name,) in query(engine, "SELECT worker FROM chunk WHERE state = 'leased' AND checkpoint_id IS NOT NULL"):
            with suppress(ProcessLookupError):
                os.kill(int(name.rpartition(":")[2]), signal.SIGKILL)
                killed += 1
            break
    assert killed > 0
    assert_answered(engine, batch, one_process(LONG))


def test_a_search_is_shared_when_it_takes_long(
    engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unjam.work, "LOCAL_SECONDS", 0.05)
    batch = batches.submit(engine, [MEDIUM], metric="step", budget=Budget(), heuristic=HEURISTIC)
    work(engine, None, worker="here")
    assert left(engine)["checkpoint"] == 1
    drain(database_url, batch.batch_id, 2)
    assert_answered(engine, batch, one_process(MEDIUM))


def test_slices_wait_behind_whoever_waits_for_an_answer(engine: Engine) -> None:
    batch = batches.submit(
        engine, [HARD], metric="step", budget=Budget(), heuristic=HEURISTIC, distributed=True, queue="interactive"
    )
    done = work(engine, batch.chunks[0], worker="here")
    assert done is not None
    assert {queue for _, queue in done.waiting} == {"bulk"}
    assert query(engine, "SELECT DISTINCT queue FROM chunk WHERE state = 'waiting'") == [("bulk",)]


def test_cancelling_ends_the_slices(engine: Engine, database_url: str) -> None:
    batch = submit(engine, HARD)
    thread = threading.Thread(target=drain, args=(database_url, batch.batch_id, 2))
    thread.start()
    wait_until(lambda: left(engine)["slice"] > 1)
    batches.cancel(engine, batch.batch_id)
    thread.join(5)
    assert not thread.is_alive()
    now = batches.status(engine, batch.batch_id)
    assert (now.state, now.waiting_chunks, now.running_chunks, now.outcomes) == ("cancelled", 0, 0, {})


@pytest.mark.parametrize("budget", [Budget(seconds=1), Budget(nodes=30_000_000)])
def test_a_budget_of_all_workers_together(engine: Engine, database_url: str, budget: Budget) -> None:
    batch = submit(engine, HARD, budget)
    drain(database_url, batch.batch_id, 2)
    [row] = batches.results(engine, batch.batch_id)
    assert row["outcome"] == "bounded"
    spent = "seconds" if budget.seconds else "nodes"
    assert row["reason"] == f"the budget of {spent} ended"
    assert row["lower"] >= 40
    assert row["seconds"] >= (budget.seconds or 0)
    assert row["generated"] >= (budget.nodes or 0)
    assert left(engine) == EMPTY


def test_a_known_solution_is_the_answer_once_the_bound_has_come_to_its_length(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = one_process(MEDIUM)
    batch = submit(engine, MEDIUM)
    work(engine, None, worker="here")
    with engine.begin() as connection:
        values = {"length": expected.length, "moves": slices.pack_moves(expected.moves)}
        connection.execute(text("UPDATE checkpoint SET upper = :length, moves = :moves"), values)
    while work(engine, None, worker="here"):
        pass
    [row] = batches.results(engine, batch.batch_id)
    assert (row["outcome"], row["length"], len(row["moves"])) == ("optimal", expected.length, expected.length)
    assert row["generated"] == sum(expected.profile[:-1]), "the last bound needs no search"


def test_the_rest_of_a_slice_is_shared_out(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unjam.work, "SLICE_SECONDS", 0.001)
    monkeypatch.setattr(slices, "MOST", 1)
    batch = submit(engine, HARD)
    work(engine, None, worker="here")
    while query(engine, "SELECT count(*) FROM chunk WHERE state = 'waiting'")[0][0] < 4:
        assert work(engine, None, worker="here")
    done = query(engine, "SELECT sum(done), sum(json_array_length(units)) FROM slice")[0]
    assert 0 < done[0] < done[1]
    batches.cancel(engine, batch.batch_id)


def test_a_late_slice_is_refused(engine: Engine) -> None:
    batch = submit(engine, HARD)
    work(engine, None, worker="here")
    slow = chunks.lease(engine, None, "slow", batch_id=batch.batch_id)
    assert slow is not None
    chunks.recover(engine, worker="slow")
    before = query(engine, "SELECT * FROM checkpoint")
    never: Any = None
    assert slices.give_back(engine, slow, slices.Work(expanded=5, generated=9), never) is None
    assert query(engine, "SELECT * FROM checkpoint") == before


def test_only_what_kills_even_the_shortest_slice_ends_the_search(engine: Engine) -> None:
    batch = submit(engine, HARD)
    work(engine, None, worker="here")
    first = chunks.lease(engine, None, "dead", batch_id=batch.batch_id)
    assert first is not None
    for _ in range(unjam.work.LOST_SLICES):
        assert batches.status(engine, batch.batch_id).outcomes == {}
        chunks.recover(engine, worker="dead")
        assert chunks.lease(engine, first.chunk_id, "dead")
    chunks.recover(engine, worker="dead")
    done = work(engine, first.chunk_id, worker="here")
    assert done is not None
    assert done.answered == 1
    [row] = batches.results(engine, batch.batch_id)
    assert (row["outcome"], row["reason"]) == ("failed", "the worker process died 10 times on one slice of the search")
    assert left(engine) == EMPTY


def test_a_slice_that_is_given_back_counts_its_deaths_anew(engine: Engine) -> None:
    batch = submit(engine, HARD)
    work(engine, None, worker="here")
    for _ in range(3):
        held = chunks.lease(engine, None, "dead", batch_id=batch.batch_id)
        chunks.recover(engine, worker="dead")
    assert held is not None
    assert held.attempts == 3
    assert work(engine, held.chunk_id, worker="here")
    again = chunks.lease(engine, held.chunk_id, "here")
    assert again is None or again.attempts == 1
