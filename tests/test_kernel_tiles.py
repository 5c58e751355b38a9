"""The n-puzzle kernel against plain breadth-first search over permutations, and against published counts."""

import csv
import json
import math
import random
import threading
import time
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from unjam import _kernels as kernels

Board = tuple[int, ...]  # the goal cell of what lies in each cell
NO_LIMIT = 2**64 - 1
INFORMED = [
    (algorithm, heuristic) for algorithm in ("idastar", "astar") for heuristic in ("manhattan", "walking-distance")
]
BLIND = [("bfs", "none"), ("two-way", "none")]
SEARCHES = {
    "slide": [*BLIND, *INFORMED],
    "step": [*BLIND, *INFORMED, ("idastar", "linear-conflict"), ("astar", "linear-conflict")],
}


def solve(
    width: int,
    height: int,
    board: Board,
    blank: int,
    metric: str,
    algorithm: str,
    heuristic: str,
    *,
    seconds: float = math.inf,
    nodes: int = NO_LIMIT,
    memory: int = 1_000_000_000,
    control: kernels.Control | None = None,
) -> kernels.Result:
    limits = kernels.Limits(seconds, nodes, memory)
    return kernels.tiles(
        width, height, board, blank, metric, algorithm, heuristic, limits, control or kernels.Control()
    )


def from_numbers(numbers: str, blank: int) -> Board:
    """The board of a text such as "1 2 0 3", whose goal has 1, 2, 3... in row order and the blank at that cell."""
    goals = [cell for cell in range(len(numbers.split())) if cell != blank]
    return tuple(goals[number - 1] if number else blank for number in map(int, numbers.split()))


