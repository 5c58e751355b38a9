"""``unjam convert``: packs from one format to another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import rich_click as click

from cli.options import Source, takes_levels
from cli.output import format_of, takes_output, write_out

if TYPE_CHECKING:
    from unjam.packs import Entry


@click.command()
@takes_levels
@takes_output
@click.pass_context
def convert(ctx: click.Context, source: Source, output: str | None, output_format: str | None) -> None:
    """Check a pack and write it in another format.

    Bad entries are reported on standard error with their lines and left out; the exit code is then 1.

    \b
    unjam convert boards.txt --family rush --output boards.jsonl
    unjam convert levels.jsonl --output-format csv > levels.csv
    """
    from unjam.packs import write_pack

    bad = 0

    def good(entries: Iterator[Entry]) -> Iterator[Entry]:
        nonlocal bad
        for entry in entries:
            if entry.error:
                bad += 1
                click.echo(f"line {entry.line}: {entry.error}", err=True)
            else:
                yield entry

    with source.entries() as entries:
        pieces = write_pack(good(entries), format_of(output, output_format))
        write_out((piece.encode() for piece in pieces), output)
    ctx.exit(int(bad > 0))
