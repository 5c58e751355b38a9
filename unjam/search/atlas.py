"""Atlases: the exact distance of every board of a puzzle, where there are few enough, in a file (table_files.py).

That of an n-puzzle of up to 12 cells takes two bits a board and is filled by breadth-first search over perfect ranks
(kernels/tiles_atlas_search.hpp; the two bits are Cooperman and Finkelstein's, Discrete Applied Mathematics 37, 1992).
"""

from __future__ import annotations

import random
import re
import struct
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import factorial, inf
from pathlib import Path
from typing import Any, BinaryIO

from unjam import _kernels
from unjam.errors import SearchError, TableError
from unjam.puzzles.grid import Move
from unjam.puzzles.puzzle import Metric
from unjam.puzzles.tiles import MAX_SIDE, MIN_SIDE, Cells, Tiles
from unjam.search import table_files
from unjam.search.solution import NO_LIMIT
from unjam.search.table_files import BLANK, HEADER, Stopped, blank_suffix, folder

FORMAT = 1
MAGIC = b"unjam atlas\n"
SUFFIX = ".atlas"
NAME = re.compile(r"tiles-(\d)x(\d)-(step|slide)" + BLANK)
MAX_CELLS = 12
SPOT_CHECKS = 20


@dataclass(frozen=True)
class TilesSpace:
    """All solvable boards of a size, with the blank's goal in a cell, in a metric.

    The board lies on its longer side and the blank's goal is in the upper left quarter, of a square not below the
    diagonal: ``space_of`` turns others into such.
    """

    width: int
    height: int
    blank: int
    metric: Metric

    @property
    def name(self) -> str:
        return f"tiles-{self.width}x{self.height}-{self.metric}{blank_suffix(self.blank)}"

    @property
    def path(self) -> Path:
        return folder() / f"{self.name}{SUFFIX}"

    @property
    def boards(self) -> int:
        return factorial(self.width * self.height) // 2

    @cached_property
    def table_bytes(self) -> int:
        return _kernels.atlas_bytes(self.width, self.height)

    @property
    def command(self) -> str:
        where = f" --blank {self.blank}" if self.blank else ""
        return f"unjam atlas build {self.width}x{self.height} --metric {self.metric}{where}"


def space_of(width: int, height: int, blank: int, metric: Metric) -> TilesSpace:
    """The space whose atlas serves these boards; raises SearchError where there is none."""
    if not (MIN_SIDE <= width <= MAX_SIDE and MIN_SIDE <= height <= MAX_SIDE and width * height <= MAX_CELLS):
        raise SearchError(f"there is no atlas of {width}x{height} boards, only of those with up to {MAX_CELLS} cells")
    if not 0 <= blank < width * height:
        raise SearchError(f"a {width}x{height} board has no cell {blank}; its cells are 0 to {width * height - 1}")
    row, column = divmod(blank, width)
    row, column = min(row, height - 1 - row), min(column, width - 1 - column)
    if height > width or (height == width and row > column):
        width, height, row, column = height, width, column, row
    return TilesSpace(width, height, row * width + column, metric)


def stored() -> list[TilesSpace]:
    """The spaces whose atlases are in the folder, whole or not."""
    found = []
    for path in sorted(folder().glob(f"*{SUFFIX}"), key=lambda path: path.stem):
        if match := NAME.fullmatch(path.name.removesuffix(SUFFIX)):
            metric: Metric = "step" if match[3] == "step" else "slide"
            with suppress(SearchError):
                space = space_of(int(match[1]), int(match[2]), int(match[4] or 0), metric)
                if space.path.name == path.name:
                    found.append(space)
    return found


class TilesAtlas:
    """The distances of all boards of one width, height and goal of the blank; the tiles of a goal may have any order.

    Made by ``open_atlas``. All lengths are exact.
    """

    def __init__(self, width: int, height: int, blank: int, metric: Metric, kept: _Kept) -> None:
        self.width = width
        self.height = height
        self.blank = blank
        self.metric = metric
        self.counts: tuple[int, ...] = kept.counts  # boards at each depth
        self._kernel = _kernels.TilesAtlas(
            width, height, blank, metric, kept.table, kept.counts, kept.early, kept.late, kept.boards
        )

    @property
    def depth(self) -> int:
        """Of the farthest boards."""
        return len(self.counts) - 1

    @cached_property
    def goal(self) -> Cells:
        """1, 2, 3, ... by rows, around the blank."""
        cells = range(self.width * self.height)
        return tuple(0 if cell == self.blank else cell + (cell < self.blank) for cell in cells)

    def farthest(self, most: int = 1_000) -> list[Tiles]:
        """The boards of the greatest depth, up to so many. All atlases list all of theirs."""
        return [self._puzzle(board) for board in self._kernel.listed(self.depth)[:most]]

    def distance(self, puzzle: Tiles) -> int | None:
        """The moves to the goal, or None where it cannot be reached; raises SearchError for boards of another space."""
        distance = self._kernel.distance(self._board(puzzle))
        return None if distance < 0 else distance

    def solution(self, puzzle: Tiles) -> tuple[Move, ...] | None:
        """The moves of a shortest solution, or None where there is none; raises SearchError as ``distance``."""
        board = self._board(puzzle)
        if self._kernel.distance(board) < 0:
            return None
        return tuple(Move(cell, to) for cell, to in self._kernel.solution(board))

    def sample(self, depth: int, count: int = 1, seed: int | None = None) -> list[Tiles]:
        """Distinct boards of exactly this depth, each as likely as any other; raises SearchError where there are fewer.

        The same seed gives the same boards.
        """
        if not 0 <= depth <= self.depth:
            raise SearchError(f"no board is {depth} {self.metric}s away; the farthest are {self.depth}")
        if not 0 <= count <= self.counts[depth]:
            raise SearchError(f"{self.counts[depth]:,} boards are {depth} {self.metric}s away, not {count:,}")
        rng = random.Random(seed)
        if self._kernel.is_listed(depth) and 2 * count > self.counts[depth]:
            return [self._puzzle(board) for board in rng.sample(self._kernel.listed(depth), count)]
        found: dict[Cells, None] = {}
        while len(found) < count:
            found[tuple(self._kernel.sample(depth, rng.getrandbits(64)))] = None
        return [self._puzzle(board) for board in found]

    def _board(self, puzzle: Tiles) -> Cells:
        if (puzzle.width, puzzle.height, puzzle.goal.index(0)) != (self.width, self.height, self.blank):
            raise SearchError(
                f"the atlas is of {self.width}x{self.height} boards whose blank belongs in cell {self.blank}"
            )
        return puzzle.goal_cells()

    def _puzzle(self, board: list[int] | Cells) -> Tiles:
        return Tiles(self.width, self.height, tuple([self.goal[cell] for cell in board]), self.goal)


