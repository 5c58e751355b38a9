"""Atlases: the distances of whole state spaces, and the files they are kept in."""

import json
import math
import random
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import unjam
from tests.test_kernel_tiles import distances, with_two_tiles_swapped
from unjam import _kernels as kernels
from unjam.errors import SearchError, TableError
from unjam.puzzles.puzzle import Metric
from unjam.puzzles.tiles import Tiles
from unjam.search import table_files
from unjam.search.atlas import TilesAtlas, build_tiles_atlas, find_atlas, open_atlas, space_of, stored
from unjam.search.table_files import Stopped

NO_LIMIT = 2**64 - 1
SHAPES = [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2)]


@pytest.fixture(scope="module", autouse=True)
def own_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Searches that other tests mean to run must not find these atlases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNJAM_TABLES", str(tmp_path_factory.mktemp("atlases")))
        yield


def built(width: int, height: int, blank: int, metric: Metric) -> TilesAtlas:
    return build_tiles_atlas(width, height, blank, metric, kernels.Control())


def puzzle_of(board: str, goal: str | None = None) -> Tiles:
    puzzle = unjam.parse("tiles", board, goal=goal)
    assert isinstance(puzzle, Tiles)
    return puzzle


def assert_agrees(atlas: TilesAtlas) -> None:
    """With plain search, on every board."""
    depths = distances(atlas.width, atlas.height, atlas.blank, atlas.metric)
    named = dict(enumerate(atlas.goal))
    wrong = [
        board
        for board, depth in depths.items()
        if atlas.distance(Tiles(atlas.width, atlas.height, tuple(map(named.__getitem__, board)), atlas.goal)) != depth
    ]
    assert wrong == []
    assert atlas.counts == tuple(count for _, count in sorted(Counter(depths.values()).items()))
    farthest = {puzzle.goal_cells() for puzzle in atlas.farthest()}
    assert farthest == {board for board, depth in depths.items() if depth == atlas.depth}


@pytest.mark.parametrize("metric", Tiles.metrics)
@pytest.mark.parametrize(("width", "height"), SHAPES)
def test_every_distance_agrees_with_plain_search_wherever_the_blank_belongs(
    width: int, height: int, metric: Metric
) -> None:
    for blank in range(width * height):
        assert_agrees(built(width, height, blank, metric))


@pytest.mark.parametrize("metric", Tiles.metrics)
@pytest.mark.parametrize("blank", [3, 8])
def test_every_distance_of_3x3_agrees_with_plain_search(blank: int, metric: Metric) -> None:
    assert_agrees(built(3, 3, blank, metric))


def test_counts_and_farthest_boards_are_the_known_ones(shared_data: Path) -> None:
    rows = json.loads((shared_data / "known_depths.json").read_text())["distributions"]
    rows = [row for row in rows if row["complete"] and row["rows"] * row["columns"] <= 10]
    assert len(rows) >= 10
    for row in rows:
        atlas = built(row["columns"], row["rows"], row["blank_goal_cell"], row["metric"])
        assert list(atlas.counts) == row["boards_at_depth"]
        assert atlas.depth == row["farthest"]
        farthest = [" ".join(map(str, puzzle.board)) for puzzle in atlas.farthest()]
        assert set(row["farthest_boards"]) <= set(farthest)
        assert len(farthest) == row["boards_at_depth"][-1]


@pytest.mark.parametrize("metric", Tiles.metrics)
@pytest.mark.parametrize(("width", "height", "blank"), [(2, 5, 4), (5, 2, 7)])
def test_solutions_are_as_long_as_those_of_searches(width: int, height: int, blank: int, metric: Metric) -> None:
    atlas = built(width, height, blank, metric)
    rng = random.Random(f"{width} {metric}")
    tiles = list(range(1, width * height))
    for _ in range(20):
        rng.shuffle(tiles)
        goal = (*tiles[:blank], 0, *tiles[blank:])
        board = list(goal)
        rng.shuffle(board)
        puzzle = Tiles(width, height, tuple(board), goal)
        answer = unjam.solve(puzzle, metric, algorithm="idastar")
        solution = atlas.solution(puzzle)
        assert atlas.distance(puzzle) == answer.length == (None if solution is None else len(solution))
        state = puzzle.start()
        for move in solution or ():
            state = puzzle.apply(state, move, metric)
        assert solution is None or puzzle.is_goal(state)


def test_unsolvable_boards_have_no_distance() -> None:
    atlas = built(3, 3, 8, "step")
    for board in random.Random(3).sample(sorted(distances(3, 3, 8, "step")), 500):
        swapped = with_two_tiles_swapped(board, 8)
        puzzle = Tiles(3, 3, tuple(atlas.goal[cell] for cell in swapped), atlas.goal)
        assert atlas.distance(puzzle) is None
        assert atlas.solution(puzzle) is None


