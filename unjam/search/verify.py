"""Does a solution hold? Replayed by the Python rules, or by the C++ checker that every stored answer has passed."""

from __future__ import annotations

from unjam.errors import IllegalMove, VerificationError
from unjam.puzzles.puzzle import Puzzle
from unjam.search.encode import check_moves
from unjam.search.solution import Outcome, Solution


def verify(puzzle: Puzzle, solution: Solution) -> None:
    """Replay a solution by the Python rules; raises VerificationError if it does not hold.

    What is checked: every move is legal in the solution's metric, the last one reaches the goal, and their number is
    the length (or upper bound) that is claimed. That no shorter solution exists is the search's proof, not replayed.
    """
    _check_claims(puzzle, solution)
    if not _has_moves(solution):
        return
    state = puzzle.start()
    for number, move in enumerate(solution.moves, 1):
        try:
            state = puzzle.apply(state, move, solution.metric)
        except IllegalMove as error:
            raise VerificationError(f"move {number}: {error}") from error
    if not puzzle.is_goal(state):
        raise VerificationError(f"the goal is not reached after {len(solution.moves)} moves")


def check(puzzle: Puzzle, solution: Solution) -> None:
    """As ``verify``, by the C++ checker: some microseconds."""
    _check_claims(puzzle, solution)
    if _has_moves(solution):
        fault = check_moves(puzzle, solution.metric, solution.moves)
        if fault:
            raise VerificationError(fault)


def _has_moves(solution: Solution) -> bool:
    return solution.outcome is Outcome.OPTIMAL or (solution.outcome is Outcome.BOUNDED and solution.upper is not None)


def _check_claims(puzzle: Puzzle, solution: Solution) -> None:
    claimed: object = None
    if solution.outcome is Outcome.OPTIMAL:
        if not solution.length == solution.lower == solution.upper:
            raise VerificationError(
                f"an optimal answer has one count, not length {solution.length} with lower {solution.lower} and "
                f"upper {solution.upper}"
            )
        claimed = solution.length
    elif solution.outcome is Outcome.BOUNDED and solution.upper is not None:
        if solution.lower is None or solution.lower > solution.upper:
            raise VerificationError(f"the bounds {solution.lower} and {solution.upper} cross")
        claimed = solution.upper
    elif solution.outcome is Outcome.UNSOLVABLE and puzzle.is_goal(puzzle.start()):
        raise VerificationError("said to be unsolvable, but it starts at the goal")
    if claimed is not None and len(solution.moves) != claimed:
        raise VerificationError(f"{len(solution.moves)} moves are given for a length of {claimed}")
