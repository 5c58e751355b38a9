"""How far a batch is: told from its chunks, whatever becomes of them, and equal to what a look at every level says."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, text
from test_chunks import answer, submit, take

from tests.levels import hard_levels, random_levels
from tests.shared_searches import HARD, MEDIUM, left, query, started
from unjam.errors import NoSuchBatch
from unjam.packs.entry import Entry
from unjam.search.solution import Budget
from unjam.store import batches, chunks
from unjam.store.batches import Submitted
from unjam.work import drain

BUDGET = Budget(seconds=60)


def done(engine: Engine, batch: Submitted) -> int:
    """By the chunks; the same as by the levels."""
    now = batches.progress(engine, batch.batch_id)
    query = """
        SELECT count(*) FROM batch_item i
        WHERE batch_id = :batch AND (error IS NOT NULL OR (puzzle_id, metric) NOT IN (
            SELECT puzzle_id, metric FROM pending WHERE batch_id = :batch
        ))
    """
    with engine.connect() as connection:
        assert now.done == connection.execute(text(query), {"batch": batch.batch_id}).scalar_one()
    assert batches.progress_of(engine, [batch.batch_id]) == [now]
    return now.done


def test_from_the_order_to_the_last_answer(engine: Engine) -> None:
    entries = [*hard_levels(40), Entry(40, 41, None, error="no board")]
    batch = batches.submit(engine, entries, budget=BUDGET)
    assert done(engine, batch) == 1, "a bad entry waits for nothing"
    while batches.progress(engine, batch.batch_id).state == "running":
        held = take(engine, batch)
        assert done(engine, batch) < 41
        chunks.finish(engine, held, answer(held)[:2], split=True)
        done(engine, batch)
    assert done(engine, batch) == 41


def test_what_the_store_knows_is_done_at_once(engine: Engine, database_url: str) -> None:
    first = batches.submit(engine, random_levels(10, families=("rush",)), budget=BUDGET)
    drain(database_url, first.batch_id, 1)
    again = batches.submit(engine, random_levels(15, families=("rush",)), budget=BUDGET)
    assert done(engine, again) == again.answered >= 10


def test_chunks_that_are_lost_and_bisected(engine: Engine) -> None:
    batch = submit(engine, 48)
    for _ in range(chunks.LOST_LEASES):
        held = take(engine, batch)
        chunks.recover(engine, worker=held.worker)
    assert len(query(engine, "SELECT FROM chunk")) == len(batch.chunks) + 1
    assert done(engine, batch) == 0
    with engine.connect() as connection:
        counted = connection.execute(text("SELECT sum(levels) FROM chunk")).scalar_one()
    assert counted == 48


def test_a_cancelled_batch_stays_where_it_was(engine: Engine) -> None:
    batch = submit(engine, 32)
    held, other = take(engine, batch), take(engine, batch)
    chunks.finish(engine, held, answer(held))
    batches.cancel(engine, batch.batch_id)
    chunks.finish(engine, other, answer(other)[:1])
    assert done(engine, batch) == len(held.tasks) + 1


def test_a_level_that_is_there_twice_counts_twice(engine: Engine) -> None:
    one, two, three = (level.puzzle for level in hard_levels(3))
    entries = [Entry(index, index + 1, puzzle) for index, puzzle in enumerate((one, two, one, three, one))]
    batch = batches.submit(engine, entries, budget=BUDGET)
    assert done(engine, batch) == 0
    seen = set()
    while batches.progress(engine, batch.batch_id).state == "running":
        held = take(engine, batch)
        chunks.finish(engine, held, answer(held))
        seen.add(done(engine, batch))
    assert len(seen) == 3
    assert max(seen) == 5


@pytest.mark.usefixtures("short_slices")
def test_a_shared_search_is_one_level_whatever_its_slices(engine: Engine, database_url: str) -> None:
    batch = started(engine, HARD)
    assert left(engine)["checkpoint"] == 1
    assert done(engine, batch) == 0
    batches.cancel(engine, batch.batch_id)
    assert done(engine, batch) == 0
    batch = started(engine, MEDIUM)
    drain(database_url, batch.batch_id, 2)
    assert done(engine, batch) == 1


def test_no_such_batch(engine: Engine) -> None:
    with pytest.raises(NoSuchBatch):
        batches.progress(engine, 7)
    assert batches.progress_of(engine, [7]) == []
