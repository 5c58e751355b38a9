"""Rush Hour: cars that move along their own axis, walls, and a primary car that wants to its exit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count
from typing import Any, ClassVar, NamedTuple, Self

from unjam.errors import IllegalMove, ParseError
from unjam.puzzles.grid import Move, Symmetry, symmetries
from unjam.puzzles.puzzle import Metric, Puzzle, State
from unjam.puzzles.text import place, read_rows, refuse_fields

PRIMARY = "A"
EMPTY_INDEX, WALL_INDEX = -1, -2  # in ``Rush.grid``, beside the indices of cars

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
class Rush(Puzzle):
    """``board`` has a character for each cell by rows: ``.`` empty, ``x`` wall, else the letter of a car.

    Cars are in the order of first appearance by rows. A state is the first cell of each car.
    """

    family: ClassVar[str] = "rush"
    metrics: ClassVar[tuple[Metric, ...]] = ("slide", "step")

    width: int
    height: int
    board: str
    exit: str  # right, left, top or bottom
    cars: tuple[Car, ...]
    primary: int  # index of the primary car

    @classmethod
    def parse(cls, board: object, *, exit: object = None, **unknown: Any) -> Self:
        """Read a board, and the exit: ``right``, ``left``, ``top`` or ``bottom``, with an index or without.

        ``.`` or ``o`` is empty, ``x`` a wall, ``A`` the primary, any other letter or digit a car of two cells or more.
        Text without row separators is a square board. The exit is the right end of the primary's row unless stated, or
        the bottom of its column. An index (``right:2``) must be that of the primary's own line.
        """
        refuse_fields(cls.family, unknown, ("board", "exit"))
        rows = read_rows(board, square=True)
        width = len(rows[0])
        text = "".join(rows).replace("o", ".")
        covered: dict[str, list[int]] = {}
        for cell, letter in enumerate(text):
            if letter not in ".x":
                covered.setdefault(letter, []).append(cell)
        cars = tuple([_read_car(letter, cells, width, len(text)) for letter, cells in covered.items()])
        if PRIMARY not in covered:
            raise ParseError(f"there is no primary car {PRIMARY}", field="board")
        primary = list(covered).index(PRIMARY)
        return cls(width, len(rows), text, _read_exit(exit, cars[primary], width), cars, primary)

    def fields(self) -> dict[str, Any]:
        return {"board": _board_field(self.board, self.width), "exit": self.exit}

    @property
    def pieces(self) -> int:
        return len(self.cars)

    @property
    def goal_cell(self) -> int:
        """Where the first cell of the primary must be."""
        car = self.cars[self.primary]
        return car.high if self.exit in ("right", "bottom") else car.low

    def start(self) -> State:
        return tuple([car.first for car in self.cars])

    def moves(self, state: State, metric: Metric) -> Iterator[tuple[Move, State]]:
        grid = self.grid(state)
        for index in range(len(self.cars)):
            yield from self._car_moves(index, state, grid, metric)

    def _car_moves(self, index: int, state: State, grid: list[int], metric: Metric) -> Iterator[tuple[Move, State]]:
        assert isinstance(state, tuple)
        car = self.cars[index]
        first, stride, span = state[index], car.stride, car.span
        towards_low = [(to, to) for to in range(first - stride, car.low - 1, -stride)]
        towards_high = [(to, to + span) for to in range(first + stride, car.high + 1, stride)]
        for way in (towards_low, towards_high):
            for to, entered in way:
                if grid[entered] != EMPTY_INDEX:
                    break
                yield Move(first, to), (*state[:index], to, *state[index + 1 :])
                if metric == "step":
                    break

    def apply(self, state: State, move: Move, metric: Metric) -> State:
        """As for every puzzle, but only the car that is named is looked at: packs are replayed by this."""
        index = self.car_at(state, move.cell)
        if index is not None:
            for legal, after in self._car_moves(index, state, self.grid(state), metric):
                if legal.to - legal.cell == move.to - move.cell:
                    return after
        raise IllegalMove(f"no {metric} move from cell {move.cell} to {move.to} here")

    def is_goal(self, state: State) -> bool:
        assert isinstance(state, tuple)
        return bool(state[self.primary] == self.goal_cell)

    def fold(self, state: State) -> State:
        """The state itself: cars that look alike are on different lines or cannot pass each other."""
        return state

    def same_move(self, state: State, one: Move, other: Move) -> bool:
        if one.to - one.cell != other.to - other.cell:
            return False
        return one == other or self.car_at(state, one.cell) == self.car_at(state, other.cell) is not None

    def car_at(self, state: State, cell: int) -> int | None:
        """The index of the car that covers a cell."""
        assert isinstance(state, tuple)
        for index, (car, first) in enumerate(zip(self.cars, state, strict=True)):
            if first <= cell <= first + car.span and (cell - first) % car.stride == 0:
                return index
        return None

    def grid(self, state: State | None = None) -> list[int]:
        """For each cell the index of the car that covers it, EMPTY_INDEX or WALL_INDEX."""
        if state is None:
            state = self.start()
        assert isinstance(state, tuple)
        grid = self._walls.copy()
        for index, (car, first) in enumerate(zip(self.cars, state, strict=True)):
            for cell in range(first, first + car.span + 1, car.stride):
                grid[cell] = index
        return grid

    @cached_property
    def _walls(self) -> list[int]:
        return [WALL_INDEX if letter == "x" else EMPTY_INDEX for letter in self.board]

    def format(self, state: State | None = None) -> str:
        letters = {EMPTY_INDEX: ".", WALL_INDEX: "x"} | {index: car.letter for index, car in enumerate(self.cars)}
        return "\n".join(_rows("".join([letters[index] for index in self.grid(state)]), self.width))

    def unsolvable_reason(self) -> str | None:
        """What stands between the primary and its exit and can never give way: a wall, or a car of the same line."""
        car, goal = self.cars[self.primary], self.goal_cell
        start, end = min(car.first, goal), max(car.first, goal) + car.span
        for index in self.grid()[start : end + 1 : car.stride]:
            if index == WALL_INDEX:
                return "a wall stands between the primary car and its exit"
            if index not in (EMPTY_INDEX, self.primary) and self.cars[index].stride == car.stride:
                return f"car {self.cars[index].letter} cannot get out of the line between the primary car and its exit"
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

    def notation(self, moves: Iterable[Move], metric: Metric) -> list[str]:
        state = self.start()
        written = []
        for move in moves:
            after = self.apply(state, move, metric)
            index = self.car_at(state, move.cell)
            assert index is not None
            car, distance = self.cars[index], move.to - move.cell
            directions = "UD" if car.stride == self.width else "LR"
            written.append(f"{car.letter}:{directions[distance > 0]}{abs(distance) // car.stride}")
            state = after
        return written

    def read_notation(self, moves: Iterable[str], metric: Metric) -> list[Move]:
        state = self.start()
        read = []
        for number, text in enumerate(moves, 1):
            match = re.fullmatch("(.):([UDLR])([1-9][0-9]?)", text)
            if not match:
                raise IllegalMove(f"move {number}: {text[:20]!r} is not a move like A:R2")
            letter, direction, cells = match.groups()
            index = next((index for index, car in enumerate(self.cars) if car.letter == letter), None)
            if index is None:
                raise IllegalMove(f"move {number}: there is no car {letter}")
            assert isinstance(state, tuple)
            stride = {"U": -self.width, "D": self.width, "L": -1, "R": 1}[direction]
            move = Move(state[index], state[index] + int(cells) * stride)
            try:
                state = self.apply(state, move, metric)
            except IllegalMove:
                raise IllegalMove(f"move {number}: {text} is no legal {metric} here") from None
            read.append(move)
        return read


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


def _rows(board: str, width: int) -> list[str]:
    return [board[at : at + width] for at in range(0, len(board), width)]


def _board_field(board: str, width: int) -> str | list[str]:
    """Rows separated by ``/``, which would not show that there is only one."""
    rows = _rows(board, width)
    return "/".join(rows) if len(rows) > 1 else rows
