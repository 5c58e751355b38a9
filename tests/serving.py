"""The API as tests use it: a real server, what is sent to it, and what an error answer looks like."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn

from api.app import create_app
from unjam.settings import Settings
from unjam.store.database import open_engine
from unjam.work import work
from worker.app import QUEUES

TILES = {"family": "tiles", "board": "1 2 3/4 0 6/7 5 8"}
RUSH = {"family": "rush", "board": "ooooooooooooAAoooBoooooBoooooooooooo"}
HARD = {"family": "tiles", "board": "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3", "goal": "blank-first"}
BODY_LIMIT = 100_000
LEVEL_LIMIT = 50


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(create_app(settings), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            thread.join(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def working(database_url: str) -> Iterator[None]:
    """A worker without Celery: it takes what is next."""
    stop = threading.Event()
    engine = open_engine(database_url)

    def run() -> None:
        while not stop.is_set():
            worked = [work(engine, worker="test", queue=queue, cancelled=stop.is_set) for queue in QUEUES]
            if worked == [None, None]:
                stop.wait(0.02)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        engine.dispose()


def wait_until_done(api: httpx.Client, batch: int) -> dict[str, Any]:
    for _ in range(600):
        status: dict[str, Any] = api.get(f"/v1/batches/{batch}").json()
        if status["state"] != "running":
            return status
        threading.Event().wait(0.05)
    raise AssertionError(f"not done: {status}")


def refused(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The error, in the one shape."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body.keys() == {"error"}
    assert body["error"].keys() == {"code", "message", "details", "request_id"}
    assert body["error"]["request_id"] == answer.headers["x-request-id"]
    assert body["error"]["code"] == code
    assert "Traceback" not in answer.text
    error: dict[str, Any] = body["error"]
    return error
