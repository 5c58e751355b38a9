"""Slices: parts of a search that many workers share, each a chunk of its own.

The search is kept in a checkpoint and goes from bound to bound. A worker takes a slice as any other chunk, for some
seconds, and gives back what it has counted and where it stopped; what is left waits again. Who finishes the last slice
of a bound makes those of the next one. So a worker that dies costs what it did since it took its slice, and nothing is
counted twice. What a search has done when its budget ends, or its batch is cancelled, is kept for a later order.

Locks are taken in one order: the batch, the task's chunk where a search begins to be shared, the checkpoint, then its
slices' chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Engine, Row, delete, exists, insert, select, update

from unjam.search.solution import Outcome, Solution, ended
from unjam.search.split import STEP, Division, Progress, Unit, expected_seconds, worked
from unjam.store.checkpoints import IS_LEFT, close_chunks, columns_of, forget, left_behind, progress_of
from unjam.store.chunks import Lease, Task, close, is_cancelled, is_held, wait_again
from unjam.store.found import Answer, store
from unjam.store.schema import batch, checkpoint, chunk, pending, puzzle
from unjam.store.schema import slice as slice_
from unjam.store.sql import sql
from unjam.store.tally import count_event, count_nodes, note_worker

FAMILY = "tiles"  # the only one whose searches can be shared
QUEUE = "bulk"  # whoever waits for an answer goes first
SECONDS = 0.5  # a slice is about so long
MOST = 128  # slices of a bound at its beginning

Advance = Callable[[Progress, list[Unit], list[int]], Division]


@dataclass(frozen=True, slots=True)
class Slice:
    """Units to be searched under the bound of ``progress``, the first one from ``resume`` on."""

    task: Task
    progress: Progress
    units: list[Unit] = field(repr=False)
    resume: str


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker did of a slice, and ``answer``, where that ends the search. Counts as in _kernels.Slice."""

    done: int = 0
    resume: str = ""
    nodes: Sequence[int] = field(default=(), repr=False)
    expanded: int = 0
    generated: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    answer: Solution | None = None


@dataclass(frozen=True, slots=True)
class GivenBack:
    """The chunks that wait now, and whether the search has its answer."""

    waiting: list[int]
    answered: bool = False


def begin(engine: Engine, held: Lease, task: Task, division: Division) -> list[int]:
    """Share the search of a task with all workers; returns the slices' chunks.

    The task leaves its chunk: the batch goes on to wait for it, but now for its slices. None are made if the lease was
    lost, the batch cancelled, or the task has left already.
    """
    with engine.begin() as connection:
        if not _holds(connection, held, task):
            return []
        made = (
            insert(checkpoint)
            .values(
                batch_id=held.batch_id, puzzle_id=task.puzzle_id, metric=task.metric, **columns_of(division.progress)
            )
            .returning(checkpoint.c.id)
        )
        chunks = _add_slices(connection, held.batch_id, connection.execute(made).scalar_one(), division)
        _move(connection, held, task, chunks[0])
        count_nodes(connection, FAMILY, division.progress.expanded, division.progress.generated)
    return chunks


def adopt(engine: Engine, held: Lease, task: Task, local: Solution) -> list[int] | None:
    """Go on where an earlier batch left the same search; None if none has come as far as ``local``.

    The counts go on, too, but of the budget only ``local`` is spent. Otherwise as ``begin``.
    """
    with engine.begin() as connection:
        if not _holds(connection, held, task):
            return []
        left = connection.execute(
            left_behind(task.puzzle_id, task.metric, local.heuristic)
            .where(checkpoint.c.bound >= local.lower)
            .limit(1)
            .with_for_update(of=checkpoint)
        ).one_or_none()
        if left is None:
            return None
        progress = progress_of(left)
        progress = replace(
            progress,
            seconds=progress.seconds + local.seconds,
            cpu_seconds=progress.cpu_seconds + local.cpu_seconds,
            earlier_seconds=progress.seconds,
            earlier_generated=progress.generated,
        )
        moved = {"batch_id": held.batch_id, **columns_of(progress)}
        connection.execute(update(checkpoint).where(checkpoint.c.id == left.id).values(**moved))
        close_chunks(connection, left.id, "cancelled")
        rows = connection.execute(delete(slice_).where(slice_.c.checkpoint_id == left.id).returning(slice_)).mappings()
        found = [dict(row) for row in rows]
        chunks = _add_chunks(connection, held.batch_id, left.id, len(found))
        connection.execute(
            insert(slice_), [row | {"chunk_id": number} for row, number in zip(found, chunks, strict=True)]
        )
        _move(connection, held, task, chunks[0])
        count_nodes(connection, FAMILY, local.expanded, local.generated)
    return chunks


