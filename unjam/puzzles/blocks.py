"""Rigid pieces on a grid: what klotski, rush and parkout have in common."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from operator import itemgetter
from typing import Any, ClassVar, Final, TypeAlias

from unjam.errors import IllegalMove
from unjam.puzzles.grid import OUT, Move, Symmetry, symmetries
from unjam.puzzles.puzzle import Metric, Puzzle

EMPTY: Final = "."
WALL: Final = "#"
EMPTY_NUMBER, WALL_NUMBER = -1, -2

Draw: TypeAlias = Callable[[str], Iterable[str]]  # the image of a board under a symmetry
Cells: TypeAlias = tuple[int, ...]  # the state: where the first cell (in row-major order) of each piece is

DIRECTIONS: Final = ((-1, 0), (1, 0), (0, -1), (0, 1))
LETTERS: Final = "UDLR"  # their names

_NOTATION = re.compile(r"(.):((?:[UDLR][0-9]{0,3})+|[UDLR]\*)", re.DOTALL)
_RUN = re.compile(r"([UDLR])([0-9]*|\*)")


class Blocks(Puzzle):
    """Puzzles whose state is one cell for each piece, in the order of ``names``; OUT for a piece that has left."""

    wall: ClassVar[str] = WALL

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The letters that name the pieces, in the order of the state."""

    @abstractmethod
    def covered(self, state: Cells, piece: int) -> Cells:
        """The cells that a piece covers, its first one first."""

    @abstractmethod
    def ends(self, state: Cells, metric: Metric, pieces: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Each of ``pieces`` that can move, with each cell where its first cell can be after one move."""

    @abstractmethod
    def way(self, state: Cells, piece: int, end: int, metric: Metric) -> str:
        """How a piece goes to the end of a legal move: ``R2``, ``R1D2``, ``R*``."""

    @abstractmethod
    def background(self) -> str:
        """The board without its pieces."""

    @abstractmethod
    def drawn(self, piece: int) -> str:
        """The letters of the cells that a piece covers."""

    @abstractmethod
    def start(self) -> Cells: ...

    @abstractmethod
    def fold(self, state: Any) -> Cells: ...

    @property
    def pieces(self) -> int:
        return len(self.names)

    def moves(self, state: Any, metric: Metric) -> Iterator[tuple[Move, Cells]]:
        for piece, end in self.ends(state, self.check_metric(metric), range(len(state))):
            yield Move(state[piece], end), (*state[:piece], end, *state[piece + 1 :])

    def apply(self, state: Any, move: Move, metric: Metric) -> Cells:
        piece, end = self._legal(state, move, metric)
        return (*state[:piece], end, *state[piece + 1 :])

    def same_move(self, state: Any, one: Move, other: Move) -> bool:
        if one == other:
            return True
        try:
            return self._meant(state, one) == self._meant(state, other)
        except IllegalMove:
            return False

    def format(self, state: Any = None) -> str:
        board = list(self.background())
        positions: Cells = self.start() if state is None else state
        for piece, at in enumerate(positions):
            if at != OUT:
                for cell, letter in zip(self.covered(positions, piece), self.drawn(piece), strict=True):
                    board[cell] = letter
        return joined("".join(board), self.width, "\n")

    def grid(self, state: Any = None) -> list[int]:
        """For each cell the number of the piece that covers it, EMPTY_NUMBER or WALL_NUMBER; gates are empty."""
        grid = [WALL_NUMBER if here == self.wall else EMPTY_NUMBER for here in self.background()]
        positions: Cells = self.start() if state is None else state
        for piece, at in enumerate(positions):
            if at != OUT:
                for cell in self.covered(positions, piece):
                    grid[cell] = piece
        return grid

    @cached_property
    def start_grid(self) -> list[int]:
        return self.grid()

    def notation(self, moves: Iterable[Move], metric: Metric, *, checked: bool = False) -> list[str]:
        state: Any = self.start()
        written = []
        for number, move in enumerate(moves, 1):
            try:
                piece, end = self._meant(state, move) if checked else self._legal(state, move, metric)
            except IllegalMove as error:
                raise IllegalMove(f"move {number}: {error}") from None
            written.append(f"{self.names[piece]}:{self.way(state, piece, end, metric)}")
            state = (*state[:piece], end, *state[piece + 1 :])
        return written

    def read_notation(self, moves: Iterable[str], metric: Metric) -> list[Move]:
        state: Any = self.start()
        read = []
        for number, text in enumerate(moves, 1):
            try:
                move = self._read_move(state, text, metric)
                state = self.apply(state, move, metric)
            except IllegalMove as error:
                raise IllegalMove(f"move {number}: {error}") from None
            read.append(move)
        return read

    def _read_move(self, state: Cells, text: str, metric: Metric) -> Move:
        match = _NOTATION.fullmatch(text)
        if match is None:
            raise IllegalMove(f"{text[:40]!a} is not a move such as A:R2")
        name, way = match.groups()
        if name not in self.names:
            raise IllegalMove(f"there is no piece {name!a}")
        at = state[self.names.index(name)]
        if at == OUT:
            raise IllegalMove(f"{name!a} has left")
        if way.endswith("*"):
            return Move(at, self.leave(self.names.index(name), way[0]))
        runs = [(letter, int(count or 1)) for letter, count in _RUN.findall(way)]
        if metric != "path" and len(runs) != 1:
            raise IllegalMove(f"{text!a} turns, which no {metric} does")
        cell = at
        for letter, count in runs:
            down, right = DIRECTIONS[LETTERS.index(letter)]
            for length in [1] * count if metric == "path" else [count]:
                row, column = cell // self.width + down * length, cell % self.width + right * length
                if not (0 <= row < self.height and 0 <= column < self.width):
                    raise IllegalMove(f"{text!a} goes over the edge")
                before, cell = cell, row * self.width + column
                if metric == "path":
                    state = self.apply(state, Move(before, cell), "step")
        return Move(at, cell)

    def leave(self, piece: int, letter: str) -> int:
        """OUT, where a piece may leave in this direction; raises IllegalMove."""
        raise IllegalMove("no piece leaves the board")

    def _legal(self, state: Cells, move: Move, metric: Metric) -> tuple[int, int]:
        """What ``_meant`` says, where the rules allow it; raises IllegalMove."""
        piece, end = self._meant(state, move)
        if (piece, end) not in self.ends(state, self.check_metric(metric), (piece,)):
            raise IllegalMove(f"no {metric} move from cell {move.cell} to {move.to} here")
        return piece, end

    def _meant(self, state: Cells, move: Move) -> tuple[int, int]:
        """The piece that covers the move's cell, and where its first cell is after the move; raises IllegalMove."""
        cells = self.width * self.height
        if 0 <= move.cell < cells and (move.to == OUT or 0 <= move.to < cells):
            if move.cell in state:  # mostly a move is named by the piece's first cell
                return state.index(move.cell), move.to
            for piece, at in enumerate(state):
                if at == OUT or move.cell not in self.covered(state, piece):
                    continue
                if move.to == OUT:
                    return piece, OUT
                row = at // self.width + move.to // self.width - move.cell // self.width
                column = at % self.width + move.to % self.width - move.cell % self.width
                if 0 <= row < self.height and 0 <= column < self.width:
                    return piece, row * self.width + column
        raise IllegalMove(f"no move from cell {move.cell} to {move.to} here")


def straight(cell: int, end: int, width: int) -> str:
    """A run in one direction, as ``R2``."""
    down, right = end // width - cell // width, end % width - cell % width
    letter = ("D" if down > 0 else "U") if down else ("R" if right > 0 else "L")
    return f"{letter}{abs(down or right)}"


@cache
def wide_images(width: int, height: int) -> tuple[tuple[int, Symmetry, Draw], ...]:
    """The symmetries whose image is not higher than wide, with their number and what draws their image of a board."""
    images = []
    for number, symmetry in enumerate(symmetries(width, height)):
        if symmetry.height <= symmetry.width:
            images.append((number, symmetry, itemgetter(*symmetry.inverse(width, height).cells)))
    return tuple(images)


def joined(board: str, width: int, separator: str = "/") -> str:
    """The rows of a board in one text."""
    return separator.join([board[at : at + width] for at in range(0, len(board), width)])


def renamed(text: str, names: Mapping[str, str]) -> str:
    return text.translate({ord(old): new for old, new in names.items()})
