"""``unjam hint``: what to do next in a position, and how many moves are left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import rich_click as click

from cli.options import Source, as_json, metric, store_at_hand, takes_budget, takes_levels
from cli.output import json_line, write_out
from cli.report import title

if TYPE_CHECKING:
    from unjam.packs import Entry
    from unjam.puzzles.puzzle import Metric
    from unjam.search.hint import Stored
    from unjam.search.solution import Budget


@click.command()
@takes_levels
@metric
@takes_budget(seconds=10)
@as_json
@click.pass_context
def hint(ctx: click.Context, source: Source, metric: Metric | None, budget: Budget, as_json: bool) -> None:
    """Tell the next move of a shortest way to the goal, and how many moves are left.

    The answer comes from an atlas or the store where it is there, else from a search. A store that would have to be
    started is left alone. The exit code is 1 if of a position no optimal move is proven: it is a dead end, or the
    budget ended; at a goal it is 0.

    \b
    unjam hint --family rush --board ooooooooooooAAoooBoooooBoooooooooooo
    unjam hint --family tiles --board "8 6 7/2 5 4/3 0 1" --metric slide --json
    """
    unproven = False
    with store_at_hand() as stored, source.entries() as entries:
        for entry in entries:
            row = _hinted(entry, metric, budget, stored)
            write_out([json_line(row) if as_json else f"{_line(row)}\n".encode()], None)
            unproven = unproven or row.get("outcome") != "optimal"
    ctx.exit(int(unproven))


def _hinted(entry: Entry, metric: Metric | None, budget: Budget, stored: Stored | None) -> dict[str, Any]:
    from unjam.errors import MetricError
    from unjam.search.hint import hint as find_hint

    row = {"index": entry.index, "name": entry.name}
    if entry.puzzle is None:
        return row | {"line": entry.line, "error": entry.error}
    try:
        found = find_hint(entry.puzzle, metric or entry.metric, budget, stored=stored)
    except MetricError as error:
        return row | {"line": entry.line, "error": str(error)}
    return row | {"family": entry.puzzle.family} | found.fields(entry.puzzle)


def _line(row: Mapping[str, Any]) -> str:
    """The same for people."""
    if row.get("error"):
        return f"line {row['line']}: {row['error']}"
    return f"{title(row)}: {row['metric']}: {_advice(row)}"


def _advice(row: Mapping[str, Any]) -> str:
    match row["outcome"]:
        case "optimal" if row["moves_left"] == 0:
            return "this is the goal"
        case "optimal":
            moves = " or ".join(move["move"] for move in row["moves"])
            return f"{moves}; {row['moves_left']} left ({row['source']})"
        case "bounded":
            bounds = f"at least {row['lower']}" if row["upper"] is None else f"{row['lower']} to {row['upper']}"
            advice = f"not within budget: {bounds} left ({row['reason']})"
            if row["unproven"]:
                advice += f"; the best solution found begins with {row['unproven']['move']}, not proven optimal"
            return advice
        case outcome:
            return f"{outcome}: {row['reason']}"
