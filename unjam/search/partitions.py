"""Which tiles share a pattern of a pattern database, for each size of board and each goal of the blank."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, pairwise

from unjam import _kernels
from unjam.errors import TableError
from unjam.puzzles.tiles import Tiles
from unjam.search.table_files import BLANK, blank_suffix

COMPRESSED = "-compressed"

# For a blank that belongs in the upper left corner, the best first. A grid, its shorter side lying, says what suits its
# size better than strips.
PARTITIONS: dict[tuple[int, int], dict[str, str | None]] = {
    (2, 2): {"3": None},
    (2, 3): {"5": None},
    (2, 4): {"7": None},
    (2, 5): {"5-4": None},
    (2, 6): {"6-5": None},
    (3, 3): {"8": None},
    (3, 4): {"8-3": None, "6-5": None},
    (3, 5): {"7-7": None, "6-6-2": None},
    (3, 6): {"7-7-3": None, "6-6-5": None},
    (4, 4): {
        "7-8": ".AAA/AAAA/BBBB/BBBB",
        "7-8-compressed": ".AAA/AAAA/BBBB/BBBB",
        "6-6-3": ".BBA/BBAA/BBAA/CCCA",
    },
    (4, 5): {"7-6-6": ".AAA/AAAA/BBCC/BBCC/BBCC", "5-5-5-4": None},
    (4, 6): {"6-6-6-5": ".DAA/DDAA/DDAA/BBCC/BBCC/BBCC"},
    (5, 5): {"6-6-6-6": ".AABB/AAABB/CCABB/CCDDD/CCDDD"},
}
SUFFIX = ".pdb"
NAME = re.compile(rf"(\d)x(\d)-(\d(?:-\d)*(?:{COMPRESSED})?){BLANK}")


@dataclass(frozen=True)
class Table:
    """A pattern database: a size of board, a goal of the blank, and a partition of the tiles.

    ``blank`` is the cell where the blank belongs, mirrored into the upper left quarter. Tiles are called by the cells
    where they belong, mirrored alike, so one table serves every goal layout with the blank in such a place.
    ``partition`` is how many tiles each pattern has, as in ``6-6-3``, and whether the table is compressed.
    """

    width: int
    height: int
    blank: int
    partition: str

    @property
    def name(self) -> str:
        return f"{self.width}x{self.height}-{self.partition}{blank_suffix(self.blank)}"

    @cached_property
    def file(self) -> str:
        return f"{self.name}{SUFFIX}"

    @property
    def compressed(self) -> bool:
        """Whether an entry is the least of all regions that the blank may be in."""
        return self.partition.endswith(COMPRESSED)

    @cached_property
    def patterns(self) -> tuple[tuple[int, ...], ...]:
        grid = PARTITIONS[_lines(self.width, self.height)][self.partition]
        rows = [] if grid is None else grid.split("/")
        if self.width > self.height:
            rows = ["".join(column) for column in zip(*rows, strict=True)]
        letters = list("".join(rows)) or self._strips()
        cells = range(self.width * self.height)
        for cell, after in pairwise(self._way_of_the_blank()):
            letters[cell], letters[after] = letters[after], letters[cell]
        return tuple(tuple(cell for cell in cells if letters[cell] == letter) for letter in sorted({*letters} - {"."}))

    @cached_property
    def entries(self) -> tuple[int, ...]:
        """The bytes of each pattern."""
        return tuple(_entries(self.width, self.height, len(pattern), self.compressed) for pattern in self.patterns)

    def _strips(self) -> list[str]:
        """Cut off one pattern after the other along the longer side."""
        wide = self.width > self.height
        cells = range(self.width * self.height)
        order = sorted(cells, key=lambda cell: (cell % self.width, cell) if wide else (cell, 0))
        letters = ["."] * len(order)
        ends = [0, *accumulate(map(int, self.partition.split("-")))]
        for letter, (first, end) in zip("ABCD", pairwise(ends), strict=False):
            for cell in order[1:][first:end]:
                letters[cell] = letter
        return letters

    def _way_of_the_blank(self) -> list[int]:
        """From the corner to its goal: patterns move up as tiles would."""
        row, column = divmod(self.blank, self.width)
        down = [self.width * r for r in range(row + 1)]
        return down + [down[-1] + c for c in range(1, column + 1)]


def tables_for(puzzle: Tiles) -> tuple[Table, ...]:
    """All tables that there may be for such puzzles, the best first; none for boards of more than 25 cells."""
    return _tables_for(puzzle.width, puzzle.height, puzzle.goal.index(0))


@cache
def _tables_for(width: int, height: int, blank: int) -> tuple[Table, ...]:
    row, column = divmod(blank, width)
    row, column = min(row, height - 1 - row), min(column, width - 1 - column)
    partitions = PARTITIONS.get(_lines(width, height), {})
    return tuple(Table(width, height, row * width + column, partition) for partition in partitions)


def all_tables() -> list[Table]:
    """Of boards whose blank belongs in a corner."""
    return [
        Table(width, height, 0, partition)
        for lines, partitions in PARTITIONS.items()
        for width, height in sorted({lines, lines[::-1]})
        for partition in partitions
    ]


def named(name: str) -> Table:
    """The table of this name, such as ``4x4-6-6-3`` or ``4x4-6-6-3-blank-5``; raises TableError if there is none."""
    if match := NAME.fullmatch(name):
        width, height, blank = int(match[1]), int(match[2]), int(match[4] or 0)
        quarter = 2 * (blank // width) < height and 2 * (blank % width) < width if width else False
        if quarter and match[3] in PARTITIONS.get(_lines(width, height), {}):
            table = Table(width, height, blank, match[3])
            if table.name == name:
                return table
    raise TableError(f"there is no table {name!r}; `unjam tables list --all` names them")


def _lines(width: int, height: int) -> tuple[int, int]:
    return min(width, height), max(width, height)


@cache
def _entries(width: int, height: int, tiles: int, compressed: bool) -> int:
    return _kernels.pattern_entries(width, height, tiles, compressed)
