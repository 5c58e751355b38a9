"""Rush Hour: cars that move along their own axis, walls, and a primary car that wants to its exit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count
from typing import Any, ClassVar, NamedTuple, Self

from unjam.errors import ParseError
from unjam.puzzles.blocks import EMPTY, EMPTY_NUMBER, WALL_NUMBER, Blocks, Cells, joined, straight
from unjam.puzzles.grid import Move, Symmetry, symmetries
from unjam.puzzles.puzzle import Metric
from unjam.puzzles.text import place, read_rows, refuse_fields

PRIMARY = "A"

# Names of the cars in canonical forms: no o and no x, and as many as 128 cells can hold beside the primary.
NAMES = "BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnpqrstuvwyz0123456789ÀÁÂÃ"


class Car(NamedTuple):
    """``stride`` leads from one of the car's cells to the next; its first cell stays within ``low`` and ``high``."""

    letter: str
    first: int
    length: int
    stride: int
    low: int
    high: int

    @property
    def span(self) -> int:
        """From the first cell to the last."""
        return (self.length - 1) * self.stride


@dataclass(frozen=True)
class Rush(Blocks):
    """``board`` has a character for each cell by rows: ``.`` empty, ``x`` wall, else the letter of a car.

    ``exit`` is right, left, top or bottom. Cars are in the order of first appearance by rows. A state is the first cell
    of each car.
    """

    family: ClassVar[str] = "rush"
    metrics: ClassVar[tuple[Metric, ...]] = ("slide", "step")
    field_names: ClassVar[tuple[str, ...]] = ("exit",)
    wall: ClassVar[str] = "x"

    width: int
    height: int
    board: str
    exit: str

    @classmethod
    def parse(cls, board: object, *, exit: object = None, **unknown: Any) -> Self:
        """Read a board, and the exit: ``right``, ``left``, ``top`` or ``bottom``, with an index or without.

        ``.`` or ``o`` is empty, ``x`` a wall, ``A`` the primary, any other letter or digit a car of two cells or more.
        Text without row separators is a square board. The exit is the right end of the primary's row unless stated, or
        the bottom of its column. An index (``right:2``) must be that of the primary's own line.
        """
        refuse_fields(cls.family, unknown, cls.field_names)
        rows = read_rows(board, square=True)
        width = len(rows[0])
        text = "".join(rows).replace("o", ".")
        cars = _read_cars(text, width)
        primary = next((car for car in cars if car.letter == PRIMARY), None)
        if primary is None:
            raise ParseError(f"there is no primary car {PRIMARY}", field="board")
        rush = cls(width, len(rows), text, _read_exit(exit, primary, width))
        vars(rush)["cars"] = cars
        return rush

    def fields(self) -> dict[str, Any]:
        return {"board": _board_field(self.board, self.width), "exit": self.exit}

    @cached_property
    def cars(self) -> tuple[Car, ...]:
        return _read_cars(self.board, self.width)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.board.replace(EMPTY, "").replace(self.wall, "")))

    @cached_property
    def primary(self) -> int:
        """Index of the primary car."""
        return self.names.index(PRIMARY)

    @property
    def goal_cell(self) -> int:
        """Where the first cell of the primary must be."""
        car = self.cars[self.primary]
        return car.high if self.exit in ("right", "bottom") else car.low

    def start(self) -> Cells:
        return tuple([car.first for car in self.cars])

    def covered(self, state: Cells, piece: int) -> Cells:
        car = self.cars[piece]
        return tuple(range(state[piece], state[piece] + car.span + 1, car.stride))

    @cached_property
    def _walls(self) -> int:
        return sum([1 << cell for cell, letter in enumerate(self.board) if letter == self.wall])

    @cached_property
    def _shapes(self) -> tuple[int, ...]:
        """The bits that each car covers with its first cell at cell 0."""
        return tuple([sum([1 << cell for cell in range(0, car.span + 1, car.stride)]) for car in self.cars])

    def ends(self, state: Cells, metric: Metric, pieces: Iterable[int]) -> Iterator[tuple[int, int]]:
        taken = self._walls
        for shape, cell in zip(self._shapes, state, strict=True):
            taken |= shape << cell
        for piece in pieces:
            car, cell = self.cars[piece], state[piece]
            for ends, front in (
                (range(cell - car.stride, car.low - 1, -car.stride), 0),
                (range(cell + car.stride, car.high + 1, car.stride), car.span),
            ):
                for end in ends:
                    if taken >> end + front & 1:
                        break
                    yield piece, end
                    if metric == "step":
                        break

    def notation(self, moves: Iterable[Move], metric: Metric, *, checked: bool = False) -> list[str]:
        if not checked:
            return super().notation(moves, metric)
        # Results come by the million: the letters on the board say which car moves, and where it is.
        board, written = list(self.board), []
        for cell, to in moves:
            letter = board[cell]
            written.append(f"{letter}:{straight(cell, to, self.width)}")
            covered = [at for at, here in enumerate(board) if here == letter]
            for at in covered:
                board[at] = EMPTY
            for at in covered:
                board[at + to - cell] = letter
        return written

    def way(self, state: Cells, piece: int, end: int, metric: Metric) -> str:
        return straight(state[piece], end, self.width)

    def background(self) -> str:
        return "".join([letter if letter == self.wall else EMPTY for letter in self.board])

    def drawn(self, piece: int) -> str:
        return self.cars[piece].letter * self.cars[piece].length

    def is_goal(self, state: Any) -> bool:
        return bool(state[self.primary] == self.goal_cell)

    def fold(self, state: Any) -> Cells:
        """The state itself: cars that look alike are on different lines or cannot pass each other."""
        folded: Cells = state
        return folded

    def unsolvable_reason(self) -> str | None:
        """What stands between the primary and its exit and can never give way: a wall, or a car of the same line."""
        car, goal = self.cars[self.primary], self.goal_cell
        start, end = min(car.first, goal), max(car.first, goal) + car.span
        for piece in self.start_grid[start : end + 1 : car.stride]:
            if piece == WALL_NUMBER:
                return "a wall stands between the primary car and its exit"
            if piece not in (EMPTY_NUMBER, self.primary) and self.cars[piece].stride == car.stride:
                return f"car {self.names[piece]} cannot get out of the line between the primary car and its exit"
        return None

    def canonical_image(self) -> tuple[dict[str, Any], Symmetry]:
        """The lesser of the two images whose exit is right, cars named by first appearance."""
        images = []
        for number, (symmetry, sources) in enumerate(_views(self.width, self.height, self.exit)):
            image = "".join([self.board[cell] for cell in sources])
            others = [letter for letter in dict.fromkeys(image) if letter not in ".xA"]
            images.append((image.translate(str.maketrans("".join(others), NAMES[: len(others)])), number, symmetry))
        board, _, symmetry = min(images)
        return {"board": _board_field(board, symmetry.width), "exit": "right"}, symmetry