@dataclass(frozen=True)
class _Kept:
    """What a file holds: the table, then how many depths there are and which are listed, the counts, and the lists."""

    table: memoryview
    counts: tuple[int, ...]
    early: int
    late: int
    boards: memoryview
    views: dict[tuple[int, int, int], TilesAtlas] = field(default_factory=dict)  # by width, height and blank


def find_atlas(width: int, height: int, blank: int, metric: Metric) -> TilesAtlas | TableError | None:
    """The atlas, why it cannot be used, or None where there is none."""
    space = space_of(width, height, blank, metric)
    kept = table_files.find(space.path, partial(_read, space))
    if not isinstance(kept, _Kept):
        return kept
    frame = width, height, blank
    if frame not in kept.views:
        kept.views[frame] = TilesAtlas(width, height, blank, metric, kept)
    return kept.views[frame]


def open_atlas(width: int, height: int, blank: int, metric: Metric) -> TilesAtlas:
    """Map an atlas, checked the first time. Raises TableError if it is missing, truncated, foreign or corrupted."""
    found = find_atlas(width, height, blank, metric)
    if found is None:
        space = space_of(width, height, blank, metric)
        raise TableError(f"there is no atlas {space.name} in {folder()}; `{space.command}` makes it")
    if isinstance(found, TableError):
        raise found
    return found


def build_tiles_atlas(
    width: int,
    height: int,
    blank: int,
    metric: Metric,
    control: _kernels.Control,
    *,
    seconds: float = inf,
    again: bool = False,
) -> TilesAtlas:
    """Make the atlas unless it is there. One process builds, others that want the same wait for it.

    ``control.expanded`` counts the boards that are reached, of ``space_of(...).boards``. Raises Stopped, SearchError
    where no atlas is possible, and TableError where it cannot be made.
    """
    space = space_of(width, height, blank, metric)
    table_files.make(
        space.path,
        partial(_write, space, control),
        lambda file: _spot_check(space, _read(space, file), control),
        control,
        seconds=seconds,
        again=again,
    )
    return open_atlas(width, height, blank, metric)


def _fields(space: TilesSpace) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "family": "tiles",
        "width": space.width,
        "height": space.height,
        "blank": space.blank,
        "metric": space.metric,
    }


def _write(space: TilesSpace, control: _kernels.Control, file: BinaryIO, end: float) -> None:
    limits = _kernels.Limits(end - time.monotonic(), NO_LIMIT, NO_LIMIT)
    file.seek(HEADER)
    with table_files.memory(space.table_bytes) as table:
        layers = _kernels.build_atlas(space.width, space.height, space.blank, space.metric, table, limits, control)
        if layers.reason == "bytes":
            raise MemoryError
        if layers.reason:
            raise Stopped
        file.write(table)
    counts = layers.counts
    file.write(struct.pack(f"<3Q{len(counts)}Q", len(counts), layers.early, layers.late, *counts))
    file.write(layers.boards)
    table_files.finish(file, MAGIC, _fields(space))


def _read(space: TilesSpace, file: BinaryIO) -> _Kept:
    again = f"`{space.command} --again` makes it anew"
    everything = table_files.mapped(file, MAGIC, _fields(space), again)
    rest = everything[space.table_bytes :]
    try:
        depths, early, late = struct.unpack_from("<3Q", rest)
        counts = struct.unpack_from(f"<{min(depths, len(rest))}Q", rest, 24)
        kept = _Kept(everything[: space.table_bytes], counts, early, late, rest[24 + 8 * len(counts) :])
        TilesAtlas(space.width, space.height, space.blank, space.metric, kept)
    except (struct.error, ValueError, TypeError) as error:
        raise TableError(f"{file.name} is no atlas {space.name}: {error}; {again}") from None
    return kept


def _spot_check(space: TilesSpace, kept: _Kept, control: _kernels.Control) -> None:
    """Solve random boards by a search that knows no atlas; raises TableError if the lengths differ."""
    atlas = TilesAtlas(space.width, space.height, space.blank, space.metric, kept)
    rng = random.Random(space.name)
    limits = _kernels.Limits(inf, NO_LIMIT, NO_LIMIT)
    for _ in range(SPOT_CHECKS):
        (puzzle,) = atlas.sample(rng.randrange(atlas.depth // 2 + 1), seed=rng.getrandbits(64))
        board = puzzle.goal_cells()
        found = _kernels.tiles(
            space.width, space.height, board, space.blank, space.metric, "idastar", "manhattan", limits, control
        )
        if control.cancelled:
            raise Stopped
        if found.length != atlas.distance(puzzle):
            raise TableError(
                f"the atlas {space.name} is wrong: {atlas.distance(puzzle)} for {board}, not {found.length}"
            )
