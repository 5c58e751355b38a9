"""Klotski at its largest: all boards of its kind by component, and a board whose positions do not fit into memory.

    python -m benchmarks.klotski [--memory 1e9] [--metric step]

The board has 98,887,052 arrangements of its pieces; its goal is its own start turned by half a turn, so that nearly all
of them are searched. It runs in a process of its own, whose peak of resident memory is told. Takes minutes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from math import inf

import unjam
from unjam import _kernels
from unjam.search.solution import NO_LIMIT

KIND = (4, 5, 2, 29_334_498, 25_422)  # width, height, empty cells at least; boards and components
BOARD = ("AABCDE", "AABCDE", "FGHII.", "FGHJJ.", "KKLL..", "......")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=float, default=1e9, help="budget of bytes of the large board")
    parser.add_argument("--metric", choices=("path", "slide", "step"), default="step")
    options = parser.parse_args()
    right = kind()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        line, fits = pool.apply(large_board, (options.metric, int(options.memory)))
    print(line)
    sys.exit(not (right and fits))


def kind() -> bool:
    width, height, empty, boards, components = KIND
    began = time.thread_time()
    found = _kernels.klotski_components(
        width, height, empty, _kernels.Limits(inf, NO_LIMIT, NO_LIMIT), _kernels.Control()
    )
    seconds = time.thread_time() - began
    right = (sum(found.sizes), len(found.sizes)) == (boards, components)
    print(
        f"{width}x{height}: {sum(found.sizes):,} boards in {len(found.sizes):,} components, the largest of"
        f" {found.sizes[0]:,}: {seconds:.3f} s: {'right' if right else 'WRONG'}",
        flush=True,
    )
    return right


def large_board(metric: str, memory: int) -> tuple[str, bool]:
    goal = [row[::-1] for row in reversed(BOARD)]
    puzzle = unjam.parse("klotski", list(BOARD), goal=goal, goal_mode="class")
    answer = unjam.solve(puzzle, metric, unjam.Budget(bytes=memory))
    if answer.outcome is unjam.Outcome.OPTIMAL:
        unjam.verify(puzzle, answer)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    line = (
        f"large board, {metric}: {answer.outcome} {answer.length or answer.lower}, {answer.peak_states:,} positions,"
        f" {answer.generated:,} generated, {answer.cpu_seconds:.1f} s, {answer.peak_bytes / 1e6:.0f} MB asked for,"
        f" {peak / 1e6:.0f} MB resident"
    )
    return line, answer.outcome is not unjam.Outcome.FAILED and answer.peak_bytes <= memory


if __name__ == "__main__":
    main()