class TestSamples:
    @pytest.mark.parametrize("metric", Tiles.metrics)
    def test_all_depths_can_be_sampled(self, metric: Metric) -> None:
        atlas = built(3, 3, 0, metric)
        for depth, count in enumerate(atlas.counts):
            boards = atlas.sample(depth, min(count, 30), seed=depth)
            assert len(set(boards)) == min(count, 30)
            assert {atlas.distance(board) for board in boards} == {depth}
            assert boards == atlas.sample(depth, min(count, 30), seed=depth)

    @pytest.mark.parametrize("depth", [2, 12, 20, 36])
    def test_all_boards_of_a_depth_turn_up_equally_often(self, depth: int) -> None:
        atlas = built(2, 4, 7, "step")
        count = atlas.counts[depth]
        assert len(atlas.sample(depth, count, seed=1)) == count
        drawn = Counter(atlas.sample(depth, seed=seed)[0] for seed in range(10 * count))
        chi_square = sum((drawn[board] - 10) ** 2 / 10 for board in atlas.sample(depth, count, seed=2))
        assert sum(drawn.values()) == 10 * count
        assert chi_square < count + 5 * math.sqrt(2 * count)  # five standard deviations above its mean

    def test_more_than_there_are_is_refused(self) -> None:
        atlas = built(3, 3, 8, "step")
        with pytest.raises(SearchError, match="the farthest are 31"):
            atlas.sample(32)
        with pytest.raises(SearchError, match="2 boards are 31 steps away, not 3"):
            atlas.sample(31, 3)


class TestSolve:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("UNJAM_TABLES", str(tmp_path))

    puzzle = puzzle_of("8 6 7/2 5 4/3 0 1")

    def test_an_atlas_that_is_there_answers(self) -> None:
        assert unjam.solve(self.puzzle, "step").algorithm == "idastar"
        built(3, 3, 0, "step")
        answer = unjam.solve(self.puzzle, "step")
        assert (answer.algorithm, answer.outcome, answer.length) == ("atlas", "optimal", 31)
        unjam.verify(self.puzzle, answer)
        assert unjam.solve(self.puzzle, "slide").algorithm == "idastar"
        assert unjam.solve(self.puzzle, "step", algorithm="astar").algorithm == "astar"
        assert unjam.solve(self.puzzle, "step", heuristic="manhattan").algorithm == "idastar"
        assert unjam.solve(puzzle_of("1 2 3/4 5 6/8 7 0"), "step").outcome == "unsolvable"

    def test_a_spoilt_one_is_a_warning(self) -> None:
        space_of(3, 3, 8, "step").path.write_bytes(b"spoilt")
        with pytest.warns(RuntimeWarning, match="no atlas"):
            answer = unjam.solve(self.puzzle, "step")
        assert (answer.algorithm, answer.length) == ("idastar", 31)


