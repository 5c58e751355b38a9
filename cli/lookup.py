"""``unjam lookup``: what the store knows about boards, in any orientation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import rich_click as click

from cli.options import Source, as_json, metric, open_store, takes_levels
from cli.output import takes_output, write_rows

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from unjam.packs import Entry
    from unjam.puzzles.puzzle import Metric

AT_ONCE = 1000  # levels in one round trip


@click.command()
@takes_levels
@metric
@as_json
@takes_output
@click.pass_context
def lookup(
    ctx: click.Context,
    source: Source,
    metric: Metric | None,
    as_json: bool,
    output: str | None,
    output_format: str | None,
) -> None:
    """Show the stored answers of levels, or boards, without solving anything.

    A board is found however it is turned or mirrored, and its moves are given in its own orientation. Without --metric
    the answers in all metrics are shown. The exit code is 1 if of a level nothing is stored, or only bounds, or
    another count than the pack claims.

    \b
    unjam lookup levels.jsonl --metric slide
    unjam lookup --family rush --board ooooooooooooAAoooBoooooBoooooooooooo
    cat boards.txt | unjam lookup - --family rush --json
    """
    from cli.report import Report

    report = Report(unanswered="not stored")
    with open_store() as (_, engine), source.entries() as entries:
        rows: Iterable[Mapping[str, Any]] = stored(engine, entries, metric)
        if as_json and output is not None:
            rows = list(rows)  # to be written twice
        write_rows(lambda: rows, report, as_json, output, output_format)
    report.show(as_json, moves=source.pack is None)
    ctx.exit(report.exit_code)


def stored(engine: Engine, entries: Iterator[Entry], metric: Metric | None) -> Iterator[Mapping[str, Any]]:
    """A row for each stored answer of each entry, in their order; for one without any, a row without an outcome."""
    from unjam.store.answers import known_holds
    from unjam.store.lookup import lookup as look_up

    while some := list(islice(entries, AT_ONCE)):
        errors = [_why_not(entry, metric) for entry in some]
        good = [entry.puzzle for entry, error in zip(some, errors, strict=True) if entry.puzzle and error is None]
        found = iter(look_up(engine, [(puzzle, metric) for puzzle in good]))
        for entry, error in zip(some, errors, strict=True):
            about = {"index": entry.index, "name": entry.name}
            if entry.puzzle is None or error is not None:
                yield about | {"line": entry.line, "error": error}
                continue
            for row in next(found) or [{"family": entry.puzzle.family, "metric": metric, "outcome": None}]:
                yield about | row | {"known": entry.known, "known_ok": known_holds(entry.known, row)}


def _why_not(entry: Entry, metric: Metric | None) -> str | None:
    """Why an entry cannot be looked up: it is bad, or its family has no such metric."""
    from unjam.errors import UnjamError

    if entry.puzzle is None or metric is None:
        return entry.error
    try:
        entry.puzzle.check_metric(metric)
    except UnjamError as error:
        return str(error)
    return None
