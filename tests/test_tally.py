"""Counts of what was done: those of the attempts that are stored, and of leases that were lost."""

from __future__ import annotations

from collections import defaultdict

import pytest
from sqlalchemy import Engine, text
from test_chunks import answer, submit, take

from tests.levels import random_levels
from tests.shared_searches import MEDIUM, started
from unjam.search.solution import Budget
from unjam.store import batches, chunks
from unjam.store.tally import BOUNDS, totals
from unjam.work import drain

ATTEMPTS = """
SELECT p.family, count(*), sum(a.seconds), sum(a.expanded), sum(a.generated)
FROM attempt a JOIN puzzle p ON p.id = a.puzzle_id GROUP BY p.family
"""


def by_name(engine: Engine) -> dict[str, dict[str, float]]:
    """Sums by name and family."""
    found: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for one in totals(engine):
        found[one.name][one.family] += one.amount
    return found


def assert_counts_are_those_of_the_attempts(engine: Engine, but_for: float = 0) -> None:
    found = by_name(engine)
    with engine.connect() as connection:
        rows = connection.execute(text(ATTEMPTS)).all()
    assert rows
    assert {row.family for row in rows} == set(found["attempts"])
    for family, attempts, seconds, expanded, generated in rows:
        assert found["attempts"][family] == attempts
        assert found["attempt_seconds"][family] == pytest.approx(seconds)
        assert found["expanded"][family] == pytest.approx(int(expanded), rel=but_for)
        assert found["generated"][family] == pytest.approx(int(generated), rel=but_for)


def test_every_attempt_is_counted_once(engine: Engine, database_url: str) -> None:
    for seed in (1, 2):
        batch = batches.submit(engine, random_levels(80, seed), budget=Budget(seconds=60))
        drain(database_url, batch.batch_id, 2)
    assert_counts_are_those_of_the_attempts(engine)
    with engine.connect() as connection:
        outcomes = dict(connection.execute(text("SELECT outcome, count(*) FROM attempt GROUP BY 1")).all())  # type: ignore[arg-type]
        quick = connection.execute(text("SELECT count(*) FROM attempt WHERE seconds < 0.001")).scalar_one()
    counted: dict[str, float] = defaultdict(float)
    for one in totals(engine):
        if one.name == "attempts":
            counted[one.outcome] += one.amount
            assert one.le in (*BOUNDS, float("inf"))
    assert counted == outcomes
    assert sum(one.amount for one in totals(engine) if one.name == "attempts" and one.le <= 0.001) == quick


@pytest.mark.usefixtures("short_slices")
def test_nodes_of_a_shared_search_are_counted_while_it_goes_on(engine: Engine, database_url: str) -> None:
    batch = started(engine, MEDIUM)
    began = by_name(engine)["generated"]["tiles"]
    assert began > 0
    drain(database_url, batch.batch_id, 2)
    assert by_name(engine)["generated"]["tiles"] > began
    assert_counts_are_those_of_the_attempts(engine, but_for=0.01)


def test_lost_leases_and_late_writes(engine: Engine) -> None:
    batch = submit(engine, 16)
    held = take(engine, batch)
    chunks.recover(engine, worker=held.worker)
    assert chunks.finish(engine, held, answer(held)) is None
    found = by_name(engine)
    assert (found["leases_lost"][""], found["late_writes"][""]) == (1, 1)
    assert "attempts" not in found
