"""Sliding blocks: rigid pieces of any shape on a board with walls and gates; goal pieces must reach goal cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias

from unjam.errors import ParseError
from unjam.puzzles.blocks import (
    DIRECTIONS,
    EMPTY,
    LETTERS,
    WALL,
    Blocks,
    Cells,
    Draw,
    joined,
    renamed,
    straight,
    wide_images,
)
from unjam.puzzles.grid import Symmetry
from unjam.puzzles.puzzle import Metric
from unjam.puzzles.text import MAX_CELLS, place, read_rows, refuse_fields, shown

GATE: Final = "-"  # a cell that only goal pieces may cover

GoalMode: TypeAlias = Literal["piece", "class"]
Shape: TypeAlias = tuple[tuple[int, int], ...]  # rows and columns from the first cell in row-major order

_UNNAMED = str.maketrans("", "", EMPTY + WALL + GATE)
_ANYTHING = str.maketrans(WALL + GATE, EMPTY * 2)
_CANONICAL_NAMES = "".join(chr(code) for code in range(ord("A"), 0x250) if chr(code).isalpha())


@dataclass(frozen=True)
class Klotski(Blocks):
    """A sliding-block puzzle.

    Pieces are numbered by their first cell in ``board``, row by row; the state is each piece's first cell in row-major
    order (its anchor). ``board`` and ``goal`` are the cells in row-major order in the user's letters; ``goal`` shows
    walls as on the board and nothing else that does not matter. ``hidden`` are the gates under pieces.
    """

    family: ClassVar[str] = "klotski"
    metrics: ClassVar[tuple[Metric, ...]] = ("path", "slide", "step")
    field_names: ClassVar[tuple[str, ...]] = ("goal", "goal_mode", "gates")

    width: int
    height: int
    board: str
    goal: str
    goal_mode: GoalMode
    hidden: Cells = ()

    @classmethod
    def parse(
        cls, board: object, *, goal: object = None, goal_mode: object = None, gates: object = None, **unknown: Any
    ) -> Self:
        refuse_fields(cls.family, unknown, cls.field_names)
        rows = read_rows(board, max_side=MAX_CELLS)
        if goal is None:
            raise ParseError("klotski needs a goal: a grid with the goal pieces where they must end", field="goal")
        width, height = len(rows[0]), len(rows)
        goal_cells = _read_grid(goal, "goal", width, height)
        modes: tuple[GoalMode, ...] = ("piece", "class")
        mode = next((mode for mode in modes if mode == (goal_mode or "piece")), None)
        if mode is None:
            raise ParseError(f"goal_mode is 'piece' or 'class', not {shown(goal_mode)}", field="goal_mode")
        cells = "".join(rows)
        wanted = list(goal_cells.translate(_ANYTHING))
        for cell, here in enumerate(cells):
            if here == WALL:
                if wanted[cell] != EMPTY:
                    message = f"the goal puts {wanted[cell]!a} on a wall"
                    raise ParseError(message, field="goal", **place(cell, width))
                wanted[cell] = WALL
        hidden = () if gates is None else _read_gates(_read_grid(gates, "gates", width, height), cells, width)
        puzzle = cls(width, height, cells, "".join(wanted), mode, hidden)
        puzzle._check_goal()
        puzzle._check_gates()
        return puzzle

    def _check_goal(self) -> None:
        if not self._wanted:
            raise ParseError("the goal shows no piece", field="goal")
        stock = Counter(self._shapes.values())
        for name, cells in self._wanted.items():
            shape = _shape(cells, self.width)
            if self.goal_mode == "piece" and name not in self._shapes:
                problem = f"there is no piece {name!a} on the board"
            elif self.goal_mode == "piece" and shape != self._shapes[name]:
                problem = f"{name!a} has another shape in the goal than on the board"
            elif shape not in stock:
                problem = f"no piece has the shape that {name!a} has in the goal"
            elif stock[shape] == 0:
                problem = f"the goal shows more pieces of the shape of {name!a} than there are"
            else:
                stock[shape] -= 1
                continue
            raise ParseError(problem, field="goal", **place(cells[0], self.width))

    def _check_gates(self) -> None:
        goal_classes = {number for number, _ in self.goals}
        for piece, cells in enumerate(self._found.values()):
            for cell in cells:
                if cell in self.hidden and self.classes[piece] not in goal_classes:
                    message = f"{self.names[piece]!a} is on a gate, which only goal pieces may cover"
                    raise ParseError(message, field="gates", **place(cell, self.width))

    def fields(self) -> dict[str, Any]:
        fields = {"board": joined(self.board, self.width), "goal": joined(self.goal, self.width)}
        if self.goal_mode != "piece":
            fields["goal_mode"] = self.goal_mode
        return {**fields, "gates": joined(self._hidden_grid, self.width)} if self.hidden else fields

    @property
    def _hidden_grid(self) -> str:
        return "".join(GATE if cell in self.hidden else EMPTY for cell in range(len(self.board)))

    # What the board says, worked out once.

    @cached_property
    def _found(self) -> dict[str, Cells]:
        return _find(self.board)

    @cached_property
    def _wanted(self) -> dict[str, Cells]:
        return _find(self.goal)

    @cached_property
    def _shapes(self) -> dict[str, Shape]:
        return {name: _shape(cells, self.width) for name, cells in self._found.items()}

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self._found)

    @cached_property
    def classes(self) -> Cells:
        """The class of each piece; pieces of one class are interchangeable."""
        numbers: dict[tuple[Shape, str], int] = {}
        told_apart = self._wanted if self.goal_mode == "piece" else ()
        return tuple(
            numbers.setdefault((shape, name if name in told_apart else ""), len(numbers))
            for name, shape in self._shapes.items()
        )

    @cached_property
    def goals(self) -> tuple[tuple[int, int], ...]:
        """(class, cell): a piece of that class must have its first cell there; all must hold."""
        return tuple((self._goal_class[name], cells[0]) for name, cells in self._wanted.items())

    @cached_property
    def _goal_class(self) -> dict[str, int]:
        """The class that each letter of the goal means."""
        if self.goal_mode == "piece":
            return dict(zip(self.names, self.classes, strict=True))
        of_shape = dict(zip(self._shapes.values(), self.classes, strict=True))
        return {name: of_shape[_shape(cells, self.width)] for name, cells in self._wanted.items()}

    @cached_property
    def gates(self) -> Cells:
        """The cells that only pieces of goal classes may cover."""
        return tuple(sorted((*self.hidden, *(cell for cell, here in enumerate(self.board) if here == GATE))))

    @cached_property
    def _members(self) -> tuple[Cells, ...]:
        """The pieces of each class."""
        members: list[list[int]] = [[] for _ in range(max(self.classes) + 1)]
        for piece, number in enumerate(self.classes):
            members[number].append(piece)
        return tuple(map(tuple, members))

    @cached_property
    def _mixed(self) -> tuple[Cells, ...]:
        return tuple(pieces for pieces in self._members if len(pieces) > 1)

    @cached_property
    def _goal_cells(self) -> tuple[tuple[Cells, frozenset[int]], ...]:
        wanted: dict[int, set[int]] = {}
        for number, cell in self.goals:
            wanted.setdefault(number, set()).add(cell)
        return tuple((self._members[number], frozenset(cells)) for number, cells in wanted.items())

    @cached_property
    def _masks(self) -> tuple[Cells, ...]:
        """For each piece and anchor the bits of the cells it covers there, 0 where it cannot be.

        The bit after the last cell stands for the outside: it is what anchor -1 covers, and always taken.
        """
        goal_classes = {number for number, _ in self.goals}
        of_class: dict[int, Cells] = {}
        for number, shape in zip(self.classes, self._shapes.values(), strict=True):
            if number not in of_class:
                barred = WALL if number in goal_classes else WALL + GATE
                of_class[number] = (*self._class_masks(shape, barred), 1 << len(self.board))
        return tuple(of_class[number] for number in self.classes)

    def _class_masks(self, shape: Shape, barred: str) -> Iterator[int]:
        floor = self.background()
        for cell in range(len(floor)):
            mask = 0
            for down, right in shape:
                row, column = cell // self.width + down, cell % self.width + right
                if not (row < self.height and 0 <= column < self.width):
                    mask = 0
                    break
                at = row * self.width + column
                if floor[at] in barred:
                    mask = 0
                    break
                mask |= 1 << at
            yield mask

    @cached_property
    def _next(self) -> tuple[tuple[Cells, ...], ...]:
        """For each piece and anchor the anchors one step up, down, left and right; -1 where it cannot be."""
        of_masks: dict[Cells, tuple[Cells, ...]] = {}
        for masks in self._masks:
            if masks not in of_masks:
                of_masks[masks] = tuple(self._beside(cell, masks) for cell in range(len(self.board)))
        return tuple(of_masks[masks] for masks in self._masks)

    def _beside(self, cell: int, masks: Cells) -> Cells:
        row, column = divmod(cell, self.width)
        beside = []
        for down, right in DIRECTIONS:
            to = cell + down * self.width + right
            inside = 0 <= row + down < self.height and 0 <= column + right < self.width
            beside.append(to if inside and masks[to] else -1)
        return tuple(beside)

    # The rules.

    def start(self) -> Cells:
        return tuple(cells[0] for cells in self._found.values())

    def covered(self, state: Cells, piece: int) -> Cells:
        return tuple(state[piece] + down * self.width + right for down, right in self._shapes[self.names[piece]])

    def is_goal(self, state: Any) -> bool:
        return all(cells <= {state[piece] for piece in pieces} for pieces, cells in self._goal_cells)

    def fold(self, state: Any) -> Cells:
        folded = list(state)
        for pieces in self._mixed:
            for piece, cell in zip(pieces, sorted(folded[piece] for piece in pieces), strict=True):
                folded[piece] = cell
        return tuple(folded)

    def ends(self, state: Cells, metric: Metric, pieces: Iterable[int]) -> Iterator[tuple[int, int]]:
        taken = self._taken(state)
        for piece in pieces:
            masks, beside, cell = self._masks[piece], self._next[piece], state[piece]
            others = taken ^ masks[cell]
            if metric == "path":
                reached = [cell]
                for at in reached:
                    for end in beside[at]:
                        if not masks[end] & others and end not in reached:
                            reached.append(end)
                            yield piece, end
                continue
            for direction in range(4):
                end = beside[cell][direction]
                while not masks[end] & others:
                    yield piece, end
                    if metric == "step":
                        break
                    end = beside[end][direction]

    def way(self, state: Cells, piece: int, end: int, metric: Metric) -> str:
        if metric != "path":
            return straight(state[piece], end, self.width)
        masks, beside = self._masks[piece], self._next[piece]
        others = self._taken(state) ^ masks[state[piece]]
        ways = {state[piece]: [""]}  # for each cell of a layer the shortest ways there, one for each last direction
        seen = {state[piece]}
        while end not in ways:
            following: dict[int, list[str]] = {}
            for cell, so_far in ways.items():
                for letter, to in zip(LETTERS, beside[cell], strict=True):
                    if not masks[to] & others and to not in seen:
                        following.setdefault(to, []).append(min([way + letter for way in so_far], key=_turns))
            seen.update(following)
            ways = following
        steps = min(ways[end], key=_turns)
        return "".join(f"{letter}{len(list(run))}" for letter, run in groupby(steps))

    def _taken(self, state: Cells) -> int:
        taken = 1 << len(self.board)
        for masks, cell in zip(self._masks, state, strict=True):
            taken |= masks[cell]
        return taken

    def background(self) -> str:
        floor = [here if here in (WALL, GATE) else EMPTY for here in self.board]
        for cell in self.hidden:
            floor[cell] = GATE
        return "".join(floor)

    def drawn(self, piece: int) -> str:
        name = self.names[piece]
        return name * len(self._shapes[name])

    def canonical_image(self) -> tuple[dict[str, Any], Symmetry]:
        images = wide_images(self.width, self.height)
        boards = [self._board_image(draw) for _, _, draw in images]
        board = min(boards)
        goal, gates, symmetry = min(
            (
                (self._goal_image(draw), "".join(draw(self._hidden_grid)) if self.hidden else "", symmetry)
                for (_, symmetry, draw), image in zip(images, boards, strict=True)
                if image == board
            ),
            key=itemgetter(0, 1),
        )
        fields = {"board": joined(board, symmetry.width), "goal": joined(goal, symmetry.width)}
        if any(len(pieces) > 1 for pieces, _ in self._goal_cells):
            fields["goal_mode"] = "class"
        return ({**fields, "gates": joined(gates, symmetry.width)} if self.hidden else fields), symmetry

    def _board_image(self, draw: Draw) -> str:
        """An image of the board, its pieces renamed in the order of their first cells."""
        image = "".join(draw(self.board))
        return renamed(image, _canonical_names(image))

    def _goal_image(self, draw: Draw) -> str:
        """The goal to ``_board_image``: each goal cell is given to the first piece of its class that is still free."""
        class_of = dict(zip(self.names, self.classes, strict=True))
        free: dict[int, list[str]] = {}
        for name, canonical in _canonical_names("".join(draw(self.board))).items():
            free.setdefault(class_of[name], []).append(canonical)
        image = "".join(draw(self.goal))
        given = {name: free[self._goal_class[name]].pop(0) for name in dict.fromkeys(image.translate(_UNNAMED))}
        return renamed(image, given)


def _read_grid(grid: object, field: str, width: int, height: int) -> str:
    """The cells of a grid of the board's size."""
    rows = read_rows(grid, field=field, max_side=MAX_CELLS)
    if (len(rows[0]), len(rows)) != (width, height):
        size = f"{len(rows[0])}x{len(rows)}, the board {width}x{height}"
        verb = "are" if field == "gates" else "is"
        raise ParseError(f"the {field} {verb} {size}; they must be of one size", field=field)
    return "".join(rows)


