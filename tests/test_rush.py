"""Rush: known counts, moves, exits, symmetry and refusals."""

import csv
import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unjam.errors import IllegalMove, MetricError, ParseError
from unjam.puzzles.grid import Move, symmetries
from unjam.puzzles.puzzle import Metric, State
from unjam.puzzles.rush import NAMES, Rush

HARDEST = "IBBxooIooLDDJAALooJoKEEMFFKooMGGHHHM"
LETTERS = "BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnpqrstuvwyz0123456789é"


def search(puzzle: Rush, metric: Metric) -> tuple[int | None, int]:
    """The length of a shortest solution, and the number of reachable states: plain breadth-first search."""
    depth: dict[State, int] = {puzzle.start(): 0}
    queue = [puzzle.start()]
    length = None
    for state in queue:
        if length is None and puzzle.is_goal(state):
            length = depth[state]
        for _, after in puzzle.moves(state, metric):
            if after not in depth:
                depth[after] = depth[state] + 1
                queue.append(after)
    return length, len(queue)


@st.composite
def puzzles(draw: st.DrawFn, side: int = 6) -> Rush:
    """Any board: random cars where they fit, the primary first, a few walls, any exit."""
    width, height = draw(st.integers(1, side)), draw(st.integers(2, side))
    chance = draw(st.randoms(use_true_random=False))
    cells = ["."] * (width * height)
    for letter in ["A", *chance.sample(LETTERS, chance.randrange(9))]:
        for _ in range(1000 if letter == "A" else 5):
            upright, length = chance.random() < 0.5, chance.choice([2, 2, 3, 4])
            row, column = chance.randrange(height), chance.randrange(width)
            car = [(row + i, column) if upright else (row, column + i) for i in range(length)]
            if all(r < height and c < width and cells[r * width + c] == "." for r, c in car):
                for r, c in car:
                    cells[r * width + c] = letter
                break
    for _ in range(chance.choice([0, 0, 1, 3])):
        cell = chance.randrange(len(cells))
        cells[cell] = "x" if cells[cell] == "." else cells[cell]
    rows = ["".join(cells[at : at + width]) for at in range(0, len(cells), width)]
    standard = Rush.parse(rows)
    exits = ["right", "left"] if standard.exit == "right" else ["bottom", "top"]
    return Rush.parse(rows, exit=chance.choice(exits))


def turned(puzzle: Rush, number: int, chance: random.Random) -> Rush:
    """The image under a symmetry, the exit taken along and the cars renamed."""
    symmetry = symmetries(puzzle.width, puzzle.height)[number]
    names = dict(zip(LETTERS, chance.sample(LETTERS, len(LETTERS)), strict=True))
    cells = [""] * len(puzzle.board)
    for cell, letter in enumerate(puzzle.board):
        cells[symmetry.cells[cell]] = names.get(letter, letter)
    rows = ["".join(cells[at : at + symmetry.width]) for at in range(0, len(cells), symmetry.width)]
    car = puzzle.cars[puzzle.primary]
    low, high = symmetry.cells[car.first], symmetry.cells[car.first + car.span]
    forward = (high > low) == (puzzle.exit in ("right", "bottom"))
    across = low // symmetry.width == high // symmetry.width
    return Rush.parse(rows, exit=("right" if forward else "left") if across else ("bottom" if forward else "top"))


@pytest.mark.parametrize(
    "board",
    [
        HARDEST,
        HARDEST.replace("o", "."),
        "\n".join(HARDEST[at : at + 6] for at in range(0, 36, 6)) + "\n",
        "/".join(HARDEST[at : at + 6] for at in range(0, 36, 6)),
        [HARDEST[at : at + 6] for at in range(0, 36, 6)],
    ],
)
def test_formats(board: object) -> None:
    puzzle = Rush.parse(board)
    assert puzzle.fields() == {"board": "IBBx../I..LDD/JAAL../J.KEEM/FFK..M/GGHHHM", "exit": "right"}
    assert puzzle.format() == "IBBx..\nI..LDD\nJAAL..\nJ.KEEM\nFFK..M\nGGHHHM"
    assert "".join(car.letter for car in puzzle.cars) == "IBLDJAKEMFGH"
    assert (puzzle.width, puzzle.height, puzzle.pieces, puzzle.primary, puzzle.goal_cell) == (6, 6, 12, 5, 16)


