"""Working chunks off with processes of this machine, and the ways that can go wrong."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, text

import unjam
import unjam.work
from tests.levels import hard_levels, random_levels
from tests.service import holders
from tests.waiting import wait_until
from unjam.errors import StoreError
from unjam.packs.entry import Entry
from unjam.search.solution import Budget, Solution
from unjam.settings import Settings
from unjam.store import batches, chunks
from unjam.watch import stored
from unjam.work import drain, work

BUDGET = Budget(seconds=60, bytes=10**9)


def test_processes_solve_a_batch_and_tell_how_far_they_are(engine: Engine, database_url: str) -> None:
    batch = batches.submit(engine, random_levels(100, families=("klotski", "rush", "parkout")), budget=BUDGET)
    told: list[int] = []
    drain(database_url, batch.batch_id, 2, told.append)
    now = batches.status(engine, batch.batch_id)
    assert (now.state, now.done) == ("done", 100)
    assert told == sorted(told)
    assert told[0] < 10  # duplicates of levels that are searched only once
    assert told[-1] == 100
    assert set(now.outcomes) <= {"optimal", "unsolvable"}


def test_nothing_to_do_is_done_at_once(engine: Engine, database_url: str) -> None:
    batch = batches.submit(engine, [], budget=BUDGET)
    drain(database_url, batch.batch_id, 2)
    assert batches.status(engine, batch.batch_id).state == "done"


def test_stopping_ends_running_searches_and_keeps_what_is_done(engine: Engine, database_url: str) -> None:
    easy = random_levels(10, families=("rush",))
    hard = [replace(entry, index=10 + entry.index) for entry in hard_levels(4)]
    batch = batches.submit(engine, [*easy, *hard], budget=BUDGET)
    asked: list[float] = []

    def stop() -> bool:
        if not asked and batches.status(engine, batch.batch_id).done == 10:
            asked.append(time.monotonic())
        return bool(asked)

    drain(database_url, batch.batch_id, 2, stop=stop)
    assert time.monotonic() - asked[0] < 10
    now = batches.status(engine, batch.batch_id)
    assert (now.state, now.done, now.running_chunks) == ("running", 10, 0)
    assert now.waiting_chunks > 0


def test_cancelling_the_batch_ends_running_searches(engine: Engine, database_url: str) -> None:
    batch = batches.submit(engine, hard_levels(2), budget=BUDGET)
    thread = threading.Thread(target=drain, args=(database_url, batch.batch_id, 2))
    thread.start()
    wait_until(lambda: batches.status(engine, batch.batch_id).running_chunks == 2)
    batches.cancel(engine, batch.batch_id)
    thread.join(15)
    assert not thread.is_alive()
    now = batches.status(engine, batch.batch_id)
    assert (now.state, now.running_chunks, now.outcomes) == ("cancelled", 0, {})


def test_a_killed_process_is_replaced_and_loses_nothing(engine: Engine, database_url: str) -> None:
    batch = batches.submit(engine, hard_levels(4), budget=Budget(seconds=1.5))
    thread = threading.Thread(target=drain, args=(database_url, batch.batch_id, 2))
    thread.start()
    wait_until(lambda: len(holders(engine)) == 2)
    victim = holders(engine)[0]
    os.kill(victim, signal.SIGKILL)
    thread.join(30)
    assert not thread.is_alive()
    assert batches.status(engine, batch.batch_id).outcomes == {"bounded": 4}
    with engine.connect() as connection:
        attempts = connection.execute(text("SELECT worker FROM attempt")).scalars().all()
    assert len(attempts) == 4, "each puzzle was answered once"
    assert not any(name.endswith(f":{victim}") for name in attempts)


def test_what_postgres_gives_to_a_killed_process_is_given_again(
    engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last order to Postgres may be carried out after its death."""
    monkeypatch.setattr(unjam.work, "RECOVER_SECONDS", 0.2)
    batch = batches.submit(engine, hard_levels(4), budget=Budget(seconds=1))
    thread = threading.Thread(target=drain, args=(database_url, batch.batch_id, 1))
    thread.start()
    wait_until(lambda: len(holders(engine)) == 1)
    [victim] = holders(engine)
    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: holders(engine) not in ([], [victim]))
    assert chunks.lease(engine, f"{socket.gethostname()}:{victim}", seconds=300)
    thread.join(30)
    assert not thread.is_alive()
    assert batches.status(engine, batch.batch_id).outcomes == {"bounded": 4}


