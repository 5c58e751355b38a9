"""``unjam find``: levels of the store by their optimum."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import rich_click as click

from cli.options import FAMILIES, BoardSize, metric, open_store
from cli.output import format_of, takes_output, write_out

if TYPE_CHECKING:
    from unjam.puzzles.puzzle import Metric

COUNT = click.IntRange(0, 2**31 - 1)


@click.command()
@click.option("--family", type=click.Choice(FAMILIES), required=True, help="Family of the levels.")
@metric
@click.option("--min", "fewest", type=COUNT, default=0, show_default=True, help="Fewest moves of a shortest solution.")
@click.option("--max", "most", type=COUNT, help="Most moves of a shortest solution.  [default: any number]")
@click.option("--size", type=BoardSize(), help="Width and height of the board, for example 6x5; also finds 5x6.")
@click.option("--pieces", type=COUNT, help="How many pieces there are.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="Levels at most.")
@click.option("--seed", type=click.IntRange(0), help="Begin anywhere in the store: another seed, other levels.")
@takes_output
@click.pass_context
def find(
    ctx: click.Context,
    family: str,
    metric: Metric | None,
    fewest: int,
    most: int | None,
    size: tuple[int, int] | None,
    pieces: int | None,
    limit: int,
    seed: int | None,
    output: str | None,
    output_format: str | None,
) -> None:
    """Write a pack of solved levels that take so many moves, as JSON Lines or to a file.

    The levels are in canonical form, named by their keys, and say their optimum as known. They come in the order in
    which they came into the store, so the same question has the same answer; --seed begins anywhere instead. The exit
    code is 1 if there is none.

    \b
    unjam find --family rush --min 25 --max 30
    unjam find --family rush --min 25 --max 30 --seed 7 --limit 100 --output levels.csv
    unjam find --family tiles --metric step --size 4x4 --min 50 | unjam solve - --metric slide
    """
    from unjam.packs import read_objects, write_pack
    from unjam.puzzles import FAMILIES as rules
    from unjam.store.find import MOST_MOVES, Wanted
    from unjam.store.find import find as find_levels

    most = MOST_MOVES if most is None else most
    if fewest > most:
        raise click.UsageError("--min is more than --max")
    wanted = Wanted(family, rules[family].check_metric(metric), fewest, most, size, pieces)
    with open_store() as (_, engine):
        levels = read_objects(find_levels(engine, wanted, limit=limit, seed=seed))
        first = next(levels, None)
        if first is None:
            click.echo("no such level is stored", err=True)
            ctx.exit(1)
        pack = write_pack(chain([first], levels), format_of(output, output_format))
        write_out((text.encode() for text in pack), output)
