"""The kernels of klotski, rush and parkout: known counts, second opinions, the checkers, and what budgets promise."""

from __future__ import annotations

import csv
import json
import math
import resource
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from tests import raw_boards as raw
from unjam import _kernels_base

try:
    from unjam import _kernels_v3
except ImportError:  # another processor
    _kernels_v3 = _kernels_base

kernels = _kernels_v3 if _kernels_base.supports_v3() else _kernels_base
ALGORITHMS = ("bfs", "astar", "idastar")
UNLIMITED = 2**64 - 1
MOST_NODES = 2_000_000  # IDA* may visit a few hundred positions millions of times; then its bound has to hold
CLASSIC = "BAACBAACDFFEDGHEI..J"


def limits(module: ModuleType = kernels, seconds: float = 60, nodes: int = UNLIMITED, size: int = 2_000_000_000) -> Any:
    return module.Limits(seconds, nodes, size)


def klotski_from(width: int, board: str, goal: str) -> raw.Klotski:
    """Goal letters name pieces; the others are interchangeable by shape."""

    def shape(letter: str, grid: str) -> tuple[int, tuple[tuple[int, int], ...]]:
        cells = raw.cells_of([ord(c) for c in grid], ord(letter))
        return cells[0], tuple((c // width - cells[0] // width, c % width - cells[0] % width) for c in cells)

    letters = [c for c in dict.fromkeys(board) if c not in ".#-"]
    named = [c for c in dict.fromkeys(goal) if c not in ".#-"]
    numbers: dict[object, int] = {}
    classes = []
    for c in letters:
        form = shape(c, board)[1]
        classes.append(numbers.setdefault((c, form) if c in named else form, len(numbers)))
    gates = [cell for cell, c in enumerate(board) if c == "-"]
    goals = [(classes[letters.index(c)], shape(c, goal)[0]) for c in named]
    cells = [-2 if c == "#" else -1 if c in ".-" else letters.index(c) for c in board]
    return raw.Klotski(width, len(board) // width, cells, classes, gates, sorted(k for k, _ in goals), goals)


def rush_from(board: str) -> raw.Rush:
    letters = [c for c in dict.fromkeys(board) if c not in ".ox"]
    cells = [-2 if c == "x" else -1 if c in ".o" else letters.index(c) for c in board]
    primary = [cell for cell, c in enumerate(board) if c == "A"]
    return raw.Rush(6, 6, cells, letters.index("A"), primary[0] // 6 * 6 + 6 - len(primary))


def parkout_from(rows: list[str]) -> raw.Parkout:
    width, height, board = len(rows[0]), len(rows), "".join(rows)
    letters = sorted({c.lower() for c in board} - set(".#"))
    noses = []
    for letter in letters:
        cells = [cell for cell, c in enumerate(board) if c.lower() == letter]
        first = board[cells[0]].isupper()
        noses.append((3 if first else 1) if cells[1] - cells[0] == 1 else (0 if first else 2))
    cells = [-2 if c == "#" else -1 if c == "." else letters.index(c.lower()) for c in board]
    slots = 2 * (width + height)
    return raw.Parkout(width, height, cells, noses, [False] * len(letters), [0] * slots, [raw.NEVER] * slots)


CLASSIC_PUZZLE = klotski_from(4, CLASSIC, "." * 13 + "AA..AA.")
# 15 different singles: far too many positions for any budget of a test.
ENDLESS = raw.Klotski(4, 4, [*range(15), -1], [*range(15)], [], [], [(14, 0), (0, 14), (1, 13), (2, 12), (3, 11)])


def solve(
    module: ModuleType,
    puzzle: Any,
    metric: str = "slide",
    algorithm: str = "bfs",
    prune: bool = False,
    nodes: int = UNLIMITED,
) -> Any:
    budget, control = limits(module, nodes=nodes), module.Control()
    if isinstance(puzzle, raw.Klotski):
        return module.klotski(*puzzle, metric, algorithm, budget, control)
    if isinstance(puzzle, raw.Rush):
        return module.rush(*puzzle, metric, algorithm, budget, control)
    return module.parkout(*puzzle, prune, algorithm, budget, control)


def check(puzzle: Any, metric: str, moves: list[tuple[int, int]]) -> str:
    if isinstance(puzzle, raw.Klotski):
        return str(kernels.check_klotski(*puzzle, metric, moves))
    if isinstance(puzzle, raw.Rush):
        return str(kernels.check_rush(*puzzle, metric, moves))
    return str(kernels.check_parkout(*puzzle, moves))


def agree(
    puzzle: Any, metric: str, expected: int | None, prune: bool = False, algorithms: tuple[str, ...] = ALGORITHMS
) -> None:
    for algorithm in algorithms:
        result = solve(kernels, puzzle, metric, algorithm, prune, MOST_NODES if algorithm == "idastar" else UNLIMITED)
        if result.outcome == "bounded":
            assert algorithm == "idastar"
            assert expected is None or result.lower <= expected
            continue
        answer = ("unsolvable", -1) if expected is None else ("optimal", expected)
        assert (result.outcome, result.length) == answer, (puzzle, metric, algorithm)
        if expected is not None:
            assert len(result.moves) == expected
            assert check(puzzle, metric, result.moves) == "", (puzzle, metric, algorithm, result.moves)


@pytest.mark.parametrize(("metric", "length"), [("step", 116), ("slide", 90), ("path", 81)])
def test_classic_klotski(metric: str, length: int) -> None:
    for algorithm in ("bfs", "astar"):
        result = solve(kernels, CLASSIC_PUZZLE, metric, algorithm)
        assert (result.outcome, result.length, result.lower, result.upper) == ("optimal", length, length, length)
        assert check(CLASSIC_PUZZLE, metric, result.moves) == ""
        assert sum(result.profile) == (result.peak_states if algorithm == "bfs" else result.expanded)


@pytest.mark.parametrize("algorithm", ["bfs", "astar"])
def test_without_a_goal_all_states_are_counted(algorithm: str) -> None:
    result = solve(kernels, CLASSIC_PUZZLE._replace(goal=[]), "slide", algorithm)
    assert (result.outcome, result.peak_states) == ("unsolvable", 25_955)


def test_rush_states_and_counts(shared_data: Path) -> None:
    with (shared_data / "rush_known.csv").open() as file:
        rows = list(csv.DictReader(file))[::40]
    for row in rows:
        puzzle = rush_from(row["board"])
        for metric in ("slide", "step"):
            agree(puzzle, metric, int(row[metric]) if row[metric] else None, algorithms=("bfs", "astar"))
        everything = solve(kernels, puzzle._replace(goal_cell=-1))
        assert (everything.outcome, everything.peak_states) == ("unsolvable", int(row["reachable_states"]))


def test_klotski_counts(shared_data: Path) -> None:
    lines = (shared_data / "klotski_known.jsonl").read_text().splitlines()
    slow = ("Time Machine", "big family", "Solomon", "Elevator", "Climb")
    for row in map(json.loads, lines[::4]):
        if row["goal_mode"] == "piece" and not any(name in row["name"] for name in slow):
            puzzle = klotski_from(len(row["board"][0]), "".join(row["board"]), "".join(row["goal"]))
            for metric in ("step", "slide", "path"):
                result = solve(kernels, puzzle, metric)
                assert result.length == (row["optimal"][metric] if row["optimal"] else -1), row["name"]
                assert row["optimal"] is None or check(puzzle, metric, result.moves) == ""


def test_parkout_counts(shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "parkout_known.jsonl").read_text().splitlines()]
    for row in rows:
        agree(parkout_from(row["board"]), "slide", row["slide"], prune=True)
    example = parkout_from(rows[0]["board"])
    assert solve(kernels, example, prune=True).peak_states == 647
    unpruned = solve(kernels, example)
    assert (unpruned.length, unpruned.peak_states) == (10, 177_953)


def small_boards(
    count: int, make: Callable[[], Any], solve: Callable[[Any], int | None]
) -> Iterator[tuple[Any, int | None]]:
    """Random boards with the lengths that plain Python finds."""
    while count:
        puzzle = make()
        try:
            expected = solve(puzzle)
        except raw.TooLarge:
            continue
        yield puzzle, expected
        count -= 1


@pytest.mark.parametrize("metric", ["step", "slide", "path"])
def test_random_klotski_agrees(metric: str) -> None:
    random = Random(f"klotski {metric}")
    lengths = set()
    for puzzle, expected in small_boards(
        150, lambda: raw.random_klotski(random), lambda board: raw.solve_klotski(board, metric)
    ):
        agree(puzzle, metric, expected)
        lengths.add(expected)
    assert {None, 0, 1, 2, 3} <= lengths


@pytest.mark.parametrize("metric", ["step", "slide"])
def test_random_rush_agrees(metric: str) -> None:
    random = Random(f"rush {metric}")
    for puzzle, expected in small_boards(
        150, lambda: raw.random_rush(random), lambda board: raw.solve_rush(board, metric)
    ):
        agree(puzzle, metric, expected)


@pytest.mark.parametrize("gates", [False, True])
def test_random_parkout_agrees(gates: bool) -> None:
    random = Random(f"parkout {gates}")
    for puzzle, expected in small_boards(150, lambda: raw.random_parkout(random, gates=gates), raw.solve_parkout):
        for prune in (False, True):
            agree(puzzle, "slide", expected, prune)


def test_large_boards_use_long_keys() -> None:
    width, height = 16, 8
    for pieces in (10, 40, 80, 126):  # up to 882 bits
        board = [*range(pieces)] + [-2] * (width * height - pieces - 2) + [-1, -1]
        board[pieces - 1], board[-2] = -1, pieces - 1  # the last piece stands by a hole of its own
        board[-1] = -1
        puzzle = raw.Klotski(width, height, board, [*range(pieces)], [], [], [(pieces - 1, width * height - 1)])
        agree(puzzle, "path", 1)
        unordered = puzzle._replace(classes=[0] * pieces, goal=[(0, pieces - 1), (0, width * height - 1)])
        agree(unordered, "path", 2)


def test_start_at_the_goal() -> None:
    puzzle = CLASSIC_PUZZLE._replace(goal=[(CLASSIC_PUZZLE.classes[1], 1)])
    agree(puzzle, "path", 0)


@pytest.mark.skipif(kernels is _kernels_base, reason="this processor runs the portable build only")
def test_portable_build_agrees() -> None:
    random = Random("portable")
    puzzles: list[Any] = [CLASSIC_PUZZLE]
    for _ in range(50):
        puzzles += [raw.random_klotski(random), raw.random_rush(random), raw.random_parkout(random, gates=True)]
    counts = ("outcome", "length", "moves", "expanded", "generated", "peak_states", "peak_bytes", "profile")
    for puzzle in puzzles:
        one, other = solve(_kernels_base, puzzle), solve(_kernels_v3, puzzle)
        for field in counts:
            assert getattr(one, field) == getattr(other, field), (puzzle, field)


def test_checkers_reject_mutated_solutions() -> None:
    random = Random("mutations")
    puzzles: list[Any] = [CLASSIC_PUZZLE]
    puzzles += [raw.random_klotski(random) for _ in range(100)]
    puzzles += [raw.random_rush(random) for _ in range(100)]
    puzzles += [raw.random_parkout(random, gates=True) for _ in range(100)]
    tried = 0
    for puzzle in puzzles:
        result = solve(kernels, puzzle)
        if result.length < 1 or -1 not in puzzle.board:
            continue
        moves, cells = list(result.moves), puzzle.width * puzzle.height
        tried += 1
        # The last move is needed, and no other can be replaced by one that is no move at all.
        assert check(puzzle, "slide", moves[:-1]) != ""
        at = random.randrange(len(moves))
        cell, to = moves[at]
        wrong = [
            (cells, to),
            (-2, to),
            (cell, cells),
            (cell, -2),
            (cell, cell),
            (puzzle.board.index(-1), cell),
        ]
        for move in wrong[: 5 if at else 6]:
            assert check(puzzle, "slide", [*moves[:at], move, *moves[at + 1 :]]) != "", (puzzle, move)
    assert tried > 80


def test_node_budget_is_exact() -> None:
    for algorithm in ALGORITHMS:
        result = kernels.klotski(*ENDLESS, "step", algorithm, limits(nodes=12_345), kernels.Control())
        assert (result.outcome, result.reason, result.generated) == ("bounded", "nodes", 12_345)
        assert result.lower > 0
        assert (result.length, result.upper) == (-1, -1)
        assert result.expanded < 12_345


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_byte_budget(algorithm: str) -> None:
    size = 100_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    result = kernels.klotski(*ENDLESS, "step", algorithm, limits(seconds=60, size=size), kernels.Control())
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert (result.outcome, result.reason) == ("bounded", "bytes")
    assert result.peak_bytes <= size
    assert result.peak_bytes > size / 4
    assert after - before < 1.2 * size


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_time_budget(algorithm: str) -> None:
    start = time.monotonic()
    result = kernels.klotski(*ENDLESS, "path", algorithm, limits(seconds=0.5), kernels.Control())
    elapsed = time.monotonic() - start
    assert (result.outcome, result.reason) == ("bounded", "seconds")
    assert 0.5 <= elapsed < 3


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_cancel_from_another_thread(algorithm: str) -> None:
    control = kernels.Control()
    answers: list[Any] = []
    arguments = (*ENDLESS, "step", algorithm, limits(seconds=math.inf), control)
    thread = threading.Thread(target=lambda: answers.append(kernels.klotski(*arguments)))
    thread.start()
    while control.generated < 100_000:
        time.sleep(0.01)
    assert control.depth > 0
    start = time.monotonic()
    control.cancel()
    thread.join()
    assert time.monotonic() - start < 3
    assert (answers[0].outcome, answers[0].reason) == ("bounded", "cancelled")


@pytest.mark.parametrize(
    "change",
    [
        {"width": 0},
        {"width": 129, "height": 129},
        {"width": 2**31 - 1, "height": 2**31 - 1},
        {"board": [0]},
        {"board": [-3] * 20},
        {"board": [0, 7] + [-1] * 18},
        {"classes": [0]},
        {"classes": [0] * 10},
        {"classes": [-1] * 10},
        {"gates": [20]},
        {"goal": [(99, 0)]},
        {"goal": [(0, 20)]},
    ],
)
def test_nonsense_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        solve(kernels, CLASSIC_PUZZLE._replace(**change))


def test_cars_must_be_cars() -> None:
    for board in ([0, -1, -1, -1], [0, -1, -1, 0], [0, 0, 0, -1]):
        with pytest.raises(ValueError, match="car"):
            solve(kernels, raw.Rush(2, 2, board, 0, 1))
    with pytest.raises(ValueError, match="nose"):
        solve(kernels, raw.Parkout(2, 2, [0, 0, -1, -1], [0], [False], [0] * 8, [9] * 8))
    with pytest.raises(ValueError, match="metric"):
        solve(kernels, CLASSIC_PUZZLE, "jump")
    with pytest.raises(ValueError, match="algorithm"):
        solve(kernels, CLASSIC_PUZZLE, "slide", "dfs")
