"""Atlases of levels against plain Python, and as files: what they answer, keep and refuse."""

from __future__ import annotations

import csv
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from math import factorial
from pathlib import Path
from random import Random
from typing import Any

import pytest

import unjam
from tests.boards import RANDOM_BOARDS
from unjam._kernels import Control
from unjam.errors import ParseError, PositionError, SearchError, TableError
from unjam.puzzles import FAMILIES, from_canonical
from unjam.puzzles.blocks import Blocks, Cells
from unjam.puzzles.grid import OUT, Move, symmetries
from unjam.puzzles.positions import position_of, puzzle_at, read_position, turned
from unjam.puzzles.puzzle import Metric
from unjam.search.level_atlas import LevelAtlas, explore, find_level_atlas, open_level_atlas, path_of, stored_levels
from unjam.search.solution import Budget
from unjam.search.table_files import Stopped

LEVELS = 500  # of each family
MOST_STATES = 200  # of a level; a larger one is passed over, and another one counts in its place
FAMILY_NAMES = ("klotski", "rush", "parkout")
CLASSIC = {"board": "BAAC/BAAC/DFFE/DGHE/I..J", "goal": "..../..../..../.AA./.AA."}
CORRIDOR = {"family": "klotski", "board": "A..B", "goal": "...A", "goal_mode": "class"}


class Whole:
    """All positions of a small level by the Python rules: distances, next moves and numbers of solutions."""

    def __init__(self, puzzle: Blocks, metric: Metric) -> None:
        """Raises OverflowError if there are more than MOST_STATES."""
        start = puzzle.fold(puzzle.start())
        self.children: dict[Cells, list[tuple[Move, Cells]]] = {start: []}
        waiting = [start]
        for state in waiting:
            self.children[state] = [(move, puzzle.fold(after)) for move, after in puzzle.moves(state, metric)]
            for _, after in self.children[state]:
                if after not in self.children:
                    self.children[after] = []
                    waiting.append(after)
            if len(waiting) > MOST_STATES:
                raise OverflowError
        parents: dict[Cells, list[Cells]] = {state: [] for state in waiting}
        for state, moves in self.children.items():
            for _, after in moves:
                parents[after].append(state)
        layer: list[Cells] = [state for state in waiting if puzzle.is_goal(state)]
        self.distance: dict[Cells, int] = dict.fromkeys(layer, 0)
        self.ways: dict[Cells, int] = dict.fromkeys(layer, 1)
        for state in layer:
            for parent in parents[state]:
                if parent not in self.distance:
                    self.distance[parent] = self.distance[state] + 1
                    layer.append(parent)
        for state in layer:
            if self.distance[state]:
                self.ways[state] = sum(self.ways[after] for _, after in self.next(state))

    def next(self, state: Cells) -> list[tuple[Move, Cells]]:
        left = self.distance.get(state)
        return [(move, after) for move, after in self.children[state] if left and self.distance.get(after) == left - 1]


def small_levels(family: str, seed: int) -> Iterator[tuple[Blocks, Metric, Whole]]:
    random = Random(f"{family} {seed}")
    metrics = FAMILIES[family].metrics
    while True:
        try:
            fields = RANDOM_BOARDS[family](random)
            if family == "parkout" and random.random() < 0.5:  # cars that leave too early lock in others
                sides = random.sample(["top", "right", "bottom", "left"], 2)
                fields |= {"closed": [], "gates": [{"edge": side, "closes": random.randint(1, 3)} for side in sides]}
            puzzle = unjam.parse(family, **fields)
            assert isinstance(puzzle, Blocks)
            metric = random.choice(metrics)
            yield puzzle, metric, Whole(puzzle, metric)
        except (ParseError, OverflowError):
            continue


def atlas_of(puzzle: unjam.Puzzle, metric: str | None = None) -> LevelAtlas:
    atlas = explore(puzzle, metric, control=Control()).atlas
    assert atlas is not None
    return atlas


