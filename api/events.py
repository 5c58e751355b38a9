"""Progress of batches as server-sent events. However many watch, the store is asked once a second for all of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from time import monotonic

import structlog
from sqlalchemy import Engine
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from api import schemas
from api.errors import ApiError
from unjam.store import batches
from unjam.store.batches import BatchProgress

POLL_SECONDS = 1.0
KEEP_ALIVE_SECONDS = 15.0  # proxies close connections on which nothing comes
DONE = "done"  # the last event, and its id: a browser that connects again names it

log = structlog.get_logger(__name__)


class EventStream(StreamingResponse):
    """Server-sent events."""

    media_type = "text/event-stream"


class Feed:
    """How far the batches are that somebody watches; at most ``most`` clients do."""

    def __init__(self, most: int) -> None:
        self.closed = False
        self._most = most
        self._watchers: Counter[int] = Counter()
        self._latest: dict[int, BatchProgress] = {}
        self._polled = asyncio.Event()
        self._poller: asyncio.Task[None] | None = None

    @property
    def watchers(self) -> int:
        return self._watchers.total()

    def refuse_too_many(self) -> None:
        """Raise a 503 where as many watch as may."""
        if self.watchers >= self._most:
            message = f"{self._most} clients watch batches already; ask for the batch itself now and then."
            raise ApiError(503, "too_many_watchers", message, most=self._most).with_headers({"Retry-After": "30"})

    def close(self) -> None:
        """End all streams within a second: a server that stops waits for them. For a signal handler, too."""
        self.closed = True

    def stop(self) -> None:
        """Ask the store no more."""
        if self._poller is not None:
            self._poller.cancel()

    async def events(self, engine: Engine, now: BatchProgress) -> AsyncIterator[bytes]:
        """What a client gets: how far the batch is ``now`` and whenever that changes, until it is no longer running."""
        batch_id = now.batch_id
        self._watchers[batch_id] += 1
        try:
            if self._poller is None:
                self._poller = asyncio.create_task(self._poll(engine))
            yield _event(now)
            sent = monotonic()
            while now.state == "running" and not self.closed:
                await self._polled.wait()
                latest = self._latest.get(batch_id, now)
                if latest != now:
                    now = latest
                    yield _event(now)
                    sent = monotonic()
                elif monotonic() - sent >= KEEP_ALIVE_SECONDS:
                    yield b": still running\n\n"
                    sent = monotonic()
        finally:
            self._watchers -= Counter((batch_id,))

    async def _poll(self, engine: Engine) -> None:
        """Goes on for as long as somebody watches."""
        while self._watchers:
            await asyncio.sleep(POLL_SECONDS)
            try:
                found = await run_in_threadpool(batches.progress_of, engine, list(self._watchers))
                self._latest = {one.batch_id: one for one in found}
            except Exception as error:  # whatever the driver raises: they wait until the store is back
                log.warning("cannot tell how far batches are", error=str(error).partition("\n")[0])
            before, self._polled = self._polled, asyncio.Event()
            before.set()
        self._poller = None
        self._latest = {}


def _event(now: BatchProgress) -> bytes:
    data = schemas.BatchProgress.model_validate(now).model_dump_json()
    name = "event: progress" if now.state == "running" else f"event: {DONE}\nid: {DONE}"
    return f"{name}\ndata: {data}\n\n".encode()
