"""``unjam solve``: a pack or a few boards, solved by the processes of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING

import rich_click as click

from cli.interrupt import interruptible
from cli.options import Source, as_json, open_store, takes_levels, takes_search
from cli.output import takes_output, write_rows

if TYPE_CHECKING:
    from cli.progress import Bar
    from unjam.packs import Entry
    from unjam.puzzles.puzzle import Metric
    from unjam.search.solution import Budget


@click.command()
@takes_levels
@takes_search
@click.option("--processes", type=click.IntRange(min=1, max=1024), help="Processes to use.  [default: one a core]")
@as_json
@takes_output
@click.pass_context
def solve(
    ctx: click.Context,
    source: Source,
    metric: Metric | None,
    budget: Budget,
    algorithm: str | None,
    heuristic: str | None,
    distributed: bool,
    processes: int | None,
    as_json: bool,
    output: str | None,
    output_format: str | None,
) -> None:
    """Solve the levels of a pack, or boards, on this machine.

    Answers are proven, checked and kept: a level that was solved before, in any orientation, costs nothing. Ctrl-C
    stops and keeps what is done; the same command goes on from there.

    \b
    unjam solve levels.jsonl
    unjam solve levels.csv --family rush --metric step --seconds 10
    unjam solve levels.jsonl --json > answers.jsonl
    unjam solve --family tiles --board "8 6 7/2 5 4/3 0 1"
    unjam solve hard.txt --metric step --distributed --seconds 3600
    """
    from cli.progress import Solving, progress_bar, shared_searches
    from cli.report import Report
    from unjam.store import batches
    from unjam.work import drain

    began = perf_counter()
    report = Report()
    with interruptible() as stop, open_store() as (url, engine):
        with progress_bar() as bar, source.entries() as entries:
            stop.at_once = True  # nothing is accepted before all is read
            batch = batches.submit(
                engine,
                _with_tables(_shown(entries, bar), metric, algorithm, heuristic),
                metric=metric,
                budget=budget,
                queue="bulk",
                name=source.name,
                algorithm=algorithm,
                heuristic=heuristic,
                distributed=distributed,
            )
            stop.at_once = False
            report.searched = batch.new
            if batch.new:
                solving = Solving(bar, engine, batch.batch_id, batch.levels)
                drain(url, batch.batch_id, processes or os.cpu_count() or 1, solving, stop.is_set)
        if stop.is_set():
            status = batches.progress(engine, batch.batch_id)
            if status.state == "running":
                done = f"{status.done:,} of {status.levels:,} levels are done and kept"
                if shared_searches(engine, batch.batch_id):
                    done += ", and what the shared searches have found out"
                batches.cancel(engine, batch.batch_id)
                click.echo(f"interrupted: {done}; the same command goes on from there", err=True)
                ctx.exit(130)
        wall = perf_counter() - began
        few = source.pack is None
        moves = few or as_json or output is not None
        write_rows(lambda: batches.results(engine, batch.batch_id, moves=moves), report, as_json, output, output_format)
        report.show(as_json, wall, moves=few)
    ctx.exit(report.exit_code)


def _with_tables(
    entries: Iterator[Entry], metric: Metric | None, algorithm: str | None, heuristic: str | None
) -> Iterator[Entry]:
    """The same levels; TableError at the first that needs a table which cannot be used, before anything is accepted."""
    from unjam.puzzles import from_canonical
    from unjam.search.solve import check_table

    for entry in entries:
        if heuristic == "pdb" and entry.puzzle is not None:
            searched = from_canonical(entry.puzzle.family, entry.puzzle.canonical)
            check_table(searched, metric or entry.metric, algorithm, heuristic)
        yield entry


def _shown(entries: Iterator[Entry], bar: Bar) -> Iterator[Entry]:
    for entry in entries:
        bar.show("reading", entry.index + 1)
        yield entry
