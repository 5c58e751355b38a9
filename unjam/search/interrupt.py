"""Work that Ctrl-C stops: in a thread, since a signal reaches Python only between two of its own instructions."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeVar

from unjam._kernels import Control

WATCH_SECONDS = 0.1

T = TypeVar("T")


def interruptibly(work: Callable[[Control], T], watch: Callable[[Control], object] = lambda control: None) -> T:
    """What ``work`` returns, or raises. ``watch`` is called again and again meanwhile.

    A KeyboardInterrupt, or what ``watch`` raises, is raised after the work was cancelled and has ended.
    """
    control = Control()
    began = threading.Event()
    ended = threading.Lock()  # as long as it is held, the work has not ended; an event would take longer
    ended.acquire()
    answers: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        began.set()
        try:
            answers.append(work(control))
        except BaseException as error:
            errors.append(error)

    try:
        thread = _idle.pop() if _idle else _Thread()
        thread.give(run, ended)
        while not ended.acquire(timeout=WATCH_SECONDS):
            watch(control)
    except BaseException:
        control.cancel()
        if not (answers or errors):  # else it has ended, and who was interrupted may have taken the lock already
            # Interrupted above, the work may never have been given to a thread.
            ended.acquire(timeout=-1 if began.is_set() else 1)
        raise
    if errors:
        raise errors[0]
    return answers[0]


class _Thread:
    """Does what it is given, and is idle until it is given more: to start one takes longer than many a search."""

    def __init__(self) -> None:
        self._given: SimpleQueue[tuple[Callable[[], None], threading.Lock]] = SimpleQueue()
        threading.Thread(target=self._serve, name="unjam-search", daemon=True).start()

    def give(self, run: Callable[[], None], ended: threading.Lock) -> None:
        """Call ``run``, and then release ``ended``."""
        self._given.put((run, ended))

    def _serve(self) -> None:
        while True:
            self._do(*self._given.get())  # no name here keeps what was done

    def _do(self, run: Callable[[], None], ended: threading.Lock) -> None:
        run()
        _idle.append(self)
        ended.release()


_idle: list[_Thread] = []
os.register_at_fork(after_in_child=_idle.clear)  # a child has none of the threads
