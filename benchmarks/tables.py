"""Pattern databases: what they cost to build and to open, and what they save. One core.

    python -m benchmarks.tables DATA [--table 4x4-6-6-3 --table 5x5-6-6-6-6] [--seconds 60]

DATA as for benchmarks/known.py. Each table is built in a folder of its own inside UNJAM_TABLES, which is removed at the
end, and opened by new processes: from the disk, and from memory. 15-puzzles are Korf's 100, 24-puzzles the four of
Korf's 50 that take least; of other sizes random boards are solved, 100 or for 4x5 20.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from benchmarks.boards import random_tiles
from benchmarks.known import Case, korf24, korf100
from unjam import _kernels
from unjam.search import tables
from unjam.search.encode import run_kernel
from unjam.search.partitions import Table, named
from unjam.search.solution import NO_LIMIT

EASIEST_24 = ("korf24 25", "korf24 38", "korf24 40", "korf24 44")
TABLES = ("4x4-6-6-3", "4x4-7-8-compressed", "4x4-7-8", "5x5-6-6-6-6", "3x5-7-7", "4x5-7-6-6")
T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--table", action="append", help=f"by default {', '.join(TABLES)}")
    parser.add_argument("--seconds", type=float, default=60, help="for each board")
    options = parser.parse_args()
    wrong = 0
    tables.folder().mkdir(parents=True, exist_ok=True)
    for name in options.table or TABLES:
        with tempfile.TemporaryDirectory(dir=tables.folder()) as folder, _environment(folder):
            print(_in_new_process(build, name), flush=True)
            _drop_from_memory(tables.path_of(named(name)))
            cold = _in_new_process(opened, name)
            line, wrong_lengths = _in_new_process(solve, name, options.data, options.seconds)
            print(f"{name:18} opened in {cold:.3f} s wall from the disk, {line}", flush=True)
            wrong += wrong_lengths
    sys.exit(wrong > 0)


@contextmanager
def _environment(folder: str) -> Iterator[None]:
    before = os.environ.get("UNJAM_TABLES")
    os.environ["UNJAM_TABLES"] = folder
    try:
        yield
    finally:
        os.environ.pop("UNJAM_TABLES")
        if before is not None:
            os.environ["UNJAM_TABLES"] = before


def _in_new_process(work: Callable[..., T], *arguments: object) -> T:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def _drop_from_memory(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def build(name: str) -> str:
    table = named(name)
    size = sum(table.entries) / 1e6
    before, cpu, wall = _peak_megabytes(), time.process_time(), time.perf_counter()
    tables.build(table, _kernels.Control())
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    memory = _peak_megabytes() - before
    return f"{name:18} build {cpu:7.2f} s CPU, {wall:.2f} s wall, {size:,.1f} MB, peak {memory:,.0f} MB"


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def opened(name: str) -> float:
    """Seconds of wall clock; the check reads all of the file."""
    wall = time.perf_counter()
    tables.open_table(named(name))
    return time.perf_counter() - wall


def solve(name: str, data: Path, seconds: float) -> tuple[str, int]:
    """What it cost, the file being in memory, and how many lengths are wrong."""
    table = named(name)
    boards = list(cases(table, data))
    warm = opened(name)
    entries = tables.open_table(table)
    limits = _kernels.Limits(seconds, NO_LIMIT, NO_LIMIT)
    times, generated, expanded, unsolved, wrong = [], 0, 0, 0, 0
    for case in boards:
        began = time.process_time()
        result = run_kernel(case.puzzle, "step", "idastar", "pdb", False, limits, _kernels.Control(), entries)
        times.append(time.process_time() - began)
        generated += result.generated
        expanded += result.expanded
        unsolved += result.outcome != "optimal"
        wrong += result.outcome == "optimal" and case.optimum not in (None, result.length)
    return (
        f"in {warm:.3f} s from memory; {sum(times):.3f} s CPU for {len(boards)} boards, "
        f"mean {sum(times) / len(boards):.5f} s, slowest {max(times):.3f} s, "
        f"{generated / len(boards):,.0f} nodes generated a board, "
        f"{expanded / sum(times) / 1e6:.1f} million expanded a second, {unsolved} not solved, {wrong} wrong"
    ), wrong


def cases(table: Table, data: Path) -> Iterator[Case]:
    if (table.width, table.height) == (4, 4):
        yield from (case for case in korf100(data) if case.metric == "step")
    elif (table.width, table.height) == (5, 5):
        yield from (case for case in korf24(data) if case.name in EASIEST_24)
    else:
        rng = random.Random(table.name)
        for number in range(20 if table.width * table.height == 20 else 100):
            yield Case(f"random {number}", random_tiles(rng, table.width, table.height), "step", None)


if __name__ == "__main__":
    main()
