"""A name for each request, for its answer, its errors and what is logged of it."""

from __future__ import annotations

import re
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "X-Request-ID"
_GIVEN = re.compile(r"[\w.:+/=-]{1,100}", re.ASCII)  # what can be logged as it is; others get one of ours


class RequestId:
    """Take the client's ``X-Request-ID``, or make one; answer with it, and have it logged with every event."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        request_id = given if _GIVEN.fullmatch(given) else uuid4().hex
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        await self.app(scope, receive, send_with_id)


def request_id() -> str | None:
    """That of the present request."""
    found = structlog.contextvars.get_contextvars().get("request_id")
    return None if found is None else str(found)
