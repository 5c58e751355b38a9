"""The parts of the service, each as a process: ``unjam worker``, ``unjam reconcile``, ``unjam api``."""

from __future__ import annotations

import os

import rich_click as click


@click.command()
@click.option("--processes", type=click.IntRange(min=1, max=1024), help="Processes to use.  [default: one a core]")
@click.option(
    "--queues", default="interactive,bulk", show_default=True, help="Queues to serve, the preferred one first."
)
@click.option(
    "--log-level", type=click.Choice(["debug", "info", "warning", "error"]), help="[default: UNJAM_LOG_LEVEL]"
)
def worker(processes: int | None, queues: str, log_level: str | None) -> None:
    """Run a Celery worker that solves what was submitted.

    Needs UNJAM_DATABASE_URL and UNJAM_REDIS_URL. TERM ends it when its present work is handed back.

    \b
    unjam worker
    unjam worker --processes 4 --queues interactive
    """
    import warnings

    from celery.exceptions import SecurityWarning

    from unjam.logs import configure
    from unjam.settings import get_settings
    from unjam.store.database import check_schema
    from worker.app import app
    from worker.tasks import database_url

    check_schema(database_url())
    level = log_level or get_settings().log_level
    configure(level, get_settings().log_format)  # for what is logged before Celery asks for it
    # Against root, for messages in pickle could then do anything: ours are numbers in JSON.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    app.worker_main(
        [
            "--quiet",  # no banner
            "worker",
            f"--concurrency={processes or os.cpu_count() or 1}",
            f"--queues={queues}",
            f"--loglevel={level}",
            f"--hostname={queues.replace(',', '-')}.{os.getpid()}@%h",  # a machine may have several
            # Workers have nothing to tell each other; looking for others takes a second of each start.
            "--without-gossip",
            "--without-mingle",
        ]
    )


@click.command()
def reconcile() -> None:
    """Announce again, for ever, the work whose worker or message was lost.

    Any number of these may run: one is active at a time.

    \b
    unjam reconcile
    """
    from unjam.logs import configure
    from unjam.settings import get_settings
    from unjam.store.database import check_schema
    from worker.reconciler import run
    from worker.tasks import database_url

    check_schema(database_url())
    settings = get_settings()
    configure(settings.log_level, settings.log_format)
    run()


@click.command()
@click.option("--host", help="Address to listen on.  [default: UNJAM_API_HOST]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen on.  [default: UNJAM_API_PORT]")
@click.pass_context
def api(ctx: click.Context, host: str | None, port: int | None) -> None:
    """Serve the HTTP API.

    \b
    unjam api
    unjam api --host 0.0.0.0 --port 80
    """
    from api.server import serve
    from unjam.logs import configure
    from unjam.settings import get_settings

    settings = get_settings()
    configure(settings.log_level, settings.log_format)
    try:
        serve(settings, host or settings.api_host, settings.api_port if port is None else port)
    except SystemExit as ended:  # the log says why
        ctx.exit(2 if ended.code else 0)
