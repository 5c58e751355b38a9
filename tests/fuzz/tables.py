"""Tables of the n-puzzle: what fills them, what looks them up, and bytes that are no table."""

from __future__ import annotations

from collections import Counter, deque
from functools import lru_cache
from itertools import combinations
from math import factorial, inf
from random import Random

from tests.fuzz.databases import partition
from tests.fuzz.results import ENDLESS, attempt, some_limits
from tests.fuzz.values import INTS, spoilt
from unjam import _kernels as kernels

SIZES = [(2, 2), (3, 2), (2, 3), (3, 3), (4, 2), (2, 4)]


def Limits(random: Random) -> None:
    arguments = [random.choice([0.0, 1.5, inf, -1.0]), random.choice(INTS), random.choice(INTS)]
    if random.random() < 0.5:
        attempt(kernels.Limits, *spoilt(random, arguments))
        return
    limits = kernels.Limits(*arguments)
    assert [limits.seconds, limits.nodes, limits.bytes] == arguments


def checksum(random: Random) -> None:
    data = random.randbytes(random.choice([0, 1, 7, 8, 63, 64, 65, 1000]))
    start = random.randrange(len(data) + 1)
    view = memoryview(data)[start:]
    said = kernels.checksum(view)
    assert said == kernels.checksum(memoryview(bytes(view)))
    if view:
        changed = bytearray(view)
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
        assert kernels.checksum(memoryview(changed)) != said
    attempt(kernels.checksum, random.choice([view[::2], view[::-1], memoryview(data).cast("b"), None, 5, "text"]))


def pattern_entries(random: Random) -> None:
    width, height = random.choice(SIZES)
    tiles, compressed = random.randrange(1, min(width * height, 9)), random.random() < 0.5
    arguments = [width, height, tiles, compressed]
    if random.random() < 0.5:
        attempt(kernels.pattern_entries, *spoilt(random, arguments))
        return
    cells, regions = range(width * height), 0
    for places in combinations(cells, tiles):
        free = [cell for cell in cells if cell not in places]
        regions += 1 if compressed else len({min(_region(width, height, places, cell)) for cell in free})
    assert kernels.pattern_entries(*arguments) == regions * factorial(tiles)


def build_pattern(random: Random) -> None:
    """The entries are the distances of a search in plain Python, in some order."""
    width, height = random.choice(SIZES[:3])
    tiles = sorted(random.sample(range(1, width * height), random.choice([1, 2, 3])))
    compressed, limits = random.random() < 0.3, some_limits(random)
    entries = bytearray(random.randbytes(kernels.pattern_entries(width, height, len(tiles), compressed)))
    if random.random() < 0.4:
        arguments = spoilt(random, [width, height, 0, tiles, compressed])
        if random.random() < 0.3:
            entries = entries[: random.randrange(len(entries))]
        attempt(kernels.build_pattern, *arguments, memoryview(entries), limits, kernels.Control())
        return
    arguments = [width, height, 0, tiles, compressed]
    reason = kernels.build_pattern(*arguments, memoryview(entries), ENDLESS, kernels.Control())
    assert reason == ""
    reached = [entry for entry in entries if entry != 255]
    assert Counter(reached) == Counter(_distances(width, height, tuple(tiles), compressed))
    said = kernels.build_pattern(*arguments, memoryview(entries), limits, kernels.Control())
    assert said in ("", "seconds", "nodes", "bytes")


