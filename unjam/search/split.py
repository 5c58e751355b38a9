"""One hard tiles board, divided into units that many workers search under one bound of IDA* after the other.

The root is expanded breadth first into some thousands of boards. Equal ones that were reached by as many moves are one
unit that counts as often as there are ways to it, and of the nodes above the units it is kept how many there are for
each bound, so the nodes of every full bound are those of the undivided search. A depth-first search goes on from the
moves that lead to its next node; so a unit can be left anywhere, and nothing is lost or searched twice.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf

from unjam._kernels import Control, Limits, PatternTable, Slice, divide, first_bound, search_slice
from unjam._kernels import Unit as Unit
from unjam.puzzles.grid import Move
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.puzzles.tiles import Tiles
from unjam.search import tables
from unjam.search.encode import tiles_board
from unjam.search.partitions import named
from unjam.search.solution import NO_LIMIT, Outcome, Solution
from unjam.search.solve import Method

PIECES = 4000  # that a search is divided into at first
FINEST = 500  # a unit that took more than this part of a bound is divided before the next
STEP = 2  # between two bounds
NOTHING_LEFT = Limits(inf, NO_LIMIT, NO_LIMIT)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a divided search is, but for its units: what a checkpoint keeps.

    ``interior`` has, by the least bound under which they are expanded, the nodes above the units: expanded and
    generated. ``upper`` and ``moves`` are a solution that is not proven to be the shortest. Counts are totals, also of
    the ``earlier`` orders that this one goes on from; a budget is of one order.
    """

    heuristic: str
    table: str | None  # name of the pattern databases
    bound: int  # that is searched now: no solution is shorter
    profile: tuple[int, ...] = ()  # nodes generated under each bound before
    interior: dict[int, tuple[int, int]] = field(default_factory=dict, repr=False)
    expanded: int = 0
    bound_generated: int = 0  # under the present bound
    seconds: float = 0.0  # of all workers together
    cpu_seconds: float = 0.0
    upper: int | None = None
    moves: tuple[Move, ...] = ()
    earlier_seconds: float = 0.0
    earlier_generated: int = 0

    @property
    def generated(self) -> int:
        return sum(self.profile) + self.bound_generated

    @property
    def budget_seconds(self) -> float:
        """What counts against the budget."""
        return self.seconds - self.earlier_seconds

    @property
    def budget_nodes(self) -> int:
        return self.generated - self.earlier_generated

    def solution(self, metric: Metric, outcome: Outcome, reason: str | None = None) -> Solution:
        """The answer if the search ends here: ``bounded``, or ``optimal`` once the bound has come to ``upper``."""
        return Solution(
            metric,
            outcome,
            length=self.upper if outcome is Outcome.OPTIMAL else None,
            lower=self.bound,
            upper=self.upper,
            moves=self.moves,
            reason=reason,
            expanded=self.expanded,
            generated=self.generated,
            seconds=self.seconds,
            cpu_seconds=self.cpu_seconds,
            profile=(*self.profile, self.bound_generated),
            algorithm="idastar",
            heuristic=self.heuristic,
        )


@dataclass(frozen=True, slots=True)
class Division:
    """A search that is about to begin a bound."""

    progress: Progress
    units: list[Unit] = field(repr=False)


def divisible(metric: Metric, method: Method) -> bool:
    """Whether a search of tiles can be divided: IDA* in steps."""
    return metric == "step" and method.algorithm == "idastar"


def prepare(puzzle: Puzzle, method: Method, control: Control, seconds: float | None) -> None:
    """Build the table that a search of so many seconds would build, since its first part alone would not have the time.

    Raises TableError as ``unjam.solve`` does.
    """
    assert isinstance(puzzle, Tiles)
    if method.heuristic == "pdb":
        tables.required(puzzle, control, inf if seconds is None else seconds)
    elif method.tries_table:
        tables.at_hand(puzzle, control, inf if seconds is None else seconds)


