"""Random boards of tiles and rush."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

from unjam.puzzles.tiles import Cells, Tiles

LETTERS = "BCDEFGHIJKLMNOPQRSTUVWXYZ"


def random_tiles(rng: random.Random, width: int, height: int, goal: Cells | None = None) -> Tiles:
    """One that can be solved; without a goal the blank belongs last."""
    cells = width * height
    goal = goal or (*range(1, cells), 0)
    while True:
        puzzle = Tiles(width, height, tuple(rng.sample(range(cells), cells)), goal)
        if puzzle.unsolvable_reason() is None:
            return puzzle


def random_rush(rng: random.Random, side: int = 6, cars: tuple[int, int] = (6, 11)) -> Iterator[str]:
    """Boards for ever, as text, all different; the primary lies in the third row, and not every one can be solved."""
    places = _places(side)
    primary = [2 * side + column for column in range(side - 2)]
    done = set[str]()
    while True:
        first = rng.choice(primary)
        taken = {first, first + 1}
        board = ["o"] * side * side
        board[first] = board[first + 1] = "A"
        wanted = iter(LETTERS[: rng.randint(*cars) - 1])
        for place in rng.sample(places, len(places)):
            if taken.isdisjoint(place):
                if (letter := next(wanted, None)) is None:
                    break
                taken.update(place)
                for cell in place:
                    board[cell] = letter
        text = "".join(board)
        if text not in done:
            done.add(text)
            yield text


@cache
def _places(side: int) -> list[tuple[int, ...]]:
    """All places of cars of two and three cells."""
    found = []
    for length in (2, 3):
        for line in range(side):
            for start in range(side - length + 1):
                found.append(tuple(line * side + start + cell for cell in range(length)))
                found.append(tuple((start + cell) * side + line for cell in range(length)))
    return found
