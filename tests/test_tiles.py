"""Tiles: formats, parity against exhaustive search, moves, symmetry and refusals."""

import itertools
import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unjam.errors import IllegalMove, MetricError, ParseError
from unjam.puzzles.grid import Move, Symmetry, symmetries
from unjam.puzzles.puzzle import Metric
from unjam.puzzles.tiles import Tiles

Cells = tuple[int, ...]
SHAPES = st.sampled_from([(2, 2), (2, 3), (3, 2), (3, 3), (4, 2), (4, 4), (3, 5), (6, 6)])


def depths(goal: Tiles, metric: Metric) -> dict[Cells, int]:
    """The distance of every board that can reach the goal: moves can be undone, so the search starts there."""
    depth = {goal.goal: 0}
    queue = [goal.goal]
    for state in queue:
        for _, after in goal.moves(state, metric):
            if after not in depth:
                depth[after] = depth[state] + 1
                queue.append(after)
    return depth


def histogram(depth: dict[Cells, int]) -> list[int]:
    counts = [0] * (max(depth.values()) + 1)
    for value in depth.values():
        counts[value] += 1
    return counts


def image(cells: Cells, symmetry: Symmetry, names: Cells) -> Cells:
    moved = [0] * len(cells)
    for cell, tile in enumerate(cells):
        moved[symmetry.cells[cell]] = names[tile]
    return tuple(moved)


@st.composite
def puzzles(draw: st.DrawFn) -> Tiles:
    width, height = draw(SHAPES)
    numbers = range(width * height)
    board, goal = draw(st.permutations(numbers)), draw(st.permutations(numbers))
    return Tiles(width, height, tuple(board), tuple(goal))


@pytest.mark.parametrize(
    "board",
    [
        "1 2 3 4 0 6 7 5 8",
        "1,2,3,4,_,6,7,5,8",
        "1 2 3/4 . 6/7 5 8",
        "1 2 3 / 4 . 6 / 7 5 8",
        "1, 2, 3\n4, null, 6\n7, 5, 8\n",
        "\n 1  2 3 \r\n\t4 _ 6\r\n 7 5 8\r\n",
        "[1, 2, 3, 4, 0, 6, 7, 5, 8]",
        "[[1, 2, 3], [4, null, 6], [7, 5, 8]]",
        '["1 2 3", "4 _ 6", "7 5 8"]',
        [1, 2, 3, 4, None, 6, 7, 5, 8],
        ((1, 2, 3), (4, 0, 6), (7, 5, 8)),
        [["1", "2", "3"], ["4", "_", "6"], ["7", "5", "8"]],
        ["1", "2", "3", "4", ".", "6", "7", "5", "8"],
        ["1 2 3", "4 0 6", "7 5 8"],
    ],
)
def test_formats(board: object) -> None:
    puzzle = Tiles.parse(board)
    assert puzzle.fields() == {"board": "1 2 3/4 0 6/7 5 8", "goal": "blank-last"}
    assert Tiles.parse(board, goal=board).is_goal(puzzle.start())
    assert puzzle.format() == "1 2 3\n4 _ 6\n7 5 8"


def test_goals() -> None:
    assert Tiles.parse("1 2 3/4 5 0").goal == (1, 2, 3, 4, 5, 0)
    assert Tiles.parse("1 2 3/4 5 0", goal="blank-first").goal == (0, 1, 2, 3, 4, 5)
    assert Tiles.parse("1 2 3/4 5 0", goal="5 4 3/2 1 0").fields()["goal"] == "5 4 3/2 1 0"
    assert Tiles.parse("1 2 3/4 5 0", goal=[[0, 1, 2], [3, 4, 5]]).fields()["goal"] == "blank-first"


