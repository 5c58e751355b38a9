"""Random boards of integers as the kernels take them, and a breadth-first search over grids that knows no kernel.

This is a third copy of the rules of blocks, on purpose. The tests of agreement go through the rules in Python and
unjam/search/encode.py, so a fault that these share with a kernel would not show there. And kernels take boards that no
puzzle can say: goals where a piece does not fit, pieces of one shape in classes of their own, gates that never open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import NamedTuple

STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))  # as noses are numbered
Grid = tuple[int, ...]
NEVER = 2**31 - 1


class Klotski(NamedTuple):
    width: int
    height: int
    board: list[int]
    classes: list[int]
    gates: list[int]
    gate_classes: list[int]
    goal: list[tuple[int, int]]


class Rush(NamedTuple):
    width: int
    height: int
    board: list[int]
    primary: int
    goal_cell: int


class Parkout(NamedTuple):
    width: int
    height: int
    board: list[int]
    noses: list[int]
    fixed: list[bool]
    opens: list[int]
    closes: list[int]


def shift(width: int, height: int, cells: Iterable[int], down: int, right: int) -> tuple[int, ...] | None:
    """The cells moved, or None when one would leave the board."""
    moved = []
    for cell in cells:
        row, column = cell // width + down, cell % width + right
        if not (0 <= row < height and 0 <= column < width):
            return None
        moved.append(row * width + column)
    return tuple(moved)


def cells_of(board: Iterable[int], piece: int) -> tuple[int, ...]:
    return tuple(cell for cell, value in enumerate(board) if value == piece)


def displaced(
    width: int, height: int, board: Grid, piece: int, metric: str, steps: Iterable[tuple[int, int]], closed: set[int]
) -> Iterator[Grid]:
    """The boards after one move of one piece."""
    start = cells_of(board, piece)
    lifted = tuple(-1 if value == piece else value for value in board)

    def free(cells: tuple[int, ...] | None) -> bool:
        return cells is not None and all(lifted[cell] == -1 and cell not in closed for cell in cells)

    places: list[tuple[int, ...]] = []
    if metric == "path":
        seen = [start]
        for cells in seen:
            for down, right in steps:
                to = shift(width, height, cells, down, right)
                if free(to) and to not in seen:
                    assert to is not None
                    seen.append(to)
        places = seen[1:]
    else:
        for down, right in steps:
            to = shift(width, height, start, down, right)
            while free(to):
                assert to is not None
                places.append(to)
                if metric == "step":
                    break
                to = shift(width, height, to, down, right)
    for place in places:
        yield tuple(piece if cell in place else value for cell, value in enumerate(lifted))


class TooLarge(Exception):
    """More positions than this search in plain Python should see in a test."""


def shortest(
    start: Grid, name: Callable[[Grid], Grid], children: Callable[[Grid], Iterable[Grid]], done: Callable[[Grid], bool]
) -> int | None:
    """Layer by layer; ``name`` makes equal positions equal. None: the goal is out of reach."""
    seen, layer, depth = {name(start)}, [start], 0
    while layer:
        if any(done(board) for board in layer):
            return depth
        following = []
        for board in layer:
            for child in children(board):
                if (named := name(child)) not in seen:
                    seen.add(named)
                    following.append(child)
                    if len(seen) > 1000:
                        raise TooLarge
        layer, depth = following, depth + 1
    return None


def solve_klotski(puzzle: Klotski, metric: str) -> int | None:
    width, height, start, classes, gates, gate_classes, goal = puzzle

    def children(board: Grid) -> Iterator[Grid]:
        for piece, klass in enumerate(classes):
            closed = set() if klass in gate_classes else set(gates)
            yield from displaced(width, height, board, piece, metric, STEPS, closed)

    def name(board: Grid) -> Grid:
        firsts = {cells_of(board, piece)[0] for piece in range(len(classes))}
        return tuple(value if value < 0 else classes[value] * 2 + (cell in firsts) for cell, value in enumerate(board))

    def done(board: Grid) -> bool:
        places = {(klass, cells_of(board, piece)[0]) for piece, klass in enumerate(classes)}
        return set(goal) <= places

    return shortest(tuple(start), name, children, done)


def axis_steps(cells: tuple[int, ...]) -> tuple[tuple[int, int], tuple[int, int]]:
    return ((0, -1), (0, 1)) if cells[1] - cells[0] == 1 else ((-1, 0), (1, 0))


def solve_rush(puzzle: Rush, metric: str) -> int | None:
    width, height, start, primary, goal_cell = puzzle

    def children(board: Grid) -> Iterator[Grid]:
        for car in range(max(start) + 1):
            steps = axis_steps(cells_of(start, car))
            yield from displaced(width, height, board, car, metric, steps, set())

    return shortest(tuple(start), lambda b: b, children, lambda b: cells_of(b, primary)[0] == goal_cell)


def parkout_children(puzzle: Parkout, board: Grid) -> Iterator[Grid]:
    """The boards after one move; a car that has left is on none of its cells."""
    width, height, _, noses, fixed, opens, closes = puzzle
    inside = [car for car in range(len(noses)) if car in board and not fixed[car]]
    gone = fixed.count(False) - len(inside)
    for car in inside:
        cells = cells_of(board, car)
        yield from displaced(width, height, board, car, "slide", axis_steps(cells), set())
        down, right = STEPS[noses[car]]
        ahead: tuple[int, ...] | None = cells
        while ahead is not None and all(board[cell] in (-1, car) for cell in ahead):
            ahead = shift(width, height, ahead, down, right)
        row, column = divmod(cells[0], width)
        slot = (column, width + row, width + height + column, 2 * width + height + row)[noses[car]]
        if ahead is None and opens[slot] <= gone < closes[slot]:
            yield tuple(-1 if value == car else value for value in board)


def parkout_at(puzzle: Parkout, board: Grid) -> Parkout:
    """The lot that is left in a position."""
    left = [car for car in range(len(puzzle.noses)) if car in board]
    gone = len(puzzle.noses) - len(left)
    return puzzle._replace(
        board=[left.index(value) if value >= 0 else value for value in board],
        noses=[puzzle.noses[car] for car in left],
        fixed=[puzzle.fixed[car] for car in left],
        opens=[max(opens - gone, 0) for opens in puzzle.opens],
        closes=[max(closes - gone, 0) for closes in puzzle.closes],
    )


def solve_parkout(puzzle: Parkout) -> int | None:
    movable = {car for car, fixed in enumerate(puzzle.fixed) if not fixed}
    return shortest(
        tuple(puzzle.board), lambda b: b, lambda b: parkout_children(puzzle, b), lambda b: movable.isdisjoint(b)
    )


def random_klotski(random: Random, size: tuple[int, int] | None = None) -> Klotski:
    """Of this size, or of any small one."""
    width, height = size or random.choice([(3, 2), (2, 3), (3, 3), (4, 3), (3, 4), (1, 6)])
    board = [-1] * (width * height)
    for cell in random.sample(range(len(board)), random.choice([0, 0, 1, 2])):
        board[cell] = -2
    gates = random.sample([cell for cell, value in enumerate(board) if value == -1], random.choice([0, 0, 1]))
    shapes: list[tuple[tuple[int, int], ...]] = []
    empty = random.choice([1, 2, 2, 3])
    for cell in random.sample(range(len(board)), len(board)):
        if board.count(-1) - len(gates) <= empty or board[cell] != -1 or cell in gates:
            continue
        cells = {cell}
        for _ in range(random.choice([0, 0, 1, 1, 2, 3])):
            down, right = random.choice(STEPS)
            near = shift(width, height, [random.choice(sorted(cells))], down, right)
            far = (random.randrange(len(board)),)
            choice = far if random.random() < 0.05 else near  # now and then a piece in parts
            if choice and board[choice[0]] == -1 and choice[0] not in gates:
                cells.add(choice[0])
        anchor = min(cells)
        for part in cells:
            board[part] = len(shapes)
        shapes.append(tuple((c // width - anchor // width, c % width - anchor % width) for c in sorted(cells)))
    if not shapes:
        return random_klotski(random, size)
    named = random.random() < 0.5  # each piece is a class of its own; else pieces of one shape are interchangeable
    numbers: dict[object, int] = {}
    classes = [numbers.setdefault(piece if named else shape, len(numbers)) for piece, shape in enumerate(shapes)]
    goal: dict[int, int] = {}
    for piece in random.sample(range(len(shapes)), min(len(shapes), random.choice([1, 1, 2]))):
        goal[random.randrange(width * height)] = classes[piece]
    gate_classes = sorted(set(goal.values()))
    return Klotski(width, height, board, classes, gates, gate_classes, [(k, cell) for cell, k in goal.items()])


def random_cars(random: Random, width: int, height: int, crowd: float) -> list[int]:
    board = [-1] * (width * height)
    for cell in random.sample(range(len(board)), random.choice([0, 0, 1, 2])):
        board[cell] = -2
    cars = 0
    for _ in range(60):
        down, right = random.choice([(0, 1), (1, 0)])
        cells = [random.randrange(len(board))]
        for _ in range(random.choice([1, 1, 2])):
            cells.extend(shift(width, height, cells[-1:], down, right) or ())
        if len(cells) >= 2 and all(board[cell] == -1 for cell in cells) and board.count(-1) > crowd * len(board):
            for cell in cells:
                board[cell] = cars
            cars += 1
    return board


def random_rush(random: Random, size: tuple[int, int] | None = None) -> Rush:
    while True:
        width, height = size or random.choice([(3, 3), (4, 3), (4, 4), (5, 4), (4, 5)])
        board = random_cars(random, width, height, 0.3)
        if max(board) < 0:
            continue
        primary = random.randrange(max(board) + 1)
        cells = cells_of(board, primary)
        (up, left), (down, right) = axis_steps(cells)
        places = [cells]
        for rows, columns in ((up, left), (down, right)):
            to: tuple[int, ...] | None = cells
            while to := shift(width, height, to, rows, columns):
                places.append(to)
        return Rush(width, height, board, primary, random.choice([min(places), max(places)])[0])


def random_parkout(random: Random, *, gates: bool, size: tuple[int, int] | None = None) -> Parkout:
    while True:
        width, height = size or random.choice([(3, 3), (4, 3), (4, 4), (3, 5)])
        board = random_cars(random, width, height, 0.3)
        cars = max(board) + 1
        if cars < 1:
            continue
        noses = []
        for car in range(cars):
            cells = cells_of(board, car)
            noses.append(random.choice([3, 1] if cells[1] - cells[0] == 1 else [0, 2]))
        fixed = [random.random() < 0.1 for _ in range(cars)]
        slots = 2 * (width + height)
        opens = [random.choice([0, 0, 0, 0, 1, 2] if gates else [0]) for _ in range(slots)]
        closes = [random.choice([NEVER] * 6 + [0, 1, 3] if gates else [NEVER] * 6 + [0]) for _ in range(slots)]
        return Parkout(width, height, board, noses, fixed, opens, closes)
