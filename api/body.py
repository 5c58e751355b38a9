"""Request bodies are bounded before anything parses them, and packs spooled to disk when they are large."""

from __future__ import annotations

from collections.abc import MutableMapping
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api import levels
from api.errors import ApiError, answer

SPOOL_BYTES = 1_000_000  # a body up to this size stays in memory
# JSON becomes objects in memory all at once, some 60 bytes for one as short as [], and 300 with content. A pack is read
# level by level: it is bounded by the operator's setting alone.
JSON_BYTES = 16 * 2**20
JSON_OBJECTS = 1_000_000  # objects and lists
LEVEL_BYTES = 2**20  # where one level is all there is to say
ONE_LEVEL = ("/v1/solve", "/v1/hint")


class BodyLimit:
    """Refuse bodies that are too large: at once when their length is declared, else as soon as they are larger.

    ``limit`` is the most there may be in bytes; of JSON there may be less.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        pack = levels.content_type(headers) in levels.FORMATS
        limit = min(self.limit, LEVEL_BYTES if scope["path"] in ONE_LEVEL else self.limit if pack else JSON_BYTES)
        declared = headers.get("content-length", "0")
        if declared.isdigit() and int(declared) > limit:
            error = _too_large(limit)
            await answer(413, error.code, error.detail, error.details, {"Connection": "close"})(scope, receive, send)
            return
        received = objects = 0

        async def bounded_receive() -> MutableMapping[str, Any]:
            nonlocal received, objects
            message = await receive()
            body: bytes = message.get("body", b"")
            received += len(body)
            if received > limit:
                raise _too_large(limit)
            if not pack:
                objects += body.count(b"{") + body.count(b"[")
                if objects > JSON_OBJECTS:
                    raise ApiError(413, "body_too_large", f"The body has over {JSON_OBJECTS:,} objects and lists.")
            return message

        await self.app(scope, bounded_receive, send)


def _too_large(limit: int) -> ApiError:
    return ApiError(413, "body_too_large", f"The body is over {limit:,} bytes.", limit=limit)


async def spool(request: Request) -> BinaryIO:
    """The whole body as a file, read from its start."""
    body = SpooledTemporaryFile(SPOOL_BYTES)  # noqa: SIM115  # the caller closes it
    try:
        async for piece in request.stream():
            await run_in_threadpool(body.write, piece)
    except BaseException:
        body.close()
        raise
    body.seek(0)
    return cast(BinaryIO, body)
