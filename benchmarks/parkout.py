"""Seeded lots of 8, 14, 20 and 26 cars: time, nodes and how much less that is than with plain pruning.

    python -m benchmarks.parkout [--lots 100] [--seconds 60] [--plain-seconds 10] [--algorithm astar]

Lots are built backwards: cars shunt and drive in over their exits one after the other. Then cars shunt, or are put
elsewhere, as long as a short search finds a solution and the lot gets no easier. A quarter of the lots has pillars and
a fixed car, a quarter gates that open late, a quarter gates that open late or close early.

Plain pruning is breadth-first search in which a car that may as well leave leaves, each time as a move of its own. The
ratio is of the nodes generated on the lots that plain pruning finishes. All solutions are replayed by the Python rules.
Exit code 1 if two counts differ.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from random import Random
from statistics import mean, median
from string import ascii_lowercase
from typing import Any

import unjam
from unjam.puzzles.exits import SIDES
from unjam.puzzles.parkout import Parkout

SIDES_OF = {8: (6, 6), 14: (7, 8), 20: (8, 9), 26: (9, 10)}  # cars: least and greatest side of the lot
CHANGES = 400  # tried after the last car has driven in
MOST_NODES = 3_000  # of the search that has to find a solution
KINDS = ("open", "obstacles", "opening", "closing")
LETTERS = ascii_lowercase + "\N{LATIN SMALL LETTER A WITH DIAERESIS}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lots", type=int, default=100, help="of each number of cars")
    parser.add_argument("--cars", type=int, action="append", choices=SIDES_OF)
    parser.add_argument("--seconds", type=float, default=60, help="budget of one solve")
    parser.add_argument("--plain-seconds", type=float, default=10, help="budget of one with plain pruning; 0: without")
    parser.add_argument("--algorithm", choices=("astar", "idastar"))
    options = parser.parse_args()
    print("cars  solved  moves   of them not leaving  ms: median, mean, most    nodes: median, mean   plain  ratio")
    return 1 if sum(row(cars, options) for cars in options.cars or SIDES_OF) else 0


def row(cars: int, options: argparse.Namespace) -> int:
    """Solve the lots, print a line of the table; how many counts differ."""
    wrong = plain_nodes = nodes_beside = plain_solved = 0
    seconds, nodes, lengths, shunts = [], [], [], []
    for number in range(options.lots):
        puzzle = Parkout.parse(**lot(cars, number))
        answer = unjam.solve(puzzle, budget=unjam.Budget(seconds=options.seconds), algorithm=options.algorithm)
        unjam.verify(puzzle, answer)
        seconds.append(answer.cpu_seconds * 1e3)
        nodes.append(answer.generated)
        if answer.length is None:
            print(f"  {cars} cars, lot {number}: {answer.outcome} {answer.lower}..{answer.upper}", flush=True)
        else:
            lengths.append(answer.length)
            shunts.append(answer.length - puzzle.leaving)
        if not options.plain_seconds:
            continue
        plain = unjam.solve(puzzle, budget=unjam.Budget(seconds=options.plain_seconds), algorithm="bfs")
        if plain.outcome is unjam.Outcome.BOUNDED:
            continue
        plain_solved += 1
        plain_nodes += plain.generated
        nodes_beside += answer.generated
        if answer.length not in (None, plain.length):
            wrong += 1
            print(f"  WRONG: {cars} cars, lot {number}: {answer.length}, not {plain.length}", flush=True)
    print(
        f"{cars:4}  {len(lengths):6}  {min(lengths)}-{max(lengths)}  {mean(shunts):19.1f}"
        f"  {median(seconds):10.2f} {mean(seconds):7.1f} {max(seconds):7,.0f}"
        f"  {median(nodes):10,.0f} {mean(nodes):10,.0f}  {plain_solved:6}  {plain_nodes / max(nodes_beside, 1):,.0f}",
        flush=True,
    )
    return wrong


@dataclass
class Parked:
    """A car: the cells of its lane from its exit on, how many of them are before its nose, and how many it covers."""

    side: str
    lane: list[int]
    before: int
    length: int

    @property
    def cells(self) -> list[int]:
        return self.lane[self.before : self.before + self.length]


def lot(cars: int, number: int) -> dict[str, Any]:
    """The fields of a lot, the same as long as the search generates the same nodes."""
    rng = Random(f"{cars} cars, lot {number}")
    kind = KINDS[number % len(KINDS)]
    parked: list[Parked] = []
    while len(parked) < cars:
        width, height = rng.randint(*SIDES_OF[cars]), rng.randint(*SIDES_OF[cars])
        pillars = rng.sample(range(width * height), rng.randint(1, 3)) if kind == "obstacles" else []
        fixed = _driven_in(rng, width, height, _bits(pillars)) if kind == "obstacles" else None
        kept = _bits(pillars + (fixed.cells if fixed else []))
        parked = []
        for _ in range(6 * cars):
            if len(parked) < cars and (car := _driven_in(rng, width, height, kept | _covered(parked))):
                parked.append(car)
            _shunt(rng, parked, kept)
    extra: dict[str, Any] = {"fixed": LETTERS[cars]} if fixed else {}
    if kind in ("opening", "closing"):
        extra["gates"] = _gates(rng, parked, width, kind == "closing")

    hardest, fields = (0, 0), {}
    for _ in range(CHANGES):
        changed = [replace(car) for car in parked]
        if rng.random() < 0.5:
            at = rng.randrange(cars)
            others = changed[:at] + changed[at + 1 :]
            changed[at] = _driven_in(rng, width, height, kept | _covered(others), anywhere=True) or changed[at]
        else:
            _shunt(rng, changed, kept)
        board = _drawn(width, height, changed + ([fixed] if fixed else []), pillars)
        answer = unjam.solve(Parkout.parse(board, **extra), budget=unjam.Budget(nodes=MOST_NODES))
        if answer.length is not None and (hard := (answer.length, _blocked(changed, kept))) >= hardest:
            hardest, parked, fields = hard, changed, {"board": board, **extra}
    return fields


def _drawn(width: int, height: int, cars: list[Parked], pillars: list[int]) -> list[str]:
    grid = ["."] * (width * height)
    for cell in pillars:
        grid[cell] = "#"
    for letter, car in zip(LETTERS, cars, strict=False):
        for cell in car.cells:
            grid[cell] = letter
        grid[car.cells[0]] = letter.upper()
    return ["".join(grid[at : at + width]) for at in range(0, len(grid), width)]


def _bits(cells: list[int]) -> int:
    return sum(1 << cell for cell in cells)


def _covered(parked: list[Parked]) -> int:
    return sum(_bits(car.cells) for car in parked)


def _driven_in(rng: Random, width: int, height: int, taken: int, anywhere: bool = False) -> Parked | None:
    """A car that came in over its exit, or ``anywhere``; none if it finds no room."""
    side = rng.choice(SIDES)
    upright = side in ("top", "bottom")
    line = rng.randrange(width if upright else height)
    lane = [*range(line, width * height, width)] if upright else [*range(line * width, (line + 1) * width)]
    if side in ("right", "bottom"):
        lane.reverse()
    length = rng.choice((2, 2, 2, 3))
    places = [before for before in range(len(lane) - length + 1) if not taken & _bits(lane[before : before + length])]
    if not anywhere:
        places = [before for before in places if not taken & _bits(lane[:before])]
    return Parked(side, lane, rng.choice(places), length) if places else None


def _shunt(rng: Random, parked: list[Parked], kept: int) -> None:
    """Slide some car to some place."""
    if not parked:
        return
    car = rng.choice(parked)
    taken = kept | _covered(parked) & ~_bits(car.cells)
    low = high = car.before
    while low > 0 and not taken >> car.lane[low - 1] & 1:
        low -= 1
    while high + car.length < len(car.lane) and not taken >> car.lane[high + car.length] & 1:
        high += 1
    car.before = rng.randint(low, high)


def _blocked(parked: list[Parked], kept: int) -> int:
    """How many cells are taken that cars have to cross, counted for each car."""
    taken = kept | _covered(parked)
    return sum((_bits(car.lane[: car.before]) & taken).bit_count() for car in parked)


def _gates(rng: Random, parked: list[Parked], width: int, closing: bool) -> list[dict[str, Any]]:
    """Gates that let the cars out in the reverse of the order in which they came, among others."""
    turns: dict[str, list[int]] = {}  # of each exit: how many have left before each car that takes it
    for left, car in enumerate(reversed(parked)):
        row, column = divmod(car.lane[0], width)
        turns.setdefault(f"{car.side}:{column if car.side in ('top', 'bottom') else row}", []).append(left)
    gates = []
    for edge in rng.sample(sorted(turns), 3):
        first, last = min(turns[edge]), max(turns[edge])
        gate: dict[str, Any] = {"edge": edge}
        if closing and last + 1 < len(parked):
            gate["closes"] = rng.randint(last + 1, len(parked) - 1)
        elif first:
            gate["opens"] = rng.randint(1, first)
        if len(gate) > 1:
            gates.append(gate)
    return gates


if __name__ == "__main__":
    sys.exit(main())
