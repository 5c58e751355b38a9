"""Pattern databases: the bounds they give, and the files they are kept in."""

import csv
import math
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

import unjam
from tests.test_kernel_tiles import Board, distances, from_numbers, neighbours
from unjam import _kernels as kernels
from unjam.errors import SearchError, TableError
from unjam.search import table_files, tables
from unjam.search.partitions import PARTITIONS, Table, all_tables, named, tables_for

NO_LIMIT = kernels.Limits(math.inf, 2**64 - 1, 2**64 - 1)
NO_NODES = kernels.Limits(math.inf, 0, 2**64 - 1)
SMALL = [table for table in all_tables() if table.width * table.height <= 16 and sum(table.entries) <= tables.SMALL]


def made(
    width: int, height: int, blank: int, patterns: Sequence[Sequence[int]], compressed: bool = False
) -> kernels.PatternTable:
    """A table in memory."""
    sizes = [kernels.pattern_entries(width, height, len(tiles), compressed) for tiles in patterns]
    entries = memoryview(bytearray(sum(sizes)))
    at = 0
    for tiles, size in zip(patterns, sizes, strict=True):
        part, control = entries[at : at + size], kernels.Control()
        assert kernels.build_pattern(width, height, blank, tiles, compressed, part, NO_LIMIT, control) == ""
        assert control.expanded in (size, size // 2)  # of all tiles, every second order is out of reach
        at += size
    return kernels.PatternTable(width, height, blank, patterns, compressed, entries)


def run(
    table: kernels.PatternTable, width: int, height: int, board: Sequence[int], blank: int, limits: kernels.Limits
) -> kernels.Result:
    return kernels.tiles(width, height, board, blank, "step", "idastar", "pdb", limits, kernels.Control(), table)


@pytest.mark.parametrize(
    ("width", "height", "blank", "sizes"),
    [(3, 3, blank, sizes) for blank in (0, 1, 4) for sizes in ((8,), (4, 4), (3, 3, 2))]
    + [(2, 4, blank, sizes) for blank in (0, 2) for sizes in ((7,), (4, 3), (3, 2, 2))],
)
def test_bounds_of_all_small_boards_are_admissible_and_consistent(
    width: int, height: int, blank: int, sizes: tuple[int, ...]
) -> None:
    tiles = [cell for cell in range(width * height) if cell != blank]
    random.Random(blank).shuffle(tiles)
    patterns = [sorted(tiles[sum(sizes[:i]) : sum(sizes[: i + 1])]) for i in range(len(sizes))]
    depths = distances(width, height, blank, "step")
    bounds, compressed = (
        {board: run(table, width, height, board, blank, NO_NODES).lower for board in depths}
        for table in (made(width, height, blank, patterns), made(width, height, blank, patterns, compressed=True))
    )
    assert all(compressed[board] <= bounds[board] <= depth for board, depth in depths.items())
    if len(sizes) == 1:
        assert bounds == depths == compressed
    else:
        assert sum(compressed.values()) < sum(bounds.values())
    for board in random.Random(blank).sample(sorted(depths), len(depths) // 9):
        assert all(abs(bounds[board] - bounds[other]) == 1 for other, _ in neighbours(board, width, blank, "step"))


@pytest.mark.parametrize(
    ("width", "height", "sizes"), [(2, 4, "7"), (4, 2, "7"), (2, 3, "5"), (2, 2, "3"), (3, 3, "8")]
)
def test_lengths_agree_with_plain_search_wherever_the_blank_belongs(width: int, height: int, sizes: str) -> None:
    rng = random.Random(f"{width}x{height}")
    for blank in range(width * height):
        row, column = divmod(blank, width)
        quarter = min(row, height - 1 - row) * width + min(column, width - 1 - column)
        table = made(width, height, quarter, Table(width, height, quarter, sizes).patterns)
        depths = distances(width, height, blank, "step")
        for board in rng.sample(sorted(depths), min(len(depths), 50)):
            result = run(table, width, height, board, blank, NO_LIMIT)
            assert (result.outcome, result.length) == ("optimal", depths[board])
            assert len(result.profile) == 1  # the bound of a table of all tiles is the length


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (4, 4)])
def test_lengths_agree_with_walking_distance_for_odd_goals(shape: tuple[int, int]) -> None:
    width, height = shape
    rng = random.Random(f"{shape}")
    for blank in range(width * height):
        goal = list(range(1, width * height))
        rng.shuffle(goal)
        goal.insert(blank, 0)
        board, place = goal.copy(), blank
        for _ in range(60):
            row, column = divmod(place, width)
            near = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
            r, c = rng.choice([(r, c) for r, c in near if 0 <= r < height and 0 <= c < width])
            board[place], board[r * width + c] = board[r * width + c], board[place]
            place = r * width + c
        rows = [[cells[i : i + width] for i in range(0, len(cells), width)] for cells in (board, goal)]
        puzzle = unjam.parse("tiles", rows[0], goal=rows[1])
        answer = unjam.solve(puzzle, "step", heuristic="pdb")
        unjam.verify(puzzle, answer)
        assert answer.heuristic == "pdb"
        assert answer.length == unjam.solve(puzzle, "step", heuristic="walking-distance").length


