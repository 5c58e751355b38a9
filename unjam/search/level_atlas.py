"""Atlases of levels: every position that can be reached, with the exact distance to the nearest goal.

They serve klotski, rush and parkout; boards of tiles have theirs by size (atlas.py). A level and its mirror images
share one, of the canonical form. Goals are positions like others: what can be reached through them belongs to the
graph, as in Fogleman's database of Rush Hour. Pieces that are interchangeable are not told apart, and solutions are
sequences of moves of such positions.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from unjam import _kernels
from unjam.errors import PositionError, TableError, UnjamError
from unjam.puzzles import from_canonical
from unjam.puzzles.blocks import Blocks, Cells
from unjam.puzzles.grid import OUT, Move, Symmetry, symmetries
from unjam.puzzles.klotski import Klotski
from unjam.puzzles.positions import position_of, puzzle_at, setting, turned
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.search import table_files
from unjam.search.encode import explore_kernel, level_graph, run_kernel
from unjam.search.interrupt import interruptibly
from unjam.search.solution import NO_LIMIT, Budget
from unjam.search.solve import limits_of
from unjam.search.table_files import HEADER, Stopped, folder

FORMAT = 1
MAGIC = b"unjam level atlas\n"
SUFFIX = ".level"
NOWHERE = -1

Position: TypeAlias = Puzzle | Cells  # a puzzle with the level's walls, pieces and goal, or a state of the level


@dataclass(frozen=True, slots=True)
class Exploration:
    """What a budget allowed: an atlas, or the reason why there is none.

    ``reason`` is ``seconds``, ``nodes``, ``bytes`` or ``cancelled``. ``states`` are the positions that were met; all of
    them where there is an atlas.
    """

    atlas: LevelAtlas | None
    reason: str | None
    states: int
    expanded: int
    generated: int
    peak_bytes: int
    seconds: float


class _Graph:
    """What was explored: the canonical form of a level."""

    def __init__(self, level: Blocks, metric: Metric, table: bytes | memoryview) -> None:
        """Raises ValueError where the table is no such level's."""
        self.level = level
        self.metric = metric
        self.table = table
        self.kernel = level_graph(level, metric, table)
        self.values = self.kernel.counts()


class LevelAtlas:
    """The positions of one level in one metric. Made by ``explore``, ``find_level_atlas`` and ``open_level_atlas``.

    States and moves are those of ``level``, which may be any image of the level that was explored. What is asked about
    a position raises PositionError where it is none of the level's, or cannot be reached.
    """

    def __init__(self, level: Blocks, graph: _Graph, symmetry: Symmetry) -> None:
        """``symmetry`` leads from the level to that of the graph."""
        self.level = level
        self.metric = graph.metric
        self.dead_ends: int = graph.values[0]  # positions from which no goal can be reached
        self.counts: tuple[int, ...] = tuple(graph.values[1:])  # positions at each distance from the nearest goal
        self._graph = graph
        self._kernel = graph.kernel
        self._frame = _Frame(level, graph.level, symmetry)

    @property
    def states(self) -> int:
        return self.dead_ends + sum(self.counts)

    @property
    def depth(self) -> int | None:
        """Moves from the farthest positions that can be solved; None where none can."""
        return len(self.counts) - 1 if self.counts else None

    def moves_left(self, position: Position) -> int | None:
        """None where no goal can be reached from there."""
        value = self._kernel.value(self._anchors(self.state(position)))
        if value == NOWHERE:
            raise PositionError("the position cannot be reached in this level")
        return value - 1 if value else None

    def next_moves(self, position: Position) -> list[Move]:
        """All moves that shortest solutions begin with; none at a goal or in a dead end."""
        state = self.state(position)
        anchors = self._anchors(state)
        self.moves_left(state)
        return [self._frame.move(state, anchors, move) for move in self._kernel.next_moves(anchors)]

    def solutions(self, position: Position, *, control: _kernels.Control | None = None) -> int:
        """How many shortest solutions there are: 1 at a goal, 0 in a dead end. Raises Stopped if cancelled."""
        state = self.state(position)
        self.moves_left(state)
        limits = _kernels.Limits(inf, NO_LIMIT, NO_LIMIT)
        count = partial(self._kernel.solutions, self._anchors(state), limits)
        reason, digits = interruptibly(count) if control is None else count(control)
        if reason == "bytes":
            raise MemoryError
        if reason:
            raise Stopped
        return int.from_bytes(digits, "little")

    def hardest(self, most: int = 1) -> list[Cells]:
        """States that are farthest from the goal, up to so many; none where there is no goal."""
        return [] if self.depth is None else self.at(self.depth, most)

    def at(self, distance: int | None, most: int = 1) -> list[Cells]:
        """States so many moves from the goal, or dead ends for None, up to so many; always the same ones."""
        value = 0 if distance is None else distance + 1
        if value < 0:
            return []
        return [self.level.fold(self._frame.state(anchors)) for anchors in self._kernel.listed(value, most)]

    def state(self, position: Position) -> Cells:
        """The level's state of a puzzle (``positions.position_of``); states are taken as they are."""
        return position_of(self.level, position) if isinstance(position, Puzzle) else position

    def puzzle(self, state: Cells) -> Puzzle:
        """The puzzle that starts there (``positions.puzzle_at``)."""
        return puzzle_at(self.level, state)

    def save(self, control: _kernels.Control | None = None) -> Path:
        """Keep it in the folder of tables, instead of what is there. Raises TableError, and Stopped if cancelled."""
        path = path_of(self.level, self.metric)
        control = control or _kernels.Control()
        check = partial(_spot_check, path, self.level, self.metric, control)
        table_files.make(path, self._write, check, control, again=True)
        return path

    def _anchors(self, state: Cells) -> list[int]:
        anchors = self._frame.anchors(state)
        if anchors is None:
            raise PositionError("the position cannot be reached in this level")
        return anchors

    def _write(self, file: BinaryIO, end: float) -> None:
        file.seek(HEADER)
        text = self._graph.level.canonical.encode()
        file.write(struct.pack("<2Q", len(text), self.states))
        file.write(text.ljust(_padded(len(text))))
        file.write(self._graph.table)
        table_files.finish(file, MAGIC, _fields(path_of(self.level, self.metric)))


