"""Pool processes that were killed: the main process notices soon, and gives again what they held."""

from __future__ import annotations

from typing import Any

import structlog
from billiard.exceptions import WorkerLostError
from celery import bootsteps
from celery.worker.request import Request as CeleryRequest
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import RedisError
from sqlalchemy.exc import OperationalError

from unjam.store import chunks
from unjam.store.database import open_engine
from unjam.work import worker_name
from worker.tasks import announce, database_url

log = structlog.get_logger(__name__)

LOOK_SECONDS = 0.5


class LookForKilled(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery has no types
    """Celery hears of a death as the process closes its files, a moment too early to collect it, and looks again every
    five seconds only.
    """

    requires = ("celery.worker.components:Timer", "celery.worker.components:Pool")

    def start(self, worker: Any) -> None:
        worker.timer.call_repeatedly(LOOK_SECONDS, worker.pool.maintain_pool)


class Request(CeleryRequest):  # type: ignore[misc]
    """A task in the eyes of the main process."""

    def on_failure(self, exc_info: Any, send_failed_event: bool = True, return_ok: bool = False) -> None:
        """As Celery's; what a killed pool process held is given again now, not when its lease has run out."""
        super().on_failure(exc_info, send_failed_event, return_ok)
        error = getattr(exc_info.exception, "exc", exc_info.exception)  # billiard wraps it to carry a traceback
        if isinstance(error, (WorkerLostError, SystemExit)) and self.worker_pid is not None:
            try:
                _give_again(worker_name(self.worker_pid))
            except (OperationalError, BrokerError, RedisError) as away:
                log.warning("left to the reconciler", worker_pid=self.worker_pid, error=str(away).splitlines()[0])


def _give_again(worker: str) -> None:
    engine = open_engine(database_url())
    try:
        recovered = chunks.recover(engine, worker=worker)
    finally:
        engine.dispose()  # its connections must not be inherited by the next pool process
    announce(recovered.waiting)
