"""The eight symmetries of a rectangular grid, as maps of cells. A cell is ``row * width + column``."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

OUT = -1  # the "cell" of a car that has left the lot


class Symmetry(NamedTuple):
    """``cells[old]`` is where a cell goes; ``width`` x ``height`` is the size of the image."""

    width: int
    height: int
    cells: tuple[int, ...]

    def inverse(self, width: int, height: int) -> Symmetry:
        """The way back to the ``width`` x ``height`` grid this symmetry starts from."""
        back = [0] * len(self.cells)
        for old, new in enumerate(self.cells):
            back[new] = old
        return Symmetry(width, height, tuple(back))

    def move(self, move: Move) -> Move:
        """The image of a move."""
        return Move(self.cells[move.cell], OUT if move.to == OUT else self.cells[move.to])


class Move(NamedTuple):
    """The piece that covers ``cell`` moves so that what was at ``cell`` is at ``to``; ``to`` is OUT when a car leaves.

    For tiles ``cell`` is the tile that is pressed and ``to`` the blank's cell: all tiles from ``cell`` to the blank
    move by one.
    """

    cell: int
    to: int


@cache
def symmetries(width: int, height: int) -> tuple[Symmetry, ...]:
    """All eight, the identity first; four of them turn a ``width`` x ``height`` grid into ``height`` x ``width``."""
    images = []
    for transpose in (False, True):
        for flip_rows in (False, True):
            for flip_columns in (False, True):
                cells = []
                for row in range(height):
                    for column in range(width):
                        r = height - 1 - row if flip_rows else row
                        c = width - 1 - column if flip_columns else column
                        cells.append(c * height + r if transpose else r * width + c)
                images.append(Symmetry(*((height, width) if transpose else (width, height)), tuple(cells)))
    return tuple(images)
