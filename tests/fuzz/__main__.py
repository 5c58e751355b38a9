"""``python -m tests.fuzz``: all targets, or some."""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.fuzz import all_targets, run


def main() -> int:
    targets = all_targets()
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=f"Targets: {', '.join(targets)}.")
    parser.add_argument("targets", nargs="*", choices=[[], *targets], metavar="TARGET", help="all, unless named")
    parser.add_argument("--seconds", type=float, default=60, help="for each target (60)")
    parser.add_argument("--seed", type=int, default=0, help="of the cases (0)")
    parser.add_argument("--case", type=int, help="run this one only, here, and print the calls of the kernels")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="targets at once (the number of cores)")
    asked = parser.parse_args()
    names = asked.targets or [*targets]
    if asked.case is not None:
        for name in names:
            run.repeat(targets[name], asked.seed, asked.case)
        return 0
    print(f"{len(names)} fuzz targets, {asked.seconds:g} seconds each, seed {asked.seed}", flush=True)
    failed = 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        runs = pool.map(lambda name: run.watch(targets[name], asked.seed, asked.seconds), names)
        for name, (cases, finding) in zip(names, runs, strict=True):
            print(f"{name:22} {cases:9,} cases", flush=True)
            if finding:
                failed += 1
                print(finding)
                print(f"Again: python -m tests.fuzz {name} --seed {asked.seed} --case {cases - 1}", flush=True)
    print(f"fuzz: {len(names) - failed} passed, {failed} failed")
    return min(failed, 1)


sys.exit(main())