@pytest.mark.parametrize(
    ("board", "row", "column", "words"),
    [
        ("", None, None, "empty"),
        ("BB../....", None, None, "there is no primary car A"),
        ("." * 36, None, None, "there is no primary car A"),
        ("AA../...B", 2, 4, "car B has one cell"),
        ("A.../....", 1, 1, "car A has one cell"),
        ("AA../B.BB", 2, 3, "car B is broken"),
        ("B.AA/..../B...", 3, 1, "car B is broken"),
        ("AABB/..B.", 2, 3, "car B is bent"),
        ("AAB./..BB", 2, 4, "car B is bent"),
        ("AAB./...B", 2, 4, "car B is bent"),
        ("AA.B/B...", 2, 1, "car B is bent"),
        ("AA../.??.", 2, 2, r"'\?' is no car; use letters and digits"),
        ("AA../.-..", 2, 2, "'-' is no car"),
        ("AA../.\x00..", 2, 2, r"'\\x00' cannot be in a board"),
        ("AA.. /....", 1, 5, "' ' cannot"),
        ("AA../...", 2, None, "the row has 3 cells, the first row has 4"),
        (HARDEST[:35], None, None, "35 characters are no square board; separate the rows"),
        ("/".join(["." * 40] * 40), None, None, "at most 128 cells, 16 on a side"),
        (["AA" + "." * 15], 1, None, "at most 128 cells, 16 on a side"),
        (7, None, None, "not int"),
    ],
)
def test_refusals(board: object, row: int | None, column: int | None, words: str) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        Rush.parse(board)
    assert (caught.value.row, caught.value.column, caught.value.field) == (row, column, "board")


@pytest.mark.parametrize(
    ("board", "exit", "words"),
    [
        ("AA../....", "top", "the primary car lies across: its exit is right or left"),
        ("A.../A...", "right", "the primary car stands upright: its exit is bottom or top"),
        ("AA../....", "right:1", r"the primary car is on line 0 \(counted from 0\), not on 1"),
        (".A../.A..", "top:2", "on line 1"),
        ("AA../....", "up", "expected right, left, top or bottom"),
        ("AA../....", "right:-1", "expected right, left, top or bottom"),
        ("AA../....", "right:" + "0" * 9999, "expected right, left, top or bottom"),
        ("AA../....", 3, "expected right, left, top or bottom"),
    ],
)
def test_wrong_exits(board: str, exit: object, words: str) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        Rush.parse(board, exit=exit)
    assert caught.value.field == "exit"


def test_unknown_field() -> None:
    with pytest.raises(ParseError, match="goal: rush has no such field; it has board, exit"):
        Rush.parse("AA../....", goal="right")


@pytest.mark.parametrize("board", ["o" * 10_000_000, ["o" * 10_000_000] * 6, ["oo"] * 10_000_000])
def test_huge_boards_are_refused_at_once(board: object) -> None:
    started = time.perf_counter()
    with pytest.raises(ParseError, match="at most 128 cells"):
        Rush.parse(board)
    assert time.perf_counter() - started < 1


@given(
    st.text()
    | st.text(alphabet="AABBCo.x/\n", max_size=40)
    | st.lists(st.text(alphabet="ABo", min_size=3, max_size=3), max_size=5)
    | st.lists(st.none() | st.integers() | st.text()),
    st.sampled_from([None, "left", "top:0"]) | st.text() | st.integers(),
)
def test_anything_is_read_or_refused(board: object, exit: object) -> None:
    try:
        puzzle = Rush.parse(board, exit=exit)
    except ParseError:
        return
    assert Rush.parse(**puzzle.fields()) == puzzle


@pytest.mark.parametrize(
    ("board", "exit", "kept", "goal"),
    [
        ("..../AA../....", None, "right", 6),
        ("..../AA../....", "right:1", "right", 6),
        ("..../.AA./....", "left", "left", 4),
        ("..../.A../.A..", None, "bottom", 5),
        (".A../.A../....", "bottom:1", "bottom", 5),
        ("..../.A../.A..", "top", "top", 1),
        (["A", "A", "."], None, "bottom", 1),
        (["A", "A", "."], "top:0", "top", 0),
        (["AA."], None, "right", 1),
    ],
)
def test_exits(board: object, exit: object, kept: str, goal: int) -> None:
    puzzle = Rush.parse(board, exit=exit)
    assert (puzzle.exit, puzzle.goal_cell) == (kept, goal)
    assert Rush.parse(**puzzle.fields()) == puzzle