def _read_gates(grid: str, board: str, width: int) -> Cells:
    """The gates of the grid that pieces of the board hide."""
    hidden = []
    for cell, (mark, here) in enumerate(zip(grid, board, strict=True)):
        if mark == GATE and here in (EMPTY, WALL):
            message = "no piece hides a gate here: draw gates that are free, as -, on the board"
            raise ParseError(message, field="gates", **place(cell, width))
        if mark == GATE != here:
            hidden.append(cell)
    return tuple(hidden)


def _find(board: str) -> dict[str, Cells]:
    """The cells of each piece, pieces in the order of their first cells."""
    found: dict[str, list[int]] = {}
    for cell, name in enumerate(board):
        if name not in (EMPTY, WALL, GATE):
            found.setdefault(name, []).append(cell)
    return {name: tuple(cells) for name, cells in found.items()}


def _shape(cells: Cells, width: int) -> Shape:
    row, column = divmod(cells[0], width)
    return tuple((cell // width - row, cell % width - column) for cell in cells)


def _turns(way: str) -> int:
    return sum(one != other for one, other in pairwise(way))


def _canonical_names(image: str) -> dict[str, str]:
    """The canonical name of each piece of an image, in the order of their first cells."""
    return dict(zip(dict.fromkeys(image.translate(_UNNAMED)), _CANONICAL_NAMES, strict=False))
