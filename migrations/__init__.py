"""Alembic migrations of the store. ``alembic revision --autogenerate`` reads unjam/store/schema.py.

The workers of the version before go on while one runs, and after it. So a migration adds, and removes only what that
version no longer used; a new column may be null or has a default; an index of a table that may be large is built
``beside_the_work``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import op


@contextmanager
def beside_the_work() -> Iterator[None]:
    """Outside a transaction, where indexes can be built and dropped concurrently. What is done so may be done again:
    a build that was interrupted leaves an index that is not valid, so drop it first.
    """
    with op.get_context().autocommit_block():
        before = op.get_bind().exec_driver_sql("SHOW lock_timeout").scalar_one()
        op.execute("SET lock_timeout = 0")  # it waits for every transaction that began earlier, and holds up none
        yield
        op.execute(f"SET lock_timeout = '{before}'")