@pytest.mark.parametrize(
    ("board", "row", "column", "words"),
    [
        ("", None, None, "empty"),
        ([], None, None, "empty"),
        ("[]", None, None, "empty"),
        ("1 2 3", None, None, "3 numbers are no square board; separate the rows"),
        ("1 2 3/4 0", 2, None, "the row has 2 numbers, the first row has 3"),
        ("1 2 3//4 5 0", 2, None, "the row has 0 numbers"),
        ("1 2 3/4 5 5", 2, 3, r"tile 5 is there already \(row 2, column 2\)"),
        ("1 2 0/4 5 _", 2, 3, r"the blank is there already \(row 1, column 3\)"),
        ("1 2 3/4 6 0", 2, 2, "'6' is not a number from 0 to 5"),
        ("1 2 3/4 five 0", 2, 2, "'five' is not"),
        ("1 2 3/4 -5 0", 2, 2, "'-5' is not"),
        ("1 2 3/4 \uff15 0", 2, 2, r"'\\uff15' is not"),
        ("1 2 3/4 5\x00 0", 2, 2, r"'5\\x00' is not"),
        ("1 2 3/4 " + "5" * 300 + " 0", 2, 2, r"'5{20}\.\.\.' is not"),
        ([[1, 2, 3], [4, 10**6000, 0]], 2, 2, "this number is not"),
        ([[1, 2, 3], [4, True, 0]], 2, 2, "True is not"),
        ([[1, 2, 3], [4, 5.0, 0]], 2, 2, "5.0 is not"),
        ([[1, 2, 3], [4, [5], 0]], 2, 2, "a list is not"),
        ([[1, 2, 3], 4, 5, 0], 2, None, "4 is not a list like the other rows"),
        ("[1, 2, 3", None, None, "not a JSON array"),
        ("[" * 1999, None, None, "not a JSON array"),
        ("0", None, None, "from 2x2 to 6x6"),
        ("0 1/", 2, None, "0 numbers"),
        ([[0], [1]], None, None, "from 2x2 to 6x6"),
        (" ".join(map(str, range(49))), None, None, "49 numbers; a board is from 2x2 to 6x6"),
        ("/".join(["1 2 3"] * 7), None, None, "3x7; a board is from 2x2 to 6x6"),
        (None, None, None, "not NoneType"),
        ({}, None, None, "not dict"),
    ],
)
def test_refusals(board: object, row: int | None, column: int | None, words: str) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        Tiles.parse(board)
    assert (caught.value.row, caught.value.column, caught.value.field) == (row, column, "board")


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ("blank-middle", "goal: 'blank-middle' is not a goal; use blank-last, blank-first or a board"),
        ("1 2/3 0", "goal: the goal is 2x2, the board is 3x2"),
        ("1 2/3 0/4 5", "goal: the goal is 2x3, the board is 3x2"),
        ("1 2 3/4 4 0", "goal, row 2, column 2: tile 4 is there already"),
        (7, "goal: expected text or a list, not int"),
    ],
)
def test_wrong_goals(goal: object, words: str) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        Tiles.parse("1 2 3/4 5 0", goal=goal)
    assert caught.value.field == "goal"


def test_unknown_field() -> None:
    with pytest.raises(ParseError, match="gaol: tiles has no such field; it has board, goal"):
        Tiles.parse("1 2/3 0", gaol="blank-first")


@pytest.mark.parametrize(
    "board",
    ["1 " * 5_000_000, "[" * 10_000_000, [0] * 10_000_000, [[0] * 10_000_000] * 6, ["1 2 3" * 2_000_000] * 6],
)
def test_huge_boards_are_refused_at_once(board: object) -> None:
    started = time.perf_counter()
    with pytest.raises(ParseError):
        Tiles.parse(board)
    assert time.perf_counter() - started < 1


@given(
    st.text()
    | st.text(alphabet="0123456789 ,/\n[]_.")
    | st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=40)
)
def test_anything_is_read_or_refused(board: object) -> None:
    for values in ({"board": board}, {"board": "1 2/3 0", "goal": board}):
        try:
            puzzle = Tiles.parse(**values)
        except ParseError:
            continue
        assert Tiles.parse(**puzzle.fields()) == puzzle


@given(puzzles())
def test_fields_format_and_canonical_are_read_back(puzzle: Tiles) -> None:
    assert Tiles.parse(**puzzle.fields()) == puzzle
    assert Tiles.parse(puzzle.format(), goal=puzzle.format(puzzle.goal)) == puzzle
    canonical = Tiles.parse(**json.loads(puzzle.canonical))
    assert (canonical.canonical, canonical.key) == (puzzle.canonical, puzzle.key)
    assert len(puzzle.key) == 16


@given(puzzles(), st.integers(0, 7), st.randoms(use_true_random=False))
def test_images_have_one_key_and_parity(puzzle: Tiles, number: int, chance: random.Random) -> None:
    symmetry = symmetries(puzzle.width, puzzle.height)[number]
    names = [0, *chance.sample(range(1, len(puzzle.board)), len(puzzle.board) - 1)]
    board, goal = (image(cells, symmetry, tuple(names)) for cells in (puzzle.board, puzzle.goal))
    other = Tiles(symmetry.width, symmetry.height, board, goal)
    assert other.key == puzzle.key
    assert (other.unsolvable_reason() is None) == (puzzle.unsolvable_reason() is None)


@given(puzzles(), st.sampled_from(["step", "slide"]), st.randoms(use_true_random=False))
def test_moves_lead_to_the_canonical_form_and_back(puzzle: Tiles, metric: Metric, chance: random.Random) -> None:
    canonical = Tiles.parse(**json.loads(puzzle.canonical))
    there = puzzle.to_canonical
    back = there.inverse(puzzle.width, puzzle.height)
    state, image_state, moves = puzzle.start(), canonical.start(), []
    for _ in range(8):
        move, state = chance.choice(list(puzzle.moves(state, metric)))
        image_state = canonical.apply(image_state, there.move(move), metric)
        assert back.move(there.move(move)) == move
        moves.append(move)
    assert puzzle.read_notation(puzzle.notation(moves, metric), metric) == moves
    assert Tiles(puzzle.width, puzzle.height, state, puzzle.goal).canonical == (
        Tiles(canonical.width, canonical.height, image_state, canonical.goal).canonical
    )


