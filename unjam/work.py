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
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from types import TracebackType

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from unjam._kernels import Control
from unjam.errors import StoreError, VerificationError
from unjam.puzzles import from_canonical
from unjam.search.solution import Outcome, Solution
from unjam.search.solve import solve
from unjam.search.verify import verify
from unjam.settings import get_settings
from unjam.store import batches, chunks
from unjam.store.chunks import Answer, Lease, Task
from unjam.store.database import open_engine

log = logging.getLogger(__name__)

SLICE_SECONDS = 5  # then a chunk's answers are stored and the rest is shared out
REPLAYED = 32  # the Python rules replay one answer in so many, and at least one of each chunk
STOP_POLL = 0.05
BATCH_POLL = 1.0
STORE_TRIES = 6  # a restart of Postgres must not cost what was just found
STOP_SECONDS = 10
RECOVER_SECONDS = 5
IDLE_DEATHS = 10
NEWS = struct.Struct("=I")


@dataclass(frozen=True, slots=True)
class WorkDone:
    """What became of a chunk: puzzles answered, and the chunks that wait for what is left."""

    chunk_id: int
    batch_id: int
    queue: str
    answered: int
    waiting: list[int]


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
    answers: list[Answer] = []
    sample = random.sample(range(len(held.tasks)), -(-len(held.tasks) // REPLAYED))
    end = time.monotonic() + SLICE_SECONDS
    with _Watch(engine, held, cancelled, seconds) as watch:
        for number, task in enumerate(held.tasks):
            if watch.stopped or (answers and time.monotonic() > end):
                break
            solution = _search(held, task, watch, replay=number in sample)
            if watch.stopped and solution.outcome is Outcome.BOUNDED:
                break
            if solution.outcome is Outcome.FAILED:
                log.error("puzzle %d, %s: failed: %s", task.puzzle_id, task.metric, solution.reason)
            answers.append(Answer(task.puzzle_id, solution))
    waiting = _finish(engine, held, answers, split=not watch.stopped)
    stored = 0 if waiting is None else len(answers)  # None: the lease was lost, and the answers with it
    return WorkDone(held.chunk_id, held.batch_id, held.queue, stored, waiting or [])


def worker_name() -> str:
    """Host and process, as leases and attempts name a worker."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _search(held: Lease, task: Task, watch: _Watch, *, replay: bool) -> Solution:
    """Whatever goes wrong with one puzzle is its answer, and does not touch its neighbours."""
    try:
        puzzle = from_canonical(task.family, task.canonical)
        solution = solve(
            puzzle,
            task.metric,
            held.budget,
            algorithm=held.algorithm,
            heuristic=held.heuristic,
            control=watch.next_search(),
        )
        if replay:
            verify(puzzle, solution)
    except VerificationError as error:
        return replace(solution, outcome=Outcome.FAILED, length=None, reason=f"does not replay: {error}")
    except Exception as error:
        log.debug("puzzle %d, %s", task.puzzle_id, task.metric, exc_info=True)
        return Solution(task.metric, Outcome.FAILED, reason=f"{type(error).__name__}: {error}"[:500])
    return solution


def _finish(engine: Engine, held: Lease, answers: list[Answer], *, split: bool) -> list[int] | None:
    for tries in range(1, STORE_TRIES):
        with suppress(OperationalError):  # Postgres restarts, or the network failed; the token keeps a retry harmless
            return chunks.finish(engine, held, answers, split=split)
        time.sleep(0.1 * 2**tries)
    return chunks.finish(engine, held, answers, split=split)


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
