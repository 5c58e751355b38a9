"""Entries of packs made of random boards, and hard ones."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import unjam
from tests.boards import RANDOM_BOARDS
from unjam.errors import ParseError
from unjam.packs.entry import Entry


def random_levels(count: int, seed: int = 0, families: tuple[str, ...] = tuple(RANDOM_BOARDS)) -> list[Entry]:
    """Small boards of all families in turn, numbered and named."""
    random = Random(seed)
    entries = []
    for index in range(count):
        family = families[index % len(families)]
        entries.append(Entry(index, index + 1, _random_puzzle(family, random), name=f"{family} {index}"))
    return entries


def _random_puzzle(family: str, random: Random) -> unjam.Puzzle:
    while True:
        try:
            return unjam.parse(family, **RANDOM_BOARDS[family](random))
        except ParseError:  # no car that could leave, for one
            continue


def hard_levels(count: int, seed: int = 0) -> list[Entry]:
    """15-puzzles in the guise of klotski, searched breadth first: none ends within the time of a test."""
    random = Random(seed)
    goal = "ABCD/EFGH/IJKL/MNO."
    entries = []
    for index in range(count):
        letters = random.sample("ABCDEFGHIJKLMNO", 15)
        board = "/".join("".join(letters[row * 4 : row * 4 + 4]) for row in range(4)) + "."
        entries.append(Entry(index, index + 1, unjam.parse("klotski", board, goal=goal)))
    return entries


def mixed_levels(easy: int, hard: int) -> list[Entry]:
    """Hard ones first, each of which takes its whole budget, then small ones of klotski, rush and parkout."""
    entries = [*hard_levels(hard), *random_levels(easy, families=("klotski", "rush", "parkout"))]
    return [replace(entry, index=index, line=index + 1) for index, entry in enumerate(entries)]
