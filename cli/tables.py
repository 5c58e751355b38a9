"""Pattern databases on this machine: ``unjam tables``."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import rich_click as click

from cli.output import json_line, write_out

if TYPE_CHECKING:
    from unjam._kernels import Control
    from unjam.search.partitions import Table

NAMES = click.argument("names", nargs=-1, required=True, metavar="NAME...")
WATCH_SECONDS = 0.1


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
    from unjam.search.tables import folder, path_of, stored

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
    grid.add_column("MB", justify="right")
    grid.add_column("built")
    for row in rows:
        grid.add_row(str(row["name"]), f"{int(str(row['bytes'])) / 1e6:,.1f}", "yes" if row["built"] else "no")
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
    from unjam.search import tables as files

    for table in _named(names):
        size = sum(table.entries)
        _watched(f"building {table.name}", size, partial(files.build, table, again=again))
        files.open_table(table)
        click.echo(f"{files.path_of(table)}: {size:,} bytes")


@tables.command()
@NAMES
def verify(names: tuple[str, ...]) -> None:
    """Check tables: the checksum, and boards solved with the table and without it.

    \b
    unjam tables verify 4x4-6-6-3
    """
    from unjam.search import tables as files

    for table in _named(names):
        entries = files.open_table(table)
        _watched(f"verifying {table.name}", None, partial(files.spot_check, table, entries, boards=200))
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


def _watched(what: str, total: int | None, work: Callable[[Control], None]) -> None:
    """Do it in a thread, since a signal reaches Python only between two of its own instructions; show how far it is."""
    from cli.progress import progress_bar
    from unjam._kernels import Control

    control = Control()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            work(control)
        except BaseException as error:
            failed.append(error)
        finally:
            ended.set()

    ended = threading.Event()  # an interrupted `join` takes a running thread for ended (Python 3.11)
    threading.Thread(target=run, daemon=True).start()
    try:
        done = 0
        with progress_bar() as bar:
            while not ended.wait(WATCH_SECONDS):
                done = max(done, control.expanded)  # the spot checks count from 0 again
                bar.show(what, done, total)
    except BaseException:
        control.cancel()
        ended.wait()
        raise
    if failed:
        raise failed[0]
