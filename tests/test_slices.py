"""One hard board searched by several workers through the store, and what may happen to them."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

import unjam.sharing
import unjam.watch
from tests.shared_searches import (
    EMPTY,
    HARD,
    HEURISTIC,
    LONG,
    MEDIUM,
    assert_answered,
    left,
    one_process,
    query,
    started,
    submit,
    waiting,
)
from tests.waiting import wait_until
from unjam.errors import TableError
from unjam.search import split
from unjam.search.solution import Budget
from unjam.store import batches, chunks, slices
from unjam.store.answers import pack_moves
from unjam.work import drain, work

pytestmark = pytest.mark.usefixtures("short_slices")


def test_two_processes_do_what_one_does(engine: Engine, database_url: str) -> None:
    batch = submit(engine, MEDIUM)
    told: list[int] = []
    drain(database_url, batch.batch_id, 2, told.append)
    assert_answered(engine, batch, one_process(MEDIUM))
    assert told[-1] == 1


def test_killed_processes_lose_nothing_but_time(engine: Engine, database_url: str) -> None:
    batch = submit(engine, LONG)
    thread = threading.Thread(target=drain, args=(database_url, batch.batch_id, 2))
    thread.start()
    killed = 0
    while thread.is_alive():
        thread.join(0.4)
        # On a busy machine all might die before they have stored anything, ten times in a row, which ends the search.
        leased = "state = 'leased' AND checkpoint_id IS NOT NULL AND attempts < 5"
        for (name,) in query(engine, f"SELECT worker FROM chunk WHERE {leased}"):
            with suppress(ProcessLookupError):
                os.kill(int(name.rpartition(":")[2]), signal.SIGKILL)
                killed += 1
            break
    assert killed > 0
    assert_answered(engine, batch, one_process(LONG))


def test_a_search_is_shared_when_it_takes_long(
    engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unjam.sharing, "LOCAL_SECONDS", 0.05)
    batch = batches.submit(engine, [MEDIUM], metric="step", budget=Budget(), heuristic=HEURISTIC)
    work(engine, worker="here")
    assert left(engine)["checkpoint"] == 1
    drain(database_url, batch.batch_id, 2)
    assert_answered(engine, batch, one_process(MEDIUM))


def test_slices_wait_behind_whoever_waits_for_an_answer(engine: Engine) -> None:
    batches.submit(
        engine, [HARD], metric="step", budget=Budget(), heuristic=HEURISTIC, distributed=True, queue="interactive"
    )
    done = work(engine, worker="here", queue="interactive")
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
    assert (now.state, now.done, now.waiting_chunks, now.running_chunks) == ("cancelled", 0, 0, 0)


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
    assert (batches.status(engine, batch.batch_id).state, waiting(engine)) == ("done", 0)
    assert slices.under_way(engine, batch.batch_id) == []


def test_a_known_solution_is_the_answer_once_the_bound_has_come_to_its_length(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = one_process(MEDIUM)
    batch = submit(engine, MEDIUM)
    work(engine, worker="here")
    with engine.begin() as connection:
        values = {"length": expected.length, "moves": pack_moves(expected.moves)}
        connection.execute(text("UPDATE checkpoint SET upper = :length, moves = :moves"), values)
    while work(engine, worker="here"):
        pass
    [row] = batches.results(engine, batch.batch_id)
    assert (row["outcome"], row["length"], len(row["moves"])) == ("optimal", expected.length, expected.length)
    assert row["generated"] == sum(expected.profile[:-1]), "the last bound needs no search"


def test_the_rest_of_a_slice_is_shared_out(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unjam.sharing, "SLICE_SECONDS", 0.001)
    monkeypatch.setattr(slices, "MOST", 1)
    batch = submit(engine, HARD)
    work(engine, worker="here")
    while query(engine, "SELECT count(*) FROM chunk WHERE state = 'waiting'")[0][0] < 4:
        assert work(engine, worker="here")
    done = query(engine, "SELECT sum(done), sum(json_array_length(units)) FROM slice")[0]
    assert 0 < done[0] < done[1]
    batches.cancel(engine, batch.batch_id)


def test_a_late_slice_is_refused(engine: Engine) -> None:
    batch = submit(engine, HARD)
    work(engine, worker="here")
    slow = chunks.lease(engine, "slow", batch_id=batch.batch_id)
    assert slow is not None
    chunks.recover(engine, worker="slow")
    before = query(engine, "SELECT * FROM checkpoint")
    never: Any = None
    assert slices.give_back(engine, slow, slices.Work(expanded=5, generated=9), never) is None
    assert query(engine, "SELECT * FROM checkpoint") == before


def test_only_what_kills_even_the_shortest_slice_ends_the_search(engine: Engine) -> None:
    batch = submit(engine, HARD)
    work(engine, worker="here")
    first = chunks.lease(engine, "dead", batch_id=batch.batch_id)
    assert first is not None
    for _ in range(unjam.sharing.LOST_SLICES):
        assert batches.status(engine, batch.batch_id).outcomes == {}
        chunks.recover(engine, worker="dead")
        assert chunks.lease(engine, "dead", batch_id=batch.batch_id)
    chunks.recover(engine, worker="dead")
    done = work(engine, worker="here", batch_id=batch.batch_id)
    assert done is not None
    assert done.answered == 1
    [row] = batches.results(engine, batch.batch_id)
    assert (row["outcome"], row["reason"]) == ("failed", "the worker process died 10 times on one slice of the search")
    assert left(engine) == EMPTY


def test_a_slice_that_is_given_back_counts_its_deaths_anew(engine: Engine) -> None:
    batch = submit(engine, HARD)
    work(engine, worker="here")
    for _ in range(3):
        held = chunks.lease(engine, "dead", batch_id=batch.batch_id)
        chunks.recover(engine, worker="dead")
    assert held is not None
    assert held.attempts == 3
    assert work(engine, worker="here", batch_id=batch.batch_id)
    again = chunks.lease(engine, "here", batch_id=batch.batch_id)
    assert again is None or again.attempts == 1


def test_sharing_again_after_the_answer_of_a_commit_was_lost_changes_nothing(
    engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, tries = slices.begin, []

    def lose_answer(*arguments: Any) -> list[int]:
        chunks = begin(*arguments)
        tries.append(chunks)
        if len(tries) == 1:
            raise OperationalError("COMMIT", None, Exception("the connection was lost"))
        return chunks

    monkeypatch.setattr(slices, "begin", lose_answer)
    batch = started(engine, MEDIUM)
    assert [bool(chunks) for chunks in tries] == [True, False]
    drain(database_url, batch.batch_id, 2)
    assert_answered(engine, batch, one_process(MEDIUM))


def test_a_store_that_is_away_is_not_the_puzzles_failure(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any) -> Any:
        raise OperationalError("INSERT", None, Exception("no connection"))

    monkeypatch.setattr(slices, "begin", away)
    monkeypatch.setattr(unjam.watch, "STORE_TRIES", 1)
    batch = submit(engine, HARD)
    with pytest.raises(OperationalError):
        work(engine, worker="here")
    chunks.recover(engine, worker="here")
    now = batches.status(engine, batch.batch_id)
    assert (now.outcomes, now.waiting_chunks) == ({}, 1)


def test_memory_that_runs_out_while_a_search_is_divided_is_a_budget_that_ended(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(split, "divide", no_memory)
    batch = submit(engine, HARD)
    done = work(engine, worker="here")
    assert done is not None
    assert (done.answered, done.waiting) == (1, [])
    [row] = batches.results(engine, batch.batch_id)
    assert (row["outcome"], row["reason"]) == ("bounded", "the budget of bytes ended")
    assert len(row["moves"]) == row["upper"]


def test_nothing_waits_when_a_batch_is_cancelled_while_its_search_is_divided(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = split.begin
    batch = submit(engine, HARD)

    def divide(*arguments: Any) -> Any:
        batches.cancel(engine, batch.batch_id)
        return begin(*arguments)

    monkeypatch.setattr(split, "begin", divide)
    done = work(engine, worker="here")
    assert done is not None
    assert done.waiting == []
    assert waiting(engine) == 0


def test_nothing_waits_when_a_batch_is_cancelled_between_two_bounds(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = started(engine, HARD)
    advance, threads = split.advance, []

    def cancelled_meanwhile(*arguments: Any) -> Any:
        threads.append(threading.Thread(target=batches.cancel, args=(engine, batch.batch_id)))
        threads[0].start()
        threads[0].join(0.3)
        return advance(*arguments)

    monkeypatch.setattr(split, "advance", cancelled_meanwhile)
    while not threads:
        assert work(engine, worker="here")
    threads[0].join()
    assert waiting(engine) == 0


def test_the_answer_of_another_batch_ends_the_search(engine: Engine, database_url: str) -> None:
    slow, quick = started(engine, MEDIUM), started(engine, MEDIUM)
    drain(database_url, quick.batch_id, 2)
    done = work(engine, worker="here", batch_id=slow.batch_id)
    assert done is not None
    assert (done.answered, done.waiting) == (1, [])
    assert_answered(engine, slow, one_process(MEDIUM))


def test_a_slice_whose_table_is_missing_goes_to_another_worker(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    batch = started(engine, HARD)
    before = waiting(engine)

    def missing(*_: Any) -> Any:
        raise TableError("there is no such table here")

    with monkeypatch.context() as patch:
        patch.setattr(split, "search", missing)
        done = work(engine, worker="without")
        assert done is not None
        assert (done.answered, done.waiting, waiting(engine)) == (0, [], before)
        while not done.answered:
            done = work(engine, worker="without")
            assert done is not None
    [row] = batches.results(engine, batch.batch_id)
    assert (row["outcome"], row["reason"]) == ("failed", "TableError: there is no such table here")
    assert "failed: TableError: there is no such table here" in caplog.text


def test_a_budget_that_would_end_while_the_search_is_divided_is_spent_by_one(engine: Engine) -> None:
    batch = submit(engine, HARD, Budget(seconds=0.03))
    done = work(engine, worker="here")
    assert done is not None
    assert (done.answered, done.waiting) == (1, [])
    assert batches.status(engine, batch.batch_id).outcomes == {"bounded": 1}


def test_connections_that_break_lose_nothing(engine: Engine, database_url: str) -> None:
    """As when Postgres restarts, less and less often: what is stored between two breaks takes a busy machine longer."""
    batch = submit(engine, LONG)
    thread = threading.Thread(target=drain, args=(database_url, batch.batch_id, 2))
    thread.start()
    broken, pause = 0, 0.3
    while thread.is_alive():
        thread.join(pause)
        pause *= 1.2
        broken += len(
            query(
                engine,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid()",
            )
        )
    assert broken > 0
    assert_answered(engine, batch, one_process(LONG))
