"""Ctrl-C and TERM as a request to stop, so that what is done is kept."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType


class Stop(Event):
    """Set by the first signal; a second one, or the first while ``at_once`` holds, is a KeyboardInterrupt."""

    at_once = False


@contextmanager
def interruptible() -> Iterator[Stop]:
    stop = Stop()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.is_set() or stop.at_once:
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
