"""What a worker has beside its searches: someone who watches, and patience with the store."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from types import TracebackType
from typing import TypeVar

import psycopg
from sqlalchemy import Engine
from sqlalchemy.exc import InternalError, OperationalError, SQLAlchemyError

from unjam import heartbeat
from unjam._kernels import Control
from unjam.store import chunks
from unjam.store.chunks import Lease

log = logging.getLogger(__name__)

STOP_POLL = 0.05
BATCH_POLL = 0.5
BEAT_SECONDS = 1.0
STUCK_SECONDS = 30.0  # kernels look at the cancel flag many times a second: one that has not seen it by then never will
STORE_TRIES = 6  # a restart of Postgres must not cost what was just found

T = TypeVar("T")


def stored(step: Callable[[], T]) -> T:
    """Do it again while Postgres is away, so ``step`` must be harmless when it was done and only its answer lost."""
    for tries in range(1, STORE_TRIES):
        try:
            return step()
        except (OperationalError, InternalError, psycopg.OperationalError) as error:  # the latter: during a COPY
            # Postgres restarts, the network failed, or we were stopped in a transaction for too long (InternalError);
            # the token keeps a retry harmless
            log.warning("the store does not answer, trying again: %s", str(error).partition("\n")[0])
        time.sleep(0.1 * 2**tries)
    return step()


class Watch:
    """Two threads beside the searches of a chunk. One ends them when the worker has to stop, the other when the batch
    is cancelled or the lease was lost, and renews the lease while nodes are counted. Postgres may take its time to
    answer the latter; the former does not wait for it.

    The kernel releases the GIL, but a signal handler runs only in the main thread between two Python instructions: that
    is why somebody else must cancel. A search that does not end when it is told to takes its process along: no other
    would get the process's place, and a lease that was lost is somebody else's by then.
    """

    def __init__(self, engine: Engine, held: Lease, cancelled: Callable[[], bool], seconds: float) -> None:
        self.stopped = False
        self._engine = engine
        self._held = held
        self._cancelled = cancelled
        self._seconds = seconds
        self._control = Control()
        self._searches = self._generated = 0
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=copy_context().run, args=(run,), name="unjam-watch", daemon=True)  # for their logs
            for run in (self._obey, self._ask)
        ]

    def __enter__(self) -> Watch:
        heartbeat.beat()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()
        heartbeat.rest()

    def next_search(self) -> Control:
        self._searches += 1
        self._generated += self._control.generated
        self._control = Control()
        if self.stopped:
            self._control.cancel()
        return self._control

    def _progress(self) -> tuple[int, int]:
        return self._searches, self._control.generated

    def _stop(self) -> None:
        self.stopped = True
        self._control.cancel()

    def _obey(self) -> None:
        beaten, seen = time.monotonic(), self._progress()
        while not self.stopped:
            if self._over.wait(STOP_POLL):
                return
            if self._cancelled():
                self._stop()
            elif time.monotonic() - beaten >= BEAT_SECONDS and self._progress() != seen:
                heartbeat.beat()
                beaten, seen = time.monotonic(), self._progress()
        if not self._over.wait(STUCK_SECONDS):
            log.critical("a search of chunk %d does not end: its process does", self._held.chunk_id)
            os.kill(os.getpid(), signal.SIGKILL)

    def _ask(self) -> None:
        renewed = time.monotonic()
        seen = self._progress()
        while not self._over.wait(BATCH_POLL) and not self.stopped:
            try:
                if not chunks.wanted(self._engine, self._held):
                    self._stop()
                elif time.monotonic() - renewed >= self._seconds / 4 and self._progress() != seen:
                    generated = self._generated + self._control.generated
                    chunks.renew(self._engine, self._held, self._seconds, generated)
                    renewed, seen = time.monotonic(), self._progress()
            except SQLAlchemyError as error:  # Postgres is away: the lease may hold until it is back
                log.warning("the store does not answer: %s", str(error).partition("\n")[0])
