"""One JSON shape for every error, that of ErrorBody. No stack trace leaves the process."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Self

import structlog
from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.exc import InterfaceError, OperationalError, TimeoutError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import compile_path

from api.request_id import HEADER, request_id
from unjam.errors import MetricError, NoSuchBatch, OrderConflict, PackError, ParseError, SearchError, UnjamError

log = structlog.get_logger(__name__)


class ErrorDetail(BaseModel):
    """What went wrong: a code for programs, a message for people, where in the request it was, and of which request."""

    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)
    request_id: str | None = Field(description="As in the header X-Request-ID, and in the log.")


class ErrorBody(BaseModel):
    """Every error answer of this API."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"error": {"code": "not_found", "message": "there is no batch 7", "details": {}, "request_id": "3b9f"}}
            ]
        }
    )

    error: ErrorDetail


class ApiError(HTTPException):
    """An error this API answers on purpose."""

    def __init__(self, status: int, code: str, message: str, **details: Any) -> None:
        super().__init__(status, message)
        self.code = code
        self.details = details

    def with_headers(self, headers: Mapping[str, str]) -> Self:
        self.headers = headers
        return self


def answer(
    status: int, code: str, message: str, details: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An error in the one shape."""
    name = request_id()
    error = {"code": code, "message": message, "details": jsonable_encoder(details), "request_id": name}
    return JSONResponse({"error": error}, status, {**(headers or {}), **({HEADER: name} if name else {})})


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The ``responses`` of a route that may answer with these errors."""
    return {status: {"model": ErrorBody, "description": HTTPStatus(status).phrase} for status in statuses}


def install(app: FastAPI) -> None:
    """Make the application answer all errors in the one shape."""

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> JSONResponse:
        if isinstance(error, ApiError):
            return answer(error.status_code, error.code, error.detail, error.details, error.headers)
        code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
        details = {"method": request.method, "path": request.url.path}
        headers = {"Allow": _methods(request)} if error.status_code == 405 else error.headers
        return answer(error.status_code, code, str(error.detail), details, headers)

    @app.exception_handler(RequestValidationError)
    async def invalid_request(request: Request, error: RequestValidationError) -> JSONResponse:
        problems = [{"place": _place(one["loc"]), "problem": one["msg"]} for one in error.errors()[:20]]
        first = problems[0] if problems else {"place": "body", "problem": "is not valid"}
        return answer(422, "invalid_request", f"{first['place']}: {first['problem']}", {"problems": problems})

    @app.exception_handler(ParseError)
    async def parse_error(request: Request, error: ParseError) -> JSONResponse:
        details = {"field": error.field, "row": error.row, "column": error.column}
        return answer(422, "parse_error", str(error), {name: at for name, at in details.items() if at is not None})

    @app.exception_handler(UnjamError)
    async def unjam_error(request: Request, error: UnjamError) -> JSONResponse:
        for kind, status, code in (
            (NoSuchBatch, 404, "not_found"),
            (OrderConflict, 409, "order_conflict"),
            (MetricError, 422, "unknown_metric"),
            (SearchError, 422, "unfit_search"),
            (PackError, 422, "unreadable_pack"),
        ):
            if isinstance(error, kind):
                return answer(status, code, str(error), {})
        return internal_error(request, error)

    @app.exception_handler(OperationalError)
    @app.exception_handler(InterfaceError)
    @app.exception_handler(TimeoutError)
    async def store_unavailable(request: Request, error: Exception) -> JSONResponse:
        log.error("store unavailable", path=request.url.path, error=str(error))
        return answer(503, "store_unavailable", "The database does not answer.", {}, {"Retry-After": "5"})

    @app.exception_handler(ClientDisconnect)
    async def client_gone(request: Request, error: ClientDisconnect) -> JSONResponse:
        return answer(400, "bad_request", "The body ended before it was complete.", {})  # for the log; nobody reads it

    @app.exception_handler(Exception)
    async def any_error(request: Request, error: Exception) -> JSONResponse:
        return internal_error(request, error)


def internal_error(request: Request, error: Exception) -> JSONResponse:
    """Log what happened and tell the client nothing of our insides."""
    log.error("request failed", method=request.method, path=request.url.path, exc_info=error)
    return answer(500, "internal_error", "This is our fault; it has been logged.", {})


def _methods(request: Request) -> str:
    """All methods of the path: the router knows those of one route."""
    paths = request.app.openapi()["paths"]
    found = [methods for path, methods in paths.items() if compile_path(path)[0].match(request.scope["path"])]
    return ", ".join(method.upper() for methods in found for method in methods)


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location)
