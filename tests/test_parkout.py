"""Parkout: lots are read or refused with their place, cars leave nose first, and equal lots have equal keys."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unjam import _kernels
from unjam.errors import IllegalMove, MetricError, ParseError
from unjam.puzzles.exits import Opening, edges_of
from unjam.puzzles.grid import OUT, Move, symmetries
from unjam.puzzles.parkout import Parkout
from unjam.search.encode import run_kernel
from unjam.search.reference import search
from unjam.search.solution import Outcome
from unjam.search.solve import solve

EXAMPLE = "c...Bb/C...../...Fff/gGd.a./.ED.A./.eHhh."  # 10 moves


def moves_of(puzzle: Parkout, state: Any = None) -> list[str]:
    """The moves of the start, or of a position after some moves, as they are written."""
    state = puzzle.start() if state is None else state
    written = []
    for move, after in puzzle.moves(state, "slide"):
        piece = next(piece for piece, cell in enumerate(state) if cell != after[piece])
        written.append(f"{puzzle.names[piece]}:{puzzle.way(state, piece, after[piece], 'slide')}")
        assert move == Move(state[piece], after[piece])
    return written


def test_a_car_leaves_nose_first_and_backs_without_leaving() -> None:
    puzzle = Parkout.parse("..aA..")
    assert sorted(moves_of(puzzle)) == ["a:L1", "a:L2", "a:R*", "a:R1", "a:R2"]
    assert sorted(moves_of(Parkout.parse("./A/a/."))) == ["a:D1", "a:U*", "a:U1"]
    assert sorted(moves_of(Parkout.parse("a/A"))) == ["a:D*"]
    assert sorted(moves_of(Parkout.parse("Aa."))) == ["a:L*", "a:R1"]


def test_every_cell_to_the_edge_must_be_free() -> None:
    assert moves_of(Parkout.parse("aA.#/....")) == ["a:R1"]
    assert sorted(moves_of(Parkout.parse("aA.b/...B"))) == ["a:R1", "b:D*"]


def test_closed_edges() -> None:
    assert moves_of(Parkout.parse("aA", closed="right:0")) == []
    assert moves_of(Parkout.parse("aA", closed=["top", "bottom", "left"])) == ["a:R*"]
    listed = Parkout.parse("aA./..B/..b", closed=["right:0", "bottom"])
    assert listed == Parkout.parse("aA./..B/..b", closed="right:0, bottom:0,bottom:1,bottom:2")
    assert listed.fields() == {"board": "aA./..B/..b", "closed": ["right:0", "bottom:0", "bottom:1", "bottom:2"]}
    assert listed.unsolvable_reason() == "car a can leave only by right:0, which is never open"


def test_gates() -> None:
    opens = Parkout.parse("aA./..B/..b", gates=[{"edge": "right:0", "opens": 1}])
    assert sorted(moves_of(opens)) == ["a:R1", "b:U*", "b:U1"]
    assert moves_of(opens, (0, OUT)) == ["a:R1", "a:R*"]
    assert opens.may_leave_now(opens.start(), 1)
    assert search(opens, prune=True).length == search(opens).length == 2

    # a must not leave first, though it can: that would close the gate in front of b.
    closes = Parkout.parse("Aa./..B/..b", gates=[{"edge": "top:2", "closes": 1}])
    assert [closes.may_leave_now(closes.start(), car) for car in (0, 1)] == [False, True]
    assert moves_of(closes, (OUT, 5)) == ["b:U1"]
    assert search(closes).length == search(closes, prune=True).length == 2

    both = Parkout.parse("aA/bB/cC/dD", gates=[{"edge": "right:0", "opens": 1, "closes": 3}])
    gone = [(2, 4, 6), (OUT, 4, 6), (OUT, OUT, 6), (OUT, OUT, OUT)]
    assert ["a:R*" in moves_of(both, (0, *others)) for others in gone] == [False, True, True, False]


def test_gates_count_the_cars_that_have_left_already() -> None:
    gates = [{"edge": "right:0", "opens": 1, "closes": 3}]
    for left, opening in ((0, Opening(1, 2)), (1, Opening(0, 2)), (2, Opening(0, 1)), (3, Opening(0, 0))):
        lot = Parkout.parse("aA/bB", gates=gates, left=left)
        assert lot.slots[2] == opening
        assert lot.slots[3] == Opening(0, 2)
        assert Parkout.parse(**lot.fields()) == lot
    assert Parkout.parse("aA/bB", left="12") == Parkout.parse("aA/bB")
    late = [{"edge": "right:0", "opens": 3}]
    assert Parkout.parse("aA/bB", gates=late).slots[2] == Opening(0, 0)
    assert Parkout.parse("aA/bB", gates=late, left=2).slots[2] == Opening(1, 2)


def test_an_empty_lot_is_solved() -> None:
    for fields in ({"board": ".../..."}, {"board": "aA./...", "fixed": "a"}, {"board": "#../...", "closed": "top"}):
        lot = Parkout.parse(**fields, left=3)
        assert lot.is_goal(lot.start())
        assert Parkout.parse(**lot.fields()) == lot
        assert Parkout.parse(**json.loads(lot.canonical)).key == lot.key
        for algorithm in ("bfs", "astar", "idastar"):
            answer = solve(lot, algorithm=algorithm)
            assert (answer.outcome, answer.length) == (Outcome.OPTIMAL, 0)


@pytest.mark.parametrize("left", [-1, 1.5, True, "-1", "many", [1]])
def test_a_number_of_cars_that_have_left_which_is_none(left: Any) -> None:
    with pytest.raises(ParseError, match="how many cars have left already") as error:
        Parkout.parse("aA/bB", left=left)
    assert error.value.field == "left"


def test_gates_that_say_nothing_are_none() -> None:
    plain = Parkout.parse("aA/bB")
    assert Parkout.parse("aA/bB", gates=[{"edge": "right", "opens": 0}, {"edge": "top", "closes": 2}]) == plain
    assert plain.fields() == {"board": "aA/bB"}
    never = Parkout.parse("aA/bB", gates=[{"edge": "right:1", "opens": 2, "closes": 9}])
    assert never == Parkout.parse("aA/bB", closed=["right:1"])
    # An exit that closes, where no car could use it, does no harm.
    unused = Parkout.parse("aA/bB", gates=[{"edge": "left", "closes": 1}])
    assert all(unused.may_leave_now(unused.start(), car) for car in (0, 1))


def test_fixed_cars() -> None:
    puzzle = Parkout.parse("aA.C/...c", fixed="C")
    assert moves_of(puzzle) == ["a:R1"]
    assert puzzle.unsolvable_reason() == "car a has the fixed car c in front of it"
    assert puzzle == Parkout.parse("aA.C/...c", fixed=["c"])
    assert puzzle.fields() == {"board": "aA.C/...c", "fixed": "c"}
    assert puzzle.key == Parkout.parse("aA.#/...#").key
    beside = Parkout.parse("aA./.Bb", fixed="B")
    assert search(beside).length == 1
    assert beside.is_goal((OUT, 4))


@pytest.mark.parametrize(
    ("board", "reason"),
    [
        ("aA.#", "car a has a pillar in front of it"),
        ("aA.Bb", "cars a and b face each other"),
        ("aA.bB", None),
        ("Aa.bB", None),
        (EXAMPLE, None),
    ],
)
def test_what_can_never_leave(board: str, reason: str | None) -> None:
    assert Parkout.parse(board).unsolvable_reason() == reason


def test_more_cars_than_the_alphabet_has() -> None:
    letters = [*"abcdefghijklmnopqrstuvwxyz", *map(chr, range(0x430, 0x450))]  # Latin and Cyrillic
    pairs = [letter + letter.upper() for letter in letters[:56]]
    puzzle = Parkout.parse(["".join(pairs[at : at + 7]) for at in range(0, 56, 7)])
    assert puzzle.pieces == 56
    assert Parkout.parse(**json.loads(puzzle.canonical)).key == puzzle.key
    assert Parkout.parse("éÉ").names == ("é",)


@pytest.mark.parametrize(
    ("fields", "field", "row", "column", "words"),
    [
        ({"board": "aA/b."}, "board", 2, 1, "car b has 1 cells; a car has 2 to 5"),
        ({"board": "aaaaaA"}, "board", 1, 1, "car a has 6 cells"),
        ({"board": "aA./.a."}, "board", 1, 1, "car a is not in one line"),
        ({"board": "a.A/..."}, "board", 1, 1, "not in one line"),
        ({"board": "..a/A.."}, "board", 1, 3, "not in one line"),
        ({"board": ".aa"}, "board", 1, 2, "no nose"),
        ({"board": "AaA"}, "board", 1, 3, "a second nose"),
        ({"board": "aAa"}, "board", 1, 2, "at one of its ends"),
        ({"board": "aA/1."}, "board", 2, 1, "'1' is no car"),
        ({"board": "ßß"}, "board", 1, 1, "is no car"),
        ({"board": "..."}, "board", None, None, "no car that can leave"),
        ({"board": "aA", "fixed": "a"}, "fixed", None, None, "no car that can leave"),
        ({"board": "aA", "fixed": "b"}, "fixed", None, None, "no car 'b'"),
        ({"board": "aA", "fixed": 3}, "fixed", None, None, "not int"),
        ({"board": "aA", "fixed": [["a"]]}, "fixed", None, None, "no car"),
        ({"board": "aA", "closed": "north"}, "closed", None, None, "'north' is no edge"),
        ({"board": "aA", "closed": "top:2"}, "closed", None, None, "top has edges 0 to 1"),
        ({"board": "aA", "closed": [1]}, "closed", None, None, "1 is no edge"),
        ({"board": "aA", "closed": 1}, "closed", None, None, "not int"),
        ({"board": "aA", "gates": "top"}, "gates", None, None, "not str"),
        ({"board": "aA", "gates": ["top"]}, "gates", None, None, "a gate is"),
        ({"board": "aA", "gates": [{"edge": "top"}]}, "gates", None, None, "a gate is"),
        ({"board": "aA", "gates": [{"edge": "top", "opens": "2"}]}, "gates", None, None, "numbers of cars"),
        ({"board": "aA", "gates": [{"edge": "top", "opens": True}]}, "gates", None, None, "numbers of cars"),
        ({"board": "aA", "gates": [{"edge": "top", "closes": -1}]}, "gates", None, None, "numbers of cars"),
        ({"board": "aA", "gates": [{"edge": "top", "opens": 3, "closes": 2}]}, "gates", None, None, "before it opens"),
        ({"board": "aA", "gates": [{"edge": "top", "opens": 10**5000, "closes": 2}]}, "gates", None, None, "this int"),
        ({"board": "aA", "closed": [-(10**5000)]}, "closed", None, None, "this int is no edge"),
        ({"board": "aA", "gates": [{"edge": "top", "open": 3}]}, "gates", None, None, "a gate is"),
        ({"board": "aA", "closed": "top", "gates": [{"edge": "top:1", "opens": 1}]}, "gates", None, None, "already"),
        ({"board": "aA", "exits": "top"}, "exits", None, None, "no such field"),
        ({"board": "a\0A"}, "board", 1, 2, r"'\\x00' cannot"),
        ({"board": ["." * 17]}, "board", 1, None, "at most 128 cells"),
    ],
)
def test_refusals(fields: dict[str, Any], field: str, row: int | None, column: int | None, words: str) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        Parkout.parse(**fields)
    assert (caught.value.field, caught.value.row, caught.value.column) == (field, row, column)


def test_slots_go_around_the_lot() -> None:
    assert edges_of(2, 1) == ("top:0", "top:1", "right:0", "bottom:0", "bottom:1", "left:0")
    puzzle = Parkout.parse(".aA./B..c/b..C/.Dd.")
    slots = {name: puzzle.exit_slot(piece) for piece, name in enumerate(puzzle.names)}
    assert {name: edges_of(4, 4)[slot] for name, slot in slots.items()} == {
        "a": "right:0",
        "b": "top:0",
        "c": "bottom:3",
        "d": "left:3",
    }
    assert puzzle.slots == (Opening(0, 4),) * 16


@pytest.mark.parametrize(
    ("moves", "words"),
    [
        (["f:R*"], "move 1: car f leaves nose first, to L"),
        (["f:L*", "f:L1"], "move 2: 'f' has left"),
        (["d:U*"], "move 1"),
        (["c:U2"], "move 1: 'c:U2' goes over the edge"),
        (["x:U1"], "no piece 'x'"),
        (["d:U1D1"], "turns"),
    ],
)
def test_illegal_notation(moves: list[str], words: str) -> None:
    with pytest.raises(IllegalMove, match=words):
        Parkout.parse(EXAMPLE).read_notation(moves, "slide")


def test_moves_may_be_named_by_any_cell_of_the_car() -> None:
    puzzle = Parkout.parse("aA../..Bb")
    state = puzzle.start()
    assert puzzle.same_move(state, Move(0, 1), Move(1, 2))
    assert puzzle.same_move(state, Move(0, OUT), Move(1, OUT))
    assert puzzle.apply(state, Move(1, OUT), "slide") == (OUT, 6)
    for move in (Move(0, 4), Move(2, 3), Move(7, 8), Move(6, 7), Move(0, -2)):
        with pytest.raises(IllegalMove):
            puzzle.apply(state, move, "slide")
    with pytest.raises(MetricError):
        puzzle.apply(state, Move(0, 1), "step")


def test_format_of_a_position() -> None:
    puzzle = Parkout.parse("aA.#/..Bb")
    assert puzzle.format() == "aA.#\n..Bb"
    assert puzzle.format((1, OUT)) == ".aA#\n...."


@pytest.mark.parametrize("board", [EXAMPLE, "/".join(reversed(EXAMPLE.split("/")))])
def test_example(board: str) -> None:
    puzzle = Parkout.parse(board)
    answer = search(puzzle, prune=True)
    assert (answer.length, answer.pruned) == (10, True)
    written = puzzle.notation(answer.moves, "slide")
    assert puzzle.read_notation(written, "slide") == list(answer.moves)
    assert puzzle.key == Parkout.parse(EXAMPLE).key


@pytest.mark.parametrize(("prune", "registered"), [(True, 647), (False, 177_953)])
def test_published_figures_of_the_example(prune: bool, registered: int) -> None:
    """Positions met until the empty lot turns up: cars in the order of their letters, slides before leaving."""
    puzzle = Parkout.parse(EXAMPLE)
    limits = _kernels.Limits(seconds=60, nodes=10**9, bytes=10**9)
    result = run_kernel(puzzle, "slide", "bfs", None, prune, limits, _kernels.Control())
    assert (result.length, result.peak_states) == (10, registered)
    if prune:
        assert search(puzzle, prune=True).profile == tuple(result.profile)


def test_known_lots(shared_data: Path) -> None:
    for line in (shared_data / "parkout_known.jsonl").read_text().splitlines():
        row = json.loads(line)
        puzzle = Parkout.parse(row["board"])
        assert puzzle.format().split("\n") == row["board"]
        assert search(puzzle, prune=True).length == row["slide"]
        assert row["slide"] is None or puzzle.unsolvable_reason() is None


@st.composite
def lots(draw: st.DrawFn) -> Parkout:
    """A small lot with gates, closed edges, pillars and fixed cars."""
    width, height = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    grid = [["."] * width for _ in range(height)]
    names = []
    for name in draw(st.permutations("abcdé"))[: draw(st.integers(1, 5))]:
        across, backwards, length = draw(st.booleans()), draw(st.booleans()), draw(st.integers(2, 3))
        row, column = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
        cells = [(row, column + part) if across else (row + part, column) for part in range(length)]
        if all(r < height and c < width and grid[r][c] == "." for r, c in cells):
            for r, c in cells:
                grid[r][c] = name
            r, c = cells[0] if backwards else cells[-1]
            grid[r][c] = name.upper()
            names.append(name)
    if not names:
        grid[0][:2], names = ["A", "a"], ["a"]
    if grid[-1][-1] == "." and draw(st.booleans()):
        grid[-1][-1] = "#"
    edges = draw(st.permutations(edges_of(width, height)))
    gates = []
    for edge in edges[: draw(st.integers(0, 4))]:
        opens = draw(st.integers(0, 3))
        gates.append({"edge": edge, "opens": opens, "closes": draw(st.integers(opens + 1, 6))})
    closed = edges[4 : 4 + draw(st.integers(0, 1))]
    fixed = names[1 : 1 + draw(st.integers(0, 1))]
    return Parkout.parse(["".join(row) for row in grid], closed=closed, gates=gates, fixed=fixed)


def image_of(puzzle: Parkout, number: int, new_names: str) -> Parkout:
    """The image under a symmetry, worked out edge by edge and not by the code that is tested."""
    transpose, flip_rows, flip_columns = number & 4, number & 2, number & 1
    symmetry = symmetries(puzzle.width, puzzle.height)[number]
    letters: dict[str, str] = {}
    for old, new in zip(puzzle.names, new_names, strict=False):
        letters |= {old: new, old.upper(): new.upper()}
    cells = [""] * len(puzzle.board)
    for cell, letter in enumerate(puzzle.board):
        cells[symmetry.cells[cell]] = letters.get(letter, letter)

    def edge_image(edge: str) -> str:
        side, index = edge.split(":")
        upright = side in ("left", "right")
        place = int(index)
        if upright and flip_rows:
            place = puzzle.height - 1 - place
        if not upright and flip_columns:
            place = puzzle.width - 1 - place
        if flip_columns if upright else flip_rows:
            side = {"top": "bottom", "bottom": "top", "left": "right", "right": "left"}[side]
        if transpose:
            side = {"top": "left", "left": "top", "bottom": "right", "right": "bottom"}[side]
        return f"{side}:{place}"

    fields = puzzle.fields()
    return Parkout.parse(
        ["".join(cells[at : at + symmetry.width]) for at in range(0, len(cells), symmetry.width)],
        closed=[edge_image(edge) for edge in fields.get("closed", ())],
        gates=[{**gate, "edge": edge_image(gate["edge"])} for gate in fields.get("gates", ())],
        fixed=[letters[name] for name in puzzle.fixed],
    )


def replay(puzzle: Parkout, moves: list[Move]) -> None:
    state = puzzle.start()
    for move in moves:
        state = puzzle.apply(state, move, "slide")
    assert puzzle.is_goal(state)


@given(lots(), st.integers(0, 7), st.permutations("vwxyzabcé"))
@settings(max_examples=300, deadline=None)
def test_images_have_one_key_and_one_length(puzzle: Parkout, number: int, names: list[str]) -> None:
    image = image_of(puzzle, number, "".join(names))
    assert image.key == puzzle.key
    answer, mirrored = search(puzzle), search(image)
    assert answer.length == mirrored.length
    if answer.outcome is Outcome.OPTIMAL:
        symmetry = symmetries(puzzle.width, puzzle.height)[number]
        replay(image, [symmetry.move(move) for move in answer.moves])


@given(lots())
@settings(max_examples=300, deadline=None)
def test_canonical_form_has_the_same_solutions(puzzle: Parkout) -> None:
    canonical = Parkout.parse(**json.loads(puzzle.canonical))
    assert canonical.canonical == puzzle.canonical
    answer = search(canonical)
    assert answer.length == search(puzzle).length
    if answer.outcome is Outcome.OPTIMAL:
        back = puzzle.to_canonical.inverse(puzzle.width, puzzle.height)
        replay(puzzle, [back.move(move) for move in answer.moves])


@given(lots())
@settings(max_examples=300, deadline=None)
def test_pruning_and_impossible_exits_agree_with_the_full_search(puzzle: Parkout) -> None:
    answer = search(puzzle)
    assert search(puzzle, prune=True).length == answer.length
    if puzzle.unsolvable_reason():
        assert answer.outcome is Outcome.UNSOLVABLE


@given(lots())
@settings(max_examples=200, deadline=None)
def test_round_trips(puzzle: Parkout) -> None:
    assert Parkout.parse(**puzzle.fields()) == puzzle
    for move, after in puzzle.moves(puzzle.start(), "slide"):
        assert puzzle.read_notation(puzzle.notation([move], "slide"), "slide") == [move]
        assert puzzle.apply(puzzle.start(), move, "slide") == after


@given(st.text(), st.text(), st.text())
@settings(max_examples=500, deadline=None)
def test_any_text_is_read_or_refused(board: str, closed: str, fixed: str) -> None:
    for fields in ({}, {"closed": closed}, {"fixed": fixed}):
        try:
            puzzle = Parkout.parse(board, **fields)
        except ParseError:
            continue
        assert Parkout.parse(**puzzle.fields()) == puzzle
        assert len(puzzle.key) == 16
