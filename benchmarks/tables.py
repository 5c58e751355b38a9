"""Pattern databases: what they cost to build and to open, and what they save. CPU time of one core.

    python benchmarks/tables.py DATA [--table 4x4-6-6-3 --table 5x5-6-6-6-6] [--seconds 60]

DATA as for benchmarks/known.py. Tables are built in the folder UNJAM_TABLES unless they are there, and stay. 15-puzzles
are Korf's 100, 24-puzzles the four of Korf's 50 that take least; of other sizes 20 random boards are solved.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import unjam
from benchmarks.known import Case, korf24, korf100
from unjam import _kernels
from unjam.puzzles.tiles import Tiles
from unjam.search import tables
from unjam.search.encode import run_kernel
from unjam.search.partitions import Table, named

EASIEST_24 = ("korf24 25", "korf24 38", "korf24 40", "korf24 44")
NO_LIMIT = 2**64 - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--table", action="append", help="by default 4x4-6-6-3 and 4x4-7-8")
    parser.add_argument("--seconds", type=float, default=60, help="for each board")
    options = parser.parse_args()
    wrong = 0
    for name in options.table or ("4x4-6-6-3", "4x4-7-8"):
        table = named(name)
        entries = ready(table)
        wrong += run(table, entries, list(cases(table, options.data)), options.seconds)
    sys.exit(wrong > 0)


def ready(table: Table) -> _kernels.PatternTable:
    for what, work in (("build", tables.build), ("open", lambda table, _: tables.open_table(table))):
        cpu, wall = time.process_time(), time.perf_counter()
        work(table, _kernels.Control())
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        print(
            f"{table.name:16} {what:6} {cpu:8.3f} s, wall {wall:.3f} s, {sum(table.entries) / 1e6:,.1f} MB", flush=True
        )
    return tables.open_table(table)


def cases(table: Table, data: Path) -> Iterator[Case]:
    if (table.width, table.height) == (4, 4):
        yield from (case for case in korf100(data) if case.metric == "step")
    elif (table.width, table.height) == (5, 5):
        yield from (case for case in korf24(data) if case.name in EASIEST_24)
    else:
        rng = random.Random(table.name)
        for number in range(20):
            yield Case(f"random {number}", solvable(table, rng), "step", None)


def solvable(table: Table, rng: random.Random) -> Tiles:
    numbers = list(range(table.width * table.height))
    while True:
        rng.shuffle(numbers)
        rows = [numbers[i : i + table.width] for i in range(0, len(numbers), table.width)]
        puzzle = unjam.parse("tiles", rows)
        assert isinstance(puzzle, Tiles)
        if puzzle.unsolvable_reason() is None:
            return puzzle


def run(table: Table, entries: _kernels.PatternTable, boards: list[Case], seconds: float) -> int:
    """Returns how many lengths are wrong."""
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
    print(
        f"{table.name:16} search {sum(times):8.3f} s, {len(boards)} boards, mean {sum(times) / len(boards):.5f} s, "
        f"slowest {max(times):.3f} s, {generated / len(boards):,.0f} nodes generated a board, "
        f"{expanded / sum(times) / 1e6:.1f} million expanded a second, {unsolved} not solved, {wrong} wrong",
        flush=True,
    )
    return wrong


if __name__ == "__main__":
    main()
