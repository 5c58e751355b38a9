"""The exits of a parking lot: which edges are open, and when."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from unjam.errors import ParseError
from unjam.puzzles.grid import symmetries
from unjam.puzzles.text import shown

SIDES: Final = ("top", "right", "bottom", "left")

_EDGE = re.compile(rf"({'|'.join(SIDES)})(?::([0-9]{{1,3}}))?")


class Opening(NamedTuple):
    """When an exit is open: while ``opens <= cars that have left < closes``."""

    opens: int
    closes: int

    def after(self, left: int, leaving: int) -> Opening:
        """The same once ``left`` cars have left, counted from there on; ``leaving`` are still there."""
        opens, closes = (min(max(count - left, 0), leaving) for count in self)
        return Opening(opens, closes) if opens < closes else Opening(0, 0)


@cache
def edges_of(width: int, height: int) -> tuple[str, ...]:
    """The name of each slot."""
    lengths = (width, height, width, height)
    return tuple(f"{side}:{index}" for side, length in zip(SIDES, lengths, strict=True) for index in range(length))


def _read_edge(edge: object, width: int, height: int, field: str) -> list[int]:
    match = _EDGE.fullmatch(edge.strip()) if isinstance(edge, str) else None
    if match is None:
        raise ParseError(f"{shown(edge)} is no edge such as 'top' or 'top:3' ({', '.join(SIDES)})", field=field)
    side, index = match.groups()
    slots = [number for number, name in enumerate(edges_of(width, height)) if name.startswith(side)]
    if index is None:
        return slots
    if int(index) >= len(slots):
        raise ParseError(f"{match[0]!r} is not there: {side} has edges 0 to {len(slots) - 1}", field=field)
    return [slots[int(index)]]


def read_slots(closed: object, gates: object, width: int, height: int, leaving: int, left: int) -> tuple[Opening, ...]:
    """What each slot is when ``left`` cars, which gates count, have left already and ``leaving`` are still there."""
    slots: dict[int, Opening] = {}
    edges = [edge for edge in closed.split(",") if edge.strip()] if isinstance(closed, str) else closed or ()
    if not isinstance(edges, list | tuple):
        raise ParseError(f"closed is a list of edges, not {type(closed).__name__}", field="closed")
    for edge in edges:
        slots.update(dict.fromkeys(_read_edge(edge, width, height, "closed"), Opening(0, 0)))
    gates = gates or ()
    if not isinstance(gates, list | tuple):
        raise ParseError(f"gates is a list, not {type(gates).__name__}", field="gates")
    for gate in gates:
        opening = _read_opening(gate, leaving, left)
        for number in _read_edge(gate["edge"], width, height, "gates"):
            if number in slots:
                raise ParseError(f"{edges_of(width, height)[number]} is closed, or has a gate, already", field="gates")
            slots[number] = opening
    always = Opening(0, leaving)
    return tuple(slots.get(number, always) for number in range(2 * (width + height)))


def _read_opening(gate: object, leaving: int, left: int) -> Opening:
    example = 'a gate is {"edge": "top:3", "opens": 2}, {"edge": "top:3", "closes": 4} or both in one'
    if not isinstance(gate, Mapping) or "edge" not in gate or not gate.keys() <= {"edge", "opens", "closes"}:
        raise ParseError(example, field="gates")
    opens, closes = gate.get("opens"), gate.get("closes")
    for count in (opens, closes):
        if count is not None and (not isinstance(count, int) or isinstance(count, bool) or count < 0):
            raise ParseError(f"opens and closes are numbers of cars, not {shown(count)}", field="gates")
    if opens is None and closes is None:
        raise ParseError(example, field="gates")
    if closes is not None and closes < (opens or 0):
        raise ParseError(f"the gate closes ({shown(closes)}) before it opens ({shown(opens)})", field="gates")
    return Opening(opens or 0, leaving + left if closes is None else closes).after(left, leaving)


@cache
def slot_origins(width: int, height: int) -> tuple[tuple[int, ...], ...]:
    """For each symmetry and each slot of its image, the slot that ends up there.

    The slots are the cells of a frame around the board, which the symmetries of the framed board move along.
    """
    origins = []
    for framed in symmetries(width + 2, height + 2):
        ends = [framed.cells[cell] for cell in _frame(width, height)]
        origins.append(tuple(ends.index(cell) for cell in _frame(framed.width - 2, framed.height - 2)))
    return tuple(origins)


def _frame(width: int, height: int) -> list[int]:
    """The cell of each slot on the board with a frame around it."""
    top, left = range(1, width + 1), range(width + 2, (width + 2) * (height + 1), width + 2)
    below = (width + 2) * (height + 1)
    return [*top, *(cell + width + 1 for cell in left), *(cell + below for cell in top), *left]
