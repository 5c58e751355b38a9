"""What the four families have in common: the interface that search, store and programs work with."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from hashlib import blake2b
from typing import Any, ClassVar, Literal, Self, TypeAlias

from unjam.errors import IllegalMove, MetricError
from unjam.puzzles.grid import Move, Symmetry

Metric: TypeAlias = Literal["step", "slide", "path"]
State: TypeAlias = Hashable  # a position of all pieces; each family has its own shape, stated in its class


class Puzzle(ABC):
    """An immutable position with its rules and goal."""

    family: ClassVar[str]
    metrics: ClassVar[tuple[Metric, ...]]  # the default first
    field_names: ClassVar[tuple[str, ...]]  # what ``parse`` takes beside the board
    rules_version: ClassVar[int] = 1

    width: int
    height: int

    @classmethod
    @abstractmethod
    def parse(cls, board: object, **fields: Any) -> Self:
        """Read a board (text, or rows) with the family's further fields; raises ParseError with row and column."""

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """The fields of a pack entry for this puzzle, in the user's letters; ``parse(**fields())`` equals it."""

    @property
    @abstractmethod
    def pieces(self) -> int:
        """How many pieces (tiles, blocks, cars) there are."""

    @abstractmethod
    def start(self) -> State:
        """The position of all pieces at the start."""

    @abstractmethod
    def moves(self, state: State, metric: Metric) -> Iterator[tuple[Move, State]]:
        """Every legal move with the position after it."""

    @abstractmethod
    def is_goal(self, state: State) -> bool: ...

    @abstractmethod
    def fold(self, state: State) -> State:
        """The same position with interchangeable pieces in a fixed order, so that equal positions are equal."""

    @abstractmethod
    def format(self, state: State | None = None) -> str:
        """The board as rows of text in the user's letters; the start if no state is given."""

    @abstractmethod
    def canonical_image(self) -> tuple[dict[str, Any], Symmetry]:
        """The fields of the canonical form, and the symmetry that leads from this puzzle to it."""

    @abstractmethod
    def notation(self, moves: Iterable[Move], metric: Metric, *, checked: bool = False) -> list[str]:
        """Moves as a player would write them, from the start on (docs/formats.md); raises IllegalMove.

        Of moves that were ``checked`` before, the rules need not be asked again, which takes longer than writing them.
        """

    @abstractmethod
    def read_notation(self, moves: Iterable[str], metric: Metric) -> list[Move]:
        """The reverse of ``notation``; raises IllegalMove, with the number of the move counted from 1."""

    def unsolvable_reason(self) -> str | None:
        """Why no search is needed: the proof that the goal cannot be reached, or None."""
        return None

    @classmethod
    def check_metric(cls, metric: str | None) -> Metric:
        """The metric itself, or the family's default for None; raises MetricError."""
        for known in cls.metrics:
            if metric is None or metric == known:
                return known
        raise MetricError(f"{cls.family} has no metric {metric!r}; it has {', '.join(cls.metrics)}")

    def apply(self, state: State, move: Move, metric: Metric) -> State:
        """The position after a move; raises IllegalMove."""
        for legal, after in self.moves(state, metric):
            if self.same_move(state, legal, move):
                return after
        raise IllegalMove(f"no {metric} move from cell {move.cell} to {move.to} here")

    def same_move(self, state: State, one: Move, other: Move) -> bool:
        """Whether two moves are the same piece going the same way, named by whichever of its cells."""
        return one == other

    @cached_property
    def canonical(self) -> str:
        """The canonical form as JSON of its fields, sorted and without spaces."""
        return _dump(self._canonical_image[0])

    @cached_property
    def to_canonical(self) -> Symmetry:
        """The symmetry that leads from this puzzle to its canonical form; its inverse brings solutions back."""
        return self._canonical_image[1]

    def note_canonical(self, canonical: str, to_canonical: Symmetry) -> None:
        """Take over the canonical form from somebody who has worked it out more quickly."""
        vars(self).update(canonical=canonical, to_canonical=to_canonical)

    @cached_property
    def key(self) -> bytes:
        """16 bytes of blake2b over family, rules version and canonical form. Equal keys, equal answers."""
        return blake2b(f"{self.family} {self.rules_version} {self.canonical}".encode(), digest_size=16).digest()

    @cached_property
    def _canonical_image(self) -> tuple[dict[str, Any], Symmetry]:
        return self.canonical_image()


def _dump(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
