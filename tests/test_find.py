"""Levels by their optimum: the right ones, each once, in a stable order, from wherever one begins."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from sqlalchemy import Engine, text

import unjam
from tests.levels import random_levels
from unjam.packs import read_objects
from unjam.search.solution import Budget
from unjam.store import batches, find
from unjam.store.find import Wanted, find_page
from unjam.store.sql import sql
from unjam.work import work


@pytest.fixture
def solved(engine: Engine) -> list[dict[str, Any]]:
    """The answers to random boards, rush and klotski, in two batches."""
    rows = []
    for seed in (1, 2):
        entries = random_levels(80, seed=seed, families=("rush", "klotski"))
        batch = batches.submit(engine, entries, budget=Budget(seconds=60))
        while work(engine, worker="here", batch_id=batch.batch_id):
            pass
        rows += list(batches.results(engine, batch.batch_id))
    return rows


def keys(levels: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> list[str]:
    return [level["name"] for level in levels]


def walk(engine: Engine, wanted: Wanted, seed: int | None, limit: int) -> list[str]:
    """All levels, page by page."""
    found: list[str] = []
    page = find_page(engine, wanted, None, limit, seed)
    while True:
        assert len(page.levels) <= limit
        found += keys(page.levels)
        if page.next is None:
            return found
        page = find_page(engine, wanted, page.next, limit)


def test_levels_are_those_with_so_many_moves(engine: Engine, solved: list[dict[str, Any]]) -> None:
    expected = {row["key"]: row["length"] for row in solved if row["family"] == "rush" and row["length"] in (1, 2)}
    assert len(set(expected.values())) == 2
    levels = list(find.find(engine, Wanted("rush", "slide", 1, 2), limit=1000))
    assert {level["name"]: level["known"]["slide"] for level in levels} == expected
    for level in levels:
        puzzle = unjam.parse("rush", level["board"], exit=level["exit"])
        assert puzzle.key.hex() == level["name"]
        assert (level["family"], level["metric"]) == ("rush", "slide")
    assert list(find.find(engine, Wanted("rush", "step", 1, 2), limit=1000)) == []
    assert list(find.find(engine, Wanted("rush", "slide", 1000), limit=1000)) == []
    assert list(find.find(engine, Wanted("tiles", "step"), limit=1000)) == []


def test_the_order_is_stable_and_pages_go_on_where_the_last_one_ended(
    engine: Engine, solved: list[dict[str, Any]]
) -> None:
    wanted = Wanted("rush", "slide")
    every = keys(find.find(engine, wanted, limit=1000))
    assert len(every) == len({row["key"] for row in solved if row["family"] == "rush" and row["length"] is not None})
    for limit in (1, 3, 7, len(every), 1000):
        assert walk(engine, wanted, None, limit) == every
    assert keys(find.find(engine, wanted, limit=5)) == every[:5]


@pytest.mark.parametrize("seed", range(6))
def test_a_seed_begins_elsewhere_and_still_comes_to_each_level_once(
    engine: Engine, solved: list[dict[str, Any]], seed: int
) -> None:
    wanted = Wanted("rush", "slide", min=1)
    every = keys(find.find(engine, wanted, limit=1000))
    for limit in (1, 4, 1000):
        found = walk(engine, wanted, seed, limit)
        place = every.index(found[0])
        assert found == every[place:] + every[:place]
    assert keys(find.find(engine, wanted, limit=1000, seed=seed)) == found


def test_seeds_differ(engine: Engine, solved: list[dict[str, Any]]) -> None:
    wanted = Wanted("rush", "slide", min=1)
    firsts = [next(find.find(engine, wanted, limit=1, seed=seed))["name"] for seed in range(20)]
    assert len(set(firsts)) > 5


def test_size_and_pieces_choose(engine: Engine, solved: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    levels = list(find.find(engine, Wanted("klotski", "path"), limit=1000))
    puzzles = {entry.name: entry.puzzle for entry in read_objects(levels) if entry.puzzle}
    chosen = Random(1).choice(list(puzzles.values()))
    size, pieces = (chosen.height, chosen.width), chosen.pieces
    expected = [
        key for key, puzzle in puzzles.items() if {puzzle.width, puzzle.height} == set(size) and puzzle.pieces == pieces
    ]
    wanted = Wanted("klotski", "path", size=size, pieces=pieces)
    assert keys(find.find(engine, wanted, limit=1000)) == expected
    # a page ends when many levels were looked at, and the next one goes on
    monkeypatch.setattr(find, "LOOKED_AT", 3)
    assert keys(find.find(engine, wanted, limit=1000)) == walk(engine, wanted, None, 2) == expected
    assert len(find_page(engine, wanted, None, 2).levels) <= 2


def test_no_more_is_read_than_is_shown(engine: Engine, solved: list[dict[str, Any]]) -> None:
    """The index gives the levels of each optimum in the order of puzzles: no page of a large store is sorted."""
    with engine.begin() as connection:
        connection.execute(text("ANALYZE"))
        connection.execute(text("SET LOCAL enable_seqscan = off"))
        connection.execute(text("SET LOCAL enable_bitmapscan = off"))
        parameters = find._parameters(Wanted("rush", "slide", 2, 4), 0, find.NEWEST, 20)
        plan = connection.exec_driver_sql(f"EXPLAIN {sql('find')}", parameters).scalars().all()
    scans = [line for line in plan if "solution_family_metric_length_puzzle_id_idx" in line]
    assert len(scans) == 3, plan
    assert sum("Sort" in line for line in plan) <= 2, plan
