"""Breadth-first search with too little memory for all positions: the same answer, or bounded by a proven lower."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

import unjam
from tests.boards import RANDOM_BOARDS
from tests.test_kernel_blocks import ENDLESS, kernels, limits
from unjam.search import reference

MOST_STATES = 3000
# No single cells, so positions are kept one by one: 58,000 of them.
BOARD = ("AAB.", "AAB.", ".ECC", "GE.F", "GDDF")
GOAL = ("BGCC", "BGDD", "....", "AA..", "AA..")


def random_puzzle(family: str, random: Random) -> unjam.Puzzle:
    if family != "wide klotski":
        return unjam.parse(family, **RANDOM_BOARDS[family](random))
    fields = RANDOM_BOARDS["klotski"](random)  # more than 64 cells
    walls = ["#" * len(fields["board"][0])] * (64 // len(fields["board"][0]))
    return unjam.parse("klotski", **fields | {name: fields[name] + walls for name in ("board", "goal")})


def kinds_of_answers(puzzle: unjam.Puzzle, metric: str, length: int | None, sizes: list[int]) -> Counter[str]:
    """Bounded, found by one search, or by several."""
    whole = unjam.solve(puzzle, metric, algorithm="bfs")
    assert whole.length == length
    kinds: Counter[str] = Counter()
    for size in sizes:
        answer = unjam.solve(puzzle, metric, unjam.Budget(bytes=size), algorithm="bfs")
        assert answer.peak_bytes <= size
        if answer.outcome is unjam.Outcome.BOUNDED:
            kinds["bounded"] += 1
            assert answer.lower is not None
            assert length is None or answer.lower <= length
            continue
        assert (answer.outcome, answer.length) == (whole.outcome, length), (puzzle, size)
        unjam.verify(puzzle, answer)
        kinds["several" if answer.generated > whole.generated else "one"] += 1
    return kinds


@pytest.mark.parametrize(
    ("family", "metric"),
    [
        ("klotski", "path"),
        ("klotski", "slide"),
        ("klotski", "step"),
        ("wide klotski", "slide"),
        ("tiles", "step"),
        ("tiles", "slide"),
    ],
)
def test_any_budget_of_bytes_gives_the_optimum_or_a_lower_bound(family: str, metric: Any) -> None:
    random = Random(f"{family} {metric}")
    kinds: Counter[str] = Counter()
    boards = 0
    while boards < 40:
        puzzle = random_puzzle(family, random)
        expected = reference.search(puzzle, metric, max_states=MOST_STATES)
        if expected.outcome is unjam.Outcome.BOUNDED or expected.peak_states < 60:
            continue
        boards += 1
        kinds += kinds_of_answers(puzzle, metric, expected.length, [int(700 * 1.3**power) for power in range(20)])
    assert min(kinds["bounded"], kinds["one"], kinds["several"]) >= 10, kinds


@pytest.mark.parametrize("metric", ["path", "slide", "step"])
def test_board_of_many_layers(metric: str) -> None:
    puzzle = unjam.parse("klotski", list(BOARD), goal=list(GOAL))
    length = unjam.solve(puzzle, metric, algorithm="astar").length
    assert length == {"path": 43, "slide": 46, "step": 69}[metric]
    kinds = kinds_of_answers(puzzle, metric, length, [int(2000 * 1.2**power) for power in range(12, 42)])
    assert min(kinds["bounded"], kinds["one"], kinds["several"]) >= 3, kinds


def test_another_budget_may_end_while_the_moves_are_looked_for() -> None:
    puzzle = unjam.parse("klotski", list(BOARD), goal=list(GOAL))
    whole = unjam.solve(puzzle, "step", algorithm="bfs")
    size = next(
        size
        for size in range(20_000, whole.peak_bytes, 20_000)
        if unjam.solve(puzzle, "step", unjam.Budget(bytes=size), algorithm="bfs").generated > whole.generated
    )
    budget = unjam.Budget(bytes=size, nodes=whole.generated + 1)
    answer = unjam.solve(puzzle, "step", budget, algorithm="bfs")
    assert (answer.outcome, answer.generated) == (unjam.Outcome.BOUNDED, whole.generated + 1)
    assert (answer.lower, answer.upper, answer.moves) == (whole.length, None, ())


def test_memory_is_used_up_before_the_answer_is_bounded() -> None:
    """Three layers are all that is needed: many more positions than fit are met."""
    size = 4_000_000
    result = kernels.klotski(*ENDLESS, "step", "bfs", limits(size=size), kernels.Control())
    assert (result.outcome, result.reason) == ("bounded", "bytes")
    assert result.peak_bytes <= size
    assert sum(result.profile[-3:]) * 16 > size / 8
