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
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess

from sqlalchemy import Engine
from structlog.contextvars import bound_contextvars

from unjam.errors import StoreError, VerificationError
from unjam.puzzles import from_canonical
from unjam.puzzles.rush import Rush
from unjam.search import rush_bulk, split
from unjam.search.solution import Outcome, Solution, ended
from unjam.search.solve import choose, solve
from unjam.search.verify import verify
from unjam.settings import get_settings
from unjam.sharing import failure, patience_with, share, work_on_slice
from unjam.store import batches, chunks, slices
from unjam.store.chunks import Lease, Task
from unjam.store.database import open_engine
from unjam.store.found import Answer
from unjam.watch import Watch, stored

log = logging.getLogger(__name__)

CHUNK_SECONDS = 5  # then a chunk's answers are stored and the rest is shared out
REPLAYED = 256  # the Python rules replay one answer in so many, and at least one of each chunk
STOP_SECONDS = 10
RECOVER_SECONDS = 5
IDLE_DEATHS = 10
NEWS = struct.Struct("=I")


@dataclass(frozen=True, slots=True)
class WorkDone:
    """What became of a chunk: puzzles answered, and the chunks that wait for what is left, each with its queue."""

    chunk_id: int
    batch_id: int
    attempt: int
    answered: int
    waiting: list[tuple[int, str]]


