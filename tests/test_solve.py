"""Solving through the library: methods, budgets, outcomes, and the figures that everybody knows."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

import unjam
from unjam._kernels import Control
from unjam.errors import MetricError, SearchError, VerificationError
from unjam.puzzles.grid import Move
from unjam.search.solve import ALGORITHMS

CLASSIC = {"board": "BAAC/BAAC/DFFE/DGHE/I..J", "goal": "..../..../..../.AA./.AA."}
BIG_FAMILY = {"board": ".BAAC./.BAAC./EDDDDF/GHHIIJ/KLLMMN", "goal": "....../....../....../..AA../..AA.."}
LOT = ["c...Bb", "C.....", "...Fff", "gGd.a.", ".ED.A.", ".eHhh."]
HARD = "0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1"  # 80 steps: minutes of search


@pytest.mark.parametrize(("metric", "length"), [("step", 116), ("slide", 90), ("path", 81)])
def test_classic_klotski(metric: str, length: int) -> None:
    puzzle = unjam.parse("klotski", **CLASSIC)
    answer = unjam.solve(puzzle, metric)
    assert (answer.outcome, answer.length, answer.lower, answer.upper) == ("optimal", length, length, length)
    assert len(answer.moves) == length
    unjam.verify(puzzle, answer)


def test_fifteen_puzzle_with_14_and_15_swapped_needs_no_search() -> None:
    answer = unjam.solve(unjam.parse("tiles", "1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0"))
    assert (answer.outcome, answer.expanded, answer.generated) == ("unsolvable", 0, 0)
    assert "parity" in (answer.reason or "")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_farthest_eight_puzzle(algorithm: str) -> None:
    assert unjam.solve(unjam.parse("tiles", "8 6 7/2 5 4/3 0 1"), algorithm=algorithm).length == 31


@pytest.mark.parametrize(("prune", "registered"), [(None, 647), (True, 647), (False, 177_953)])
def test_example_lot_registers_the_published_states(prune: bool | None, registered: int) -> None:
    answer = unjam.solve(unjam.parse("parkout", LOT), algorithm="bfs", prune=prune)
    assert (answer.length, answer.peak_states, answer.pruned) == (10, registered, prune is not False)


def test_pruning_holds_where_exits_close() -> None:
    puzzle = unjam.parse("parkout", LOT, gates=[{"edge": "left", "closes": 3}])
    answers = [unjam.solve(puzzle, prune=prune) for prune in (None, True, False)]
    assert [answer.pruned for answer in answers] == [True, True, False]
    assert len({(answer.outcome, answer.length) for answer in answers}) == 1


def test_what_does_not_fit_the_puzzle_is_refused() -> None:
    tiles, klotski = unjam.parse("tiles", HARD), unjam.parse("klotski", **CLASSIC)
    for puzzle, metric, method in (
        (klotski, None, {"algorithm": "dijkstra"}),
        (klotski, None, {"algorithm": "two-way"}),
        (klotski, None, {"heuristic": "manhattan"}),
        (klotski, None, {"prune": True}),
        (tiles, None, {"heuristic": "euclid"}),
        (tiles, None, {"algorithm": "bfs", "heuristic": "manhattan"}),
        (tiles, None, {"algorithm": "two-way", "heuristic": "manhattan"}),
        (tiles, "slide", {"heuristic": "linear-conflict"}),
    ):
        with pytest.raises(SearchError):
            unjam.solve(puzzle, metric, **method)  # type: ignore[arg-type]  # options of several types
    with pytest.raises(MetricError, match="step, slide"):
        unjam.solve(tiles, "path")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    "budget",
    [unjam.Budget(seconds=0.5), unjam.Budget(seconds=5, nodes=300_000), unjam.Budget(seconds=5, bytes=30_000_000)],
)
def test_budget_that_ends_bounds_the_optimum(algorithm: str, budget: unjam.Budget) -> None:
    answer = unjam.solve(unjam.parse("tiles", HARD), "step", budget, algorithm=algorithm)
    assert answer.outcome is unjam.Outcome.BOUNDED
    assert answer.length is None
    assert 0 < (answer.lower or 0) <= 80
    assert answer.seconds < 1.2 * (budget.seconds or 0) + 0.05
    assert answer.peak_bytes <= 1.2 * (budget.bytes or 0)


def test_cancel_from_another_thread_ends_the_search() -> None:
    control = Control()
    timer = threading.Timer(0.2, control.cancel)
    timer.start()
    answer = unjam.solve(unjam.parse("tiles", HARD), control=control)
    assert (answer.outcome, answer.reason) == ("bounded", "cancelled")
    assert answer.seconds < 1


def test_tampered_solutions_are_refused() -> None:
    puzzle = unjam.parse("klotski", **CLASSIC)
    answer = unjam.solve(puzzle)
    for tampered in (
        replace(answer, length=80, lower=80, upper=80),
        replace(answer, lower=80),
        replace(answer, moves=(*answer.moves[:-1], Move(0, 19))),
        replace(answer, moves=answer.moves[:-1], length=80, lower=80, upper=80),
        replace(answer, moves=answer.moves[:40] + answer.moves[41:] + answer.moves[-1:]),
    ):
        with pytest.raises(VerificationError):
            unjam.verify(puzzle, tampered)
