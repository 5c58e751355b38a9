"""Orders that may be sent again: one batch for one order, however often it comes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from unjam.errors import OrderConflict
from unjam.store.schema import batch


@dataclass(frozen=True, slots=True)
class Once:
    """The name that its sender gave an order (an idempotency key), and the sha256 of what is ordered."""

    key: str
    digest: bytes


def earlier_batch(connection: Connection, key_id: int | None, once: Once) -> int | None:
    """The batch that this order of an API key has become already, None for a new one.

    Holds the same order back elsewhere until the transaction ends. Raises OrderConflict if the name stands for another.
    """
    connection.exec_driver_sql(
        "SELECT pg_advisory_xact_lock(hashtextextended(%(order)s, 0))", {"order": f"order {key_id or 0} {once.key}"}
    )
    query = select(batch.c.id, batch.c.idempotency_digest).where(
        func.coalesce(batch.c.key_id, 0) == (key_id or 0), batch.c.idempotency_key == once.key
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    if row.idempotency_digest != once.digest:
        raise OrderConflict(
            f"the idempotency key {once.key!r} stands for another order, batch {row.id}: give this one another key"
        )
    return int(row.id)
