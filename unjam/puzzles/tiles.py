"""The n-puzzle: numbered tiles and one blank, 2x2 to 6x6, square or not, any goal layout."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import isqrt
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

from unjam.errors import IllegalMove, ParseError
from unjam.puzzles.grid import Move, Symmetry, symmetries
from unjam.puzzles.puzzle import Metric, Puzzle, State
from unjam.puzzles.text import place, refuse_fields

MIN_SIDE = 2
MAX_SIDE = 6
MAX_TEXT = 2000  # 36 numbers as indented JSON fit easily
BLANK_WORDS = frozenset({"_", ".", "null", "None"})

Cells: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Tiles(Puzzle):
    """A board and a goal, each the tile of every cell, by rows; 0 is the blank. A state is such a tuple too."""

    family: ClassVar[str] = "tiles"
    metrics: ClassVar[tuple[Metric, ...]] = ("step", "slide")
    field_names: ClassVar[tuple[str, ...]] = ("goal",)

    width: int
    height: int
    board: Cells
    goal: Cells

    @classmethod
    def parse(cls, board: object, *, goal: object = None, **unknown: Any) -> Self:
        """Read a board and its goal: ``blank-last`` (the default), ``blank-first``, or a board again.

        Numbers are separated by spaces or commas, rows by new lines or ``/``; or a list of numbers or rows, in JSON or
        in Python. The blank is 0, ``_``, ``.`` or null. A list that is not divided into rows is a square.
        """
        refuse_fields(cls.family, unknown, cls.field_names)
        width, height, cells = _read(board, "board")
        if goal is None or goal == "blank-last":
            return cls(width, height, cells, _blank_last(width * height))
        if goal == "blank-first":
            return cls(width, height, cells, tuple(range(width * height)))
        if isinstance(goal, str) and goal.startswith("blank"):
            raise ParseError(f"{_shown(goal)} is not a goal; use blank-last, blank-first or a board", field="goal")
        goal_width, goal_height, goal_cells = _read(goal, "goal")
        if (goal_width, goal_height) != (width, height):
            message = f"the goal is {goal_width}x{goal_height}, the board is {width}x{height}"
            raise ParseError(message, field="goal")
        return cls(width, height, cells, goal_cells)

    def fields(self) -> dict[str, Any]:
        if self.goal == _blank_last(len(self.goal)):
            goal = "blank-last"
        elif self.goal == tuple(range(len(self.goal))):
            goal = "blank-first"
        else:
            goal = self._rows(self.goal, "/")
        return {"board": self._rows(self.board, "/"), "goal": goal}

    @property
    def pieces(self) -> int:
        return len(self.board) - 1

    def start(self) -> State:
        return self.board

    def moves(self, state: State, metric: Metric) -> Iterator[tuple[Move, State]]:
        assert isinstance(state, tuple)
        blank = state.index(0)
        for run in _runs(self.width, self.height, blank):
            after = list(state)
            at = blank
            for cell in run:
                after[at], after[cell] = after[cell], 0
                at = cell
                yield Move(cell, blank), tuple(after)
                if metric == "step":
                    break

    def is_goal(self, state: State) -> bool:
        return state == self.goal

    def fold(self, state: State) -> State:
        return state

    def format(self, state: State | None = None) -> str:
        if state is None:
            state = self.board
        assert isinstance(state, tuple)
        digits = len(str(self.pieces))
        return self._rows([str(tile or "_").rjust(digits) for tile in state], "\n")

    def goal_cells(self) -> Cells:
        """For each cell the goal cell of what lies there, the blank included; so the goal is the identity."""
        cell_of = [0] * len(self.goal)
        for cell, tile in enumerate(self.goal):
            cell_of[tile] = cell
        return tuple([cell_of[tile] for tile in self.board])

    def unsolvable_reason(self) -> str | None:
        """Parity decides: every step swaps the blank with a neighbour, so the parity of the permutation that is left
        and the parity of the blank's distance from home change together, and at the goal both are even. On a grid of
        2x2 or more this is the only obstacle (Johnson and Story 1879, Wilson 1974).
        """
        home = self.goal_cells()
        even_swaps = _is_even(home)
        blank, goal = self.board.index(0), self.goal.index(0)
        steps = abs(blank % self.width - goal % self.width) + abs(blank // self.width - goal // self.width)
        if even_swaps == (steps % 2 == 0):
            return None
        swaps, travel = ("even", "odd") if even_swaps else ("odd", "even")
        return f"parity: the goal is an {swaps} number of swaps away, but the blank's way home is {travel}"

    def canonical_image(self) -> tuple[dict[str, Any], Symmetry]:
        """Of the images under all eight symmetries: wide rather than tall, the goal's blank as late as can be, then
        the least board; the tiles renamed so that the goal reads 1, 2, 3, ... by rows.
        """
        home = self.goal_cells()
        best: list[int] | None = None
        for candidate in _views(self.width, self.height, self.goal.index(0)):
            image = [0] * len(home)
            for cell, to in zip(candidate.symmetry.cells, home, strict=True):
                image[cell] = candidate.names[to]
            if best is None or image < best:
                best, view = image, candidate
        assert best is not None
        width, height = view.symmetry.width, view.symmetry.height
        return Tiles(width, height, tuple(best), view.goal).fields(), view.symmetry

    def notation(self, moves: Iterable[Move], metric: Metric, *, checked: bool = False) -> list[str]:
        state: State = self.board
        pressed = []
        for move in moves:
            after = self.apply(state, move, metric)
            assert isinstance(state, tuple)
            pressed.append(str(state[move.cell]))
            state = after
        return pressed

    def read_notation(self, moves: Iterable[str], metric: Metric) -> list[Move]:
        state: State = self.board
        read = []
        for number, text in enumerate(moves, 1):
            assert isinstance(state, tuple)
            tile = int(text) if re.fullmatch("[0-9]{1,2}", text) else 0
            if not 0 < tile < len(self.board):
                raise IllegalMove(f"move {number}: {text[:20]!r} is not a tile from 1 to {self.pieces}")
            move = Move(state.index(tile), state.index(0))
            try:
                state = self.apply(state, move, metric)
            except IllegalMove:
                message = f"move {number}: tile {tile} cannot move towards the blank in one {metric}"
                raise IllegalMove(message) from None
            read.append(move)
        return read

    def _rows(self, cells: Sequence[object], separator: str) -> str:
        starts = range(0, len(cells), self.width)
        return separator.join([" ".join(map(str, cells[at : at + self.width])) for at in starts])


class _View(NamedTuple):
    """One way to look at a puzzle: a symmetry, each tile's name by its goal cell before it, and the goal after it."""

    symmetry: Symmetry
    names: Cells
    goal: Cells


