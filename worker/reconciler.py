"""Announces again the chunks whose worker or hint was lost. Any number may run: one is active at a time."""

from __future__ import annotations

import signal
from threading import Event
from types import FrameType

import structlog
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from unjam.store.chunks import reconcile
from unjam.store.database import open_engine
from worker.app import QUEUES, app
from worker.tasks import announce, database_url

log = structlog.get_logger(__name__)

INTERVAL = 1.0
STALE_SECONDS = 5.0  # a chunk that waits for so long while its queue is empty has lost its hint


def run() -> None:
    """Reconcile until TERM or Ctrl-C."""
    stop = Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    engine = open_engine(database_url())
    try:
        while not stop.wait(INTERVAL):
            try:
                reconcile_once(engine)
            except (OperationalError, BrokerError, RedisError) as error:
                log.warning("database or broker do not answer, trying again", error=str(error).splitlines()[0])
    finally:
        engine.dispose()


def reconcile_once(engine: Engine, stale_seconds: float = STALE_SECONDS) -> int:
    """Recover and announce what was lost; returns how many chunks that were."""
    lost = reconcile(engine, _empty_queues(), stale_seconds)
    if lost:
        log.info("announced again", chunks=len(lost))
        announce(lost)
    return len(lost)


def _empty_queues() -> list[str]:
    with app.connection_or_acquire() as connection:
        client = connection.default_channel.client
        return [queue for queue in QUEUES if client.llen(queue) == 0]
