"""`unjam cancel`: all workers stop, and nothing of the batch is solved afterwards."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import Engine, text

from tests.levels import hard_levels, mixed_levels
from tests.service import Service, attempts, wait_for_holder
from tests.shared_searches import HARD, HEURISTIC
from tests.waiting import wait_until
from unjam.search.solution import Budget
from unjam.store import batches

LATEST = 15.0  # seconds that a busy machine may take for what takes an idle one less than two


@pytest.mark.parametrize(
    ("kind", "budget"),
    [("searches", 60.0), ("chunk after chunk", 0.3), ("slices", None)],
    ids=["long searches", "chunk after chunk", "slices"],
)
def test_cancelling_stops_all_workers_and_nothing_is_solved_afterwards(
    engine: Engine, service: Service, kind: str, budget: float | None
) -> None:
    for name in ("one", "two"):
        service.worker(name)
    service.reconciler()
    if kind == "slices":
        batch = batches.submit(engine, [HARD], metric="step", budget=Budget(), heuristic=HEURISTIC, distributed=True)
    else:
        entries = hard_levels(8) if kind == "searches" else mixed_levels(100, 300)
        batch = batches.submit(engine, entries, budget=Budget(seconds=budget, bytes=10**9))
    service.announce(batch)
    wait_for_holder(engine) if kind != "slices" else wait_until(lambda: slices(engine) > 2)
    told = service.cli("cancel", str(batch.batch_id))
    assert told.returncode == 0
    assert "cancelled" in told.stdout
    wait_until(lambda: batches.status(engine, batch.batch_id).running_chunks == 0)
    now = batches.status(engine, batch.batch_id)
    answered = attempts(engine)
    time.sleep(2)  # hints of other chunks are left
    assert batches.status(engine, batch.batch_id) == now
    assert (now.state, now.waiting_chunks) == ("cancelled", 0)
    assert attempts(engine) == answered
    with engine.connect() as connection:
        late = """
            SELECT max(greatest(c.finished, (SELECT max(created) FROM attempt)) - b.cancelled)
            FROM chunk c JOIN batch b ON b.id = c.batch_id
        """
        last = connection.execute(text(late)).scalar_one().total_seconds()
    print(f"{kind}: the last chunk was handed back {last:.2f} s after the cancelling")
    assert last < LATEST


def slices(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM slice")).scalar_one())