class TestFiles:
    space = space_of(2, 4, 7, "slide")

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("UNJAM_TABLES", str(tmp_path / "tables"))
        return tmp_path / "tables"

    def test_a_missing_atlas_is_named_with_the_command_that_builds_it(self) -> None:
        with pytest.raises(TableError, match="`unjam atlas build 4x3 --metric slide --blank 1` makes it"):
            open_atlas(3, 4, 3, "slide")

    @pytest.mark.parametrize("damage", ["cut", "longer", "empty", "page", "header", "first", "last", "text", "other"])
    def test_spoilt_files_are_refused_and_built_again_on_request(self, damage: str) -> None:
        built(2, 4, 7, "slide")
        path = self.space.path
        whole = path.read_bytes()
        built(2, 4, 7, "step")
        spoilt = {
            "cut": whole[:-1],
            "longer": whole + b"\0",
            "empty": b"",
            "page": whole[: table_files.HEADER],
            "header": whole.replace(b'"blank"', b'"blink"', 1),
            "first": whole[: table_files.HEADER]
            + bytes([whole[table_files.HEADER] ^ 1])
            + whole[table_files.HEADER + 1 :],
            "last": whole[:-1] + bytes([whole[-1] ^ 128]),
            "text": b"x" * len(whole),
            "other": space_of(2, 4, 7, "step").path.read_bytes(),
        }[damage]
        path.write_bytes(spoilt)
        with pytest.raises(TableError, match="unjam atlas build 4x2 --metric slide --again"):
            open_atlas(2, 4, 7, "slide")
        refused = find_atlas(4, 2, 0, "slide")
        assert isinstance(refused, TableError)
        assert refused.__traceback__ is None  # one that is raised again and again would keep all those frames
        with pytest.raises(TableError, match="--again"):
            built(2, 4, 7, "slide")
        assert path.read_bytes() == spoilt
        build_tiles_atlas(2, 4, 7, "slide", kernels.Control(), again=True)
        assert path.read_bytes() == whole

    @pytest.mark.parametrize("change", ["depths", "early", "late", "count", "board", "short"])
    def test_contents_that_do_not_fit_are_refused_whatever_the_checksum(self, change: str, folder: Path) -> None:
        built(2, 4, 7, "slide")
        fields = json.loads(self.space.path.read_bytes().splitlines()[1])
        body = bytearray(self.space.path.read_bytes()[table_files.HEADER :])
        at = self.space.table_bytes
        depths, early, late = struct.unpack_from("<3Q", body, at)
        if change == "short":
            body = body[: at + 8]
        elif change == "board":
            struct.pack_into("<I", body, len(body) - 4, self.space.boards)
        else:
            place, value = {
                "depths": (0, 2**63),
                "early": (1, late + 1),
                "late": (2, depths + 1),
                "count": (3 + early, 0),
            }[change]
            struct.pack_into("<Q", body, at + 8 * place, value)
        del fields["bytes"], fields["checksum"]
        with self.space.path.open("w+b") as file:
            file.seek(table_files.HEADER)
            file.write(body)
            table_files.finish(file, b"unjam atlas\n", fields)
        with pytest.raises(TableError, match="--again"):
            open_atlas(2, 4, 7, "slide")

    def test_mirrored_and_transposed_boards_share_a_file(self, folder: Path) -> None:
        for width, height, blank in [(3, 2, 0), (3, 2, 2), (3, 2, 5), (2, 3, 0), (2, 3, 4), (2, 3, 1)]:
            assert built(width, height, blank, "step").depth == 21
        built(2, 3, 2, "step")
        assert [space.name for space in stored()] == ["tiles-3x2-step", "tiles-3x2-step-blank-1"]
        assert {path.suffix for path in folder.iterdir()} == {".atlas"}

    def test_a_build_that_is_cancelled_or_out_of_time_leaves_nothing(self, folder: Path) -> None:
        control = kernels.Control()
        control.cancel()
        with pytest.raises(Stopped):
            build_tiles_atlas(3, 4, 11, "step", control)
        control = kernels.Control()
        with pytest.raises(Stopped):
            build_tiles_atlas(3, 4, 11, "step", control, seconds=0.5)
        assert 0 < control.expanded < space_of(3, 4, 11, "step").boards
        assert list(folder.iterdir()) == []


@pytest.mark.parametrize("size", [(1, 5), (2, 7), (4, 4), (3, 5), (5, 3)])
def test_sizes_without_an_atlas_are_refused(size: tuple[int, int]) -> None:
    with pytest.raises(SearchError, match="there is no atlas"):
        space_of(*size, 0, "step")
    with pytest.raises(ValueError, match="atlas: "):
        kernels.atlas_bytes(*size)


def test_boards_of_another_space_are_refused() -> None:
    atlas = built(3, 3, 8, "step")
    for board, goal in (("1 2/3 0", "blank-last"), ("1 2 3/4 5 6/7 8 0", "blank-first")):
        with pytest.raises(SearchError, match="3x3 boards whose blank belongs in cell 8"):
            atlas.distance(puzzle_of(board, goal))
    with pytest.raises(SearchError, match="no cell 9"):
        space_of(3, 3, 9, "step")


def test_the_kernel_keeps_within_its_memory_and_refuses_what_does_not_fit() -> None:
    size = kernels.atlas_bytes(3, 3)
    table = memoryview(bytearray(size))
    no_memory = kernels.Limits(math.inf, NO_LIMIT, 1000)
    assert kernels.build_atlas(3, 3, 8, "step", table, no_memory, kernels.Control()).reason == "bytes"
    for width, metric, given in ((3, "path", table), (4, "step", table), (3, "step", table[1:])):
        with pytest.raises(ValueError, match="atlas: "):
            kernels.build_atlas(width, 3, 8, metric, given, no_memory, kernels.Control())
    unlimited = kernels.Limits(math.inf, NO_LIMIT, NO_LIMIT)
    layers = kernels.build_atlas(3, 3, 8, "step", table, unlimited, kernels.Control())
    atlas = kernels.TilesAtlas(
        3, 3, 8, "step", table, layers.counts, layers.early, layers.late, memoryview(layers.boards)
    )
    for board in ([0] * 9, list(range(8)), [*range(8), 9], [*range(8), -1]):
        with pytest.raises(ValueError, match="permutation"):
            atlas.distance(board)
    for depth in (-1, 32):
        with pytest.raises(ValueError, match="no such depth"):
            atlas.sample(depth, 0)
    zeros = kernels.TilesAtlas(
        3, 3, 8, "step", memoryview(bytes(size)), layers.counts, layers.early, layers.late, memoryview(layers.boards)
    )
    with pytest.raises(RuntimeError, match="no way home"):
        zeros.distance([0, 1, 2, 3, 4, 5, 6, 8, 7])
    with pytest.raises(RuntimeError, match="counts are wrong"):
        zeros.sample(20, 0)
