"""What routes get from the application."""

from __future__ import annotations

from typing import Annotated, cast

import structlog
from fastapi import Depends, Request
from sqlalchemy import Engine

from api.events import Feed
from unjam.settings import Settings
from unjam.store.batches import Queue, Submitted
from unjam.store.redis import broker_url

log = structlog.get_logger(__name__)


def engine(request: Request) -> Engine:
    """The application's database engine."""
    return cast(Engine, request.app.state.engine)


def settings(request: Request) -> Settings:
    """The application's settings."""
    return cast(Settings, request.app.state.settings)


async def _engine(request: Request) -> Engine:
    return engine(request)  # FastAPI would ask a plain function in a thread of its pool


async def _settings(request: Request) -> Settings:
    return settings(request)


async def _feed(request: Request) -> Feed:
    return cast(Feed, request.app.state.feed)


EngineDep = Annotated[Engine, Depends(_engine)]
SettingsDep = Annotated[Settings, Depends(_settings)]
FeedDep = Annotated[Feed, Depends(_feed)]


def announce(settings: Settings, submitted: Submitted, queue: Queue) -> None:
    """Tell the workers, where there is a broker, that chunks are ready.

    A lost announcement is harmless: the chunks are committed, and the reconciler announces them again.
    """
    if not submitted.chunks or broker_url(settings) is None:
        return
    from worker import tasks  # brings Celery, which is not needed without a broker

    try:
        tasks.announce([(chunk, queue) for chunk in submitted.chunks])
    except Exception as error:  # whatever the broker's client raises: the order is accepted all the same
        log.warning("chunks not announced; the reconciler will", batch=submitted.batch_id, error=repr(error))