def work(
    engine: Engine,
    *,
    worker: str,
    queue: str = "bulk",
    batch_id: int | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> WorkDone | None:
    """Take the next chunk, of a queue or a batch, and solve it for some seconds; None when there is none to take.

    ``cancelled`` is asked many times a second, from another thread: once it says yes, the running search ends, and what
    is not answered waits for another worker.
    """
    seconds = get_settings().lease_seconds
    held = stored(lambda: chunks.lease(engine, worker, queue=queue, batch_id=batch_id, seconds=seconds))
    if held is None:
        return None
    with bound_contextvars(batch=held.batch_id, chunk=held.chunk_id, attempt=held.attempts):
        return _work_on(engine, held, cancelled, seconds)


def _work_on(engine: Engine, held: Lease, cancelled: Callable[[], bool], seconds: float) -> WorkDone:
    if held.checkpoint_id is not None:
        given = work_on_slice(engine, held, cancelled, seconds)
        return WorkDone(held.chunk_id, held.batch_id, held.attempts, int(given.answered), _bulk(given.waiting))
    shared: list[int] = []
    sample = {*random.sample(held.tasks, -(-len(held.tasks) // REPLAYED))}
    end = time.monotonic() + CHUNK_SECONDS
    with Watch(engine, held, cancelled, seconds) as watch:
        answers = _search_many(held, sample, watch)
        answered_tasks = {(answer.puzzle_id, answer.solution.metric) for answer in answers}
        for task in held.tasks:
            if watch.stopped or ((answers or shared) and time.monotonic() > end):
                break
            if (task.puzzle_id, task.metric) in answered_tasks:
                continue
            solution = _search(engine, held, task, watch, replay=task in sample)
            if isinstance(solution, list):
                shared += solution
                continue
            if watch.stopped and solution.outcome is Outcome.BOUNDED:
                break
            answers.append(Answer(task.puzzle_id, solution))
    for answer in answers:
        if answer.solution.outcome is Outcome.FAILED:
            log.error("puzzle %d, %s: failed: %s", answer.puzzle_id, answer.solution.metric, answer.solution.reason)
    left = stored(lambda: chunks.finish(engine, held, answers, split=not watch.stopped))
    answered = 0 if left is None else len(answers)  # None: the lease was lost, and the answers with it
    waiting = [(chunk, held.queue) for chunk in left or []] + _bulk(shared)
    return WorkDone(held.chunk_id, held.batch_id, held.attempts, answered, waiting)


def _bulk(shared: list[int]) -> list[tuple[int, str]]:
    return [(chunk, slices.QUEUE) for chunk in shared]


def worker_name(pid: int | None = None) -> str:
    """Host and process (this one, or another of this host), as leases and attempts name a worker."""
    return f"{socket.gethostname()}:{pid or os.getpid()}"


def _search_many(held: Lease, sample: set[Task], watch: Watch) -> list[Answer]:
    """The answers to boards of rush, as far as one call of the kernel gives them in the time of a chunk."""
    if held.algorithm not in (None, rush_bulk.METHOD.algorithm) or held.heuristic is not None:
        return []
    answers: list[Answer] = []
    end = time.monotonic() + CHUNK_SECONDS
    tasks = [task for task in held.tasks if task.family == Rush.family]
    for metric in dict.fromkeys(task.metric for task in tasks):
        asked = [task for task in tasks if task.metric == metric]
        boards = [task.canonical for task in asked]
        found = rush_bulk.solve_many(boards, metric, held.budget, end - time.monotonic(), watch.next_search())
        for task, solution in zip(asked, found, strict=False):
            if solution is not None:
                answers.append(Answer(task.puzzle_id, _replayed(task, solution) if task in sample else solution))
    return answers


def _replayed(task: Task, solution: Solution) -> Solution:
    try:
        verify(from_canonical(task.family, task.canonical), solution)
    except VerificationError as error:
        return _not_replayed(solution, error)
    return solution


def _not_replayed(solution: Solution, error: VerificationError) -> Solution:
    return replace(solution, outcome=Outcome.FAILED, length=None, reason=f"does not replay: {error}")


def _search(engine: Engine, held: Lease, task: Task, watch: Watch, *, replay: bool) -> Solution | list[int]:
    """Whatever goes wrong with one puzzle is its answer, and does not touch its neighbours.

    A search that takes long is shared with all workers, where it can be: then the chunks of its slices.
    """
    try:
        puzzle = from_canonical(task.family, task.canonical)
        method = choose(puzzle, task.metric, held.algorithm, held.heuristic)
        patience = patience_with(puzzle, held, task.metric, method)
        if patience < inf:
            split.prepare(puzzle, method, watch.next_search(), held.budget.seconds)
        solution = solve(
            puzzle,
            task.metric,
            held.budget if patience == inf else replace(held.budget, seconds=patience),
            algorithm=held.algorithm,
            heuristic=held.heuristic,
            control=watch.next_search(),
        )
        if replay:
            verify(puzzle, solution)
    except VerificationError as error:
        return _not_replayed(solution, error)
    except Exception as error:
        return failure(task, error)
    if patience < inf and solution.reason == ended("seconds"):
        return share(engine, held, task, puzzle, solution, watch)
    return solution


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
        done = batches.progress(engine, batch_id).done
        engine.dispose()  # its connections are not for the forked
        for _ in range(processes):
            pool.fork()
        recovered, killed = time.monotonic(), set[str]()
        while pool.running:
            on_progress(done)
            done += pool.news(0.1)
            if stop():
                pool.stop()
            for name in pool.killed():
                held = stored(partial(chunks.recover, engine, worker=name))
                pool.replace(worked=held.leases > 0)
                killed.add(name)
            if time.monotonic() - recovered > RECOVER_SECONDS:
                # what processes of another machine, or of an earlier run, held; and what Postgres gave the killed ones
                # when it had not noticed yet
                for lost in (None, *(killed - pool.running.keys())):
                    stored(partial(chunks.recover, engine, worker=lost))
                recovered = time.monotonic()
        on_progress(batches.progress(engine, batch_id).done)  # a level that is there twice was told once
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
        self.running[worker_name(process.pid)] = process

    def replace(self, *, worked: bool) -> None:
        """Fork a new one for a killed one; raises StoreError when they die before they have any work."""
        self._idle_deaths = 0 if worked else self._idle_deaths + 1
        if self._idle_deaths > IDLE_DEATHS:
            raise StoreError("worker processes are killed as soon as they start: is the memory too small for so many?")
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
            done = work(engine, worker=name, cancelled=lambda: self._told_to_stop(0), batch_id=batch_id)
            if done is not None:
                os.write(self._tell, NEWS.pack(done.answered))
            elif not stored(lambda: chunks.unfinished(engine, batch_id)) or self._told_to_stop(0.1):
                return

    def _told_to_stop(self, seconds: float) -> bool:
        return bool(select.select([self._go_on], [], [], seconds)[0])
