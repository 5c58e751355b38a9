"""The ``unjam`` command: its subcommands are imported when they are used."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Any

import rich_click as click

COMMANDS = {
    "solve": "solve",
    "hint": "hint",
    "lookup": "lookup",
    "find": "find",
    "verify": "verify",
    "convert": "convert",
    "submit": "batches",
    "status": "batches",
    "results": "batches",
    "cancel": "batches",
    "top": "top",
    "tables": "tables",
    "atlas": "atlas",
    "up": "up",
    "worker": "service",
    "reconcile": "service",
    "api": "service",
    "keys": "keys",
    "migrate": "database",
    "db": "database",
}
PANELS = {
    "On this machine": ["solve", "hint", "lookup", "find", "verify", "convert", "tables", "atlas"],
    "Batches for the workers": ["submit", "status", "results", "cancel", "top"],
    "The service": ["up", "worker", "reconcile", "api", "keys", "migrate", "db"],
}
INTERRUPTED = 130


class Refused(click.ClickException):
    """Something that cannot be read or reached: exit code 2."""

    exit_code = 2


class Commands(click.RichGroup):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = getattr(import_module(f"cli.{COMMANDS[name]}"), name)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)
        except Exception as error:
            if message := _outside_fault(error):
                raise Refused(message) from error
            raise


def _outside_fault(error: Exception) -> str | None:
    """What to say about what cannot be read or reached; None for faults of our own."""
    from unjam.errors import UnjamError

    if isinstance(error, UnjamError):
        return str(error)
    if isinstance(error, OSError) and error.strerror is not None:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    if "sqlalchemy" in sys.modules:
        from sqlalchemy.exc import OperationalError

        if isinstance(error, OperationalError):
            return f"the database does not answer: {error.orig}".strip()
    return None


def _panels(group: click.RichGroup) -> click.RichGroup:
    for title, names in PANELS.items():
        group = click.command_panel(title, commands=names)(group)
    return group


@_panels
@click.rich_config(help_config={"text_paragraph_linebreaks": "\n\n", "padding_helptext_first_line": (0, 0, 1, 0)})
@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="unjam", message="%(prog)s %(version)s")
def cli() -> None:
    """Optimal move counts of sliding puzzles: found, proven and kept.

    Exit codes of all commands:
        0    all is well
        1    a level is not solved, a claimed count is wrong, or an entry is bad
        2    the command is wrong, or something cannot be read or reached
        130  interrupted

    \b
    unjam solve levels.jsonl    solve a pack, print a table
    unjam hint --board ...      tell the next move of a position
    unjam lookup levels.jsonl   show what is known already
    unjam up                    run the whole service here
    """


def main() -> None:
    warnings.formatwarning = lambda message, *_: f"warning: {message}\n"
    cli(prog_name="unjam")
