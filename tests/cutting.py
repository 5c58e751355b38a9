"""A TCP proxy before a Postgres that loses the answer to a COMMIT."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import URL, make_url


class Cutter:
    """Where to connect, and whether the next COMMIT that comes through gets no answer: its connection ends instead."""

    def __init__(self, target: URL) -> None:
        self.armed = False
        self.cuts = 0
        self._target = f"{target.query['host']}/.s.PGSQL.{target.query.get('port', 5432)}"
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = target.set(host="127.0.0.1", port=self._door.getsockname()[1], query={}).render_as_string(False)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._door.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._target)
                cut = threading.Event()
                for source, sink, is_client in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pump, args=(source, sink, is_client, cut), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, is_client: bool, cut: threading.Event) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if is_client and self.armed and b"COMMIT\0" in data:
                    self.armed = False
                    cut.set()
                if not is_client and cut.is_set():
                    self.cuts += 1  # it has answered, so it has committed
                    break
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def cutting(database_url: str) -> Iterator[Cutter]:
    """A proxy before the private Postgres of this URL."""
    cutter = Cutter(make_url(database_url))
    try:
        yield cutter
    finally:
        cutter.close()
