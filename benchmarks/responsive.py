"""How long others wait while a batch of a million boards is solved: a small batch of another key, and single boards.

    python -m benchmarks.responsive [--boards 1000000] [--seconds 60] [--processes 2]

Runs `unjam up` in a temporary folder. While it solves the large batch, a batch of ten boards is ordered with another
key every few seconds, and single boards are sent to POST /v1/solve all the time; all of them are new.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import httpx

from benchmarks.boards import random_rush
from benchmarks.open_loop import percentiles

PAUSE = 0.1  # between two single boards
SMALL = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    large, small = random_rush(random.Random(1)), random_rush(random.Random(2), cars=(10, 13))
    with tempfile.TemporaryDirectory(prefix="unjam-benchmark-") as folder, serving(Path(folder), asked) as (url, keys):
        first, second = (httpx.Client(base_url=url, headers=headers(key), timeout=600) for key in keys)
        pack = "\n".join(islice(large, asked.boards)).encode()
        began = time.monotonic()
        order = (
            first.post("/v1/batches", content=pack, headers={"Content-Type": "text/plain"}).raise_for_status().json()
        )
        print(f"{order['levels']:,} boards accepted in {time.monotonic() - began:.1f} s", flush=True)
        batches, singles = [], []
        end = time.monotonic() + asked.seconds
        due = 0.0
        while time.monotonic() < end:
            if time.monotonic() > due:
                batches.append(wait_for_batch(second, list(islice(small, SMALL))))
                due = time.monotonic() + 5
            singles.append(wait_for_board(second, next(small)))
            time.sleep(PAUSE)
        progress = first.get(f"/v1/batches/{order['id']}").json()
        print(f"large batch: {progress['done']:,} of {progress['levels']:,} done, {progress['state']}")
    if progress["state"] != "running":
        print("it was done before the measurement was: give it more boards")
    print(f"batches of {SMALL}, {len(batches)} of them: {percentiles(batches)}")
    late = sorted(singles)[int(len(singles) * 0.95)]
    print(f"single boards, {len(singles)} of them: {percentiles(singles)}, p95 {late * 1e3:.0f} ms")


def wait_for_batch(client: httpx.Client, boards: list[str]) -> float:
    began = time.monotonic()
    levels = [{"family": "rush", "board": board} for board in boards]
    batch = client.post("/v1/batches", json={"levels": levels}).raise_for_status().json()
    while batch["state"] == "running":
        time.sleep(0.05)
        batch = client.get(f"/v1/batches/{batch['id']}").raise_for_status().json()
    assert batch["done"] == len(boards), batch
    return time.monotonic() - began


def wait_for_board(client: httpx.Client, board: str) -> float:
    began = time.monotonic()
    answer = client.post("/v1/solve", json={"family": "rush", "board": board, "wait": 60})
    assert answer.status_code == 200, answer.text
    return time.monotonic() - began


def headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@contextmanager
def serving(folder: Path, asked: argparse.Namespace) -> Iterator[tuple[str, list[str]]]:
    """The whole service: its URL, and two keys."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("UNJAM_")}
    environment |= {"UNJAM_HOME": str(folder), "UNJAM_LOG_LEVEL": "error"}
    unjam = [sys.executable, "-m", "cli"]
    command = [*unjam, "up", f"--port={port}", f"--processes={asked.processes}"]
    up = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert up.stdout is not None
        for line in up.stdout:
            if line.startswith("database"):
                environment["UNJAM_DATABASE_URL"] = line.split()[1]
            if line.startswith("unjam is up"):
                break
        create = [*unjam, "keys", "create", "--json", "--scope", "submit", "--scope", "read"]
        made = [subprocess.check_output([*create, name], env=environment, text=True) for name in ("one", "two")]
        yield f"http://127.0.0.1:{port}", [json.loads(text)["key"] for text in made]
    finally:
        up.terminate()
        up.wait()


if __name__ == "__main__":
    main()
