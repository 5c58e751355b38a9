"""State graphs of levels: what they say against searches, and bytes that are no table."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from tests import raw_boards as raw
from tests.fuzz.results import AMPLE, attempt, some_limits
from tests.fuzz.values import INTS, spoilt
from unjam import _kernels as kernels


def explore_klotski(random: Random) -> None:
    metric = random.choice(["step", "slide", "path"])
    _explore(random, kernels.explore_klotski, kernels.klotski, [*raw.random_klotski(random), metric], [])


def explore_rush(random: Random) -> None:
    metric = random.choice(["step", "slide"])
    _explore(random, kernels.explore_rush, kernels.rush, [*raw.random_rush(random), metric], [])


def explore_parkout(random: Random) -> None:
    puzzle = raw.random_parkout(random, gates=random.random() < 0.5)
    _explore(random, kernels.explore_parkout, kernels.parkout, [*puzzle], [False])


def klotski_graph(random: Random) -> None:
    level = [*raw.random_klotski(random), random.choice(["step", "slide", "path"])]
    _graph(random, kernels.explore_klotski, kernels.klotski_graph, kernels.check_klotski, level)


def rush_graph(random: Random) -> None:
    level = [*raw.random_rush(random), random.choice(["step", "slide"])]
    _graph(random, kernels.explore_rush, kernels.rush_graph, kernels.check_rush, level)


def parkout_graph(random: Random) -> None:
    level = [*raw.random_parkout(random, gates=random.random() < 0.5)]
    _graph(random, kernels.explore_parkout, kernels.parkout_graph, kernels.check_parkout, level)


def _explore(
    random: Random,
    explore: Callable[..., kernels.Explored],
    search: Callable[..., kernels.Result],
    level: list[Any],
    how: list[Any],
) -> None:
    limits = some_limits(random)
    if random.random() < 0.5:
        level = spoilt(random, level)
    explored = attempt(explore, *level, limits, kernels.Control())
    result = attempt(search, *level, *how, "bfs", AMPLE, kernels.Control())
    assert (explored is None) == (result is None)
    if explored is None:
        return
    assert explored.reason in ("", "seconds", "nodes", "bytes")
    assert (explored.table is None) == (explored.reason != "")
    assert explored.peak_bytes <= limits.bytes
    assert explored.reason or result.outcome != "optimal" or explored.states > result.length


def _graph(
    random: Random,
    explore: Callable[..., kernels.Explored],
    graph_of: Callable[..., kernels.LevelGraph],
    check: Callable[..., str],
    level: list[Any],
) -> None:
    explored = explore(*level, AMPLE, kernels.Control())
    if explored.table is None:
        return
    board, anchors = level[2], _anchors(level[2])
    if random.random() < 0.5:
        _ask_nonsense(random, graph_of, level, explored.table, anchors)
        return
    graph = graph_of(*level, explored.table)
    assert sum(graph.counts()) == explored.states
    value, moves = graph.value(anchors), []
    at = anchors
    while graph.value(at) > 1:
        nearer = graph.next_moves(at)
        moves.append(random.choice(nearer))
        at = _moved(board, anchors, at, moves[-1])
        assert graph.value(at) == value - len(moves)
    if value:
        assert len(moves) == value - 1
        assert check(*level, moves) == ""
        goals = graph.listed(1, explored.states)
        assert len(goals) == graph.counts()[1]
        assert {graph.value(goal) for goal in goals} == {1}
    assert graph.next_moves(at) == []
    reason, number = graph.solutions(anchors, AMPLE, kernels.Control())
    assert reason == ""
    if value < 8:
        ways: dict[tuple[int, ...], int] = {}

        def count(at: list[int]) -> int:
            if graph.value(at) < 2:
                return 1
            if (key := tuple(at)) not in ways:
                ways[key] = sum(count(_moved(board, anchors, at, move)) for move in graph.next_moves(at))
            return ways[key]

        assert int.from_bytes(number, "little") == (count(anchors) if value else 0)


def _ask_nonsense(
    random: Random, graph_of: Callable[..., kernels.LevelGraph], level: list[Any], table: bytes, anchors: list[int]
) -> None:
    """Another table, level or position."""
    match random.randrange(4):
        case 0:
            table = table[: random.randrange(len(table))]
        case 1:
            changed = bytearray(table)
            for _ in range(random.choice([1, 20])):
                changed[random.randrange(len(changed))] = random.choice([0, 1, 255])
            table = bytes(changed)
        case 2:
            level = spoilt(random, level)
    graph = attempt(graph_of, *level, table)
    if graph is None:
        return
    if random.random() < 0.5:
        anchors = spoilt(random, [anchors])[0]
    attempt(graph.value, anchors)
    attempt(graph.next_moves, anchors)
    attempt(graph.counts)
    attempt(graph.listed, random.choice(INTS), random.choice(INTS))
    attempt(graph.solutions, anchors, some_limits(random), kernels.Control())


def _anchors(board: list[int]) -> list[int]:
    return [board.index(piece) for piece in range(max(board) + 1)]


def _moved(board: list[int], starts: list[int], at: list[int], move: tuple[int, int]) -> list[int]:
    cell, to = move
    for piece, (start, anchor) in enumerate(zip(starts, at, strict=True)):
        if anchor >= 0 and cell in [other - start + anchor for other in raw.cells_of(board, piece)]:
            return [*at[:piece], anchor + to - cell if to >= 0 else -1, *at[piece + 1 :]]
    raise AssertionError(f"no piece at {cell}")
