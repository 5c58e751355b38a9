"""Checkpoints: how far the searches are that workers share, and those that no batch waits for any more.

Such a one is left for a later order, which goes on from there (unjam/store/slices.py).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, Select, delete, exists, func, or_, select, update

from unjam.puzzles.grid import Move
from unjam.search.split import Progress
from unjam.store.answers import pack_moves
from unjam.store.schema import batch, checkpoint, chunk, pending

# Of a checkpoint and its batch: no batch waits for the search.
IS_LEFT = or_(
    batch.c.cancelled.is_not(None),
    ~exists().where(
        pending.c.batch_id == checkpoint.c.batch_id,
        pending.c.puzzle_id == checkpoint.c.puzzle_id,
        pending.c.metric == checkpoint.c.metric,
    ),
)


def progress_of(row: Row[Any]) -> Progress:
    return Progress(
        heuristic=row.heuristic,
        table=row.pattern_table,
        bound=row.bound,
        profile=tuple(row.profile),
        interior={int(f): (expanded, generated) for f, (expanded, generated) in row.interior.items()},
        expanded=row.expanded,
        bound_generated=row.bound_generated,
        seconds=row.seconds,
        cpu_seconds=row.cpu_seconds,
        upper=row.upper,
        moves=() if row.moves is None else tuple(map(Move, row.moves[::2], row.moves[1::2])),
        earlier_seconds=row.earlier_seconds,
        earlier_generated=row.earlier_generated,
    )


def columns_of(progress: Progress) -> dict[str, object]:
    return {
        "heuristic": progress.heuristic,
        "pattern_table": progress.table,
        "bound": progress.bound,
        "profile": list(progress.profile),
        "interior": {str(f): counts for f, counts in progress.interior.items()},
        "expanded": progress.expanded,
        "bound_generated": progress.bound_generated,
        "seconds": progress.seconds,
        "cpu_seconds": progress.cpu_seconds,
        "upper": progress.upper,
        "moves": None if progress.upper is None else pack_moves(progress.moves),
        "earlier_seconds": progress.earlier_seconds,
        "earlier_generated": progress.earlier_generated,
    }


def left_behind(puzzle_id: int, metric: str, heuristic: str | None) -> Select[Any]:
    """The searches that earlier batches left, the farthest first."""
    return (
        select(checkpoint)
        .join(batch)
        .where(
            IS_LEFT,
            checkpoint.c.puzzle_id == puzzle_id,
            checkpoint.c.metric == metric,
            checkpoint.c.heuristic == heuristic,
        )
        .order_by(checkpoint.c.bound.desc(), checkpoint.c.bound_generated.desc(), checkpoint.c.id)
    )


def forget(connection: Connection, checkpoint_id: int) -> None:
    close_chunks(connection, checkpoint_id, "cancelled")  # a worker may still hold one of a cancelled batch
    connection.execute(delete(checkpoint).where(checkpoint.c.id == checkpoint_id))


def close_chunks(connection: Connection, checkpoint_id: int, state: str) -> None:
    connection.execute(
        update(chunk)
        .where(chunk.c.checkpoint_id == checkpoint_id, chunk.c.state.in_(("waiting", "leased")))
        .values(state=state, finished=func.now(), lease_token=None, lease_expires=None)
    )