def neighbours(board: Board, width: int, blank: int, metric: str) -> Iterator[tuple[Board, tuple[int, int]]]:
    start = board.index(blank)
    for offset in (-width, -1, 1, width):
        cells, place = list(board), start
        while True:
            to = place + offset
            if not 0 <= to < len(cells) or (abs(offset) == 1 and to // width != place // width):
                break
            cells[place], cells[to] = cells[to], cells[place]
            place = to
            yield tuple(cells), (place, start)
            if metric == "step":
                break


@lru_cache(maxsize=2)
def distances(width: int, height: int, blank: int, metric: str) -> dict[Board, int]:
    goal = tuple(range(width * height))
    found, queue = {goal: 0}, deque([goal])
    while queue:
        board = queue.popleft()
        for other, _ in neighbours(board, width, blank, metric):
            if other not in found:
                found[other] = found[board] + 1
                queue.append(other)
    return found


def assert_replays(result: kernels.Result, width: int, board: Board, blank: int, metric: str) -> None:
    assert len(result.moves) == result.length
    for move in result.moves:
        board = {made: other for other, made in neighbours(board, width, blank, metric)}[move]
    assert board == tuple(range(len(board)))


def with_two_tiles_swapped(board: Board, blank: int) -> Board:
    cells = list(board)
    first, second = [cell for cell in range(len(cells)) if cells[cell] != blank][:2]
    cells[first], cells[second] = cells[second], cells[first]
    return tuple(cells)


def korf(shared_data: Path) -> list[dict[str, str]]:
    with (shared_data / "korf100.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("metric", ["step", "slide"])
@pytest.mark.parametrize(("width", "height"), [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3)])
def test_all_searches_agree_with_plain_search_wherever_the_blank_belongs(width: int, height: int, metric: str) -> None:
    rng = random.Random(f"{width}x{height} {metric}")
    size = width * height
    for blank in range(size) if size <= 6 else rng.sample(range(size), 2):
        depths = distances(width, height, blank, metric)
        boards = rng.sample(sorted(depths), min(len(depths), 40))
        for board in boards + [with_two_tiles_swapped(board, blank) for board in boards[:4]]:
            for algorithm, heuristic in SEARCHES[metric]:
                result = solve(width, height, board, blank, metric, algorithm, heuristic)
                if board not in depths:
                    assert (result.outcome, result.length) == ("unsolvable", -1)
                    assert (result.generated > 0) == (heuristic == "none")
                    continue
                assert (result.outcome, result.length) == ("optimal", depths[board]), (board, algorithm, heuristic)
                assert result.lower == result.upper == result.length
                assert_replays(result, width, board, blank, metric)
                counted = {"idastar": result.generated, "astar": result.expanded}
                assert sum(result.profile) == counted.get(algorithm, result.peak_states)


@pytest.mark.parametrize("metric", ["step", "slide"])
@pytest.mark.parametrize(
    ("width", "height"),
    [(3, 4), (4, 3), (2, 5), (5, 2), (6, 2), (2, 6), (5, 3), (3, 5), (4, 5), (5, 5), (6, 4), (6, 6)],
)
def test_all_searches_agree_on_larger_boards(width: int, height: int, metric: str) -> None:
    rng = random.Random(f"{width}x{height} {metric}")
    for _ in range(12):
        blank = rng.randrange(width * height)
        board = tuple(range(width * height))
        for _ in range(14 if metric == "step" else 6):
            board = rng.choice(list(neighbours(board, width, blank, metric)))[0]
        results = {
            search: solve(width, height, board, blank, metric, *search)
            for search in SEARCHES[metric]
            if search[1] != "walking-distance" or kernels.walking_distance_fits(width, height, blank)
        }
        assert len({result.length for result in results.values()}) == 1, {s: r.length for s, r in results.items()}
        for result in results.values():
            assert_replays(result, width, board, blank, metric)


def test_layers_are_the_known_numbers_of_boards(shared_data: Path) -> None:
    """From a goal with two tiles swapped, the search sees just as many boards at each depth, and never ends early."""
    seen = 0
    for row in json.loads((shared_data / "known_depths.json").read_text())["distributions"]:
        width, height, blank = row["columns"], row["rows"], row["blank_goal_cell"]
        if width * height > 10 or not row["complete"]:
            continue
        board = with_two_tiles_swapped(tuple(range(width * height)), blank)
        result = solve(width, height, board, blank, row["metric"], "bfs", "none")
        assert (result.outcome, result.profile) == ("unsolvable", row["boards_at_depth"])
        seen += 1
    assert seen >= 10


@pytest.mark.parametrize("metric", ["step", "slide"])
@pytest.mark.parametrize(("width", "height", "blank"), [(3, 3, 0), (2, 4, 0), (4, 2, 5)])
def test_no_heuristic_exceeds_the_distance_of_any_board(width: int, height: int, blank: int, metric: str) -> None:
    """The first bound of IDA*, which is what one node is enough for."""
    limits, control = kernels.Limits(math.inf, 1, NO_LIMIT), kernels.Control()
    heuristics = [heuristic for algorithm, heuristic in SEARCHES[metric] if algorithm == "idastar"]
    depths = distances(width, height, blank, metric)
    assert len(depths) == math.factorial(width * height) // 2
    for heuristic in heuristics:
        bounds = 0
        for board, distance in depths.items():
            result = kernels.tiles(width, height, board, blank, metric, "idastar", heuristic, limits, control)
            assert result.lower <= distance, (heuristic, board)
            bounds += result.lower
        assert bounds > 0.4 * sum(depths.values())


def test_farthest_boards(shared_data: Path) -> None:
    for row in json.loads((shared_data / "known_depths.json").read_text())["distributions"]:
        width, height, blank = row["columns"], row["rows"], row["blank_goal_cell"]
        if width * height > 9:
            continue
        for numbers in row["farthest_boards"]:
            board = from_numbers(numbers, blank)
            for search in SEARCHES[row["metric"]]:
                assert solve(width, height, board, blank, row["metric"], *search).length == row["farthest"]


def test_manhattan_generates_exactly_the_nodes_of_korf_in_both_frames(shared_data: Path) -> None:
    rows = sorted(korf(shared_data), key=lambda row: int(row["idastar_manhattan_generated"]))
    for row in rows[:20]:
        for field, blank in (("tiles_blank_first", 0), ("tiles_blank_last", 15)):
            board = from_numbers(row[field], blank)
            result = solve(4, 4, board, blank, "step", "idastar", "manhattan")
            assert result.length == int(row["step"])
            assert result.generated == sum(result.profile) == int(row["idastar_manhattan_generated"])


def test_walking_distance_solves_korfs_boards_in_steps_and_slides(shared_data: Path) -> None:
    solved = {"step": 0, "slide": 0}
    for row in korf(shared_data)[40:52]:
        board = from_numbers(row["tiles_blank_last"], 15)
        for metric in ("step", "slide"):
            result = solve(4, 4, board, 15, metric, "idastar", "walking-distance", nodes=10_000_000)
            assert result.lower <= int(row[metric])
            if result.outcome == "optimal":
                solved[metric] += 1
                assert result.length == int(row[metric])
                assert_replays(result, 4, board, 15, metric)
    assert min(solved.values()) >= 4


def test_walking_distance_is_right_with_the_blank_anywhere() -> None:
    rng = random.Random(4)
    for blank in range(16):
        board = tuple(range(16))
        for _ in range(120):
            board = rng.choice(list(neighbours(board, 4, blank, "step")))[0]
        for metric in ("step", "slide"):
            walking = solve(4, 4, board, blank, metric, "idastar", "walking-distance")
            manhattan = solve(4, 4, board, blank, metric, "idastar", "manhattan", nodes=5_000_000)
            assert_replays(walking, 4, board, blank, metric)
            assert manhattan.lower <= walking.length
            assert manhattan.outcome == "bounded" or manhattan.length == walking.length


FARTHEST = {  # 80 steps, 43 slides
    "step": from_numbers("0 12 9 13 15 11 10 14 3 7 2 5 4 8 6 1", 15),
    "slide": from_numbers("1 5 9 13 2 6 10 14 3 7 11 15 4 8 12 0", 15),
}


@pytest.mark.parametrize("metric", ["step", "slide"])
@pytest.mark.parametrize("search", [*BLIND, *INFORMED])
def test_a_search_stops_within_each_budget_and_says_so(search: tuple[str, str], metric: str) -> None:
    started = time.monotonic()
    timed = solve(4, 4, FARTHEST[metric], 15, metric, *search, seconds=1, memory=4_000_000_000)
    assert (timed.outcome, timed.reason) == ("bounded", "seconds")
    assert 1 <= time.monotonic() - started < 5
    assert 0 < timed.lower <= {"step": 80, "slide": 43}[metric]
    assert (timed.length, timed.upper, timed.moves) == (-1, -1, [])

    counted = solve(4, 4, FARTHEST[metric], 15, metric, *search, nodes=12_345)
    assert (counted.outcome, counted.reason) == ("bounded", "nodes")
    assert 12_345 <= counted.generated <= 12_355

    if search[0] != "idastar":
        small = solve(4, 4, FARTHEST[metric], 15, metric, *search, memory=20_000_000)
        assert (small.outcome, small.reason) == ("bounded", "bytes")
        assert 10_000_000 < small.peak_bytes <= 20_000_000


@pytest.mark.parametrize("search", [*BLIND, *INFORMED])
def test_cancelling_stops_a_search_at_once(search: tuple[str, str]) -> None:
    control = kernels.Control()
    results: list[kernels.Result] = []
    thread = threading.Thread(
        target=lambda: results.append(
            solve(4, 4, FARTHEST["step"], 15, "step", *search, memory=NO_LIMIT, control=control)
        )
    )
    thread.start()
    while control.generated == 0:
        assert thread.is_alive()
        time.sleep(0.01)
    cancelled = time.monotonic()
    control.cancel()
    thread.join()
    assert time.monotonic() - cancelled < 3
    assert (results[0].outcome, results[0].reason) == ("bounded", "cancelled")


def test_threads_share_tables_that_none_has_built_yet() -> None:
    board = tuple(range(12))
    rng = random.Random(5)
    for _ in range(60):
        board = rng.choice(list(neighbours(board, 4, 6, "step")))[0]
    lengths: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: lengths.append(solve(4, 3, board, 6, "step", "idastar", "walking-distance").length)
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lengths) == 8
    assert len(set(lengths)) == 1


