"""A progress bar with rate and remaining time on standard error, if somebody watches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
from rich.text import Text

from cli.options import is_terminal


class Bar:
    """One bar that is moved to a number of done levels."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._task = None if progress is None else progress.add_task("reading", total=None)

    def show(self, what: str, done: int, total: int | None = None) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=what, completed=done, total=total)


class _Count(ProgressColumn):
    def render(self, task: Task) -> Text:
        total = "" if task.total is None else f"/{task.total:,.0f}"
        return Text(f"{task.completed:,.0f}{total}", style="progress.download")


class _Remaining(TimeRemainingColumn):
    def render(self, task: Task) -> Text:
        return Text("") if task.total is None else Text("ETA ").append_text(super().render(task))


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.1f}/s", style="progress.data.speed")


@contextmanager
def progress_bar() -> Iterator[Bar]:
    if not is_terminal():
        yield Bar(None)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        _Count(),
        _Rate(),
        TimeElapsedColumn(),
        _Remaining(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=10) as progress:
        yield Bar(progress)
