"""Whole state spaces of small boards: ``unjam atlas``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import rich_click as click

from cli.atlas_level import level
from cli.options import BoardSize
from cli.output import json_line, write_out

if TYPE_CHECKING:
    from unjam.puzzles.puzzle import Metric

FARTHEST = 1_000  # boards that are shown

_JSON = click.option("--json", "as_json", is_flag=True, help="Write JSON.")
_METRIC = click.option("--metric", type=click.Choice(["step", "slide"]), default="step", show_default=True)


def _takes_space(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add SIZE, ``--metric`` and ``--blank``."""
    blank = click.option("--blank", type=int, help="Cell where the blank belongs, from 0 by rows.  [default: the last]")
    return click.argument("size", type=BoardSize())(_METRIC(blank(command)))


@click.group()
def atlas() -> None:
    """The exact distance of every board of an n-puzzle of up to 12 cells, and of every position of a level.

    An atlas is kept in the folder UNJAM_TABLES, by default in the user's cache. Where there is one, solving such boards
    takes no search. It serves the goals that have their blank in a corner too, or in any other place that a mirror or
    a turn brings to the same one. Those of klotski, rush and parkout are of single levels.

    \b
    unjam atlas build 3x4 --metric slide
    unjam atlas show 3x4 --metric slide
    unjam atlas level levels.jsonl --hardest 3
    """


atlas.add_command(level)


@atlas.command()
@_takes_space
@click.option("--again", is_flag=True, help="Also where it is there already, whole or not.")
def build(size: tuple[int, int], metric: Metric, blank: int | None, again: bool) -> None:
    """Build an atlas, unless it is there: for 12 cells in some seconds, 60 MB.

    \b
    unjam atlas build 3x3
    unjam atlas build 3x4 --metric slide --blank 0
    """
    from cli.progress import watched
    from unjam.search.atlas import build_tiles_atlas, space_of

    frame = *size, _blank(size, blank), metric
    space = space_of(*frame)
    watched(f"building {space.name}", space.boards, partial(build_tiles_atlas, *frame, again=again))
    click.echo(f"{space.path}: {space.path.stat().st_size:,} bytes")


@atlas.command("list")
@_JSON
def list_atlases(as_json: bool) -> None:
    """Show the atlases that are there.

    \b
    unjam atlas list
    """
    from unjam.search.atlas import stored
    from unjam.search.level_atlas import stored_levels
    from unjam.search.table_files import folder

    found = [(space.path, space.boards) for space in stored()] + [(file.path, file.states) for file in stored_levels()]
    rows = [
        {"name": path.stem, "boards": boards, "bytes": path.stat().st_size, "path": str(path)} for path, boards in found
    ]
    if as_json:
        write_out(map(json_line, rows), None)
        return
    width = max([46, *(len(path.stem) for path, _ in found)])
    click.echo(f"{'atlas':{width}} {'boards':>13} {'bytes':>12}")
    for row in rows:
        click.echo(f"{row['name']:{width}} {row['boards']:>13,} {row['bytes']:>12,}")
    click.echo(f"in {folder()}", err=True)


@atlas.command()
@_takes_space
@_JSON
def show(size: tuple[int, int], metric: Metric, blank: int | None, as_json: bool) -> None:
    """Show how many boards there are at each depth, and the farthest boards, up to 1,000.

    \b
    unjam atlas show 3x3
    unjam atlas show 3x4 --metric slide --json
    """
    from unjam.search.atlas import open_atlas

    atlas = open_atlas(*size, _blank(size, blank), metric)
    farthest = [puzzle.fields()["board"] for puzzle in atlas.farthest(FARTHEST)]
    if as_json:
        row = {
            "width": atlas.width,
            "height": atlas.height,
            "blank": atlas.blank,
            "metric": metric,
            "boards": sum(atlas.counts),
            "farthest": atlas.depth,
            "counts": atlas.counts,
            "farthest_boards": farthest,
        }
        write_out([json_line(row)], None)
        return
    for depth, count in enumerate(atlas.counts):
        click.echo(f"{depth:3} {count:>13,}")
    click.echo(f"{sum(atlas.counts):,} boards; the farthest, {atlas.depth} {metric}s from the goal:")
    for board in farthest:
        click.echo(board)


@atlas.command()
@click.argument("board")
@_METRIC
@click.option("--goal", help="blank-last, blank-first, or a board.  [default: blank-last]")
@click.option("--moves", is_flag=True, help="Also the tiles of a shortest solution, in their order.")
@_JSON
@click.pass_context
def distance(ctx: click.Context, board: str, metric: Metric, goal: str | None, moves: bool, as_json: bool) -> None:
    """Look up how far a board is from the goal. The exit code is 1 if it cannot be solved.

    \b
    unjam atlas distance "8 6 7/2 5 4/3 0 1"
    unjam atlas distance "8 6 7/2 5 4/3 0 1" --metric slide --moves
    """
    from unjam.puzzles.tiles import Tiles
    from unjam.search.atlas import open_atlas

    puzzle = Tiles.parse(board, goal=goal)
    atlas = open_atlas(puzzle.width, puzzle.height, puzzle.goal.index(0), metric)
    length = atlas.distance(puzzle)
    solution = atlas.solution(puzzle) if moves else None
    pressed = None if solution is None else puzzle.notation(solution, metric)
    if as_json:
        row = {**puzzle.fields(), "metric": metric, "length": length}
        write_out([json_line({**row, "moves": pressed} if moves else row)], None)
    else:
        click.echo("unsolvable" if length is None else length)
        if pressed:
            click.echo(" ".join(pressed))
    ctx.exit(length is None)


@atlas.command()
@_takes_space
@click.option("--depth", type=int, required=True, help="Moves from the goal, exactly.")
@click.option("--count", type=int, default=1, show_default=True, help="Boards, all different.")
@click.option("--seed", type=int, help="The same seed gives the same boards.  [default: random]")
def sample(size: tuple[int, int], metric: Metric, blank: int | None, depth: int, count: int, seed: int | None) -> None:
    """Write a pack of random boards of an exact depth, each as likely as any other.

    \b
    unjam atlas sample 3x4 --depth 30 --count 5 --seed 1
    unjam atlas sample 3x3 --metric slide --depth 24
    """
    from unjam.packs import Entry, write_pack
    from unjam.search.atlas import open_atlas

    atlas = open_atlas(*size, _blank(size, blank), metric)
    puzzles = atlas.sample(depth, count, seed)
    entries = [Entry(i, i + 1, puzzle, metric, known={metric: depth}) for i, puzzle in enumerate(puzzles)]
    write_out((text.encode() for text in write_pack(entries, "jsonl")), None)


def _blank(size: tuple[int, int], blank: int | None) -> int:
    return size[0] * size[1] - 1 if blank is None else blank
