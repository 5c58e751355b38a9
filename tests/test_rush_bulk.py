"""Boards of rush by the million: the kernel reads and searches them as the rules and `solve` do."""

from __future__ import annotations

import csv
from math import inf
from pathlib import Path
from random import Random

import pytest

from tests.boards import RANDOM_BOARDS
from unjam._kernels import Control
from unjam.errors import ParseError
from unjam.puzzles.rush import Rush
from unjam.search.rush_bulk import quick_rush, solve_many
from unjam.search.solution import Budget
from unjam.search.solve import solve


def plain(random: Random) -> tuple[str, str | None]:
    """A board as text, and its exit."""
    fields = RANDOM_BOARDS["rush"](random)
    board = fields["board"]
    return board if isinstance(board, str) else "/".join(board), fields.get("exit")


def same(quick: Rush, slow: Rush) -> bool:
    properties = ("names", "primary", "cars", "canonical", "to_canonical", "key")
    return quick == slow and all(getattr(quick, name) == getattr(slow, name) for name in properties)


def test_what_the_kernel_reads_is_what_the_rules_read() -> None:
    random, read = Random(1), 0
    for _ in range(3000):
        board, exit = plain(random)
        quick = quick_rush(board, exit=exit)
        if quick is not None:
            read += 1
            assert same(quick, Rush.parse(board, exit=exit))
    assert read > 2900


def test_what_the_rules_refuse_the_kernel_does_not_read() -> None:
    random, refused = Random(2), 0
    for _ in range(3000):
        board, exit = plain(random)
        for _ in range(random.choice([1, 1, 2])):
            at = random.randrange(len(board))
            board = board[:at] + random.choice(["", ".", "x", "A", "B", "/", "é", "#", "\0", "CC"]) + board[at + 1 :]
        quick = quick_rush(board, exit=random.choice([exit, "top", "", "right:1", 3]))
        try:
            slow = Rush.parse(board, exit=exit)
        except ParseError:
            refused += 1
            assert quick is None
        else:
            assert quick is None or same(quick, Rush.parse(board, exit=quick.exit)), slow
    assert refused > 500


@pytest.mark.parametrize("board", ["", "A", "AA", "AA/.", "/AA", "A/A", "A" * 400, "oooo" * 100, ["AA", ".."], None, 3])
def test_unusual_boards_are_left_to_the_rules(board: object) -> None:
    assert quick_rush(board) is None


def test_a_thousand_boards_at_once_have_the_answers_of_one_by_one(shared_data: Path) -> None:
    with (shared_data / "rush_known.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))[::4]
    puzzles = [Rush.parse(row["board"]) for row in rows]
    boards = [puzzle.canonical for puzzle in puzzles]
    for metric in ("slide", "step"):
        found = solve_many(boards, metric, Budget(), inf, Control())
        assert [solution and solution.length for solution in found] == [int(row[metric]) for row in rows]


def test_answers_by_the_hundred_are_those_of_solve() -> None:
    random = Random(3)
    puzzles = [Rush.parse(board, exit=exit) for board, exit in (plain(random) for _ in range(400))]
    found = solve_many([puzzle.canonical for puzzle in puzzles], "slide", Budget(), inf, Control())
    for puzzle, solution in zip(puzzles, found, strict=True):
        alone = solve(puzzle, "slide")
        assert solution is not None or puzzle.height == 1
        if solution is not None:
            assert (solution.outcome, solution.length) == (alone.outcome, alone.length)
            assert (solution.reason is None) == (alone.reason is None)


def test_budgets_and_stopping() -> None:
    board = Rush.parse("ooooooooooooAAoooBoooooBoooooooooooo").canonical
    [found] = solve_many([board], "slide", Budget(nodes=1), inf, Control())
    assert found is not None
    assert (found.outcome, found.reason, found.upper) == ("bounded", "the budget of nodes ended", None)
    assert len(solve_many([board] * 3, "slide", Budget(), 0, Control())) == 1
    stopped = Control()
    stopped.cancel()
    assert solve_many([board] * 3, "slide", Budget(), inf, stopped) == []