def test_keys_differ_where_no_symmetry_leads() -> None:
    """Two 2x2 boards have one key exactly if the transposition, which swaps 2 and 3 in the goal, leads to the other."""
    transposed = symmetries(2, 2)[4]
    assert transposed.cells == (0, 2, 1, 3)
    boards = list(itertools.permutations(range(4)))
    keys = {board: Tiles(2, 2, board, (1, 2, 3, 0)).key for board in boards}
    for one, other in itertools.combinations(boards, 2):
        assert (keys[one] == keys[other]) == (image(one, transposed, (0, 1, 3, 2)) == other)
    assert len({Tiles(3, 2, board, (1, 2, 3, 4, 5, 0)).key for board in itertools.permutations(range(6))}) == 720


def test_parity_agrees_with_exhaustive_search_over_the_8_puzzle() -> None:
    goal = Tiles.parse("1 2 3/4 5 6/7 8 0")
    solvable = depths(goal, "step")
    assert len(solvable) == 181_440
    assert max(solvable.values()) == 31
    by_parity = [
        board for board in itertools.permutations(range(9)) if Tiles(3, 3, board, goal.goal).unsolvable_reason() is None
    ]
    assert len(by_parity) == 181_440
    assert solvable.keys() == set(by_parity)


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (2, 3), (4, 2), (2, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_parity_agrees_with_exhaustive_search(shape: tuple[int, int], seed: int) -> None:
    width, height = shape
    numbers = range(width * height)
    goal = tuple(random.Random(seed).sample(numbers, width * height)) if seed else (*numbers[1:], 0)
    solvable = depths(Tiles(width, height, goal, goal), "slide")
    for board in itertools.permutations(numbers):
        reason = Tiles(width, height, board, goal).unsolvable_reason()
        assert (reason is None) == (board in solvable)
        assert reason is None or "parity" in reason


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_two_tiles_swapped_are_unsolvable(size: int) -> None:
    board = [*range(1, size * size - 2), size * size - 1, size * size - 2, 0]
    reason = "parity: the goal is an odd number of swaps away, but the blank's way home is even"
    assert Tiles.parse(board).unsolvable_reason() == reason


def test_depths_are_the_known_ones(shared_data: Path) -> None:
    checked = 0
    for row in json.loads((shared_data / "known_depths.json").read_text())["distributions"]:
        width, height, blank = row["columns"], row["rows"], row["blank_goal_cell"]
        if row["complete"] and width * height <= 9:
            numbers = list(range(1, width * height))
            goal = (*numbers[:blank], 0, *numbers[blank:])
            assert histogram(depths(Tiles(width, height, goal, goal), row["metric"])) == row["boards_at_depth"]
            checked += 1
    assert checked == 11


def test_moves() -> None:
    puzzle = Tiles.parse("1 2 3/4 5 6/7 8 0")
    assert dict(puzzle.moves(puzzle.start(), "step")) == {
        Move(7, 8): (1, 2, 3, 4, 5, 6, 7, 0, 8),
        Move(5, 8): (1, 2, 3, 4, 5, 0, 7, 8, 6),
    }
    slides = dict(puzzle.moves(puzzle.start(), "slide"))
    assert len(slides) == 4
    assert slides[Move(6, 8)] == (1, 2, 3, 4, 5, 6, 0, 7, 8)
    assert slides[Move(2, 8)] == (1, 2, 0, 4, 5, 3, 7, 8, 6)
    assert puzzle.is_goal(puzzle.start())
    assert puzzle.pieces == 8
    with pytest.raises(MetricError, match="tiles has no metric 'path'; it has step, slide"):
        puzzle.check_metric("path")


@pytest.mark.parametrize(
    ("moves", "metric", "words"),
    [
        (["8", "7", "1"], "step", "move 3: tile 1 cannot move towards the blank in one step"),
        (["7"], "step", "move 1: tile 7 cannot"),
        (["5"], "slide", "move 1: tile 5 cannot move towards the blank in one slide"),
        (["0"], "step", "move 1: '0' is not a tile from 1 to 8"),
        (["8", "9"], "step", "move 2: '9' is not a tile"),
        (["8", "R" * 10_000], "step", "move 2: 'R{20}' is not a tile"),
    ],
)
def test_moves_that_cannot_be(moves: list[str], metric: Metric, words: str) -> None:
    with pytest.raises(IllegalMove, match=words):
        Tiles.parse("1 2 3/4 5 6/7 8 0").read_notation(moves, metric)


def test_notation_refuses_illegal_moves() -> None:
    for move in (Move(0, 8), Move(8, 7), Move(-1, 8), Move(99, 8)):
        with pytest.raises(IllegalMove):
            Tiles.parse("1 2 3/4 5 6/7 8 0").notation([move], "slide")
