"""Leases: who holds a chunk, who may store its answers, and what becomes of it when its holder dies."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace

import pytest
from sqlalchemy import Engine, text

from tests.levels import hard_levels, random_levels
from unjam.packs.entry import Entry
from unjam.puzzles.grid import Move
from unjam.search.solution import Budget, Outcome, Solution
from unjam.store import batches, chunks, keys
from unjam.store.batches import Submitted
from unjam.store.chunks import Lease
from unjam.store.found import Answer

BUDGET = Budget(seconds=60)


def submit(engine: Engine, count: int, seed: int = 0) -> Submitted:
    return batches.submit(engine, hard_levels(count, seed), budget=BUDGET)


def take(engine: Engine, batch: Submitted, worker: str = "one", seconds: float = 60) -> Lease:
    held = chunks.lease(engine, worker, batch_id=batch.batch_id, seconds=seconds)
    assert held is not None
    return held


def answer(held: Lease, lower: int = 1) -> list[Answer]:
    return [Answer(task.puzzle_id, Solution(task.metric, Outcome.BOUNDED, lower=lower)) for task in held.tasks]


def states(engine: Engine, batch: Submitted) -> list[tuple[str, int]]:
    """State and puzzles left of the batch's chunks."""
    query = """
        SELECT state, (SELECT count(*) FROM pending WHERE chunk_id = chunk.id)
        FROM chunk WHERE batch_id = :batch ORDER BY id
    """
    with engine.connect() as connection:
        return [(row[0], row[1]) for row in connection.execute(text(query), {"batch": batch.batch_id})]


@pytest.mark.parametrize(
    ("seconds", "levels", "count"), [(1, 0, 0), (1, 1, 1), (1, 16, 16), (0.05, 100, 16), (0.01, 24, 1), (0.01, 100, 4)]
)
def test_a_batch_is_cut_into_sixteen_chunks_but_no_short_ones(
    engine: Engine, seconds: float, levels: int, count: int
) -> None:
    learn(engine, hard_levels(20, seed=1), seconds)
    batch = submit(engine, levels)
    sizes = sizes_of(engine, batch)
    assert len(sizes) == len(batch.chunks) == count
    assert sum(sizes) == levels
    assert not sizes or max(sizes) - min(sizes) <= 1


def test_chunks_are_cut_by_what_such_puzzles_took(engine: Engine) -> None:
    learn(engine, hard_levels(20), seconds=0.5)
    assert set(sizes_of(engine, submit(engine, 100, seed=1))) == {4}
    learn(engine, hard_levels(1000, seed=2), seconds=0.0)
    largest = max(sizes_of(engine, submit(engine, 4100, seed=3)))
    assert 150 < largest < 300


def sizes_of(engine: Engine, batch: Submitted) -> list[int]:
    return [left for _, left in states(engine, batch)]


def test_a_puzzle_that_takes_long_has_a_chunk_of_its_own(engine: Engine) -> None:
    quick, slow = random_levels(60, families=("rush",)), hard_levels(2)
    learn(engine, hard_levels(20, seed=1), seconds=60)
    batch = batches.submit(engine, [*quick, *(replace(one, index=60 + one.index) for one in slow)], budget=BUDGET)
    with engine.connect() as connection:
        alone = connection.execute(
            text("""
                SELECT count(*) FROM pending q JOIN puzzle p ON p.id = q.puzzle_id
                WHERE batch_id = :batch AND family = 'klotski' AND NOT EXISTS (
                    SELECT FROM pending o WHERE o.chunk_id = q.chunk_id AND o.puzzle_id <> q.puzzle_id
                )
            """),
            {"batch": batch.batch_id},
        ).scalar_one()
    assert alone == 2
    assert sum(left for _, left in states(engine, batch)) == batch.new


def learn(engine: Engine, levels: list[Entry], seconds: float) -> None:
    """Have it known that such levels take so long."""
    batch = batches.submit(engine, levels, budget=BUDGET)
    while held := chunks.lease(engine, "one", batch_id=batch.batch_id):
        found = Solution("path", Outcome.BOUNDED, lower=1, seconds=seconds)
        chunks.finish(engine, held, [Answer(task.puzzle_id, replace(found, metric=task.metric)) for task in held.tasks])


