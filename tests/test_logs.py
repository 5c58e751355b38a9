"""What the programs log: one renderer for all of it, what a line says, and what it must not say."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from typing import Any

import pytest
from sqlalchemy import Engine

from tests.levels import random_levels
from tests.service import Service, wait_for
from tests.waiting import wait_until
from unjam.logs import masked
from unjam.search.solution import Budget
from unjam.store import batches

EVENTS = """
import logging, sys
import structlog
from unjam.logs import configure
configure("info", {format!r})
log = structlog.get_logger("ours")
structlog.contextvars.bind_contextvars(request_id="r1")
log.info("ours", batch=7)
log.debug("too low")
logging.getLogger("theirs").info("theirs %d", 8)
logging.getLogger("theirs").debug("too low")
try:
    hidden = "postgresql://me:s3cret@here/db"
    raise ValueError("cannot reach " + hidden)
except ValueError:
    log.exception("failed", url=hidden)
    logging.getLogger("theirs").exception("failed, too: %s", hidden)
"""


def events(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, text=True, capture_output=True).stderr


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_each_event_is_a_json_object_whoever_logs_it() -> None:
    text = events(EVENTS.format(format=None))  # standard error is no terminal here
    ours, theirs, failed, failed_too = records(text)
    assert (ours["event"], ours["batch"], ours["level"], ours["logger"]) == ("ours", 7, "info", "ours")
    assert (theirs["event"], theirs["level"], theirs["logger"]) == ("theirs 8", "info", "theirs")
    for one in (ours, theirs):
        assert one["request_id"] == "r1", "what is bound is in the records of others, too"
        assert one["timestamp"].endswith("Z")
    for one in (failed, failed_too):
        assert one["exception"].splitlines()[-1] == "ValueError: cannot reach postgresql://me:***@here/db"
    assert failed_too["event"] == "failed, too: postgresql://me:***@here/db"
    assert "s3cret" not in text


def test_text_is_for_people() -> None:
    text = events(EVENTS.format(format="text"))
    first = text.splitlines()[0]
    assert "ours" in first
    assert "batch=7" in first
    assert "Traceback" in text
    assert "s3cret" not in text
    assert "hidden =" not in text.replace('hidden = "postgresql', ""), "no local variables"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://me:se:cr@et@here:5432/db", "postgresql://me:***@here:5432/db"),
        ("redis://:secret@here/0 and redis://here/0", "redis://:***@here/0 and redis://here/0"),
        ("host=here password=secret dbname=db", "host=here password=*** dbname=db"),
        ("password='se cret' user=me", "password=*** user=me"),
        ("Bearer unjam_" + 64 * "a", "Bearer unjam_aaaaaaaa***"),
        ("http://here:80/a@b", "http://here:80/a@b"),
        ("nothing: to hide @ all", "nothing: to hide @ all"),
    ],
)
def test_passwords_are_masked(text: str, expected: str) -> None:
    assert masked(text) == expected


def test_a_worker_says_which_batch_chunk_and_attempt(engine: Engine, service: Service) -> None:
    service.start("one", "cli", "worker", "--processes", "1")
    wait_until(lambda: b"ready." in service.log("one"))
    batch = batches.submit(engine, random_levels(20, families=("rush",)), budget=Budget(seconds=60))
    service.announce(batch)
    wait_for(engine, batch)
    wait_until(lambda: service.log("one").count(b"chunk worked on") == len(batch.chunks))
    lines = records(service.log("one").decode())
    worked = [line for line in lines if line["event"] == "chunk worked on"]
    assert {line["chunk"] for line in worked} == set(batch.chunks)
    assert {(line["batch"], line["attempt"]) for line in worked} == {(batch.batch_id, 1)}
    assert any(line["logger"].startswith("celery") for line in lines)


def test_the_api_logs_its_requests_in_the_same_way(service: Service) -> None:
    process = service.start("api", "cli", "api", "--port", "0")
    wait_until(lambda: b"Uvicorn running on" in service.log("api"))
    [running] = [line for line in records(service.log("api").decode()) if "running on" in line["event"]]
    url = running["event"].split()[3]
    with urllib.request.urlopen(f"{url}/healthz") as answer:
        assert answer.status == 200
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    requests = [line for line in records(service.log("api").decode()) if line["logger"] == "uvicorn.access"]
    assert [line["event"].split('"')[1] for line in requests] == ["GET /healthz HTTP/1.1"]


@pytest.mark.parametrize("command", ["api", "reconcile", "worker"])
def test_no_program_tells_passwords_of_servers_it_cannot_reach(command: str, service: Service) -> None:
    service.environment |= {
        "UNJAM_DATABASE_URL": "postgresql://nobody:s3cret@127.0.0.1:1/nothing",
        "UNJAM_REDIS_URL": "redis://nobody:s3cret@127.0.0.1:1/0",
        "UNJAM_LOG_LEVEL": "debug",
    }
    service.start("program", "cli", command)
    wait_until(lambda: b"refused" in service.log("program"))
    assert b"s3cret" not in service.log("program")


def test_configuring_twice_logs_once() -> None:
    program = "import logging; from unjam.logs import configure; configure('info'); configure('info'); "
    assert len(records(events(program + "logging.getLogger('theirs').info('once')"))) == 1