def moved(atlas: LevelAtlas, state: Cells, metric: Metric) -> set[tuple[Move, Cells]]:
    return {(move, atlas.level.fold(atlas.level.apply(state, move, metric))) for move in atlas.next_moves(state)}


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_all_answers_agree_with_plain_python(family: str) -> None:
    kinds: Counter[str] = Counter()
    for number, (puzzle, metric, whole) in enumerate(small_levels(family, 1)):
        if number == LEVELS:
            break
        atlas = atlas_of(puzzle, metric)
        distances = Counter(whole.distance.values())
        assert atlas.counts == tuple(distances[distance] for distance in range(len(distances)))
        assert atlas.dead_ends == len(whole.children) - len(whole.distance)
        assert atlas.states == len(whole.children)
        everything: list[Cells] = []
        for distance in [None, *range(len(atlas.counts))]:
            listed = atlas.at(distance, atlas.states)
            assert {whole.distance.get(state) for state in listed} <= {distance}
            everything += listed
        assert sorted(everything) == sorted(whole.children)
        farthest = max(whole.distance.values(), default=None)
        assert sorted(atlas.hardest(atlas.states)) == sorted(
            state for state, distance in whole.distance.items() if distance == farthest
        )
        control = Control()
        for state in whole.children:
            assert atlas.moves_left(state) == whole.distance.get(state)
            assert moved(atlas, state, metric) == set(whole.next(state))
            assert atlas.solutions(state, control=control) == whole.ways.get(state, 0)
        kinds["solvable" if distances else "unsolvable"] += 1
        kinds["dead ends"] += bool(distances and atlas.dead_ends)
    assert min(kinds["solvable"], kinds["unsolvable"]) > 20, kinds
    assert kinds["dead ends"] > 10 if family == "parkout" else kinds["dead ends"] == 0, kinds


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_positions_are_puzzles(family: str) -> None:
    random = Random(family)
    for number, (puzzle, metric, whole) in enumerate(small_levels(family, 2)):
        if number == 100:
            break
        atlas = atlas_of(puzzle, metric)
        for state in random.sample([*whole.children], min(5, len(whole.children))):
            position = puzzle_at(puzzle, state)
            assert puzzle.fold(position_of(puzzle, position)) == state
            assert unjam.solve(position, metric).length == atlas.moves_left(position) == atlas.moves_left(state)
            assert puzzle.fold(read_position(puzzle, position.format())) == state
            assert type(position).parse(**position.fields()) == position


def test_the_classic() -> None:
    """Known: 25,955 positions; the farthest of its piece set need 126 steps, 101 slides or 93 moves along a path."""
    puzzle = unjam.parse("klotski", **CLASSIC)
    for metric, length, depth in (("path", 81, 93), ("slide", 90, 101), ("step", 116, 126)):
        atlas = atlas_of(puzzle, metric)
        assert (atlas.states, atlas.moves_left(puzzle), atlas.depth, atlas.dead_ends) == (25_955, length, depth, 0)
        (farthest,) = atlas.hardest()
        assert unjam.solve(atlas.puzzle(farthest), metric).length == atlas.depth


@pytest.mark.parametrize(("corridors", "length"), [(2, 40), (3, 20), (4, 16)])
def test_numbers_of_solutions_of_any_size(corridors: int, length: int) -> None:
    """Blocks in corridors of their own, so many steps each, in any order: a multinomial coefficient, up to 119 bits."""
    rows = [letter + "." * length for letter in "ABCD"[:corridors]]
    wall = "/" + "#" * (length + 1) + "/"
    puzzle = unjam.parse("klotski", wall.join(rows), goal=wall.join(row[::-1] for row in rows))
    atlas = atlas_of(puzzle, "step")
    assert atlas.states == (length + 1) ** corridors
    assert atlas.solutions(puzzle) == factorial(corridors * length) // factorial(length) ** corridors


def test_moves_lead_to_the_goal() -> None:
    puzzle = unjam.parse("klotski", **CLASSIC)
    atlas = atlas_of(puzzle, "path")
    random, left = Random(4), 81
    state: Any = puzzle.start()
    while left:
        assert atlas.moves_left(state) == left
        state = puzzle.apply(state, random.choice(atlas.next_moves(state)), "path")
        left -= 1
    assert puzzle.is_goal(state)
    assert atlas.next_moves(state) == []
    assert atlas.solutions(state) == 1


def test_an_answer_takes_less_than_a_millisecond() -> None:
    puzzle = unjam.parse("klotski", **CLASSIC)
    atlas = atlas_of(puzzle, "path")
    times = []
    for _ in range(50):
        began = time.thread_time()
        atlas.moves_left(puzzle)
        atlas.next_moves(puzzle)
        times.append(time.thread_time() - began)
    assert min(times) < 0.001


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        ({"family": "rush", "board": "AA../..../..../...."}, "of rush, the level of klotski"),
        ({**CORRIDOR, "board": "A...B", "goal": "....A"}, "5x1, the level is 4x1"),
        ({**CORRIDOR, "board": "A#.B"}, "column 2 is free in the level, a wall in the position"),
        ({**CORRIDOR, "board": "AA.B", "goal": "..AA"}, "no piece like A here"),
        ({**CORRIDOR, "board": "A..."}, "lacks a piece like A"),
        ({**CORRIDOR, "board": "ACDB"}, "no piece like A here, or not as many"),
        ({**CORRIDOR, "goal": "..A."}, "no piece like A here"),
    ],
)
def test_positions_of_other_levels_are_refused(position: dict[str, Any], reason: str) -> None:
    atlas = atlas_of(unjam.parse(**CORRIDOR))
    with pytest.raises(PositionError, match=reason):
        atlas.moves_left(unjam.parse(**position))


