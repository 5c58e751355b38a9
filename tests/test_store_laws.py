"""Laws of the store, whatever order things happen in: orders, leases, deaths, late answers, cancelling, recovering.

Nothing is lost, nothing is answered twice, and every level of a batch is done, bad or waited for.
"""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Engine, text

import unjam.sharing
from tests.levels import random_levels
from tests.shared_searches import board
from unjam.packs.entry import Entry
from unjam.puzzles import from_canonical
from unjam.search.solution import Budget, Outcome, Solution
from unjam.search.solve import solve
from unjam.store import batches, chunks
from unjam.store.chunks import LOST_LEASES, Answer, Lease, Task
from unjam.work import work
from worker.app import QUEUES

BUDGET = Budget(seconds=60)
LEVELS = [*random_levels(60, families=("klotski", "rush", "parkout")), Entry(0, 1, error="is no board")]
SHARED = board(69)
RANKS = {"failed": 0, "bounded": 1, "optimal": 2, "unsolvable": 2}
TABLES = "batch, puzzle, solution, attempt, turn"

which = st.integers(0, 1000)  # of many, modulo their number
queues = st.sampled_from(QUEUES)

ITEMS = """
    SELECT i.batch_id, i.index, i.puzzle_id, i.metric, q.chunk_id IS NOT NULL AS waits, s.outcome, s.lower, s.upper
    FROM batch_item i
    LEFT JOIN pending q USING (batch_id, puzzle_id, metric)
    LEFT JOIN solution s USING (puzzle_id, metric)
"""
# What waits although nobody will come to it. A shared search goes on as long as one of its slices does.
FORGOTTEN = """
    SELECT q.* FROM pending q JOIN chunk c ON c.id = q.chunk_id JOIN batch b ON b.id = q.batch_id
    WHERE b.cancelled IS NULL AND NOT EXISTS (
        SELECT FROM chunk o
        WHERE o.state IN ('waiting', 'leased') AND (o.id = c.id OR o.checkpoint_id = c.checkpoint_id)
    )
"""


@cache
def proven(task: Task) -> Solution:
    return solve(from_canonical(task.family, task.canonical), task.metric)


def answer(task: Task, kind: str) -> Answer:
    if kind == "optimal":
        return Answer(task.puzzle_id, proven(task))
    return Answer(task.puzzle_id, Solution(task.metric, Outcome(kind), lower=0, reason="gave up"))