def PatternTable(random: Random) -> None:
    """Whatever the bytes are, what is read lies within them."""
    width, height = random.choice([*SIZES, (4, 4), (5, 2)])
    patterns = partition(random, width, height, 0)
    sizes = [kernels.pattern_entries(width, height, len(tiles), False) for tiles in patterns]
    entries = bytearray(random.choice([0, 1, 2, 255]) for _ in range(16)) * (sum(sizes) // 16 + 1)
    arguments = [width, height, 0, patterns, False, memoryview(entries)[: sum(sizes)]]
    if random.random() < 0.5:
        arguments[:5] = spoilt(random, arguments[:5])
    table = attempt(kernels.PatternTable, *arguments)
    if table is None:
        return
    board = [*range(width * height)]
    random.shuffle(board)
    for algorithm in ("idastar", "astar"):
        limits = kernels.Limits(inf, 500, 10_000_000)
        attempt(kernels.tiles, width, height, board, 0, "step", algorithm, "pdb", limits, kernels.Control(), table)
    attempt(kernels.tiles_upper, width, height, board, 0, "slide", 0, limits, kernels.Control(), table)


def atlas_bytes(random: Random) -> None:
    width, height = random.choice(SIZES)
    if random.random() < 0.7:
        attempt(kernels.atlas_bytes, *spoilt(random, [width, height]))
        return
    assert kernels.atlas_bytes(width, height) == kernels.atlas_bytes(height, width)


def build_atlas(random: Random) -> None:
    width, height = random.choice(SIZES)
    table = bytearray(kernels.atlas_bytes(width, height))
    arguments = [width, height, random.randrange(width * height), random.choice(["step", "slide"])]
    limits = some_limits(random)
    if random.random() < 0.6:
        arguments = spoilt(random, arguments)
        if random.random() < 0.3:
            table = table[: random.randrange(len(table))]
    layers = attempt(kernels.build_atlas, *arguments, memoryview(table), limits, kernels.Control())
    if layers is None:
        return
    assert layers.reason in ("", "seconds", "nodes", "bytes")
    if layers.reason == "" and all(isinstance(side, int) for side in arguments[:3]):
        assert layers.counts == list(_atlas(*arguments)[1].counts)


def TilesAtlas(random: Random) -> None:
    width, height = random.choice(SIZES)
    frame = (width, height, random.randrange(width * height), random.choice(["step", "slide"]))
    table, layers = _atlas(*frame)
    parts = [[*layers.counts], layers.early, layers.late]
    frame, boards = [*frame], layers.boards
    if random.random() < 0.5:
        frame, parts = spoilt(random, frame), spoilt(random, parts)
    if random.random() < 0.2:
        table = random.randbytes(len(table))
    if random.random() < 0.1:
        boards = random.randbytes(len(boards))
    atlas = attempt(kernels.TilesAtlas, *frame[:4], memoryview(table), *parts, memoryview(boards))
    if atlas is None:
        return
    cells = random.sample(range(width * height), width * height)
    wrong = (RuntimeError, ValueError, TypeError)  # what a wrong table, and a board of another size, are answered
    try:
        distance = atlas.distance(cells)
        depth = random.choice([0, 1, len(parts[0]) - 1, random.choice(INTS)])
        if distance >= 0:
            assert len(atlas.solution(cells)) == distance
            assert kernels.check_tiles(*frame[:2], cells, *frame[2:], atlas.solution(cells)) == ""
        sample = atlas.sample(depth, random.choice(INTS))
        assert atlas.distance(sample) == depth or boards != layers.boards or table != _atlas(*frame)[0]
        if atlas.is_listed(depth):
            assert sample in atlas.listed(depth)
        atlas.distance(spoilt(random, [cells])[0])
    except wrong:
        pass


@lru_cache(maxsize=16)
def _atlas(width: int, height: int, blank: int, metric: str) -> tuple[bytes, kernels.AtlasLayers]:
    table = bytearray(kernels.atlas_bytes(width, height))
    layers = kernels.build_atlas(width, height, blank, metric, memoryview(table), ENDLESS, kernels.Control())
    assert layers.reason == ""
    return bytes(table), layers


def _distances(width: int, height: int, tiles: tuple[int, ...], compressed: bool) -> list[int]:
    """Of all places of some tiles and all regions of the blank, or of the least of them, that lead to the goal with the
    blank in the first cell. Only steps of those tiles count.
    """
    found: dict[tuple[tuple[int, ...], int], int] = {}
    queue = deque([(tiles, 0, 0)])
    while queue:
        places, blank, steps = queue.popleft()
        if (places, blank) in found:
            continue
        found[places, blank] = steps
        for to in _beside(width, height, blank):
            after = tuple(blank if place == to else place for place in places)
            if after == places:
                queue.appendleft((after, to, steps))
            else:
                queue.append((after, to, steps + 1))
    best: dict[tuple[tuple[int, ...], int], int] = {}
    for (places, blank), steps in found.items():
        region = 0 if compressed else min(_region(width, height, places, blank))
        best[places, region] = min(best.get((places, region), steps), steps)
    return list(best.values())


def _region(width: int, height: int, places: tuple[int, ...], blank: int) -> list[int]:
    """The cells that the blank comes to while those tiles stay."""
    seen = [blank]
    for cell in seen:
        seen += [to for to in _beside(width, height, cell) if to not in places and to not in seen]
    return seen


def _beside(width: int, height: int, cell: int) -> list[int]:
    row, column = divmod(cell, width)
    around = ((row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column))
    return [r * width + c for r, c in around if 0 <= r < height and 0 <= c < width]
