"""A parking lot that every car must leave, nose first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from operator import itemgetter
from typing import Any, ClassVar, Final, NamedTuple, Self

from unjam.errors import IllegalMove, ParseError
from unjam.puzzles.blocks import EMPTY, WALL, Blocks, Cells, Draw, joined, renamed, straight, wide_images
from unjam.puzzles.exits import Opening, edges_of, read_slots, slot_origins
from unjam.puzzles.grid import OUT, Symmetry
from unjam.puzzles.puzzle import Metric
from unjam.puzzles.text import place, read_rows, refuse_fields, shown

LENGTHS: Final = range(2, 6)

_NOSE_LETTERS = "URDL"  # by side


class Car(NamedTuple):
    """What never changes about a car: ``side`` is where its nose points, as an index in SIDES."""

    first: int
    length: int
    step: int  # from one of its cells to the next: 1 or the width
    side: int
    fixed: bool

    @property
    def nose_last(self) -> bool:
        return self.side in (1, 2)


@dataclass(frozen=True)
class Parkout(Blocks):
    """A parking lot.

    Cars are numbered in the order of their letters; the state is each car's first cell in row-major
    order, OUT once it has left. ``board`` is the cells in row-major order in the user's letters. Each edge of a cell
    on the rim is a slot: top from left to right, right from top to bottom, bottom from left to right, left from top to
    bottom. ``slots`` says when each is open; one that never closes closes when all cars that can leave have left.
    """

    family: ClassVar[str] = "parkout"
    metrics: ClassVar[tuple[Metric, ...]] = ("slide",)
    field_names: ClassVar[tuple[str, ...]] = ("closed", "gates", "fixed", "left")

    width: int
    height: int
    board: str
    fixed: frozenset[str]
    slots: tuple[Opening, ...]

    @classmethod
    def parse(
        cls,
        board: object,
        *,
        closed: object = None,
        gates: object = None,
        fixed: object = None,
        left: object = None,
        **unknown: Any,
    ) -> Self:
        refuse_fields(cls.family, unknown, cls.field_names)
        rows = read_rows(board)
        width, height, cells = len(rows[0]), len(rows), "".join(rows)
        found = _find(cells, width)
        for name, where in found.items():
            _check_car(name, where, cells, width)
        kept = _read_fixed(fixed, found)
        leaving, gone = len(found) - len(kept), _read_left(left)
        if not leaving and not gone:
            raise ParseError("there is no car that can leave", field="fixed" if kept else "board")
        slots = read_slots(closed, gates, width, height, leaving, gone)
        return cls(width, height, cells, kept, slots)

    def fields(self) -> dict[str, Any]:
        return self._fields(self.board, self.width, self.height, self.slots, "".join(sorted(self.fixed)))

    def _fields(
        self, board: str, width: int, height: int, slots: tuple[Opening, ...], fixed: str = ""
    ) -> dict[str, Any]:
        fields: dict[str, Any] = {"board": joined(board, width)}
        if fixed:
            fields["fixed"] = fixed
        if not self.leaving:  # which no start of a level is
            return {**fields, "left": 1}
        closed, gates = [], []
        for edge, slot in zip(edges_of(width, height), slots, strict=True):
            if slot.closes == 0:
                closed.append(edge)
                continue
            gate = {"opens": slot.opens} if slot.opens else {}
            if slot.closes < self.leaving:
                gate["closes"] = slot.closes
            if gate:
                gates.append({"edge": edge, **gate})
        if closed:
            fields["closed"] = closed
        if gates:
            fields["gates"] = gates
        return fields

    @cached_property
    def _found(self) -> dict[str, Cells]:
        return _find(self.board, self.width)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self._found)

    @cached_property
    def cars(self) -> tuple[Car, ...]:
        cars = []
        for name, cells in self._found.items():
            step, nose_last = cells[1] - cells[0], self.board[cells[-1]].isupper()
            side = (1 if nose_last else 3) if step == 1 and self.width > 1 else (2 if nose_last else 0)
            cars.append(Car(cells[0], len(cells), step, side, name in self.fixed))
        return tuple(cars)

    @property
    def leaving(self) -> int:
        """How many cars have to leave."""
        return self.pieces - len(self.fixed)

    def exit_slot(self, piece: int) -> int:
        """The slot in front of a car's nose."""
        car = self.cars[piece]
        before = (0, self.width, self.width + self.height, 2 * self.width + self.height)[car.side]
        return before + (car.first // self.width if car.side in (1, 3) else car.first % self.width)

    @cached_property
    def _exits(self) -> tuple[Opening, ...]:
        return tuple(self.slots[self.exit_slot(piece)] for piece in range(self.pieces))

    def may_leave_now(self, state: Cells, piece: int) -> bool:
        """Whether a car that can leave may as well leave now: no exit of a car that is still there closes sooner.

        Then it can leave first in any solution, and its other moves can be dropped.
        """
        return all(
            cell == OUT or car.fixed or slot.closes >= self._exits[piece].closes
            for cell, car, slot in zip(state, self.cars, self._exits, strict=True)
        )

    def unsolvable_reason(self) -> str | None:
        for piece, (name, car, slot) in enumerate(zip(self.names, self.cars, self._exits, strict=True)):
            if car.fixed:
                continue
            if slot.closes == 0:
                edge = edges_of(self.width, self.height)[self.exit_slot(piece)]
                return f"car {name} can leave only by {edge}, which is never open"
            for cell in self._ahead(car):
                if self.board[cell] == WALL:
                    return f"car {name} has a pillar in front of it"
                other = self._car_at.get(cell)
                if other is None:
                    continue
                if self.cars[other].fixed:
                    return f"car {name} has the fixed car {self.names[other]} in front of it"
                if self.cars[other].side == (car.side + 2) % 4:
                    return f"cars {name} and {self.names[other]} face each other"
        return None

    @cached_property
    def _car_at(self) -> dict[int, int]:
        return {cell: piece for piece, cells in enumerate(self._found.values()) for cell in cells}

    def _ahead(self, car: Car) -> range:
        """The cells between a car's nose and the edge in front of it, at the start."""
        before, after = self._room(car, car.first)
        if car.nose_last:
            front = car.first + car.length * car.step
            return range(front, front + after * car.step, car.step)
        return range(car.first - car.step, car.first - (before + 1) * car.step, -car.step)

    def _room(self, car: Car, cell: int) -> tuple[int, int]:
        """How many cells there are before and after a car at ``cell``, on its axis."""
        sideways = car.side in (1, 3)
        before = cell % self.width if sideways else cell // self.width
        return before, (self.width if sideways else self.height) - car.length - before

    # The rules.

    def start(self) -> Cells:
        return tuple(car.first for car in self.cars)

    def covered(self, state: Cells, piece: int) -> Cells:
        car = self.cars[piece]
        return tuple(range(state[piece], state[piece] + car.length * car.step, car.step))

    def is_goal(self, state: Any) -> bool:
        return all(cell == OUT or car.fixed for cell, car in zip(state, self.cars, strict=True))

    def fold(self, state: Any) -> Cells:
        """The state itself: equal cars on one line cannot pass each other, and those on two lines never meet."""
        folded: Cells = state
        return folded

    @cached_property
    def _pillars(self) -> int:
        return sum(1 << cell for cell, here in enumerate(self.board) if here == WALL)

    @cached_property
    def _shapes(self) -> tuple[int, ...]:
        """The bits that each car covers with its first cell at cell 0."""
        return tuple(sum(1 << part * car.step for part in range(car.length)) for car in self.cars)

    def ends(self, state: Cells, metric: Metric, pieces: Iterable[int]) -> Iterator[tuple[int, int]]:
        taken, left = self._pillars, 0
        for shape, cell in zip(self._shapes, state, strict=True):
            if cell == OUT:
                left += 1
            else:
                taken |= shape << cell
        for piece in pieces:
            car, cell = self.cars[piece], state[piece]
            if cell == OUT or car.fixed:
                continue
            before, after = self._room(car, cell)
            for nose, step, front, room in (
                (not car.nose_last, -car.step, cell - car.step, before),
                (car.nose_last, car.step, cell + car.length * car.step, after),
            ):
                free = 0
                while free < room and not taken >> front + free * step & 1:
                    free += 1
                for distance in range(1, free + 1):
                    yield piece, cell + distance * step
                slot = self._exits[piece]
                if nose and free == room and slot.opens <= left < slot.closes:
                    yield piece, OUT

    def way(self, state: Cells, piece: int, end: int, metric: Metric) -> str:
        return f"{_NOSE_LETTERS[self.cars[piece].side]}*" if end == OUT else straight(state[piece], end, self.width)

    def leave(self, piece: int, letter: str) -> int:
        if letter != _NOSE_LETTERS[self.cars[piece].side]:
            raise IllegalMove(f"car {self.names[piece]} leaves nose first, to {_NOSE_LETTERS[self.cars[piece].side]}")
        return OUT

    def background(self) -> str:
        return "".join(here if here == WALL else EMPTY for here in self.board)

    def drawn(self, piece: int) -> str:
        return "".join(self.board[cell] for cell in self._found[self.names[piece]])

    # The canonical form: a fixed car is a pillar, and an exit that no car faces does not matter.

    def canonical_image(self) -> tuple[dict[str, Any], Symmetry]:
        used = {self.exit_slot(piece) for piece, car in enumerate(self.cars) if not car.fixed}
        always = Opening(0, self.leaving)
        slots = tuple(slot if number in used else always for number, slot in enumerate(self.slots))
        pillars = {ord(letter): WALL for name in self.fixed for letter in (name, name.upper())}
        board = self.board.translate(pillars)
        images = wide_images(self.width, self.height)
        boards = [_image(board, draw) for _, _, draw in images]
        least = min(boards)
        origins = slot_origins(self.width, self.height)
        around, symmetry = min(
            (
                (tuple(slots[origin] for origin in origins[number]), symmetry)
                for (number, symmetry, _), image in zip(images, boards, strict=True)
                if image == least
            ),
            key=itemgetter(0),
        )
        return self._fields(least, symmetry.width, symmetry.height, around), symmetry


@cache
def _lower(letter: str) -> str | None:
    """The lower case of a letter that has exactly two cases, which go back and forth; else None."""
    lower, upper = letter.lower(), letter.upper()
    pair = len(lower) == len(upper) == 1 and lower != upper and letter in (lower, upper)
    return lower if pair and lower.upper() == upper and upper.lower() == lower else None


_CANONICAL_NAMES = [chr(code) for code in range(ord("a"), 0x250) if _lower(chr(code)) == chr(code)]


def _image(board: str, draw: Draw) -> str:
    """An image of the board, its cars renamed in the order of their first cells."""
    image = "".join(draw(board))
    found = dict.fromkeys(letter.lower() for letter in image if letter not in (EMPTY, WALL))
    names = dict(zip(found, _CANONICAL_NAMES, strict=False))
    capitals = {old.upper(): new.upper() for old, new in names.items()}
    return renamed(image, {**names, **capitals})


def _find(board: str, width: int) -> dict[str, Cells]:
    """The cells of each car by its lower-case letter, cars in the order of their letters."""
    found: dict[str, list[int]] = {}
    for cell, letter in enumerate(board):
        if letter not in (EMPTY, WALL):
            name = _lower(letter)
            if name is None:
                raise ParseError(
                    f"{letter!a} is no car: a car is a letter with two cases", field="board", **place(cell, width)
                )
            found.setdefault(name, []).append(cell)
    return {name: tuple(found[name]) for name in sorted(found)}


def _check_car(name: str, cells: Cells, board: str, width: int) -> None:
    step = cells[1] - cells[0] if len(cells) > 1 else 0
    in_row = step == 1 and cells[0] // width == cells[-1] // width
    noses = [cell for cell in cells if board[cell].isupper()]
    problem, cell = "", cells[0]
    if len(cells) not in LENGTHS:
        problem = f"car {name} has {len(cells)} cells; a car has {LENGTHS[0]} to {LENGTHS[-1]}"
    elif not (in_row or step == width) or cells != tuple(range(cells[0], cells[0] + len(cells) * step, step)):
        problem = f"car {name} is not in one line"
    elif not noses:
        problem = f"car {name} has no nose: its front cell is upper case"
    elif len(noses) > 1:
        problem, cell = f"car {name} has a second nose", noses[1]
    elif noses[0] not in (cells[0], cells[-1]):
        problem, cell = f"the nose of car {name} must be at one of its ends", noses[0]
    if problem:
        raise ParseError(problem, field="board", **place(cell, width))


def _read_fixed(fixed: object, found: Mapping[str, Cells]) -> frozenset[str]:
    letters = fixed.replace(",", "").replace(" ", "") if isinstance(fixed, str) else fixed or ()
    if not isinstance(letters, str | list | tuple):
        raise ParseError(f"fixed is a list of cars, not {type(fixed).__name__}", field="fixed")
    kept: set[str] = set()
    for letter in letters:
        name = _lower(letter) if isinstance(letter, str) and len(letter) == 1 else None
        if name is None or name not in found:
            raise ParseError(f"there is no car {shown(letter)}", field="fixed")
        kept.add(name)
    return frozenset(kept)


def _read_left(left: object) -> int:
    """How many cars have left already."""
    if isinstance(left, str) and left.isascii() and left.isdigit() and len(left) < 4:
        left = int(left)
    if left is None:
        return 0
    if not isinstance(left, int) or isinstance(left, bool) or left < 0:
        raise ParseError(f"left is how many cars have left already, not {shown(left)}", field="left")
    return left
