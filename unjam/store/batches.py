"""Batches: orders to solve many puzzles. Submitting is one transaction, and its commit is the acceptance."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Engine, func, insert, select, update

from unjam.errors import NoSuchBatch
from unjam.packs.entry import Entry
from unjam.puzzles import parse
from unjam.puzzles.puzzle import Metric
from unjam.puzzles.rush import Rush
from unjam.search.rush_bulk import quick_rush
from unjam.search.solution import Budget
from unjam.store.answers import answer, known_holds, way_back, write_moves
from unjam.store.ingest import add_levels, storable
from unjam.store.once import Once, earlier_batch
from unjam.store.schema import batch, chunk, pending
from unjam.store.sql import sql

Queue = Literal["interactive", "bulk"]
CHUNK_SECONDS = 2.0  # expected of a chunk, at most; whoever waits for a worker waits about so long
SHORT_SECONDS = 0.25  # at least: each chunk of a batch waits for its turn
CHUNK_PUZZLES = 8000  # at most
WORK_MEMORY = "64MB"  # of each sort and hash of Postgres for a large order
PAGE = 1000  # levels that results() holds at a time
MANY = 10_000  # levels after which the planner is told at once, not when autovacuum comes by


@dataclass(frozen=True, slots=True)
class Submitted:
    """``levels`` were accepted: ``bad`` are no puzzles, ``answered`` need no search, ``new`` puzzles are searched.

    Of an order that came before, as far as it is now, and without chunks.
    """

    batch_id: int
    levels: int
    new: int
    answered: int
    bad: int
    chunks: list[int]


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a batch is, at a cost that does not grow with its levels.

    ``done`` counts levels that are not waited for, bad ones too. ``key`` is the name of the API key of the order.
    """

    batch_id: int
    name: str | None
    key: str | None
    queue: Queue
    state: Literal["running", "done", "cancelled"]
    levels: int
    done: int
    waiting_chunks: int
    running_chunks: int
    oldest_waiting: datetime | None
    created: datetime
    finished: datetime | None


@dataclass(frozen=True, slots=True)
class BatchStatus(BatchProgress):
    """How far a batch is and what came of it; ``seconds`` is search time.

    Of a cancelled batch ``outcomes`` also has what is known of the levels that it did not come to.
    """

    bad: int
    outcomes: dict[str, int]
    expanded: int
    seconds: float


def submit(
    engine: Engine,
    entries: Iterable[Entry],
    *,
    metric: Metric | None = None,
    budget: Budget,
    queue: Queue = "bulk",
    name: str | None = None,
    algorithm: str | None = None,
    heuristic: str | None = None,
    distributed: bool = False,
    key_id: int | None = None,
    once: Once | None = None,
) -> Submitted:
    """Accept a pack, of the API key ``key_id``. What ``entries`` raises is passed on, and nothing is accepted.

    The metric of a level is ``metric``, else the entry's, else the family's default; one that its family does not have
    makes it a bad entry, and so does an ``algorithm`` or ``heuristic`` that does not fit it. ``distributed`` shares the
    searches of tiles in steps among all workers at once; otherwise that happens to those that take long.

    An order with ``once`` becomes one batch, however often it comes; raises OrderConflict if it is another than before.
    """
    with engine.begin() as connection:
        if once is not None and (earlier := earlier_batch(connection, key_id, once)) is not None:
            return _submitted_before(connection, earlier)
        connection.exec_driver_sql(f"SET LOCAL work_mem = '{WORK_MEMORY}'")
        # nobody else waits for what it holds, and reading the levels may take long
        connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
        batch_id = connection.execute(
            insert(batch)
            .values(
                name=name and storable(name),
                queue=queue,
                levels=0,
                budget_seconds=budget.seconds,
                budget_nodes=budget.nodes,
                budget_bytes=budget.bytes,
                algorithm=algorithm,
                heuristic=heuristic,
                distributed=distributed,
                key_id=key_id,
                idempotency_key=once and once.key,
                idempotency_digest=once and once.digest,
            )
            .returning(batch.c.id)
        ).scalar_one()
        levels = add_levels(engine, connection, batch_id, entries, metric, (algorithm, heuristic))
        connection.execute(update(batch).where(batch.c.id == batch_id).values(levels=levels.number))
        if levels.number >= MANY:
            connection.exec_driver_sql("ANALYZE staging")
        cut = {"seconds": CHUNK_SECONDS, "short": SHORT_SECONDS, "least": CHUNK_SECONDS / CHUNK_PUZZLES}
        made = connection.exec_driver_sql(sql("add_chunks"), {"batch": batch_id, **cut}).one()
        if levels.number >= MANY:
            # not while somebody else does it, nor behind a vacuum that may take hours
            connection.exec_driver_sql("ANALYZE (SKIP_LOCKED) puzzle, batch_item, pending")
    answered = levels.number - levels.bad - made.levels
    return Submitted(batch_id, levels.number, made.puzzles, answered, levels.bad, made.chunks)


def _submitted_before(connection: Connection, batch_id: int) -> Submitted:
    items = connection.exec_driver_sql(sql("count_items"), {"batch": batch_id}).one()
    waiting = select(func.count()).select_from(pending).where(pending.c.batch_id == batch_id)
    return Submitted(batch_id, items.levels, connection.execute(waiting).scalar_one(), items.answered, items.bad, [])