def test_korf_boards_take_their_known_steps_by_the_default_table(shared_data: Path) -> None:
    generated = 0
    with (shared_data / "korf100.csv").open() as file:
        for row in csv.DictReader(file):
            for layout, goal in (("tiles_blank_first", "blank-first"), ("tiles_blank_last", "blank-last")):
                numbers = list(map(int, row[layout].split()))
                board = [numbers[i : i + 4] for i in range(0, 16, 4)]
                answer = unjam.solve(unjam.parse("tiles", board, goal=goal), "step")
                assert (answer.length, answer.heuristic) == (int(row["step"]), "pdb")
                generated += answer.generated
    assert generated / 200 < 400_000


def test_astar_takes_a_table_too() -> None:
    puzzle = unjam.parse("tiles", "8 6 7/2 5 4/3 0 1")
    answer = unjam.solve(puzzle, algorithm="astar", heuristic="pdb")
    assert (answer.length, answer.heuristic, answer.algorithm) == (31, "pdb", "astar")


@pytest.mark.parametrize("algorithm", ["astar", "idastar"])
def test_compressed_tables_give_shortest_lengths_though_their_bounds_are_inconsistent(algorithm: str) -> None:
    table = made(3, 3, 1, [[0, 2, 3], [4, 5, 6, 7, 8]], compressed=True)
    depths = distances(3, 3, 1, "step")
    boards = random.Random(1).sample(sorted(depths), 2000)

    def bound(board: Board) -> int:
        return run(table, 3, 3, board, 1, NO_NODES).lower

    assert any(abs(bound(board) - bound(other)) > 1 for board in boards for other, _ in neighbours(board, 3, 1, "step"))
    for board in boards:
        result = kernels.tiles(3, 3, board, 1, "step", algorithm, "pdb", NO_LIMIT, kernels.Control(), table)
        assert (result.outcome, result.length) == ("optimal", depths[board])


def test_every_board_up_to_25_cells_has_disjoint_patterns_of_all_tiles() -> None:
    for width in range(2, 7):
        for height in range(2, 7):
            known = (min(width, height), max(width, height)) in PARTITIONS
            assert known == (width * height <= 25)
    for corner in all_tables():
        for blank in range(corner.width * corner.height):
            row, column = divmod(blank, corner.width)
            if 2 * row < corner.height and 2 * column < corner.width:
                table = Table(corner.width, corner.height, blank, corner.partition)
                tiles = sorted(tile for pattern in table.patterns for tile in pattern)
                assert tiles == [cell for cell in range(table.width * table.height) if cell != blank]
                assert "-".join(str(len(pattern)) for pattern in table.patterns) == table.partition.removesuffix(
                    "-compressed"
                )
                assert named(table.name) == table


@pytest.mark.parametrize(
    "name",
    [
        *("", "4x4", "4x4-5-5-5", "4x4-6-6-3-blank-0", "4x4-6-6-3-blank-15", "7x7-8", "0x0-3"),
        "4x4-6-6-3-blank-" + "1" * 5000,
    ],
)
def test_names_of_no_table_are_refused(name: str) -> None:
    with pytest.raises(TableError, match="no table"):
        named(name)


def test_small_tables_pass_their_spot_checks() -> None:
    for table in SMALL:
        tables.build(table, kernels.Control())
        tables.spot_check(table, tables.open_table(table), kernels.Control(), boards=50)


