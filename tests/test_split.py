"""A divided IDA* is the undivided one: the same lengths, and under every full bound the same nodes."""

from __future__ import annotations

import random
from dataclasses import replace
from math import inf

import pytest

import unjam
from unjam import _kernels as kernels
from unjam._kernels import Control, Limits, Unit
from unjam.puzzles.grid import Move
from unjam.puzzles.tiles import Tiles
from unjam.search import split
from unjam.search.encode import tiles_board
from unjam.search.solution import NO_LIMIT, Outcome

HEURISTICS = ("manhattan", "linear-conflict", "walking-distance", "pdb")


def random_tiles(width: int, height: int, rng: random.Random) -> Tiles:
    """Random steps from a random goal with its blank in a corner: few enough for a million nodes."""
    goal = rng.sample(range(1, width * height), width * height - 1)
    goal = rng.choice([[0, *goal], [*goal, 0]])
    board, blank = goal[:], goal.index(0)
    for _ in range(100):
        row, column = divmod(blank, width)
        down, right = rng.choice([(-1, 0), (1, 0), (0, -1), (0, 1)])
        if 0 <= row + down < height and 0 <= column + right < width:
            other = blank + down * width + right
            board[blank], board[other], blank = board[other], 0, other
    rows = [[numbers[at : at + width] for at in range(0, len(numbers), width)] for numbers in (board, goal)]
    puzzle = unjam.parse("tiles", rows[0], goal=rows[1])
    assert isinstance(puzzle, Tiles)
    return puzzle


def search_in_slices(puzzle: Tiles, whole: unjam.Solution, rng: random.Random) -> unjam.Solution:
    """Search again, from some bound on in slices that stop after random numbers of nodes, of units in random order."""
    bounds = rng.randrange(1, len(whole.profile) + 1)
    before = replace(whole, outcome=Outcome.BOUNDED, upper=None, moves=(), profile=whole.profile[:bounds])
    division = split.begin(puzzle, before, Control())
    assert division is not None
    while True:
        progress, units = division.progress, division.units
        rng.shuffle(units)
        taken, resume, done = [0] * len(units), "", 0
        while done < len(units):
            limits = Limits(inf, rng.choice([1, 100, 20_000, NO_LIMIT]), NO_LIMIT)
            slice = split.search(puzzle, progress, units[done:], resume, limits, Control())
            progress = split.worked(progress, slice.expanded, slice.generated)
            for at, count in enumerate(slice.nodes, done):
                taken[at] += count
            done, resume = done + slice.done, slice.resume
            if slice.outcome == "optimal":
                found = replace(progress, upper=slice.length, moves=tuple(Move(*move) for move in slice.moves))
                return found.solution("step", Outcome.OPTIMAL)
        division = split.advance(puzzle, progress, units, taken)


@pytest.mark.parametrize("heuristic", HEURISTICS)
@pytest.mark.parametrize(("width", "height"), [(3, 3), (4, 3), (4, 4), (2, 5)])
@pytest.mark.parametrize("pieces", [1, 40, 4000])
def test_full_bounds_have_the_nodes_of_one_process(
    width: int, height: int, heuristic: str, pieces: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split, "PIECES", pieces)
    rng = random.Random(pieces)
    for _ in range(3):
        puzzle = random_tiles(width, height, rng)
        whole = unjam.solve(puzzle, "step", heuristic=heuristic)
        found = search_in_slices(puzzle, whole, rng)
        assert found.length == whole.length
        assert found.profile[:-1] == whole.profile[:-1]
        unjam.verify(puzzle, found)


def test_equal_boards_are_one_unit() -> None:
    board = tiles_board(random_tiles(4, 4, random.Random(1)))
    made = kernels.divide(*board, "manhattan", [Unit("", 0, 1)], [4000])
    assert sum(unit.weight for unit in made.units) > len(made.units) > 1000


def test_a_division_has_an_end_where_there_is_one_way_only() -> None:
    made = kernels.divide(2, 2, [1, 3, 2, 0], 0, "manhattan", [Unit("", 0, 1)], [4000])
    assert len(made.units) <= 2


@pytest.mark.parametrize("pieces", [1e300, inf, float("nan"), 1_000_001])
def test_a_division_has_a_limit(pieces: float) -> None:
    with pytest.raises(ValueError, match="at most 1,000,000 pieces"):
        kernels.divide(*tiles_board(random_tiles(4, 4, random.Random(1))), "manhattan", [Unit("", 0, 1)], [pieces])


def test_no_search_is_deeper_than_any_solution() -> None:
    board, limits = (3, 3, [1, 0, 2, 3, 4, 5, 6, 7, 8], 0, "manhattan"), Limits(inf, 100_000, NO_LIMIT)
    for bound in (-1, -(2**31), 1025, 2**31 - 1):
        with pytest.raises(ValueError, match="a bound is from 0 to 1024"):
            kernels.search_slice(*board, bound, [Unit("", 0, 1)], "", limits, Control())
    around = "RDLU" * 300
    with pytest.raises(ValueError, match="way is not legal"):
        kernels.search_slice(3, 3, [*range(9)], 0, "manhattan", 1024, [Unit(around, 0, 1)], "", limits, Control())
    with pytest.raises(ValueError, match="way is not legal"):
        kernels.divide(3, 3, [*range(9)], 0, "manhattan", [Unit(around, 0, 1)], [1])


@pytest.mark.parametrize("way", ["LL", "UD", "X"])
def test_ways_that_are_not_legal_are_refused(way: str) -> None:
    board, limits = (3, 3, [1, 0, 2, 3, 4, 5, 6, 7, 8], 0, "manhattan"), Limits(inf, NO_LIMIT, NO_LIMIT)
    with pytest.raises(ValueError, match="way is not legal"):
        kernels.divide(*board, [Unit(way, 0, 1)], [2])
    with pytest.raises(ValueError, match="way is not legal"):
        kernels.search_slice(*board, 9, [Unit(way, 0, 1)], "", limits, Control())
    with pytest.raises(ValueError, match="cannot go on"):
        kernels.search_slice(*board, 9, [Unit("R", 0, 1)], "DR", limits, Control())
