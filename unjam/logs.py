"""How the programs log: an event a line on standard error, as JSON for machines or as text for people.

What other libraries log (Celery, uvicorn, SQLAlchemy) takes the same way. No secret leaves it: passwords in URLs are
masked, and tracebacks come without local variables.
"""

from __future__ import annotations

import logging
import re
import sys
from typing import Literal

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

LogFormat = Literal["json", "text"]

# The password of a URL, to the last @ before the host, and of libpq's keyword=value strings.
_PASSWORD = re.compile(r"(?<=://)([^\s/:@]*):[^\s/]*@|\b(password=)(?:'[^']*'|\S+)")
_KEY = re.compile(r"(\bunjam_[0-9a-f]{8})[0-9a-f]{56}\b")  # of the API; its beginning may be shown


def configure(level: str, format: LogFormat | None = None) -> None:
    """Log events of this level and above; without a format as text to a terminal, else as JSON.

    For programs only: a library leaves logging to its user.
    """
    watched = sys.stderr.isatty()
    render: Processor = (
        structlog.dev.ConsoleRenderer(colors=watched, exception_formatter=structlog.dev.plain_traceback)
        if format == "text" or (format is None and watched)
        else structlog.processors.JSONRenderer(ensure_ascii=False)
    )
    ours: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        mask_secrets,
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=ours, processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render]
    )
    structlog.configure(
        processors=[*ours, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())


def mask_secrets(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """A structlog processor: ``***`` in place of passwords and keys in all texts of an event."""
    return {name: masked(value) if isinstance(value, str) else value for name, value in event.items()}


def masked(text: str) -> str:
    """The text with ``***`` in place of passwords and keys."""
    text = _KEY.sub(r"\1***", text)
    return _PASSWORD.sub(lambda found: f"{found[2]}***" if found[2] else f"{found[1]}:***@", text)
