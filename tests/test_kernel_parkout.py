"""Parking lots: pruning and the bound of A* and IDA* change nothing but the effort."""

from __future__ import annotations

from random import Random

from tests import raw_boards as raw
from tests.test_kernel_blocks import ALGORITHMS, check, kernels, limits, parkout_from

MOST_STATES = 300


def solve(puzzle: raw.Parkout, algorithm: str, prune: bool = True, nodes: int = 10**8) -> kernels.Result:
    return kernels.parkout(*puzzle, prune, algorithm, limits(nodes=nodes), kernels.Control())


def test_all_searches_agree_on_lots_of_all_kinds() -> None:
    random = Random("lots of all kinds")
    searches = [(algorithm, prune) for algorithm in ALGORITHMS for prune in (True, False)]
    lengths: dict[int, int] = {}
    closing = 0
    for _ in range(5000):
        puzzle = raw.random_parkout(random, gates=True)
        full = solve(puzzle, "bfs", prune=False)
        lengths[full.length] = lengths.get(full.length, 0) + 1
        closing += any(0 < closes < raw.NEVER for closes in puzzle.closes)
        for algorithm, prune in searches:
            answer = solve(puzzle, algorithm, prune, 100_000 if algorithm == "idastar" else 10**8)
            if answer.outcome == "bounded":
                assert algorithm == "idastar"
                continue
            assert (answer.outcome, answer.length) == (full.outcome, full.length), (puzzle, algorithm, prune)
            if answer.length > 0:
                assert check(puzzle, "slide", answer.moves) == "", (puzzle, algorithm, prune)
    assert closing > 2000
    assert len(lengths) > 8


def test_ended_budget_leaves_a_real_solution() -> None:
    puzzle = parkout_from(["c...Bb", "C.....", "...Fff", "gGd.a.", ".ED.A.", ".eHhh."])
    answer = solve(puzzle, "bfs", prune=False, nodes=8000)
    assert (answer.outcome, answer.reason, answer.length) == ("bounded", "nodes", -1)
    assert answer.lower < 10 <= answer.upper == len(answer.moves)
    assert check(puzzle, "slide", answer.moves) == ""
    assert 7000 < answer.generated <= 8000
    assert solve(puzzle, "bfs", prune=False, nodes=100).upper == -1


def test_bound_holds_and_is_consistent_in_all_positions() -> None:
    """The bound of a position is what A* says when it may not look at any other."""
    random = Random("bounds")
    tight = checked = 0
    while checked < 20_000:
        puzzle = raw.random_parkout(random, gates=random.random() < 0.5)
        children = positions(puzzle)
        if children is None:
            continue
        far = distances(puzzle, children)
        bounds = {}
        for board in children:
            answer = solve(raw.parkout_at(puzzle, board), "astar", prune=False, nodes=0)
            assert (answer.outcome == "unsolvable") <= (board not in far), (puzzle, board)
            if answer.outcome != "unsolvable":
                bounds[board] = answer.lower
        for board, bound in bounds.items():
            assert bound <= far.get(board, bound), (puzzle, board)
            assert all(bound <= 1 + bounds.get(child, bound) for child in children[board]), (puzzle, board)
            tight += far.get(board) == bound
        checked += len(children)
    assert tight > checked / 4


def positions(puzzle: raw.Parkout) -> dict[raw.Grid, list[raw.Grid]] | None:
    """What each position that can be reached leads to, or None if there are many."""
    start = tuple(puzzle.board)
    children: dict[raw.Grid, list[raw.Grid]] = {}
    waiting = [start]
    while waiting:
        board = waiting.pop()
        if board in children:
            continue
        children[board] = list(raw.parkout_children(puzzle, board))
        waiting += children[board]
        if len(children) > MOST_STATES:
            return None
    return children


def distances(puzzle: raw.Parkout, children: dict[raw.Grid, list[raw.Grid]]) -> dict[raw.Grid, int]:
    """The moves left from each position from which the lot can be emptied."""
    parents: dict[raw.Grid, list[raw.Grid]] = {}
    for board, after in children.items():
        for child in after:
            parents.setdefault(child, []).append(board)
    movable = {car for car, fixed in enumerate(puzzle.fixed) if not fixed}
    layer = [board for board in children if movable.isdisjoint(board)]
    far = dict.fromkeys(layer, 0)
    for board in layer:
        for before in parents.get(board, ()):
            if before not in far:
                far[before] = far[board] + 1
                layer.append(before)
    return far