def load(engine: Engine, held: Lease) -> Slice | None:
    """What a leased slice is; None if its search ended meanwhile."""
    with engine.connect() as connection:
        row = connection.execute(
            select(checkpoint, slice_, puzzle.c.family, puzzle.c.canonical)
            .join(slice_, slice_.c.checkpoint_id == checkpoint.c.id)
            .join(chunk, chunk.c.id == slice_.c.chunk_id)
            .join(puzzle)
            .where(is_held(held))
        ).one_or_none()
    if row is None:
        return None
    task = Task(row.puzzle_id, row.metric, row.family, row.canonical)
    return Slice(task, progress_of(row), _units(row)[row.done :], row.resume)


def under_way(engine: Engine, batch_id: int) -> list[Progress]:
    """How far the shared searches of a batch are that go on."""
    wanted = select(checkpoint).join(batch).where(batch.c.id == batch_id, ~IS_LEFT)
    with engine.connect() as connection:
        return [progress_of(row) for row in connection.execute(wanted.order_by(checkpoint.c.id))]


def give_back(engine: Engine, held: Lease, work: Work, advance: Advance, *, split: bool = True) -> GivenBack | None:
    """Store what was done of a slice and give the lease back, in one transaction; None if the lease was lost.

    What is left waits again, with ``split`` in two, so that an idle worker can take half. After the last slice of a
    bound, ``advance`` makes the units of the next one. The search ends with the work's answer, with the batch's budget,
    or when the bound comes to the length of a solution that is known.
    """
    with engine.begin() as connection:
        given = _give_back(connection, held, work, advance, split)
        if given is None:
            count_event(connection, "late_writes")
        else:
            count_nodes(connection, FAMILY, work.expanded, work.generated)
            note_worker(connection, held.worker, int(given.answered), work.generated)
    return given


def decline(engine: Engine, held: Lease) -> None:
    """Let another worker have the slice; that counts like a lost lease."""
    with engine.begin() as connection:
        if connection.execute(select(chunk.c.id).where(is_held(held)).with_for_update()).one_or_none() is not None:
            wait_again(connection, held.chunk_id, split=False, attempts=held.attempts)


def _give_back(connection: Connection, held: Lease, work: Work, advance: Advance, split: bool) -> GivenBack | None:
    cancelled = is_cancelled(connection, held.batch_id)
    row = connection.execute(
        select(checkpoint).where(checkpoint.c.id == held.checkpoint_id).with_for_update()
    ).one_or_none()
    mine = connection.execute(select(chunk.c.id).where(is_held(held)).with_for_update()).one_or_none()
    if row is None or mine is None:
        return None
    progress = worked(progress_of(row), work.expanded, work.generated, work.seconds, work.cpu_seconds)
    if work.answer is not None:
        return _end(connection, held, row, progress, work.answer)
    if _answered(connection, row):
        return _close(connection, row)
    if cancelled:
        close(connection, held.chunk_id, "cancelled")
        return GivenBack([])
    waiting = _keep(connection, held, work, split)
    if not waiting and not connection.execute(_unfinished(row.id)).scalar_one():
        if progress.upper is not None and progress.bound + STEP >= progress.upper:
            proven = replace(progress, bound=progress.upper).solution(row.metric, Outcome.OPTIMAL)
            return _end(connection, held, row, progress, proven)
        division = advance(progress, *_searched(connection, row.id))
        progress = division.progress
        connection.execute(delete(slice_).where(slice_.c.checkpoint_id == row.id))
        waiting = _add_slices(connection, held.batch_id, row.id, division)
    connection.execute(update(checkpoint).where(checkpoint.c.id == row.id).values(**columns_of(progress)))
    if over := _over(held, progress):
        answer = progress.solution(row.metric, Outcome.BOUNDED, ended(over))
        return _end(connection, held, row, progress, answer, keep=True)
    return GivenBack(waiting)


def _keep(connection: Connection, held: Lease, work: Work, split: bool) -> list[int]:
    """Note what is done of a slice; the chunks that wait for the rest."""
    mine = slice_.c.chunk_id == held.chunk_id
    row = connection.execute(select(slice_).where(mine)).one()
    done = row.done + work.done
    nodes: list[int] = row.nodes
    for at, count in enumerate(work.nodes, row.done):
        nodes[at] += count
    left = len(nodes) - done
    if not left:
        connection.execute(update(slice_).where(mine).values(nodes=nodes, done=done, resume=""))
        close(connection, held.chunk_id, "done")
        return []
    cut = done + (left + 1) // 2 if split else len(nodes)
    kept = {"nodes": nodes[:cut]} if cut == len(nodes) else {"nodes": nodes[:cut], "units": row.units[:cut]}
    connection.execute(update(slice_).where(mine).values(**kept, done=done, resume=work.resume))
    waiting = wait_again(connection, held.chunk_id, split=False)
    if cut < len(nodes):
        [other] = _add_chunks(connection, held.batch_id, row.checkpoint_id, 1)
        rest = {"units": row.units[cut:], "nodes": nodes[cut:]}
        connection.execute(insert(slice_).values(chunk_id=other, checkpoint_id=row.checkpoint_id, **rest))
        waiting.append(other)
    return waiting


