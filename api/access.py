"""Who calls, and what it may do: the holder of an API key, or a client on this machine, which needs none."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Annotated, Any, cast
from urllib.parse import urlsplit

import structlog
from fastapi import Depends, Path, Request, Security, params
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from api import context
from api.context import EngineDep
from api.errors import ApiError
from api.limits import Buckets
from unjam.errors import NoSuchBatch
from unjam.store import keys

_KEY = HTTPBearer(auto_error=False, scheme_name="key", description="An API key; a client on localhost needs none.")
READ = Security(_KEY, scopes=["read"])
SUBMIT = Security(_KEY, scopes=["submit"])
_PROXIES = ("forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip")


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose request it is: an API key's or, for None, that of a client on this machine, which may do everything."""

    key: keys.Key | None

    @property
    def key_id(self) -> int | None:
        return None if self.key is None else self.key.key_id

    @property
    def sees(self) -> int | None:
        """The key whose batches are all that it sees; None where it sees those of all."""
        return None if self.key is None or self.key.may("admin") else self.key.key_id

    def most_levels(self, most: int) -> int:
        """The most levels that its batches may have, where none may have more than ``most``."""
        return min(most, (self.key and self.key.batch_levels) or most)


class GuardedRoute(APIRoute):
    """A route that asks who calls before it reads anything of the body. It depends on READ or SUBMIT."""

    def __init__(self, path: str, *arguments: Any, **options: Any) -> None:
        super().__init__(path, *arguments, **options)
        guards = [each for each in self.dependencies if isinstance(each, params.Security)]
        needed = [scope for guard in guards for scope in guard.scopes or ()]
        if len(needed) != 1:
            raise TypeError(f"{path} must depend on READ or SUBMIT")
        self.needs = cast(keys.Scope, needed[0])

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        caller = await _caller(request)
        headers = _within_limits(request, caller)
        if caller.key is not None and not caller.key.may(self.needs):
            message = f"This needs a key with the scope {self.needs!r}."
            raise ApiError(403, "forbidden", message, needs=self.needs).with_headers(headers)
        request.state.caller = caller

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        await super().handle(scope, receive, send_with_headers)


async def caller(request: Request) -> Caller:
    """Whose request it is."""
    return cast(Caller, request.state.caller)


CallerDep = Annotated[Caller, Depends(caller)]


async def visible_batch(
    caller: CallerDep,
    engine: EngineDep,
    batch_id: Annotated[int, Path(ge=1, lt=2**63, description="The batch's number.")],
) -> int:
    """The number of a batch in the path. One that the caller must not see is as if it were not there."""
    if caller.sees is not None and not await run_in_threadpool(keys.owns, engine, caller.sees, batch_id):
        raise NoSuchBatch(f"there is no batch {batch_id}")
    return batch_id


BatchId = Annotated[int, Depends(visible_batch)]


def is_local(request: Request) -> bool:
    """Whether a program on this machine asks by itself: not a proxy for another, nor a browser for a web page.

    A page of any site may send requests to localhost. Its Origin tells, and its Host where its name was made to lead
    here.
    """
    names = request.headers.keys()
    if any(name.startswith("x-forwarded") or name in _PROXIES for name in names):
        return False
    try:
        host = urlsplit(f"//{request.headers.get('host', '')}")
        origin = urlsplit(request.headers.get("origin", f"//{host.netloc}"))
    except ValueError:
        return False
    return (
        request.client is not None
        and _is_loopback(request.client.host)
        and (host.hostname == "localhost" or _is_loopback(host.hostname or ""))
        and origin.netloc == host.netloc
    )


def _is_loopback(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


async def _caller(request: Request) -> Caller:
    given = request.headers.get("authorization")
    if given is None:
        if is_local(request) and not context.settings(request).local_needs_key:
            return Caller(None)
        message = "This needs an API key: Authorization: Bearer unjam_..."
        raise ApiError(401, "key_missing", message).with_headers({"WWW-Authenticate": "Bearer"})
    scheme, _, secret = given.partition(" ")
    key = None
    if scheme.lower() == "bearer":
        key = await run_in_threadpool(keys.find, context.engine(request), secret.strip())
    if key is None:
        refusal = ApiError(401, "key_unknown", "There is no such API key, or it was revoked.")
        raise refusal.with_headers({"WWW-Authenticate": 'Bearer error="invalid_token"'})
    structlog.contextvars.bind_contextvars(key=key.prefix)
    return Caller(key)


def _within_limits(request: Request, caller: Caller) -> dict[str, str]:
    if caller.key is None or caller.key.requests_per_minute is None:
        return {}
    buckets = cast(Buckets, request.app.state.buckets)
    allowed, headers = buckets.take(caller.key.key_id, caller.key.requests_per_minute)
    if not allowed:
        message = f"This key may make {caller.key.requests_per_minute} requests a minute."
        raise ApiError(429, "rate_limited", message).with_headers(headers)
    return headers
