"""How fast: CPU time of the kernels on one core, and what `unjam solve` adds to it.

    python -m benchmarks.speed DATA

DATA as for benchmarks/known.py. Times of one run compare with each other; machines are noisy. Takes some minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from math import inf
from pathlib import Path
from typing import Any

import unjam
from benchmarks.known import Case, korf100, rush
from unjam import _kernels
from unjam.puzzles.klotski import Klotski
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.puzzles.rush import Rush
from unjam.search import level_atlas
from unjam.search.encode import rush_arguments
from unjam.search.solution import NO_LIMIT

CLASSIC = ("BAAC/BAAC/DFFE/DGHE/I..J", "..../..../..../.AA./.AA.")
LARGE_COMPONENT = "BBoJoooHoJCCGHAAKLGDDoKLooIEEoFFIooo"  # 541,934 states
BIG_FAMILY = (".BAAC./.BAAC./EDDDDF/GHHIIJ/KLLMMN", "....../....../....../..AA../..AA..")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    for name, (board, goal) in (("classic", CLASSIC), ("big family", BIG_FAMILY)):
        for metric in ("path", "slide", "step"):
            one(f"{name} {metric}", unjam.parse("klotski", board, goal=goal), metric)
    classic = unjam.parse("klotski", CLASSIC[0], goal=CLASSIC[1])
    assert isinstance(classic, Klotski)
    whole_component(classic)
    for metric in classic.metrics:
        whole_graph("the classic", classic, metric)
    for metric in ("slide", "step"):
        many(f"2,000 rush boards, {metric}", (case for case in rush(data) if case.metric == metric))
        rush_kernel(metric, [case.puzzle for case in rush(data) if case.metric == metric])
        rush_component(metric)
        whole_graph("the rush component", Rush.parse(LARGE_COMPONENT), metric)
    for metric in ("step", "slide"):
        many(f"Korf's 100, {metric}", (case for case in korf100(data) if case.metric == metric))
    whole_program(data / "rush_known.csv")


def one(name: str, puzzle: Puzzle, metric: str) -> None:
    answer = unjam.solve(puzzle, metric)
    if answer.cpu_seconds < 0.1:
        answer = min((unjam.solve(puzzle, metric) for _ in range(9)), key=lambda answer: answer.cpu_seconds)
    print(
        f"{name:28} {answer.length:4} moves {answer.cpu_seconds:9.4f} s  {answer.peak_states:12,} states"
        f"  {answer.peak_bytes / 1e6:8.1f} MB",
        flush=True,
    )


def whole_component(puzzle: Klotski) -> None:
    """Every position that can be reached, as of a puzzle without a goal."""
    seconds = []
    for _ in range(9):
        limits, control = _kernels.Limits(60, NO_LIMIT, 10**9), _kernels.Control()
        board = puzzle.width, puzzle.height, puzzle.grid(), puzzle.classes
        began = time.thread_time()
        result = _kernels.klotski(*board, [], [], [], "step", "bfs", limits, control)
        seconds.append(time.thread_time() - began)
    print(f"{'classic, all positions':28} {min(seconds):20.4f} s  {result.peak_states:12,} states", flush=True)


def many(name: str, cases: Iterable[Case]) -> None:
    answers = [unjam.solve(case.puzzle, case.metric) for case in cases]
    seconds = [answer.cpu_seconds for answer in answers]
    generated = sum(answer.generated for answer in answers)
    print(f"{name:28} {sum(seconds):14.3f} s  slowest {max(seconds):.3f} s, {generated:,} nodes generated", flush=True)


def rush_kernel(metric: Metric, puzzles: list[Puzzle]) -> None:
    """The calls of the kernel alone, without thread, encoding and check."""
    boards = [rush_arguments(puzzle) for puzzle in puzzles if isinstance(puzzle, Rush)]
    seconds = min(timed(lambda: [explore(board, metric) for board in boards]) for _ in range(3))
    print(f"{'  the kernel alone':28} {seconds:14.3f} s", flush=True)


def rush_component(metric: Metric) -> None:
    puzzle = Rush.parse(LARGE_COMPONENT)
    board = (*rush_arguments(puzzle)[:-1], -1)
    states = explore(board, metric).peak_states
    seconds = min(timed(lambda: explore(board, metric)) for _ in range(9))
    print(f"{f'whole rush component, {metric}':28} {seconds:14.4f} s  {states:,} states", flush=True)


def whole_graph(name: str, puzzle: Puzzle, metric: Metric) -> None:
    """Every position with its distance; then what is asked about one."""
    found = level_atlas.explore(puzzle, metric, control=_kernels.Control())
    assert found.atlas is not None
    atlas, start = found.atlas, found.atlas.level.start()
    seconds = min(timed(lambda: level_atlas.explore(puzzle, metric, control=_kernels.Control())) for _ in range(5))
    asked = min(timed(lambda: (atlas.moves_left(puzzle), atlas.next_moves(start))) for _ in range(100))
    counted = timed(lambda: atlas.solutions(start, control=_kernels.Control()))
    print(
        f"{f'graph of {name}, {metric}':28} {seconds:14.4f} s  {found.states:,} states"
        f"  {found.peak_bytes / 1e6:.1f} MB; moves left and next moves {asked * 1e6:.0f} us,"
        f" solutions {counted * 1e3:.1f} ms",
        flush=True,
    )


def explore(board: tuple[Any, ...], metric: Metric) -> _kernels.Result:
    return _kernels.rush(*board, metric, "bfs", _kernels.Limits(inf, NO_LIMIT, NO_LIMIT), _kernels.Control())


def timed(run: Callable[[], object]) -> float:
    began = time.thread_time()
    run()
    return time.thread_time() - began


def whole_program(pack: Path) -> None:
    """From the command to its end, database and all, beside the time its searches took."""
    command = [sys.executable, "-m", "cli", "solve", str(pack), "--family", "rush", "--json"]
    with tempfile.TemporaryDirectory(dir="/tmp") as home:
        environment = {**os.environ, "UNJAM_HOME": home}
        environment.pop("UNJAM_DATABASE_URL", None)
        for run in ("first, empty data folder", "again, answered from the store"):
            began = time.perf_counter()
            output = subprocess.run(command, env=environment, capture_output=True, check=True).stdout
            seconds = time.perf_counter() - began
            searches = sum(json.loads(line)["seconds"] for line in output.splitlines())
            print(f"unjam solve, {run}: {seconds:.2f} s; searches {searches:.2f} s on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
