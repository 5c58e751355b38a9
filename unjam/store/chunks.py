"""Chunks: what one worker takes at a time, under a lease that ends when its holder shows no progress.

At least once: a lease that was lost is given again, and a late writer is refused by its token.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Select, and_, exists, func, select, update
from sqlalchemy.exc import SQLAlchemyError

from unjam.puzzles.puzzle import Metric
from unjam.search.solution import Budget, Outcome, Solution
from unjam.store.found import Answer, note_costs, store
from unjam.store.schema import batch, chunk, pending
from unjam.store.sql import sql
from unjam.store.tally import count_event, forget_workers, note_worker

LOST_LEASES = 3  # in a row before a chunk is bisected, or its one puzzle is given up
MOST_ANNOUNCED = 1000  # chunks at once: messages say that a queue has work, and more are sent when it runs dry
_RECONCILING = 7305102  # key of the advisory lock: one reconciler at a time


@dataclass(frozen=True, slots=True)
class Task:
    """One search: a stored puzzle in a metric."""

    puzzle_id: int
    metric: Metric
    family: str
    canonical: str


@dataclass(frozen=True, slots=True)
class Lease:
    """A chunk in the hands of ``worker``: the tasks that are left, each under ``budget``.

    With a ``checkpoint_id`` it is a slice of that search instead (unjam/store/slices.py). ``attempts`` counts the
    leases since the last one that was given back.
    """

    chunk_id: int
    batch_id: int
    queue: str
    token: UUID
    worker: str
    budget: Budget
    algorithm: str | None
    heuristic: str | None
    distributed: bool
    checkpoint_id: int | None
    attempts: int
    tasks: list[Task] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Recovered:
    """How many leases were lost, and (chunk, queue) of what waits since."""

    leases: int
    waiting: list[tuple[int, str]]


def lease(
    engine: Engine, worker: str, *, queue: str = "bulk", batch_id: int | None = None, seconds: float = 60
) -> Lease | None:
    """Take the next chunk of a batch, or of a queue, where batches and their owners take turns; None if none waits."""
    with engine.begin() as connection:
        if batch_id is None:
            chunk_id = connection.exec_driver_sql(sql("next_in_turn"), {"queue": queue}).scalar_one_or_none()
        else:
            chunk_id = connection.execute(_next_of(batch_id)).scalar_one_or_none()
        if chunk_id is None:
            return None
        row = connection.execute(_take(chunk_id, worker, seconds)).one()
        tasks = () if row.checkpoint_id else connection.exec_driver_sql(sql("lease_puzzles"), {"chunk": row.id}).all()
    return Lease(
        chunk_id=row.id,
        batch_id=row.batch_id,
        queue=row.queue,
        token=row.lease_token,
        worker=worker,
        budget=Budget(row.budget_seconds, row.budget_nodes, row.budget_bytes),
        algorithm=row.algorithm,
        heuristic=row.heuristic,
        distributed=row.distributed,
        checkpoint_id=row.checkpoint_id,
        attempts=row.attempts,
        tasks=[Task(*task) for task in tasks],
    )


def _next_of(batch_id: int) -> Select[Any]:
    return (
        select(chunk.c.id)
        .where(chunk.c.state == "waiting", chunk.c.batch_id == batch_id)
        .order_by(chunk.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )


def _take(chunk_id: int, worker: str, seconds: float) -> Any:
    return (
        update(chunk)
        .where(chunk.c.id == chunk_id, batch.c.id == chunk.c.batch_id)
        .values(
            state="leased",
            worker=worker,
            lease_token=func.gen_random_uuid(),
            lease_expires=func.now() + timedelta(seconds=seconds),
            leased=func.now(),
            attempts=chunk.c.attempts + 1,
        )
        .returning(
            chunk.c.id,
            chunk.c.batch_id,
            chunk.c.queue,
            chunk.c.lease_token,
            batch.c.budget_seconds,
            batch.c.budget_nodes,
            batch.c.budget_bytes,
            batch.c.algorithm,
            batch.c.heuristic,
            batch.c.distributed,
            chunk.c.checkpoint_id,
            chunk.c.attempts,
        )
    )


def renew(engine: Engine, held: Lease, seconds: float = 60, generated: int = 0) -> None:
    """Keep the lease for so long from now on; call it only when there was progress.

    ``generated`` nodes is what the chunk's searches have come to, for those who watch.
    """
    with engine.begin() as connection:
        connection.execute(
            update(chunk).where(is_held(held)).values(lease_expires=func.now() + timedelta(seconds=seconds))
        )
        note_worker(connection, held.worker, searching=generated)


def wanted(engine: Engine, held: Lease) -> bool:
    """Whether the lease still holds and the batch is not cancelled: else go on no further."""
    with engine.connect() as connection:
        query = select(exists().where(is_held(held), batch.c.id == chunk.c.batch_id, batch.c.cancelled.is_(None)))
        return bool(connection.execute(query).scalar_one())


def finish(engine: Engine, held: Lease, answers: Sequence[Answer], *, split: bool = False) -> list[int] | None:
    """Store the answers and give the lease back, in one transaction.

    Tasks without an answer wait again, with ``split`` in two chunks, so that an idle worker can take half of a slow
    one. Returns the chunks that wait again; None if the lease was lost, and then nothing is stored.
    """
    with engine.begin() as connection:
        cancelled = is_cancelled(connection, held.batch_id)
        mine = connection.execute(select(chunk.c.id).where(is_held(held)).with_for_update()).one_or_none()
        if mine is None:
            count_event(connection, "late_writes")
            return None
        costs = store(connection, held, answers) if answers else []
        waiting = _give_back(connection, held.chunk_id, cancelled, split)
        note_worker(connection, held.worker, len(answers), sum(one.solution.generated for one in answers))
    with suppress(SQLAlchemyError):  # a statistic: the next chunks make up for it
        note_costs(engine, costs)
    return waiting


def _give_back(connection: Connection, chunk_id: int, cancelled: bool, split: bool) -> list[int]:
    """The chunks that wait for what is left of one."""
    query = select(func.count(), func.sum(pending.c.levels)).where(pending.c.chunk_id == chunk_id)
    left, levels = connection.execute(query).one()
    if left:
        connection.execute(update(chunk).where(chunk.c.id == chunk_id).values(levels=levels))
    if not left or cancelled:
        close(connection, chunk_id, "cancelled" if left else "done")
        return []
    return wait_again(connection, chunk_id, split=split and left > 1)


def recover(engine: Engine, *, worker: str | None = None) -> Recovered:
    """Give again what a dead worker held: the leases of ``worker``, or those that ran out.

    A chunk that was lost three times in a row is bisected; a puzzle that is alone and was lost three times ends as
    ``failed``, so the one that kills workers is found and its neighbours are solved. A slice is given again as it is.
    """
    lost = and_(
        chunk.c.state == "leased", chunk.c.lease_expires < func.now() if worker is None else chunk.c.worker == worker
    )
    with engine.begin() as connection:
        # locked as is_cancelled does: what is cancelled at this moment must not wait again
        batches = select(batch.c.id).where(batch.c.id.in_(select(chunk.c.batch_id).where(lost)))
        locked = connection.execute(batches.order_by(batch.c.id).with_for_update(read=True)).scalars().all()
        rows = connection.execute(
            select(chunk, batch.c.cancelled)
            .join(batch)
            .where(lost, batch.c.id.in_(locked))
            .order_by(chunk.c.id)
            .with_for_update(of=chunk, skip_locked=worker is None)  # a dead one's locks go soon
        ).all()
        waiting = [(chunk_id, row.queue) for row in rows for chunk_id in _recover(connection, row)]
        count_event(connection, "leases_lost", len(rows))
        if worker is None:
            forget_workers(connection)
    return Recovered(len(rows), waiting)


def reconcile(engine: Engine, queues: Collection[str], stale_seconds: float) -> list[tuple[int, str]]:
    """Recover lost leases; returns (chunk, queue) of what is to be announced: those, and what waits so in ``queues``.

    Name the queues that are empty at the broker: what waits for so long although no message is left was lost. One
    reconciler works at a time; the others get nothing.
    """
    with engine.begin() as guard:
        if not guard.execute(select(func.pg_try_advisory_xact_lock(_RECONCILING))).scalar_one():
            return []
        recovered = recover(engine)
        return recovered.waiting + _stale(engine, queues, stale_seconds)


def waits_since(engine: Engine, queues: Collection[str], seconds: float) -> bool:
    """Whether a chunk waits in these queues that was made longer ago."""
    old = chunk.c.created < func.now() - timedelta(seconds=seconds)
    with engine.connect() as connection:
        query = select(exists().where(chunk.c.state == "waiting", chunk.c.queue.in_(queues), old))
        return bool(connection.execute(query).scalar_one())


def unfinished(engine: Engine, batch_id: int) -> bool:
    """Whether any chunk of the batch waits or is worked on."""
    with engine.connect() as connection:
        query = select(exists().where(chunk.c.batch_id == batch_id, chunk.c.state.in_(("waiting", "leased"))))
        return bool(connection.execute(query).scalar_one())


def is_cancelled(connection: Connection, batch_id: int) -> bool:
    """Whether a batch is cancelled or deleted. If not, it will not be before the transaction ends, so that no chunk
    begins to wait when the waiting ones were cancelled. Lock it before its checkpoints and chunks.
    """
    query = select(batch.c.id).where(batch.c.id == batch_id, batch.c.cancelled.is_(None)).with_for_update(read=True)
    return connection.execute(query).one_or_none() is None


def is_held(held: Lease) -> Any:
    return and_(chunk.c.id == held.chunk_id, chunk.c.lease_token == held.token)


def close(connection: Connection, chunk_id: int, state: str) -> None:
    connection.execute(
        update(chunk)
        .where(chunk.c.id == chunk_id)
        .values(state=state, finished=func.now(), lease_token=None, lease_expires=None)
    )


def wait_again(connection: Connection, chunk_id: int, *, split: bool, attempts: int = 0) -> list[int]:
    waiting = [chunk_id]
    if split:
        waiting.append(connection.exec_driver_sql(sql("split"), {"chunk": chunk_id}).scalar_one())
    connection.execute(
        update(chunk)
        .where(chunk.c.id.in_(waiting))
        .values(state="waiting", attempts=attempts, announced=func.now(), lease_token=None, lease_expires=None)
    )
    return waiting


def _recover(connection: Connection, row: Any) -> list[int]:
    """The chunks that wait now."""
    if row.cancelled is not None:
        close(connection, row.id, "cancelled")
        return []
    tasks = connection.execute(select(pending.c.puzzle_id, pending.c.metric).where(pending.c.chunk_id == row.id)).all()
    if row.attempts < LOST_LEASES or row.checkpoint_id is not None:
        return wait_again(connection, row.id, split=False, attempts=row.attempts)
    if len(tasks) > 1:
        # halves have one lease each before they are cut again; a single puzzle has all three
        return wait_again(connection, row.id, split=True, attempts=LOST_LEASES - 1 if len(tasks) > 3 else 0)
    reason = f"the worker process died {row.attempts} times on this puzzle"
    held = Lease(
        chunk_id=row.id,
        batch_id=row.batch_id,
        queue=row.queue,
        token=row.lease_token,
        worker=row.worker,
        budget=Budget(),
        algorithm=None,
        heuristic=None,
        distributed=False,
        checkpoint_id=None,
        attempts=row.attempts,
        tasks=[],
    )
    failures = [Answer(t.puzzle_id, Solution(t.metric, Outcome.FAILED, reason=reason)) for t in tasks]
    if failures:
        store(connection, held, failures)
        connection.exec_driver_sql("DELETE FROM found")  # this transaction may give up others, too
    close(connection, row.id, "done")
    return []


def _stale(engine: Engine, queues: Collection[str], seconds: float) -> list[tuple[int, str]]:
    old = (
        select(chunk.c.id)
        .where(
            chunk.c.state == "waiting",
            chunk.c.queue.in_(queues),
            chunk.c.announced < func.now() - timedelta(seconds=seconds),
        )
        .order_by(chunk.c.id)
        .limit(MOST_ANNOUNCED)
    )
    with engine.begin() as connection:
        rows = connection.execute(
            update(chunk)
            .where(chunk.c.id.in_(old), chunk.c.state == "waiting")
            .values(announced=func.now())
            .returning(chunk.c.id, chunk.c.queue)
        ).all()
    return sorted((row.id, row.queue) for row in rows)