class _Frame:
    """The way from the states of a level to those of its image, and back. Fixed cars may be pillars there."""

    def __init__(self, level: Blocks, canonical: Blocks, symmetry: Symmetry) -> None:
        self._start = level.start()
        grid = canonical.grid()
        # Of each piece its number there, or None, and where its first cell is there by where it is here.
        self._pieces: list[tuple[int | None, dict[int, int]]] = []
        for piece, first in enumerate(self._start):
            cells = level.covered(self._start, piece)
            there = grid[symmetry.cells[first]]
            if there < 0:
                self._pieces.append((None, {first: NOWHERE}))
                continue
            anchor = canonical.start()[there] - symmetry.cells[first]
            ways = {OUT: OUT}
            for shift in _shifts(cells, level.width, level.height):
                ways[first + shift] = symmetry.cells[first + shift] + anchor
            self._pieces.append((there, ways))
        self._size = canonical.pieces
        self._homes = [
            (piece, {there: here for here, there in ways.items()})
            for piece, (number, ways) in enumerate(self._pieces)
            if number is not None
        ]
        self._numbers = [number for number, _ in self._pieces if number is not None]

    def anchors(self, state: Cells) -> list[int] | None:
        """None where a piece cannot be where the state says."""
        if len(state) != len(self._pieces):
            return None
        anchors = [OUT] * self._size
        for cell, (number, ways) in zip(state, self._pieces, strict=True):
            if cell not in ways:
                return None
            if number is not None:
                anchors[number] = ways[cell]
        return anchors

    def state(self, anchors: Sequence[int]) -> Cells:
        state = list(self._start)
        for number, (piece, ways) in zip(self._numbers, self._homes, strict=True):
            state[piece] = ways[anchors[number]]
        return tuple(state)

    def move(self, state: Cells, anchors: list[int], move: tuple[int, int]) -> Move:
        """The move as ``Puzzle.moves`` has it, from the piece's first cell."""
        piece, ways = self._homes[self._numbers.index(anchors.index(move[0]))]
        return Move(state[piece], ways[move[1]])


