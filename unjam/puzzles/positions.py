"""Positions in the middle of play as puzzles of their own, and back: klotski, rush and parkout."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, TypeAlias

from unjam.errors import PositionError
from unjam.puzzles.blocks import Blocks, Cells, joined
from unjam.puzzles.exits import Opening
from unjam.puzzles.grid import OUT
from unjam.puzzles.klotski import GATE, Klotski
from unjam.puzzles.parkout import Parkout
from unjam.puzzles.puzzle import Puzzle
from unjam.puzzles.rush import Rush

Kind: TypeAlias = tuple[Any, ...]  # what tells pieces apart, whatever their names


def position_of(level: Puzzle, position: Puzzle) -> Cells:
    """The state of ``level`` in which it is as ``position``, a puzzle with the same walls, pieces and goal.

    Names of klotski pieces and rush cars do not matter. A car that the lot of the position lacks has left, and the
    gates of the position count from there on. Raises PositionError where the position is of another level.
    """
    state = _pieces(level, position)
    if isinstance(level, Parkout) and getattr(position, "slots", None) != _slots(level, state.count(OUT)):
        raise PositionError("the position has other exits than the level, or its gates do not count from there on")
    return state


def read_position(level: Puzzle, board: object) -> Cells:
    """The state of ``level`` that a board shows, which has no fields of its own: exits and gates are the level's.

    Raises ParseError where it is no board, PositionError where it is of another level.
    """
    fields = {name: value for name, value in level.fields().items() if name != "board"}
    return _pieces(level, type(level).parse(board, **fields))


def puzzle_at(level: Puzzle, state: Cells) -> Puzzle:
    """The puzzle that starts there. Its optimal counts are the moves left in the level.

    Raises PositionError where no board can say it: a klotski piece on a gate hides that, and an empty lot has no cars.
    """
    if not isinstance(level, Blocks):
        raise PositionError(f"{level.family} has no positions of this kind")
    board = level.format(state).replace("\n", "")
    if isinstance(level, Klotski):
        if any(board[cell] != GATE for cell in level.gates):
            raise PositionError("a piece stands on a gate, which no board of a level can show")
        return replace(level, board=board)
    if isinstance(level, Parkout):
        gone = state.count(OUT)
        if gone == level.leaving:
            raise PositionError("all cars have left, and a lot without cars is no level")
        return replace(level, board=board, slots=_slots(level, gone))
    assert isinstance(level, Rush)
    return Rush.parse(joined(board, level.width).split("/"), exit=level.exit)


def _pieces(level: Puzzle, position: Puzzle) -> Cells:
    """Where the pieces are, by the order of the level's."""
    if not isinstance(level, Blocks) or not isinstance(position, Blocks) or level.family != position.family:
        raise PositionError(f"the position is of {position.family}, the level of {level.family}")
    if (level.width, level.height) != (position.width, position.height):
        sizes = f"{position.width}x{position.height}, the level is {level.width}x{level.height}"
        raise PositionError(f"the position is {sizes}")
    _check_floor(level, position)
    free: dict[Kind, list[int]] = {}
    for kind, cell in sorted(zip(_kinds(position), position.start(), strict=True), key=lambda pair: pair[1]):
        free.setdefault(kind, []).append(cell)
    state = dict.fromkeys(range(level.pieces), OUT)
    for piece, kind, _ in sorted(zip(state, _kinds(level), level.start(), strict=True), key=lambda of: of[2]):
        if free.get(kind):
            state[piece] = free[kind].pop(0)
        elif not isinstance(level, Parkout) or level.cars[piece].fixed:
            raise PositionError(f"the position lacks a piece like {level.names[piece]} of the level")
    left_over = Counter({kind: len(cells) for kind, cells in free.items()}) + Counter()
    if left_over:
        piece = _kinds(position).index(next(iter(left_over)))
        raise PositionError(f"the level has no piece like {position.names[piece]} of the position, or not as many")
    if isinstance(level, Rush) and isinstance(position, Rush) and level.exit != position.exit:
        raise PositionError(f"the exit of the position is {position.exit}, that of the level is {level.exit}")
    return tuple(state.values())


def _check_floor(level: Blocks, position: Blocks) -> None:
    """The same walls and gates; gates may be hidden under pieces."""
    hidden = {cell for cell, piece in enumerate(position.grid()) if piece >= 0} if isinstance(level, Klotski) else set()
    for cell, (one, other) in enumerate(zip(level.background(), position.background(), strict=True)):
        if one != other and not (one == GATE and cell in hidden):
            row, column = divmod(cell, level.width)
            what = {level.wall: "a wall", GATE: "a gate"}
            asked, found = what.get(one, "free"), what.get(other, "free")
            raise PositionError(f"row {row + 1}, column {column + 1} is {asked} in the level, {found} in the position")


def _kinds(puzzle: Blocks) -> list[Kind]:
    """Of each piece; pieces of one kind can stand for each other in the order of their cells."""
    if isinstance(puzzle, Klotski):
        goals: dict[int, list[int]] = {}
        for number, cell in sorted(puzzle.goals):
            goals.setdefault(number, []).append(cell)
        return [(_shape(puzzle, piece), *goals.get(number, ())) for piece, number in enumerate(puzzle.classes)]
    if isinstance(puzzle, Rush):
        return [(car.stride, car.low, car.length, number == puzzle.primary) for number, car in enumerate(puzzle.cars)]
    assert isinstance(puzzle, Parkout)
    return [
        (name, car.length, car.side, car.fixed, puzzle.exit_slot(piece))
        for piece, (name, car) in enumerate(zip(puzzle.names, puzzle.cars, strict=True))
    ]


def _shape(puzzle: Klotski, piece: int) -> Kind:
    cells = [divmod(cell, puzzle.width) for cell in puzzle.covered(puzzle.start(), piece)]
    return tuple([(row - cells[0][0], column - cells[0][1]) for row, column in cells])


def _slots(level: Parkout, gone: int) -> tuple[Opening, ...]:
    """The level's exits for the cars that are left when so many have gone."""
    slots = []
    for slot in level.slots:
        opens, closes = max(slot.opens - gone, 0), max(slot.closes - gone, 0)
        slots.append(Opening(opens, closes) if opens < closes else Opening(0, 0))
    return tuple(slots)
