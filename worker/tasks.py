"""The one task: work on the next chunk of a queue."""

from __future__ import annotations

import os
import select
from collections import Counter
from collections.abc import Iterable
from functools import cache
from io import FileIO
from typing import Any

import structlog
from celery.signals import worker_init, worker_process_init, worker_shutting_down
from sqlalchemy import Engine

from unjam import heartbeat
from unjam.errors import StoreError
from unjam.settings import get_settings
from unjam.store.chunks import MOST_ANNOUNCED
from unjam.store.database import open_engine
from unjam.work import work, worker_name
from worker.app import app

log = structlog.get_logger(__name__)


@app.task(name="unjam.next_chunk", Request="worker.lost:Request")  # type: ignore[untyped-decorator]  # no types
def next_chunk(queue: str) -> None:
    """Solve what is left of the chunk whose turn it is, which need not be the one that was announced; does nothing when
    none waits, so a second delivery is harmless.
    """
    try:
        done = work(_engine(), worker=worker_name(), queue=queue, cancelled=_shutting_down)
    except MemoryError:
        # It must not leave the task: Celery 5.7 ends the whole worker on it. A process that has no memory left is of no
        # use, and when it ends its chunk is given again at once.
        log.error("out of memory beside the searches: this process ends")
        os._exit(1)
    if done is None:
        return
    log.info(
        "chunk worked on",
        batch=done.batch_id,
        chunk=done.chunk_id,
        attempt=done.attempt,
        answered=done.answered,
        waiting=done.waiting,
    )
    announce(done.waiting)


def announce(ready: Iterable[tuple[int, str]]) -> None:
    """Tell the workers that chunks, each with its queue, are ready; of very many, the reconciler announces the rest.

    Raises what the broker's client raises; nothing is lost by that, since the reconciler announces them again.
    """
    queues = Counter(queue for _, queue in ready)
    if queues and app.conf.broker_url is None:
        raise StoreError("no broker: set UNJAM_REDIS_URL, or run `unjam up`")
    with app.producer_or_acquire() as producer:
        for queue, number in queues.items():
            for _ in range(min(number, MOST_ANNOUNCED)):
                next_chunk.apply_async((queue,), queue=queue, producer=producer)


@cache
def _engine() -> Engine:
    """The engine of this pool process, made at its first task and so after the fork."""
    return open_engine(database_url())


def database_url() -> str:
    url = get_settings().database_url
    if url is None:
        raise StoreError("workers need UNJAM_DATABASE_URL; `unjam up` and `unjam solve` bring their own database")
    return url


# A pipe whose writing end only the worker's main process has: when that closes it, or dies, the searches of the pool
# processes end and hand back their chunks, so that a shutdown takes a second and not the rest of a budget. A file is
# closed but once: a second TERM, or a process forked after the first, must not close what has got its number since.
_pipe: tuple[int, FileIO] | None = None


@worker_init.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _open_pipe(**_: Any) -> None:
    global _pipe
    heartbeat.forget_all()
    reading, writing = os.pipe()
    _pipe = reading, FileIO(writing, "w")


@worker_process_init.connect  # type: ignore[untyped-decorator]  # Celery has no types
@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def _close_writing_end(**_: Any) -> None:
    if _pipe is not None:
        _pipe[1].close()


def _shutting_down() -> bool:
    return _pipe is not None and bool(select.select([_pipe[0]], [], [], 0)[0])
