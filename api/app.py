"""The application: ``create_app`` puts routes, limits, errors and the database together."""

from __future__ import annotations

from asyncio import Semaphore
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from prometheus_client import CollectorRegistry

from api import batches, errors, health, hints, puzzles
from api.body import BodyLimit
from api.events import Feed
from api.limits import Buckets
from api.metrics import StoreMetrics
from api.request_id import RequestId
from api.telemetry import RequestMetrics
from unjam.settings import Settings, get_settings
from unjam.store.database import database, open_engine

DESCRIPTION = """
Finds, proves and keeps the optimal move counts of sliding puzzles, in the words of docs/formats.md.
Every error answer has the shape `{"error": {"code", "message", "details", "request_id"}}`.
"""


def create_app(settings: Settings | None = None) -> FastAPI:
    """The API over the database that the settings name, or over a private one for as long as the application runs."""
    settings = settings or get_settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with database(settings) as url:
            app.state.engine = open_engine(url)
            app.state.metrics = CollectorRegistry()
            app.state.metrics.register(StoreMetrics(app.state.engine))
            try:
                yield
            finally:
                app.state.feed.stop()
                app.state.engine.dispose()

    app = FastAPI(
        title="unjam",
        version=version("unjam"),
        summary="Optimal move counts of sliding puzzles, proven and in bulk",
        description=DESCRIPTION,
        lifespan=lifespan,
    )
    app.state.settings = settings
    app.state.hints = Semaphore(settings.max_hints)
    app.state.submitting = defaultdict(lambda: Semaphore(batches.SUBMITTING))
    app.state.buckets = Buckets()
    app.state.feed = Feed(settings.max_watchers)
    errors.install(app)
    for routes in (batches.routes, puzzles.routes, hints.routes, health.routes, health.guarded):
        app.include_router(routes)
    app.add_middleware(BodyLimit, limit=settings.max_body_bytes)
    app.add_middleware(RequestMetrics)
    app.add_middleware(RequestId)
    return app
