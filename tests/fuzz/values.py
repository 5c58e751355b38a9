"""Values that are nearly right, and values that are not right at all."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from random import Random
from typing import Any

INTS = (0, 1, 2, 5, 6, 7, 8, 12, 13, 16, 25, 36, 63, 64, 65, 127, 128, 129, 255, 256, 1024, 1025, 65536, 2**31 - 1)
LARGE = (2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64)
WORDS = ("", "step", "slide", "path", "bfs", "idastar", "none", "pdb", "manhattan", "U", "RD", "x" * 2000, "\0", "ä")
# Letters with one case, three cases or a second lower case, digits that are no ASCII, what ends a line, what is
# combined, half a surrogate pair, and what boards and packs are made of.
CHARACTERS = (
    "\0\t\n\r\x0b\x1c\x7f\x85\xa0\u2028\ufeff\ud800ßİ\u0131\u017f\u212aǅ²\u0663é\u0301😀"
    " .#-_/\\\"',;:|[]{}()01259AaBbxoXO"
)
NUMBERS = (0, 1, -1, 5, 35, 36, 37, 2**31, 2**63, 2**64, 0.5, 1e308, inf, nan)


def corrupted(random: Random, value: Any) -> Any:
    """Changed in one place."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        near = [value + 1, value - 1, -value - 1, random.choice(INTS), -random.choice(INTS)]
        return random.choice(near if random.random() < 0.9 else LARGE)
    if isinstance(value, float):
        return random.choice([0.0, -1.0, 1e-9, 0.5, 3.0, 1e300, inf, -inf, nan])
    if isinstance(value, str):
        return random.choice(WORDS) if random.random() < 0.5 else garbled(random, value)
    if isinstance(value, list | tuple):
        items = list(value)
        if not items:
            return type(value)([random.choice([0, -1, "", (0, 0)])])
        at = random.randrange(len(items))
        match random.randrange(10):
            case 0:
                del items[at]
            case 1:
                items.insert(at, random.choice(items))
            case 2:
                other = random.randrange(len(items))
                items[at], items[other] = items[other], items[at]
            case 3:
                items *= random.choice([0, 2, 30])
            case _:
                items[at] = corrupted(random, items[at])
        return type(value)(items)
    if isinstance(value, dict):
        if not value or random.random() < 0.1:
            return {**value, random.choice(WORDS): 1}
        key = random.choice([*value])
        if random.random() < 0.2:
            return {name: other for name, other in value.items() if name != key}
        return {**value, key: corrupted(random, value[key])}
    return anything(random)


def spoilt(random: Random, arguments: Sequence[Any]) -> list[Any]:
    """With one to three of them corrupted."""
    changed = list(arguments)
    for _ in range(random.choice([1, 1, 2, 3])):
        at = random.randrange(len(changed))
        changed[at] = corrupted(random, changed[at])
    return changed


def garbled(random: Random, text: str) -> str:
    """A text with some characters changed, lost, doubled or exchanged."""
    for _ in range(random.choice([1, 1, 2, 5])):
        at, to = sorted(random.randrange(len(text) + 1) for _ in range(2))
        piece = text[at : min(to, at + 8)]
        match random.randrange(6):
            case 0:
                text = text[:at] + random.choice(CHARACTERS) + text[at:]
            case 1:
                text = text[:at] + random.choice(CHARACTERS) + text[at + 1 :]
            case 2:
                text = text[:at] + text[at + len(piece) :]
            case 3:
                text = text[:to] + piece * random.choice([1, 1, 2, 20]) + text[to:]
            case 4:
                text = text[:at] + piece[::-1] + text[at + len(piece) :]
            case 5:
                text = text[:at] + text[at:].swapcase()
    return text


def anything(random: Random, depth: int = 0) -> Any:
    """Any value of JSON, and some that JSON cannot say."""
    match random.randrange(8 if depth < 3 else 6):
        case 0:
            return random.choice([None, True, False])
        case 1:
            return random.choice(NUMBERS)
        case 2:
            return random.choice([10**5000, -(10**5000), b"AA..", {1}, object, deep(random.choice([50, 900, 5000]))])
        case 3 | 4:
            return "".join(random.choice(CHARACTERS) for _ in range(random.choice([0, 1, 4, 9, 40])))
        case 5:
            return random.choice(WORDS)
        case 6:
            return [anything(random, depth + 1) for _ in range(random.choice([0, 1, 2, 3, 50]))]
        case _:
            return {random.choice(WORDS): anything(random, depth + 1) for _ in range(random.randrange(4))}


def deep(depth: int) -> list[Any]:
    """Lists in lists."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value
