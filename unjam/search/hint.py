"""Hints: the next optimal move of a position and the moves left, from what is known already or else by a search."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

from unjam._kernels import Control
from unjam.errors import TableError
from unjam.puzzles.grid import OUT, Move
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.puzzles.tiles import Cells, Tiles
from unjam.search import table_files
from unjam.search.atlas import MAX_CELLS, TilesAtlas, find_atlas
from unjam.search.level_atlas import LevelAtlas, find_level_atlas
from unjam.search.solution import Budget, Outcome, Solution
from unjam.search.solve import solve

SECONDS = 10.0  # somebody waits

Source: TypeAlias = Literal["rules", "atlas", "store", "search"]
Stored: TypeAlias = Callable[[Puzzle, Metric], Solution | None]  # an answer that was kept, if there is one


@dataclass(frozen=True, slots=True)
class Hint:
    """What to do in a position, in one metric.

    ``optimal``: ``moves_left`` is proven and each of ``moves`` begins a shortest solution; ``complete`` says whether
    these are all such moves. At a goal there are none and nothing is left. ``unsolvable``: the position is a dead end,
    ``reason`` says why. ``bounded``: a budget ended; lower <= moves left <= upper, and ``unproven`` begins the best
    solution found, which has ``upper`` moves and may not be the shortest (both None where none was found).
    """

    metric: Metric
    outcome: Outcome
    source: Source
    moves_left: int | None = None
    lower: int | None = None
    upper: int | None = None
    moves: tuple[Move, ...] = ()
    complete: bool = False
    unproven: Move | None = None
    reason: str | None = None
    seconds: float = 0.0  # wall clock

    def fields(self, puzzle: Puzzle) -> dict[str, Any]:
        """As JSON fields (docs/formats.md), the moves in the letters of the puzzle that was asked."""

        def written(move: Move) -> dict[str, Any]:
            [notation] = puzzle.notation([move], self.metric)
            return {"move": notation, "cell": move.cell, "to": None if move.to == OUT else move.to}

        return {
            "metric": self.metric,
            "outcome": self.outcome,
            "moves_left": self.moves_left,
            "lower": self.lower,
            "upper": self.upper,
            "moves": [written(move) for move in self.moves],
            "complete": self.complete,
            "unproven": None if self.unproven is None else written(self.unproven),
            "source": self.source,
            "reason": self.reason,
            "seconds": self.seconds,
        }


def hint(
    puzzle: Puzzle,
    metric: str | None = None,
    budget: Budget = Budget(seconds=SECONDS),
    *,
    stored: Stored | None = None,
    control: Control | None = None,
) -> Hint:
    """The next move from the puzzle's start: as ``known_hint`` has it, or else found by a search within the budget.

    ``control`` lets another thread cancel the search; without it Ctrl-C does. Raises MetricError.
    """
    metric = puzzle.check_metric(metric)
    return known_hint(puzzle, metric, stored) or searched_hint(puzzle, metric, budget, stored, control)


def known_hint(puzzle: Puzzle, metric: Metric, stored: Stored | None = None) -> Hint | None:
    """What rules, atlases and ``stored`` answers tell without a search; None where they do not."""
    began = time.perf_counter()
    found = _from_rules(puzzle, metric) or _from_atlas(puzzle, metric)
    if found is None and stored is not None:
        solution = stored(puzzle, metric)
        if solution is not None and solution.outcome in (Outcome.OPTIMAL, Outcome.UNSOLVABLE):
            found = _from_solution(solution, "store")
    return found and replace(found, seconds=time.perf_counter() - began)


def searched_hint(
    puzzle: Puzzle, metric: Metric, budget: Budget, stored: Stored | None = None, control: Control | None = None
) -> Hint:
    """What a search finds out within the budget; where it does not end, the bounds of a ``stored`` answer count too."""
    found = solve(puzzle, metric, budget, control=control)
    kept = stored(puzzle, metric) if stored is not None and found.outcome is Outcome.BOUNDED else None
    if kept is not None and kept.outcome is Outcome.BOUNDED:
        better = kept.upper is not None and (found.upper is None or kept.upper < found.upper)
        best = kept if better else found
        lower = max(found.lower or 0, kept.lower or 0)
        found = replace(found, lower=lower, upper=best.upper, moves=best.moves)
        if lower == found.upper:
            found = replace(found, outcome=Outcome.OPTIMAL, length=lower, reason=None)
    return _from_solution(found, "search")


def _from_rules(puzzle: Puzzle, metric: Metric) -> Hint | None:
    if puzzle.is_goal(puzzle.start()):
        return Hint(metric, Outcome.OPTIMAL, "rules", 0, 0, 0, complete=True)
    reason = puzzle.unsolvable_reason()
    return None if reason is None else Hint(metric, Outcome.UNSOLVABLE, "rules", reason=reason)


def _from_atlas(puzzle: Puzzle, metric: Metric) -> Hint | None:
    """From the atlas of such boards of tiles, or of a level in which the position can be reached."""
    atlas: TilesAtlas | LevelAtlas | TableError | None
    if not isinstance(puzzle, Tiles):
        atlas = find_level_atlas(puzzle, metric)
    elif puzzle.width * puzzle.height <= MAX_CELLS:
        atlas = find_atlas(puzzle.width, puzzle.height, puzzle.goal.index(0), metric)
    else:
        return None
    if isinstance(atlas, TableError):
        table_files.warn(atlas)
    if not isinstance(atlas, TilesAtlas | LevelAtlas):
        return None
    if isinstance(atlas, LevelAtlas):
        state = atlas.state(puzzle)
        left = atlas.moves_left(state)
        if left is None:
            return Hint(metric, Outcome.UNSOLVABLE, "atlas", reason="no goal can be reached from here")
        moves = tuple(atlas.next_moves(state))
    else:
        assert isinstance(puzzle, Tiles)
        left, moves = _on_tiles(atlas, puzzle)
    return Hint(metric, Outcome.OPTIMAL, "atlas", left, left, left, moves, complete=True)


def _on_tiles(atlas: TilesAtlas, puzzle: Tiles) -> tuple[int, tuple[Move, ...]]:
    left = atlas.distance(puzzle)
    assert left is not None  # unsolvable boards are told by their parity before
    moves = puzzle.moves(puzzle.board, atlas.metric)
    nearer = [move for move, board in moves if atlas.distance(replace(puzzle, board=cast(Cells, board))) == left - 1]
    return left, tuple(nearer)


def _from_solution(solution: Solution, source: Source) -> Hint:
    first = solution.moves[:1]
    proven = solution.outcome is Outcome.OPTIMAL
    return Hint(
        solution.metric,
        solution.outcome,
        source,
        solution.length,
        solution.lower,
        solution.upper,
        first if proven else (),
        unproven=None if proven or not first else first[0],
        reason=solution.reason,
        seconds=solution.seconds,
    )