def _read_cars(text: str, width: int) -> tuple[Car, ...]:
    covered: dict[str, list[int]] = {}
    for cell, letter in enumerate(text):
        if letter not in ".x":
            covered.setdefault(letter, []).append(cell)
    return tuple([_read_car(letter, cells, width, len(text)) for letter, cells in covered.items()])


def _read_car(letter: str, cells: list[int], width: int, size: int) -> Car:
    first = cells[0]
    if not letter.isalnum():
        message = f"{letter!a} is no car; use letters and digits, . or o for empty, x for a wall"
        raise ParseError(message, **place(first, width), field="board")
    if len(cells) == 1:
        raise ParseError(f"car {letter} has one cell; a car has two or more", **place(first, width), field="board")
    row, column = divmod(first, width)
    if (cells[1] - first) % width == 0:
        stride, low, high = width, column, size - width + column - (len(cells) - 1) * width
    else:
        stride, low, high = 1, row * width, (row + 1) * width - len(cells)
    for cell, expected in zip(cells, count(first, stride), strict=False):
        if cell != expected or (stride != width and cell // width != row):
            in_line = all(other // width == row for other in cells) or all(other % width == column for other in cells)
            what = "is broken: this cell is apart" if in_line else "is bent: this cell is out of line"
            raise ParseError(f"car {letter} {what}", **place(cell, width), field="board")
    return Car(letter, first, len(cells), stride, low, high)


def _read_exit(exit: object, primary: Car, width: int) -> str:
    across = primary.stride != width
    ends = ("right", "left") if across else ("bottom", "top")
    if exit is None:
        return ends[0]
    match = re.fullmatch("(right|left|top|bottom)(?::([0-9]{1,2}))?", exit) if isinstance(exit, str) else None
    if not match:
        raise ParseError("expected right, left, top or bottom, with an index or without (right:2)", field="exit")
    side, index = match.groups()
    if side not in ends:
        lies = "lies across" if across else "stands upright"
        raise ParseError(f"the primary car {lies}: its exit is {ends[0]} or {ends[1]}", field="exit")
    line = primary.first // width if across else primary.first % width
    if index is not None and int(index) != line:
        raise ParseError(f"the primary car is on line {line} (counted from 0), not on {index}", field="exit")
    return str(side)


@cache
def _views(width: int, height: int, exit: str) -> tuple[tuple[Symmetry, tuple[int, ...]], ...]:
    """The two symmetries that turn the exit to the right, each with the source of every cell of the image."""
    stride = {"right": 1, "left": -1, "bottom": width, "top": -width}[exit]
    return tuple(
        (symmetry, symmetry.inverse(width, height).cells)
        for symmetry in symmetries(width, height)
        if symmetry.width > 1 and (symmetry.cells[abs(stride)] - symmetry.cells[0]) * stride == abs(stride)
    )


def _board_field(board: str, width: int) -> str | list[str]:
    """Rows separated by ``/``, which would not show that there is only one."""
    return joined(board, width) if len(board) > width else [board]
