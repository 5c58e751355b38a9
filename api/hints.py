"""Hints: the next move of a position, searched for in this process where it is not known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool

from api import levels
from api.access import SUBMIT, GuardedRoute
from api.context import EngineDep, SettingsDep
from api.errors import ApiError, documented
from api.schemas import HintAnswer, HintOrder
from unjam._kernels import Control
from unjam.search.hint import Hint, known_hint, searched_hint
from unjam.store.lookup import stored_solution

LOOK_AGAIN = 0.1  # seconds between two looks at whether the client is still there

routes = APIRouter(prefix="/v1", tags=["puzzles"], route_class=GuardedRoute, responses=documented(401, 403, 429))


def slots(request: Request) -> asyncio.Semaphore:
    """What a search for a hint holds while it runs."""
    return cast(asyncio.Semaphore, request.app.state.hints)


@routes.post("/hint", dependencies=[SUBMIT], responses=documented(400, 413, 422, 503))
async def hint(
    order: HintOrder,
    request: Request,
    engine: EngineDep,
    settings: SettingsDep,
    slots: Annotated[asyncio.Semaphore, Depends(slots)],
) -> HintAnswer:
    """The next optimal move of a position, and the moves left: known already, or found within the budget."""
    puzzle = levels.from_order(order).puzzle
    assert puzzle is not None
    metric = puzzle.check_metric(order.metric)
    budget = order.budget.budget(settings.max_budget_bytes)
    stored = partial(stored_solution, engine)
    found = await run_in_threadpool(known_hint, puzzle, metric, stored)
    if found is None:
        if slots.locked():
            message = "As many searches for hints as may run at once are running; try again."
            raise ApiError(503, "busy", message).with_headers({"Retry-After": "1"})
        async with slots:
            found = await _searched(request, partial(searched_hint, puzzle, metric, budget, stored))
    return HintAnswer.model_validate(await run_in_threadpool(found.fields, puzzle))


async def _searched(request: Request, search: Callable[[Control], Hint]) -> Hint:
    """What a search finds, which ends soon after the client has gone away."""
    control = Control()
    searching = asyncio.ensure_future(run_in_threadpool(search, control))
    try:
        while not (await asyncio.wait({searching}, timeout=LOOK_AGAIN))[0]:
            if await request.is_disconnected():
                control.cancel()
    finally:
        control.cancel()
        await asyncio.wait({searching})
    return searching.result()
