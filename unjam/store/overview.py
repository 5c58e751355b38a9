"""What goes on now, for those who watch: queues, batches that run, workers. The cost is that of unfinished chunks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import get_args

from sqlalchemy import Engine

from unjam.store import batches
from unjam.store.batches import BatchProgress, Queue
from unjam.store.database import reading
from unjam.store.sql import sql

MOST_BATCHES = 100


@dataclass(frozen=True, slots=True)
class QueueState:
    """Chunks of a queue: those that wait, since when the oldest does, and those that workers have."""

    queue: Queue
    waiting: int
    oldest_waiting: datetime | None
    running: int


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A worker process and the chunk it has ``since``, None where it has none.

    ``answered`` puzzles and ``generated`` nodes are what it told until it was last ``seen``.
    """

    worker: str
    batch_id: int | None
    chunk_id: int | None
    attempt: int | None
    since: datetime | None
    seen: datetime | None
    answered: int
    generated: int


@dataclass(frozen=True, slots=True)
class Overview:
    """``now`` is the clock of the store; ``batches`` are the oldest that run, at most MOST_BATCHES."""

    now: datetime
    queues: list[QueueState]
    running: int
    batches: list[BatchProgress]
    workers: list[WorkerState]


def queues(engine: Engine) -> list[QueueState]:
    """Each queue, the preferred one first."""
    with reading(engine).connect() as connection:
        found = {row.queue: QueueState(*row) for row in connection.exec_driver_sql(sql("queues"))}
    names: tuple[Queue, ...] = get_args(Queue)
    none = QueueState(names[0], 0, None, 0)
    return [replace(found.get(name, none), queue=name) for name in names]


def running_batches(engine: Engine) -> list[int]:
    """Batches with chunks that wait or are worked on, the oldest first."""
    with reading(engine).connect() as connection:
        return list(connection.exec_driver_sql(sql("running_batches")).scalars())


def workers(engine: Engine) -> list[WorkerState]:
    """Processes that have a chunk, or were seen within a minute."""
    with reading(engine).connect() as connection:
        return [WorkerState(*row) for row in connection.exec_driver_sql(sql("workers"))]


def overview(engine: Engine) -> Overview:
    with reading(engine).connect() as connection:
        now = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    running = running_batches(engine)
    shown = batches.progress_of(engine, running[:MOST_BATCHES])
    return Overview(now, queues(engine), len(running), shown, workers(engine))
