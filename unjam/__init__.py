"""unjam: optimal move counts of sliding puzzles, proven and in bulk.

>>> import unjam
>>> puzzle = unjam.parse("tiles", "1 2 3 / 4 5 6 / 7 0 8")
>>> unjam.solve(puzzle).length
1
"""

from unjam.puzzles import parse
from unjam.search.solution import Budget, Outcome, Solution
from unjam.search.solve import solve
from unjam.search.verify import verify

__all__ = ["Budget", "Outcome", "Solution", "parse", "solve", "verify"]