@pytest.mark.parametrize(
    ("board", "exit", "reason"),
    [
        ("AA.x/....", None, "a wall stands between the primary car and its exit"),
        ("AA.x/....", "left", None),
        ("x.AA/....", "left", "a wall stands between the primary car and its exit"),
        ("AABB/....", None, "car B cannot get out of the line between the primary car and its exit"),
        ("AABB/....", "left", None),
        ("AA.B/...B", None, None),
        (".A/.A/.B/.B", None, "car B cannot get out of the line between the primary car and its exit"),
    ],
)
def test_unsolvable_without_a_search(board: str, exit: str | None, reason: str | None) -> None:
    puzzle = Rush.parse(board, exit=exit)
    assert puzzle.unsolvable_reason() == reason
    if reason:
        assert search(puzzle, "slide")[0] is None


def test_moves() -> None:
    puzzle = Rush.parse("AA..B/....B/x..../CCC.D/....D", exit="right")
    slides = dict(puzzle.moves(puzzle.start(), "slide"))
    assert slides == {
        Move(0, 1): (1, 4, 15, 19),
        Move(0, 2): (2, 4, 15, 19),
        Move(4, 9): (0, 9, 15, 19),
        Move(15, 16): (0, 4, 16, 19),
        Move(19, 14): (0, 4, 15, 14),
    }
    assert dict(puzzle.moves(puzzle.start(), "step")).keys() == slides.keys() - {Move(0, 2)}
    assert puzzle.apply(puzzle.start(), Move(1, 3), "slide") == (2, 4, 15, 19)
    assert puzzle.notation([Move(1, 3), Move(24, 19), Move(16, 17)], "slide") == ["A:R2", "D:U1", "C:R1"]
    assert puzzle.format(slides[Move(0, 2)]) == "..AAB\n....B\nx....\nCCC.D\n....D"
    with pytest.raises(MetricError, match="rush has no metric 'path'; it has slide, step"):
        puzzle.check_metric("path")


@given(puzzles())
def test_slides_are_runs_of_steps_of_one_car(puzzle: Rush) -> None:
    start = puzzle.start()
    runs: dict[Move, State] = {}
    for first, after in puzzle.moves(start, "step"):
        step, state = first, after
        while state is not None:
            runs[Move(first.cell, step.to)] = state
            step = Move(step.to, step.to + first.to - first.cell)
            state = dict(puzzle.moves(state, "step")).get(step)
    assert dict(puzzle.moves(start, "slide")) == runs


@pytest.mark.parametrize(
    ("moves", "metric", "words"),
    [
        (["A:R1", "A:R2"], "slide", "move 2: no slide move from cell 1 to 3 here"),
        (["A:R2"], "step", "move 1: no step move from cell 0 to 2 here"),
        (["A:D1"], "slide", "move 1: no slide move from cell 0 to 5 here"),
        (["Z:R1"], "slide", "move 1: there is no piece 'Z'"),
        (["A:R0"], "slide", "move 1: no slide move from cell 0 to 0 here"),
        (["A:R*"], "slide", "move 1: no piece leaves the board"),
        (["A:R1", "A" * 10_000], "slide", "move 2: 'A{40}' is not a move such as A:R2"),
        (["A:R99"], "slide", "move 1: 'A:R99' goes over the edge"),
    ],
)
def test_moves_that_cannot_be(moves: list[str], metric: Metric, words: str) -> None:
    with pytest.raises(IllegalMove, match=words):
        Rush.parse("AA..B/....B").read_notation(moves, metric)


def test_notation_refuses_illegal_moves() -> None:
    for move in (Move(0, 3), Move(0, 0), Move(2, 3), Move(-1, 0), Move(99, 100), Move(0, -1)):
        with pytest.raises(IllegalMove):
            Rush.parse("AA..B/....B").notation([move], "slide")


