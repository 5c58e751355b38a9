"""Batches: order, watch, fetch, cancel."""

from __future__ import annotations

from asyncio import Semaphore
from collections.abc import AsyncIterator, Iterator
from hashlib import file_digest, sha256
from itertools import islice
from typing import Annotated, Any, BinaryIO, Literal

import orjson
from fastapi import APIRouter, BackgroundTasks, Header, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import StreamingResponse
from pydantic import ValidationError
from sqlalchemy import Engine
from starlette.concurrency import run_in_threadpool

from api import levels
from api.access import READ, SUBMIT, BatchId, Caller, CallerDep, GuardedRoute
from api.body import spool
from api.context import EngineDep, FeedDep, SettingsDep, announce
from api.errors import documented
from api.events import DONE, EventStream
from api.schemas import Batch, BatchList, BatchOrder, BatchProgress, PackOptions, ResultPage, SearchOrder
from unjam.settings import Settings
from unjam.store import batches
from unjam.store.once import Once

NDJSON = "application/x-ndjson"
SUBMITTING = 2  # orders of a key at once, while others wait: each takes a thread, a connection, and memory for its JSON
PROGRESS = {
    "type": "string",
    "contentMediaType": "application/json",
    "contentSchema": {"$ref": "#/components/schemas/BatchProgress"},
}
EVENT = {
    "itemSchema": {  # OpenAPI 3.2; before it there is no word for one event of a stream
        "type": "object",
        "properties": {"event": {"enum": ["progress", DONE]}, "id": {"const": DONE}, "data": PROGRESS},
        "required": ["event", "data"],
    },
    "example": 'event: progress\ndata: {"id":1,"state":"running","done":7}\n\n',
}
ROWS_AT_ONCE = 500  # of a stream: one trip to the thread pool, one piece of the body

routes = APIRouter(
    prefix="/v1/batches", tags=["batches"], route_class=GuardedRoute, responses=documented(401, 403, 429)
)

_order_schema = BatchOrder.model_json_schema(ref_template="#/components/schemas/{model}")
_order_schema.pop("$defs")
ORDER_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": _order_schema},
            **{media: {"schema": {"type": "string"}, "example": text} for media, text in levels.EXAMPLES.items()},
        },
    }
}


@routes.post(
    "",
    dependencies=[SUBMIT],
    status_code=202,
    responses=documented(400, 409, 413, 415, 422, 503),
    openapi_extra=ORDER_BODY,
)
async def create_batch(
    request: Request,
    response: Response,
    background: BackgroundTasks,
    caller: CallerDep,
    engine: EngineDep,
    settings: SettingsDep,
    options: Annotated[PackOptions, Query()],
    idempotency_key: Annotated[
        str | None, Header(min_length=1, max_length=200, pattern=r"^[!-~]+$", description="The order's name.")
    ] = None,
) -> Batch:
    """Accept levels to solve.

    The body is a JSON order, or a pack: JSON Lines, CSV or text. Options of a pack order go into the query. The answer
    comes when the order is safely stored; levels the store already has answers for cost nothing. An order with an
    Idempotency-Key can be sent again when its answer was lost: it is the same batch then.
    """
    media = levels.media_type(request)
    if media == levels.JSON and request.query_params:
        problem = {"loc": ("query",), "msg": "a JSON order has its options in the body", "type": "extra_forbidden"}
        raise RequestValidationError([problem])
    submitting: Semaphore = request.app.state.submitting[caller.key_id]
    with await spool(request) as body:
        async with submitting:
            submitted = await run_in_threadpool(
                _submit, engine, body, media, options, settings, caller, idempotency_key
            )
    background.add_task(announce, settings, submitted, "bulk")  # a broker that hangs must not delay the acceptance
    response.headers["Location"] = f"/v1/batches/{submitted.batch_id}"
    return await run_in_threadpool(status, engine, submitted.batch_id)


@routes.get("", dependencies=[READ], responses=documented(422, 503))
def list_batches(
    engine: EngineDep,
    caller: CallerDep,
    before: Annotated[int | None, Query(ge=1, lt=2**63, description="Only batches with a smaller number.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Batches at most.")] = 100,
) -> BatchList:
    """Batches, the newest first: those of the API key, or all for one with the scope admin."""
    found = batches.list_batches(engine, before=before, limit=limit + 1, key_id=caller.sees)
    page = [BatchProgress.model_validate(one) for one in found[:limit]]
    return BatchList(batches=page, next=page[-1].id if len(found) > limit else None)


@routes.get("/{batch_id}", dependencies=[READ], responses=documented(404, 422, 503))
def get_batch(engine: EngineDep, batch_id: BatchId) -> Batch:
    """How far a batch is, and what came of it."""
    return status(engine, batch_id)