def begin(puzzle: Tiles, local: Solution, control: Control) -> Division | None:
    """Divide the search of which ``local`` is a part that found nothing; None when the control said stop.

    The bounds that it has behind it are searched once more, to know the units' sizes and the nodes. Raises MemoryError
    where there is not enough.
    """
    heuristic = local.heuristic
    assert heuristic is not None
    chosen = tables.chosen(puzzle) if heuristic == "pdb" else None
    board, table = tiles_board(puzzle), None if chosen is None else tables.open_table(chosen)
    bound = first_bound(*board, heuristic, table)
    progress = Progress(
        heuristic,
        None if chosen is None else chosen.name,
        bound,
        bound_generated=1,  # the root
        seconds=local.seconds,
        cpu_seconds=local.cpu_seconds,
        upper=local.upper,
        moves=local.moves,
    )
    wall, cpu = time.perf_counter(), time.thread_time()
    division = _divided(puzzle, progress, [Unit("", 0, 1)], [PIECES])
    for _ in local.profile[:-1]:
        slice = search(puzzle, division.progress, division.units, "", NOTHING_LEFT, control)
        if slice.reason == "bytes":
            raise MemoryError
        if slice.outcome != "exhausted":
            return None
        done = worked(division.progress, slice.expanded, slice.generated)
        division = advance(puzzle, done, division.units, slice.nodes)
    spent = worked(division.progress, 0, 0, time.perf_counter() - wall, time.thread_time() - cpu)
    return replace(division, progress=spent)


def search(
    puzzle: Tiles, progress: Progress, units: Sequence[Unit], resume: str, limits: Limits, control: Control
) -> Slice:
    """Search units under the present bound; the first one goes on at ``resume``, where an earlier slice left it.

    Raises TableError where this machine has not the search's table and cannot make it.
    """
    table = _table(progress, control)
    return search_slice(*tiles_board(puzzle), progress.heuristic, progress.bound, units, resume, limits, control, table)


def worked(
    progress: Progress, expanded: int, generated: int, seconds: float = 0.0, cpu_seconds: float = 0.0
) -> Progress:
    """The progress after a part of the present bound."""
    return replace(
        progress,
        expanded=progress.expanded + expanded,
        bound_generated=progress.bound_generated + generated,
        seconds=progress.seconds + seconds,
        cpu_seconds=progress.cpu_seconds + cpu_seconds,
    )


def advance(puzzle: Tiles, progress: Progress, units: Sequence[Unit], nodes: Sequence[int]) -> Division:
    """Go to the next bound, all units being searched; ``nodes`` is what each of them took."""
    following = replace(
        progress,
        bound=progress.bound + STEP,
        profile=(*progress.profile, progress.bound_generated),
        bound_generated=0,
    )
    whole = max(sum(nodes), 1)
    return _divided(puzzle, following, units, [FINEST * part / whole for part in nodes])


def expected_seconds(progress: Progress) -> float:
    """About how long the present bound takes on one worker."""
    if len(progress.profile) < 2 or not progress.seconds:
        return 0.0
    before, last = progress.profile[-2:]
    return last * (last / before) * progress.seconds / sum(progress.profile)


def _divided(puzzle: Tiles, progress: Progress, units: Sequence[Unit], pieces: Sequence[float]) -> Division:
    """At the beginning of a bound; its nodes above the units are counted at once."""
    table = _table(progress, Control())
    made = divide(*tiles_board(puzzle), progress.heuristic, units, pieces, table)
    interior = dict(progress.interior)
    for nodes in made.interior:
        expanded, generated = interior.get(nodes.f, (0, 0))
        interior[nodes.f] = expanded + nodes.expanded, generated + nodes.generated
    below = [counts for f, counts in interior.items() if f <= progress.bound]
    begun = replace(
        progress,
        interior=interior,
        expanded=progress.expanded + sum(expanded for expanded, _ in below),
        bound_generated=progress.bound_generated + sum(generated for _, generated in below),
    )
    return Division(begun, made.units)


def _table(progress: Progress, control: Control) -> PatternTable | None:
    return None if progress.table is None else tables.open_or_build(named(progress.table), control)