@given(puzzles())
def test_fields_format_and_canonical_are_read_back(puzzle: Rush) -> None:
    assert Rush.parse(**puzzle.fields()) == puzzle
    assert Rush.parse(puzzle.format().split("\n"), exit=puzzle.exit) == puzzle
    canonical = Rush.parse(**json.loads(puzzle.canonical))
    assert (canonical.canonical, canonical.key) == (puzzle.canonical, puzzle.key)
    assert canonical.exit == "right"


@given(puzzles(side=4), st.integers(0, 7), st.randoms(use_true_random=False))
def test_images_have_one_key_and_one_length(puzzle: Rush, number: int, chance: random.Random) -> None:
    other = turned(puzzle, number, chance)
    assert other.key == puzzle.key
    assert search(other, "slide") == search(puzzle, "slide")
    assert search(other, "step") == search(puzzle, "step")


@given(puzzles(), st.sampled_from(["slide", "step"]), st.randoms(use_true_random=False))
def test_moves_lead_to_the_canonical_form_and_back(puzzle: Rush, metric: Metric, chance: random.Random) -> None:
    canonical = Rush.parse(**json.loads(puzzle.canonical))
    there = puzzle.to_canonical
    back = there.inverse(puzzle.width, puzzle.height)
    state, image, moves = puzzle.start(), canonical.start(), []
    for _ in range(8):
        choices = list(puzzle.moves(state, metric))
        if not choices:
            break
        move, state = chance.choice(choices)
        image = canonical.apply(image, there.move(move), metric)
        assert back.move(there.move(move)) == move
        moves.append(move)
    assert puzzle.is_goal(state) == canonical.is_goal(image)
    assert puzzle.read_notation(puzzle.notation(moves, metric), metric) == moves


def test_keys_tell_boards_apart(shared_data: Path) -> None:
    """Two boards with the exit on the right have one key exactly if they or their mirrors look the same."""

    def picture(board: str) -> list[str | int]:
        return [letter if letter in ".xA" else board.index(letter) for letter in board]

    with (shared_data / "rush_known.csv").open() as file:
        puzzles = [Rush.parse(row["board"]) for row in csv.DictReader(file)]
    seen: dict[bytes, list[str | int]] = {}
    for puzzle in puzzles:
        mirror = "".join(puzzle.format().split("\n")[::-1])
        look = min(picture(puzzle.board), picture(mirror), key=str)
        assert seen.setdefault(puzzle.key, look) == look
    assert len({str(look) for look in seen.values()}) == len(seen)
    assert Rush.parse("AA../....", exit="left").key != Rush.parse("AA../....").key


def test_known_counts(shared_data: Path) -> None:
    with (shared_data / "rush_known.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if int(row["reachable_states"]) < 1500][::15]
    assert len(rows) >= 40
    for row in rows:
        puzzle = Rush.parse(row["board"])
        assert search(puzzle, "slide") == (int(row["slide"]), int(row["reachable_states"]))
        assert search(puzzle, "step") == (int(row["step"]), int(row["reachable_states"]))


@pytest.mark.parametrize(
    ("board", "slide", "step", "states"),
    [
        (HARDEST, 60, 103, 2332),
        ("ooooooooooooAAoooBoooooBoooooooooooo", 2, 5, None),
        ("ooBBBFooCooFAACooFooCooDooEEEDoooooo", None, None, 33),
    ],
)
def test_published_counts(board: str, slide: int | None, step: int | None, states: int | None) -> None:
    puzzle = Rush.parse(board)
    assert search(puzzle, "slide") == (slide, states or search(puzzle, "slide")[1])
    assert search(puzzle, "step")[0] == step


def test_as_many_cars_as_fit() -> None:
    """64 cars on 16x8: more than there are letters and digits without o and x."""
    letters = "A" + NAMES
    assert len(set(letters)) == 64
    assert all(letter.isalnum() and letter not in "ox" for letter in letters)
    rows = ["".join(letter * 2 for letter in letters[at : at + 8]) for at in range(0, 64, 8)]
    puzzle = Rush.parse(rows, exit="left")
    assert puzzle.pieces == 64
    assert Rush.parse(**json.loads(puzzle.canonical)).key == puzzle.key
    assert list(puzzle.moves(puzzle.start(), "slide")) == []
