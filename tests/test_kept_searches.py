"""What a shared search has done when its budget ends or its batch is cancelled: shown, kept, and taken up again."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, text

from tests.shared_searches import EMPTY, HARD, LONG, assert_answered, left, one_process, query, started, submit
from unjam.search.solution import Budget
from unjam.store import batches, chunks, slices
from unjam.work import drain, work

pytestmark = pytest.mark.usefixtures("short_slices")


def test_a_cancelled_batch_shows_what_its_shared_search_has_found_out(engine: Engine) -> None:
    batch = started(engine, HARD)
    assert work(engine, worker="here")
    running = batches.status(engine, batch.batch_id)
    assert (running.outcomes, running.expanded > 10_000) == ({}, True)
    assert [row["outcome"] for row in batches.results(engine, batch.batch_id)] == [None]
    batches.cancel(engine, batch.batch_id)
    now = batches.status(engine, batch.batch_id)
    assert (now.done, now.outcomes, now.expanded) == (0, {"bounded": 1}, running.expanded)
    [row] = batches.results(engine, batch.batch_id)
    assert (row["outcome"], row["reason"], row["expanded"]) == ("bounded", "cancelled", running.expanded)
    assert row["lower"] >= 40
    assert len(row["moves"]) == row["upper"] >= row["lower"]
    again = started(engine, HARD)  # takes the search over
    assert [row["outcome"] for row in batches.results(engine, batch.batch_id)] == [None]
    assert batches.status(engine, again.batch_id).expanded >= running.expanded


def test_a_larger_budget_goes_on_where_the_smaller_one_ended(engine: Engine, database_url: str) -> None:
    first = submit(engine, LONG, Budget(nodes=30_000_000))
    drain(database_url, first.batch_id, 2)
    assert submit(engine, LONG, Budget(nodes=30_000_000)).new == 0, "the same budget has its answer"
    kept = query(engine, "SELECT id, bound, expanded, bound_generated FROM checkpoint")
    again = started(engine, LONG)
    assert query(engine, "SELECT id, bound, expanded, bound_generated FROM checkpoint") == kept
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM batch WHERE id = :id"), {"id": first.batch_id})
    drain(database_url, again.batch_id, 2)
    [row] = batches.results(engine, again.batch_id)
    expected = one_process(LONG)
    assert (row["outcome"], row["length"]) == ("optimal", expected.length)
    [(profile,)] = query(engine, "SELECT profile FROM attempt ORDER BY id DESC LIMIT 1")
    full = list(expected.profile[:-1])
    assert (profile[: len(full)], sum(profile)) == (full, row["generated"])
    assert left(engine) == EMPTY


def test_every_order_has_its_own_budget_and_the_counts_are_totals(engine: Engine, database_url: str) -> None:
    rows = []
    for nodes in (20_000_000, 30_000_000):
        batch = submit(engine, HARD, Budget(nodes=nodes))
        drain(database_url, batch.batch_id, 2)
        rows += batches.results(engine, batch.batch_id)
    assert rows[1]["generated"] >= rows[0]["generated"] + 30_000_000
    assert rows[1]["seconds"] > rows[0]["seconds"]
    assert rows[1]["lower"] >= rows[0]["lower"]


def test_of_the_searches_that_are_left_only_the_farthest_is_kept(engine: Engine, database_url: str) -> None:
    cancelled, short, long = (started(engine, HARD, Budget(nodes=nodes)) for nodes in (None, 20_000_000, 60_000_000))
    batches.cancel(engine, cancelled.batch_id)
    for batch in (long, short):
        drain(database_url, batch.batch_id, 2)
        assert query(engine, "SELECT batch_id FROM checkpoint ORDER BY bound DESC")[0] == (long.batch_id,)
    assert left(engine)["checkpoint"] == 1
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM batch"))
    assert left(engine) == EMPTY


def test_the_same_order_goes_on_where_it_was_cancelled(engine: Engine, database_url: str) -> None:
    cancelled = started(engine, LONG)
    for _ in range(4):  # farther than the next one can come alone
        assert work(engine, worker="here")
    late = chunks.lease(engine, "late")
    assert late is not None
    batches.cancel(engine, cancelled.batch_id)
    before = query(engine, "SELECT id, bound, expanded, bound_generated FROM checkpoint")
    again = started(engine, LONG)
    assert query(engine, "SELECT id, bound, expanded, bound_generated FROM checkpoint") == before
    never: Any = None
    assert slices.give_back(engine, late, slices.Work(expanded=5, generated=9), never) is None
    drain(database_url, again.batch_id, 2)
    assert batches.status(engine, cancelled.batch_id).state == "cancelled"
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM batch WHERE id = :id"), {"id": cancelled.batch_id})
    assert_answered(engine, again, one_process(LONG))


def test_a_search_that_is_under_way_elsewhere_or_with_another_heuristic_is_not_adopted(engine: Engine) -> None:
    started(engine, HARD)
    other = batches.submit(
        engine, [HARD], metric="step", budget=Budget(), heuristic="linear-conflict", distributed=True
    )
    batches.cancel(engine, other.batch_id - 1)
    work(engine, worker="here", batch_id=other.batch_id)
    started(engine, HARD)  # takes over the first one's
    started(engine, HARD)
    assert query(engine, "SELECT batch_id - 1 FROM checkpoint ORDER BY 1") == [(1,), (2,), (3,)]