def test_no_two_workers_hold_one_chunk(engine: Engine) -> None:
    batch = submit(engine, 16)
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda number: chunks.lease(engine, f"worker {number}"), range(24)))
    held = [one for one in taken if one is not None]
    assert sorted(one.chunk_id for one in held) == batch.chunks
    assert len({task.puzzle_id for one in held for task in one.tasks}) == 16


def test_of_very_many_chunks_some_are_announced_and_later_the_rest(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "MOST_ANNOUNCED", 10)
    batch = submit(engine, 15)
    with engine.begin() as connection:
        connection.execute(text("UPDATE chunk SET announced = now() - interval '1 hour'"))
    announced = [chunks.reconcile(engine, ["bulk"], 60) for _ in range(3)]
    assert [len(some) for some in announced] == [10, 5, 0]
    assert sorted(chunk for some in announced for chunk, _ in some) == batch.chunks


def test_each_queue_has_its_own_work(engine: Engine) -> None:
    submit(engine, 1)
    urgent = batches.submit(engine, hard_levels(1, seed=9), budget=BUDGET, queue="interactive")
    first = chunks.lease(engine, "one", queue="interactive")
    assert first is not None
    assert (first.batch_id, first.queue) == (urgent.batch_id, "interactive")
    assert chunks.lease(engine, "one", queue="interactive") is None


def test_batches_take_turns(engine: Engine) -> None:
    large, small, late = submit(engine, 40), submit(engine, 3, seed=1), submit(engine, 2, seed=2)
    order = [chunks.lease(engine, "one") for _ in range(21)]
    served = [held.batch_id for held in order if held is not None]
    names = {large.batch_id: "a", small.batch_id: "b", late.batch_id: "c"}
    assert "".join(names[batch_id] for batch_id in served) == "abcabcab" + 13 * "a"


def test_owners_take_turns_however_many_batches_they_have(engine: Engine) -> None:
    key, _ = keys.create(engine, "other", ["submit"])
    mine = [submit(engine, 2, seed=seed) for seed in range(5)]
    theirs = batches.submit(engine, hard_levels(5, seed=9), budget=BUDGET, key_id=key.key_id)
    order = [chunks.lease(engine, "one") for _ in range(10)]
    assert [held is not None and held.batch_id == theirs.batch_id for held in order] == 5 * [False, True]
    assert {held.batch_id for held in order if held} == {theirs.batch_id, *(batch.batch_id for batch in mine)}


def test_a_lease_carries_what_the_search_needs(engine: Engine) -> None:
    budget = Budget(seconds=1.5, nodes=7, bytes=10**9)
    batch = batches.submit(engine, hard_levels(1), budget=budget, algorithm="astar")
    held = take(engine, batch)
    assert (held.budget, held.algorithm, held.heuristic) == (budget, "astar", None)
    assert (held.tasks[0].family, held.tasks[0].metric) == ("klotski", "path")


def test_finishing_stores_the_answers_and_closes_the_chunk(engine: Engine) -> None:
    batch = submit(engine, 2)
    held = take(engine, batch)
    assert chunks.finish(engine, held, answer(held)) == []
    assert states(engine, batch) == [("done", 0), ("waiting", 1)]
    assert chunks.unfinished(engine, batch.batch_id)
    held = take(engine, batch)
    chunks.finish(engine, held, answer(held))
    assert not chunks.unfinished(engine, batch.batch_id)
    assert batches.status(engine, batch.batch_id).outcomes == {"bounded": 2}


def test_what_was_not_answered_waits_again(engine: Engine) -> None:
    batch = submit(engine, 100)
    held = take(engine, batch)
    assert chunks.finish(engine, held, answer(held)[:2]) == [held.chunk_id]
    assert states(engine, batch)[0] == ("waiting", 5)
    again = take(engine, batch)
    assert again.tasks == held.tasks[2:]


