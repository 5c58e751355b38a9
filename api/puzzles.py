"""Single puzzles: solve now, look up."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path, Query, Response
from sqlalchemy import Engine
from starlette.concurrency import run_in_threadpool

from api import levels
from api.access import READ, SUBMIT, CallerDep, GuardedRoute
from api.batches import status
from api.context import EngineDep, SettingsDep, announce
from api.errors import ApiError, documented
from api.schemas import (
    FindOptions,
    LevelPage,
    LookupOrder,
    LookupResults,
    Result,
    Solved,
    SolveOrder,
    StoredPuzzle,
)
from unjam.search.solve import choose
from unjam.store import batches, find, lookup

FIRST_PAUSE, LONGEST_PAUSE = 0.02, 0.5  # seconds between two looks at the store while a client waits

routes = APIRouter(prefix="/v1", tags=["puzzles"], route_class=GuardedRoute, responses=documented(401, 403, 429))


@routes.post(
    "/solve",
    dependencies=[SUBMIT],
    responses={
        202: {"model": Solved, "description": "Accepted, but not solved within `wait`: ask for the batch."},
        **documented(400, 413, 422, 503),
    },
)
async def solve(
    order: SolveOrder, response: Response, caller: CallerDep, engine: EngineDep, settings: SettingsDep
) -> Solved:
    """Solve one level and wait up to `wait` seconds for the answer."""
    deadline = monotonic() + order.wait
    entry = levels.from_order(order)
    assert entry.puzzle is not None
    choose(entry.puzzle, entry.puzzle.check_metric(entry.metric), order.algorithm, order.heuristic)  # or it is refused
    submitted = await run_in_threadpool(
        batches.submit,
        engine,
        [entry],
        budget=order.budget.budget(settings.max_budget_bytes),
        queue="interactive",
        algorithm=order.algorithm,
        heuristic=order.heuristic,
        key_id=caller.key_id,
    )
    await run_in_threadpool(announce, settings, submitted, "interactive")
    pause = FIRST_PAUSE
    while (result := await run_in_threadpool(_only_result, engine, submitted.batch_id)) is None:
        left = deadline - monotonic()
        if left <= 0:
            response.status_code = 202
            response.headers["Location"] = f"/v1/batches/{submitted.batch_id}"
            break
        await asyncio.sleep(min(pause, left))
        pause = min(2 * pause, LONGEST_PAUSE)
    return Solved(batch=await run_in_threadpool(status, engine, submitted.batch_id), result=result)


@routes.post("/lookup", dependencies=[READ], response_model=LookupResults, responses=documented(400, 413, 422, 503))
def look_up(order: LookupOrder, engine: EngineDep) -> Response:
    """What the store knows about many puzzles, in any orientation. Solves nothing."""
    entries = list(levels.from_objects(order.puzzles))
    answers = iter(lookup.lookup(engine, [(entry.puzzle, entry.metric) for entry in entries if entry.puzzle]))
    found: list[dict[str, Any]] = [
        {"index": entry.index, "key": entry.puzzle.key.hex(), "answers": next(answers), "error": None}
        if entry.puzzle
        else {"index": entry.index, "key": None, "answers": [], "error": entry.error}
        for entry in entries
    ]
    return _json({"results": found})


@routes.get("/puzzles", dependencies=[READ], response_model=LevelPage, responses=documented(422, 503))
def find_puzzles(engine: EngineDep, options: Annotated[FindOptions, Query()]) -> Response:
    """Solved levels of a family with so many moves, in the order in which they came into the store.

    A page may hold fewer than `limit` levels although more follow, where `size` or `pieces` are rare.
    """
    place = find.Place(*map(int, options.after.split("-"))) if options.after else None
    page = find.find_page(engine, options.wanted(), place, options.limit, options.seed)
    return _json({"levels": page.levels, "next": page.next and "-".join(map(str, page.next))})


@routes.get("/puzzles/{key}", dependencies=[READ], response_model=StoredPuzzle, responses=documented(404, 422, 503))
def get_puzzle(
    engine: EngineDep,
    key: Annotated[str, Path(pattern="^[0-9a-f]{32}$", description="The puzzle's key, as results tell it.")],
) -> Response:
    """A stored puzzle in its canonical form, with its answers."""
    found = lookup.by_key(engine, bytes.fromhex(key))
    if found is None:
        raise ApiError(404, "not_found", "There is no puzzle with this key.", key=key)
    return _json(found)


def _json(answer: dict[str, Any]) -> Response:
    """As it is: checking ten thousand answers against the model would take longer than finding them."""
    return Response(orjson.dumps(answer), media_type=levels.JSON)


def _only_result(engine: Engine, batch_id: int) -> Result | None:
    row = next(batches.results(engine, batch_id, limit=1))
    return Result.model_validate(row) if row["outcome"] else None
