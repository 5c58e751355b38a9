"""The reference search: layers, bounds and proofs on puzzles small enough to count by hand or known from elsewhere."""

import pytest

from unjam.errors import MetricError
from unjam.puzzles.klotski import Klotski
from unjam.puzzles.parkout import Parkout
from unjam.puzzles.tiles import Tiles
from unjam.search.reference import reachable, search
from unjam.search.solution import Outcome


def test_layers_of_tiles() -> None:
    assert reachable(Tiles.parse("1 2/3 0"), "step") == [1, 2, 2, 2, 2, 2, 1]
    # OEIS A089473: the 8-puzzle's positions by distance, the blank in a corner.
    known = (1, 2, 4, 8, 16, 20, 39, 62, 116, 152, 286)
    assert search(Tiles.parse("1 2 3/4 5 6/7 8 0", goal="blank-first"), "step", max_states=2_000).profile[:11] == known


def test_optimal() -> None:
    answer = search(Klotski.parse("A..", goal="..A"), "step")
    assert (answer.outcome, answer.length, answer.lower, answer.upper) == (Outcome.OPTIMAL, 2, 2, 2)
    assert answer.moves == ((0, 1), (1, 2))
    assert (answer.expanded, answer.peak_states, answer.profile) == (2, 3, (1, 1, 1))
    assert (answer.metric, answer.algorithm, answer.pruned) == ("step", "bfs", None)


def test_start_is_the_goal() -> None:
    answer = search(Klotski.parse("A..", goal="A.."))
    assert (answer.outcome, answer.length, answer.moves, answer.metric) == (Outcome.OPTIMAL, 0, (), "path")


def test_unsolvable() -> None:
    answer = search(Klotski.parse("AB.", goal="B.."), "step")
    assert (answer.outcome, answer.length, answer.lower, answer.upper) == (Outcome.UNSOLVABLE, None, None, None)
    assert answer.reason
    assert answer.profile == (1, 1, 1)


@pytest.mark.parametrize("states", [1, 10, 100, 1_000])
def test_bounded_by_states(states: int) -> None:
    puzzle = Klotski.parse("BAAC/BAAC/DFFE/DGHE/I..J", goal="..../..../..../.AA./.AA.")
    answer = search(puzzle, "step", max_states=states)
    assert (answer.outcome, answer.length, answer.upper, answer.reason) == (Outcome.BOUNDED, None, None, "nodes")
    assert answer.lower is not None
    assert 1 <= answer.lower <= 116
    assert sum(answer.profile) == answer.peak_states == states + 1


def test_pruned() -> None:
    puzzle = Parkout.parse("aA./bB./cC.")
    assert search(puzzle, prune=True).profile == (1, 1, 1, 1)
    assert search(puzzle, prune=True).pruned is True
    assert search(puzzle).length == 3
    assert sum(reachable(puzzle)) == 3**3
    assert reachable(puzzle, prune=True) == [1, 1, 1, 1]


def test_metric_of_another_family() -> None:
    with pytest.raises(MetricError):
        reachable(Tiles.parse("1 2/3 0"), "path")