@cache
def _views(width: int, height: int, blank: int) -> tuple[_View, ...]:
    """The symmetries that make the board wide and bring the goal's blank as near to the end as can be."""
    wide = [symmetry for symmetry in symmetries(width, height) if symmetry.width >= symmetry.height]
    home = max(symmetry.cells[blank] for symmetry in wide)
    goal = (*range(1, home + 1), 0, *range(home + 1, width * height))
    return tuple(
        _View(symmetry, tuple([goal[cell] for cell in symmetry.cells]), goal)
        for symmetry in wide
        if symmetry.cells[blank] == home
    )


@cache
def _runs(width: int, height: int, blank: int) -> tuple[Cells, ...]:
    """The cells from the blank to the edge, nearest first: up, left, right, down."""
    row, column = divmod(blank, width)
    runs = (
        range(blank - width, -1, -width),
        range(blank - 1, blank - column - 1, -1),
        range(blank + 1, (row + 1) * width),
        range(blank + width, width * height, width),
    )
    return tuple(tuple(run) for run in runs if run)


def _blank_last(size: int) -> Cells:
    return (*range(1, size), 0)


def _is_even(permutation: Sequence[int]) -> bool:
    """Whether it is a product of an even number of swaps."""
    even, seen = True, [False] * len(permutation)
    for start in range(len(permutation)):
        at = permutation[start]
        seen[start] = True
        while not seen[at]:
            seen[at] = True
            even = not even
            at = permutation[at]
    return even


