"""``unjam top``: what goes on, live."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import rich_click as click

from cli.options import Seconds, open_store
from cli.output import json_line, write_out

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from unjam.store.overview import Overview

SHOWN = 20  # batches, and workers


@click.command()
@click.option("--interval", type=Seconds(0.2, 3600), default=2.0, show_default=True, help="Seconds between two looks.")
@click.option("--once", is_flag=True, help="Look twice, for rates, print once and end.")
@click.option("--json", "as_json", is_flag=True, help="Write what is now as one JSON object and end.")
def top(interval: float, once: bool, as_json: bool) -> None:
    """Show batches that run, queues and workers, until Ctrl-C.

    \b
    unjam top
    unjam top --once
    unjam top --json
    """
    from time import sleep

    from cli.report import console
    from unjam.store.overview import overview

    with open_store() as (_, engine):
        before = now = overview(engine)
        if as_json:
            write_out([json_line(asdict(now))], None)
            return
        if once:
            sleep(interval)
            console().print(_screen(before, overview(engine)))
            return
        from rich.live import Live

        from cli.interrupt import interruptible

        with (
            interruptible() as stop,
            Live(_screen(before, now), console=console(), screen=True, auto_refresh=False) as live,
        ):
            while not stop.wait(interval):
                before, now = now, overview(engine)
                live.update(_screen(before, now), refresh=True)


def _screen(before: Overview, now: Overview) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    heading = f"{now.now.astimezone():%H:%M:%S}  {now.running:,} batches running, {len(now.workers):,} workers"
    parts: list[RenderableType] = [Text(heading, style="bold"), "", _queues(now)]
    if now.batches:
        parts += ["", _batches(before, now)]
    if now.workers:
        parts += ["", _workers(before, now)]
    return Group(*parts)


def _table(*columns: str) -> Table:
    """The first column to the left, figures to the right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=True)
    return table


def _queues(now: Overview) -> Table:
    table = _table("queue", "waiting", "oldest", "running")
    for each in now.queues:
        table.add_row(each.queue, f"{each.waiting:,}", _since(now.now, each.oldest_waiting), f"{each.running:,}")
    return table


def _batches(before: Overview, now: Overview) -> Table:
    from rich.text import Text

    table = _table("batch", "done", "of", "", "levels/s", "ETA", "name")
    earlier = {each.batch_id: each.done for each in before.batches}
    seconds = (now.now - before.now).total_seconds()
    for each in now.batches[:SHOWN]:
        done = each.done - earlier.get(each.batch_id, each.done)
        rate = done / seconds if seconds > 0 else 0.0
        eta = _span(timedelta(seconds=(each.levels - each.done) / rate)) if rate > 0 else "-"
        share = f"{each.done / each.levels:.0%}" if each.levels else ""
        name = Text(each.name or "")
        table.add_row(str(each.batch_id), f"{each.done:,}", f"{each.levels:,}", share, f"{rate:,.1f}", eta, name)
    return table


def _workers(before: Overview, now: Overview) -> Table:
    table = _table("worker", "batch", "chunk", "attempt", "since", "answered", "nodes/s")
    earlier = {each.worker: each for each in before.workers}
    for each in now.workers[:SHOWN]:
        held = (each.batch_id, each.chunk_id, each.attempt)
        rate = "-"
        last = earlier.get(each.worker)
        if last is not None and last.seen and each.seen and each.seen > last.seen:
            # what it told last, by the time since it told before: it tells when a chunk ends, or a lease is renewed
            rate = f"{(each.generated - last.generated) / (each.seen - last.seen).total_seconds():,.0f}"
        table.add_row(
            each.worker,
            *("-" if one is None else str(one) for one in held),
            _since(now.now, each.since),
            f"{each.answered:,}",
            rate,
        )
    return table


def _since(now: datetime, then: datetime | None) -> str:
    return "-" if then is None else _span(max(now - then, timedelta()))


def _span(span: timedelta) -> str:
    """``4.2 s``, or ``1:02:03``."""
    return f"{span.total_seconds():.1f} s" if span < timedelta(minutes=1) else str(span).partition(".")[0]