class TestFiles:
    table = named("3x4-6-5")
    puzzle = unjam.parse("tiles", "2 1 3/4 5 6/7 8 9/11 10 0")

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("UNJAM_TABLES", str(tmp_path / "tables"))
        return tmp_path / "tables"

    def test_a_missing_table_is_named_with_the_command_that_builds_it(self) -> None:
        puzzle = unjam.parse("tiles", [[r * 5 + c for c in range(5)] for r in range(5)], goal="blank-first")
        with pytest.raises(TableError, match="unjam tables build 5x5-6-6-6-6"):
            unjam.solve(puzzle, "step", heuristic="pdb")

    def test_a_short_search_does_not_wait_for_the_check_of_a_large_table(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tables.build(self.table, kernels.Control())
        monkeypatch.setattr(tables, "CHECKED", sum(self.table.entries))  # a second
        assert unjam.solve(self.puzzle, "step", unjam.Budget(seconds=1)).heuristic == "walking-distance"
        assert unjam.solve(self.puzzle, "step", unjam.Budget(seconds=4)).heuristic == "pdb"
        assert unjam.solve(self.puzzle, "step", unjam.Budget(seconds=1)).heuristic == "pdb", "it is open now"

    @pytest.mark.parametrize("damage", ["cut", "longer", "empty", "text", "other", "format"])
    def test_spoilt_files_are_refused_and_built_again_on_request(self, damage: str) -> None:
        tables.build(self.table, kernels.Control())
        path = tables.path_of(self.table)
        whole = path.read_bytes()
        other = named("4x3-6-5")
        tables.build(other, kernels.Control())
        spoilt = {
            "cut": whole[:-1],
            "longer": whole + b"\0",
            "empty": b"",
            "text": b"x" * len(whole),
            "other": tables.path_of(other).read_bytes(),
            "format": whole.replace(b'"format": 1', b'"format": 2', 1),
        }[damage]
        path.write_bytes(spoilt)
        with pytest.raises(TableError, match="unjam tables build --again 3x4-6-5"):
            tables.open_table(self.table)
        tables.build(self.table, kernels.Control())
        assert path.read_bytes() == spoilt
        tables.build(self.table, kernels.Control(), again=True)
        assert path.read_bytes() == whole
        tables.open_table(self.table)

    def test_a_bit_that_flips_anywhere_is_noticed(self) -> None:
        tables.build(self.table, kernels.Control())
        path = tables.path_of(self.table)
        whole = path.read_bytes()
        places = [0, 30, table_files.HEADER - 1, table_files.HEADER, len(whole) // 2, len(whole) - 1]
        for place in places + random.Random(0).sample(range(len(whole)), 30):
            spoilt = bytearray(whole)
            spoilt[place] ^= 1 << place % 8
            path.write_bytes(spoilt)
            with pytest.raises(TableError, match="unjam tables build --again 3x4-6-5"):
                tables.open_table(self.table)
        path.write_bytes(whole)
        tables.open_table(self.table)

    def test_a_spoilt_table_is_an_error_where_it_is_forced_and_else_a_warning(self) -> None:
        board = unjam.parse("tiles", "1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15")
        table = tables_for(board)[0]
        table_files.folder().mkdir()
        tables.path_of(table).write_bytes(b"spoilt")
        with pytest.raises(TableError, match="no pattern database"):
            unjam.solve(board, heuristic="pdb")
        with pytest.warns(RuntimeWarning, match="no pattern database"):
            answer = unjam.solve(board)
        assert (answer.length, answer.heuristic) == (2, "walking-distance")

    def test_a_folder_that_cannot_be_written_does_not_keep_boards_from_being_solved(self, folder: Path) -> None:
        folder.write_text("a file where the folder should be")
        with pytest.warns(RuntimeWarning, match="cannot be made"):
            answer = unjam.solve(unjam.parse("tiles", "1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15"))
        assert (answer.length, answer.heuristic) == (2, "walking-distance")

    def test_a_short_budget_builds_nothing(self) -> None:
        board = unjam.parse("tiles", "1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15")
        assert unjam.solve(board, budget=unjam.Budget(seconds=1)).heuristic == "walking-distance"
        assert tables.stored() == []

    def test_the_best_table_that_is_there_is_used(self) -> None:
        for name in ("3x4-6-5", "3x4-8-3"):
            tables.build(named(name), kernels.Control())
            assert unjam.solve(self.puzzle).heuristic == "pdb"
        generated = []
        for heuristic in ("pdb", "walking-distance"):
            answer = unjam.solve(self.puzzle, heuristic=heuristic)
            unjam.verify(self.puzzle, answer)
            generated.append(answer.generated)
        assert generated[0] < generated[1]
        tables.remove(named("3x4-8-3"))
        assert generated[0] < unjam.solve(self.puzzle).generated < generated[1]
        assert [table.name for table in tables.stored()] == ["3x4-6-5"]

    def test_processes_that_need_a_table_at_once_build_it_once(self, folder: Path) -> None:
        context = multiprocessing.get_context("spawn")
        with context.Pool(3) as pool:
            versions = pool.map(_build_and_solve, [str(folder)] * 3)
        assert len(set(versions)) == 1
        assert [path.name for path in folder.iterdir()] == ["4x4-6-6-3.pdb"]

    def test_what_a_builder_left_that_died_is_written_over(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "3x4-6-5.part").write_bytes(b"half")
        tables.build(self.table, kernels.Control())
        assert [path.name for path in folder.iterdir()] == ["3x4-6-5.pdb"]

    def test_a_builder_that_is_killed_keeps_nobody_from_building(self, folder: Path) -> None:
        command = [sys.executable, "-m", "cli", "tables", "build", "4x4-7-8"]
        builder = subprocess.Popen(command, env=os.environ | {"UNJAM_TABLES": str(folder)})
        while not (folder / "4x4-7-8.part").exists():
            assert builder.poll() is None
            time.sleep(0.01)
        control = kernels.Control()
        with pytest.raises(table_files.Stopped):
            tables.build(named("4x4-7-8"), control, seconds=0.5)
        assert control.expanded == 0  # it waited for the other
        builder.kill()
        builder.wait()
        with pytest.raises(table_files.Stopped):
            tables.build(named("4x4-7-8"), control, seconds=0.5)
        assert control.expanded > 0
        assert list(folder.iterdir()) == []

    def test_a_full_disk_is_named(self, folder: Path) -> None:
        small = "ulimit -f 1000; trap '' XFSZ; exec \"$@\""
        command = ["sh", "-c", small, "sh", sys.executable, "-m", "cli", "tables", "build", "3x4-6-5"]
        environment = os.environ | {"UNJAM_TABLES": str(folder), "COLUMNS": "500"}
        built = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert built.returncode == 2
        assert f"{folder / '3x4-6-5.pdb'} cannot be made: File too large" in built.stderr
        assert list(folder.iterdir()) == []

    def test_a_build_that_is_cancelled_or_out_of_time_leaves_nothing(self, folder: Path) -> None:
        control = kernels.Control()
        control.cancel()
        with pytest.raises(table_files.Stopped):
            tables.build(named("4x4-7-8"), control)
        with pytest.raises(table_files.Stopped):
            tables.build(named("4x4-7-8"), kernels.Control(), seconds=0.3)
        assert list(folder.iterdir()) == []

    def test_a_folder_that_cannot_be_written_is_no_matter_when_nothing_is_to_be_made(self, folder: Path) -> None:
        tables.build(self.table, kernels.Control())
        (folder / "3x4-6-5.lock").mkdir()  # nobody can write it, not even root
        tables.build(self.table, kernels.Control())
        with pytest.raises(TableError, match="cannot be made: Is a directory"):
            tables.build(self.table, kernels.Control(), again=True)

    def test_a_mapped_table_outlives_its_file(self, folder: Path) -> None:
        tables.build(self.table, kernels.Control())
        entries = tables.open_table(self.table)
        shutil.rmtree(folder)
        tables.spot_check(self.table, entries, kernels.Control())


def test_what_has_no_table_is_refused() -> None:
    six = unjam.parse("tiles", [[r * 6 + c for c in range(6)] for r in range(6)], goal="blank-first")
    with pytest.raises(SearchError, match="6x6"):
        unjam.solve(six, "step", heuristic="pdb")
    with pytest.raises(SearchError, match="slides"):
        unjam.solve(unjam.parse("tiles", "8 6 7/2 5 4/3 0 1"), "slide", heuristic="pdb")


@pytest.mark.parametrize(
    ("width", "height", "blank", "patterns"),
    [
        (3, 3, 0, [[1, 2, 3]]),
        (3, 3, 0, [[1, 2, 3, 4], [4, 5, 6, 7, 8]]),
        (3, 3, 0, [[2, 1, 3, 4, 5, 6, 7, 8]]),
        (3, 3, 8, [[0, 1, 2, 3, 4, 5, 6, 7]]),
        (3, 3, 0, [[1, 2, 3, 4, 5, 6, 7, 9]]),
        (6, 6, 0, [[1, 2, 3]]),
        (3, 3, 0, []),
    ],
)
def test_the_kernel_refuses_patterns_that_are_none(
    width: int, height: int, blank: int, patterns: list[list[int]]
) -> None:
    with pytest.raises(ValueError, match="patterns: "):
        kernels.PatternTable(width, height, blank, patterns, False, memoryview(bytes(9 * 40_320)))


def test_the_kernel_refuses_the_table_of_another_goal() -> None:
    table = made(3, 3, 0, [[1, 2, 3, 4, 5, 6, 7, 8]])
    board = from_numbers("1 2 3 4 0 5 6 7 8", 4)
    for given in (table, None):
        with pytest.raises(ValueError, match="table of this size and goal"):
            kernels.tiles(3, 3, board, 4, "step", "idastar", "pdb", NO_LIMIT, kernels.Control(), given)


def _build_and_solve(folder: str) -> tuple[int, int]:
    """The version of the file after a solve, in a new process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNJAM_TABLES", folder)
        answer = unjam.solve(unjam.parse("tiles", "5 12 9 13/15 11 10 14/3 7 2 4/0 8 1 6"), "step")
        assert (answer.heuristic, answer.length) == ("pdb", 67)
        status = tables.path_of(named("4x4-6-6-3")).stat()
        return status.st_ino, status.st_mtime_ns