def _over(held: Lease, progress: Progress) -> str | None:
    if held.budget.seconds is not None and progress.budget_seconds >= held.budget.seconds:
        return "seconds"
    if held.budget.nodes is not None and progress.budget_nodes >= held.budget.nodes:
        return "nodes"
    return None


def _end(
    connection: Connection, held: Lease, row: Row[Any], progress: Progress, answer: Solution, *, keep: bool = False
) -> GivenBack:
    """Store the answer with the counts of all workers; the slices that others hold find their leases gone.

    With ``keep`` the search is left for a later order, or another is that came farther: one is enough. A proof needs
    none.
    """
    totals = progress.solution(row.metric, Outcome.BOUNDED)
    names = ("expanded", "generated", "seconds", "cpu_seconds", "profile", "algorithm", "heuristic")
    solution = replace(answer, **{name: getattr(totals, name) for name in names})
    store(connection, held, [Answer(row.puzzle_id, solution)])
    given = _close(connection, row, keep=keep)
    if keep or answer.outcome is Outcome.OPTIMAL:
        following = left_behind(row.puzzle_id, row.metric, row.heuristic).offset(int(keep))
        for other in connection.execute(following.with_for_update(of=checkpoint, skip_locked=True)):
            forget(connection, other.id)
    return given


def _answered(connection: Connection, row: Row[Any]) -> bool:
    """Whether another batch has the answer meanwhile."""
    task = {"batch": row.batch_id, "puzzle": row.puzzle_id, "metric": row.metric}
    return connection.exec_driver_sql(sql("is_answered"), task).one_or_none() is not None


def _close(connection: Connection, row: Row[Any], *, keep: bool = False) -> GivenBack:
    connection.execute(
        delete(pending).where(
            pending.c.batch_id == row.batch_id, pending.c.puzzle_id == row.puzzle_id, pending.c.metric == row.metric
        )
    )
    close_chunks(connection, row.id, "done")
    if not keep:
        forget(connection, row.id)
    return GivenBack([], answered=True)


def _holds(connection: Connection, held: Lease, task: Task) -> bool:
    """Whether the task is still in the chunk, and that in our hands, and wanted."""
    if is_cancelled(connection, held.batch_id):
        return False
    there = (
        select(chunk.c.id)
        .join(pending, pending.c.chunk_id == chunk.c.id)
        .where(is_held(held), pending.c.puzzle_id == task.puzzle_id, pending.c.metric == task.metric)
    )
    return connection.execute(there.with_for_update(of=chunk)).one_or_none() is not None


def _move(connection: Connection, held: Lease, task: Task, chunk_id: int) -> None:
    """Move the task to another chunk."""
    connection.execute(
        update(pending)
        .where(
            pending.c.batch_id == held.batch_id,
            pending.c.puzzle_id == task.puzzle_id,
            pending.c.metric == task.metric,
        )
        .values(chunk_id=chunk_id)
    )


def _add_slices(connection: Connection, batch_id: int, checkpoint_id: int, division: Division) -> list[int]:
    """Deal the units out in turn: their sizes differ, but neighbours are alike."""
    units = division.units
    count = min(max(int(expected_seconds(division.progress) / SECONDS), 1), MOST, len(units))
    chunks = _add_chunks(connection, batch_id, checkpoint_id, count)
    connection.execute(
        insert(slice_),
        [
            {
                "chunk_id": chunk_id,
                "checkpoint_id": checkpoint_id,
                "units": [(unit.way, unit.f, unit.weight) for unit in units[first::count]],
                "nodes": [0] * len(units[first::count]),
            }
            for first, chunk_id in enumerate(chunks)
        ],
    )
    return chunks


def _add_chunks(connection: Connection, batch_id: int, checkpoint_id: int, count: int) -> list[int]:
    rows = [{"batch_id": batch_id, "queue": QUEUE, "checkpoint_id": checkpoint_id}] * count
    return list(connection.execute(insert(chunk).returning(chunk.c.id), rows).scalars())


def _unfinished(checkpoint_id: int) -> Any:
    return select(exists().where(chunk.c.checkpoint_id == checkpoint_id, chunk.c.state.in_(("waiting", "leased"))))


def _searched(connection: Connection, checkpoint_id: int) -> tuple[list[Unit], list[int]]:
    """The units of a bound and their nodes."""
    rows = connection.execute(select(slice_).where(slice_.c.checkpoint_id == checkpoint_id).order_by(slice_.c.chunk_id))
    units: list[Unit] = []
    nodes: list[int] = []
    for row in rows:
        units += _units(row)
        nodes += row.nodes
    return units, nodes


def _units(row: Row[Any]) -> list[Unit]:
    return [Unit(*unit) for unit in row.units]