class Store(RuleBasedStateMachine):
    """``held`` are leases that were given, in force or not: a late worker knows no better."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine
        self.sizes: dict[int, int] = {}
        self.cancelled: set[int] = set()
        self.held: list[Lease] = []
        self.answered: set[tuple[int, int]] = set()
        self.known: dict[tuple[int, str], tuple[int, int, int]] = {}
        self.attempts = 0
        with engine.begin() as connection:
            connection.execute(text(f"TRUNCATE {TABLES} CASCADE"))

    @initialize(picked=st.lists(st.sampled_from(LEVELS), min_size=10, max_size=40), queue=queues)
    def begin(self, picked: list[Entry], queue: batches.Queue) -> None:
        self.submit(picked, queue)
        self.lease(queue, "one", 5)

    @rule(picked=st.lists(st.sampled_from(LEVELS), max_size=24), queue=queues)
    def submit(self, picked: list[Entry], queue: batches.Queue) -> None:
        entries = [Entry(index, index + 1, level.puzzle, error=level.error) for index, level in enumerate(picked)]
        made = batches.submit(self.engine, entries, budget=BUDGET, queue=queue)
        self.sizes[made.batch_id] = len(entries)

    @precondition(lambda self: len(self.sizes) < 3)
    @rule()
    def submit_one_that_is_shared(self) -> None:
        made = batches.submit(
            self.engine, [SHARED], metric="step", budget=BUDGET, heuristic="manhattan", distributed=True
        )
        self.sizes[made.batch_id] = 1

    @rule(queue=queues, worker=st.sampled_from(["one", "two"]), most=st.sampled_from([1, 2, 20]))
    def lease(self, queue: str, worker: str, most: int) -> None:
        while most and (held := chunks.lease(self.engine, worker, queue=queue)) is not None:
            assert held.batch_id not in self.cancelled
            self.held.append(held)
            most -= 1

    @rule(queue=queues)
    def work(self, queue: str) -> None:
        """By a real worker, from beginning to end."""
        done = work(self.engine, worker="three", queue=queue)
        assert done is None or done.batch_id not in self.cancelled
        self.attempts = self.count("attempt")

    @precondition(lambda self: self.held)
    @rule(
        number=which,
        kinds=st.lists(st.sampled_from(["optimal", "optimal", "bounded", "failed"]), max_size=8),
        split=st.booleans(),
    )
    def finish(self, number: int, kinds: list[str], split: bool) -> None:
        held = self.held[number % len(self.held)]
        if held.checkpoint_id is not None:
            return
        given = [answer(task, kind) for task, kind in zip(held.tasks, kinds, strict=False)]
        in_force = self.count(f"chunk WHERE lease_token = '{held.token}'") == 1
        left = chunks.finish(self.engine, held, given, split=split)
        assert (left is not None) == in_force
        self.attempts += len(given) if in_force else 0

    @precondition(lambda self: self.held)
    @rule(number=which)
    def renew(self, number: int) -> None:
        chunks.renew(self.engine, self.held[number % len(self.held)])

    @precondition(lambda self: self.held)
    @rule(number=which)
    def expire(self, number: int) -> None:
        self.run_out(f"lease_token = '{self.held[number % len(self.held)].token}'")

    @precondition(lambda self: self.held)
    @rule(number=which, late=st.booleans())
    def overtake(self, number: int, late: bool) -> None:
        """A lease that is in force runs out, somebody else gets the chunk, and then comes the late answer."""
        with self.engine.connect() as connection:
            tokens = {*connection.execute(text("SELECT lease_token FROM chunk WHERE state = 'leased'")).scalars()}
        in_force = [held for held in self.held if held.token in tokens]
        if not in_force:
            return
        slow = in_force[number % len(in_force)]
        self.run_out(f"lease_token = '{slow.token}'")
        self.reconcile(60.0)
        self.lease(slow.queue, "two", 20)
        if late:
            self.finish(self.held.index(slow), ["optimal"] * 8, True)

    @rule(stale_seconds=st.sampled_from([0.0, 60.0]))
    def reconcile(self, stale_seconds: float) -> None:
        waiting = self.count("pending")
        announced = chunks.reconcile(self.engine, QUEUES, stale_seconds)
        assert stale_seconds == 0 or len(announced) == len({*announced})
        self.given_up(waiting)

    @rule(worker=st.sampled_from(["one", "two"]))
    def die(self, worker: str) -> None:
        waiting = self.count("pending")
        chunks.recover(self.engine, worker=worker)
        self.given_up(waiting)

    @precondition(lambda self: self.sizes)
    @rule(number=which)
    def cancel(self, number: int) -> None:
        batch_id = [*self.sizes][number % len(self.sizes)]
        running = batches.status(self.engine, batch_id).state == "running"
        batches.cancel(self.engine, batch_id)
        if running:
            self.cancelled.add(batch_id)
        assert batches.status(self.engine, batch_id).state == ("cancelled" if batch_id in self.cancelled else "done")

    def given_up(self, waiting: int) -> None:
        """Who is no longer waited for after a recovery was tried too often, and that was noted."""
        self.attempts += waiting - self.count("pending")

    def run_out(self, which: str) -> None:
        with self.engine.begin() as connection:
            late = "UPDATE chunk SET lease_expires = now() - interval '1 second' WHERE state = 'leased' AND "
            connection.execute(text(late + which))

    def count(self, table: str) -> int:
        with self.engine.connect() as connection:
            return int(connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())

    @invariant()
    def laws(self) -> None:
        with self.engine.connect() as connection:
            rows = connection.execute(text(ITEMS)).all()
            assert connection.execute(text(FORGOTTEN)).all() == []
            tries = "SELECT coalesce(max(attempts), 0) FROM chunk WHERE checkpoint_id IS NULL"
            assert connection.execute(text(tries)).scalar_one() <= LOST_LEASES
        assert self.count("attempt") == self.attempts
        bad = {(row.batch_id, row.index) for row in rows if row.puzzle_id is None}
        waiting = {(row.batch_id, row.index) for row in rows if row.waits}
        answered = {(row.batch_id, row.index) for row in rows if row.outcome is not None and not row.waits}
        assert len(bad) + len(waiting) + len(answered) == len(rows) == sum(self.sizes.values())
        assert self.answered <= answered, "what is answered stays so"
        self.answered = answered
        for batch_id, size in self.sizes.items():
            now = batches.status(self.engine, batch_id)
            assert now.levels == size
            assert now.done == size - sum(one == batch_id for one, _ in waiting)
            if batch_id not in self.cancelled:
                assert (now.state == "running") == (now.waiting_chunks + now.running_chunks > 0)
                assert now.done == size or now.state == "running"
            else:
                assert now.waiting_chunks == 0
        for row in rows:
            if row.outcome is not None:
                now_known = (RANKS[row.outcome], row.lower or 0, -(10**6 if row.upper is None else row.upper))
                before = self.known.get((row.puzzle_id, row.metric), now_known)
                assert now_known[0] >= before[0]
                assert now_known[0] > before[0] or (now_known[1] >= before[1] and now_known[2] >= before[2])
                self.known[row.puzzle_id, row.metric] = now_known

    def teardown(self) -> None:
        """All who hold something die; then everything is done in the end."""
        self.run_out("true")
        waiting = self.count("pending")
        chunks.reconcile(self.engine, QUEUES, 0)
        self.given_up(waiting)
        while any(work(self.engine, worker="last", queue=queue) for queue in QUEUES):
            pass
        self.attempts = self.count("attempt")
        self.laws()
        for batch_id in self.sizes.keys() - self.cancelled:
            assert batches.status(self.engine, batch_id).state == "done"


def test_the_laws_hold_in_any_order(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unjam.sharing, "DISTRIBUTED_SECONDS", 0.005)
    monkeypatch.setattr(unjam.sharing, "SLICE_SECONDS", 0.05)
    run_state_machine_as_test(
        lambda: Store(engine),
        settings=settings(
            max_examples=20,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
