"""One hard board searched by many workers: dividing it, and working on a slice."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf

from sqlalchemy import Engine

from unjam._kernels import Control, Limits
from unjam.errors import TableError
from unjam.puzzles import from_canonical
from unjam.puzzles.grid import Move
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.puzzles.tiles import Tiles
from unjam.search import split
from unjam.search.solution import NO_LIMIT, Outcome, Solution, ended
from unjam.search.solve import Method
from unjam.search.verify import check, verify
from unjam.store import slices
from unjam.store.chunks import Lease, Task
from unjam.store.slices import GivenBack, Slice, Work
from unjam.watch import Watch, stored

log = logging.getLogger(__name__)

SLICE_SECONDS = 5  # of one worker, then what is left is shared out
LOCAL_SECONDS = 10.0  # of a search that can be shared, before it is; enough to build a small table
DISTRIBUTED_SECONDS = 0.5  # the same where the batch asks for it: most boards need less
LOST_SLICES = 10  # leases in a row of one slice, each half as long as the last, before its search is given up


def patience_with(puzzle: Puzzle, held: Lease, metric: Metric, method: Method) -> float:
    """Seconds of search before a task is shared; infinite where it is not, since it cannot be or would not be worth it.

    To share a search is to repeat what it has done so far, in units: so it takes at least as much time again.
    """
    patience = DISTRIBUTED_SECONDS if held.distributed else LOCAL_SECONDS
    worth = held.budget.seconds is None or held.budget.seconds >= 2 * patience
    return patience if worth and isinstance(puzzle, Tiles) and split.divisible(metric, method) else inf


def share(
    engine: Engine, held: Lease, task: Task, puzzle: Puzzle, found: Solution, watch: Watch
) -> Solution | list[int]:
    """Share with all workers the search of which ``found`` is the beginning: the chunks that wait now.

    It is the answer where whoever said stop hands the task back.
    """
    assert isinstance(puzzle, Tiles)
    adopted = stored(lambda: slices.adopt(engine, held, task, found))
    if adopted is not None:
        return adopted
    try:
        division = split.begin(puzzle, found, watch.next_search())
    except MemoryError:
        return replace(found, reason=ended("bytes"))
    except Exception as error:
        return failure(task, error)
    return found if division is None else stored(lambda: slices.begin(engine, held, task, division))


def failure(task: Task, error: Exception) -> Solution:
    """An error as the answer."""
    log.debug("puzzle %d, %s", task.puzzle_id, task.metric, exc_info=True)
    return Solution(task.metric, Outcome.FAILED, reason=f"{type(error).__name__}: {error}"[:500])


def work_on_slice(engine: Engine, held: Lease, cancelled: Callable[[], bool], seconds: float) -> GivenBack:
    """Search a leased slice for some seconds. The next one to take it may have the table that this machine has not."""
    found = stored(lambda: slices.load(engine, held))
    if found is None:
        return GivenBack([])
    puzzle = from_canonical(found.task.family, found.task.canonical)
    assert isinstance(puzzle, Tiles)
    with Watch(engine, held, cancelled, seconds) as watch:
        try:
            work = _search_slice(held, found, puzzle, watch.next_search())
        except Exception as error:
            if isinstance(error, TableError) and held.attempts < LOST_SLICES:
                log.warning("slice %d goes to another worker: %s", held.chunk_id, error)
                stored(lambda: slices.decline(engine, held))
                return GivenBack([])  # nobody is told: it would be us again
            work = Work(answer=failure(found.task, error))
    if work.answer is not None and work.answer.outcome is Outcome.FAILED:
        log.error("puzzle %d, %s: failed: %s", found.task.puzzle_id, found.task.metric, work.answer.reason)
    advance = partial(split.advance, puzzle)
    given = stored(lambda: slices.give_back(engine, held, work, advance, split=not watch.stopped))
    return given or GivenBack([])


def _search_slice(held: Lease, found: Slice, puzzle: Tiles, control: Control) -> Work:
    """A slice whose workers died is searched for half as long each time: what kills at random, now and then, lets some
    of it be stored at last. Only what kills even the shortest ends the search.
    """
    metric, progress = found.task.metric, found.progress
    if held.attempts > LOST_SLICES:
        reason = f"the worker process died {LOST_SLICES} times on one slice of the search"
        return Work(answer=Solution(metric, Outcome.FAILED, reason=reason))
    seconds = SLICE_SECONDS / 2 ** (held.attempts - 1)
    budget = held.budget
    limits = Limits(
        seconds if budget.seconds is None else max(min(seconds, budget.seconds - progress.budget_seconds), 0),
        NO_LIMIT if budget.nodes is None else max(budget.nodes - progress.budget_nodes, 0),
        NO_LIMIT if budget.bytes is None else budget.bytes,
    )
    wall, cpu = time.perf_counter(), time.thread_time()
    result = split.search(puzzle, progress, found.units, found.resume, limits, control)
    answer = None
    if result.outcome == Outcome.OPTIMAL:
        moves = tuple(Move(cell, to) for cell, to in result.moves)
        answer = replace(progress, upper=result.length, moves=moves).solution(metric, Outcome.OPTIMAL)
        check(puzzle, answer)
        verify(puzzle, answer)
    elif result.reason == "bytes":
        answer = progress.solution(metric, Outcome.BOUNDED, ended("bytes"))
    return Work(
        result.done,
        result.resume,
        result.nodes,
        result.expanded,
        result.generated,
        time.perf_counter() - wall,
        time.thread_time() - cpu,
        answer,
    )
