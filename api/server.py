"""The HTTP server that runs the application."""

from __future__ import annotations

import sys
from types import FrameType

import uvicorn

from api.app import create_app
from unjam.settings import Settings


class _Server(uvicorn.Server):
    """Told to stop, it lets requests end; streams of events have no end of their own."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.config.app.state.feed.close()  # type: ignore[union-attr]  # it is a FastAPI application
        super().handle_exit(sig, frame)


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until TERM or Ctrl-C."""
    config = uvicorn.Config(
        create_app(settings),
        host=host,
        port=port,
        log_level=settings.log_level,
        log_config=None,  # its records take the way of ours
    )
    server = _Server(config)
    server.run()
    if not server.started:
        sys.exit(3)
