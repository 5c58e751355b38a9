"""Pattern databases on this machine: ``unjam tables``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import rich_click as click

from cli.output import json_line, write_out

if TYPE_CHECKING:
    from unjam.search.partitions import Table

NAMES = click.argument("names", nargs=-1, required=True, metavar="NAME...")


@click.group()
def tables() -> None:
    """Pattern databases for tiles: build them, check them, remove them.

    They are kept in the folder UNJAM_TABLES, by default in the user's cache. Solving uses the best that is there; only
    the small one for 4x4 boards is built unasked.

    \b
    unjam tables list --all
    unjam tables build 4x4-7-8
    """


@tables.command("list")
@click.option("--all", "everything", is_flag=True, help="Also those that could be built.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object a table.")
def list_tables(everything: bool, as_json: bool) -> None:
    """Show the tables that are there.

    \b
    unjam tables list
    unjam tables list --all
    """
    from unjam.search.partitions import all_tables
    from unjam.search.table_files import folder
    from unjam.search.tables import path_of, stored

    built = stored()
    listed = built + [table for table in all_tables() if everything and table not in built]
    rows = [
        {
            "name": table.name,
            "bytes": sum(table.entries),
            "built": table in built,
            "path": str(path_of(table)),
        }
        for table in listed
    ]
    if as_json:
        write_out(map(json_line, rows), None)
        return
    from rich.table import Table as Grid

    from cli.report import console

    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    grid.add_column("table")
    grid.add_column("bytes", justify="right")
    grid.add_column("built")
    for row in rows:
        grid.add_row(str(row["name"]), f"{row['bytes']:,}", "yes" if row["built"] else "no")
    console().print(grid)
    click.echo(f"in {folder()}", err=True)


@tables.command()
@NAMES
@click.option("--again", is_flag=True, help="Also where it is there already, whole or not.")
def build(names: tuple[str, ...], again: bool) -> None:
    """Build tables, unless they are there.

    A table is checked against plain search before it gets its place. Several processes may build at once: one does
    it, the others wait.

    \b
    unjam tables build 4x4-7-8
    unjam tables build --again 4x4-6-6-3-blank-5
    """
    from cli.progress import watched
    from unjam.search import tables as files

    for table in _named(names):
        size = sum(table.entries)
        watched(f"building {table.name}", size, partial(files.build, table, again=again))
        files.open_table(table)
        click.echo(f"{files.path_of(table)}: {size:,} bytes")


@tables.command()
@NAMES
def verify(names: tuple[str, ...]) -> None:
    """Check tables: the checksum, and boards solved with the table and without it.

    \b
    unjam tables verify 4x4-6-6-3
    """
    from cli.progress import watched
    from unjam.search import tables as files

    for table in _named(names):
        entries = files.open_table(table)
        watched(f"verifying {table.name}", None, partial(files.spot_check, table, entries, boards=200))
        click.echo(f"{table.name} holds")


@tables.command()
@NAMES
def remove(names: tuple[str, ...]) -> None:
    """Remove tables. Searches that are running keep theirs until they end.

    \b
    unjam tables remove 4x4-7-8
    """
    from unjam.search import tables as files

    for table in _named(names):
        files.remove(table)
        click.echo(f"{table.name} is removed")


def _named(names: tuple[str, ...]) -> list[Table]:
    from unjam.search.partitions import named

    return [named(name) for name in names]
