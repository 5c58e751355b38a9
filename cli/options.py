"""Options that several commands share, turned into the objects they stand for."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from urllib.parse import urlsplit

import rich_click as click

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from unjam.packs import Defaults, Entry
    from unjam.search.hint import Stored
    from unjam.search.solution import Budget

FAMILIES = ("tiles", "klotski", "rush", "parkout")
METRICS = ("step", "slide", "path")
ALGORITHMS = ("bfs", "two-way", "astar", "idastar")
HEURISTICS = ("manhattan", "linear-conflict", "walking-distance", "pdb")
FORMATS = ("jsonl", "csv", "text", "lines")
LONGEST_NAME = 200
MOST = 2**63 - 1  # nodes or bytes that the store can keep as a budget

as_json = click.option("--json", "as_json", is_flag=True, help="Write one JSON object a level to standard output.")
metric = click.option(
    "--metric", type=click.Choice(METRICS), help="What counts as one move.  [default: as the pack or the family says]"
)


@dataclass(frozen=True, slots=True)
class Source:
    """Where levels come from: a pack, standard input, or boards on the command line."""

    pack: str | None
    boards: tuple[str, ...]
    format: str | None
    board_column: str | None
    defaults: Defaults

    @property
    def name(self) -> str:
        return "boards" if self.pack is None else "standard input" if self.pack == "-" else Path(self.pack).name

    @contextmanager
    def entries(self) -> Iterator[Iterator[Entry]]:
        """The levels, read as they are asked for."""
        from unjam.packs import read_objects, read_pack

        if self.pack is None:
            yield read_objects(({"board": _board(board)} for board in self.boards), self.defaults)
            return
        with click.open_file(self.pack, "rb") as stream:
            pack = cast(BinaryIO, stream)
            yield read_pack(pack, format=self.format, defaults=self.defaults, board_column=self.board_column)


def takes_levels(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add PACK, ``--board`` and what belongs to them; the command gets them as ``source``."""

    @wraps(command)
    def with_source(
        *args: Any,
        pack: str | None,
        boards: tuple[str, ...],
        format: str | None,
        board_column: str | None,
        family: str | None,
        **rest: Any,
    ) -> Any:
        from unjam.packs import Defaults
        from unjam.packs.fields import PUZZLE_FIELDS, from_text

        if (pack is None) == (not boards):
            either = "give a PACK (- for standard input), or boards with --board"
            raise click.UsageError(either if pack is None else f"{either}, not both")
        said = {name: value for name in PUZZLE_FIELDS if (value := rest.pop(name)) is not None}
        defaults = Defaults(family, from_text(said))
        return command(*args, source=Source(pack, boards, format, board_column, defaults), **rest)

    for option in reversed(_LEVELS):
        with_source = option(with_source)
    return with_source


_LEVELS = (
    click.argument("pack", required=False, type=click.Path(exists=True, dir_okay=False, allow_dash=True)),
    click.option("--board", "boards", multiple=True, help="A board, its rows separated by /. May be given repeatedly."),
    click.option(
        "--family",
        type=click.Choice(FAMILIES),
        metavar="FAMILY",
        help=f"Family of the levels that do not name theirs: {', '.join(FAMILIES)}.",
    ),
    click.option("--goal", help="tiles, klotski: goal of the levels that do not say theirs, for example blank-first."),
    click.option(
        "--goal-mode", type=click.Choice(["piece", "class"]), help="klotski: what a letter of the goal means."
    ),
    click.option("--exit", help="rush: the exit, for example bottom or right:2."),
    click.option("--closed", help="parkout: closed edges, for example top:3,left."),
    click.option(
        "--gates",
        help='parkout: gates as JSON, for example \'[{"edge": "top:3", "opens": 2}]\'; klotski: those under pieces.',
    ),
    click.option("--fixed", help="parkout: cars that cannot move, for example A,B."),
    click.option("--left", help="parkout: how many cars have left already, which gates count."),
    click.option("--format", type=click.Choice(FORMATS), help="Format of the pack.  [default: found out]"),
    click.option("--board-column", metavar="NAME", help="CSV: the column of the boards.  [default: board]"),
)