def test_positions_out_of_reach_are_refused() -> None:
    puzzle = unjam.parse("klotski", "AB..", goal="...A")
    atlas = atlas_of(puzzle)
    assert (atlas.counts, atlas.dead_ends, atlas.hardest(9), atlas.depth) == ((), 6, [], None)
    assert atlas.moves_left(puzzle) is None
    assert atlas.next_moves(puzzle) == []
    assert atlas.solutions(puzzle) == 0
    for position in (unjam.parse("klotski", "B..A", goal="...A"), (3, 1), (0, 0), (0, 9), (0,), (0, OUT)):
        asks: list[Callable[[Any], object]] = [atlas.moves_left, atlas.next_moves, atlas.solutions]
        for ask in asks:
            with pytest.raises(PositionError, match="cannot be reached"):
                ask(position)


def test_cars_that_have_left() -> None:
    lot = unjam.parse("parkout", "aA../bB../..../cC..", gates=[{"edge": "right:0", "opens": 1}])
    atlas = atlas_of(lot)
    later = unjam.parse("parkout", "..aA/..../..../cC..")
    assert atlas.moves_left(later) == 2
    assert atlas.moves_left(read_position(lot, "..aA/..../..../cC..")) == 2
    with pytest.raises(PositionError, match="exits"):
        atlas.moves_left(unjam.parse("parkout", "..aA/..../..../cC..", closed=["right:0"]))
    assert atlas.moves_left((OUT, OUT, OUT)) == 0
    assert atlas.dead_ends == 0
    assert atlas.solutions(lot) == 4
    once = unjam.parse("parkout", "aA../bB../..../cC..", gates=[{"edge": "right:0", "closes": 1}])
    assert atlas_of(once).dead_ends > 0


def test_tiles_have_atlases_of_their_own() -> None:
    with pytest.raises(SearchError, match="unjam atlas build"):
        explore(unjam.parse("tiles", "1 2/3 0"), control=Control())


def test_budgets() -> None:
    puzzle = unjam.parse("klotski", **CLASSIC)
    for budget, reason in (
        (Budget(nodes=5_000), "nodes"),
        (Budget(bytes=100_000), "bytes"),
        (Budget(seconds=1e-9), "seconds"),
    ):
        found = explore(puzzle, "step", budget, control=Control())
        assert (found.atlas, found.reason) == (None, reason)
        assert found.states < 25_955
        assert found.generated <= 6_000 or reason == "bytes"
        assert budget.bytes is not None
        assert found.peak_bytes <= budget.bytes
    control = Control()
    control.cancel()
    assert explore(puzzle, "step", control=control).reason == "cancelled"
    with pytest.raises(Stopped):
        atlas_of(puzzle, "step").solutions(puzzle, control=control)


