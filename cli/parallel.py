"""Work on many things at once, by threads: the kernels hold no lock while they search."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from cli.progress import Bar

AHEAD = 1000  # items that are read before the first of them is done, so that a slow one holds up nobody
LOOK_AGAIN = 0.1  # seconds

T = TypeVar("T")
R = TypeVar("R")


def in_order(work: Callable[[T, Callable[[], bool]], R], items: Iterable[T], what: str, bar: Bar) -> Iterator[R]:
    """``work(item, cancelled)`` of each item, in their order, while as many are worked on as there are cores.

    ``cancelled`` says yes when nobody wants the results any more, as after Ctrl-C; the work should then end soon.
    """
    stop = Event()
    waiting: deque[Future[R]] = deque()
    pool = ThreadPoolExecutor(os.cpu_count())
    given = 0

    def first(total: int | None) -> R:
        while not waiting[0].done():
            bar.show(what, given + sum(future.done() for future in waiting), total)
            wait([waiting[0]], LOOK_AGAIN)
        return waiting.popleft().result()

    try:
        for item in items:
            waiting.append(pool.submit(work, item, stop.is_set))
            while len(waiting) == AHEAD or (waiting and waiting[0].done()):
                yield first(None)
                given += 1
        total = given + len(waiting)
        while waiting:
            yield first(total)
            given += 1
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)
