"""Rush by lines of cars against the search by single pieces: every size of board, and what budgets promise."""

from __future__ import annotations

import threading
import time
from random import Random
from typing import Any

import pytest

from tests import raw_boards as raw
from tests.test_kernel_blocks import check, kernels, limits

MOST_NODES = 100_000  # a board with more is passed over

# Five rows and five columns of an 8x8 board with one car each: too many positions for any budget of a test.
ENDLESS = raw.Rush(
    8,
    8,
    [
        *(0, 0, -1, -1, -1, -1, -1, -1),
        *(1, 1, -1, -1, -1, -1, -1, 5),
        *(2, 2, -1, -1, -1, -1, -1, 5),
        *(3, 3, -1, -1, -1, -1, -1, -1),
        *(4, 4, 6, 7, 8, 9, -1, -1),
        *(-1, -1, 6, 7, 8, 9, -1, -1),
        *(-1, -1, -1, -1, -1, -1, -1, -1),
        *(-1, -1, -1, -1, -1, -1, -1, -1),
    ],
    0,
    -1,
)


def board_of(random: Random, width: int, height: int) -> raw.Rush:
    """Cars of two to four cells nearly everywhere, so that few positions can be reached."""
    board = [-2 if random.random() < 0.04 else -1 for _ in range(width * height)]
    cars = 0
    for _ in range(3 * width * height):
        cell, length = random.randrange(width * height), random.choice([2, 2, 2, 3, 4])
        across = random.random() < 0.5
        room = width - cell % width if across else height - cell // width
        cells = [cell + at * (1 if across else width) for at in range(length)]
        if length <= room and all(board[at] == -1 for at in cells) and (cars == 0 or random.random() < 0.9):
            for at in cells:
                board[at] = cars
            cars += 1
    if cars == 0:
        return board_of(random, width, height)
    numbers = random.sample(range(cars), cars)  # pieces need not be numbered by place
    board = [numbers[piece] if piece >= 0 else piece for piece in board]
    primary = random.randrange(cars)
    cells = [cell for cell, piece in enumerate(board) if piece == primary]
    if width > 1 and cells[1] - cells[0] == 1:
        goal = cells[0] // width * width + random.choice([0, width - len(cells)])
    else:
        goal = cells[0] % width + random.choice([0, height - len(cells)]) * width
    return raw.Rush(width, height, board, primary, goal)


def run(puzzle: raw.Rush, metric: str, algorithm: str = "bfs", control: Any = None, **budget: Any) -> Any:
    return kernels.rush(*puzzle, metric, algorithm, limits(**budget), control or kernels.Control())


@pytest.mark.parametrize(
    ("width", "height"),
    [(2, 2), (1, 6), (6, 1), (4, 6), (6, 6), (7, 7), (8, 8), (8, 3), (3, 8), (9, 4), (4, 9)],
)
def test_both_searches_agree_on_boards_of_every_size(width: int, height: int) -> None:
    random = Random(f"{width} {height}")
    solved = states = 0
    for _ in range(20):
        puzzle = board_of(random, width, height)
        for metric in ("slide", "step"):
            whole = puzzle._replace(goal_cell=-1)
            component = run(whole, metric, "astar", nodes=MOST_NODES)
            if component.outcome == "bounded":
                continue
            assert run(whole, metric).peak_states == component.peak_states, puzzle
            states += component.peak_states
            one, other = run(puzzle, metric), run(puzzle, metric, "astar")
            assert (one.outcome, one.length) == (other.outcome, other.length), puzzle
            if one.outcome == "optimal":
                solved += 1
                assert check(puzzle, metric, one.moves) == "", puzzle
                assert len(one.moves) == one.length == len(one.profile) - 1
    assert solved
    assert states


def test_line_with_two_cars_of_two_in_eight_cells_has_15_arrangements() -> None:
    for width, height in ((8, 1), (1, 8)):
        puzzle = raw.Rush(width, height, [1, 1, -1, -1, -1, -1, 0, 0], 0, -1)
        assert run(puzzle, "step").peak_states == run(puzzle, "slide").peak_states == 15


def test_node_budget_is_exact() -> None:
    for metric in ("slide", "step"):
        for nodes in (0, 1, 17, 12_345):
            result = run(ENDLESS, metric, nodes=nodes)
            assert (result.outcome, result.reason, result.generated) == ("bounded", "nodes", nodes)
            assert (result.length, result.upper) == (-1, -1)
            assert result.expanded <= nodes
            assert sum(result.profile) == result.peak_states


def test_byte_budget() -> None:
    for size in (0, 1000, 30_000_000):
        result = run(ENDLESS, "step", size=size)
        assert (result.outcome, result.reason) == ("bounded", "bytes")
        assert result.peak_bytes <= size


def test_time_budget() -> None:
    start = time.monotonic()
    result = run(ENDLESS, "slide", seconds=0.2)
    assert (result.outcome, result.reason) == ("bounded", "seconds")
    assert time.monotonic() - start >= 0.2
    assert result.lower > 0


def test_cancel_from_another_thread() -> None:
    control = kernels.Control()
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(run(ENDLESS, "step", control=control)))
    thread.start()
    while control.generated < 100_000:
        time.sleep(0.001)
    assert control.depth > 0
    control.cancel()
    thread.join()
    assert (answers[0].outcome, answers[0].reason) == ("bounded", "cancelled")
