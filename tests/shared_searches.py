"""What the tests of shared searches have in common: boards, orders and a look into the store."""

from __future__ import annotations

import random
from typing import Any

from sqlalchemy import Engine, text

import unjam
from unjam.packs.entry import Entry
from unjam.search.solution import Budget, Solution
from unjam.store import batches
from unjam.store.batches import Submitted
from unjam.work import work

HEURISTIC = "manhattan"
EMPTY = {"checkpoint": 0, "slice": 0, "pending": 0}


def board(seed: int) -> Entry:
    """A random 15-puzzle."""
    numbers = random.Random(seed).sample(range(16), 16)
    return Entry(0, 1, unjam.parse("tiles", " ".join(map(str, numbers))))


MEDIUM, LONG, HARD = board(9), board(13), board(24)  # 39 and 159 million nodes; more than a test has time for


def submit(engine: Engine, entry: Entry, budget: Budget = Budget()) -> Submitted:
    return batches.submit(engine, [entry], metric="step", budget=budget, heuristic=HEURISTIC, distributed=True)


def query(engine: Engine, statement: str) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(text(statement)))


def left(engine: Engine) -> dict[str, int]:
    return {table: query(engine, f"SELECT count(*) FROM {table}")[0][0] for table in EMPTY}


def one_process(entry: Entry) -> Solution:
    assert entry.puzzle is not None
    canonical = unjam.puzzles.from_canonical(entry.puzzle.family, entry.puzzle.canonical)
    return unjam.solve(canonical, "step", heuristic=HEURISTIC)


def assert_answered(engine: Engine, batch: Submitted, expected: Solution) -> None:
    """The one process's length, its nodes under every full bound, and nothing left behind."""
    [row] = batches.results(engine, batch.batch_id)
    assert (row["outcome"], row["length"], row["reason"]) == ("optimal", expected.length, None)
    [(profile,)] = query(engine, "SELECT profile FROM attempt")
    full = list(expected.profile[:-1])
    assert profile[: len(full)] == full
    assert row["generated"] == sum(profile)
    assert left(engine) == EMPTY
    assert batches.status(engine, batch.batch_id).state == "done"


def started(engine: Engine, entry: Entry, budget: Budget = Budget()) -> Submitted:
    """A batch whose search is shared."""
    batch = submit(engine, entry, budget)
    work(engine, worker="here", batch_id=batch.batch_id)
    assert query(engine, f"SELECT count(*) FROM checkpoint WHERE batch_id = {batch.batch_id}") == [(1,)]
    return batch


def waiting(engine: Engine) -> int:
    return int(query(engine, "SELECT count(*) FROM chunk WHERE state IN ('waiting', 'leased')")[0][0])
