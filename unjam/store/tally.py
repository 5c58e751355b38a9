"""Counts of what is done, for those who watch: made in the transaction that does it, so they are exact.

A scrape reads some hundred rows, however many searches were run, and whichever process asks gets the same counts.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Engine, Row

from unjam.store.sql import sql

# Upper bounds of the histogram of search times, in seconds, but for the infinite one. A count is stored under its
# bound, so others may be chosen later.
BOUNDS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3600.0)

Event = Literal["leases_lost", "late_writes"]


class Count(NamedTuple):
    """``name`` is attempts (by family, outcome and the bound ``le``), attempt_seconds, expanded or generated (by
    family), or an Event. Whoever adds to several in one transaction does so in this order, lest two wait for each
    other.
    """

    name: str
    family: str
    outcome: str
    le: float
    amount: float


def count_attempts(connection: Connection, *, in_slices: bool) -> list[Row[Any]]:
    """Count the searches that the table ``found`` has. Nodes that were searched ``in_slices`` were counted there.

    Returns family, metric, cells, pieces, how many were solved, and their seconds.
    """
    return [*connection.exec_driver_sql(sql("count_attempts"), {"bounds": list(BOUNDS), "in_slices": in_slices})]


def count_nodes(connection: Connection, family: str, expanded: int, generated: int) -> None:
    """Count the nodes of a slice; the few that dividing the search takes are not."""
    _add(connection, "expanded", family, expanded)
    _add(connection, "generated", family, generated)


def count_event(connection: Connection, event: Event, number: int = 1) -> None:
    if number:
        _add(connection, event, "", number)


def note_worker(
    connection: Connection, name: str, answered: int = 0, generated: int = 0, *, searching: int = 0
) -> None:
    """Note that a worker lives, what it has done since it was noted last, and the nodes of the chunk that it is at."""
    told = {"name": name, "answered": answered, "generated": generated, "searching": searching}
    connection.exec_driver_sql(sql("note_worker"), told)


def forget_workers(connection: Connection) -> None:
    """Forget those that were not seen for a day."""
    connection.exec_driver_sql("DELETE FROM worker WHERE seen < now() - interval '1 day'")


def totals(engine: Engine) -> list[Count]:
    """All counts since the store was made."""
    with engine.connect() as connection:
        return [Count(*row) for row in connection.exec_driver_sql(sql("totals"))]


def _add(connection: Connection, name: str, family: str, amount: float) -> None:
    connection.exec_driver_sql(sql("count"), {"name": name, "family": family, "amount": amount})
