"""Random 15-puzzles in slides: IDA* and breadth-first search from both ends must say the same length.

    python -m benchmarks.both_ends [--boards 10] [--seed 1]

A board of 32 slides, the mean, takes some minutes and about 2 GB from both ends; one beyond the budget is told as
unfinished. The two searches share the rules of the kernel, not the method: one rests on lower bounds, the other on
none.
"""

from __future__ import annotations

import argparse
import random
import sys

import unjam
from benchmarks.boards import random_tiles


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory", type=float, default=4e9, help="budget of one solve, in bytes")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    wrong = 0
    for _ in range(arguments.boards):
        puzzle = random_tiles(rng, 4, 4)
        budget = unjam.Budget(bytes=int(arguments.memory))
        deep = unjam.solve(puzzle, "slide", budget)
        wide = unjam.solve(puzzle, "slide", budget, algorithm="two-way")
        for answer in (deep, wide):
            unjam.verify(puzzle, answer)
        finished = None not in (deep.length, wide.length)
        wrong += finished and deep.length != wide.length
        verdict = "" if deep.length == wide.length else "WRONG  " if finished else "unfinished  "
        print(
            f"{' '.join(map(str, puzzle.board)):38} {deep.length} / {wide.length} slides  {verdict}"
            f"idastar {deep.cpu_seconds:.2f} s {deep.generated:,} nodes  two-way {wide.cpu_seconds:.1f} s"
            f" {wide.peak_states:,} states {wide.peak_bytes / 1e6:,.0f} MB",
            flush=True,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
