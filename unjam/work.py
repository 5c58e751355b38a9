"""Working chunks off: by a Celery task that was told of one, or by processes of this machine until a batch is done."""

from __future__ import annotations

import logging
import multiprocessing
import os
import random
import select
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import TypeVar

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from unjam._kernels import Control, Limits
from unjam.errors import StoreError, VerificationError
from unjam.puzzles import from_canonical
from unjam.puzzles.grid import Move
from unjam.puzzles.tiles import Tiles
from unjam.search import split
from unjam.search.solution import Outcome, Solution, ended
from unjam.search.solve import choose, solve
from unjam.search.tables import NO_LIMIT
from unjam.search.verify import check, verify
from unjam.settings import get_settings
from unjam.store import batches, chunks, slices
from unjam.store.chunks import Answer, Lease, Task
from unjam.store.database import open_engine
from unjam.store.slices import Slice, Work

log = logging.getLogger(__name__)

SLICE_SECONDS = 5  # then a chunk's answers are stored and the rest is shared out
LOCAL_SECONDS = 10.0  # of a search that can be shared, before it is; enough to build a small table
DISTRIBUTED_SECONDS = 0.5  # the same where the batch asks for it: most boards need less
LOST_SLICES = 10  # leases in a row of one slice, each half as long as the last, before its search is given up
REPLAYED = 32  # the Python rules replay one answer in so many, and at least one of each chunk
STOP_POLL = 0.05
BATCH_POLL = 1.0
STORE_TRIES = 6  # a restart of Postgres must not cost what was just found
STOP_SECONDS = 10
RECOVER_SECONDS = 5
IDLE_DEATHS = 10
NEWS = struct.Struct("=I")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WorkDone:
    """What became of a chunk: puzzles answered, and the chunks that wait for what is left, each with its queue."""

    chunk_id: int
    batch_id: int
    answered: int
    waiting: list[tuple[int, str]]


