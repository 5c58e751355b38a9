"""Server-sent events: how far a batch is, told to whoever watches, and what watching costs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError
from test_chunks import answer, submit, take

import api.events
from tests.serving import refused, serving
from tests.waiting import wait_until
from unjam.settings import Settings
from unjam.store import batches, chunks


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(database_url=database_url, redis_url=None, home=tmp_path, max_watchers=3)


def read(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names and data of events."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            if "event" in fields:
                yield fields["event"], json.loads(fields["data"])
            fields = {}


def test_from_the_present_state_to_the_end(idle_api: httpx.Client, engine: Engine) -> None:
    batch = submit(engine, 16)
    url = f"/v1/batches/{batch.batch_id}"
    with idle_api.stream("GET", f"{url}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert stream.headers["cache-control"] == "no-store"
        events = read(stream.iter_lines())
        [listed] = idle_api.get("/v1/batches").json()["batches"]
        assert next(events) == ("progress", listed)
        held = take(engine, batch)
        assert next(events)[1]["running_chunks"] == 1
        chunks.finish(engine, held, answer(held))
        name, data = next(events)
        assert (name, data["done"]) == ("progress", len(held.tasks))
        batches.cancel(engine, batch.batch_id)
        name, data = next(events)
        assert (name, data["state"]) == ("done", "cancelled")
        assert list(events) == [], "the stream ends"


def test_a_batch_that_is_over(idle_api: httpx.Client, engine: Engine) -> None:
    batch = submit(engine, 1)
    batches.cancel(engine, batch.batch_id)
    url = f"/v1/batches/{batch.batch_id}/events"
    answer = idle_api.get(url)
    assert [name for name, _ in read(iter(answer.text.split("\n")))] == ["done"]
    assert "id: done" in answer.text
    assert idle_api.get(url, headers={"Last-Event-ID": "done"}).status_code == 204
    refused(idle_api.get("/v1/batches/99/events"), 404, "not_found")


def test_a_client_that_goes_away_frees_its_place(idle_api: httpx.Client, engine: Engine) -> None:
    batch = submit(engine, 1)
    url = f"/v1/batches/{batch.batch_id}/events"
    with ExitStack() as stack:
        for _ in range(3):
            lines = stack.enter_context(idle_api.stream("GET", url)).iter_lines()
            stack.callback(lines.close)  # it would close the connection when it is forgotten
            assert next(lines) == "event: progress"
        with idle_api.stream("GET", url) as answer:
            answer.read()
            assert refused(answer, 503, "too_many_watchers")["details"] == {"most": 3}
    wait_until(lambda: status_of(idle_api, url) == 200, seconds=20)


def status_of(client: httpx.Client, url: str) -> int:
    with client.stream("GET", url) as stream:
        return stream.status_code


def test_all_who_watch_cost_one_query_a_second(
    settings: Settings, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[int]] = []
    progress_of = batches.progress_of

    def counted(engine: Engine, ids: list[int]) -> list[batches.BatchProgress]:
        asked.append(ids)
        return progress_of(engine, ids)

    monkeypatch.setattr(batches, "progress_of", counted)
    monkeypatch.setattr(api.events, "POLL_SECONDS", 0.1)
    one, other = submit(engine, 1), submit(engine, 1, seed=1)
    with serving(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        opened = [client.stream("GET", f"/v1/batches/{batch.batch_id}/events") for batch in (one, one, other)]
        events = [read(stream.__enter__().iter_lines()) for stream in opened]
        assert [next(each)[0] for each in events] == ["progress"] * 3
        wait_until(lambda: len(asked) > 0 and len(asked[-1]) == 2)
        assert sorted(asked[-1]) == [one.batch_id, other.batch_id], "a batch is asked for once, whoever watches it"
        batches.cancel(engine, one.batch_id)
        assert [next(each)[0] for each in events[:2]] == ["done", "done"]
        wait_until(lambda: asked[-1] == [other.batch_id])
        for stream in opened:
            stream.__exit__(None, None, None)
        wait_until(lambda: idle(asked), seconds=20)


def idle(asked: list[list[int]]) -> bool:
    before = len(asked)
    threading.Event().wait(0.5)
    return len(asked) == before


def test_a_quiet_stream_is_kept_open(idle_api: httpx.Client, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api.events, "KEEP_ALIVE_SECONDS", 0.0)
    batch = submit(engine, 1)
    with idle_api.stream("GET", f"/v1/batches/{batch.batch_id}/events") as stream:
        lines = stream.iter_lines()
        assert any(line.startswith(":") for line in (next(lines) for _ in range(6)))


def test_a_stream_outlives_a_store_that_does_not_answer(
    settings: Settings, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = threading.Event()
    batch = submit(engine, 1)

    def fail(*_: object) -> list[batches.BatchProgress]:
        failed.set()
        raise OperationalError("SELECT", {}, Exception("the connection breaks"))

    watching = f"/v1/batches/{batch.batch_id}/events"
    with (
        serving(settings) as url,
        httpx.Client(base_url=url, timeout=60) as client,
        client.stream("GET", watching) as stream,
    ):
        events = read(stream.iter_lines())
        next(events)
        with monkeypatch.context() as patch:
            patch.setattr(batches, "progress_of", fail)
            assert failed.wait(20)
        batches.cancel(engine, batch.batch_id)
        assert next(events)[0] == "done"


def test_the_server_stops_though_somebody_watches(engine: Engine, database_url: str, tmp_path: Path) -> None:
    batch = submit(engine, 1)
    environment = os.environ | {"UNJAM_DATABASE_URL": database_url, "UNJAM_LOG_FORMAT": "json"}
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "cli", "api", "--port", "0"], env=environment, stderr=log, start_new_session=True
        )
    try:
        wait_until(lambda: "running on" in (tmp_path / "log").read_text())
        [line] = [line for line in (tmp_path / "log").read_text().splitlines() if "running on" in line]
        url = json.loads(line)["event"].split()[3]
        with urllib.request.urlopen(f"{url}/v1/batches/{batch.batch_id}/events") as stream:
            assert stream.readline() == b"event: progress\n"
            process.send_signal(signal.SIGTERM)
            process.wait(30)
    finally:
        process.kill()
        process.wait()
