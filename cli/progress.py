"""A progress bar with rate and remaining time on standard error, if somebody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from cli.options import is_terminal

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from unjam._kernels import Control

LOOK_AGAIN = 1.0  # seconds

T = TypeVar("T")


class Bar:
    """One bar that is moved to a number of done levels."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._task = None if progress is None else progress.add_task("reading", total=None)

    def show(self, what: str, done: int, total: int | None = None) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=what, completed=done, total=total)


class Solving:
    """Moves the bar of a batch, and tells how far the boards are that several workers search."""

    def __init__(self, bar: Bar, engine: Engine, batch_id: int, levels: int) -> None:
        self._bar, self._engine, self._batch_id, self._levels = bar, engine, batch_id, levels
        self._what, self._looked = "solving", 0.0

    def __call__(self, done: int) -> None:
        if is_terminal() and monotonic() - self._looked >= LOOK_AGAIN:
            self._what = shared_searches(self._engine, self._batch_id) or "solving"
            self._looked = monotonic()
        self._bar.show(self._what, done, self._levels)


def shared_searches(engine: Engine, batch_id: int) -> str:
    """In a few words, ``bound 68, 1.25 G nodes`` for one; "" where there is none."""
    from unjam.store import slices

    searches = slices.under_way(engine, batch_id)
    if len(searches) == 1:
        return f"bound {searches[0].bound}, {_short(searches[0].generated)} nodes"
    return f"{len(searches)} shared" if searches else ""


class _Count(ProgressColumn):
    def render(self, task: Task) -> Text:
        total = "" if task.total is None else f"/{_short(task.total)}"
        return Text(f"{_short(task.completed)}{total}", style="progress.download")


class _Remaining(TimeRemainingColumn):
    def render(self, task: Task) -> Text:
        return Text("") if task.total is None else Text("ETA ").append_text(super().render(task))


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        if task.speed is None:
            return Text("")
        speed = f"{task.speed:,.1f}" if task.speed < 1000 else _short(task.speed)
        return Text(f"{speed}/s", style="progress.data.speed")


def _short(number: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6)):
        if number >= size:
            return f"{number / size:.2f} {unit}"
    return f"{number:,.0f}"


@contextmanager
def progress_bar() -> Iterator[Bar]:
    if not is_terminal():
        yield Bar(None)
        return
    whole = Column(no_wrap=True)  # a narrow terminal shortens the bar, not the figures
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        _Count(whole),
        _Rate(whole),
        TimeElapsedColumn(whole),
        _Remaining(table_column=whole),
    )
    with Progress(
        *columns, console=Console(stderr=True), transient=True, speed_estimate_period=10, expand=True
    ) as progress:
        yield Bar(progress)


def watched(what: str, total: int | None, work: Callable[[Control], T]) -> T:
    """What the work returns. Ctrl-C stops it, and how far it is is shown."""
    from unjam.search.interrupt import interruptibly

    done = 0
    with progress_bar() as bar:

        def show(control: Control) -> None:
            nonlocal done
            done = max(done, control.expanded)  # the spot checks count from 0 again
            bar.show(what, done, total)

        return interruptibly(work, show)
