"""Prove every known answer again by the second algorithm of its family, as `unjam verify --deep` does, on one core.

    python -m benchmarks.deep DATA [--only korf100 --only rush] [--seconds 60] [--memory 2e9]

DATA as for benchmarks/known.py. What is not proven within the budget is told; exit code 1 if the two searches disagree.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import unjam
from benchmarks.known import SETS
from unjam.search.deep import prove

NAMES = [name for name in SETS if name != "manhattan"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", action="append", choices=NAMES, help="one of the sets; may be repeated")
    parser.add_argument("--seconds", type=float, default=60, help="budget of one search")
    parser.add_argument("--memory", type=float, default=2e9, help="budget of one search, in bytes")
    arguments = parser.parse_args()
    budget = unjam.Budget(seconds=arguments.seconds, bytes=int(arguments.memory))
    wrong = 0
    for name in arguments.only or NAMES:
        verdicts = {True: 0, False: 0, None: 0}
        solving = proving = slowest = 0.0
        for case in SETS[name](arguments.data):
            answer = unjam.solve(case.puzzle, case.metric, budget)
            if answer.outcome is unjam.Outcome.BOUNDED:
                print(f"  not solved: {case.name}: {answer.reason}", flush=True)
                continue
            began = time.process_time()
            proof = prove(case.puzzle, answer, budget)
            seconds = time.process_time() - began
            verdicts[proof.holds] += 1
            solving += answer.cpu_seconds
            proving += seconds
            slowest = max(slowest, seconds)
            if not proof.holds or seconds > 10:
                what = {True: "proven", False: "WRONG", None: "not proven"}[proof.holds]
                second = proof.second
                print(
                    f"  {what}: {case.name}: {seconds:.1f} s (solved in {answer.cpu_seconds:.1f} s), {second.algorithm}"
                    f" {second.heuristic or ''} {second.lower}.. of {answer.length}, {second.peak_states:,} states,"
                    f" {second.peak_bytes / 1e6:,.0f} MB: {proof.reason}",
                    flush=True,
                )
        wrong += verdicts[False]
        print(
            f"{name:9} {verdicts[True]} proven, {verdicts[None]} not within the budget, {verdicts[False]} wrong;"
            f" solved in {solving:.2f} s, proven again in {proving:.2f} s, slowest {slowest:.2f} s",
            flush=True,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
