"""Pattern databases of small boards, in memory."""

from __future__ import annotations

from functools import lru_cache
from random import Random

from tests.fuzz.results import ENDLESS
from unjam import _kernels as kernels


def random_table(random: Random, width: int, height: int, blank: int) -> kernels.PatternTable | None:
    """Of any partition; None for boards whose tables are large."""
    if width * height > 12 and (width, height) != (4, 4):
        return None
    row, column = divmod(blank, width)
    corner = min(row, height - 1 - row) * width + min(column, width - 1 - column)
    patterns = partition(random, width, height, corner)
    return _table(width, height, corner, patterns, random.random() < 0.3)


@lru_cache(maxsize=64)
def _table(
    width: int, height: int, blank: int, patterns: tuple[tuple[int, ...], ...], compressed: bool
) -> kernels.PatternTable:
    entries = bytearray()
    for tiles in patterns:
        pattern = bytearray(kernels.pattern_entries(width, height, len(tiles), compressed))
        reason = kernels.build_pattern(
            width, height, blank, tiles, compressed, memoryview(pattern), ENDLESS, kernels.Control()
        )
        assert reason == ""
        entries += pattern
    return kernels.PatternTable(width, height, blank, patterns, compressed, memoryview(entries))


def partition(random: Random, width: int, height: int, blank: int) -> tuple[tuple[int, ...], ...]:
    """Of up to four tiles each, on few of which a table is small."""
    tiles = [cell for cell in range(width * height) if cell != blank]
    random.shuffle(tiles)
    return tuple(tuple(sorted(tiles[at : at + 4])) for at in range(0, len(tiles), 4))
