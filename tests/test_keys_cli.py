"""unjam keys: what is printed, and what of a key is found anywhere else: nothing."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Engine, inspect, text

from tests.serving import TILES, refused
from tests.test_cli import UNJAM, Unjam, lines
from unjam.store import keys


@pytest.fixture
def unjam(database_url: str) -> Unjam:
    return Unjam(database_url)


def test_create_list_and_revoke(unjam: Unjam, engine: Engine) -> None:
    made = unjam("keys", "create", "level editor")
    secret = made.stdout.strip()
    assert re.fullmatch("unjam_[0-9a-f]{64}", secret)
    assert "read and submit" in made.stderr
    assert secret not in made.stderr
    key = keys.find(engine, secret)
    assert key is not None
    assert (key.name, key.scopes, key.requests_per_minute, key.batch_levels) == (
        "level editor",
        ("read", "submit"),
        600,
        None,
    )
    limits = ("--requests-per-minute", 0, "--batch-levels", 7)
    [second] = lines(unjam("keys", "create", "boss", "--scope", "admin", "--scope", "read", *limits, "--json").stdout)
    assert (second["id"], second["scopes"], second["requests_per_minute"], second["batch_levels"]) == (
        2,
        ["admin", "read"],
        None,
        7,
    )
    assert keys.find(engine, second["key"])
    listed = unjam("keys", "list").stdout
    for prefix, whole in ((key.prefix, secret), (second["prefix"], second["key"])):
        assert prefix in listed
        assert whole not in listed
    assert "revoked" in unjam("keys", "revoke", 1).stdout
    assert keys.find(engine, secret) is None
    first, second_listed = lines(unjam("keys", "list", "--json").stdout)
    assert first["revoked"] is not None
    assert second_listed | {"last_used": None} == {name: value for name, value in second.items() if name != "key"}


def test_what_is_wrong_is_said(unjam: Unjam) -> None:
    assert "no API key 3" in unjam("keys", "revoke", 3, code=2).stderr
    for wrong in (
        ["--scope", "write"],
        ["--requests-per-minute", -1],
        ["--batch-levels", 0],
        ["--batch-levels", 2**31],
    ):
        unjam("keys", "create", "x", *wrong, code=2)
    assert lines(unjam("keys", "list", "--json").stdout) == []


def test_a_secret_is_neither_logged_nor_stored(unjam: Unjam, engine: Engine, database_url: str, tmp_path: Path) -> None:
    secret = unjam("keys", "create", "designer").stdout.strip()
    hidden = secret.removeprefix(keys.list_keys(engine)[0].prefix)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = {"DATABASE_URL": database_url, "LOG_LEVEL": "debug", "LOCAL_NEEDS_KEY": "true", "HOME": str(tmp_path)}
    environment = os.environ | {f"UNJAM_{name}": value for name, value in settings.items()}
    log = tmp_path / "log"
    with (
        log.open("w") as out,
        subprocess.Popen([*UNJAM, "api", "--port", str(port)], env=environment, stdout=out, stderr=out) as server,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
    ):
        try:
            deadline = time.monotonic() + 60
            while "startup complete" not in log.read_text():
                assert server.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.1)
            headers = {"Authorization": f"Bearer {secret}", "X-Request-ID": "a-request"}
            order = {"levels": [TILES]}
            assert client.post("/v1/batches", json=order, headers=headers).status_code == 202
            refused(client.post("/v1/batches", json=order), 401, "key_missing")
            for near in (secret + "0", secret[:-1], secret.upper(), f"{secret},{secret}"):
                refused(client.get("/v1/batches", headers={"Authorization": f"Bearer {near}"}), 401, "key_unknown")
            with engine.begin() as connection:
                connection.execute(text("ALTER TABLE batch_item RENAME TO gone"))
            broken = client.get("/v1/batches/1", headers=headers)
            assert refused(broken, 500, "internal_error")["request_id"] == "a-request"
            assert "gone" not in broken.text
            assert "batch_item" not in broken.text
        finally:
            server.terminate()
    logged = log.read_text()
    assert '"request_id": "a-request"' in logged
    assert "UndefinedTable" in logged
    stored = []
    with engine.connect() as connection:
        for table in inspect(engine).get_table_names():
            stored += [row[0] for row in connection.execute(text(f"SELECT t::text FROM {table} t"))]
    assert any("designer" in row for row in stored)
    for place in (logged, json.dumps(stored)):
        for part in (hidden, hidden.upper(), hidden[:20], hidden[-20:]):
            assert part not in place


@pytest.mark.parametrize("name", ["", " ", "\x1b[31mred", "a\nb", "x" * 201])
def test_names_that_a_terminal_would_obey_are_refused(unjam: Unjam, name: str) -> None:
    assert "Invalid value" in unjam("keys", "create", name, code=2).stderr
    assert "Invalid value" in unjam("submit", "-", "--name", name, code=2).stderr
