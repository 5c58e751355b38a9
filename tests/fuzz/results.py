"""What every search promises, whatever it is given."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from random import Random
from typing import Any

from unjam import _kernels as kernels

NO_LIMIT = 2**64 - 1
ENDLESS = kernels.Limits(inf, NO_LIMIT, NO_LIMIT)
AMPLE = kernels.Limits(inf, 20_000, 64_000_000)
NODES_BEYOND = 5_000  # a search may look at the nodes that it has begun


def attempt(call: Callable[..., Any], *arguments: Any) -> Any:
    """What the kernel gives; None where it refuses its arguments."""
    try:
        return call(*arguments)
    except (ValueError, TypeError):
        return None


def some_limits(random: Random) -> kernels.Limits:
    """Mostly ample; else one of them ends soon or at once."""
    seconds, nodes, size = inf, 20_000, 64_000_000
    match random.randrange(8):
        case 0:
            seconds = random.choice([0.0, -1.0, 1e-4, 1e-3])
        case 1:
            nodes = random.choice([0, 1, 2, random.randrange(1000)])
        case 2:
            size = random.choice([0, 1, 1000, random.randrange(1_000_000)])
    return kernels.Limits(seconds, nodes, size)


def sound(result: kernels.Result, limits: kernels.Limits, check: Callable[[list[tuple[int, int]]], str]) -> None:
    """What a result says does not contradict itself or the limits, and its moves are a solution."""
    assert result.outcome in ("optimal", "unsolvable", "bounded")
    assert result.generated <= limits.nodes + NODES_BEYOND
    assert result.peak_bytes <= limits.bytes
    if result.outcome == "optimal":
        assert result.length == result.lower == result.upper == len(result.moves)
        assert check(result.moves) == ""
        return
    assert result.length == -1
    if result.outcome == "unsolvable":
        assert result.moves == []
        return
    ended = {"seconds": limits.seconds < inf, "nodes": limits.nodes < NO_LIMIT, "bytes": limits.bytes < NO_LIMIT}
    assert ended[result.reason]
    assert result.lower >= 0
    if result.upper >= 0:
        assert result.lower <= result.upper == len(result.moves)
        assert check(result.moves) == ""


def agree(one: kernels.Result, other: kernels.Result) -> None:
    """Two searches of the same puzzle."""
    for result, second in ((one, other), (other, one)):
        if second.outcome == "bounded":
            continue
        if result.outcome == "bounded":
            assert second.outcome == "unsolvable" or result.lower <= second.length
            assert result.upper < 0 or 0 <= second.length <= result.upper
        else:
            assert (result.outcome, result.length) == (second.outcome, second.length)