@routes.delete("/{batch_id}", dependencies=[SUBMIT], responses=documented(404, 422, 503))
def cancel_batch(engine: EngineDep, batch_id: BatchId) -> Batch:
    """Cancel a batch: what is solved stays, the rest is dropped. Cancelling twice, or too late, changes nothing."""
    batches.cancel(engine, batch_id)
    return status(engine, batch_id)


@routes.get(
    "/{batch_id}/results",
    dependencies=[READ],
    response_model=ResultPage,
    responses={
        200: {
            "description": "A page of results, or all of them as NDJSON.",
            "content": {NDJSON: {"schema": {"type": "string"}, "example": '{"index":0,"length":2}\n'}},
        },
        **documented(404, 422, 503),
    },
)
def get_results(
    engine: EngineDep,
    batch_id: BatchId,
    after: Annotated[int, Query(ge=-1, lt=2**63, description="Only levels after this index.")] = -1,
    limit: Annotated[
        int | None, Query(ge=1, description="Rows at most: 100 and at most 10,000 a page; a stream has no limit.")
    ] = None,
    format: Annotated[Literal["json", "ndjson"] | None, Query(description="Overrides Accept.")] = None,
    accept: Annotated[str, Header()] = "",
) -> Response:
    """Results in the batch's order, as far as they are known; levels that wait have the outcome null.

    With `Accept: application/x-ndjson` or `?format=ndjson`, all rows are streamed, one JSON object a line.
    """
    if format == "ndjson" or (format is None and NDJSON in accept):
        return StreamingResponse(_lines(batches.results(engine, batch_id, after=after, limit=limit)), media_type=NDJSON)
    limit = min(limit or 100, 10_000)
    page = list(batches.results(engine, batch_id, after=after, limit=limit + 1))
    more = page[limit - 1]["index"] if len(page) > limit else None
    return Response(orjson.dumps({"results": page[:limit], "next": more}), media_type=levels.JSON)


@routes.get(
    "/{batch_id}/events",
    dependencies=[READ],
    response_class=Response,
    responses={
        200: {
            "description": "Events `progress`, and `done` as the last one.",
            "content": {EventStream.media_type: EVENT},
        },
        204: {"description": "The last event was received before."},
        **documented(404, 422, 503),
    },
)
async def watch_batch(
    engine: EngineDep,
    feed: FeedDep,
    batch_id: BatchId,
    last_event_id: Annotated[str, Header(description="What a browser sends when it connects again.")] = "",
) -> Response:
    """How far a batch is, as server-sent events: at once, whenever it has got further, and when it is done."""
    if last_event_id == DONE:
        return Response(status_code=204)  # tells a browser not to connect again
    feed.refuse_too_many()
    now = await run_in_threadpool(batches.progress, engine, batch_id)
    return EventStream(feed.events(engine, now), headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})


def status(engine: Engine, batch_id: int) -> Batch:
    """The batch; raises NoSuchBatch."""
    return Batch.model_validate(batches.status(engine, batch_id))


def _submit(
    engine: Engine,
    body: BinaryIO,
    media: str,
    options: PackOptions,
    settings: Settings,
    caller: Caller,
    idempotency_key: str | None,
) -> batches.Submitted:
    order: SearchOrder
    once = None
    if idempotency_key is not None:
        digest = file_digest(body, lambda: sha256(f"{media} {options.model_dump_json()} ".encode())).digest()  # type: ignore[arg-type]
        once = Once(idempotency_key, digest)
        body.seek(0)
    if media == levels.JSON:
        order = json_order = _json_order(body.read())
        entries = levels.from_objects(json_order.levels)
    else:
        order = options.order()
        entries = levels.from_pack(body, media, options)
    return batches.submit(
        engine,
        levels.bounded(entries, caller.most_levels(settings.max_batch_levels)),
        metric=order.metric,
        budget=order.budget.budget(settings.max_budget_bytes),
        name=order.name,
        algorithm=order.algorithm,
        heuristic=order.heuristic,
        distributed=order.distributed,
        key_id=caller.key_id,
        once=once,
    )


def _json_order(body: bytes) -> BatchOrder:
    try:
        return BatchOrder.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(
            [{**one, "loc": ("body", *one["loc"])} for one in error.errors(include_input=False, include_context=False)]
        ) from None


async def _lines(rows: Iterator[dict[str, Any]]) -> AsyncIterator[bytes]:
    """Rows as NDJSON; closes the query also when the client goes away."""

    def piece() -> bytes:
        return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in islice(rows, ROWS_AT_ONCE))

    try:
        while lines := await run_in_threadpool(piece):
            yield lines
    finally:
        close = getattr(rows, "close", None)
        if close:
            close()
