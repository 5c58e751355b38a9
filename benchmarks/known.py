"""Solve every known answer and compare: all rows, all metrics, one process, kernel time.

    python -m benchmarks.known DATA [--only korf100 --only rush] [--seconds 120] [--memory 4e9]

DATA is a folder with the files its own README describes (korf100.csv, hard80.csv, korf24.csv, known_depths.json,
rush_known.csv, klotski_known.jsonl, parkout_known.jsonl). Exit code 1 if any count differs from the stated one. The set
`manhattan` compares the nodes that IDA* generates on all of Korf's boards, in four minutes.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import unjam
from unjam.puzzles.puzzle import Puzzle

# Rows of klotski_known.jsonl that say `class` but whose counts are those of `piece`: by shape, the first starts solved
# and the second needs 15 / 12 / 10.
NAMED_BY_PIECE = ("tarohs correctorder", "tarohs simplicity")


@dataclass(frozen=True)
class Case:
    name: str
    puzzle: Puzzle
    metric: str
    optimum: int | None  # None: unsolvable
    manhattan_nodes: int | None = None  # that IDA* with Manhattan generates: this search is to be made, and counted


def korf100(data: Path) -> Iterator[Case]:
    for row in _csv(data / "korf100.csv"):
        for metric in ("step", "slide"):
            puzzle = unjam.parse("tiles", row["tiles_blank_last"])
            yield Case(f"korf100 {row['id']} {metric}", puzzle, metric, int(row[metric]))


def manhattan(data: Path) -> Iterator[Case]:
    """36.3 billion nodes in all."""
    for row in _csv(data / "korf100.csv"):
        puzzle = unjam.parse("tiles", row["tiles_blank_first"], goal="blank-first")
        nodes = int(row["idastar_manhattan_generated"])
        yield Case(f"manhattan {row['id']}", puzzle, "step", int(row["step"]), nodes)


def hard80(data: Path) -> Iterator[Case]:
    for number, row in enumerate(_csv(data / "hard80.csv"), 1):
        yield Case(f"hard80 {number}", unjam.parse("tiles", row["tiles_blank_last"]), "step", int(row["step"]))


def korf24(data: Path) -> Iterator[Case]:
    for row in _csv(data / "korf24.csv"):
        yield Case(f"korf24 {row['id']}", unjam.parse("tiles", row["tiles_blank_last"]), "step", int(row["step"]))


def depths(data: Path) -> Iterator[Case]:
    for row in json.loads((data / "known_depths.json").read_text())["distributions"]:
        cells = row["rows"] * row["columns"]
        goal = [*range(1, cells)]
        goal.insert(row["blank_goal_cell"], 0)
        for board in row.get("farthest_boards") or []:
            name = f"{row['rows']}x{row['columns']} blank {row['blank_goal_cell']} {row['metric']} {board}"
            puzzle = unjam.parse("tiles", _rows(board, row["columns"]), goal=_rows(goal, row["columns"]))
            yield Case(name, puzzle, row["metric"], row["farthest"])


def rush(data: Path) -> Iterator[Case]:
    for metric in ("slide", "step"):
        for row in _csv(data / "rush_known.csv"):
            yield Case(f"rush {row['board']} {metric}", unjam.parse("rush", row["board"]), metric, int(row[metric]))


def klotski(data: Path) -> Iterator[Case]:
    for row in _lines(data / "klotski_known.jsonl"):
        mode = "piece" if row["name"].startswith(NAMED_BY_PIECE) else row["goal_mode"]
        puzzle = unjam.parse("klotski", row["board"], goal=row["goal"], goal_mode=mode)
        for metric in ("path", "slide", "step"):
            optimum = row["optimal"][metric] if row["solvable"] else None
            yield Case(f"klotski {row['name']} {metric}", puzzle, metric, optimum)


def parkout(data: Path) -> Iterator[Case]:
    for number, row in enumerate(_lines(data / "parkout_known.jsonl"), 1):
        yield Case(f"parkout {number}", unjam.parse("parkout", row["board"]), "slide", row["slide"])


SETS: dict[str, Callable[[Path], Iterator[Case]]] = {
    set_.__name__: set_ for set_ in (korf100, manhattan, hard80, korf24, depths, rush, klotski, parkout)
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", action="append", choices=SETS, help="one of the sets; may be repeated")
    parser.add_argument("--seconds", type=float, default=120, help="budget of one solve")
    parser.add_argument("--memory", type=float, default=4e9, help="budget of one solve, in bytes")
    arguments = parser.parse_args()
    budget = unjam.Budget(seconds=arguments.seconds, bytes=int(arguments.memory))
    wrong = 0
    for name in arguments.only or SETS:
        right = unfinished = total = 0
        seconds = slowest = 0.0
        for case in SETS[name](arguments.data):
            counted = case.manhattan_nodes is not None
            search = {"algorithm": "idastar", "heuristic": "manhattan"} if counted else {}
            answer = unjam.solve(case.puzzle, case.metric, budget, **search)
            total += 1
            seconds += answer.cpu_seconds
            slowest = max(slowest, answer.cpu_seconds)
            if answer.outcome == "bounded":
                unfinished += 1
                print(f"  unfinished: {case.name}: {answer.lower}.. of {case.optimum}, {answer.reason}", flush=True)
            elif counted and answer.generated != case.manhattan_nodes:
                wrong += 1
                print(f"  WRONG: {case.name}: {answer.generated:,} nodes, not {case.manhattan_nodes:,}", flush=True)
            elif answer.outcome == ("unsolvable" if case.optimum is None else "optimal") and (
                answer.length == case.optimum
            ):
                right += 1
                unjam.verify(case.puzzle, answer)
            else:
                wrong += 1
                print(f"  WRONG: {case.name}: {answer.outcome} {answer.length}, stated {case.optimum}", flush=True)
        print(
            f"{name:9} {right} of {total} right, {unfinished} unfinished, {seconds:.2f} s, slowest {slowest:.2f} s",
            flush=True,
        )
    return 1 if wrong else 0


def _csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _rows(board: str | list[int], columns: int) -> list[list[int]]:
    tiles = [int(tile) for tile in board.split()] if isinstance(board, str) else board
    return [tiles[start : start + columns] for start in range(0, len(tiles), columns)]


if __name__ == "__main__":
    sys.exit(main())
