"""The n-puzzle: searches against each other, divided ones against whole ones, and what leads to no wrong answer."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from random import Random

from tests.fuzz.databases import random_table
from tests.fuzz.results import AMPLE, NO_LIMIT, agree, attempt, some_limits, sound
from tests.fuzz.values import INTS, spoilt
from unjam import _kernels as kernels

SIZES = [(2, 2), (3, 2), (2, 3), (3, 3), (3, 3), (4, 3), (2, 5), (6, 2), (4, 4), (5, 4), (5, 5), (6, 6), (3, 6)]
BLIND = (("bfs", "none"), ("two-way", "none"))
STEPS = ("manhattan", "linear-conflict", "walking-distance", "pdb")
SLIDES = ("manhattan", "walking-distance")

Board = tuple[int, int, list[int], int]  # width, height, goal cell of what lies in each cell, and the blank's goal


def tiles(random: Random) -> None:
    board, metric = _board(random), random.choice(["step", "slide"])
    limits = some_limits(random)
    algorithm, heuristic, table = _search(random, board, metric)
    if random.random() < 0.4:
        arguments = spoilt(random, [*board, metric, algorithm, heuristic])
        result = attempt(kernels.tiles, *arguments, limits, kernels.Control(), table)
        if result is not None:
            sound(result, limits, lambda moves: kernels.check_tiles(*arguments[:5], moves))
        return
    result = kernels.tiles(*board, metric, algorithm, heuristic, limits, kernels.Control(), table)
    sound(result, limits, lambda moves: kernels.check_tiles(*board, metric, moves))
    algorithm, heuristic, table = _search(random, board, metric)
    agree(result, kernels.tiles(*board, metric, algorithm, heuristic, AMPLE, kernels.Control(), table))


def tiles_upper(random: Random) -> None:
    board, metric = _board(random, solvable=True), random.choice(["step", "slide"])
    limits, table = some_limits(random), random_table(random, *board[:2], board[3])
    if random.random() < 0.4:
        arguments = spoilt(random, [*board, metric, random.choice([0, 1, 5, 30])])
        result = attempt(kernels.tiles_upper, *arguments, limits, kernels.Control(), table)
        if result is not None:
            assert kernels.check_tiles(*arguments[:5], result.moves) == ""
        return
    exact = kernels.tiles(*board, metric, "idastar", "manhattan", AMPLE, kernels.Control())
    result = kernels.tiles_upper(*board, metric, exact.lower, limits, kernels.Control(), table)
    assert kernels.check_tiles(*board, metric, result.moves) == ""
    assert result.upper == len(result.moves)
    assert exact.lower <= result.lower <= result.upper
    assert exact.length < 0 or exact.length <= result.upper
    assert (result.outcome == "optimal") == (result.lower == result.upper)


def Unit(random: Random) -> None:
    arguments = [random.choice(["", "U", "RDLU"]), random.choice(INTS), random.choice(INTS)]
    if random.random() < 0.5:
        attempt(kernels.Unit, *spoilt(random, arguments))
        return
    unit = kernels.Unit(*arguments)
    assert [unit.way, unit.f, unit.weight] == arguments


def first_bound(random: Random) -> None:
    board = _board(random)
    heuristic, table = _heuristic(random, board, "step", STEPS)
    if random.random() < 0.5:
        attempt(kernels.first_bound, *spoilt(random, [*board, heuristic]), table)
        return
    bound = attempt(kernels.first_bound, *board, heuristic, table)
    result = kernels.tiles(*board, "step", "idastar", heuristic, AMPLE, kernels.Control(), table)
    assert (bound is None) == (result.outcome == "unsolvable")
    if bound is not None:
        assert 0 <= bound <= result.lower
        assert (result.lower - bound) % 2 == 0


def divide(random: Random) -> None:
    board = _board(random, solvable=True)
    heuristic, table = _heuristic(random, board, "step", STEPS)
    units, pieces = [("", 0, 1)], [random.choice([0.0, 1.0, 3.0, 50.0])]
    if random.random() < 0.5:
        *arguments, ways, pieces = spoilt(random, [*board, heuristic, [("U", 3, 1), ("RD", 4, 2)], [3.0, 2.0]])
        attempt(lambda: kernels.divide(*arguments, [kernels.Unit(*way) for way in ways], pieces, table))
        return
    once = kernels.divide(*board, heuristic, [kernels.Unit(*way) for way in units], pieces, table)
    more = [random.choice([0.0, 1.0, 2.0, 9.0]) for _ in once.units]
    twice = kernels.divide(*board, heuristic, once.units, more, table)
    assert once.units
    assert len(twice.units) >= 1
    ways = {(unit.way, unit.f) for unit in twice.units}
    assert len(ways) == len(twice.units)


def search_slice(random: Random) -> None:
    """Bound after bound in slices, until the solution is there; or anything else once."""
    board = _board(random, solvable=True, moves=14)
    heuristic, table = _heuristic(random, board, "step", STEPS)
    bound = kernels.first_bound(*board, heuristic, table)
    units = kernels.divide(*board, heuristic, [kernels.Unit("", 0, 1)], [random.choice([1.0, 5.0, 40.0])], table).units
    if random.random() < 0.4:
        ways = spoilt(random, [(unit.way, unit.f, unit.weight) for unit in units])
        limits = some_limits(random)
        arguments = spoilt(random, [bound, ways, random.choice(["", *(unit.way for unit in units)]), 0])
        attempt(
            lambda: kernels.search_slice(
                *board,
                heuristic,
                arguments[0],
                [kernels.Unit(*way) for way in arguments[1]],
                arguments[2],
                limits,
                kernels.Control(),
                table,
            )
        )
        return
    whole = kernels.tiles(*board, "step", "idastar", heuristic, AMPLE, kernels.Control(), table)
    if whole.outcome == "bounded":
        return
    while True:
        done, resume = 0, ""
        while done < len(units):
            limits = kernels.Limits(inf, random.choice([1, 10, 1000, NO_LIMIT]), NO_LIMIT)
            slice = kernels.search_slice(
                *board, heuristic, bound, units[done:], resume, limits, kernels.Control(), table
            )
            assert slice.outcome in ("optimal", "bounded", "exhausted")
            done, resume = done + slice.done, slice.resume
            if slice.outcome == "optimal":
                assert slice.length == whole.length == len(slice.moves)
                assert kernels.check_tiles(*board, "step", slice.moves) == ""
                return
        bound += 2
        assert bound <= whole.length


def walking_distance_fits(random: Random) -> None:
    width, height, *_, blank = _board(random)
    if random.random() < 0.5:
        attempt(kernels.walking_distance_fits, *spoilt(random, [width, height, blank]))
        return
    fits = kernels.walking_distance_fits(width, height, blank)
    goal = [*range(width * height)]
    assert attempt(kernels.first_bound, width, height, goal, blank, "walking-distance") == (0 if fits else None)


def _board(random: Random, *, solvable: bool = False, moves: int = 24) -> Board:
    """Some steps from the goal, or any at all of a small one."""
    width, height = random.choice(SIZES)
    cells, blank = [*range(width * height)], random.randrange(width * height)
    if not solvable and len(cells) <= 6 and random.random() < 0.5:
        random.shuffle(cells)
        return width, height, cells, blank
    at = blank
    for _ in range(random.randrange(moves)):
        row, column = divmod(at, width)
        down, right = random.choice([(-1, 0), (1, 0), (0, -1), (0, 1)])
        if 0 <= row + down < height and 0 <= column + right < width:
            to = at + down * width + right
            cells[at], cells[to], at = cells[to], cells[at], to
    return width, height, cells, blank


def _search(random: Random, board: Board, metric: str) -> tuple[str, str, kernels.PatternTable | None]:
    if random.random() < 0.3:
        return *random.choice(BLIND), None
    heuristic, table = _heuristic(random, board, metric, STEPS if metric == "step" else SLIDES)
    return random.choice(["idastar", "astar"]), heuristic, table


def _heuristic(
    random: Random, board: Board, metric: str, heuristics: Sequence[str]
) -> tuple[str, kernels.PatternTable | None]:
    heuristic = random.choice(heuristics)
    table = random_table(random, board[0], board[1], board[3]) if heuristic == "pdb" else None
    if heuristic == "pdb" and table is None:
        heuristic = "linear-conflict"
    if heuristic == "walking-distance" and not kernels.walking_distance_fits(board[0], board[1], board[3]):
        heuristic = "manhattan"
    return heuristic, table