def test_every_budget_of_bytes_is_kept() -> None:
    puzzle = unjam.parse("klotski", **CLASSIC)
    whole = explore(puzzle, "step", control=Control())
    for size in range(0, whole.peak_bytes + 200_000, whole.peak_bytes // 40):
        found = explore(puzzle, "step", Budget(bytes=size), control=Control())
        assert (found.atlas is None) == (found.reason == "bytes")
        assert found.peak_bytes <= size
    assert found.atlas is not None


class TestFiles:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("UNJAM_TABLES", str(tmp_path))
        return tmp_path

    def test_kept_and_found_again_however_it_is_turned(self) -> None:
        level = unjam.parse("klotski", "AB./CC./..D", goal=".../.../AB.")
        turned = unjam.parse("klotski", "D../.CC/.BA", goal=".BA/.../...")
        assert find_level_atlas(level, "step") is None
        with pytest.raises(TableError, match="unjam atlas level --save"):
            open_level_atlas(level, "step")
        atlas = atlas_of(level, "step")
        path = atlas.save()
        assert path == path_of(turned, "step")
        for puzzle in (level, turned):
            found = open_level_atlas(puzzle, "step")
            assert (found.counts, found.dead_ends) == (atlas.counts, atlas.dead_ends)
            assert found.moves_left(puzzle) == unjam.solve(puzzle, "step").length
            left = found.moves_left(puzzle)
            state: Any = puzzle.start()
            while left:
                state = puzzle.apply(state, found.next_moves(state)[-1], "step")
                left -= 1
            assert puzzle.is_goal(state)
        assert find_level_atlas(level, "slide") is None
        assert [(file.path, file.states) for file in stored_levels()] == [(path, atlas.states)]

    @pytest.mark.parametrize("family", FAMILY_NAMES)
    def test_found_from_any_position_of_the_level(self, family: str, folder: Path) -> None:
        random, found = Random(f"{family} found"), 0
        for puzzle, metric, whole in islice(small_levels(family, 3), 60):
            for path in folder.iterdir():
                path.unlink()
            atlas_of(puzzle, metric).save()
            for state in random.sample([*whole.children], min(4, len(whole.children))):
                try:
                    position = puzzle_at(puzzle, state)
                except PositionError:
                    continue
                assert isinstance(position, Blocks)
                position = turned(position, random.choice(symmetries(puzzle.width, puzzle.height)))
                if random.random() < 0.5:  # other letters
                    position = from_canonical(family, position.canonical)
                atlas = find_level_atlas(position, metric)
                assert isinstance(atlas, LevelAtlas)
                assert atlas.states == len(whole.children)
                assert atlas.moves_left(position) == whole.distance.get(state) == unjam.solve(position, metric).length
                assert len(atlas.next_moves(position)) == len(whole.next(state))
                here, there = position.start(), atlas.state(position)
                while moves := atlas.next_moves(there):
                    move = random.choice(moves)
                    here, there = position.apply(here, move, metric), atlas.level.apply(there, move, metric)
                assert position.is_goal(here) == (state in whole.distance)
                found += 1
        assert found > 100

    def test_a_level_in_another_component_is_another_level(self) -> None:
        """The same walls, cars and exit, but two cars have changed their order."""
        one, other = (unjam.parse("klotski", board, goal="...A") for board in ("AB..", "B..A"))
        atlas_of(one, "step").save()
        assert find_level_atlas(other, "step") is None
        atlas_of(other, "step").save()
        assert len(stored_levels()) == 2
        assert [open_level_atlas(level, "step").moves_left(level) for level in (one, other)] == [None, 0]
        assert open_level_atlas(unjam.parse("klotski", "B.A.", goal="...A"), "step").moves_left((0, 2)) == 1

    def test_a_gate_that_a_position_hides_is_none(self) -> None:
        """The board B-A. says that B may go on to the last cell but one; AB.. on the way does not."""
        level = unjam.parse("klotski", "A-../B...", goal="..A./....")
        atlas = atlas_of(level, "step")
        atlas.save()
        hidden = unjam.parse("klotski", ".A../B...", goal="..A./....")
        assert atlas.moves_left(hidden) == 1
        assert find_level_atlas(hidden, "step") is None
        shown = unjam.parse("klotski", ".-A./B...", goal="..A./....")
        assert open_level_atlas(shown, "step").moves_left(shown) == 0

    def test_spoilt_files_are_refused(self) -> None:
        level = unjam.parse(**CORRIDOR)
        atlas = atlas_of(level, "step")
        path = atlas.save()
        whole = path.read_bytes()
        header = json.loads(whole[: whole.index(b"\0")].split(b"\n")[1])
        other = atlas_of(unjam.parse("klotski", "A.B", goal="..A", goal_mode="class"), "step").save().read_bytes()
        assert header["name"] == path.stem
        for spoilt in (b"", whole[:100], whole[:4096], whole[:-1], whole[:-1] + b"\7", b"x" + whole[1:], other):
            path.write_bytes(spoilt)
            with pytest.raises(TableError, match="unjam atlas level --save"):
                open_level_atlas(level, "step")
        atlas.save()
        assert open_level_atlas(level, "step").moves_left(level) == atlas.moves_left(level)

    def test_a_cancelled_save_leaves_nothing(self, folder: Path) -> None:
        control = Control()
        control.cancel()
        with pytest.raises(Stopped):
            atlas_of(unjam.parse("klotski", **CLASSIC), "step").save(control)
        assert [*folder.iterdir()] == []


@pytest.mark.parametrize("metric", ["slide", "step"])
def test_known_components(metric: str, shared_data: Path) -> None:
    with (shared_data / "rush_known.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows[::50]:
        puzzle = unjam.parse("rush", row["board"])
        atlas = atlas_of(puzzle, metric)
        assert (atlas.states, atlas.moves_left(puzzle)) == (int(row["reachable_states"]), int(row[metric]))
