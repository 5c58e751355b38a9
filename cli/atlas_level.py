"""The whole state graph of single levels: ``unjam atlas level``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import rich_click as click

from cli.options import Source, as_json, metric, takes_budget, takes_levels
from cli.output import json_line, write_out
from cli.report import title

if TYPE_CHECKING:
    from unjam._kernels import Control
    from unjam.packs import Entry
    from unjam.puzzles.puzzle import Metric
    from unjam.search.level_atlas import LevelAtlas
    from unjam.search.solution import Budget


@click.command()
@takes_levels
@metric
@takes_budget()
@click.option("--index", type=click.IntRange(min=0), help="Only the level with this index in the pack, from 0.")
@click.option("--name", help="Only the levels of this name.")
@click.option("--hardest", type=click.IntRange(0, 1000), default=1, show_default=True, help="Hardest starts to show.")
@click.option("--save", is_flag=True, help="Keep the atlas of each level in the folder of tables.")
@as_json
@click.pass_context
def level(
    ctx: click.Context,
    source: Source,
    metric: Metric | None,
    budget: Budget,
    index: int | None,
    name: str | None,
    hardest: int,
    save: bool,
    as_json: bool,
) -> None:
    """Explore levels of klotski, rush and parkout: every position that can be reached.

    Shows how many positions there are at each distance from the nearest goal, the dead ends from which none can be
    reached, how many shortest solutions the level has, and the hardest starts. An atlas that was saved is used instead
    of a search. The exit code is 1 if a budget ended, or an entry is bad.

    \b
    unjam atlas level --family rush --board ooooooooooooAAoooBoooooBoooooooooooo
    unjam atlas level levels.jsonl --index 3 --metric step --save
    unjam atlas level levels.jsonl --json --hardest 10
    """
    failed = shown = False
    with source.entries() as entries:
        for entry in entries:
            if (index is not None and entry.index != index) or (name is not None and entry.name != name):
                continue
            row = _explored(entry, metric, budget, hardest, save)
            write_out([json_line(row)] if as_json else [line.encode() + b"\n" for line in _lines(row)], None)
            shown, failed = True, failed or row.get("outcome") != "complete"
    if not shown:
        raise click.UsageError("there is no such level")
    ctx.exit(int(failed))


def _explored(entry: Entry, metric: Metric | None, budget: Budget, hardest: int, save: bool) -> dict[str, Any]:
    """The row of a level."""
    from cli.progress import watched
    from unjam.errors import MetricError, SearchError

    row: dict[str, Any] = {"index": entry.index, "name": entry.name}
    if entry.puzzle is None:
        return row | {"line": entry.line, "error": entry.error}
    try:
        chosen = entry.puzzle.check_metric(metric or entry.metric)
        row |= {"family": entry.puzzle.family, "metric": chosen, "key": entry.puzzle.key.hex()}
        atlas, reason = _atlas(entry, chosen, budget, title(row))
    except (MetricError, SearchError) as error:
        return row | {"line": entry.line, "error": str(error)}
    if atlas is None:
        return row | {"outcome": "bounded", "reason": reason}
    start = atlas.level.start()
    path = watched(f"saving {title(row)}", None, atlas.save) if save else None
    return row | {
        "outcome": "complete",
        "states": atlas.states,
        "length": atlas.moves_left(start),
        "solutions": str(watched(f"counting {title(row)}", None, partial(_solutions, atlas))),
        "counts": atlas.counts,
        "dead_ends": atlas.dead_ends,
        "farthest": atlas.depth,
        "hardest": [atlas.level.format(state).replace("\n", "/") for state in atlas.hardest(hardest)],
        "path": None if path is None else str(path),
    }


def _atlas(entry: Entry, metric: Metric, budget: Budget, called: str) -> tuple[LevelAtlas | None, str | None]:
    """The atlas that is kept, or one that is made now, or the reason why there is none."""
    from cli.progress import watched
    from unjam.errors import TableError
    from unjam.search.level_atlas import explore, find_level_atlas
    from unjam.search.solution import ended
    from unjam.search.table_files import warn

    puzzle = entry.puzzle
    assert puzzle is not None
    kept = find_level_atlas(puzzle, metric)
    if isinstance(kept, TableError):
        warn(kept)
    elif kept is not None:
        return kept, None
    found = watched(f"exploring {called}", None, lambda control: explore(puzzle, metric, budget, control=control))
    return found.atlas, found.reason and f"{ended(found.reason)} after {found.states:,} positions"


def _solutions(atlas: LevelAtlas, control: Control) -> int:
    return atlas.solutions(atlas.level.start(), control=control)


def _lines(row: dict[str, Any]) -> Iterator[str]:
    """The same for people."""
    if row.get("error"):
        yield f"line {row['line']}: {row['error']}"
        return
    if row["outcome"] == "bounded":
        yield f"{title(row)}: {row['reason']}"
        return
    yield f"{title(row)}: {row['metric']}, {row['states']:,} positions"
    if row["length"] is None:
        yield "no goal can be reached from the start"
    else:
        yield f"moves from the start: {row['length']}; shortest solutions: {int(row['solutions']):,}"
    for distance, count in enumerate(row["counts"]):
        yield f"{distance:3} {count:>13,}"
    if row["dead_ends"]:
        yield f"{row['dead_ends']:>17,} dead ends"
    if row["hardest"]:
        yield f"the farthest, {row['farthest']} moves from the goal:"
        yield from row["hardest"]
    if row["path"]:
        yield f"kept as {row['path']}"
