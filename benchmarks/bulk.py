"""A million boards of rush: into the store, solved, and ordered again.

    python -m benchmarks.bulk [--boards 1000000] [--cars 6 11] [--processes 2] [--seed 1]

The pack is made from the seed and lies in a temporary folder, as does a Postgres of its own. Told are the time to read
and store the order, the time that the kernel alone takes for all its boards on as many processes, the time to solve the
batch and what share of that the kernel's is, the time to order it again, and the peak of memory of any process.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from math import inf
from multiprocessing import Pool
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import orjson
from sqlalchemy import Engine, text

from benchmarks.boards import random_rush
from unjam._kernels import Control, Limits, rush_many
from unjam.packs.read import read_pack
from unjam.search.solution import NO_LIMIT, Budget
from unjam.store import batches
from unjam.store.batches import Submitted
from unjam.store.database import migrate, open_engine
from unjam.store.postgres import private_postgres
from unjam.work import drain

T = TypeVar("T")
PART = 10_000  # boards that one call of the kernel gets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=1_000_000)
    parser.add_argument("--cars", type=int, nargs=2, default=(6, 11), metavar=("LEAST", "MOST"))
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="unjam-benchmark-") as folder, private_postgres(Path(folder)) as url:
        migrate(url)
        pack = Path(folder) / "pack.txt"
        with pack.open("w") as file:
            boards = random_rush(random.Random(asked.seed), cars=tuple(asked.cars))
            file.writelines(f"{board}\n" for board in islice(boards, asked.boards))
        engine = open_engine(url)
        with PeakMemory() as memory:
            order, _ = timed("order", lambda: submit(engine, pack))
            tell(order)
            with engine.connect() as connection:
                last = connection.execute(text("SELECT max(id) FROM puzzle")).scalar_one()
            engine.dispose()
            with Pool(asked.processes) as pool:
                parts = [(url, first, first + PART) for first in range(0, last + 1, PART)]
                alone = sum(pool.imap_unordered(kernel_seconds, parts)) / asked.processes
            print(f"{'kernel alone':13} {alone:8.2f} s", flush=True)
            _, solving = timed("solve", lambda: drain(url, order.batch_id, asked.processes))
            print(
                f"  the kernel alone takes {alone / solving:.0%} of that; {asked.boards / solving:,.0f} boards a second"
            )
            tell(timed("order again", lambda: submit(engine, pack))[0])
        print(f"peak of memory: {memory.peak / 1e6:,.0f} MB of {memory.of}")
        print(batches.status(engine, order.batch_id).outcomes)
        engine.dispose()


def submit(engine: Engine, pack: Path) -> Submitted:
    with pack.open("rb") as file:
        return batches.submit(engine, read_pack(file, format="lines"), budget=Budget(seconds=60))


def tell(order: Submitted) -> None:
    print(f"  {order.levels:,} levels, {order.new:,} new, {order.answered:,} answered, {len(order.chunks):,} chunks")


def timed(what: str, run: Callable[[], T]) -> tuple[T, float]:
    """What it gives, and its seconds."""
    began = time.perf_counter()
    result = run()
    seconds = time.perf_counter() - began
    print(f"{what:13} {seconds:8.2f} s", flush=True)
    return result, seconds


def kernel_seconds(part: tuple[str, int, int]) -> float:
    """What the kernel takes for the puzzles with these ids, and nothing else."""
    url, first, end = part
    engine = open_engine(url)
    with engine.connect() as connection:
        query = text("SELECT canonical FROM puzzle WHERE id >= :first AND id < :end ORDER BY id")
        forms = connection.execute(query, {"first": first, "end": end}).scalars().all()
    engine.dispose()
    boards = [orjson.loads(form)["board"] for form in forms]
    began = time.perf_counter()
    rush_many(boards, "slide", Limits(inf, NO_LIMIT, 2_000_000_000), inf, Control())
    return time.perf_counter() - began


class PeakMemory:
    """The most that any one process of ours, or of those it started, has had in memory since it began."""

    def __init__(self) -> None:
        self.peak, self.of = 0, ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.5):
            ours = {os.getpid()}
            processes = sorted((int(path.name), path) for path in Path("/proc").glob("[0-9]*"))
            for number, path in processes:
                with suppress(OSError):
                    status = dict(line.split(":", 1) for line in (path / "status").read_text().splitlines())
                    if number in ours or int(status["PPid"]) in ours:
                        ours.add(number)
                        peak = int(status["VmHWM"].split()[0]) * 1024
                        if peak > self.peak:
                            self.peak, self.of = peak, status["Name"].strip()


if __name__ == "__main__":
    main()
