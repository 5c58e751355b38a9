"""Questions to what was solved: the optimum of a board, however it is turned or lettered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import Engine, func, select

from unjam.puzzles import from_canonical
from unjam.puzzles.grid import symmetries
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.search.solution import Outcome, Solution
from unjam.store.answers import answer, unpack_moves, write_moves
from unjam.store.database import reading
from unjam.store.schema import solution
from unjam.store.sql import sql


def lookup(engine: Engine, boards: Sequence[tuple[Puzzle, Metric | None]]) -> list[list[dict[str, Any]]]:
    """The stored answers to each board, in its own letters and orientation; those of one metric, or of all for None.

    One query for all boards. A board that was never solved has an empty list.
    """
    stored = _stored(engine, [board.key for board, _ in boards])
    return [
        [
            answer(row) | {"moves": write_moves(row, board, board.to_canonical.inverse(board.width, board.height))}
            for row in stored[board.key]
            if metric is None or row["metric"] == metric
        ]
        for board, metric in boards
    ]


def stored_solution(engine: Engine, puzzle: Puzzle, metric: Metric) -> Solution | None:
    """The stored answer to a puzzle in one metric, its moves in the puzzle's own orientation; None if there is none."""
    back = puzzle.to_canonical.inverse(puzzle.width, puzzle.height)
    for row in _stored(engine, [puzzle.key])[puzzle.key]:
        if row["metric"] == metric:
            moves = tuple(unpack_moves(row["moves"] or b"", back))
            return Solution(
                metric, Outcome(row["outcome"]), row["length"], row["lower"], row["upper"], moves, row["reason"]
            )
    return None


def by_key(engine: Engine, key: bytes) -> dict[str, Any] | None:
    """A stored puzzle in canonical form with its answers; None where the key is unknown."""
    with reading(engine).connect() as connection:
        rows: Sequence[Any] = connection.exec_driver_sql(sql("by_key"), {"key": key}).mappings().all()
    if not rows:
        return None
    family, canonical = rows[0]["puzzle_family"], rows[0]["canonical"]
    board = from_canonical(family, canonical)
    as_stored = symmetries(board.width, board.height)[0]
    answers = [answer(row) | {"moves": write_moves(row, board, as_stored)} for row in rows if row["metric"] is not None]
    return {"key": key.hex(), "family": family, "puzzle": orjson.loads(canonical), "answers": answers}


def stats(engine: Engine) -> list[dict[str, Any]]:
    """How many puzzles have which outcome, by family and metric."""
    by = (solution.c.family, solution.c.metric, solution.c.outcome)
    query = select(*by, func.count().label("puzzles")).group_by(*by).order_by(*by)
    with engine.connect() as connection:
        return [{str(name): value for name, value in row.items()} for row in connection.execute(query).mappings()]


def _stored(engine: Engine, keys: Sequence[bytes]) -> dict[bytes, list[Any]]:
    found = defaultdict(list)
    with reading(engine).connect() as connection:
        for row in connection.exec_driver_sql(sql("lookup"), {"keys": list(keys)}).mappings():
            found[row["key"]].append(row)
    return found
