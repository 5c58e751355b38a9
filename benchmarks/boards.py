"""Random boards of tiles."""

from __future__ import annotations

import random

from unjam.puzzles.tiles import Cells, Tiles


def random_tiles(rng: random.Random, width: int, height: int, goal: Cells | None = None) -> Tiles:
    """One that can be solved; without a goal the blank belongs last."""
    cells = width * height
    goal = goal or (*range(1, cells), 0)
    while True:
        puzzle = Tiles(width, height, tuple(rng.sample(range(cells), cells)), goal)
        if puzzle.unsolvable_reason() is None:
            return puzzle
