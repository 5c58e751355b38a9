"""From the fields of a pack entry to an Entry: the words that all formats share, and what is checked about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import orjson

from unjam.errors import MetricError, ParseError
from unjam.packs.entry import Entry
from unjam.puzzles import FAMILIES
from unjam.puzzles.puzzle import Metric, Puzzle
from unjam.puzzles.rush import Rush
from unjam.puzzles.text import shown
from unjam.search.rush_bulk import quick_rush

PUZZLE_FIELDS = tuple(dict.fromkeys(name for rules in FAMILIES.values() for name in rules.field_names))
METRICS = ("step", "slide", "path")
FIELDS = ("family", "name", "board", *PUZZLE_FIELDS, "metric", "tags", "known")
_READ = frozenset((*FIELDS, *METRICS, "optimal", "id"))
_MATTERS = _READ - {"name", "tags", "id"}  # for the puzzle, or for what is said about its answer

MAX_FIELDS = 100
MAX_NAME = 500
MAX_TAGS = 100
MAX_COUNT = 2**31 - 1  # a claimed count; the store keeps it as an integer


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for entries that do not say it themselves; a field is left out where the family has none such."""

    family: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


def read_entry(index: int, line: int, raw: object, defaults: Defaults) -> Entry:
    """The entry that ``raw``, an object with the fields of DESIGN's packs, describes. Never raises for bad input."""
    name = None
    try:
        if not isinstance(raw, dict):
            raise ParseError(f"an entry is an object with fields, not {_kind(raw)}")
        refuse_misspelt(raw)
        name = _name(raw)
        puzzle = _puzzle(raw, defaults)
        metric: Metric | None = None
        if raw.get("metric") is not None:
            metric = puzzle.check_metric(_text(raw["metric"], "metric"))
        return Entry(index, line, puzzle, metric, name, _tags(raw), _known(raw, puzzle, metric))
    except (ParseError, MetricError) as error:
        return Entry(index, line, name=name, error=str(error))


def from_text(raw: Mapping[str, str]) -> dict[str, Any]:
    """Fields as a CSV cell or a header line writes them, in the form that JSON gives them. Empty means not said."""
    fields: dict[str, Any] = {}
    for key, text in raw.items():
        text = text.strip()
        if not text:
            continue
        if key in METRICS:
            fields[key] = _count_from_text(text, key)
        elif key == "known":
            fields[key] = _known_from_text(text)
        elif key in ("board", "goal", "closed", "gates", "fixed", "tags"):
            fields[key] = _list_from_text(text, key)
        else:
            fields[key] = text
    return fields


def refuse_misspelt(names: Mapping[str, Any]) -> None:
    """Unknown fields are ignored, but not one that looks like a misspelt field: it would change the puzzle silently."""
    if len(names) > MAX_FIELDS:
        raise ParseError(f"an entry has at most {MAX_FIELDS} fields, not {len(names):,}")
    for name in names:
        if name not in _READ and len(name) <= 20 and (meant := _meant(name)) and meant not in names:
            raise ParseError(f"unknown field {name!r}: is {meant!r} meant?")


@lru_cache(1000)  # entries of a pack have the same fields, and the comparison costs as much as all the rest
def _meant(name: str) -> str | None:
    return next(iter(get_close_matches(name.strip().lower(), _MATTERS, n=1, cutoff=0.75)), None)


def _puzzle(raw: Mapping[str, Any], defaults: Defaults) -> Puzzle:
    family = raw.get("family", defaults.family)
    if family is None:
        raise ParseError(f"say which: {', '.join(FAMILIES)} (or use --family)", field="family")
    if not isinstance(family, str) or family not in FAMILIES:
        raise ParseError(f"there is no family {shown(family)}; there are {', '.join(FAMILIES)}", field="family")
    if raw.get("board") is None:
        raise ParseError("there is none", field="board")
    fields = {key: value for key, value in defaults.fields.items() if key in FAMILIES[family].field_names}
    fields |= {key: value for key, value in raw.items() if key in PUZZLE_FIELDS and value is not None}
    quick = quick_rush(raw["board"], **fields) if family == Rush.family else None
    return quick or FAMILIES[family].parse(raw["board"], **fields)


def _name(raw: Mapping[str, Any]) -> str | None:
    name = raw.get("name", raw.get("id"))
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    return None if name is None else _text(name, "name")


def _tags(raw: Mapping[str, Any]) -> tuple[str, ...]:
    tags = raw.get("tags")
    if tags is None:
        return ()
    if isinstance(tags, str):
        tags = [tag.strip() for tag in tags.split(",") if tag.strip()]
    if not isinstance(tags, list) or len(tags) > MAX_TAGS:
        raise ParseError(f"must be a list of at most {MAX_TAGS} words", field="tags")
    return tuple(_text(tag, "tags") for tag in tags)


def _known(raw: Mapping[str, Any], puzzle: Puzzle, metric: str | None) -> dict[str, int | None]:
    known = {name: raw[name] for name in METRICS if name in raw}
    for key in ("optimal", "known"):
        claim = raw.get(key)
        if isinstance(claim, Mapping):
            known |= claim
        elif claim is not None:
            known[metric or puzzle.metrics[0]] = claim
    for name, count in known.items():
        if name not in puzzle.metrics:
            raise ParseError(f"{puzzle.family} has no metric {name!r:.40}", field="known")
        if count is not None and (type(count) is not int or not 0 <= count <= MAX_COUNT):
            raise ParseError(f"{name} must be a number of moves, or null if there is no solution", field="known")
    return known


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise ParseError(f"must be text, not {_kind(value)}", field=where)
    if len(value) > MAX_NAME:
        raise ParseError(f"is longer than {MAX_NAME} characters", field=where)
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise ParseError("holds a control character", field=where)
    return value


def _count_from_text(text: str, where: str) -> int | None:
    if text.lower() in ("unsolvable", "null"):
        return None
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    raise ParseError(f"{text!r:.40} is neither a number of moves nor 'unsolvable'", field=where)


def _known_from_text(text: str) -> object:
    """``{"step": 5}``, ``5``, or ``step 5, slide 2``."""
    if text.startswith("{"):
        return _json(text, "known")
    if " " not in text:
        return _count_from_text(text, "known")
    known = {}
    for claim in text.split(","):
        metric, _, count = claim.strip().partition(" ")
        known[metric.rstrip(":=")] = _count_from_text(count.strip(), "known")
    return known


def _list_from_text(text: str, where: str) -> object:
    if not text.startswith("["):
        return text
    try:
        return _json(text, where)
    except ParseError:
        if where in ("board", "goal"):
            return text  # a board may begin with a piece that is called "["
        raise


def _json(text: str, where: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise ParseError(f"is no JSON: {error.msg}", field=where) from None


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return "null" if value is None else names.get(type(value), type(value).__name__)
