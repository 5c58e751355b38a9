"""What a worker has beside its searches: someone who watches, and patience with the store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from unjam._kernels import Control
from unjam.store import chunks
from unjam.store.chunks import Lease

STOP_POLL = 0.05
BATCH_POLL = 1.0
STORE_TRIES = 6  # a restart of Postgres must not cost what was just found

T = TypeVar("T")


def stored(step: Callable[[], T]) -> T:
    """Do it again while Postgres is away, so ``step`` must be harmless when it was done and only its answer lost."""
    for tries in range(1, STORE_TRIES):
        with suppress(OperationalError):  # Postgres restarts, or the network failed; the token keeps a retry harmless
            return step()
        time.sleep(0.1 * 2**tries)
    return step()


class Watch:
    """A thread beside the searches of a chunk: renews the lease while nodes are counted, and ends the search when told.

    The kernel releases the GIL, but a signal handler runs only in the main thread between two Python instructions: that
    is why somebody else must cancel.
    """

    def __init__(self, engine: Engine, held: Lease, cancelled: Callable[[], bool], seconds: float) -> None:
        self.stopped = False
        self._engine = engine
        self._held = held
        self._cancelled = cancelled
        self._seconds = seconds
        self._control = Control()
        self._searches = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="unjam-watch", daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def next_search(self) -> Control:
        self._searches += 1
        self._control = Control()
        if self.stopped:
            self._control.cancel()
        return self._control

    def _progress(self) -> tuple[int, int]:
        return self._searches, self._control.generated

    def _run(self) -> None:
        asked = renewed = time.monotonic()
        seen = self._progress()
        while not self._over.wait(STOP_POLL) and not self.stopped:
            now = time.monotonic()
            stop = self._cancelled()
            if now - asked >= BATCH_POLL and not stop:
                asked = now
                with suppress(SQLAlchemyError):  # Postgres is away: the lease may hold until it is back
                    stop = not chunks.wanted(self._engine, self._held)
                    if now - renewed >= self._seconds / 4 and self._progress() != seen:
                        chunks.renew(self._engine, self._held, self._seconds)
                        renewed, seen = now, self._progress()
            if stop:
                self.stopped = True
                self._control.cancel()
