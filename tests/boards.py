"""Small random boards of each family, made from a seed; the fields of a pack entry. Not every board can be solved."""

from __future__ import annotations

import string
from collections.abc import Callable
from random import Random
from typing import Any

Fields = dict[str, Any]
STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))


def tiles(random: Random) -> Fields:
    width, height = random.choice([(2, 2), (3, 2), (2, 3), (4, 2), (2, 4), (3, 3), (5, 2), (4, 3)])
    goal = [*range(width * height)]
    random.shuffle(goal)
    board = goal[:]
    if width * height <= 6:
        random.shuffle(board)  # half of them unsolvable
    else:
        for _ in range(random.randrange(16)):
            blank = board.index(0)
            row, column = divmod(blank, width)
            down, right = random.choice(STEPS)
            if 0 <= row + down < height and 0 <= column + right < width:
                other = blank + down * width + right
                board[blank], board[other] = board[other], board[blank]
    return {"board": _numbers(board, width), "goal": _numbers(goal, width)}


def klotski(random: Random) -> Fields:
    width, height = random.choice([(2, 3), (3, 3), (4, 3), (3, 4), (4, 4)])
    cells = [(row, column) for row in range(height) for column in range(width)]
    grid = dict.fromkeys(cells, ".")
    for cell in random.sample(cells, random.choice([0, 0, 1, 2])):
        grid[cell] = "#"
    gates = random.sample([cell for cell in cells if grid[cell] == "."], random.choice([0, 0, 0, 1]))
    for cell in gates:
        grid[cell] = "-"
    letters = iter(string.ascii_uppercase)
    shapes: dict[str, list[tuple[int, int]]] = {}
    for cell in random.sample(cells, len(cells)):
        if grid[cell] != "." or sum(value == "." for value in grid.values()) <= random.choice([1, 2, 3, 4]):
            continue
        shape = [cell]
        for _ in range(random.choice([0, 0, 1, 1, 2, 3])):
            row, column = random.choice(shape)
            down, right = random.choice(STEPS)
            near = (row + down, column + right)
            if random.random() < 0.05:
                near = random.choice(cells)  # a piece whose cells are apart
            if grid.get(near) == "." and near not in shape:
                shape.append(near)
        shapes[letter := next(letters)] = shape
        for part in shape:
            grid[part] = letter
    goal = dict.fromkeys(cells, ".")
    for letter in random.sample(sorted(shapes), min(len(shapes), random.choice([1, 1, 1, 2]))):
        places = []
        for down in range(-height, height):
            for right in range(-width, width):
                place = [(row + down, column + right) for row, column in shapes[letter]]
                if all(grid.get(cell, "#") != "#" and goal[cell] == "." for cell in place):
                    places.append(place)
        if places:
            for cell in random.choice(places):
                goal[cell] = letter
    if set(goal.values()) == {"."}:
        return klotski(random)
    mode = random.choice(["piece", "piece", "class"])
    return {"board": _rows(grid, width, height), "goal": _rows(goal, width, height), "goal_mode": mode}


def rush(random: Random) -> Fields:
    width, height = random.choice([(3, 3), (4, 3), (3, 4), (4, 4), (5, 4), (5, 5), (6, 3)])
    grid = {(row, column): "." for row in range(height) for column in range(width)}
    for _ in range(random.choice([0, 0, 1, 2])):
        grid[random.choice([*grid])] = "x"
    letters = iter(string.ascii_uppercase)
    exits = []
    while not exits:
        _, down = _park(random, grid, "A", (2, 2, 3))
        exits = (["top", "bottom"] if down else ["left", "right"]) if "A" in grid.values() else []
    next(letters)
    for _ in range(random.randrange(8)):
        _park(random, grid, next(letters), (2, 2, 3))
    fields: Fields = {"board": _rows(grid, width, height)}
    if random.random() < 0.5:
        fields["exit"] = random.choice(exits)
    return fields


def parkout(random: Random) -> Fields:
    width, height = random.choice([(3, 3), (4, 3), (3, 4), (4, 4), (5, 4)])
    grid = {(row, column): "." for row in range(height) for column in range(width)}
    for _ in range(random.choice([0, 0, 1, 2])):
        grid[random.choice([*grid])] = "#"
    letters = []
    for letter in string.ascii_lowercase[: random.randrange(1, 6)]:
        car, _ = _park(random, grid, letter, (2, 2, 3))
        if car:
            grid[random.choice([car[0], car[-1]])] = letter.upper()
            letters.append(letter)
    if not letters:
        return parkout(random)
    edges = [f"{side}:{index}" for side, n in _sides(width, height) for index in range(n)]
    fields: Fields = {"board": _rows(grid, width, height)}
    if random.random() < 0.5:
        fields["closed"] = random.sample(edges, random.randrange(1, 4)) + random.choice([[], ["top"], ["left"]])
    free = [edge for edge in edges if edge not in fields.get("closed", [])]
    if random.random() < 0.4:
        fields["gates"] = [
            {"edge": edge} | random.choice([{"opens": 1}, {"opens": 2}, {"closes": 1}, {"opens": 1, "closes": 3}])
            for edge in random.sample(free, 2)
            if edge.partition(":")[0] not in fields.get("closed", [])
        ]
    if len(letters) > 1 and random.random() < 0.2:  # one car at least has to leave
        fields["fixed"] = [random.choice(letters)]
    return fields


RANDOM_BOARDS: dict[str, Callable[[Random], Fields]] = {
    "tiles": tiles,
    "klotski": klotski,
    "rush": rush,
    "parkout": parkout,
}


def _park(
    random: Random, grid: dict[tuple[int, int], str], letter: str, lengths: tuple[int, ...]
) -> tuple[list[tuple[int, int]], int]:
    """Put a car somewhere if it fits; its cells (none if it does not) and 1 if it stands upright, else 0."""
    row, column = random.choice([*grid])
    down = random.randrange(2)
    car = [(row + down * step, column + (1 - down) * step) for step in range(random.choice(lengths))]
    if any(grid.get(cell) != "." for cell in car):
        return [], down
    for cell in car:
        grid[cell] = letter
    return car, down


def _sides(width: int, height: int) -> list[tuple[str, int]]:
    return [("top", width), ("right", height), ("bottom", width), ("left", height)]


def _rows(grid: dict[tuple[int, int], str], width: int, height: int) -> list[str]:
    return ["".join(grid[row, column] for column in range(width)) for row in range(height)]


def _numbers(tiles: list[int], width: int) -> list[list[int]]:
    return [tiles[start : start + width] for start in range(0, len(tiles), width)]
