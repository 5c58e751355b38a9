"""The Celery application. Redis carries hints only ("there is work in this queue"); what is true is in Postgres."""

from __future__ import annotations

import logging
from typing import Any

from celery import Celery
from celery.signals import setup_logging
from kombu.entity import Queue

from unjam.logs import configure
from unjam.settings import get_settings
from unjam.store.redis import broker_url

QUEUES = ("interactive", "bulk")  # the preferred one first


def _for_kombu(url: str | None) -> str | None:
    """The Redis client writes unix:// for a socket, Kombu redis+socket://."""
    return url and url.replace("unix://", "redis+socket://", 1)


app = Celery("unjam", include=["worker.tasks", "worker.memory"])
app.conf.update(
    broker_url=_for_kombu(broker_url(get_settings())),
    # Numbers in, nothing out: no pickle to attack, no results to pile up in Redis.
    task_serializer="json",
    accept_content=["json"],
    result_backend=None,
    task_ignore_result=True,
    # A hint is dropped only when it was followed. Who dies with one needs no second delivery: what it held is announced
    # again, by its main process (worker/lost.py) or, when the lease has run out, by the reconciler.
    task_acks_late=True,
    task_reject_on_worker_lost=False,
    # Hints wait in Redis, not in a busy worker.
    worker_prefetch_multiplier=1,
    task_queues=[Queue(name, routing_key=name) for name in QUEUES],  # type: ignore[no-untyped-call]  # Kombu's types say too little
    task_default_queue="bulk",
    broker_transport_options={
        # Redis delivers again what was not acknowledged for so long since its receipt. The shortest of all clients
        # counts, so it stands here once; a search may be longer, and then a second delivery finds nothing to do.
        "visibility_timeout": 6 * 3600,
        "queue_order_strategy": "priority",  # interactive before bulk, always
        # The default is to wait for ever on a broker that hangs. Whoever submits waits twice as long; waiting for hints
        # is not meant by it.
        "socket_timeout": 5,
        "socket_connect_timeout": 5,
        "socket_keepalive": True,
        "health_check_interval": 30,
    },
    # A lost connection says nothing about the lease: the search goes on.
    worker_cancel_long_running_tasks_on_connection_loss=False,
    # Workers and Redis may start in any order, and Redis may be away for as long as it takes.
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    # Publishing gives up soon: the reconciler makes up for it.
    task_publish_retry_policy={"max_retries": 1, "interval_start": 0.1},
    # A new pool process has so long to say that it is up; the default of 4 seconds kills healthy ones when busy.
    worker_proc_alive_timeout=60,
    # Against what leaks slowly; a new process costs some milliseconds, and this many chunks last for minutes at least.
    # How much memory it may have: worker/memory.py.
    worker_max_tasks_per_child=1000,
    # No time limits: a search has its own budget of time, and one that does not end when told to is ended by the watch
    # beside it (unjam/watch.py). Soft limits do not reach a running C++ call.
    task_time_limit=None,
    task_soft_time_limit=None,
    # There are no rates to be limited, and what is logged need not be found in what is printed.
    worker_disable_rate_limits=True,
    worker_redirect_stdouts=False,
)
app.steps["worker"].add("worker.lost:LookForKilled")


@setup_logging.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _log_as_all_programs(loglevel: int, **_: Any) -> None:
    """Takes the place of Celery's own logging, whichever command started the worker."""
    configure(logging.getLevelName(loglevel), get_settings().log_format)
