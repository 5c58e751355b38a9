"""Work that Ctrl-C stops: in a thread, since a signal reaches Python only between two of its own instructions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from unjam._kernels import Control

WATCH_SECONDS = 0.1

T = TypeVar("T")


def interruptibly(work: Callable[[Control], T], watch: Callable[[Control], object] = lambda control: None) -> T:
    """What ``work`` returns, or raises. ``watch`` is called again and again meanwhile.

    A KeyboardInterrupt, or what ``watch`` raises, is raised after the work was cancelled and has ended.
    """
    control = Control()
    ended = threading.Event()  # an interrupted `join` takes a running thread for ended (Python 3.11)
    answers: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(work(control))
        except BaseException as error:
            errors.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=run, name="unjam-search", daemon=True)
    try:
        thread.start()
        while not ended.wait(WATCH_SECONDS):
            watch(control)
    except BaseException:
        control.cancel()
        ended.wait(None if thread.is_alive() else 1)  # interrupted in `start`, which may not have begun it
        raise
    if errors:
        raise errors[0]
    return answers[0]
