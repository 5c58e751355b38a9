"""Components of all boards of Klotski's kind, against a search that moves every piece of every board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.raw_boards import shift
from tests.test_kernel_blocks import kernels, limits

SHAPES = {
    "square": ((0, 0), (0, 1), (1, 0), (1, 1)),
    "across": ((0, 0), (0, 1)),
    "down": ((0, 0), (1, 0)),
    "single": ((0, 0),),
}
Piece = tuple[str, tuple[int, ...]]  # its cells
Board = frozenset[Piece]


def boards(width: int, height: int, empty: int) -> Iterator[Board]:
    def fill(cell: int, covered: frozenset[int], pieces: Board) -> Iterator[Board]:
        if cell == width * height:
            if sum(shape == "square" for shape, _ in pieces) == 1 and width * height - len(covered) >= empty:
                yield pieces
            return
        yield from fill(cell + 1, covered, pieces)
        row, column = divmod(cell, width)
        for name, shape in SHAPES.items():
            places = [(row + down, column + right) for down, right in shape]
            cells = tuple(r * width + c for r, c in places)
            if all(r < height and c < width for r, c in places) and not covered & {*cells}:
                yield from fill(cell + 1, covered | {*cells}, pieces | {(name, cells)})

    return fill(0, frozenset(), frozenset())


def steps(width: int, height: int, board: Board) -> Iterator[Board]:
    covered = {cell for _, cells in board for cell in cells}
    for name, cells in board:
        for down, right in ((-1, 0), (0, 1), (1, 0), (0, -1)):
            to = shift(width, height, cells, down, right)
            if to is not None and not (covered - {*cells}) & {*to}:
                yield board - {(name, cells)} | {(name, to)}


def component_sizes(width: int, height: int, empty: int) -> Counter[int]:
    left = set(boards(width, height, empty))
    sizes: Counter[int] = Counter()
    while left:
        found = [left.pop()]
        for board in found:
            new = left & set(steps(width, height, board))
            left -= new
            found.extend(new)
        sizes[len(found)] += 1
    return sizes


def components(width: int, height: int, empty: int, **budget: Any) -> Any:
    return kernels.klotski_components(width, height, empty, limits(**budget), kernels.Control())


@pytest.mark.parametrize(
    ("width", "height", "empty"),
    [
        (2, 2, 0),
        (2, 3, 0),
        (3, 2, 1),
        (3, 3, 0),
        (3, 3, 2),
        (2, 5, 1),
        (5, 2, 2),
        (3, 4, 2),
        (4, 3, 3),
        (4, 3, 1),
        (1, 4, 0),
    ],
)
def test_components_of_small_boards(width: int, height: int, empty: int) -> None:
    found = components(width, height, empty).sizes
    assert found == sorted(found, reverse=True)
    assert Counter(found) == component_sizes(width, height, empty)


def test_all_boards_of_the_classic_size() -> None:
    found = components(4, 5, 2)
    assert (found.reason, sum(found.sizes), len(found.sizes)) == ("", 29_334_498, 25_422)
    assert 25_955 in found.sizes  # that of the classic start


def test_budgets() -> None:
    control = kernels.Control()
    control.cancel()
    assert kernels.klotski_components(5, 5, 2, limits(), control).reason == "cancelled"
    assert components(5, 5, 2, seconds=0).reason == "seconds"
    for size in (0, 1000, 1_000_000):
        found = components(4, 5, 2, size=size)
        assert (found.reason, found.sizes) == ("bytes", [])


@pytest.mark.parametrize(
    ("width", "height", "empty"), [(0, 4, 0), (4, 0, 0), (29, 1, 0), (4, 8, 0), (2**31 - 1, 2**31 - 1, 0), (4, 5, -1)]
)
def test_nonsense_is_refused(width: int, height: int, empty: int) -> None:
    with pytest.raises(ValueError, match="cells"):
        components(width, height, empty)
