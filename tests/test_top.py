"""``unjam top``: what goes on, live, once, and for machines."""

from __future__ import annotations

import json
import os
import sys

import pexpect
import pytest
from sqlalchemy import Engine
from test_chunks import answer, submit, take
from test_cli import UNJAM, Unjam, unjam  # noqa: F401  # unjam is a fixture

from unjam.store import batches, chunks
from unjam.store.overview import overview


def test_json_tells_batches_queues_and_workers(engine: Engine, unjam: Unjam) -> None:  # noqa: F811
    batch = submit(engine, 32)
    held, other = take(engine, batch, "one"), take(engine, batch, "two")
    chunks.finish(engine, other, answer(other))
    now = json.loads(unjam("top", "--json").stdout)
    assert [(each["queue"], each["waiting"], each["running"]) for each in now["queues"]] == [
        ("interactive", 0, 0),
        ("bulk", 14, 1),
    ]
    assert now["running"] == 1
    assert [(each["batch_id"], each["done"], each["levels"]) for each in now["batches"]] == [(batch.batch_id, 2, 32)]
    one, two = now["workers"]
    assert (one["worker"], one["batch_id"], one["chunk_id"], one["attempt"]) == (
        "one",
        batch.batch_id,
        held.chunk_id,
        1,
    )
    assert one["since"] <= now["now"]
    assert (two["worker"], two["chunk_id"], two["answered"]) == ("two", None, 2)


def test_what_a_worker_told(engine: Engine) -> None:
    batch = submit(engine, 16)
    held = take(engine, batch, "one")
    [fresh] = overview(engine).workers
    assert (fresh.seen, fresh.generated) == (None, 0)
    chunks.renew(engine, held, generated=1000)
    [renewed] = overview(engine).workers
    assert renewed.generated == 1000
    chunks.finish(engine, held, answer(held))
    [finished] = overview(engine).workers
    assert finished.generated == 0, "what the answers say, not what was told on the way"
    assert finished.answered == len(held.tasks)
    batches.cancel(engine, batch.batch_id)
    assert overview(engine).batches == []


def test_once(engine: Engine, unjam: Unjam) -> None:  # noqa: F811
    batch = submit(engine, 16)
    take(engine, batch, "here:1")
    text = unjam("top", "--once", "--interval", "0.2").stdout
    assert "1 batches running, 1 workers" in text
    assert "here:1" in text
    empty = [line.split() for line in text.splitlines() if line.startswith("interactive")]
    assert empty == [["interactive", "0", "-", "0"]]


@pytest.mark.parametrize("key", ["interrupt", "terminate"])
def test_live_until_it_is_told_to_stop(engine: Engine, database_url: str, key: str) -> None:
    batch = submit(engine, 16)
    environment = os.environ | {"UNJAM_DATABASE_URL": database_url, "TERM": "xterm", "COLUMNS": "120"}
    child = pexpect.spawn(
        sys.executable, [*UNJAM[1:], "top", "--interval", "0.2"], env=environment, encoding="utf-8", timeout=60
    )
    child.expect("0 workers")
    take(engine, batch, "here:1")
    child.expect("1 workers")
    if key == "interrupt":
        child.sendintr()
    else:
        child.kill(15)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert "\x1b[?1049l" in child.before, "the terminal is given back"


@pytest.mark.parametrize("interval", ["nan", "inf", "0", "0.01", "1e30", "-1"])
def test_intervals_that_are_none_are_refused(unjam: Unjam, interval: str) -> None:  # noqa: F811
    assert "Invalid value for '--interval'" in unjam("top", "--once", "--interval", interval, code=2).stderr