def test_the_rest_of_a_slow_chunk_is_shared_out(engine: Engine) -> None:
    batch = submit(engine, 100)
    held = take(engine, batch)
    waiting = chunks.finish(engine, held, answer(held)[:2], split=True)
    assert waiting is not None
    assert len(waiting) == 2
    assert states(engine, batch)[0] == ("waiting", 3)
    assert states(engine, batch)[-1] == ("waiting", 2)


def test_a_late_writer_is_refused(engine: Engine) -> None:
    batch = submit(engine, 1)
    slow = take(engine, batch, "slow", seconds=0)
    time.sleep(0.01)
    assert chunks.recover(engine).leases == 1
    quick = take(engine, batch, "quick")
    assert chunks.finish(engine, slow, answer(slow, lower=99)) is None
    assert not chunks.wanted(engine, slow)
    assert chunks.finish(engine, quick, answer(quick, lower=3)) == []
    assert chunks.finish(engine, quick, answer(quick, lower=99)) is None
    [row] = batches.results(engine, batch.batch_id)
    assert row["lower"] == 3


def test_a_lease_that_is_renewed_does_not_run_out(engine: Engine) -> None:
    batch = submit(engine, 1)
    held = take(engine, batch, seconds=0.05)
    chunks.renew(engine, held, 60)
    time.sleep(0.1)
    assert chunks.recover(engine).leases == 0
    assert chunks.wanted(engine, held)


def test_what_another_batch_has_answered_is_not_searched(engine: Engine) -> None:
    one, two = submit(engine, 1), submit(engine, 1)
    assert two.new == 1, "it is not answered yet"
    held = take(engine, one)
    chunks.finish(engine, held, answer(held))
    late = take(engine, two)
    assert late.tasks == []
    assert chunks.finish(engine, late, []) == []
    assert batches.status(engine, two.batch_id).outcomes == {"bounded": 1}


def solution(outcome: str, lower: int | None = None, upper: int | None = None) -> Solution:
    length = upper if outcome == "optimal" else None
    return Solution("path", Outcome(outcome), length, lower, upper, (Move(0, 1),) * (upper or 0))


def stored(engine: Engine) -> tuple[str, int | None, int | None, int | None]:
    """Outcome, bounds and number of moves of the only answer."""
    query = "SELECT outcome, lower, upper, octet_length(moves) / 2 FROM solution"
    with engine.connect() as connection:
        row = connection.execute(text(query)).one()
    return row[0], row[1], row[2], row[3]


BOUNDS = [solution("bounded", 2), solution("bounded", 2, 9), solution("bounded", 4, 9)]
WORSE_FIRST = [solution("failed"), *BOUNDS, solution("optimal", 5, 5)]


@pytest.mark.parametrize(("worse", "better"), [(a, b) for n, a in enumerate(WORSE_FIRST) for b in WORSE_FIRST[n + 1 :]])
def test_a_better_answer_replaces_a_worse_one_never_the_reverse(
    engine: Engine, worse: Solution, better: Solution
) -> None:
    level = hard_levels(1)
    for number, pair in enumerate([(worse, better), (better, worse)]):
        with engine.begin() as connection:
            connection.execute(text("TRUNCATE batch, puzzle CASCADE"))
        # both are under way at once, so that the store cannot answer the second
        orders = [batches.submit(engine, level, budget=BUDGET) for _ in pair]
        leases = [take(engine, order) for order in orders]
        for held, found in zip(leases, pair, strict=True):
            chunks.finish(engine, held, [Answer(held.tasks[0].puzzle_id, found)])
        assert stored(engine) == (better.outcome, better.lower, better.upper, better.upper), number


def test_bounds_of_two_searches_are_joined(engine: Engine) -> None:
    orders = [batches.submit(engine, hard_levels(1), budget=BUDGET) for _ in range(2)]
    leases = [take(engine, order) for order in orders]
    for held, found in zip(leases, [solution("bounded", 2, 7), solution("bounded", 4, 9)], strict=True):
        chunks.finish(engine, held, [Answer(held.tasks[0].puzzle_id, found)])
    assert stored(engine) == ("bounded", 4, 7, 7)