def _read(board: object, field: str) -> tuple[int, int, Cells]:
    """Width, height and the tile of each cell."""
    rows = _split(board, field)
    limit = f"a board is from {MIN_SIDE}x{MIN_SIDE} to {MAX_SIDE}x{MAX_SIDE}"
    if len(rows) == 1:
        count = len(rows[0])
        side = isqrt(count)
        if count == 0:
            raise ParseError("the board is empty", field=field)
        if count > MAX_SIDE**2:
            raise ParseError(f"{count:,} numbers; {limit}", field=field)
        if side * side != count:
            raise ParseError(f"{count} numbers are no square board; separate the rows by new lines or /", field=field)
        rows = [rows[0][at : at + side] for at in range(0, count, side)]
    height = len(rows)
    width = len(rows[0])
    if height > MAX_SIDE or width > MAX_SIDE:
        raise ParseError(f"the board is {width:,}x{height:,}; {limit}", field=field)
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            message = f"the row has {len(row):,} numbers, the first row has {width}"
            raise ParseError(message, row=number, field=field)
    if height < MIN_SIDE or width < MIN_SIDE:
        raise ParseError(f"the board is {width}x{height}; {limit}", field=field)

    size = width * height
    cells: list[int] = []
    for word in [word for row in rows for word in row]:
        tile = _tile(word)
        if tile is None or tile >= size:
            message = f"{_shown(word)} is not a number from 0 to {size - 1}"
            raise ParseError(message, **place(len(cells), width), field=field)
        if tile in cells:
            first = place(cells.index(tile), width)
            what = f"tile {tile}" if tile else "the blank"
            message = f"{what} is there already (row {first['row']}, column {first['column']})"
            raise ParseError(message, **place(len(cells), width), field=field)
        cells.append(tile)
    return width, height, tuple(cells)


def _split(board: object, field: str) -> Sequence[Sequence[object]]:
    """Rows of words or numbers; one row where the board is not divided into rows."""
    if isinstance(board, str):
        if len(board) > MAX_TEXT:
            message = f"the text has {len(board):,} characters; a board is at most {MAX_SIDE}x{MAX_SIDE}"
            raise ParseError(message, field=field)
        if board.lstrip().startswith("["):
            try:
                return _split(json.loads(board), field)
            except (ValueError, RecursionError):
                raise ParseError("this looks like JSON but is not a JSON array", field=field) from None
        return [re.findall("[^ \t\r,]+", row) for row in re.split("[/\n]", board.strip(" \t\r\n,"))]
    if not isinstance(board, list | tuple):
        raise ParseError(f"expected text or a list, not {type(board).__name__}", field=field)
    if len(board) > MAX_SIDE**2:
        raise ParseError(f"a list of {len(board):,}; a board is at most {MAX_SIDE}x{MAX_SIDE}", field=field)
    if not any(isinstance(row, list | tuple) for row in board):
        if all(isinstance(row, str) and len(row) <= MAX_TEXT and _tile(row) is None for row in board):
            return _split("/".join(board), field)
        return [board]
    for number, row in enumerate(board, 1):
        if not isinstance(row, list | tuple):
            raise ParseError(f"{_shown(row)} is not a list like the other rows", row=number, field=field)
    return board


def _tile(word: object) -> int | None:
    """The tile, 0 for the blank, or None."""
    if word is None:
        return 0
    if isinstance(word, str):
        if word in BLANK_WORDS:
            return 0
        return int(word) if re.fullmatch("[0-9]{1,2}", word) else None
    if isinstance(word, int) and not isinstance(word, bool) and 0 <= word < MAX_SIDE**2:
        return word
    return None


def _shown(word: object) -> str:
    """A word for an error message, cut short; a huge number is never turned into text."""
    if isinstance(word, str):
        return ascii(word if len(word) <= 20 else f"{word[:20]}...")
    if isinstance(word, int | float):
        return repr(word) if abs(word) < 1e9 else "this number"
    return f"a {type(word).__name__}"
