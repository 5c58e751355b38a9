"""Levels by their optimum: "20 levels of rush with 25 to 30 moves"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, Engine, func, select

from unjam.puzzles.puzzle import Metric
from unjam.store.database import reading
from unjam.store.schema import puzzle as puzzles
from unjam.store.sql import sql

MOST_MOVES = 2**31 - 1  # the store keeps an optimum as an integer
NEWEST = 2**63 - 1
LOOKED_AT = 10_000  # puzzles for one page, which ends there, however few of them have the size that is wanted
MOST_AT_ONCE = 4000  # of them in one query
PAGE = 1000


@dataclass(frozen=True, slots=True)
class Wanted:
    """Solved levels of ``family`` with ``min`` to ``max`` moves of ``metric``.

    ``size`` is width and height, or the reverse; ``pieces`` how many pieces there are; None for any.
    """

    family: str
    metric: Metric
    min: int = 0
    max: int = MOST_MOVES
    size: tuple[int, int] | None = None
    pieces: int | None = None


class Place(NamedTuple):
    """How far a walk through the store is that began behind the puzzle number ``start``: it has come to ``last``."""

    start: int
    last: int


@dataclass(frozen=True, slots=True)
class Page:
    """Levels as entries of a pack, named by their keys; and from where on there may be more, None at the end."""

    levels: list[dict[str, Any]]
    next: Place | None


def find(engine: Engine, wanted: Wanted, *, limit: int, seed: int | None = None) -> Iterator[dict[str, Any]]:
    """The first ``limit`` levels, read page by page; ``seed`` as for ``find_page``."""
    page = find_page(engine, wanted, None, min(limit, PAGE), seed)
    while True:
        yield from page.levels
        limit -= len(page.levels)
        if page.next is None or not limit:
            return
        page = find_page(engine, wanted, page.next, min(limit, PAGE))


def find_page(engine: Engine, wanted: Wanted, place: Place | None, limit: int, seed: int | None = None) -> Page:
    """At most ``limit`` levels from a place on, in the order in which they came into the store.

    Without a place it begins at the oldest, or with a seed at one that the seed draws; from the newest it goes on with
    the oldest. A page may hold fewer although there are more: where size or pieces are rare, it ends when many puzzles
    were looked at, so that no client waits long.
    """
    levels: list[dict[str, Any]] = []
    looked_at, most = 0, limit
    with reading(engine).connect() as connection:
        start, last = place or _first(connection, seed)
        while looked_at < LOOKED_AT:
            until = start if last < start else NEWEST
            rows = connection.exec_driver_sql(sql("find"), _parameters(wanted, last, until, most)).all()
            for row in rows:
                last = row.puzzle_id
                if row.canonical is not None:
                    levels.append(_level(wanted, row))
                    if len(levels) == limit:
                        return Page(levels, None if last == until else Place(start, last))
            if len(rows) < most:
                if until == start or start == 0:
                    return Page(levels, None)
                last = 0  # that was the newest: on with the oldest
            looked_at += len(rows)
            most = min(4 * most, MOST_AT_ONCE)
    return Page(levels, None if last == until else Place(start, last))


def _first(connection: Connection, seed: int | None) -> Place:
    """Puzzles that came together are in the order of their keys, which are hashes: neighbours are a random sample."""
    if seed is None:
        return Place(0, 0)
    newest = connection.execute(select(func.max(puzzles.c.id))).scalar_one() or 0
    start = Random(seed).randint(0, newest)
    return Place(start, start)


def _parameters(wanted: Wanted, after: int, until: int, limit: int) -> dict[str, object]:
    width, height = wanted.size or (None, None)
    return {
        "family": wanted.family,
        "metric": wanted.metric,
        "min": wanted.min,
        "max": wanted.max,
        "width": width,
        "height": height,
        "pieces": wanted.pieces,
        "after": after,
        "until": until,
        "limit": limit,
    }


def _level(wanted: Wanted, row: Any) -> dict[str, Any]:
    known = {"metric": wanted.metric, "known": {wanted.metric: row.length}}
    return {"family": wanted.family, "name": row.key.hex(), **orjson.loads(row.canonical), **known}
