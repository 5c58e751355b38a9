"""/metrics: what the store counts and holds, for Prometheus, and the dashboard that shows it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError
from test_chunks import answer, submit, take

import api.metrics
from tests.levels import random_levels
from unjam.search.solution import Budget
from unjam.store import batches, chunks
from unjam.work import drain

DASHBOARD = Path(__file__).parents[1] / "docs" / "grafana.json"


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api.metrics, "KEEP_SECONDS", 0.0)


def samples(client: httpx.Client) -> dict[str, float]:
    """By name and labels, as ``name{label=value}``."""
    answer = client.get("/metrics")
    assert answer.status_code == 200
    found = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


def test_queues_and_workers(idle_api: httpx.Client, engine: Engine) -> None:
    empty = samples(idle_api)
    for queue in ("interactive", "bulk"):
        assert empty[f"unjam_chunks_waiting{{queue={queue}}}"] == 0
        assert empty[f"unjam_oldest_waiting_seconds{{queue={queue}}}"] == 0
    batch = submit(engine, 16)
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE chunk SET created = now() - interval '1 hour' WHERE id = :id"), {"id": batch.chunks[5]}
        )
    held = take(engine, batch)
    now = samples(idle_api)
    assert now["unjam_chunks_waiting{queue=bulk}"] == 15
    assert now["unjam_chunks_running{queue=bulk}"] == 1
    assert 3600 <= now["unjam_oldest_waiting_seconds{queue=bulk}"] < 4000
    assert (now["unjam_batches_running"], now["unjam_workers"]) == (1, 1)
    assert now["unjam_store_up"] == 1
    chunks.recover(engine, worker=held.worker)
    assert chunks.finish(engine, held, answer(held)) is None
    after = samples(idle_api)
    assert (after["unjam_leases_lost_total"], after["unjam_late_writes_total"]) == (1, 1)


def test_searches(idle_api: httpx.Client, engine: Engine, database_url: str) -> None:
    batch = batches.submit(engine, random_levels(80), budget=Budget(seconds=60))
    drain(database_url, batch.batch_id, 2)
    found = samples(idle_api)
    query = """
        SELECT p.family, count(*), count(*) FILTER (WHERE a.seconds < 0.01), sum(a.seconds), sum(a.generated)
        FROM attempt a JOIN puzzle p ON p.id = a.puzzle_id GROUP BY 1
    """
    with engine.connect() as connection:
        rows = connection.execute(text(query)).all()
    assert len(rows) == 4
    for family, attempts, quick, seconds, generated in rows:
        assert found[f"unjam_attempt_seconds_count{{family={family}}}"] == attempts
        assert found[f"unjam_attempt_seconds_bucket{{family={family},le=+Inf}}"] == attempts
        assert found[f"unjam_attempt_seconds_bucket{{family={family},le=0.01}}"] == quick
        assert found[f"unjam_attempt_seconds_sum{{family={family}}}"] == pytest.approx(seconds)
        assert found[f"unjam_nodes_generated_total{{family={family}}}"] == generated
    outcomes = [value for name, value in found.items() if name.startswith("unjam_attempts_total{")]
    assert sum(outcomes) == sum(row[1] for row in rows)


def test_a_look_is_kept_for_a_second(idle_api: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    overview = api.metrics.overview
    monkeypatch.setattr(api.metrics, "overview", lambda engine: asked.append(1) or overview(engine))
    samples(idle_api)
    assert len(asked) == 1
    monkeypatch.setattr(api.metrics, "KEEP_SECONDS", 1000.0)
    for _ in range(3):
        samples(idle_api)
    assert len(asked) == 1


def test_without_the_store_the_rest_is_told(idle_api: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(engine: Engine) -> None:
        raise OperationalError("SELECT", {}, Exception("the connection breaks"))

    samples(idle_api)
    monkeypatch.setattr(api.metrics, "overview", fail)
    found = samples(idle_api)
    assert found["unjam_store_up"] == 0
    assert "unjam_batches_running" not in found
    assert any(name.startswith("unjam_api_request_seconds_count") for name in found)


def expressions(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        for name, value in part.items():
            if name in ("expr", "query") and isinstance(value, str):
                yield value
            else:
                yield from expressions(value)
    elif isinstance(part, list):
        for each in part:
            yield from expressions(each)


def test_the_dashboard_shows_metrics_that_there_are(idle_api: httpx.Client, engine: Engine, database_url: str) -> None:
    batch = batches.submit(engine, random_levels(8), budget=Budget(seconds=60))
    drain(database_url, batch.batch_id, 1)
    samples(idle_api)
    there = {name.partition("{")[0] for name in samples(idle_api)}
    shown = {name for each in expressions(json.loads(DASHBOARD.read_text())) for name in re.findall(r"unjam_\w+", each)}
    assert len(shown) > 10
    assert shown <= there