def status(engine: Engine, batch_id: int) -> BatchStatus:
    """How far the batch is, and what came of it, which reads all its levels; raises NoSuchBatch."""
    with engine.connect() as connection:
        so_far = _progress(connection, batch_id)
        connection.exec_driver_sql("SET LOCAL work_mem = '64MB'")
        here = {"batch": batch_id, "cancelled": so_far.state == "cancelled"}
        groups = connection.exec_driver_sql(sql("outcomes"), here).all()
    bad = so_far.levels - sum(group.levels for group in groups)
    return BatchStatus(
        **asdict(so_far),
        bad=bad,
        outcomes={group.outcome: group.levels for group in groups if group.outcome is not None},
        expanded=sum(group.expanded for group in groups),
        seconds=sum(group.seconds for group in groups),
    )


def progress(engine: Engine, batch_id: int) -> BatchProgress:
    """How far the batch is; raises NoSuchBatch."""
    with engine.connect() as connection:
        return _progress(connection, batch_id)


def progress_of(engine: Engine, batch_ids: Collection[int]) -> list[BatchProgress]:
    """How far these batches are, those that are there."""
    with engine.connect() as connection:
        return _some(connection, "some_batches", {"batches": list(batch_ids)})


def list_batches(
    engine: Engine, *, before: int | None = None, limit: int = 100, key_id: int | None = None
) -> list[BatchProgress]:
    """The newest batches first, of those numbered below ``before``; with ``key_id`` only those of that key."""
    with engine.connect() as connection:
        return _some(connection, "newest_batches", {"before": before, "limit": limit, "key": key_id})


def _progress(connection: Connection, batch_id: int) -> BatchProgress:
    found = _some(connection, "some_batches", {"batches": [batch_id]})
    if not found:
        raise NoSuchBatch(f"there is no batch {batch_id}")
    return found[0]


def _some(connection: Connection, which: str, parameters: dict[str, Any]) -> list[BatchProgress]:
    return [
        BatchProgress(
            batch_id=row.id,
            name=row.name,
            key=row.key,
            queue=row.queue,
            state=row.state,
            levels=row.levels,
            done=row.levels if row.state == "done" else max(row.levels - row.open, 0),
            waiting_chunks=row.waiting,
            running_chunks=row.leased,
            oldest_waiting=row.oldest,
            created=row.created,
            finished=row.finished,
        )
        for row in connection.exec_driver_sql(sql(which), parameters)
    ]


def cancel(engine: Engine, batch_id: int) -> None:
    """Search no more for this batch; running searches end within about a second. Raises NoSuchBatch.

    One that is done stays so.
    """
    if progress(engine, batch_id).state != "running":
        return
    with engine.begin() as connection:
        known = connection.execute(
            update(batch)
            .where(batch.c.id == batch_id)
            .values(cancelled=func.coalesce(batch.c.cancelled, func.now()))
            .returning(batch.c.id)
        ).one_or_none()
        if known is None:
            raise NoSuchBatch(f"there is no batch {batch_id}")
        connection.execute(
            update(chunk)
            .where(chunk.c.batch_id == batch_id, chunk.c.state == "waiting")
            .values(state="cancelled", finished=func.now())
        )


def results(
    engine: Engine, batch_id: int, *, after: int = -1, limit: int | None = None, moves: bool = True
) -> Iterator[dict[str, Any]]:
    """The levels of a batch in pack order, from the one after index ``after`` on, as JSON fields (docs/formats.md).

    Reads page by page, so memory stays constant and a slow reader holds no transaction. Without ``moves``, which cost a
    replay of each level, there is no such field. Raises NoSuchBatch.
    """
    with engine.connect() as connection:
        if connection.execute(select(batch.c.id).where(batch.c.id == batch_id)).one_or_none() is None:
            raise NoSuchBatch(f"there is no batch {batch_id}")
    return _pages(engine, batch_id, after, limit, moves)


def _pages(engine: Engine, batch_id: int, after: int, limit: int | None, moves: bool) -> Iterator[dict[str, Any]]:
    while limit is None or limit > 0:
        size = PAGE if limit is None else min(PAGE, limit)
        with engine.connect() as connection:
            page = connection.exec_driver_sql(sql("results"), {"batch": batch_id, "after": after, "limit": size})
            rows = page.mappings().all()
        for row in rows:
            yield _level(row, moves)
        if len(rows) < size:
            return
        after = rows[-1]["index"]
        limit = limit and limit - size


def _level(row: Any, moves: bool) -> dict[str, Any]:
    place = {"index": row["index"], "name": row["name"]}
    if row["error"] is not None:
        return {**place, "line": row["line"], "error": row["error"]}
    fields = answer(row)
    if moves:
        fields["moves"] = _written(row)
    else:
        del fields["moves"]
    return {**place, **fields, "known": row["known"], "known_ok": known_holds(row["known"], row)}


def _written(row: Any) -> list[str] | None:
    if row["moves"] is None:
        return None
    puzzle = (row["family"] == Rush.family and quick_rush(**row["fields"])) or parse(row["family"], **row["fields"])
    return write_moves(row, puzzle, way_back(puzzle.width, puzzle.height, row["symmetry"]))
