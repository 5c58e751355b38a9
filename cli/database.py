"""The store's database: ``unjam migrate`` and ``unjam db``."""

from __future__ import annotations

import rich_click as click

from cli.options import open_store, without_password
from cli.output import json_line, write_out


@click.command()
def migrate() -> None:
    """Bring the database to this version's schema.

    Everything else does this by itself for the private database. Run it before a new version of the service starts.

    \b
    UNJAM_DATABASE_URL=postgresql://unjam@db/unjam unjam migrate
    """
    with open_store():
        click.echo("the database is up to date")


@click.group()
def db() -> None:
    """Look after the database.

    \b
    unjam db url
    unjam db stats
    """


@db.command()
def url() -> None:
    """Print where the database is.

    The private database runs only while an unjam program does.

    \b
    psql "$(unjam db url)"
    """
    with open_store() as (where, _):
        click.echo(where)


@db.command()
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def stats(as_json: bool) -> None:
    """Count what is stored: answers by family, metric and outcome.

    \b
    unjam db stats
    """
    from unjam.store.lookup import stats as count

    with open_store() as (_, engine):
        rows = count(engine)
    if as_json:
        write_out(map(json_line, rows), None)
        return
    from rich.table import Table

    from cli.report import console

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("family", "metric", "outcome"):
        table.add_column(column)
    table.add_column("puzzles", justify="right")
    for row in rows:
        table.add_row(row["family"], row["metric"], row["outcome"], f"{row['puzzles']:,}")
    console().print(table)


@db.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
def reset(yes: bool) -> None:
    """Delete everything that is stored: answers, batches, all.

    \b
    unjam db reset --yes
    """
    from unjam.store.database import reset as empty

    with open_store() as (where, _):
        if not yes:
            click.confirm(f"delete everything in {without_password(where)}?", abort=True)
        empty(where)
    click.echo("the database is empty")
