"""Request bodies are bounded before anything parses them, and spooled to disk when they are large."""

from __future__ import annotations

from collections.abc import MutableMapping
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, cast

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import ApiError, answer

SPOOL_BYTES = 1_000_000  # a body up to this size stays in memory


class BodyLimit:
    """Refuse bodies over ``limit`` bytes: at once when their length is declared, else as soon as they are longer."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > self.limit:
            error = self.too_large()
            await answer(413, error.code, error.detail, error.details, {"Connection": "close"})(scope, receive, send)
            return
        received = 0

        async def bounded_receive() -> MutableMapping[str, Any]:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.limit:
                raise self.too_large()
            return message

        await self.app(scope, bounded_receive, send)

    def too_large(self) -> ApiError:
        return ApiError(413, "body_too_large", f"The body is over {self.limit} bytes.", limit=self.limit)


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
