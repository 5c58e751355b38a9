"""`unjam up`: the whole service in one command, as real processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.test_cli import LOT, STUCK, TWO, UNJAM, write_pack
from unjam.store.postgres import _private
from unjam.store.redis import PrivateRedis


@contextmanager
def service(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int, dict[str, str], Path]]:
    """A running ``unjam up``: its process, the port of its API, the environment of its users, and its log."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("UNJAM_")}
    environment |= {"UNJAM_HOME": str(folder / "home"), "PYTHONUNBUFFERED": "1"}
    log = folder / "log"
    command = [*UNJAM, "up", "--port", str(port), "--processes", "1"]
    with log.open("w") as out, subprocess.Popen(command, env=environment, stdout=out, stderr=out) as up:
        try:
            end = time.monotonic() + 120
            while "unjam is up" not in log.read_text():
                assert up.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.1)
            yield up, port, environment, log
        finally:
            up.terminate()
            up.wait(60)


def test_the_whole_service(tmp_path: Path) -> None:
    with service(tmp_path) as (up, port, environment, log):
        pack = write_pack(tmp_path / "pack.jsonl", TWO, LOT, STUCK, "x\n")
        submit = [*UNJAM, "submit", str(pack)]
        batch = subprocess.run(submit, env=environment, capture_output=True, text=True, check=True).stdout.strip()
        results = [*UNJAM, "results", batch, "--wait", "--json"]
        done = subprocess.run(results, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert [row.get("length") for row in map(json.loads, done.stdout.splitlines())] == [2, 2, None, None]
        assert done.returncode == 1
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/batches/{batch}", timeout=60) as answer:
            assert answer.status == 200
        again = [*UNJAM, "up", "--port", str(port), "--processes", "1"]
        taken = subprocess.run(again, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert taken.returncode == 2
        assert "api ended" in taken.stderr
        assert up.poll() is None
        alone = subprocess.run([*UNJAM, "api", "--port", str(port)], env=environment, capture_output=True, text=True)
        assert alone.returncode == 2
        assert "address already in use" in alone.stderr
    assert up.returncode == 0, log.read_text()
    words = [line.split()[0] for line in log.read_text().splitlines() if line]
    goodbye = ["worker:"] * 2  # of Celery
    assert words == ["API", "database", "broker", "unjam", "stopping", *goodbye, "stopped"], log.read_text()
    assert not [line for line in command_lines() if str(tmp_path) in line or f"--port={port}" in line]


def test_private_servers_that_are_killed_are_started_again(tmp_path: Path) -> None:
    with service(tmp_path) as (up, _, environment, log):
        home = Path(environment["UNJAM_HOME"])
        servers = [_private(home), PrivateRedis(home / "redis")]
        killed = [server.pid() for server in servers]
        for pid in killed:
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + 60
        while not all(server.ready() and server.pid() not in killed for server in servers):
            assert time.monotonic() < end, log.read_text()
            time.sleep(0.1)
        pack = write_pack(tmp_path / "pack.jsonl", TWO)
        submit = [*UNJAM, "submit", str(pack)]
        batch = subprocess.run(submit, env=environment, capture_output=True, text=True, check=True).stdout.strip()
        results = [*UNJAM, "results", batch, "--wait", "--json"]
        done = subprocess.run(results, env=environment, capture_output=True, text=True, timeout=120, check=True)
        assert json.loads(done.stdout)["length"] == 2
        assert up.poll() is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent was killed")
def test_a_killed_one_takes_its_parts_along(tmp_path: Path) -> None:
    with service(tmp_path) as (up, _, _, _):
        parts = processes_of(tmp_path)
        up.kill()
        up.wait()
        end = time.monotonic() + 90
        while processes_of(tmp_path):
            assert time.monotonic() < end, processes_of(tmp_path)
            time.sleep(0.2)
    assert len(parts) >= 4


def command_lines() -> Iterator[str]:
    """Of all processes of this machine."""
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield process.read_text(errors="replace").replace("\0", " ")


def processes_of(folder: Path) -> list[str]:
    """The unjam processes whose data folder is below this one."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(folder).encode() in (process / "environ").read_bytes():
                command = (process / "cmdline").read_bytes()
                if b"cli" in command:
                    found.append(command.replace(b"\0", b" ").decode())
    return found
