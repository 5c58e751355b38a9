"""Slides of 4x4 boards by the exact order tables, which hard boards make: against other searches and known answers."""

import csv
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_kernel_tiles import FARTHEST, Board, assert_replays, from_numbers, neighbours, solve
from unjam import _kernels as kernels

EASY, PATIENCE = 100_000, 10_000_000  # nodes before any table is used, and before these are made: kernels/tiles.cpp
CORNER, BESIDE = 15, 1  # where the blank belongs; the second needs a table for its rows and another for its columns


def shuffled(blank: int, slides: int, rng: random.Random) -> Board:
    board = tuple(range(16))
    for _ in range(slides):
        board = rng.choice(list(neighbours(board, 4, blank, "slide")))[0]
    return board


def idastar(board: Board, blank: int, nodes: int = 2**64 - 1, seconds: float = 600) -> kernels.Result:
    return solve(4, 4, board, blank, "slide", "idastar", "walking-distance", nodes=nodes, seconds=seconds)


@pytest.fixture(scope="module", autouse=True)
def tables() -> None:
    for blank in (CORNER, BESIDE):
        hard = next(
            board
            for board in (shuffled(blank, 300, random.Random(seed)) for seed in range(100))
            if idastar(board, blank, nodes=PATIENCE).outcome == "bounded"
        )
        result = idastar(hard, blank, nodes=PATIENCE + 100_000)
        assert result.generated > PATIENCE
        assert result.peak_bytes > 16_000_000
        assert sum(result.profile) == result.generated


@pytest.mark.parametrize("blank", [0, 3, 12, 15, 1, 4, 5, 10, 14])
def test_agrees_with_a_search_from_both_ends_wherever_the_blank_belongs(blank: int) -> None:
    rng = random.Random(blank)
    for slides in (1, 2, 5, 9, 13, 16, 17, 18):
        board = shuffled(blank, slides, rng)
        result = idastar(board, blank, nodes=EASY)  # a budget that leaves nothing for the search before
        assert result.peak_bytes > 15_000_000
        assert result.length == solve(4, 4, board, blank, "slide", "two-way", "none").length
        assert_replays(result, 4, board, blank, "slide")


def test_solves_korfs_boards(shared_data: Path) -> None:
    with (shared_data / "korf100.csv").open() as file:
        rows = list(csv.DictReader(file))
    solved = 0
    for row in rows:
        board = from_numbers(row["tiles_blank_last"], CORNER)
        result = idastar(board, CORNER, nodes=2_000_000)
        assert result.lower <= int(row["slide"])
        assert sum(result.profile) == result.generated <= 2_000_010
        if result.outcome == "optimal":
            solved += 1
            assert result.length == int(row["slide"])
            assert_replays(result, 4, board, CORNER, "slide")
    assert solved > 40


def test_the_solution_is_that_of_the_search_without_them() -> None:
    generated, boards = [0, 0], 0
    for seed in range(40):
        board = shuffled(CORNER, 50, random.Random(seed))
        if solve(4, 4, board, CORNER, "slide", "idastar", "manhattan", nodes=EASY).outcome == "optimal":
            continue
        boards += 1
        merged = solve(4, 4, board, CORNER, "slide", "idastar", "walking-distance", memory=10_000_000)
        exact = idastar(board, CORNER)
        assert merged.peak_bytes < 10_000_000 < exact.peak_bytes
        assert merged.moves == exact.moves
        generated[0] += merged.generated - EASY
        generated[1] += exact.generated - EASY
    assert boards >= 10
    assert 2 * generated[1] < generated[0]


def test_easy_boards_need_no_table_and_take_the_same_nodes_in_every_process() -> None:
    script = (
        "from tests.test_kernel_exact_order import CORNER, idastar, shuffled\n"
        "from random import Random\n"
        "for seed in range(10):\n"
        "    result = idastar(shuffled(CORNER, 24, Random(seed)), CORNER)\n"
        "    print(result.outcome, result.generated, result.peak_bytes)"
    )
    fresh = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    rows = [idastar(shuffled(CORNER, 24, random.Random(seed)), CORNER) for seed in range(10)]
    assert fresh.stdout.splitlines() == [f"{row.outcome} {row.generated} {row.peak_bytes}" for row in rows]
    assert {row.peak_bytes for row in rows} == {0}


def test_a_budget_without_room_goes_on_without_them() -> None:
    board = FARTHEST["slide"]
    result = solve(
        4, 4, board, CORNER, "slide", "idastar", "walking-distance", memory=10_000_000, nodes=PATIENCE + 100_000
    )
    assert (result.outcome, result.reason) == ("bounded", "nodes")
    assert result.peak_bytes < 10_000_000


CANCEL = f"""
import threading, time
from tests.test_kernel_exact_order import FARTHEST, PATIENCE, solve
from unjam import _kernels as kernels
control, results = kernels.Control(), []
def search(control=control, **limits):
    results.append(
        solve(4, 4, FARTHEST["slide"], {CORNER}, "slide", "idastar", "walking-distance", control=control, **limits)
    )
search(seconds=2)  # too little time to make them
thread = threading.Thread(target=search)
thread.start()
while control.generated < PATIENCE or control.depth > 0:  # the table is being made: no bound is searched
    time.sleep(0.001)
control.cancel()
thread.join()
search(kernels.Control(), nodes=1000)
assert results[0].peak_bytes < 10_000_000 and results[2].peak_bytes < 10_000_000  # it was not made to the end
assert (results[1].outcome, results[1].reason) == ("bounded", "cancelled")
assert results[1].lower > 25 and results[1].generated == sum(results[1].profile), results[1].lower
"""


def test_cancelling_while_a_table_is_made_keeps_the_bound() -> None:
    subprocess.run([sys.executable, "-c", CANCEL], check=True)