def _shifts(cells: Cells, width: int, height: int) -> list[int]:
    """By how much a piece's cells can change so that all of it stays on the board."""
    rows, columns = [cell // width for cell in cells], [cell % width for cell in cells]
    return [
        down * width + right
        for down in range(-min(rows), height - max(rows))
        for right in range(-min(columns), width - max(columns))
    ]


def explore(
    puzzle: Puzzle, metric: str | None = None, budget: Budget = Budget(), *, control: _kernels.Control | None = None
) -> Exploration:
    """Find every position that can be reached from the puzzle's, and its distance to the nearest goal.

    ``control`` lets another thread watch and cancel; without it Ctrl-C does. Raises MetricError, and SearchError for
    tiles. A budget that ends is an answer.
    """
    metric = puzzle.check_metric(metric)
    began = time.perf_counter()
    canonical = from_canonical(puzzle.family, puzzle.canonical)
    run = partial(explore_kernel, canonical, metric, limits_of(budget))
    found = interruptibly(run) if control is None else run(control)
    assert isinstance(puzzle, Blocks)
    assert isinstance(canonical, Blocks)
    return Exploration(
        None
        if found.table is None
        else LevelAtlas(puzzle, _Graph(canonical, metric, found.table), puzzle.to_canonical),
        found.reason or None,
        found.states,
        found.expanded,
        found.generated,
        found.peak_bytes,
        time.perf_counter() - began,
    )


def path_of(level: Blocks, metric: Metric) -> Path:
    """Where the atlas of a level, in whatever orientation, is kept."""
    return _path(level, setting(level), metric)


def _path(level: Blocks, of: bytes, metric: Metric) -> Path:
    return folder() / f"{level.family}-{of.hex()}-{level.key.hex()}-{metric}{SUFFIX}"


def find_level_atlas(puzzle: Puzzle, metric: Metric) -> LevelAtlas | TableError | None:
    """An atlas from the folder that has the puzzle's position, why it cannot be used, or None where there is none.

    That of the level which starts with this position, or else of one in which it can be reached, however it is turned
    and whatever the pieces are called; ``level`` is turned as the puzzle then.
    """
    if not isinstance(puzzle, Blocks):
        return None
    of = setting(puzzle)
    path = _path(puzzle, of, metric)
    found = table_files.find(path, partial(_read, path))
    if isinstance(found, _Graph):
        return LevelAtlas(puzzle, found, puzzle.to_canonical)
    for path in sorted(folder().glob(f"{puzzle.family}-{of.hex()}-*-{metric}{SUFFIX}")):
        graph = table_files.find(path, partial(_read, path))
        if isinstance(graph, _Graph):
            if atlas := _with_position(graph, puzzle):
                return atlas
        else:
            found = found or graph
    return found


def _with_position(graph: _Graph, puzzle: Blocks) -> LevelAtlas | None:
    """The graph turned as the puzzle, if that is one of its positions."""
    for symmetry in symmetries(graph.level.width, graph.level.height):
        level = turned(graph.level, symmetry)
        if isinstance(level, Klotski) and isinstance(puzzle, Klotski) and level.gates != puzzle.gates:
            continue  # as a puzzle it has no gates but those that it shows
        with suppress(PositionError):
            state = position_of(level, puzzle)
            atlas = LevelAtlas(level, graph, symmetry.inverse(graph.level.width, graph.level.height))
            atlas.moves_left(state)
            return atlas
    return None


def open_level_atlas(puzzle: Puzzle, metric: Metric) -> LevelAtlas:
    """As ``find_level_atlas``; raises TableError if it is missing, truncated, foreign or corrupted."""
    found = find_level_atlas(puzzle, metric)
    if found is None:
        raise TableError(f"there is no atlas of this level in {folder()}; `unjam atlas level --save` makes it")
    if isinstance(found, TableError):
        raise found
    return found


@dataclass(frozen=True, slots=True)
class StoredLevel:
    """A file of the folder, whole or not."""

    path: Path
    states: int


def stored_levels() -> list[StoredLevel]:
    found = []
    for path in sorted(folder().glob(f"*{SUFFIX}")):
        if path.is_file():  # a folder, or a link to what has gone, is none
            with path.open("rb") as file:
                file.seek(HEADER + 8)
                states = file.read(8)
            found.append(StoredLevel(path, int.from_bytes(states, "little")))
    return found


def _fields(path: Path) -> dict[str, Any]:
    return {"format": FORMAT, "name": path.stem}


def _padded(size: int) -> int:
    return -(-size // 8) * 8


def _read(path: Path, file: BinaryIO) -> _Graph:
    """``path`` is where the file belongs."""
    again = "`unjam atlas level --save` makes it anew"
    everything = table_files.mapped(file, MAGIC, _fields(path), again)
    family, _, key, metric = path.stem.split("-")
    try:
        size, _ = struct.unpack_from("<2Q", everything)
        level = from_canonical(family, str(everything[16 : 16 + size], "utf-8"))
        if level.key.hex() != key or not isinstance(level, Blocks):
            raise ValueError("it is another level's")
        return _Graph(level, level.check_metric(metric), everything[16 + _padded(size) :])
    except (ValueError, TypeError, KeyError, struct.error, UnjamError) as error:
        raise TableError(f"{file.name} is no atlas of a level: {error}; {again}") from None


def _spot_check(path: Path, level: Blocks, metric: Metric, control: _kernels.Control, file: BinaryIO) -> None:
    """Solve the level by a search that knows no atlas; raises TableError if the lengths differ."""
    atlas = LevelAtlas(level, _read(path, file), level.to_canonical)
    limits = _kernels.Limits(inf, NO_LIMIT, NO_LIMIT)
    found = run_kernel(level, metric, "bfs", None, False, limits, control)
    if control.cancelled:
        raise Stopped
    length = found.length if found.outcome == "optimal" else None
    if atlas.moves_left(level.start()) != length:
        raise TableError(f"the atlas is wrong: {atlas.moves_left(level.start())} for the start, not {length}")
