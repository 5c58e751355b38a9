"""What is known when a budget ends: how long it takes, how far the bounds are apart, how good the solution is.

    python -m benchmarks.bounded DATA [--seconds 1] [--fifteen 1000] [--twenty-four 20] [--metric step]

DATA as for benchmarks/known.py. Solves random 15-puzzles and 24-puzzles in one process, with the tables that are in the
folder UNJAM_TABLES, then the boards whose optimum is known. Every solution is replayed. Wall time of the whole solve.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterable
from math import ceil
from pathlib import Path

import unjam
from benchmarks.boards import random_tiles
from benchmarks.known import Case, korf24, korf100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--seconds", type=float, default=1, help="for each board")
    parser.add_argument("--fifteen", type=int, default=1000, metavar="BOARDS")
    parser.add_argument("--twenty-four", type=int, default=20, metavar="BOARDS")
    parser.add_argument("--metric", choices=("step", "slide"), default="step")
    options = parser.parse_args()
    budget = unjam.Budget(seconds=options.seconds)
    known = [case for case in korf100(options.data) if case.metric == options.metric]
    for name, cases in (
        (f"{options.fifteen} random 15-puzzles", random_cases(4, options.fifteen, options.metric)),
        (f"{options.twenty_four} random 24-puzzles", random_cases(5, options.twenty_four, options.metric)),
        ("Korf's 100 15-puzzles", known),
        ("Korf's 50 24-puzzles", korf24(options.data) if options.metric == "step" else ()),
    ):
        run(name, list(cases), budget)


def random_cases(side: int, count: int, metric: str) -> Iterable[Case]:
    rng = random.Random(f"{side}x{side}")
    return (Case("random", random_tiles(rng, side, side), metric, None) for _ in range(count))


def run(name: str, cases: list[Case], budget: unjam.Budget) -> None:
    if not cases:
        return
    unjam.solve(cases[0].puzzle, cases[0].metric, unjam.Budget(seconds=10, nodes=100))  # reads tables, once
    waits, gaps, excess = [], [], []
    for case in cases:
        began = time.perf_counter()
        answer = unjam.solve(case.puzzle, case.metric, budget)
        waits.append(time.perf_counter() - began)
        unjam.verify(case.puzzle, answer)
        assert answer.lower is not None
        assert answer.upper is not None
        gaps.append(answer.upper - answer.lower)
        if case.optimum is not None:
            assert answer.lower <= case.optimum <= answer.upper
            excess.append(answer.upper - case.optimum)
    bounded = [gap for gap in gaps if gap]
    line = f"{name}: {len(cases) - len(bounded)} optimal, {len(bounded)} bounded"
    if bounded:
        line += f" with a gap of {sum(bounded) / len(bounded):.2f} in the mean, {max(bounded)} at most"
    if excess:
        line += f"; {sum(excess) / len(excess):.2f} beyond the optimum, {excess.count(0)} of them not at all"
    late = sorted(waits)[ceil(0.999 * len(waits)) - 1]
    print(f"{line}; wait {max(waits):.3f} s at most, {late:.3f} s for 99.9 %", flush=True)


if __name__ == "__main__":
    main()
