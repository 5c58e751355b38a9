"""One hard board on one process and on several, and with processes killed while they search.

    python benchmarks/distributed.py [--processes 2] [--heuristic walking-distance] [--kill 3] [--seconds 3600]
    python benchmarks/distributed.py DATA --korf24 38 --korf24 40

Without DATA the board is a symmetric 15-puzzle whose bounds are far from its 70 steps. With it, 24-puzzles of Korf's 50
by their numbers, on several processes only; `unjam tables build 5x5-6-6-6-6` first. DATA as for benchmarks/known.py.
Wall times of one run compare with each other, if nothing else runs on the machine.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, text

import unjam
from benchmarks.known import korf24
from unjam.packs.entry import Entry
from unjam.puzzles.puzzle import Puzzle
from unjam.search.solution import Budget
from unjam.store import batches
from unjam.store.database import migrate, open_engine
from unjam.store.postgres import private_postgres
from unjam.work import drain

BOARD = "0 15 8 3/12 11 7 4/14 10 6 5/9 13 2 1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--korf24", type=int, action="append", default=[])
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--heuristic")
    parser.add_argument("--kill", type=float, help="kill a process every so many seconds, in a run of its own")
    parser.add_argument("--seconds", type=float, default=3600)
    asked = parser.parse_args()
    if asked.korf24 and asked.data is None:
        parser.error("--korf24 needs DATA")
    with tempfile.TemporaryDirectory(prefix="unjam-benchmark-") as home, private_postgres(Path(home)) as url:
        migrate(url)
        shared = Shared(url, asked.processes, Budget(asked.seconds), asked.heuristic)
        if asked.korf24:
            boards = {case.name: case for case in korf24(asked.data)}
            wrong = 0
            for number in asked.korf24:
                case = boards[f"korf24 {number}"]
                row, _ = shared.run(case.name, case.puzzle)
                wrong += row["outcome"] == "optimal" and row["length"] != case.optimum
            sys.exit(1 if wrong else 0)
        against_one_process(shared, asked.kill)


def against_one_process(shared: Shared, kill: float | None) -> None:
    puzzle = unjam.parse("tiles", BOARD)
    began = time.perf_counter()
    alone = unjam.solve(puzzle, "step", shared.budget, heuristic=shared.heuristic)
    wall = time.perf_counter() - began
    show("one process", wall, alone.outcome, alone.length, alone.generated)
    row, together = shared.run("shared", puzzle)
    assert row["length"] == alone.length
    print(f"{together / wall:.2f} of the time of one process")
    if kill is not None:
        row, _ = shared.run("processes killed", puzzle, kill)
        assert row["length"] == alone.length


class Shared:
    """Searches by several processes over one database."""

    def __init__(self, url: str, processes: int, budget: Budget, heuristic: str | None) -> None:
        self.url, self.processes, self.budget, self.heuristic = url, processes, budget, heuristic

    def run(self, name: str, puzzle: Puzzle, kill: float | None = None) -> tuple[dict[str, Any], float]:
        """The answer, and how long it took."""
        engine = open_engine(self.url)
        with engine.begin() as connection:
            connection.execute(text("TRUNCATE batch, puzzle CASCADE"))
        began = time.perf_counter()
        batch = batches.submit(
            engine,
            [Entry(0, 1, puzzle)],
            metric="step",
            budget=self.budget,
            heuristic=self.heuristic,
            distributed=True,
        )
        over = threading.Event()
        killer = threading.Thread(target=kill_now_and_then, args=(engine, kill or 0, over))
        if kill is not None:
            killer.start()
        try:
            drain(self.url, batch.batch_id, self.processes)
        finally:
            over.set()
        wall = time.perf_counter() - began
        [row] = batches.results(engine, batch.batch_id)
        show(f"{name}, {self.processes} processes", wall, row["outcome"], row["length"], row["generated"])
        if kill is not None:
            killer.join()
        engine.dispose()
        return row, wall


def kill_now_and_then(engine: Engine, seconds: float, over: threading.Event) -> None:
    killed = 0
    while not over.wait(seconds):
        with engine.connect() as connection:
            names = connection.execute(text("SELECT worker FROM chunk WHERE state = 'leased'")).scalars().all()
        if names:
            os.kill(int(random.choice(names).rpartition(":")[2]), signal.SIGKILL)
            killed += 1
    print(f"{killed} processes were killed")


def show(name: str, wall: float, outcome: str, length: int | None, generated: int) -> None:
    print(f"{name:32} {wall:8.2f} s  {outcome} {length}, {generated:,} nodes generated", flush=True)


if __name__ == "__main__":
    main()