class Size(click.ParamType[int]):
    """A number of bytes, ``500MB`` or ``2GiB``."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", str(value).strip().lower())
        if not match:
            self.fail(f"{value!r} is no size; write for example 500MB or 2GiB", param, ctx)
        number, unit, binary = match.groups()
        size = int(float(number) * (1024 if binary else 1000) ** " kmgt".index(unit or " "))
        if not 0 < size <= MOST:
            self.fail(f"{value!r} is not between one byte and {MOST:,}", param, ctx)
        return size


class BoardSize(click.ParamType[tuple[int, int]]):
    """The width and the height of a board."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if match := re.fullmatch(r"(\d{1,2})x(\d{1,2})", str(value)):
            return int(match[1]), int(match[2])
        self.fail(f"{value!r} is not a width and a height such as 3x4", param, ctx)


class Seconds(click.ParamType[float]):
    """A positive time; ``nan`` would be a budget that never ends."""

    name = "float"

    def __init__(self, least: float = 0.0, most: float = inf) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds = click.FLOAT.convert(value, param, ctx)
        if not seconds > 0:
            self.fail(f"{value!r} is no time above zero", param, ctx)
        if not self.least <= seconds <= self.most:
            self.fail(f"{value!r} is not between {self.least:g} and {self.most:g} seconds", param, ctx)
        return float(seconds)


class Name(click.ParamType[str]):
    """A name that a terminal can show: it obeys control characters."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not text.strip() or len(text) > LONGEST_NAME:
            self.fail(f"a name has 1 to {LONGEST_NAME} characters", param, ctx)
        if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in text):
            self.fail("a name has no control characters", param, ctx)
        return text


def takes_budget(
    seconds: float = 60, time: str = "Time for a level."
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the budget of each level, which the command gets as ``budget``."""
    options = (
        click.option("--seconds", type=Seconds(), default=seconds, show_default=True, help=time),
        click.option("--nodes", type=click.IntRange(1, MOST), help="Generated nodes for a level.  [default: no limit]"),
        click.option("--memory", type=Size(), default="2GB", show_default=True, help="Search memory for a level."),
    )

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_budget(*args: Any, seconds: float, nodes: int | None, memory: int, **rest: Any) -> Any:
            from unjam.search.solution import Budget

            budget: Budget = Budget(seconds=seconds, nodes=nodes, bytes=memory)
            return command(*args, budget=budget, **rest)

        for option in reversed(options):
            with_budget = option(with_budget)
        return with_budget

    return add


def takes_search(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add metric, budget and the choice of search."""
    for option in reversed(_SEARCH):
        command = option(command)
    time = "Time for a level; of a search that workers share, the sum over all of them."
    return metric(takes_budget(time=time)(command))


_SEARCH = (
    click.option(
        "--algorithm", type=click.Choice(ALGORITHMS), help="Force a search.  [default: what suits the puzzle]"
    ),
    click.option(
        "--heuristic",
        type=click.Choice(HEURISTICS),
        metavar="NAME",
        help=f"tiles: force a heuristic: {', '.join(HEURISTICS)}.",
    ),
    click.option(
        "--distributed", is_flag=True, help="tiles, in steps: share each hard board at once, not after ten seconds."
    ),
)


@contextmanager
def open_store() -> Iterator[tuple[str, Engine]]:
    """The configured database, or the private one: its URL and an engine on it."""
    from unjam.settings import get_settings
    from unjam.store.database import database, open_engine

    with database(get_settings()) as url:
        engine = open_engine(url)
        try:
            yield url, engine
        finally:
            engine.dispose()


@contextmanager
def store_at_hand() -> Iterator[Stored | None]:
    """Look-ups in the configured database, or in the private one if it is up already; None where neither answers."""
    from unjam.errors import StoreError
    from unjam.settings import get_settings
    from unjam.store.postgres import is_up

    settings = get_settings()
    if settings.database_url is None and not is_up(settings.home):
        yield None
        return
    from unjam.store.lookup import stored_solution

    with ExitStack() as stack:
        try:
            _, engine = stack.enter_context(open_store())
        except StoreError as error:
            warnings.warn(f"{error}; stored answers are not used", RuntimeWarning, stacklevel=2)
            yield None
            return
        yield partial(stored_solution, engine)


def without_password(url: str) -> str:
    """The URL of a server as it may be shown and logged."""
    password = urlsplit(url).password
    return url.replace(f":{password}@", ":***@", 1) if password else url


def is_terminal() -> bool:
    """Whether somebody watches standard error."""
    return sys.stderr.isatty()


def _board(text: str) -> object:
    from unjam.packs.fields import from_text

    return from_text({"board": text}).get("board", "")
