"""What a run came to, as a table for people. Scripts read the rows themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

SHOWN = 20  # lines of each list; --json has them all
SHOWN_LEVELS = 30  # lines of the table
_SOLVED = ("optimal", "unsolvable")


def console(*, stderr: bool = False) -> Console:
    """A console that does not fold tables where nobody watches."""
    there = Console(stderr=stderr)
    return there if there.is_terminal else Console(stderr=stderr, width=200)


def answer(row: Mapping[str, Any]) -> str:
    """The answer in a few characters: ``81``, ``unsolvable``, ``12..20``, ``12..``."""
    outcome = row["outcome"]
    if outcome == "optimal":
        return str(row["length"])
    if outcome == "bounded":
        return f"{row['lower']}..{'' if row['upper'] is None else row['upper']}"
    return str(outcome or "-")


class Report:
    """Counts the rows of a batch as they pass, in bounded memory."""

    def __init__(self, unanswered: str = "waiting") -> None:
        self.unanswered = unanswered
        self.outcomes: Counter[str] = Counter()
        self.bad = Head()
        self.wrong = Head()
        self.open = Head()
        self.levels = Head((), SHOWN_LEVELS)
        self.expanded = 0
        self.generated = 0
        self.seconds = 0.0
        self.searched: int | None = None  # puzzles that this run searched; the rest was known

    def count(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """The same rows, counted."""
        for row in rows:
            self.add(row)
            yield row

    def add(self, row: Mapping[str, Any]) -> None:
        if row.get("error"):
            self.bad.add(row)
            return
        self.levels.add(row)
        self.outcomes[row["outcome"] or self.unanswered] += 1
        self.expanded += row.get("expanded") or 0
        self.generated += row.get("generated") or 0
        self.seconds += row.get("seconds") or 0.0
        if row.get("known_ok") is False:
            self.wrong.add(row)
        if row["outcome"] not in _SOLVED:
            self.open.add(row)

    @property
    def exit_code(self) -> int:
        return int(bool(self.open.count or self.bad.count or self.wrong.count))

    def show(self, as_json: bool, wall: float | None = None, *, moves: bool = False) -> None:
        """Print the table; where standard output holds JSON, to standard error and only if somebody watches."""
        out = console(stderr=as_json)
        if as_json and not out.is_terminal:
            return
        if self.levels.count:
            out.print(_levels(self.levels.rows))
            _rest(out, self.levels)
        if moves:
            solved = (row for row in self.levels.rows if row.get("moves"))
            self._list(out, "moves", Head(solved, SHOWN_LEVELS), _moves)
        self._list(out, "not solved", Head(row for row in self.open.rows if row["outcome"]), _open)
        self._list(out, "wrong claims", self.wrong, _wrong)
        self._list(out, "bad entries", self.bad, lambda row: f"line {row['line']}: {row['error']}")
        out.print(self._totals(wall))

    def _totals(self, wall: float | None) -> Table:
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(justify="right")
        table.add_column()
        for outcome in (*_SOLVED, "bounded", "failed", self.unanswered):
            if self.outcomes[outcome]:
                table.add_row(f"{self.outcomes[outcome]:,}", outcome)
        if self.bad.count:
            table.add_row(*_counted(self.bad.count, "bad entry", "bad entries"))
        if self.wrong.count:
            table.add_row(*_counted(self.wrong.count, "wrong claim", "wrong claims"))
        table.add_row(*_counted(self.expanded, "node expanded", "nodes expanded"))
        table.add_row(*_counted(self.generated, "node generated", "nodes generated"))
        table.add_row(f"{self.seconds:,.2f} s", "of search behind these answers")
        if self.searched is not None:
            searched = "puzzle" if self.searched == 1 else "puzzles"
            table.add_row(f"{self.searched:,}", f"{searched} searched now, the rest was known")
        if wall is not None:
            rate = self.levels.count / wall if wall > 0 else 0.0
            table.add_row(f"{wall:,.2f} s", f"from start to end, {rate:,.{1 if rate >= 1 else 3}f} levels a second")
        return table

    @staticmethod
    def _list(out: Console, heading: str, rows: Head, line: Callable[[Mapping[str, Any]], str]) -> None:
        if not rows.count:
            return
        out.print(Text(f"{heading}:", style="bold"))
        for row in rows.rows:
            out.print(Text(f"  {line(row)}"), soft_wrap=True)
        _rest(out, rows)


def _rest(out: Console, rows: Head) -> None:
    if rows.count > len(rows.rows):
        out.print(Text(f"  and {rows.count - len(rows.rows):,} more: see --json"))
    out.print()


def _counted(count: int, one: str, many: str) -> tuple[str, str]:
    return f"{count:,}", one if count == 1 else many


class Head:
    """The first rows of a kind, and how many there are."""

    def __init__(self, rows: Iterable[Mapping[str, Any]] = (), limit: int = SHOWN) -> None:
        self.limit = limit
        self.rows: list[Mapping[str, Any]] = []
        self.count = 0
        for row in rows:
            self.add(row)

    def add(self, row: Mapping[str, Any]) -> None:
        self.count += 1
        if self.count <= self.limit:
            self.rows.append(row)


def title(row: Mapping[str, Any]) -> str:
    """What to call a level: its name, or its number counted from 1."""
    return str(row.get("name") or f"level {row['index'] + 1}")


def _moves(row: Mapping[str, Any]) -> str:
    return f"{title(row)}: {' '.join(row['moves'])}"


def _open(row: Mapping[str, Any]) -> str:
    bounds = f" {answer(row)}" if row["outcome"] == "bounded" else ""
    return f"{title(row)}: {row['outcome']}{bounds} ({row.get('reason') or 'no reason is known'})"


def _wrong(row: Mapping[str, Any]) -> str:
    claim = row["known"].get(row["metric"])
    return f"{title(row)}: {row['metric']} is {answer(row)}, not {'unsolvable' if claim is None else claim}"


def _levels(rows: Iterable[Mapping[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("level", "family", "metric"):
        table.add_column(name)
    for name in ("moves", "expanded", "seconds"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            Text(title(row)),
            row["family"],
            row["metric"],
            answer(row),
            f"{row.get('expanded') or 0:,}",
            f"{row.get('seconds') or 0:.3f}",
        )
    return table
