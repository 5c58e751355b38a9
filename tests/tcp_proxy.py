"""A proxy between clients and Postgres that loses the answer to a COMMIT."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class CuttingProxy:
    """Passes bytes on, until a transaction that contained ``words`` commits: Postgres has done that when the client's
    connection breaks instead of bringing the answer. That happens ``times`` times.
    """

    def __init__(self, postgres: str, words: bytes, times: int) -> None:
        self.cut = 0
        self._postgres = postgres
        self._words = words
        self._times = times
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        armed = False
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(self._postgres)
            while True:
                for end in select.select([client, server], [], [])[0]:
                    data = end.recv(2**16)
                    if not data:
                        return
                    (server if end is client else client).sendall(data)
                    if end is server:
                        continue
                    armed = armed or self._words in data
                    if armed and b"COMMIT\0" in data and self.cut < self._times:
                        self.cut += 1
                        server.recv(2**16)  # committed
                        return
                    armed = armed and b"COMMIT\0" not in data

    def close(self) -> None:
        self._listener.close()


@contextmanager
def cutting_proxy(postgres: str, words: bytes, times: int = 1) -> Iterator[CuttingProxy]:
    """A proxy for the Postgres behind this Unix socket; it listens on a free port of this machine."""
    proxy = CuttingProxy(postgres, words, times)
    try:
        yield proxy
    finally:
        proxy.close()
