"""Positions in the middle of play as puzzles of their own, and back: klotski, rush and parkout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import Any, TypeAlias

from unjam.errors import PositionError
from unjam.puzzles.blocks import Blocks, Cells, joined
from unjam.puzzles.exits import Opening, slot_origins
from unjam.puzzles.grid import OUT, Symmetry, symmetries
from unjam.puzzles.klotski import GATE, Klotski
from unjam.puzzles.parkout import Parkout
from unjam.puzzles.puzzle import Puzzle
from unjam.puzzles.rush import Rush

Kind: TypeAlias = tuple[Any, ...]  # what tells pieces apart, whatever their names and places


def position_of(level: Puzzle, position: Puzzle) -> Cells:
    """The state of ``level`` in which it is as ``position``, a puzzle with the same walls, pieces and goal.

    Names do not matter. A lot may lack cars: they have left, and the position's gates count from there on. A gate of
    klotski may be hidden under a piece. Raises PositionError where the position is of another level.
    """
    state, pairs = _matched(level, position)
    if isinstance(level, Parkout) and isinstance(position, Parkout):
        slots = _slots(level, state.count(OUT))
        if any(slots[level.exit_slot(one)] != position.slots[position.exit_slot(other)] for one, other in pairs):
            raise PositionError("the exits are not those of the level, or gates do not count from the position on")
    return state


def read_position(level: Puzzle, board: object) -> Cells:
    """The state of ``level`` that a board shows, which has no fields of its own: exits and gates are the level's.

    Raises ParseError where it is no board, PositionError where it is of another level.
    """
    said = ("board", "gates") if isinstance(level, Klotski) else ("board",)
    fields = {name: value for name, value in level.fields().items() if name not in said}
    if isinstance(level, Parkout):
        fields["left"] = level.leaving  # the lot may be empty
    return _matched(level, type(level).parse(board, **fields))[0]


def puzzle_at(level: Puzzle, state: Cells) -> Puzzle:
    """The puzzle that starts there. Its optimal counts are the moves left in the level."""
    if not isinstance(level, Blocks):
        raise PositionError(f"{level.family} has no positions of this kind")
    board = level.format(state).replace("\n", "")
    if isinstance(level, Klotski):
        return replace(level, board=board, hidden=tuple(cell for cell in level.gates if board[cell] != GATE))
    if isinstance(level, Parkout):
        return replace(level, board=board, slots=_slots(level, state.count(OUT)))
    assert isinstance(level, Rush)
    return Rush.parse(joined(board, level.width).split("/"), exit=level.exit)


def turned(puzzle: Blocks, symmetry: Symmetry) -> Blocks:
    """The image of a puzzle; it has the same letters."""
    back = symmetry.inverse(puzzle.width, puzzle.height).cells
    width, height = symmetry.width, symmetry.height
    if isinstance(puzzle, Klotski):
        board, goal = ("".join(cells[cell] for cell in back) for cells in (puzzle.board, puzzle.goal))
        hidden = tuple(sorted(symmetry.cells[cell] for cell in puzzle.hidden))
        return replace(puzzle, width=width, height=height, board=board, goal=goal, hidden=hidden)
    assert isinstance(puzzle, Parkout | Rush)
    board = "".join(puzzle.board[cell] for cell in back)
    if isinstance(puzzle, Parkout):
        number = symmetries(puzzle.width, puzzle.height).index(symmetry)
        origins = slot_origins(puzzle.width, puzzle.height)[number]
        slots = tuple(puzzle.slots[origin] for origin in origins)
        return replace(puzzle, width=width, height=height, board=board, slots=slots)
    goal_cell = min(symmetry.cells[cell] for cell in _covered(puzzle, puzzle.primary, puzzle.goal_cell))
    image = Rush.parse(joined(board, width).split("/"))
    if image.goal_cell == goal_cell:
        return image
    return replace(image, exit={"right": "left", "bottom": "top"}[image.exit])


def setting(puzzle: Blocks) -> bytes:
    """8 bytes that are the same for all positions of a level and for their images, and seldom for other levels."""
    images = [
        repr(
            (
                (turn.width, turn.height),
                sorted(turn.cells[cell] for cell in _walls(puzzle)),
                # Cars that have left are not on the board of a position.
                [] if isinstance(puzzle, Parkout) else sorted(_kinds(puzzle, turn)),
            )
        )
        for turn in symmetries(puzzle.width, puzzle.height)
    ]
    return blake2b(min(images).encode(), digest_size=8).digest()


def _matched(level: Puzzle, position: Puzzle) -> tuple[Cells, list[tuple[int, int]]]:
    """Where the pieces of the level are, and which piece of the level is which of the position."""
    if not isinstance(level, Blocks) or not isinstance(position, Blocks) or level.family != position.family:
        raise PositionError(f"the position is of {position.family}, the level of {level.family}")
    if (level.width, level.height) != (position.width, position.height):
        sizes = f"{position.width}x{position.height}, the level is {level.width}x{level.height}"
        raise PositionError(f"the position is {sizes}")
    _check_floor(level, position)
    ours, theirs = _by_kind(level), _by_kind(position)
    state = [OUT] * level.pieces
    pairs: list[tuple[int, int]] = []
    for kind, others in theirs.items():
        if len(others) > len(ours.get(kind, ())):
            raise PositionError(f"the level has no piece like {position.names[others[0]]} here, or not as many")
    for kind, pieces in ours.items():
        others = theirs.get(kind, [])
        lacking = len(pieces) - len(others)
        if lacking and not isinstance(level, Parkout):
            raise PositionError(f"the position lacks a piece like {level.names[pieces[0]]} of the level")
        # Of the cars in one lane with one direction those in front leave first.
        remain = (
            pieces[: len(others)]
            if isinstance(level, Parkout) and level.cars[pieces[0]].nose_last
            else pieces[lacking:]
        )
        pairs += zip(remain, others, strict=True)
    start = position.start()
    for piece, other in pairs:
        if len(level.covered(level.start(), piece)) != len(position.covered(start, other)):
            raise PositionError(f"{position.names[other]} is not as long as {level.names[piece]} of the level")
        state[piece] = start[other]
    for piece in _fixed(level):
        state[piece] = level.start()[piece]
    return tuple(state), pairs


def _check_floor(level: Blocks, position: Blocks) -> None:
    """The same walls and gates; gates may be hidden under pieces."""
    walls = _walls(level), _walls(position)
    gates = [set(puzzle.gates if isinstance(puzzle, Klotski) else ()) for puzzle in (level, position)]
    covered = {cell for cell, piece in enumerate(position.grid()) if piece >= 0}
    for cell in range(level.width * level.height):
        one, other = (
            "a wall" if cell in some_walls else "a gate" if cell in some_gates else "free"
            for some_walls, some_gates in zip(walls, gates, strict=True)
        )
        if one != other and not (one == "a gate" and cell in covered):
            row, column = divmod(cell, level.width)
            raise PositionError(f"row {row + 1}, column {column + 1} is {one} in the level, {other} in the position")


def _walls(puzzle: Blocks) -> set[int]:
    """Cells that are never free: walls, and the cells of fixed cars."""
    walls = {cell for cell, here in enumerate(puzzle.background()) if here == puzzle.wall}
    return walls.union(*[puzzle.covered(puzzle.start(), piece) for piece in _fixed(puzzle)])


def _fixed(puzzle: Blocks) -> list[int]:
    return [piece for piece, car in enumerate(puzzle.cars) if car.fixed] if isinstance(puzzle, Parkout) else []


@lru_cache(maxsize=16)  # one level is asked about again and again
def _by_kind(puzzle: Blocks) -> Mapping[Kind, Sequence[int]]:
    """The pieces of each kind, but fixed cars, in the order of their cells."""
    kinds, start, fixed = _kinds(puzzle, symmetries(puzzle.width, puzzle.height)[0]), puzzle.start(), _fixed(puzzle)
    found: dict[Kind, list[int]] = {}
    for piece in sorted(range(puzzle.pieces), key=lambda piece: start[piece]):
        if piece not in fixed:
            found.setdefault(kinds[piece], []).append(piece)
    return found


def _kinds(puzzle: Blocks, turn: Symmetry) -> list[Kind]:
    """Of each piece what never changes, seen on the turned board; pieces of one kind keep their order.

    A kind is shape and goals; for rush also the line; for parkout the lane and which end of it the nose looks at.
    """
    kinds: list[Kind] = []
    for piece, first in enumerate(puzzle.start()):
        cells = [divmod(turn.cells[cell], turn.width) for cell in _covered(puzzle, piece, first)]
        (row, column), *_ = sorted(cells)
        shape = tuple(sorted((down - row, right - column) for down, right in cells))
        lies = all(down == 0 for down, _ in shape)
        if isinstance(puzzle, Parkout):
            nose = cells[-1] if puzzle.cars[piece].nose_last else cells[0]
            kinds.append((lies, row if lies else column, nose == max(cells)))
            continue
        goals = tuple(
            sorted(min(turn.cells[cell] for cell in _covered(puzzle, piece, goal)) for goal in _goals(puzzle, piece))
        )
        kinds.append((shape, goals) if isinstance(puzzle, Klotski) else (shape, goals, row if lies else column))
    return kinds


def _covered(puzzle: Blocks, piece: int, first: int) -> Cells:
    return puzzle.covered((first,) * puzzle.pieces, piece)


def _goals(puzzle: Blocks, piece: int) -> Iterable[int]:
    """Where the goal wants the first cell of a piece of this kind."""
    if isinstance(puzzle, Klotski):
        return [cell for number, cell in puzzle.goals if number == puzzle.classes[piece]]
    return [puzzle.goal_cell] if isinstance(puzzle, Rush) and piece == puzzle.primary else []


def _slots(level: Parkout, gone: int) -> tuple[Opening, ...]:
    """The level's exits for the cars that are left when so many have gone."""
    return tuple(slot.after(gone, level.leaving - gone) for slot in level.slots)
