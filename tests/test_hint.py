"""Hints: from any position the moves they tell lead to the goal in exactly the promised count."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Engine

import unjam
from tests.boards import RANDOM_BOARDS
from unjam._kernels import Control
from unjam.errors import MetricError, ParseError
from unjam.packs.entry import Entry
from unjam.puzzles.positions import puzzle_at
from unjam.puzzles.puzzle import Metric, Puzzle, State
from unjam.puzzles.tiles import Tiles
from unjam.search import reference
from unjam.search.atlas import build_tiles_atlas
from unjam.search.hint import hint, known_hint
from unjam.search.level_atlas import explore
from unjam.search.solution import Budget, Outcome
from unjam.store import batches
from unjam.store.lookup import stored_solution
from unjam.work import work

CLASSIC = {"board": "BAAC/BAAC/DFFE/DGHE/I..J", "goal": "..../..../..../.AA./.AA."}
GATES = [{"edge": "right:0", "opens": 2}, {"edge": "bottom:3", "closes": 3}]
KORF = {"board": "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3", "goal": "blank-first"}

LEVELS: list[tuple[str, Metric, dict[str, Any]]] = [
    ("tiles", "step", {"board": "8 6 7/2 5 4/3 0 1"}),
    ("tiles", "slide", {"board": "4 1 2 3/5 6 7 8/9 10 11 12/13 14 15 0"}),
    ("tiles", "step", {"board": "5 1 2 3/4 0 6 7", "goal": "blank-first"}),
    ("klotski", "path", CLASSIC),
    ("klotski", "slide", {"board": "#AA#/BAAC/B..C/DDEF", "goal": "..../.AA./.AA./...."}),
    ("klotski", "step", {"board": "BAAC/BAAC/D..E/#--#/....", "goal": "..../..../..../.AA./.AA."}),
    ("klotski", "slide", {"board": "AB./CD./..E", "goal": "..A/.../B..", "goal_mode": "class"}),
    ("rush", "slide", {"board": "IBBx..I..LDDJAAL..J.KEEMFFK..MGGHHHM"}),
    ("rush", "step", {"board": "....../....../AAB.../..B..C/..BDDC/.....C"}),
    ("parkout", "slide", {"board": "c...Bb/C...../...Fff/gGd.a./.ED.A./.eHhh."}),
    ("parkout", "slide", {"board": "aA../.bB./cC.d/...D", "gates": GATES}),
]


def levels() -> list[tuple[Puzzle, Metric]]:
    """20 levels: those above, and random ones."""
    found = [(unjam.parse(family, **fields), metric) for family, metric, fields in LEVELS]
    random = Random(7)
    while len(found) < 20:
        family = [*RANDOM_BOARDS][len(found) % 4]
        try:
            puzzle = unjam.parse(family, **RANDOM_BOARDS[family](random))
        except ParseError:  # no car that could leave, for one
            continue
        if unjam.solve(puzzle).length:
            found.append((puzzle, random.choice(puzzle.metrics)))
    return found


def at(puzzle: Puzzle, state: Any) -> Puzzle:
    """The puzzle that starts there."""
    return replace(puzzle, board=state) if isinstance(puzzle, Tiles) else puzzle_at(puzzle, state)


def walk(puzzle: Puzzle, metric: Metric, random: Random) -> State:
    """A position in the middle of play."""
    state = puzzle.start()
    for _ in range(random.randrange(60)):
        following = [after for _, after in puzzle.moves(state, metric) if not puzzle.is_goal(after)]
        if not following:
            break
        state = random.choice(following)
    return state


@pytest.mark.parametrize(("puzzle", "metric"), levels(), ids=lambda value: getattr(value, "family", value))
def test_the_moves_lead_to_the_goal_in_the_promised_count(puzzle: Puzzle, metric: Metric) -> None:
    random = Random(puzzle.canonical)
    for _ in range(10):
        position = at(puzzle, walk(puzzle, metric, random))
        told = hint(position, metric)
        expected = reference.search(position, metric, max_states=3_000)
        if expected.outcome is not Outcome.BOUNDED:
            assert (told.outcome, told.moves_left) == (expected.outcome, expected.length)
        promised, state = told.moves_left, position.start()
        while promised:
            state = position.apply(state, told.moves[0], metric)
            promised -= 1
            if position.is_goal(state):
                break
            told = hint(at(position, state), metric)
            assert (told.outcome, told.moves_left) == (Outcome.OPTIMAL, promised)
        if told.outcome is Outcome.OPTIMAL:
            assert promised == 0
            assert position.is_goal(state)
        else:
            assert told.outcome is Outcome.UNSOLVABLE
            assert told.moves == ()
            assert told.reason


def test_what_needs_no_search() -> None:
    solved = hint(unjam.parse("rush", "..AA/...."))
    assert (solved.outcome, solved.moves_left, solved.moves, solved.complete) == (Outcome.OPTIMAL, 0, (), True)
    parity = hint(unjam.parse("tiles", "1 2 3/4 5 6/8 7 0"))
    assert (parity.outcome, parity.moves_left, parity.lower) == (Outcome.UNSOLVABLE, None, None)
    assert parity.reason is not None
    assert parity.reason.startswith("parity")
    assert solved.source == parity.source == "rules"


def test_a_dead_end_is_told() -> None:
    lot = unjam.parse("parkout", "aA./..B/..b", gates=[{"edge": "right:0", "closes": 1}])
    assert hint(lot).moves_left == 2
    after = at(lot, lot.apply(lot.start(), lot.read_notation(["b:U*"], "slide")[0], "slide"))
    assert hint(after).outcome is Outcome.UNSOLVABLE


def test_not_within_budget_has_proven_bounds_and_says_what_is_not_proven() -> None:
    tiles = unjam.parse("tiles", **KORF)
    told = hint(tiles, "step", Budget(nodes=10_000))
    assert (told.outcome, told.moves_left, told.moves, told.complete) == (Outcome.BOUNDED, None, (), False)
    assert told.lower is not None
    assert told.upper is not None
    assert told.lower < 57 <= told.upper
    assert told.unproven in [move for move, _ in tiles.moves(tiles.board, "step")]
    assert told.reason == "the budget of nodes ended"
    klotski = hint(unjam.parse("klotski", **CLASSIC), "path", Budget(nodes=1_000))
    assert (klotski.outcome, klotski.upper, klotski.unproven) == (Outcome.BOUNDED, None, None)
    assert klotski.lower is not None
    assert 0 < klotski.lower < 81


def test_a_cancelled_search_is_no_dead_end() -> None:
    control = Control()
    control.cancel()
    told = hint(unjam.parse("klotski", **CLASSIC), control=control)
    assert (told.outcome, told.reason) == (Outcome.BOUNDED, "cancelled")


def test_a_metric_that_the_family_does_not_have() -> None:
    with pytest.raises(MetricError):
        hint(unjam.parse("rush", "AA../...."), "path")


@pytest.mark.parametrize("metric", ["step", "slide"])
def test_an_atlas_tells_all_optimal_moves(metric: Metric, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(metric)
    boards = [unjam.parse("tiles", RANDOM_BOARDS["tiles"](random)["board"]) for _ in range(40)]
    boards = [board for board in boards if board.width * board.height <= 8 and board.unsolvable_reason() is None]
    monkeypatch.setenv("UNJAM_TABLES", str(tmp_path))
    expected = [(board, _best(board, metric)) for board in boards if not board.is_goal(board.start())]
    assert any(len(best) > 1 for _, best in expected)
    for board, best in expected:
        build_tiles_atlas(board.width, board.height, board.width * board.height - 1, metric, Control())
        told = hint(board, metric)
        assert (told.source, told.complete, told.moves_left) == ("atlas", True, unjam.solve(board, metric).length)
        assert set(told.moves) == best


def _best(puzzle: Puzzle, metric: Metric) -> set[Any]:
    """The moves after which least is left, by searches."""
    left = {
        move: 0 if puzzle.is_goal(state) else reference.search(at(puzzle, state), metric).length
        for move, state in puzzle.moves(puzzle.start(), metric)
    }
    least = min(length for length in left.values() if length is not None)
    return {move for move, length in left.items() if length == least}


@pytest.mark.parametrize(
    ("family", "metric", "fields"),
    [
        ("klotski", "path", {"board": "BAAC/D..E/#--#/....", "goal": "..../..../..../.AA."}),
        ("rush", "step", {"board": "....../....../AAB.../..B..C/..BDDC/.....C"}),
        ("parkout", "slide", {"board": "aA../.bB./cC.d/...D", "gates": GATES}),
    ],
)
def test_the_atlas_of_a_level_tells_all_optimal_moves_of_its_positions(
    family: str, metric: Metric, fields: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    level, random = unjam.parse(family, **fields), Random(family)
    states = {walk(level, metric, random) for _ in range(40)}
    positions = [at(level, state) for state in sorted(states, key=repr)]
    expected = [reference.search(position, metric) for position in positions]
    atlas = explore(level, metric).atlas
    assert atlas is not None
    monkeypatch.setenv("UNJAM_TABLES", str(tmp_path))
    assert all(hint(position, metric).source in ("rules", "search") for position in positions)
    atlas.save()
    for position, solution in zip(positions, expected, strict=True):
        told = hint(position, metric)
        assert (told.outcome, told.moves_left) == (solution.outcome, solution.length)
        assert told.source == ("rules" if position.unsolvable_reason() else "atlas")
        if solution.length:
            assert told.complete
            assert set(told.moves) == {
                move
                for move, state in position.moves(position.start(), metric)
                if position.is_goal(state)
                or reference.search(at(position, state), metric).length == solution.length - 1
            }


def test_the_store_answers_in_any_orientation(engine: Engine) -> None:
    rows = ("......", "......", "AA...B", ".....B", "......", "......")
    level, mirrored = (
        unjam.parse("rush", rows),
        unjam.parse("rush", [row[::-1] for row in rows], exit="left"),
    )
    stuck = unjam.parse("klotski", "A#B", goal="B..")
    open_question = unjam.parse("tiles", "14 5 9 2 18/8 23 19 12 17/15 0 10 20 4/6 11 21 1 7/24 3 16 22 13")
    entries = [Entry(number, number + 1, puzzle) for number, puzzle in enumerate((level, stuck, open_question))]
    batch = batches.submit(engine, entries, budget=Budget(nodes=200_000))
    while work(engine, worker="here", batch_id=batch.batch_id):
        pass
    stored = partial(stored_solution, engine)
    for puzzle in (level, mirrored):
        told = known_hint(puzzle, "slide", stored)
        assert told is not None
        assert (told.source, told.moves_left, told.complete) == ("store", 2, False)
        assert hint(at(puzzle, puzzle.apply(puzzle.start(), told.moves[0], "slide"))).moves_left == 1
        assert known_hint(puzzle, "step", stored) is None
    dead = known_hint(stuck, "path", stored)
    assert dead is not None
    assert (dead.source, dead.outcome) == ("store", Outcome.UNSOLVABLE)
    assert known_hint(open_question, "step", stored) is None
    kept = stored_solution(engine, open_question, "step")
    assert kept is not None
    assert kept.lower is not None
    assert kept.upper is not None
    better = []
    for nodes in (1_000, 2_000_000):
        alone = hint(open_question, "step", Budget(nodes=nodes))
        told = hint(open_question, "step", Budget(nodes=nodes), stored=stored)
        assert alone.lower is not None
        assert alone.upper is not None
        assert (told.outcome, told.source) == (Outcome.BOUNDED, "search")
        assert (told.lower, told.upper) == (max(alone.lower, kept.lower), min(alone.upper, kept.upper))
        better.append(kept.upper < alone.upper)
        assert told.unproven == (kept.moves[0] if better[-1] else alone.unproven)
    assert better == [True, False]
