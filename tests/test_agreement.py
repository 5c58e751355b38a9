"""Kernel, second algorithm and plain-Python reference say the same of random boards, whichever way they are turned."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import unjam
from tests.boards import RANDOM_BOARDS
from tests.test_kernel_tiles import distances
from unjam.puzzles import FAMILIES, from_canonical
from unjam.puzzles.grid import symmetries
from unjam.search import reference
from unjam.search.solve import choose

CASES = [(family, metric) for family, rules in FAMILIES.items() for metric in rules.metrics]
SEEDS = st.integers(0, 2**63)
many = settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck), database=None)
MOST_STATES = 2000  # a larger board is passed over, and another one counts in its place


@pytest.mark.parametrize(("family", "metric"), CASES)
@many
@given(seed=SEEDS)
def test_kernel_second_algorithm_and_reference_agree(family: str, metric: str, seed: int) -> None:
    puzzle = unjam.parse(family, **RANDOM_BOARDS[family](Random(seed)))
    expected = reference.search(puzzle, metric, max_states=MOST_STATES)
    assume(expected.outcome is not unjam.Outcome.BOUNDED)
    both_ends = {"two-way"} if family == "tiles" else set()
    for algorithm in {choose(puzzle, metric).algorithm, "bfs", "astar"} | both_ends:
        answer = unjam.solve(puzzle, metric, algorithm=algorithm)
        assert (answer.outcome, answer.length) == (expected.outcome, expected.length), answer.algorithm
        unjam.verify(puzzle, answer)
    unjam.verify(puzzle, expected)


@pytest.mark.parametrize("metric", FAMILIES["tiles"].metrics)
@pytest.mark.parametrize(("width", "height"), [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3)])
def test_tiles_take_what_a_map_of_all_boards_says(width: int, height: int, metric: str) -> None:
    """10,080 random goals and boards in all, half of them unsolvable; one search each, drawn from all there are."""
    random = Random(f"{width}x{height} {metric}")
    cells = width * height
    searches = [("bfs", None), ("idastar", "pdb"), ("astar", "pdb")] if metric == "step" else [("bfs", None)]
    heuristics = ("manhattan", "walking-distance") + (("linear-conflict",) if metric == "step" else ())
    searches += [(algorithm, heuristic) for algorithm in ("idastar", "astar") for heuristic in heuristics]
    for blank in random.sample(range(cells), 4):
        depths = distances(width, height, blank, metric)
        for _ in range(210):
            goal = random.sample(range(1, cells), cells - 1)
            goal.insert(blank, 0)
            board = random.sample(goal, cells)
            rows = [[numbers[i : i + width] for i in range(0, cells, width)] for numbers in (board, goal)]
            puzzle = unjam.parse("tiles", rows[0], goal=rows[1])
            algorithm, heuristic = random.choice(searches)
            answer = unjam.solve(puzzle, metric, algorithm=algorithm, heuristic=heuristic)
            length = depths.get(tuple(map(goal.index, board)))
            outcome = unjam.Outcome.UNSOLVABLE if length is None else unjam.Outcome.OPTIMAL
            assert (answer.outcome, answer.length) == (outcome, length), (puzzle, algorithm, heuristic)
            unjam.verify(puzzle, answer)


@pytest.mark.parametrize("metric", FAMILIES["klotski"].metrics)
@settings(many, max_examples=300)
@given(seed=SEEDS)
def test_klotski_with_more_cells_than_bit_planes_take(metric: str, seed: int) -> None:
    fields = RANDOM_BOARDS["klotski"](Random(seed))
    small = unjam.solve(unjam.parse("klotski", **fields), metric)
    walls = ["#" * len(fields["board"][0])] * (64 // len(fields["board"][0]))
    large = unjam.parse("klotski", **fields | {name: fields[name] + walls for name in ("board", "goal")})
    answer = unjam.solve(large, metric)
    assert (answer.outcome, answer.length) == (small.outcome, small.length)
    unjam.verify(large, answer)


@pytest.mark.parametrize(("family", "metric"), CASES)
@settings(many, max_examples=300)
@given(seed=SEEDS)
def test_idastar_agrees_where_its_depth_is_small(family: str, metric: str, seed: int) -> None:
    puzzle = unjam.parse(family, **RANDOM_BOARDS[family](Random(seed)))
    expected = unjam.solve(puzzle, metric, algorithm="bfs")
    answer = unjam.solve(puzzle, metric, unjam.Budget(nodes=200_000), algorithm="idastar")
    unjam.verify(puzzle, answer)
    if answer.outcome is unjam.Outcome.BOUNDED:
        assert expected.length is None or (answer.lower or 0) <= expected.length
    else:
        assert (answer.outcome, answer.length) == (expected.outcome, expected.length)


@pytest.mark.parametrize(("family", "metric"), CASES)
@settings(many, max_examples=300)
@given(seed=SEEDS)
def test_turned_boards_are_one_puzzle_and_its_solution_turns_back(family: str, metric: str, seed: int) -> None:
    puzzle = unjam.parse(family, **RANDOM_BOARDS[family](Random(seed)))
    canonical = from_canonical(family, puzzle.canonical)
    assert canonical.key == puzzle.key
    assert canonical.canonical == puzzle.canonical
    answer = unjam.solve(canonical, metric)
    assert unjam.solve(puzzle, metric).length == answer.length
    back = puzzle.to_canonical.inverse(puzzle.width, puzzle.height)
    turned = replace(answer, moves=tuple(back.move(move) for move in answer.moves))
    unjam.verify(puzzle, turned)
    written = puzzle.notation(turned.moves, metric)
    assert puzzle.read_notation(written, metric) is not None
    assert puzzle.notation(turned.moves, metric, checked=True) == written


def test_there_are_eight_symmetries() -> None:
    assert len({symmetry.cells for symmetry in symmetries(3, 3)}) == 8
    assert {(s.width, s.height) for s in symmetries(4, 3)} == {(4, 3), (3, 4)}