def work(
    engine: Engine,
    chunk_id: int | None,
    *,
    worker: str,
    cancelled: Callable[[], bool] = lambda: False,
    batch_id: int | None = None,
) -> WorkDone | None:
    """Take this chunk, or the next one (of a batch), and solve it for some seconds; None when there is none to take.

    ``cancelled`` is asked many times a second, from another thread: once it says yes, the running search ends, and what
    is not answered waits for another worker.
    """
    seconds = get_settings().lease_seconds
    held = chunks.lease(engine, chunk_id, worker, batch_id=batch_id, seconds=seconds)
    if held is None:
        return None
    if held.checkpoint_id is not None:
        return _work_on_slice(engine, held, cancelled, seconds)
    answers: list[Answer] = []
    shared: list[int] = []
    sample = random.sample(range(len(held.tasks)), -(-len(held.tasks) // REPLAYED))
    end = time.monotonic() + SLICE_SECONDS
    with _Watch(engine, held, cancelled, seconds) as watch:
        for number, task in enumerate(held.tasks):
            if watch.stopped or ((answers or shared) and time.monotonic() > end):
                break
            solution = _search(engine, held, task, watch, replay=number in sample)
            if isinstance(solution, list):
                shared += solution
                continue
            if watch.stopped and solution.outcome is Outcome.BOUNDED:
                break
            if solution.outcome is Outcome.FAILED:
                log.error("puzzle %d, %s: failed: %s", task.puzzle_id, task.metric, solution.reason)
            answers.append(Answer(task.puzzle_id, solution))
    left = _stored(lambda: chunks.finish(engine, held, answers, split=not watch.stopped))
    stored = 0 if left is None else len(answers)  # None: the lease was lost, and the answers with it
    waiting = [(chunk, held.queue) for chunk in left or []] + [(chunk, slices.QUEUE) for chunk in shared]
    return WorkDone(held.chunk_id, held.batch_id, stored, waiting)


def worker_name() -> str:
    """Host and process, as leases and attempts name a worker."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _search(engine: Engine, held: Lease, task: Task, watch: _Watch, *, replay: bool) -> Solution | list[int]:
    """Whatever goes wrong with one puzzle is its answer, and does not touch its neighbours.

    A search that takes long is shared with all workers, where it can be: then the chunks of its slices.
    """
    try:
        puzzle = from_canonical(task.family, task.canonical)
        seconds = inf if held.budget.seconds is None else held.budget.seconds
        patience = inf
        method = choose(puzzle, task.metric, held.algorithm, held.heuristic)
        if isinstance(puzzle, Tiles) and split.divisible(task.metric, method):
            patience = DISTRIBUTED_SECONDS if held.distributed else LOCAL_SECONDS
            split.prepare(puzzle, method, watch.next_search(), seconds)
        solution = solve(
            puzzle,
            task.metric,
            replace(held.budget, seconds=patience) if patience < seconds else held.budget,
            algorithm=held.algorithm,
            heuristic=held.heuristic,
            control=watch.next_search(),
        )
        if replay:
            verify(puzzle, solution)
        if isinstance(puzzle, Tiles) and patience < seconds and solution.reason == ended("seconds"):
            return _share(engine, held, task, puzzle, solution, watch)
    except VerificationError as error:
        return replace(solution, outcome=Outcome.FAILED, length=None, reason=f"does not replay: {error}")
    except Exception as error:
        return _failure(task, error)
    return solution


def _failure(task: Task, error: Exception) -> Solution:
    log.debug("puzzle %d, %s", task.puzzle_id, task.metric, exc_info=True)
    return Solution(task.metric, Outcome.FAILED, reason=f"{type(error).__name__}: {error}"[:500])


def _share(
    engine: Engine, held: Lease, task: Task, puzzle: Tiles, found: Solution, watch: _Watch
) -> Solution | list[int]:
    division = split.begin(puzzle, found, watch.next_search())
    if division is None:
        return found  # and whoever said stop hands the task back
    return _stored(lambda: slices.begin(engine, held, task, division)) or []


def _work_on_slice(engine: Engine, held: Lease, cancelled: Callable[[], bool], seconds: float) -> WorkDone:
    found = slices.load(engine, held)
    if found is None:
        return WorkDone(held.chunk_id, held.batch_id, 0, [])
    puzzle = from_canonical(found.task.family, found.task.canonical)
    assert isinstance(puzzle, Tiles)
    with _Watch(engine, held, cancelled, seconds) as watch:
        try:
            work = _search_slice(held, found, puzzle, watch.next_search())
        except Exception as error:
            work = Work(answer=_failure(found.task, error))
    given = _stored(
        lambda: slices.give_back(engine, held, work, partial(split.advance, puzzle), split=not watch.stopped)
    )
    if given is None:
        return WorkDone(held.chunk_id, held.batch_id, 0, [])
    return WorkDone(
        held.chunk_id, held.batch_id, int(given.answered), [(chunk, slices.QUEUE) for chunk in given.waiting]
    )


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
        seconds if budget.seconds is None else max(min(seconds, budget.seconds - progress.seconds), 0),
        NO_LIMIT if budget.nodes is None else max(budget.nodes - progress.generated, 0),
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


def _stored(step: Callable[[], T]) -> T:
    for tries in range(1, STORE_TRIES):
        with suppress(OperationalError):  # Postgres restarts, or the network failed; the token keeps a retry harmless
            return step()
        time.sleep(0.1 * 2**tries)
    return step()


class _Watch:
    """A thread beside the searches of a chunk: renews the lease while nodes are counted, and ends the search when told.

    The kernel releases the GIL, but a signal handler runs only in the main thread between two Python instructions: that
    is why somebody else must cancel.
    """

    def __init__(self, engine: Engine, held: Lease, cancelled: Callable[[], bool], seconds: float) -> None:
        self.stopped = False
        self._engine = engine
        self._held = held
        self._cancelled = cancelled
        self._seconds = seconds
        self._control = Control()
        self._searches = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="unjam-watch", daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def next_search(self) -> Control:
        self._searches += 1
        self._control = Control()
        if self.stopped:
            self._control.cancel()
        return self._control

    def _progress(self) -> tuple[int, int]:
        return self._searches, self._control.generated

    def _run(self) -> None:
        asked = renewed = time.monotonic()
        seen = self._progress()
        while not self._over.wait(STOP_POLL) and not self.stopped:
            now = time.monotonic()
            stop = self._cancelled()
            if now - asked >= BATCH_POLL and not stop:
                asked = now
                with suppress(SQLAlchemyError):  # Postgres is away: the lease may hold until it is back
                    stop = not chunks.wanted(self._engine, self._held)
                    if now - renewed >= self._seconds / 4 and self._progress() != seen:
                        chunks.renew(self._engine, self._held, self._seconds)
                        renewed, seen = now, self._progress()
            if stop:
                self.stopped = True
                self._control.cancel()


def drain(
    url: str,
    batch_id: int,
    processes: int,
    on_progress: Callable[[int], None] = lambda done: None,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Solve a batch with processes of this machine; returns when it is done, cancelled, or soon after ``stop`` says so.

    ``on_progress`` gets the number of levels that are done. A process that is killed is replaced and its chunk given
    again at once. Raises StoreError when the processes cannot work.
    """
    engine = open_engine(url)
    pool = _Pool(url, batch_id)
    try:
        done = batches.answered_levels(engine, batch_id)
        engine.dispose()  # its connections are not for the forked
        for _ in range(processes):
            pool.fork()
        recovered = time.monotonic()
        while pool.running:
            on_progress(done)
            done += pool.news(0.1)
            if stop():
                pool.stop()
            for name in pool.killed():
                held = chunks.recover(engine, worker=name)
                pool.replace(worked=held > 0)
            if time.monotonic() - recovered > RECOVER_SECONDS:
                chunks.recover(engine)  # what processes of another machine, or of an earlier run, held
                recovered = time.monotonic()
        on_progress(done + pool.news(0))
    finally:
        pool.close()
        engine.dispose()


class _Pool:
    """Forked worker processes, with a pipe that tells them to stop (our death does too) and one for their news."""

    def __init__(self, url: str, batch_id: int) -> None:
        self.running: dict[str, BaseProcess] = {}
        self._arguments = (url, batch_id)
        self._fork = multiprocessing.get_context("fork").Process
        self._go_on, self._keep_open = os.pipe()
        self._news, self._tell = os.pipe()
        self._deadline: float | None = None
        self._idle_deaths = 0
        os.set_blocking(self._news, False)

    def fork(self) -> None:
        process = self._fork(target=self._worker, daemon=True)
        process.start()
        self.running[f"{socket.gethostname()}:{process.pid}"] = process

    def replace(self, *, worked: bool) -> None:
        """Fork a new one for a killed one; raises StoreError when they die before they have any work."""
        self._idle_deaths = 0 if worked else self._idle_deaths + 1
        if self._idle_deaths > IDLE_DEATHS:
            raise StoreError("worker processes are killed as soon as they start")
        if self._deadline is None:
            self.fork()

    def news(self, seconds: float) -> int:
        """Wait for something to happen; how many puzzles were answered since."""
        wait([self._news, *(process.sentinel for process in self.running.values())], seconds)
        try:
            told = os.read(self._news, 2**16)
        except BlockingIOError:
            return 0
        return sum(count for (count,) in NEWS.iter_unpack(told))

    def killed(self) -> list[str]:
        """Forget the ended ones; the names of those that a signal ended."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            for process in self.running.values():
                process.kill()
        ended = {name: process for name, process in self.running.items() if process.exitcode is not None}
        for name, process in ended.items():
            del self.running[name]
            if process.exitcode and process.exitcode > 0:
                raise StoreError(f"a worker process ended with code {process.exitcode}")
        return [name for name, process in ended.items() if process.exitcode]

    def stop(self) -> None:
        """Ask all to hand back their work and end; whoever has not after some seconds is killed."""
        if self._deadline is None:
            self._deadline = time.monotonic() + STOP_SECONDS
            os.close(self._keep_open)

    def close(self) -> None:
        """End whoever is left: nobody is, unless we were interrupted ourselves."""
        self.stop()
        for process in self.running.values():
            process.kill()
            process.join()
        for end in (self._go_on, self._news, self._tell):
            os.close(end)

    def _worker(self) -> None:
        os.close(self._keep_open)
        for number in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C reaches us too, but our parent decides
            signal.signal(number, signal.SIG_IGN)
        url, batch_id = self._arguments
        engine = open_engine(url)
        name = worker_name()
        while not self._told_to_stop(0):
            done = work(engine, None, worker=name, cancelled=lambda: self._told_to_stop(0), batch_id=batch_id)
            if done is not None:
                os.write(self._tell, NEWS.pack(done.answered))
            elif not chunks.unfinished(engine, batch_id) or self._told_to_stop(0.1):
                return

    def _told_to_stop(self, seconds: float) -> bool:
        return bool(select.select([self._go_on], [], [], seconds)[0])
