"""Batches for the workers: ``unjam submit``, ``status``, ``results`` and ``cancel``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import rich_click as click

from cli.options import Name, Source, as_json, open_store, takes_levels, takes_search
from cli.output import json_line, takes_output, write_out, write_rows

if TYPE_CHECKING:
    from rich.table import Table
    from sqlalchemy import Engine

    from unjam.puzzles.puzzle import Metric
    from unjam.search.solution import Budget
    from unjam.store.batches import BatchProgress, Queue

batch_argument = click.argument("batch", type=click.IntRange(min=1))


@click.command()
@takes_levels
@takes_search
@click.option("--queue", type=click.Choice(["bulk", "interactive"]), default="bulk", show_default=True)
@click.option("--name", type=Name(), help="Name of the batch.  [default: the name of the pack]")
@click.option("--json", "as_json", is_flag=True, help="Write what was accepted as JSON.")
def submit(
    source: Source,
    metric: Metric | None,
    budget: Budget,
    algorithm: str | None,
    heuristic: str | None,
    distributed: bool,
    queue: Queue,
    name: str | None,
    as_json: bool,
) -> None:
    """Hand the levels of a pack, or boards, to the workers, and print the number of the batch.

    What is printed is accepted and never lost, whatever happens to brokers and workers. Bad entries belong to the
    batch: its results report them.

    \b
    unjam submit levels.jsonl --metric slide
    unjam results $(unjam submit levels.jsonl) --wait
    """
    from unjam.store import batches

    with open_store() as (_, engine):
        with source.entries() as entries:
            batch = batches.submit(
                engine,
                entries,
                metric=metric,
                budget=budget,
                queue=queue,
                name=name or source.name,
                algorithm=algorithm,
                heuristic=heuristic,
                distributed=distributed,
            )
        _announce(batch.chunks, queue)
    if as_json:
        write_out([json_line({key: value for key, value in asdict(batch).items() if key != "chunks"})], None)
        return
    click.echo(batch.batch_id)
    click.echo(
        f"{batch.levels:,} {'level' if batch.levels == 1 else 'levels'}: {batch.answered:,} answered already, "
        f"{batch.new:,} to solve, {batch.bad:,} bad",
        err=True,
    )


@click.command()
@click.argument("batch", type=click.IntRange(min=1), required=False)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a batch to standard output.")
def status(batch: int | None, as_json: bool) -> None:
    """Show how far a batch is and what came of it, or how far the newest hundred are.

    \b
    unjam status
    unjam status 12
    """
    from cli.progress import shared_searches
    from unjam.store import batches

    with open_store() as (_, engine):
        found = batches.list_batches(engine) if batch is None else [batches.status(engine, batch)]
        shared = "" if batch is None or as_json else shared_searches(engine, batch)
    if as_json:
        write_out((json_line(asdict(each)) for each in found), None)
        return
    from cli.report import console

    console().print(_table(found))
    if shared:
        console().print(f"on many workers: {shared}")


@click.command()
@batch_argument
@click.option("--wait", is_flag=True, help="Wait until the batch is done.")
@as_json
@takes_output
@click.pass_context
def results(
    ctx: click.Context, batch: int, wait: bool, as_json: bool, output: str | None, output_format: str | None
) -> None:
    """Show the answers of a batch, in the order of its pack.

    \b
    unjam results 12 --wait
    unjam results 12 --json > answers.jsonl
    """
    from cli.report import Report
    from unjam.store import batches

    with open_store() as (_, engine):
        if wait:
            _wait(engine, batch)
        running = batches.progress(engine, batch).state == "running"
        report = Report(unanswered="waiting" if running else "cancelled")
        write_rows(lambda: batches.results(engine, batch), report, as_json, output, output_format)
    report.show(as_json)
    ctx.exit(report.exit_code)


@click.command()
@batch_argument
def cancel(batch: int) -> None:
    """Stop a batch; what it has solved stays.

    \b
    unjam cancel 12
    """
    from unjam.store import batches

    with open_store() as (_, engine):
        batches.cancel(engine, batch)
        state = batches.progress(engine, batch)
    click.echo(f"batch {batch} is {state.state}: {state.done:,} of {state.levels:,} levels are answered")


def _announce(chunks: list[int], queue: Queue) -> None:
    """Tell the workers now; if that fails the reconciler does it later."""
    from unjam.settings import get_settings
    from unjam.store.redis import broker_url

    if not chunks or broker_url(get_settings()) is None:
        return
    from kombu.exceptions import OperationalError

    from worker.tasks import announce

    try:
        announce([(chunk, queue) for chunk in chunks])
    except OperationalError as error:
        click.echo(f"the broker does not answer ({error}): the reconciler will announce the batch", err=True)


def _wait(engine: Engine, batch: int) -> None:
    from time import sleep

    from cli.progress import Solving, progress_bar
    from unjam.store import batches

    with progress_bar() as bar:
        while (now := batches.progress(engine, batch)).state == "running":
            Solving(bar, engine, batch, now.levels)(now.done)
            sleep(0.5)


def _table(found: Sequence[BatchProgress]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from unjam.store.batches import BatchStatus

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    detailed = [each for each in found if isinstance(each, BatchStatus)]
    for column in ("batch", "levels", "done", *(("open", "bad") if detailed else ())):
        table.add_column(column, justify="right")
    for column in ("state", "created", "key", "name"):
        table.add_column(column)
    for each in found:
        counts = [each.levels, each.done]
        if isinstance(each, BatchStatus):
            counts += [each.outcomes.get("bounded", 0) + each.outcomes.get("failed", 0), each.bad]
        created = f"{each.created.astimezone():%Y-%m-%d %H:%M}"
        names = (Text(each.key or ""), Text(each.name or ""))
        table.add_row(str(each.batch_id), *map("{:,}".format, counts), each.state, created, *names)
    return table
