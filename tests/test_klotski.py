"""Klotski: boards and goals are read or refused with their place, the rules hold, and equal puzzles have equal keys."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unjam.errors import IllegalMove, MetricError, ParseError
from unjam.puzzles.grid import Move, symmetries
from unjam.puzzles.klotski import Klotski
from unjam.search.reference import reachable, search
from unjam.search.solution import Outcome
from unjam.search.solve import solve

CLASSIC = {"board": "BAAC/BAAC/DFFE/DGHE/I..J", "goal": "..../..../..../.AA./.AA."}
METRICS = st.sampled_from(Klotski.metrics)


def moves_of(puzzle: Klotski, metric: Any) -> set[str]:
    return {puzzle.notation([move], metric)[0] for move, _ in puzzle.moves(puzzle.start(), metric)}


@pytest.mark.parametrize("form", [str, lambda text: text.replace("/", "\n"), lambda text: text.split("/")])
def test_formats(form: Any) -> None:
    puzzle = Klotski.parse(**{name: form(text) for name, text in CLASSIC.items()})
    assert (puzzle.width, puzzle.height, puzzle.pieces) == (4, 5, 10)
    assert puzzle.names == tuple("BACDFEGHIJ")
    assert puzzle.format() == CLASSIC["board"].replace("/", "\n")
    assert puzzle.fields() == CLASSIC
    assert Klotski.parse(**puzzle.fields()) == puzzle


@pytest.mark.parametrize(
    ("fields", "field", "row", "column", "words"),
    [
        ({"board": "AB"}, "goal", None, None, "needs a goal"),
        ({"board": "AB/.", "goal": "AB/.."}, "board", 2, None, "the row has 1 cells"),
        ({"board": "AB/..", "goal": "AB."}, "goal", None, None, "the goal is 3x1, the board 2x2"),
        ({"board": "AB/..", "goal": "../.."}, "goal", None, None, "shows no piece"),
        ({"board": "AB/..", "goal": "../.C"}, "goal", 2, 2, "no piece 'C'"),
        ({"board": "AB/A.", "goal": "../AA"}, "goal", 2, 1, "'A' has another shape"),
        ({"board": "AB/A.", "goal": "../AA", "goal_mode": "class"}, "goal", 2, 1, "no piece has the shape"),
        ({"board": "AB/A.", "goal": "../XY", "goal_mode": "class"}, "goal", 2, 2, "more pieces of the shape of 'Y'"),
        ({"board": "AB/.#", "goal": "../.A"}, "goal", 2, 2, "on a wall"),
        ({"board": "AB/..", "goal": "../A.", "goal_mode": "letter"}, "goal_mode", None, None, "'piece' or 'class'"),
        ({"board": "AB/..", "goal": "../A.", "gaol": "x"}, "gaol", None, None, "no such field"),
        ({"board": "A\0/..", "goal": "../A."}, "board", 1, 2, r"'\\x00' cannot"),
        ({"board": "A." * 65, "goal": "A."}, "board", 1, None, "at most 128 cells"),
        ({"board": 7, "goal": "A."}, "board", None, None, "not int"),
    ],
)
def test_refusals(fields: dict[str, Any], field: str, row: int | None, column: int | None, words: str) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        Klotski.parse(**fields)
    assert (caught.value.field, caught.value.row, caught.value.column) == (field, row, column)


def test_a_long_board_and_128_pieces() -> None:
    letters = [chr(0x4E00 + number) for number in range(127)]
    board = "".join(letters) + "."
    puzzle = Klotski.parse(board, goal="." * 127 + letters[0])
    assert puzzle.pieces == 127
    assert Klotski.parse(**json.loads(puzzle.canonical)).key == puzzle.key
    assert moves_of(puzzle, "path") == {f"{letters[-1]}:R1"}


def test_metrics() -> None:
    # A can go right, then down, then left; the wall keeps it from going straight down.
    puzzle = Klotski.parse("A../#../...", goal=".../.../A..")
    assert moves_of(puzzle, "step") == {"A:R1"}
    assert moves_of(puzzle, "slide") == {"A:R1", "A:R2"}
    assert moves_of(puzzle, "path") == {"A:R1", "A:R2", "A:R1D1", "A:R2D1", "A:R1D2", "A:R1D2L1", "A:R2D2"}
    assert [search(puzzle, metric).length for metric in puzzle.metrics] == [1, 3, 4]
    assert puzzle.check_metric(None) == "path"
    with pytest.raises(MetricError):
        puzzle.check_metric("moves")


def test_pieces_in_parts_move_as_one_and_may_interlock() -> None:
    puzzle = Klotski.parse("A.A./.B..", goal=".A.A/....")
    assert moves_of(puzzle, "step") == {"A:R1", "A:D1", "B:U1", "B:L1", "B:R1"}
    above = puzzle.apply(puzzle.start(), Move(5, 1), "step")
    assert puzzle.format(above) == "ABA.\n...."
    assert {move for move, _ in puzzle.moves(above, "slide")} == {Move(0, 4), Move(1, 5)}


def test_a_shape_is_not_wrapped_around_the_edge() -> None:
    puzzle = Klotski.parse("..A/B../...", goal=".../..A/...")
    assert moves_of(puzzle, "slide") == {"A:L1", "A:L2", "A:D1", "A:D2", "B:R1", "B:R2", "B:U1", "B:D1"}
    with pytest.raises(ParseError, match="another shape"):
        Klotski.parse("AA./...", goal="..A/A..")


def test_gates_let_goal_pieces_pass_only() -> None:
    board, goal = "AB/--/..", "../../A."
    assert moves_of(Klotski.parse(board, goal=goal), "slide") == {"A:D1", "A:D2"}
    # B has the shape of the goal, and in class mode that is enough.
    by_class = Klotski.parse(board, goal=goal, goal_mode="class")
    assert moves_of(by_class, "slide") == {"A:D1", "A:D2", "B:D1", "B:D2"}
    assert by_class.format(by_class.apply(by_class.start(), Move(0, 4), "slide")) == ".B\n--\nA."


def test_gates_under_pieces() -> None:
    fields = {"board": "B./A-/..", "goal": "../../A.", "gates": "../-./.."}
    puzzle = Klotski.parse(**fields)
    assert puzzle.gates == (2, 3)
    assert moves_of(puzzle, "slide") == {"A:R1", "A:D1", "B:R1"}
    after = puzzle.apply(puzzle.start(), Move(2, 4), "slide")
    assert puzzle.format(after) == "B.\n--\nA."
    assert {move for move, _ in puzzle.moves(after, "slide")} == {Move(0, 1), Move(4, 5), Move(4, 2)}
    assert Klotski.parse(**puzzle.fields()) == puzzle
    assert puzzle.fields() == fields
    # Free gates may be in the grid, too; the key tells hidden gates from none, in any orientation.
    assert Klotski.parse(**fields | {"gates": "../--/##"}) == puzzle
    assert Klotski.parse(**json.loads(puzzle.canonical)).key == puzzle.key
    mirrored = Klotski.parse(".X/-Y/..", goal="../../.Y", gates=[".#", "--", ".."])
    assert mirrored.key == puzzle.key != Klotski.parse("B./A-/..", goal="../../A.").key
    for metric in puzzle.metrics:
        assert solve(puzzle, metric).length == search(puzzle, metric).length == 1


@pytest.mark.parametrize(
    ("gates", "row", "column", "message"),
    [
        ("-./../..", 1, 1, "only goal pieces"),
        ("../-./-.", 3, 1, "no piece hides a gate here"),
        ("../-.", None, None, "the gates are 2x2, the board 2x3"),
        ([1], 1, None, "a row is text"),
    ],
)
def test_gates_that_are_refused(gates: Any, row: int | None, column: int | None, message: str) -> None:
    with pytest.raises(ParseError, match=message) as error:
        Klotski.parse("B./A-/..", goal="../../A.", gates=gates)
    assert (error.value.field, error.value.row, error.value.column) == ("gates", row, column)


def test_interchangeable_pieces() -> None:
    by_piece = Klotski.parse("ABC/...", goal=".../A..")
    assert by_piece.classes == (0, 1, 1)
    assert by_piece.fold((3, 2, 1)) == (3, 1, 2)
    assert search(by_piece, "path").length == 1
    by_class = Klotski.parse("ABC/...", goal=".../X.Y", goal_mode="class")
    assert by_class.classes == (0, 0, 0)
    assert by_class.is_goal((5, 0, 3))
    assert by_class.fields()["goal_mode"] == "class"
    assert Klotski.parse(**by_class.fields()) == by_class


def test_modes_that_mean_the_same_have_one_key() -> None:
    by_class = Klotski.parse(**CLASSIC, goal_mode="class")
    assert by_class.key == Klotski.parse(**CLASSIC).key
    several = {"board": "AB/..", "goal": "../A."}
    assert Klotski.parse(**several, goal_mode="class").key != Klotski.parse(**several).key


def test_walls_of_the_goal_grid_do_not_matter() -> None:
    plain = Klotski.parse("A-#/..B", goal=".../..A")
    assert Klotski.parse("A-#/..B", goal="#-#/--A") == plain


def test_moves_may_be_named_by_any_cell_of_the_piece() -> None:
    wide = Klotski.parse("AA./...", goal=".../AA.")
    assert wide.same_move(wide.start(), Move(0, 3), Move(1, 4))
    assert not wide.same_move(wide.start(), Move(0, 3), Move(2, 5))
    assert wide.apply(wide.start(), Move(1, 4), "slide") == (3,)
    for move in (Move(1, 3), Move(2, 1), Move(0, 99), Move(-5, 0), Move(0, -1), Move(0, 0)):
        with pytest.raises(IllegalMove):
            wide.apply(wide.start(), move, "path")


@pytest.mark.parametrize(
    ("moves", "metric", "words"),
    [
        (["J:L1", "J:L1", "J:L1"], "step", "move 3"),
        (["J:L2"], "step", "move 1"),
        (["F:D1"], "slide", "move 1"),
        (["G:D1R1"], "slide", "move 1: 'G:D1R1' turns"),
        (["I:R1U1"], "path", "move 1"),
        (["I:R1L1"], "path", "move 1"),
        (["I:L1"], "path", "move 1: 'I:L1' goes over the edge"),
        (["X:L1"], "path", "no piece 'X'"),
        (["I:R*"], "path", "no piece leaves"),
        (["north"], "path", "is not a move"),
    ],
)
def test_illegal_notation(moves: list[str], metric: Any, words: str) -> None:
    with pytest.raises(IllegalMove, match=words):
        Klotski.parse(**CLASSIC).read_notation(moves, metric)


def test_notation_names_the_first_bad_move() -> None:
    with pytest.raises(IllegalMove, match="move 2"):
        Klotski.parse(**CLASSIC).notation([Move(16, 17), Move(16, 17)], "step")


@pytest.mark.parametrize(("metric", "length"), [("step", 116), ("slide", 90), ("path", 81)])
def test_classic(metric: Any, length: int) -> None:
    puzzle = Klotski.parse(**CLASSIC)
    answer = search(puzzle, metric)
    assert answer.length == length
    written = puzzle.notation(answer.moves, metric)
    assert puzzle.read_notation(written, metric) == list(answer.moves)


def test_classic_reaches_25955_boards() -> None:
    assert sum(reachable(Klotski.parse(**CLASSIC), "step")) == 25_955


# Two rows say "class", but their counts are those of the very pieces that the goal names.
REALLY_BY_PIECE = ("tarohs correctorder", "tarohs simplicity")
SMALL = (
    *("HRD 一路顺风", "HRD 围而不歼", "HRD 前呼后拥", "HRD 走投无路", "HRD 四将连关", "Thin Klotski"),
    *("Layton/lumi-a Entanglement", "Layton/lumi-a Cluttered Bag", "tarohs chicago", "tarohs gauntlet2"),
    *("GNOME Only 18 Steps", "GNOME Agatka", "GNOME Cleopatra", "GNOME Pennant Puzzle", "tarohs simplicity"),
)


def test_known_levels(shared_data: Path) -> None:
    solved = 0
    for line in (shared_data / "klotski_known.jsonl").read_text().splitlines():
        row = json.loads(line)
        mode = "piece" if row["name"].startswith(REALLY_BY_PIECE) else row["goal_mode"]
        puzzle = Klotski.parse(row["board"], goal=row["goal"], goal_mode=mode)
        assert puzzle.format().split("\n") == row["board"]
        for metric in puzzle.metrics if row["name"].startswith(SMALL) else ():
            solved += 1
            assert search(puzzle, metric).length == (row["optimal"] or {metric: None})[metric], row["name"]
    assert solved == 3 * (len(SMALL) + 2)


@st.composite
def puzzles(draw: st.DrawFn) -> Klotski:
    """A small board, and as its goal some of its pieces after a random walk."""
    width, height = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    cells = draw(st.lists(st.sampled_from("AABCDé..-#"), min_size=width * height, max_size=width * height))
    if not set(cells) - set(".-#"):
        cells[0] = "A"
    rows = ["".join(cells[at : at + width]) for at in range(0, len(cells), width)]
    names = sorted(set(cells) - set(".-#"))
    wanted = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    mode = draw(st.sampled_from(["piece", "class"]))

    def goal(board: list[str]) -> list[str]:
        return ["".join(cell if cell in wanted else "." for cell in row) for row in board]

    puzzle = Klotski.parse(rows, goal=goal(rows), goal_mode=mode)
    state = puzzle.start()
    for choice in draw(st.lists(st.integers(0, 9), max_size=12)):
        following = [after for _, after in puzzle.moves(state, "step")]
        if following:
            state = following[choice % len(following)]
    return Klotski.parse(rows, goal=goal(puzzle.format(state).split("\n")), goal_mode=mode)


@st.composite
def images(draw: st.DrawFn) -> tuple[Klotski, int, Klotski]:
    """A puzzle, the number of a symmetry, and its image with other letters."""
    puzzle = draw(puzzles())
    number = draw(st.integers(0, 7))
    symmetry = symmetries(puzzle.width, puzzle.height)[number]
    letters = dict(zip(puzzle.names, draw(st.permutations("uvwxyzABC"))[: puzzle.pieces], strict=True))

    def image(board: str) -> list[str]:
        cells = [""] * len(board)
        for cell, letter in enumerate(board):
            cells[symmetry.cells[cell]] = letters.get(letter, letter)
        return ["".join(cells[at : at + symmetry.width]) for at in range(0, len(cells), symmetry.width)]

    fields = {"goal": image(puzzle.goal), "goal_mode": puzzle.goal_mode}
    return puzzle, number, Klotski.parse(image(puzzle.board), **fields)


@given(images(), METRICS)
@settings(max_examples=300, deadline=None)
def test_images_have_one_key_and_one_length(pair: tuple[Klotski, int, Klotski], metric: Any) -> None:
    puzzle, number, image = pair
    assert puzzle.key == image.key
    answer, mirrored = search(puzzle, metric, max_states=3_000), search(image, metric, max_states=3_000)
    assert (answer.outcome, answer.length) == (mirrored.outcome, mirrored.length)
    symmetry = symmetries(puzzle.width, puzzle.height)[number]
    replay(image, [symmetry.move(move) for move in answer.moves], metric)


@given(puzzles(), METRICS)
@settings(max_examples=300, deadline=None)
def test_canonical_form_has_the_same_solutions(puzzle: Klotski, metric: Any) -> None:
    canonical = Klotski.parse(**json.loads(puzzle.canonical))
    assert canonical.canonical == puzzle.canonical
    answer = search(canonical, metric, max_states=3_000)
    back = puzzle.to_canonical.inverse(puzzle.width, puzzle.height)
    moves = [back.move(move) for move in answer.moves]
    if answer.outcome is Outcome.OPTIMAL:
        replay(puzzle, moves, metric)
    else:
        assert search(puzzle, metric, max_states=3_000).outcome is answer.outcome
    assert puzzle.read_notation(puzzle.notation(moves, metric), metric) is not None
    assert Klotski.parse(**puzzle.fields()) == puzzle


def replay(puzzle: Klotski, moves: list[Move], metric: Any) -> None:
    state = puzzle.start()
    for move in moves:
        state = puzzle.apply(state, move, metric)
    assert puzzle.is_goal(state) or not moves


@given(puzzles(), METRICS)
@settings(max_examples=200, deadline=None)
def test_notation_round_trip(puzzle: Klotski, metric: Any) -> None:
    for move, after in puzzle.moves(puzzle.start(), metric):
        written = puzzle.notation([move], metric)
        assert puzzle.read_notation(written, metric) == [move]
        assert puzzle.apply(puzzle.start(), move, metric) == after


@given(st.text(), st.text(), st.sampled_from([None, "piece", "class"]))
@settings(max_examples=500, deadline=None)
def test_any_text_is_read_or_refused(board: str, goal: str, mode: str | None) -> None:
    for fields in ({"goal": goal}, {"goal": board}):
        try:
            puzzle = Klotski.parse(board, goal_mode=mode, **fields)
        except ParseError:
            continue
        assert Klotski.parse(**puzzle.fields()) == puzzle
        assert len(puzzle.key) == 16
