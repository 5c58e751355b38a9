"""Puzzles as the integers that the kernels take (unjam/_kernels.pyi)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from unjam import _kernels
from unjam.errors import SearchError
from unjam.puzzles.klotski import Klotski
from unjam.puzzles.parkout import Parkout
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.puzzles.rush import Rush
from unjam.puzzles.tiles import Tiles

Ints: TypeAlias = Sequence[int]


def run_kernel(
    puzzle: Puzzle,
    metric: Metric,
    algorithm: str,
    heuristic: str | None,
    pruned: bool,
    limits: _kernels.Limits,
    control: _kernels.Control,
    table: _kernels.PatternTable | None = None,
) -> _kernels.Result:
    """Search a puzzle in its own orientation. The heuristic ``pdb`` needs a table of the puzzle's size and goal."""
    match puzzle:
        case Tiles():
            return _kernels.tiles(*tiles_board(puzzle), metric, algorithm, heuristic or "none", limits, control, table)
        case Klotski():
            return _kernels.klotski(*_klotski(puzzle), metric, algorithm, limits, control)
        case Rush():
            return _kernels.rush(*rush_arguments(puzzle), metric, algorithm, limits, control)
        case Parkout():
            return _kernels.parkout(*_parkout(puzzle), pruned, algorithm, limits, control)
    raise TypeError(f"no kernel for {puzzle.family}")


def run_tiles_upper(
    puzzle: Tiles,
    metric: Metric,
    lower: int,
    limits: _kernels.Limits,
    control: _kernels.Control,
    table: _kernels.PatternTable | None,
) -> _kernels.Result:
    """Some solution of a solvable board, improved within the limits until it is no longer than ``lower``."""
    return _kernels.tiles_upper(*tiles_board(puzzle), metric, lower, limits, control, table)


def explore_kernel(
    puzzle: Puzzle, metric: Metric, limits: _kernels.Limits, control: _kernels.Control
) -> _kernels.Explored:
    """Every position that can be reached, with its distance; raises SearchError for tiles."""
    match puzzle:
        case Klotski():
            return _kernels.explore_klotski(*_klotski(puzzle), metric, limits, control)
        case Rush():
            return _kernels.explore_rush(*rush_arguments(puzzle), metric, limits, control)
        case Parkout():
            return _kernels.explore_parkout(*_parkout(puzzle), limits, control)
    raise SearchError(f"no positions of {puzzle.family} are explored; `unjam atlas build` serves boards of a size")


def level_graph(puzzle: Puzzle, metric: Metric, table: bytes | memoryview) -> _kernels.LevelGraph:
    """What ``explore_kernel`` found, to be asked; raises ValueError where the table is not of such a puzzle."""
    match puzzle:
        case Klotski():
            return _kernels.klotski_graph(*_klotski(puzzle), metric, table)
        case Rush():
            return _kernels.rush_graph(*rush_arguments(puzzle), metric, table)
        case Parkout():
            return _kernels.parkout_graph(*_parkout(puzzle), table)
    raise TypeError(f"no graph of {puzzle.family}")


def check_moves(puzzle: Puzzle, metric: Metric, moves: Sequence[tuple[int, int]]) -> str:
    """Why the C++ checker refuses the moves, or ""."""
    match puzzle:
        case Tiles():
            return _kernels.check_tiles(*tiles_board(puzzle), metric, moves)
        case Klotski():
            return _kernels.check_klotski(*_klotski(puzzle), metric, moves)
        case Rush():
            return _kernels.check_rush(*rush_arguments(puzzle), metric, moves)
        case Parkout():
            return _kernels.check_parkout(*_parkout(puzzle), moves)
    raise TypeError(f"no checker for {puzzle.family}")


def walking_distance_fits(puzzle: Tiles) -> bool:
    """Whether the walking-distance table of this size and goal is small enough to be built."""
    return _kernels.walking_distance_fits(puzzle.width, puzzle.height, puzzle.goal.index(0))


def tiles_board(puzzle: Tiles) -> tuple[int, int, Ints, int]:
    """Width, height, the goal cell of what lies in each cell, and the goal of the blank."""
    return puzzle.width, puzzle.height, puzzle.goal_cells(), puzzle.goal.index(0)


def _klotski(puzzle: Klotski) -> tuple[int, int, Ints, Ints, Ints, Ints, Sequence[tuple[int, int]]]:
    gate_classes = sorted({of for of, _ in puzzle.goals})
    return puzzle.width, puzzle.height, puzzle.start_grid, puzzle.classes, puzzle.gates, gate_classes, puzzle.goals


def rush_arguments(puzzle: Rush) -> tuple[int, int, Ints, int, int]:
    return puzzle.width, puzzle.height, puzzle.start_grid, puzzle.primary, puzzle.goal_cell


def _parkout(puzzle: Parkout) -> tuple[int, int, Ints, Ints, Sequence[bool], Ints, Ints]:
    noses, fixed = [car.side for car in puzzle.cars], [car.fixed for car in puzzle.cars]
    opens, closes = [slot.opens for slot in puzzle.slots], [slot.closes for slot in puzzle.slots]
    return puzzle.width, puzzle.height, puzzle.start_grid, noses, fixed, opens, closes
