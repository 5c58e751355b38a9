"""A sample of the known answers, across families and metrics; benchmarks/known.py runs all of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import unjam
from benchmarks.known import SETS, Case

DATA = Path(os.environ.get("UNJAM_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"KNOWN ANSWERS NOT CHECKED: no folder {DATA}")

# Every n-th row of a set; the rows left out are the slow ones, which the benchmark runs.
EVERY = {"rush": 12, "klotski": 1, "parkout": 1, "depths": 1, "korf100": 5}
QUICK = unjam.Budget(seconds=4, bytes=1_000_000_000)
BUDGETS = {"klotski": unjam.Budget(nodes=2_000_000)}  # its large boards take seconds; the benchmark runs them
BIG = ("2x5", "2x6", "3x4", "3x5")  # minutes by IDA*; complete in the benchmark


def sample(name: str) -> list[Case]:
    cases = [case for case in SETS[name](DATA) if not case.name.startswith(BIG)]
    return cases[:: EVERY[name]]


@pytest.mark.parametrize("name", EVERY)
def test_sample_has_the_stated_counts(name: str) -> None:
    wrong, solved = [], 0
    for case in sample(name):
        answer = unjam.solve(case.puzzle, case.metric, BUDGETS.get(name, QUICK))
        if answer.outcome is unjam.Outcome.BOUNDED:
            if case.optimum is not None and (answer.lower or 0) > case.optimum:
                wrong.append((case, answer.lower))
            continue
        solved += 1
        if answer.length != case.optimum or (answer.outcome is unjam.Outcome.UNSOLVABLE) != (case.optimum is None):
            wrong.append((case, answer.length))
    assert not wrong
    assert solved >= {"rush": 334, "klotski": 220, "parkout": 36, "depths": 25, "korf100": 30}[name]


@pytest.mark.parametrize(
    ("family", "board", "metric", "claimed", "found"),
    [
        ("klotski", "GAAH/BAAC/BFFC/DIJE/D..E", "path", 73, 72),
        ("klotski", "BGHC/BAAC/IAAD/EFFD/E..J", "path", 57, 56),
        ("rush", "ooooooooooooAAoooBoooooBoooooooooooo", "slide", 5, 2),
        ("rush", "ooooooooooooAAoooBoooooBoooooooooooo", "step", 2, 5),
    ],
)
def test_published_counts_that_are_wrong_are_found(
    family: str, board: str, metric: str, claimed: int, found: int
) -> None:
    goal = {"goal": "..../..../..../.AA./.AA."} if family == "klotski" else {}
    answer = unjam.solve(unjam.parse(family, board, **goal), metric)
    assert answer.length == found != claimed


def test_board_that_a_published_list_calls_solvable_is_not() -> None:
    answer = unjam.solve(unjam.parse("rush", "ooBBBFooCooFAACooFooCooDooEEEDoooooo"))
    assert answer.outcome is unjam.Outcome.UNSOLVABLE
    assert answer.peak_states == 33
