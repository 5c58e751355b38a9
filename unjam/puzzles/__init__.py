"""The rules of the four families in plain Python: the authority, the verifier and the oracle of the tests."""

from __future__ import annotations

import json
from typing import Any

from unjam.errors import ParseError
from unjam.puzzles.klotski import Klotski
from unjam.puzzles.parkout import Parkout
from unjam.puzzles.puzzle import Puzzle
from unjam.puzzles.rush import Rush
from unjam.puzzles.tiles import Tiles

FAMILIES: dict[str, type[Puzzle]] = {family.family: family for family in (Tiles, Klotski, Rush, Parkout)}


def parse(family: str, board: object, **fields: Any) -> Puzzle:
    """Read a puzzle: ``board`` is text or a list of rows, ``fields`` the family's own (docs/formats.md).

    Raises ParseError with the row and column, counted from 1, or the field that is wrong.
    """
    if family not in FAMILIES:
        raise ParseError(f"no such family {family!r}; there are {', '.join(FAMILIES)}", field="family")
    return FAMILIES[family].parse(board, **fields)


def from_canonical(family: str, text: str) -> Puzzle:
    """The puzzle of a canonical form (``Puzzle.canonical``)."""
    return FAMILIES[family].parse(**json.loads(text))
