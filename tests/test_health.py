"""The health check of a worker: only progress counts, where there is something to be done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from sqlalchemy import Engine

from tests.levels import hard_levels, mixed_levels
from tests.service import LEASE_SECONDS, ROOT, Service, wait_for, wait_for_holder
from tests.waiting import wait_until
from unjam.search.solution import Budget
from unjam.store import batches

PATIENCE = 2 * LEASE_SECONDS


def probe(service: Service) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "worker.probe"]
    return subprocess.run(command, env=service.environment, cwd=ROOT, capture_output=True, text=True, check=False)


def healthy(service: Service) -> bool:
    return probe(service).returncode == 0


def test_a_process_without_progress_is_told_from_a_long_search(
    engine: Engine, service: Service, tmp_path: Path
) -> None:
    service.environment["UNJAM_HOME"] = str(tmp_path / "home")
    service.worker("one")
    batch = batches.submit(engine, hard_levels(1), budget=Budget(seconds=60, bytes=10**9))
    service.announce(batch)
    holder = wait_for_holder(engine)
    os.kill(holder, signal.SIGSTOP)
    time.sleep(PATIENCE)
    wait_until(lambda: not healthy(service))
    assert probe(service).stderr == f"no progress for more than 4 s in process {holder}\n"
    os.kill(holder, signal.SIGCONT)
    wait_until(lambda: healthy(service))
    batches.cancel(engine, batch.batch_id)


def test_a_worker_that_does_nothing_is_healthy_only_as_long_as_nothing_waits(
    engine: Engine, service: Service, tmp_path: Path
) -> None:
    service.environment["UNJAM_HOME"] = str(tmp_path / "home")
    worker = service.worker("one")
    assert healthy(service)
    worker.send_signal(signal.SIGSTOP)
    batch = batches.submit(engine, mixed_levels(4, 0), budget=Budget(seconds=60))
    service.announce(batch)
    time.sleep(PATIENCE)
    wait_until(lambda: not healthy(service))
    assert probe(service).stderr == "work waits, and nothing was done for more than 4 s\n"
    worker.send_signal(signal.SIGCONT)
    wait_for(engine, batch)
    assert healthy(service)


def test_a_database_that_is_away_is_not_the_workers_fault(service: Service, tmp_path: Path) -> None:
    service.environment |= {"UNJAM_HOME": str(tmp_path), "UNJAM_DATABASE_URL": "postgresql://127.0.0.1:1/none"}
    (tmp_path / "workers").mkdir()
    moved = tmp_path / "workers" / "moved"
    moved.touch()
    os.utime(moved, (0, 0))
    found = probe(service)
    assert found.returncode == 0
    assert found.stderr.startswith("the database does not answer: ")
