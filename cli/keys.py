"""API keys: ``unjam keys create``, ``list`` and ``revoke``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import rich_click as click

from cli.options import Name, open_store
from cli.output import json_line, write_out

if TYPE_CHECKING:
    from unjam.store.keys import Key, Scope

MOST = 2**31 - 1  # of either limit, which the store keeps as an integer
as_json = click.option("--json", "as_json", is_flag=True, help="Write JSON.")


@click.group()
def keys() -> None:
    """Who may use the API from other machines.

    \b
    unjam keys create "level editor"
    unjam keys list
    """


@keys.command()
@click.argument("name", type=Name())
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(["read", "submit", "admin"]),
    multiple=True,
    default=("read", "submit"),
    show_default=True,
    help="What it allows. May be given repeatedly.",
)
@click.option(
    "--requests-per-minute",
    type=click.IntRange(0, MOST),
    default=600,
    show_default=True,
    help="Requests it may make; 0: no limit.",
)
@click.option(
    "--batch-levels", type=click.IntRange(1, MOST), help="Most levels in a batch.  [default: UNJAM_MAX_BATCH_LEVELS]"
)
@as_json
def create(
    name: str, scopes: tuple[Scope, ...], requests_per_minute: int, batch_levels: int | None, as_json: bool
) -> None:
    """Make an API key and print it: it is shown this once, and stored nowhere.

    \b
    unjam keys create "level editor"
    unjam keys create ci --scope submit --requests-per-minute 60 --batch-levels 10000
    """
    from unjam.store import keys

    with open_store() as (_, engine):
        limits = {"requests_per_minute": requests_per_minute or None, "batch_levels": batch_levels}
        key, secret = keys.create(engine, name, scopes, **limits)
    if as_json:
        write_out([json_line({**_shown(key), "key": secret})], None)
        return
    click.echo(secret)
    click.echo(f"key {key.key_id} may {' and '.join(key.scopes)}; keep it, it is not shown again", err=True)


@keys.command("list")
@as_json
def list_(as_json: bool) -> None:
    """Show all API keys, revoked ones too: of each the first characters, never the whole.

    \b
    unjam keys list
    """
    from unjam.store.keys import list_keys

    with open_store() as (_, engine):
        found = list_keys(engine)
    if as_json:
        write_out((json_line(_shown(key)) for key in found), None)
        return
    from rich.table import Table
    from rich.text import Text

    from cli.report import console

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("id", "requests/min", "levels"):
        table.add_column(column, justify="right")
    for column in ("key", "scopes", "created", "last used", "revoked", "name"):
        table.add_column(column)
    for key in found:
        limits = ("" if limit is None else f"{limit:,}" for limit in (key.requests_per_minute, key.batch_levels))
        times = (
            "" if at is None else f"{at.astimezone():%Y-%m-%d %H:%M}"
            for at in (key.created, key.last_used, key.revoked)
        )
        table.add_row(str(key.key_id), *limits, f"{key.prefix}...", ",".join(key.scopes), *times, Text(key.name))
    console().print(table)


@keys.command()
@click.argument("key", type=click.IntRange(1, 2**63 - 1))
def revoke(key: int) -> None:
    """End an API key, named by its id. Batches that were ordered with it go on.

    \b
    unjam keys revoke 2
    """
    from unjam.store import keys

    with open_store() as (_, engine):
        revoked = keys.revoke(engine, key)
    click.echo(f"key {key} ({revoked.name}) is revoked")


def _shown(key: Key) -> dict[str, Any]:
    fields = asdict(key)
    return {"id": fields.pop("key_id"), **fields}
