"""Counts are proven again by another search, and claims that replay but are wrong are found out."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import unjam
from tests.boards import RANDOM_BOARDS
from unjam import Outcome, Solution
from unjam.puzzles import FAMILIES
from unjam.puzzles.grid import Move
from unjam.puzzles.puzzle import Metric, Puzzle, State
from unjam.search.deep import prove, second_method
from unjam.search.solve import HEURISTICS, choose

CASES = [(family, metric) for family, rules in FAMILIES.items() for metric in rules.metrics]
some = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), database=None)

SOLVABLE = {
    "tiles": unjam.parse("tiles", "1 2 3/0 4 6/7 5 8"),
    "klotski": unjam.parse("klotski", "AAB/AA./C..", goal=".../.AA/.AA"),
    "rush": unjam.parse("rush", "ooooooooooooAAoooBoooooBoooooooooooo"),
    "parkout": unjam.parse("parkout", "aA./..B/..b"),
}
UNSOLVABLE = [
    unjam.parse("tiles", "1 2 3/4 5 6/8 7 0"),
    unjam.parse("tiles", "1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0"),
    unjam.parse("klotski", "AAB/AAC", goal=".AA/.AA"),
    unjam.parse("rush", "AAx./...."),
    unjam.parse("rush", "....B./....B./AA..B./....B./....C./....C."),
    unjam.parse("parkout", "aA./..B/..b", closed=["right:0"]),
]
# 35 pieces, each with a place of its own: no search ends
HOPELESS = unjam.parse(
    "klotski",
    "ABCDEF/GHIJKL/MNOPQR/STUVWX/YZabcd/efghi.",
    goal=".ihgfe/dcbaZY/XWVUTS/RQPONM/LKJIHG/FEDCBA",
)


def longer(puzzle: Puzzle, metric: Metric, length: int) -> list[Move] | None:
    """Legal moves to the goal, some more than `length`; None if there are none of up to two more."""
    layers: list[dict[State, tuple[State, Move] | None]] = [{puzzle.start(): None}]
    while len(layers) <= length + 3:
        if len(layers) > length + 1 and (goal := next(filter(puzzle.is_goal, layers[-1]), None)) is not None:
            moves = []
            for layer in reversed(layers[1:]):
                came = layer[goal]
                assert came is not None
                goal, move = came
                moves.append(move)
            return moves[::-1]
        following: dict[State, tuple[State, Move] | None] = {}
        for state in layers[-1]:
            for move, after in puzzle.moves(state, metric):
                following.setdefault(after, (state, move))
        layers.append(following)
    return None


def claim_of(metric: Metric, moves: list[Move]) -> Solution:
    return Solution(metric, Outcome.OPTIMAL, len(moves), len(moves), len(moves), tuple(moves))


@pytest.mark.parametrize(("family", "metric"), CASES)
@some
@given(seed=st.integers(0, 2**63))
def test_what_holds_is_proven_by_another_search(family: str, metric: Metric, seed: int) -> None:
    """Goals of one piece and of several, of any piece of a shape, walls, gates, edges that open and close."""
    puzzle = unjam.parse(family, **RANDOM_BOARDS[family](Random(seed)))
    answer = unjam.solve(puzzle, metric)
    proof = prove(puzzle, answer)
    assert (proof.holds, proof.reason) == (True, None)
    usual = choose(puzzle, metric)
    assert (proof.second.algorithm, proof.second.heuristic) != (usual.algorithm, usual.heuristic)


@pytest.mark.parametrize(("family", "metric"), CASES)
@some
@given(seed=st.integers(0, 2**63))
def test_moves_that_are_too_many_are_found_out(family: str, metric: Metric, seed: int) -> None:
    puzzle = unjam.parse(family, **RANDOM_BOARDS[family](Random(seed)))
    best = unjam.solve(puzzle, metric)
    assume(best.length is not None and best.length < 6)
    moves = longer(puzzle, metric, best.length or 0)
    assume(moves)
    claim = claim_of(metric, moves or [])
    unjam.verify(puzzle, claim)
    proof = prove(puzzle, claim)
    assert proof.holds is False
    assert proof.reason == f"{proof.second.algorithm} finds a solution of {best.length} moves"


@pytest.mark.parametrize(("family", "metric"), CASES)
def test_whatever_search_is_behind_the_claim(family: str, metric: Metric) -> None:
    puzzle = SOLVABLE[family]
    moves = longer(puzzle, metric, unjam.solve(puzzle, metric).length or 0)
    assert moves
    searches = [("bfs", None), ("astar", None), ("idastar", None)]
    if family == "tiles":
        searches = [("two-way", None), ("atlas", None), *(("idastar", heuristic) for heuristic in HEURISTICS)]
    for algorithm, heuristic in searches:
        claim = replace(claim_of(metric, moves), algorithm=algorithm, heuristic=heuristic)
        proof = prove(puzzle, claim)
        assert proof.holds is False
        assert proof.second.algorithm != algorithm


@pytest.mark.parametrize(("family", "metric"), CASES)
def test_solvable_boards_that_are_said_not_to_be(family: str, metric: Metric) -> None:
    proof = prove(SOLVABLE[family], Solution(metric, Outcome.UNSOLVABLE))
    assert proof.holds is False
    assert proof.reason


@pytest.mark.parametrize("puzzle", UNSOLVABLE)
def test_unsolvable_boards(puzzle: Puzzle) -> None:
    for metric in puzzle.metrics:
        answer = unjam.solve(puzzle, metric)
        assert answer.outcome is Outcome.UNSOLVABLE
        proof = prove(puzzle, answer)
        assert (proof.holds, proof.second.outcome) == (True, Outcome.UNSOLVABLE)


def test_bounds() -> None:
    puzzle = SOLVABLE["rush"]
    moves = longer(puzzle, "slide", 2)
    assert moves
    given = tuple(moves)
    assert prove(puzzle, Solution("slide", Outcome.BOUNDED, None, 2, len(given), given)).holds
    wrong = prove(puzzle, Solution("slide", Outcome.BOUNDED, None, 3, len(given), given))
    assert (wrong.holds, wrong.reason) == (False, "astar finds a solution of 2 moves")


def test_a_budget_that_ends_proves_nothing() -> None:
    unproven = [(puzzle, unjam.solve(puzzle)) for puzzle in (SOLVABLE["tiles"], *UNSOLVABLE[-2:])]
    for puzzle, answer in unproven:
        proof = prove(puzzle, answer, unjam.Budget(nodes=0))
        assert proof.holds is None, puzzle
        assert "the budget of nodes ended" in (proof.reason or "")


def test_the_search_ends_once_it_knows_as_much() -> None:
    claim = Solution("step", Outcome.BOUNDED, lower=12)
    proof = prove(HOPELESS, claim, unjam.Budget(seconds=60))
    assert (proof.holds, proof.second.outcome) == (True, Outcome.BOUNDED)
    assert proof.second.seconds < 30


def test_tiles_of_many_moves_are_searched_with_another_heuristic() -> None:
    board = unjam.parse("tiles", "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3", goal="blank-first")  # 57 steps
    for heuristic in HEURISTICS:
        claim = Solution("step", Outcome.OPTIMAL, 57, 57, 57, algorithm="idastar", heuristic=heuristic)
        method = second_method(board, claim)
        assert (method.algorithm, method.heuristic != heuristic) == ("idastar", True)
        assert second_method(board, replace(claim, lower=20)).algorithm == "two-way"


def test_cancelled() -> None:
    proof = prove(HOPELESS, Solution("path", Outcome.UNSOLVABLE), cancelled=lambda: True)
    assert (proof.holds, proof.second.reason) == (None, "cancelled")