def test_cancelling_ends_what_waits_and_what_runs(engine: Engine) -> None:
    batch = submit(engine, 20)
    held = take(engine, batch)
    batches.cancel(engine, batch.batch_id)
    batches.cancel(engine, batch.batch_id)
    assert not chunks.wanted(engine, held)
    assert chunks.lease(engine, "two") is None
    assert chunks.finish(engine, held, answer(held)[:1]) == []
    assert {state for state, _ in states(engine, batch)} == {"cancelled"}
    now = batches.status(engine, batch.batch_id)
    assert (now.state, now.outcomes, now.waiting_chunks) == ("cancelled", {"bounded": 1}, 0)


def test_the_lost_lease_of_a_cancelled_batch_is_not_given_again(engine: Engine) -> None:
    batch = submit(engine, 1)
    take(engine, batch, "one")
    batches.cancel(engine, batch.batch_id)
    assert chunks.recover(engine, worker="one").leases == 1
    assert states(engine, batch) == [("cancelled", 1)]


def test_the_puzzle_that_kills_its_workers_is_found_by_bisection(engine: Engine) -> None:
    batch = batches.submit(engine, random_levels(200, families=("rush", "klotski")), budget=BUDGET)
    whole = take(engine, batch)
    deadly = whole.tasks[5].puzzle_id
    chunks.finish(engine, whole, [])
    deaths = 0
    while held := chunks.lease(engine, "victim"):
        if deadly in {task.puzzle_id for task in held.tasks}:
            deaths += 1
            assert chunks.recover(engine, worker="victim").leases == 1
        else:
            chunks.finish(engine, held, answer(held))
    assert deaths <= 12
    now = batches.status(engine, batch.batch_id)
    assert (now.state, now.outcomes["failed"]) == ("done", 1)
    [failed] = [row for row in batches.results(engine, batch.batch_id) if row["outcome"] == "failed"]
    assert failed["reason"] == "the worker process died 3 times on this puzzle"


def test_a_puzzle_that_failed_is_tried_again_in_a_later_batch(engine: Engine) -> None:
    one = submit(engine, 1)
    held = take(engine, one)
    chunks.finish(engine, held, [Answer(held.tasks[0].puzzle_id, solution("failed"))])
    assert submit(engine, 1).new == 1


def test_what_lost_its_hint_is_announced_again_once(engine: Engine) -> None:
    batch = submit(engine, 3)
    assert chunks.reconcile(engine, ["bulk"], 60) == []
    assert chunks.reconcile(engine, ["interactive"], 0) == []
    take(engine, batch)
    assert chunks.reconcile(engine, ["bulk"], 0) == [(number, "bulk") for number in batch.chunks[1:]]
    assert chunks.reconcile(engine, ["bulk"], 60) == []


def test_what_was_recovered_is_announced_at_once_whatever_its_queue_holds(engine: Engine) -> None:
    batch = submit(engine, 2)
    held = take(engine, batch, seconds=0)
    time.sleep(0.01)
    assert chunks.reconcile(engine, [], 60) == [(held.chunk_id, "bulk")]
    assert chunks.reconcile(engine, [], 60) == []


def test_one_reconciler_works_at_a_time(engine: Engine) -> None:
    submit(engine, 1)
    with engine.begin() as other:
        other.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": chunks._RECONCILING})
        assert chunks.reconcile(engine, ["bulk"], 0) == []
    assert len(chunks.reconcile(engine, ["bulk"], 0)) == 1


def test_recovery_waits_for_what_a_dead_worker_was_about_to_store(engine: Engine) -> None:
    held = take(engine, submit(engine, 1), "dying")
    with ThreadPoolExecutor() as pool, engine.connect() as dying:
        dying.execute(text("SELECT id FROM chunk WHERE id = :id FOR UPDATE"), {"id": held.chunk_id})
        recovered = pool.submit(chunks.recover, engine, worker="dying")
        assert not wait([recovered], 0.2).done
        dying.rollback()
        assert recovered.result().leases == 1


def test_puzzles_that_are_given_up_at_once_have_one_attempt_each(engine: Engine) -> None:
    submit(engine, 3)
    for _ in range(chunks.LOST_LEASES):
        while chunks.lease(engine, "victim"):
            pass
        assert chunks.recover(engine, worker="victim").leases == 3
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM attempt")).scalar_one() == 3
