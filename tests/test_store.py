"""Submitting, answering from what is stored, results and look-ups."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

import unjam
from tests.levels import hard_levels, random_levels
from unjam.errors import NoSuchBatch, PackError
from unjam.packs.entry import Entry
from unjam.puzzles.grid import symmetries
from unjam.search.solution import Budget
from unjam.store import batches, database, ingest
from unjam.store.batches import Submitted, results, status, submit
from unjam.store.database import CONNECTIONS, open_engine
from unjam.store.lookup import by_key, lookup, stats
from unjam.work import work

BUDGET = Budget(seconds=60)
RUSH = "ooooooooooooAAoooBoooooBoooooooooooo"


def run(engine: Engine, batch: Submitted) -> list[dict[str, Any]]:
    while work(engine, worker="here", batch_id=batch.batch_id):
        pass
    return list(results(engine, batch.batch_id))


def table(engine: Engine, name: str) -> list[Any]:
    with engine.connect() as connection:
        return sorted(map(tuple, connection.execute(text(f"SELECT * FROM {name}"))), key=repr)


def test_every_level_gets_the_answer_that_solving_it_alone_gives(engine: Engine) -> None:
    entries = random_levels(60, families=("klotski", "rush", "parkout"))
    batch = submit(engine, entries, budget=BUDGET, name="mixed")
    assert (batch.levels, batch.bad, batch.answered) == (60, 0, 0)
    rows = run(engine, batch)
    assert [row["index"] for row in rows] == list(range(60))
    for entry, row in zip(entries, rows, strict=True):
        assert entry.puzzle is not None
        alone = unjam.solve(entry.puzzle)
        assert (row["name"], row["family"], row["key"]) == (entry.name, entry.puzzle.family, entry.puzzle.key.hex())
        assert (row["outcome"], row["length"], row["upper"]) == (alone.outcome, alone.length, alone.upper)
        if row["outcome"] == "optimal":
            # the moves are in the letters and the orientation of the level, not of the canonical form
            moves = entry.puzzle.read_notation(row["moves"], row["metric"])
            unjam.verify(entry.puzzle, replace(alone, moves=tuple(moves)))
    now = status(engine, batch.batch_id)
    assert (now.state, now.done, now.levels, now.name) == ("done", 60, 60, "mixed")
    assert sum(now.outcomes.values()) == 60
    assert now.finished is not None


def test_a_rerun_changes_nothing(engine: Engine) -> None:
    entries = random_levels(40, families=("klotski", "rush", "parkout"))
    first = run(engine, submit(engine, entries, budget=BUDGET))
    stored = {name: table(engine, name) for name in ("puzzle", "solution", "attempt")}
    again = submit(engine, entries, budget=BUDGET)
    assert (again.new, again.chunks, again.answered) == (0, [], 40)
    assert run(engine, again) == first
    assert {name: table(engine, name) for name in stored} == stored


def test_images_and_duplicates_of_a_level_are_searched_once(engine: Engine) -> None:
    puzzle = unjam.parse("rush", RUSH)
    rows = puzzle.format().split("\n")
    mirrored = unjam.parse("rush", [row[::-1] for row in rows], exit="left")
    turned = unjam.parse("rush", ["".join(column) for column in zip(*rows, strict=True)], exit="bottom")
    renamed = unjam.parse("rush", RUSH.replace("B", "Q"))
    entries = [Entry(i, i + 1, board) for i, board in enumerate([puzzle, mirrored, turned, renamed, puzzle])]
    batch = submit(engine, entries, budget=BUDGET)
    assert (batch.new, len(batch.chunks)) == (1, 1)
    moves = [row["moves"] for row in run(engine, batch)]
    assert len(table(engine, "attempt")) == 1
    for board, written in zip([puzzle, mirrored, turned, renamed, puzzle], moves, strict=True):
        unjam.verify(board, replace(unjam.solve(board), moves=tuple(board.read_notation(written, "slide"))))
    assert moves[3] == [move.replace("B", "Q") for move in moves[0]]


def test_metrics_are_never_mixed(engine: Engine) -> None:
    level = Entry(0, 1, unjam.parse("rush", RUSH), known={"slide": 2, "step": 5})
    [slide] = run(engine, submit(engine, [level], budget=BUDGET))
    [step] = run(engine, submit(engine, [level], metric="step", budget=BUDGET))
    [asked] = run(engine, submit(engine, [replace(level, metric="step")], budget=BUDGET))
    assert (slide["metric"], slide["length"], slide["known_ok"]) == ("slide", 2, True)
    assert (step["metric"], step["length"], step["known_ok"]) == ("step", 5, True)
    assert asked == step


def test_wrong_claims_are_told(engine: Engine) -> None:
    puzzle = unjam.parse("rush", RUSH)
    claims: list[dict[str, int | None]] = [{"slide": 5}, {"slide": None}, {"step": 5}, {}]
    entries = [Entry(i, i + 1, puzzle, known=known) for i, known in enumerate(claims)]
    assert [row["known_ok"] for row in run(engine, submit(engine, entries, budget=BUDGET))] == [
        False,
        False,
        None,
        None,
    ]


def test_bad_entries_are_kept_with_their_lines(engine: Engine) -> None:
    good = unjam.parse("rush", RUSH)
    entries = [
        Entry(0, 3, error="row 1: a board\0 of \ud800 nothing", name="broken"),
        Entry(1, 7, good),
        Entry(2, 9, good, metric="path"),
    ]
    batch = submit(engine, entries, budget=BUDGET)
    assert (batch.levels, batch.bad, batch.new) == (3, 2, 1)
    rows = run(engine, batch)
    assert rows[0] == {"index": 0, "name": "broken", "line": 3, "error": "row 1: a board\ufffd of ? nothing"}
    assert rows[1]["length"] == 2
    assert rows[2]["line"] == 9
    assert "rush has no metric 'path'" in rows[2]["error"]
    now = status(engine, batch.batch_id)
    assert (now.done, now.bad, now.outcomes) == (3, 2, {"optimal": 1})


def test_an_algorithm_that_does_not_fit_is_a_bad_entry(engine: Engine) -> None:
    entries = [Entry(0, 1, unjam.parse("rush", RUSH))]
    batch = submit(engine, entries, budget=BUDGET, heuristic="manhattan")
    [row] = results(engine, batch.batch_id)
    assert "heuristics can be chosen for tiles only" in row["error"]


def test_an_algorithm_asked_for_by_name_is_run_and_its_figures_shown(engine: Engine) -> None:
    entries = [Entry(0, 1, unjam.parse("rush", RUSH))]
    [default] = run(engine, submit(engine, entries, budget=BUDGET))
    forced = submit(engine, entries, budget=BUDGET, algorithm="astar")
    assert forced.new == 1
    [astar] = run(engine, forced)
    assert (default["algorithm"], astar["algorithm"]) == ("bfs", "astar")
    assert default["length"] == astar["length"]
    assert submit(engine, entries, budget=BUDGET, algorithm="astar").new == 0
    assert submit(engine, entries, budget=BUDGET).new == 0


def test_a_pack_that_breaks_off_is_not_accepted_at_all(engine: Engine) -> None:
    def entries() -> Iterator[Entry]:
        yield from random_levels(3, families=("rush",))
        raise PackError("the pack is cut short")

    with pytest.raises(PackError):
        submit(engine, entries(), budget=BUDGET)
    assert table(engine, "batch") == table(engine, "puzzle") == []


def test_an_empty_pack_is_done(engine: Engine) -> None:
    batch = submit(engine, [], budget=BUDGET)
    assert status(engine, batch.batch_id).state == "done"
    assert list(results(engine, batch.batch_id)) == []


def test_a_bounded_answer_counts_for_budgets_up_to_its_own(engine: Engine) -> None:
    [level] = hard_levels(1)
    small, large = Budget(nodes=1000), Budget(nodes=20_000)
    [first] = run(engine, submit(engine, [level], budget=small))
    assert (first["outcome"], first["length"]) == ("bounded", None)
    assert first["reason"] == "the budget of nodes ended"
    assert submit(engine, [level], budget=Budget(nodes=500)).new == 0
    assert submit(engine, [level], budget=small).new == 0
    again = submit(engine, [level], budget=large)
    assert again.new == 1
    [second] = list(results(engine, again.batch_id))
    assert second["outcome"] is None, "a level that is searched again has no outcome yet"
    [second] = run(engine, again)
    assert second["lower"] > first["lower"]
    assert submit(engine, [level], budget=large).new == 0
    assert submit(engine, [level], budget=Budget(nodes=None)).new == 1


def test_a_cancelled_batch_shows_what_is_known(engine: Engine) -> None:
    bounded, unknown = hard_levels(2)
    [first] = run(engine, submit(engine, [bounded], budget=Budget(nodes=1000)))
    batch = submit(engine, [bounded, unknown], budget=Budget(nodes=2000))
    batches.cancel(engine, batch.batch_id)
    rows = list(results(engine, batch.batch_id))
    assert rows[0] == first
    assert (rows[1]["outcome"], rows[1]["lower"]) == (None, None)
    now = status(engine, batch.batch_id)
    assert (now.state, now.done, now.outcomes) == ("cancelled", 0, {"bounded": 1})
    assert now.expanded == first["expanded"] > 0


def test_pages_and_limits_of_results(engine: Engine) -> None:
    batch = submit(engine, random_levels(30, families=("rush",)), budget=BUDGET)
    rows = run(engine, batch)
    assert list(results(engine, batch.batch_id, after=9, limit=5)) == rows[10:15]
    assert list(results(engine, batch.batch_id, after=25)) == rows[26:]
    assert list(results(engine, batch.batch_id, after=29)) == list(results(engine, batch.batch_id, limit=0)) == []


def test_results_without_moves(engine: Engine) -> None:
    batch = submit(engine, random_levels(10, families=("rush",)), budget=BUDGET)
    rows = run(engine, batch)
    for row in rows:
        del row["moves"]
    assert list(results(engine, batch.batch_id, moves=False)) == rows


def test_results_come_in_pages(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = submit(engine, random_levels(30, families=("rush",)), budget=BUDGET)
    rows = run(engine, batch)
    monkeypatch.setattr(batches, "PAGE", 7)
    assert list(results(engine, batch.batch_id)) == rows
    assert list(results(engine, batch.batch_id, limit=7)) == rows[:7]
    assert list(results(engine, batch.batch_id, limit=16)) == rows[:16]


def test_unknown_batches_are_refused(engine: Engine) -> None:
    for ask in (status, batches.cancel, results):
        with pytest.raises(NoSuchBatch, match="there is no batch 7"):
            ask(engine, 7)


def test_list_of_batches(engine: Engine) -> None:
    entries = random_levels(3, families=("rush",))
    ids = [submit(engine, entries, budget=BUDGET, name=name).batch_id for name in ("a", "b", "c")]
    assert [one.batch_id for one in batches.list_batches(engine)] == ids[::-1]
    assert [one.name for one in batches.list_batches(engine, before=ids[2], limit=1)] == ["b"]
    assert batches.list_batches(engine)[0] == batches.progress(engine, ids[2])


@pytest.mark.parametrize("number", range(8))
def test_look_up_in_any_orientation(engine: Engine, number: int) -> None:
    entries = random_levels(12, seed=number, families=("rush",))
    rows = run(engine, submit(engine, entries, budget=BUDGET))
    boards = []
    for entry in entries:
        assert entry.puzzle is not None
        boards.append(turned(entry.puzzle, number))
    for board, found, row in zip(boards, lookup(engine, [(board, None) for board in boards]), rows, strict=True):
        [answer] = found
        assert (answer["key"], answer["outcome"], answer["length"]) == (row["key"], row["outcome"], row["length"])
        if answer["length"] is not None:
            moves = board.read_notation(answer["moves"], answer["metric"])
            unjam.verify(board, replace(unjam.solve(board), moves=tuple(moves)))


def turned(puzzle: Any, number: int) -> Any:
    """The image of a rush puzzle under a symmetry of its grid."""
    image = symmetries(puzzle.width, puzzle.height)[number]
    cells = "".join(puzzle.format().split("\n"))
    board = [""] * len(cells)
    for old, new in enumerate(image.cells):
        board[new] = cells[old]
    rows = ["".join(board[start : start + image.width]) for start in range(0, len(board), image.width)]
    exits = ("left", "right", "top", "bottom")
    for side in exits:
        try:
            candidate = unjam.parse("rush", rows, exit=side)
        except unjam.errors.ParseError:
            continue
        if candidate.key == puzzle.key:
            return candidate
    raise AssertionError("no exit fits")


def test_look_up_by_metric_and_of_unknown_boards(engine: Engine) -> None:
    puzzle, other = unjam.parse("rush", RUSH), unjam.parse("rush", RUSH[:-1] + "x")
    for metric in puzzle.metrics:
        run(engine, submit(engine, [Entry(0, 1, puzzle)], metric=metric, budget=BUDGET))
    every, slide, nothing = lookup(engine, [(puzzle, None), (puzzle, "slide"), (other, None)])
    assert [answer["metric"] for answer in every] == ["slide", "step"]
    assert slide == every[:1]
    assert nothing == []
    found = by_key(engine, puzzle.key)
    assert found is not None
    assert unjam.parse(found["family"], **found["puzzle"]).key == puzzle.key
    assert [answer["length"] for answer in found["answers"]] == [2, 5]
    assert by_key(engine, other.key) is None
    assert {(row["metric"], row["outcome"], row["puzzles"]) for row in stats(engine)} == {
        ("slide", "optimal", 1),
        ("step", "optimal", 1),
    }


def columns(**values: object) -> dict[str, object]:
    optimal = {"outcome": "optimal", "length": 1, "lower": 1, "upper": 1, "moves": b"\0\1"}
    return {"metric": "step", "family": "rush", "expanded": 0, "generated": 0, "seconds": 0, **optimal, **values}


@pytest.mark.parametrize(
    "broken",
    [
        columns(outcome="bounded"),
        columns(length=None),
        columns(upper=2),
        columns(lower=0),
        columns(moves=None),
        columns(moves=b"\0\1\2\3"),
        columns(outcome="perhaps"),
        columns(metric="jump"),
        columns(outcome="bounded", length=None, lower=3, upper=2, moves=None),
        columns(outcome="bounded", length=None, lower=None, upper=1),
        columns(outcome="unsolvable", length=None),
    ],
)
def test_the_database_refuses_answers_that_cannot_be(engine: Engine, broken: dict[str, object]) -> None:
    with engine.begin() as connection:
        puzzle_id = connection.execute(
            text(
                "INSERT INTO puzzle (key, family, rules_version, width, height, pieces, canonical)"
                " VALUES (:key, 'rush', 1, 6, 6, 2, '{}') RETURNING id"
            ),
            {"key": bytes(16)},
        ).scalar_one()

    def insert(values: dict[str, object]) -> None:
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        with engine.begin() as connection:
            connection.execute(
                text(f"INSERT INTO solution (puzzle_id, {names}) VALUES (:puzzle, {marks})"),
                {"puzzle": puzzle_id, **values},
            )

    with pytest.raises(IntegrityError):
        insert(broken)
    insert(columns())


def test_who_is_stopped_in_a_transaction_loses_its_locks(database_url: str) -> None:
    """Whatever other options the URL has."""
    engine = open_engine(f"{database_url}&options=-c%20jit%3Doff")
    with engine.connect() as connection:
        shown = [
            connection.execute(text(f"SHOW {name}")).scalar_one()
            for name in ("idle_in_transaction_session_timeout", "jit")
        ]
    engine.dispose()
    assert shown == ["20s", "off"]


def test_a_large_order_does_not_wait_for_a_vacuum(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MANY", 1)
    with engine.begin() as vacuum:
        vacuum.execute(text("LOCK TABLE puzzle IN SHARE UPDATE EXCLUSIVE MODE"))
        assert submit(engine, random_levels(3, families=("rush",)), budget=BUDGET).levels == 3


def test_names_tags_and_letters_come_back_as_they_were(engine: Engine) -> None:
    puzzle = unjam.parse("klotski", ["\\A.", '"A.', "N{."], goal=["...", "..A", "..A"])
    odd = r'\N \. \\ "quoted" {a,b} \t ä 🚗 \x41'
    entries = [
        Entry(0, 1, puzzle, name=odd, tags=(odd, "", "NULL", "a,b"), known={"path": 3}),
        Entry(1, 2, error=f"a tab\there, a line\nend, {odd}"),
    ]
    batch = submit(engine, entries, budget=BUDGET)
    with engine.connect() as connection:
        [good, bad] = connection.execute(text("SELECT name, tags, known, fields, error FROM batch_item ORDER BY index"))
    assert (good.name, good.tags, good.known, good.fields) == (odd, list(entries[0].tags), {"path": 3}, puzzle.fields())
    assert bad.error == entries[1].error
    assert run(engine, batch)[0]["known_ok"] is not None


def test_more_orders_at_once_than_there_are_connections(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "BLOCK", 2)
    together = threading.Barrier(CONNECTIONS, timeout=60)

    def order(number: int) -> Submitted:
        def levels() -> Iterator[Entry]:
            if number < CONNECTIONS:
                together.wait()  # all hold a connection
            yield from random_levels(5, seed=number, families=("rush",))

        return submit(engine, levels(), budget=BUDGET)

    with ThreadPoolExecutor(2 * CONNECTIONS) as pool:
        made = list(pool.map(order, range(2 * CONNECTIONS)))
    assert [one.levels for one in made] == [5] * len(made)


def test_levels_that_are_slow_to_read_do_not_end_their_order(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "IDLE_SECONDS", 1)
    engine = open_engine(database_url)

    def levels() -> Iterator[Entry]:
        yield from random_levels(1, families=("rush",))
        time.sleep(2.5)

    assert submit(engine, levels(), budget=BUDGET).levels == 1
    engine.dispose()
