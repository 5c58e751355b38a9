"""Atlases: what they cost to build and to look up, and whether their counts are the known ones. CPU time of one core.

    python -m benchmarks.atlas DATA [--cells 12] [--boards 1000]

DATA as for benchmarks/known.py. Each row of known_depths.json up to so many cells is built in a process of its own,
in a folder that is removed afterwards; the peak is that process's resident memory, the mapped file included. Random
boards of 12 cells are solved by IDA* besides.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import unjam
from benchmarks.boards import random_tiles
from unjam._kernels import Control
from unjam.search.atlas import TilesAtlas, build_tiles_atlas

SOLVED = 20  # boards that IDA* solves, too


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cells", type=int, default=12)
    parser.add_argument("--boards", type=int, default=1000, help="random boards to look up")
    options = parser.parse_args()
    rows = json.loads((options.data / "known_depths.json").read_text())["distributions"]
    rows = [row for row in rows if row["complete"] and row["rows"] * row["columns"] <= options.cells]
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="unjam-tables-") as folder:
        os.environ["UNJAM_TABLES"] = folder
        context = multiprocessing.get_context("spawn")
        for row in rows:
            with context.Pool(1) as pool:
                line, fits = pool.apply(run, (row, options.boards))
            print(line, flush=True)
            wrong += not fits
    print(f"{len(rows)} rows, {wrong} wrong")
    sys.exit(wrong > 0)


def run(row: dict[str, Any], boards: int) -> tuple[str, bool]:
    width, height, metric = row["columns"], row["rows"], row["metric"]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu, wall = time.process_time(), time.perf_counter()
    atlas = build_tiles_atlas(width, height, row["blank_goal_cell"], metric, Control(), again=True)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fits = list(atlas.counts) == row["boards_at_depth"] and atlas.depth == row["farthest"]
    farthest = {" ".join(map(str, puzzle.board)) for puzzle in atlas.farthest()}
    fits = fits and farthest >= set(row["farthest_boards"])
    fits = fits and len(farthest) == min(atlas.counts[-1], 1000)
    look_up, sampled = timed(atlas, boards)
    if width * height == 12:
        fits = fits and agrees_with_search(atlas)
    line = (
        f"{width}x{height} {metric:5} {sum(atlas.counts):11,} boards, farthest {atlas.depth}: "
        f"{cpu:6.2f} s, wall {wall:6.2f} s, peak {peak / 1e3:.0f} MB ({before / 1e3:.0f} before), "
        f"look-up {look_up * 1e6:.1f} us, sample {sampled * 1e6:.0f} us: {'right' if fits else 'WRONG'}"
    )
    return line, fits


def timed(atlas: TilesAtlas, boards: int) -> tuple[float, float]:
    """Seconds of a look-up of a random board, and of drawing a board of the commonest depth."""
    rng = random.Random(1)
    puzzles = [random_tiles(rng, atlas.width, atlas.height, atlas.goal) for _ in range(boards)]
    cpu = time.process_time()
    for puzzle in puzzles:
        atlas.distance(puzzle)
    look_up = (time.process_time() - cpu) / boards
    depth = atlas.counts.index(max(atlas.counts))
    cpu = time.process_time()
    drawn = min(100, atlas.counts[depth])
    atlas.sample(depth, drawn, seed=1)
    return look_up, (time.process_time() - cpu) / drawn


def agrees_with_search(atlas: TilesAtlas) -> bool:
    rng = random.Random(2)
    for _ in range(SOLVED):
        puzzle = random_tiles(rng, atlas.width, atlas.height, atlas.goal)
        answer = unjam.solve(puzzle, atlas.metric, algorithm="idastar", heuristic="walking-distance")
        if answer.length != atlas.distance(puzzle):
            return False
    return True


if __name__ == "__main__":
    main()
