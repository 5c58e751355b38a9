"""Breadth-first search over the rules in plain Python: slow, simple, and the oracle of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

from unjam.puzzles.grid import OUT, Move
from unjam.puzzles.parkout import Parkout
from unjam.puzzles.puzzle import Metric, Puzzle, State
from unjam.search.solution import Outcome, Solution


def search(
    puzzle: Puzzle, metric: Metric | None = None, *, prune: bool = False, max_states: int | None = None
) -> Solution:
    """The shortest solution, or the proof that there is none; bounded if more than ``max_states`` positions are met.

    ``prune``: where a car can leave and may as well (``Parkout.may_leave_now``), the first that may leaves and nothing
    else is tried. ``profile`` counts the positions of each layer, up to the one where the goal turns up, which then is
    not complete.
    """
    metric = puzzle.check_metric(metric)
    began = perf_counter()
    start = puzzle.fold(puzzle.start())
    came: dict[State, tuple[State, Move] | None] = {start: None}
    profile: list[int] = []
    expanded = generated = 0

    def answer(outcome: Outcome, last: State | None = None, reason: str | None = None) -> Solution:
        moves: list[Move] = []
        while last is not None and (step := came[last]) is not None:
            last, move = step
            moves.append(move)
        optimal, bounded = outcome is Outcome.OPTIMAL, outcome is Outcome.BOUNDED
        return Solution(
            metric=metric,
            outcome=outcome,
            length=len(moves) if optimal else None,
            lower=len(moves) if optimal else len(profile) if bounded else None,
            upper=len(moves) if optimal else None,
            moves=tuple(reversed(moves)),
            reason=reason,
            expanded=expanded,
            generated=generated,
            peak_states=len(came),
            seconds=perf_counter() - began,
            profile=(*profile, len(came) - sum(profile)) if len(came) > sum(profile) else tuple(profile),
            algorithm="bfs",
            pruned=prune if puzzle.family == "parkout" else None,
        )

    if puzzle.is_goal(start):
        return answer(Outcome.OPTIMAL, start)
    layer = [start]
    while layer:
        profile.append(len(layer))
        following: list[State] = []
        for state in layer:
            expanded += 1
            for move, reached in _moves(puzzle, state, metric, prune):
                generated += 1
                after = puzzle.fold(reached)
                if after in came:
                    continue
                came[after] = state, move
                if puzzle.is_goal(after):
                    return answer(Outcome.OPTIMAL, after)
                if max_states is not None and len(came) > max_states:
                    return answer(Outcome.BOUNDED, reason="nodes")
                following.append(after)
        layer = following
    return answer(Outcome.UNSOLVABLE, reason="no position that can be reached is a goal")


def reachable(puzzle: Puzzle, metric: Metric | None = None, *, prune: bool = False) -> list[int]:
    """How many positions need 0, 1, 2, ... moves; goals are not the end of it."""
    metric = puzzle.check_metric(metric)
    layer = [puzzle.fold(puzzle.start())]
    seen = set(layer)
    counts = []
    while layer:
        counts.append(len(layer))
        following = []
        for state in layer:
            for _, reached in _moves(puzzle, state, metric, prune):
                after = puzzle.fold(reached)
                if after not in seen:
                    seen.add(after)
                    following.append(after)
        layer = following
    return counts


def _moves(puzzle: Puzzle, state: Any, metric: Metric, prune: bool) -> Iterator[tuple[Move, State]]:
    moves = puzzle.moves(state, metric)
    if not prune or not isinstance(puzzle, Parkout):
        return moves
    every = list(moves)
    leaving = (one for one in every if one[0].to == OUT and puzzle.may_leave_now(state, state.index(one[0].cell)))
    return iter(next(([one] for one in leaving), every))