def test_a_table_that_does_not_fit_the_budget_ends_the_search() -> None:
    for metric in ("step", "slide"):
        result = solve(4, 4, FARTHEST[metric], 15, metric, "idastar", "walking-distance", memory=100_000)
        assert (result.outcome, result.reason) == ("bounded", "bytes")


def test_walking_distance_fits_all_boards_up_to_4x4_and_narrow_ones() -> None:
    fitting = {
        (width, height)
        for width in range(2, 7)
        for height in range(2, 7)
        if all(kernels.walking_distance_fits(width, height, blank) for blank in range(width * height))
    }
    long = {(2, 5), (3, 5), (2, 6)}
    assert fitting == {(w, h) for w in (2, 3, 4) for h in (2, 3, 4)} | long | {(h, w) for w, h in long}


@pytest.mark.parametrize("arguments", [(0, 3, 0), (3, 0, 0), (7, 2, 0), (2, -2, 0), (3, 3, 9), (3, 3, -1)])
def test_walking_distance_is_asked_for_of_boards(arguments: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match=r"rows and columns|off the board"):
        kernels.walking_distance_fits(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5, 5, tuple(range(25)), 24, "step", "idastar", "walking-distance"), "linear-conflict"),
        ((3, 3, tuple(range(9)), 8, "slide", "astar", "linear-conflict"), "no lower bound on slides"),
        ((3, 3, tuple(range(9)), 8, "step", "idastar", "none"), "needs a heuristic"),
        ((3, 3, (0,) * 9, 8, "step", "bfs", "none"), "not a permutation"),
        ((3, 3, tuple(range(8)), 8, "step", "bfs", "none"), "not a permutation"),
        ((7, 2, tuple(range(14)), 0, "step", "bfs", "none"), "2 to 6"),
        ((3, 3, tuple(range(9)), 9, "step", "bfs", "none"), "blank_goal"),
        ((3, 3, tuple(range(9)), 8, "path", "bfs", "none"), "path"),
    ],
)
def test_what_cannot_be_searched_is_a_value_error(
    arguments: tuple[int, int, Board, int, str, str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        solve(*arguments)


def test_a_solved_board_needs_no_move() -> None:
    for metric, searches in SEARCHES.items():
        for search in searches:
            result = solve(3, 3, tuple(range(9)), 4, metric, *search)
            assert (result.outcome, result.length, result.moves) == ("optimal", 0, [])
