"""Storing what searches found: one COPY, from which solutions, attempts and costs are taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, Row

from unjam.search.solution import Outcome, Solution
from unjam.store.answers import pack_moves
from unjam.store.sql import sql
from unjam.store.tally import count_attempts

if TYPE_CHECKING:
    from unjam.store.chunks import Lease


@dataclass(frozen=True, slots=True)
class Answer:
    """What the search of a task gave, its moves in canonical form."""

    puzzle_id: int
    solution: Solution


def store(connection: Connection, held: Lease, answers: Sequence[Answer]) -> list[Row[Any]]:
    """Store the answers, which are waited for no longer; returns what they cost (``note_costs``).

    Where the batch says with which algorithm or heuristic, their figures replace those of as good answers.
    """
    named = held.algorithm is not None or held.heuristic is not None
    connection.exec_driver_sql(sql("found"))
    driver = connection.connection.driver_connection
    assert driver is not None
    with driver.cursor() as cursor, cursor.copy("COPY found FROM STDIN") as copy:
        for one in answers:
            copy.write_row(_row(one))
    connection.exec_driver_sql(sql("add_solutions"), {"batch": held.batch_id, "named": named})
    connection.exec_driver_sql(sql("add_attempts"), {"worker": held.worker, "version": _version()})
    connection.exec_driver_sql(sql("drop_pending"), {"chunk": held.chunk_id})
    return count_attempts(connection, in_slices=held.checkpoint_id is not None)


def note_costs(engine: Engine, costs: Sequence[Row[Any]]) -> None:
    """Add to what is known of the time that searches take, by which chunks are cut.

    Not in the transaction that stores the answers: that would hold rows which all workers write.
    """
    with engine.begin() as connection:
        for one in costs:
            connection.exec_driver_sql(sql("add_cost"), one._asdict())


def _row(one: Answer) -> tuple[object, ...]:
    s = one.solution
    # moves without a known length to go with them would break the table's promise
    proven = s.outcome in (Outcome.OPTIMAL, Outcome.BOUNDED)
    return (
        one.puzzle_id,
        s.metric,
        s.outcome.value,
        s.reason,
        s.length,
        s.lower if proven else None,
        s.upper if proven else None,
        pack_moves(s.moves) if proven and s.upper == len(s.moves) else None,
        s.algorithm,
        s.heuristic,
        s.pruned,
        s.expanded,
        s.generated,
        s.peak_states,
        s.peak_bytes,
        s.seconds,
        s.cpu_seconds,
        f"{{{','.join(map(str, s.profile))}}}",  # the driver would look at each number of a list
    )


@cache
def _version() -> str:
    from importlib.metadata import version

    return version("unjam")
