"""State graphs of levels, given bytes that are no table of theirs: nothing is read beyond them, and it is said."""

from __future__ import annotations

import struct
from collections.abc import Callable
from math import inf
from random import Random
from typing import Any

import pytest

from tests import raw_boards as raw
from unjam import _kernels as kernels

HEAD = struct.Struct("<4Q")  # positions, bytes of a key, bits of the buckets, bytes of a value
UNLIMITED = kernels.Limits(inf, 2**64 - 1, 2**64 - 1)
LEVELS: list[tuple[Callable[..., kernels.Explored], Callable[..., kernels.LevelGraph], list[Any]]] = [
    (kernels.explore_klotski, kernels.klotski_graph, [*raw.random_klotski(Random(2)), "step"]),
    (kernels.explore_rush, kernels.rush_graph, [*raw.random_rush(Random(1)), "slide"]),
    (kernels.explore_parkout, kernels.parkout_graph, [*raw.random_parkout(Random(1), gates=False)]),
]


@pytest.mark.parametrize(("explore", "graph_of", "level"), LEVELS, ids=["klotski", "rush", "parkout"])
def test_keys_and_values_that_cannot_be_are_refused(explore: Any, graph_of: Any, level: list[Any]) -> None:
    table = explore(*level, UNLIMITED, kernels.Control()).table
    states, key, bits, _ = HEAD.unpack_from(table)
    assert states > 1
    ends = table[HEAD.size + states * key :][: 4 << bits]
    head = HEAD.pack(states, key, bits, 4)

    graph = graph_of(*level, head + b"\xff" * states * key + ends + b"\1\0\0\0" * states)
    with pytest.raises(ValueError, match=r"none can be|as it cannot"):
        graph.listed(1, 10)
    keys = table[HEAD.size :][: states * key]
    for value in (b"\xff\xff\xff\xff", b"\xff\xff\0\0"):
        with pytest.raises(ValueError, match="farther from the goal"):
            graph_of(*level, head + keys + ends + value * states).counts()
    for spoilt in (table[:-1], table[:31], b"", table + b"\0", b"\xff" * len(table)):
        with pytest.raises(ValueError, match="no table"):
            graph_of(*level, spoilt)