def test_a_puzzle_that_kills_its_process_is_given_up_and_its_neighbours_are_solved(
    engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = random_levels(40, families=("klotski",))
    deadly = entries[17].puzzle
    assert deadly is not None
    honest = unjam.work.solve

    def solve(puzzle: Any, *rest: Any, **more: Any) -> Any:
        if puzzle.key == deadly.key:
            os.kill(os.getpid(), signal.SIGKILL)
        return honest(puzzle, *rest, **more)

    monkeypatch.setattr(unjam.work, "solve", solve)
    batch = batches.submit(engine, entries, budget=BUDGET)
    drain(database_url, batch.batch_id, 2)
    rows = list(batches.results(engine, batch.batch_id))
    assert {row["index"] for row in rows if row["key"] == deadly.key.hex()} == {
        row["index"] for row in rows if row["outcome"] == "failed"
    }
    assert batches.status(engine, batch.batch_id).state == "done"


def test_processes_that_cannot_start_are_an_error_not_a_loop(
    engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batches.submit(engine, hard_levels(1), budget=BUDGET)
    monkeypatch.setattr(unjam.work, "work", lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(StoreError, match="killed as soon as they start"):
        drain(database_url, batch.batch_id, 1)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("no luck")])
def test_an_error_of_one_puzzle_is_its_answer(
    engine: Engine, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = random_levels(4, families=("klotski",))
    broken = entries[2].puzzle
    assert broken is not None
    honest = unjam.work.solve

    def solve(puzzle: Any, *rest: Any, **more: Any) -> Any:
        if puzzle.key == broken.key:
            raise error
        return honest(puzzle, *rest, **more)

    monkeypatch.setattr(unjam.work, "solve", solve)
    batch = batches.submit(engine, entries, budget=BUDGET)
    while work(engine, worker="here"):
        pass
    rows = list(batches.results(engine, batch.batch_id))
    assert rows[2]["outcome"] == "failed"
    assert rows[2]["reason"].startswith(type(error).__name__)
    assert {rows[number]["outcome"] for number in (0, 1, 3)} <= {"optimal", "unsolvable"}


def test_answers_that_do_not_replay_are_failures(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def wrong(found: Solution) -> Solution:
        return replace(found, moves=found.moves[:-1])

    one, many = unjam.work.solve, unjam.search.rush_bulk.solve_many
    monkeypatch.setattr(unjam.work, "solve", lambda *rest, **more: wrong(one(*rest, **more)))
    monkeypatch.setattr(unjam.search.rush_bulk, "solve_many", lambda *rest: list(map(wrong, many(*rest))))
    for puzzle in (
        unjam.parse("rush", "ooooooooooooAAoooBoooooBoooooooooooo"),
        unjam.parse("klotski", ["A.."], goal=["..A"]),
    ):
        batch = batches.submit(engine, [Entry(0, 1, puzzle)], budget=BUDGET)
        work(engine, worker="here")
        [row] = batches.results(engine, batch.batch_id)
        assert (row["outcome"], row["length"], row["moves"]) == ("failed", None, None)
        assert row["reason"].startswith("does not replay: ")
        assert f"failed: {row['reason']}" in caplog.text
        caplog.clear()


def test_a_long_search_keeps_its_lease(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unjam.work, "get_settings", lambda: Settings(lease_seconds=4))
    batch = batches.submit(engine, hard_levels(1), budget=Budget(seconds=7))
    thread = threading.Thread(target=work, args=(engine,), kwargs={"worker": "here"})
    thread.start()
    lost = 0
    while thread.is_alive():
        lost += chunks.recover(engine).leases
        thread.join(0.1)
    assert lost == 0
    assert batches.status(engine, batch.batch_id).outcomes == {"bounded": 1}


def test_who_was_stopped_in_a_transaction_tries_again(engine: Engine) -> None:
    pauses = [0.5, 0.0]

    def step() -> int:
        with engine.begin() as connection:
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = '100ms'"))
            time.sleep(pauses.pop(0))
            return int(connection.execute(text("SELECT 1")).scalar_one())

    assert stored(step) == 1
    assert pauses == []


def test_slow_chunks_are_shared_out(engine: Engine, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unjam.work, "CHUNK_SECONDS", 0.2)
    batch = batches.submit(engine, hard_levels(48), budget=Budget(seconds=0.15))
    with engine.begin() as connection:  # all in one chunk
        connection.execute(text("UPDATE pending SET chunk_id = (SELECT min(id) FROM chunk)"))
    drain(database_url, batch.batch_id, 2)
    with engine.connect() as connection:
        query = text("SELECT count(*) FROM attempt GROUP BY worker")
        shares = connection.execute(query).scalars().all()
    assert sum(shares) == 48
    assert len(shares) == 2
    assert min(shares) > 12


def test_processes_end_when_their_parent_is_killed(engine: Engine, database_url: str) -> None:
    batch = batches.submit(engine, hard_levels(2), budget=BUDGET)
    code = f"from unjam.work import drain; drain({database_url!r}, {batch.batch_id}, 2)"
    parent = subprocess.Popen([sys.executable, "-c", code])
    wait_until(lambda: len(holders(engine)) == 2)
    children = holders(engine)
    parent.kill()
    parent.wait()
    wait_until(lambda: not any(alive(pid) for pid in children))
    now = batches.status(engine, batch.batch_id)
    assert (now.waiting_chunks, now.running_chunks) == (2, 0), "they handed their chunks back"


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
