"""``unjam up``: the whole service on one machine."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

import rich_click as click

from cli.interrupt import interruptible
from cli.options import without_password

if TYPE_CHECKING:
    from unjam.settings import Settings

STARTUP_SECONDS = 5.0  # a part that ends sooner than this is broken; later, it is started again
STOP_SECONDS = 30.0
LOOK_SECONDS = 1.0  # between two looks at the private servers
PR_SET_PDEATHSIG = 1  # linux/prctl.h


@click.command()
@click.option("--processes", type=click.IntRange(min=1, max=1024), help="Solving processes.  [default: one a core]")
@click.option("--host", help="Address of the API.  [default: UNJAM_API_HOST]")
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the API.  [default: UNJAM_API_PORT]")
@click.pass_context
def up(ctx: click.Context, processes: int | None, host: str | None, port: int | None) -> None:
    """Run the whole service on this machine: workers, reconciler and API.

    Starts a private Postgres and Redis where none is configured. Ctrl-C stops everything; accepted work is kept and
    goes on at the next start. Of the parts only warnings are logged, unless UNJAM_LOG_LEVEL says more.

    \b
    unjam up
    unjam up --port 8080 --processes 2
    """
    from unjam.settings import get_settings
    from unjam.store.database import database
    from unjam.store.redis import broker

    settings = get_settings()
    host, port = host or settings.api_host, port or settings.api_port
    commands = {
        "worker": ["worker", *([f"--processes={processes}"] if processes else [])],
        # whoever waits for an answer does not wait for a chunk of a large batch
        "interactive worker": ["worker", "--queues=interactive", "--processes=1"],
        "reconcile": ["reconcile"],
        "api": ["api", f"--host={host}", f"--port={port}"],
    }
    with interruptible() as stop, database(settings) as database_url, broker(settings) as redis_url:
        level = settings.log_level if "log_level" in settings.model_fields_set else "warning"
        urls = {"UNJAM_DATABASE_URL": database_url, "UNJAM_REDIS_URL": redis_url}
        environment = os.environ | urls | {"UNJAM_LOG_LEVEL": level}
        with _parts(commands, environment) as parts:
            address = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"
            if _answers(f"{address}/healthz", stop, parts):
                click.echo(f"API       {address}  (try {address}/docs)")
                click.echo(f"database  {without_password(database_url)}")
                click.echo(f"broker    {without_password(redis_url)}")
                click.echo("unjam is up; Ctrl-C stops it")
            broken = _watch(parts, settings, stop)
            click.echo("stopping", err=True)
    click.echo("stopped", err=True)
    ctx.exit(2 if broken else 0)


def _stop_with_parent() -> None:
    """Ask Linux to stop this child if we are killed and cannot; other systems leave it running."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class _Part:
    """One child process, in a session of its own: Ctrl-C is for us, and we stop it."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str]) -> None:
        self.name = name
        self._command = [sys.executable, "-P", "-m", "cli", *command]
        self._environment = environment
        self.start()

    def start(self) -> None:
        self.started = monotonic()
        self.process = subprocess.Popen(
            self._command, env=self._environment, start_new_session=True, preexec_fn=_stop_with_parent
        )

    def stop(self, deadline: float) -> None:
        try:
            self.process.wait(max(0.1, deadline - monotonic()))
        except subprocess.TimeoutExpired:
            click.echo(f"{self.name} does not stop: killed", err=True)
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@contextmanager
def _parts(commands: dict[str, list[str]], environment: dict[str, str]) -> Iterator[list[_Part]]:
    parts: list[_Part] = []
    try:
        for name, command in commands.items():
            parts.append(_Part(name, command, environment))
        yield parts
    finally:
        for part in parts:
            if part.process.poll() is None:
                part.process.terminate()
        deadline = monotonic() + STOP_SECONDS
        for part in parts:
            part.stop(deadline)


def _answers(url: str, stop: Event, parts: list[_Part]) -> bool:
    """Wait until the API answers; false if that is no longer to be expected."""
    while all(part.process.poll() is None for part in parts):
        try:
            with urllib.request.urlopen(url, timeout=1):
                return True
        except OSError:
            if stop.wait(0.1):
                return False
    return False


def _watch(parts: list[_Part], settings: Settings, stop: Event) -> bool:
    """Keep everything running until we are told to stop; true if one of the parts cannot be kept running."""
    looked = monotonic()
    while not stop.wait(0.2):
        if monotonic() - looked > LOOK_SECONDS:
            _start_killed_servers(settings)
            looked = monotonic()
        for part in parts:
            if (code := part.process.poll()) is not None:
                if monotonic() - part.started < STARTUP_SECONDS:
                    click.echo(f"{part.name} ended with code {code} as soon as it was started: see above", err=True)
                    return True
                click.echo(f"{part.name} ended with code {code}: started again", err=True)
                part.start()
    return False


def _start_killed_servers(settings: Settings) -> None:
    """Private servers are up as long as anybody wants them; to want one that was killed is to start it."""
    from unjam.store.postgres import private_postgres
    from unjam.store.redis import private_redis

    if settings.database_url is None:
        with private_postgres(settings.home):
            pass
    if settings.redis_url is None:
        with private_redis(settings.home):
            pass
