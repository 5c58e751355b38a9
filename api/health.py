"""Whether the process lives, whether it can serve, and its metrics."""

from __future__ import annotations

from collections.abc import Callable

import redis
import structlog
from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from sqlalchemy import Engine, text

from api.access import READ, GuardedRoute
from api.context import EngineDep, SettingsDep
from api.errors import ApiError, documented
from api.schemas import Health
from api.telemetry import REGISTRY
from unjam.store.redis import broker_url

TIMEOUT = 2.0  # seconds that Redis may take to answer a ping

log = structlog.get_logger(__name__)
routes = APIRouter(tags=["service"])
guarded = APIRouter(tags=["service"], route_class=GuardedRoute, responses=documented(401, 403, 429, 503))


@routes.get("/healthz")
async def healthz() -> Health:
    """The process answers. Asks nothing else, so that a slow database makes nobody restart it."""
    return Health(status="ok")


@routes.get("/readyz", responses=documented(503))
def readyz(engine: EngineDep, settings: SettingsDep) -> Health:
    """Postgres answers, and so does Redis where there is one."""
    checks = {"postgres": _check("postgres", lambda: _ask_postgres(engine))}
    if url := broker_url(settings):
        checks["redis"] = _check("redis", lambda: _ask_redis(url))
    if any(result != "ok" for result in checks.values()):
        raise ApiError(503, "not_ready", "A service this API needs does not answer.", **checks)
    return Health(status="ready", checks=checks)


@guarded.get("/metrics", dependencies=[READ], response_class=Response)
def metrics(request: Request) -> Response:
    """Requests of this process; queues, workers and all that was searched, for Prometheus."""
    text = generate_latest(REGISTRY) + generate_latest(request.app.state.metrics)
    return Response(text, media_type=CONTENT_TYPE_LATEST)


def _check(service: str, ask: Callable[[], None]) -> str:
    try:
        ask()
    except Exception as error:  # whatever the driver raises: the answer is "not ready", the log says why
        log.warning("not ready", service=service, error=repr(error))
        return "unavailable"
    return "ok"


def _ask_postgres(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))


def _ask_redis(url: str) -> None:
    with redis.Redis.from_url(url, socket_timeout=TIMEOUT, socket_connect_timeout=TIMEOUT) as client:
        client.ping()
