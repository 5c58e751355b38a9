"""Boards of tiles whose search does not end: what is given then is a real solution, and no claim too much."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from itertools import pairwise

import pytest

import unjam
from unjam import _kernels as kernels
from unjam.puzzles.tiles import Tiles

NO_LIMIT = 2**64 - 1
HARD = "0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1"  # 80 steps
SIZES = [(width, height) for width in range(2, 7) for height in range(2, 7)]


def board(rng: random.Random, width: int, height: int) -> Tiles:
    """Any board with any goal that can be reached from it."""
    goal, start = [*range(width * height)], [*range(width * height)]
    rng.shuffle(goal)
    while True:
        rng.shuffle(start)
        puzzle = Tiles(width, height, tuple(start), tuple(goal))
        if puzzle.unsolvable_reason() is None:
            return puzzle


@pytest.mark.parametrize("metric", ["step", "slide"])
def test_every_size_and_goal_has_a_solution_under_the_least_budgets(metric: str) -> None:
    rng = random.Random(metric)
    for width, height in SIZES * 2:
        puzzle = board(rng, width, height)
        for budget in (unjam.Budget(seconds=0), unjam.Budget(nodes=1), unjam.Budget(nodes=40_000, bytes=1)):
            answer = unjam.solve(puzzle, metric, budget, algorithm="idastar")
            assert answer.outcome in (unjam.Outcome.BOUNDED, unjam.Outcome.OPTIMAL)
            assert answer.upper == len(answer.moves)
            unjam.verify(puzzle, answer)


@pytest.mark.parametrize("metric", ["step", "slide"])
def test_bounds_hold_the_optimum(metric: str) -> None:
    rng = random.Random(7)
    proven = 0
    for width, height in [(3, 3), (4, 2), (2, 5), (3, 3)] * 5:
        puzzle = board(rng, width, height)
        optimum = unjam.solve(puzzle, metric, algorithm="bfs").length
        assert optimum is not None
        for nodes in (1, 400, 6_000):
            answer = unjam.solve(puzzle, metric, unjam.Budget(nodes=nodes))
            assert (answer.lower or 0) <= optimum <= (answer.upper or 0)
            assert answer.outcome is unjam.Outcome.BOUNDED or answer.length == optimum
            if metric == "step":
                assert ((answer.lower or 0) - optimum) % 2 == 0
            proven += answer.outcome is unjam.Outcome.OPTIMAL and answer.expanded > 0
            unjam.verify(puzzle, answer)
    assert proven


def test_a_solution_as_short_as_the_bound_is_optimal() -> None:
    puzzle = unjam.parse("tiles", "1 2 3 4/5 6 7 8/0 10 11 12/9 13 14 15")
    limits = kernels.Limits(float("inf"), NO_LIMIT, NO_LIMIT)
    for metric, shortest in (("step", 4), ("slide", 2)):
        assert unjam.solve(puzzle, metric).length == shortest
        for lower in range(shortest + 1):
            result = upper(puzzle, metric, limits, lower)
            proven = lower == shortest or (metric == "step" and lower == shortest - 1)  # by parity
            assert (result.outcome, result.length) == (("optimal", shortest) if proven else ("bounded", -1))
            assert result.upper == len(result.moves) == shortest


def upper(puzzle: Tiles, metric: str, limits: kernels.Limits, lower: int = 0) -> kernels.Result:
    blank = puzzle.goal.index(0)
    return kernels.tiles_upper(
        puzzle.width, puzzle.height, puzzle.goal_cells(), blank, metric, lower, limits, kernels.Control()
    )


@pytest.mark.parametrize("metric", ["step", "slide"])
def test_more_nodes_shorten_it_and_the_same_nodes_give_the_same(metric: str) -> None:
    rng = random.Random(3)
    totals = [0, 0, 0]
    for width, height in [(4, 4), (5, 5), (3, 6), (6, 6)]:
        puzzle = board(rng, width, height)
        for number, nodes in enumerate((0, 150_000, 1_000_000)):
            results = [upper(puzzle, metric, kernels.Limits(float("inf"), nodes, NO_LIMIT)) for _ in range(2)]
            assert results[0].moves == results[1].moves
            assert results[0].generated == results[1].generated
            assert nodes == 0 or results[0].generated <= nodes + 20_000
            totals[number] += results[0].upper
    assert all(less < more for more, less in pairwise(totals))


def test_limits_of_memory_are_kept() -> None:
    puzzle = board(random.Random(4), 5, 5)
    for memory in (0, 300_000, 3_000_000):
        assert upper(puzzle, "step", kernels.Limits(float("inf"), 3_000_000, memory)).peak_bytes <= memory


TABLES = """
from tests.test_upper import HARD, NO_LIMIT, kernels, unjam, upper
puzzle = unjam.parse("tiles", HARD)
for seconds, tables in ((0.9, False), (float("inf"), True), (0.9, True)):
    result = upper(puzzle, "slide", kernels.Limits(seconds, 20_000, NO_LIMIT))
    assert (result.peak_bytes > 2_000_000) == tables, (seconds, result.peak_bytes)
"""


def test_tables_that_would_take_most_of_the_time_are_not_made() -> None:
    subprocess.run([sys.executable, "-c", TABLES], check=True)


def test_a_cancelled_search_is_not_followed_by_another() -> None:
    control = kernels.Control()
    timer = threading.Timer(0.2, control.cancel)
    timer.start()
    answer = unjam.solve(unjam.parse("tiles", HARD), control=control)
    assert (answer.outcome, answer.reason, answer.upper) == ("bounded", "cancelled", None)


def test_node_budgets_include_the_beams() -> None:
    puzzle = unjam.parse("tiles", HARD)
    for algorithm in ("idastar", "astar", "bfs"):
        answer = unjam.solve(puzzle, "step", unjam.Budget(nodes=400_000), algorithm=algorithm)
        assert answer.outcome is unjam.Outcome.BOUNDED
        assert 350_000 < answer.generated <= 420_000
        assert 80 <= (answer.upper or 0) <= 100
