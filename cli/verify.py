"""``unjam verify``: answers replayed by the Python rules, which share no code with the searches; or proven again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import orjson
import rich_click as click

from cli.lookup import stored
from cli.options import Source, metric, open_store, takes_budget, takes_levels
from cli.output import json_line

if TYPE_CHECKING:
    from cli.progress import Bar
    from unjam.packs import Entry
    from unjam.puzzles.puzzle import Metric
    from unjam.search.solution import Budget, Solution

REPLAYED, UNSOLVABLE = "replayed", "unsolvable, nothing to replay"
PROVEN, NOT_PROVEN = "proven again", "not proven within the budget"
UNANSWERED, WRONG, BAD = "without an answer", "wrong", "bad"

Answers: TypeAlias = "Iterator[tuple[Entry, Mapping[str, Any]]]"  # each with its row


class Verdict(NamedTuple):
    what: str
    why: str | None = None
    claim: Solution | None = None  # what was replayed
    second: Solution | None = None  # with --deep: the answer of the other search


@click.command()
@takes_levels
@click.option(
    "--results",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Answers to replay, as `unjam solve --json` wrote them for this pack.  [default: the stored answers]",
)
@metric
@click.option("--deep", is_flag=True, help="Prove each answer again, by another algorithm and within the budget.")
@takes_budget(time="With --deep: time for a level.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object an answer to standard output.")
@click.pass_context
def verify(
    ctx: click.Context,
    source: Source,
    results: str | None,
    metric: Metric | None,
    deep: bool,
    budget: Budget,
    as_json: bool,
) -> None:
    """Replay answers by the Python rules, and with --deep prove them again.

    Every move must be legal and the last one must reach the goal, in as many moves as the answer says. That nothing
    shorter exists is not replayed: the search proves it. With --deep another search proves it too, and that what is
    said to be unsolvable is. The exit code is 1 if an answer does not hold, or a level has none. What is not proven
    again within the budget is told and counted as that.

    \b
    unjam verify levels.jsonl --results answers.jsonl
    unjam verify levels.jsonl --metric path
    unjam verify levels.jsonl --deep --seconds 600
    """
    from cli.progress import progress_bar

    counts = dict.fromkeys((REPLAYED, UNSOLVABLE, PROVEN, NOT_PROVEN, UNANSWERED, WRONG, BAD), 0)
    out = None if sys.stdout.isatty() else sys.stdout  # a bar takes what is printed, and shows it above itself
    with source.entries() as entries, progress_bar() as bar:

        def tell(answers: Answers) -> None:
            for entry, row, verdict in _judged(answers, budget if deep else None, bar):
                counts[verdict.what] += 1
                if as_json:
                    place = {"index": entry.index, "name": entry.name, "line": entry.line, "metric": row.get("metric")}
                    about = {"verdict": verdict.what, "reason": verdict.why}
                    second = {"second": _told(verdict.second)} if deep else {}
                    click.echo(json_line(place | about | second).decode(), file=out, nl=False)
                elif verdict.why:
                    click.echo(f"line {entry.line}: {verdict.why}", file=out)

        if results is None:
            with open_store() as (_, engine):
                tell(_with_stored(entries, engine, metric))
        else:
            with click.open_file(results, "rb") as rows:
                tell(_with_given(entries, rows, results))
    shown = PROVEN if deep else REPLAYED
    click.echo("; ".join(f"{count:,} {what}" for what, count in counts.items() if count or what == shown), err=True)
    ctx.exit(int(bool(counts[UNANSWERED] or counts[WRONG] or counts[BAD])))


def _judged(answers: Answers, budget: Budget | None, bar: Bar) -> Iterator[tuple[Entry, Mapping[str, Any], Verdict]]:
    """Each answer with its verdict; with a budget those that replay are proven again."""
    from cli.parallel import in_order

    if budget is None:
        for entry, row in answers:
            yield entry, row, _judge(entry, row)
        return

    def work(answer: tuple[Entry, Mapping[str, Any]], cancelled: Callable[[], bool]) -> Any:
        return *answer, _proven(answer[0], _judge(*answer), budget, cancelled)

    yield from in_order(work, answers, "proving", bar)


def _judge(entry: Entry, row: Mapping[str, Any]) -> Verdict:
    """The verdict on one answer that is replayed."""
    from unjam.errors import UnjamError
    from unjam.search.solution import Outcome, Solution
    from unjam.search.verify import verify as replay

    puzzle = entry.puzzle
    if puzzle is None or row.get("error"):
        return Verdict(BAD, entry.error or row["error"])
    try:
        if row.get("outcome") in (None, Outcome.FAILED) or (row["outcome"] == Outcome.BOUNDED and row["upper"] is None):
            return Verdict(UNANSWERED, "there is no answer to replay")
        if row.get("key") not in (None, puzzle.key.hex()):
            return Verdict(WRONG, "the answer is for another board")
        outcome, metric = Outcome(row["outcome"]), puzzle.check_metric(row["metric"])
        moves = tuple(puzzle.read_notation(row["moves"] or [], metric))
        claim = Solution(metric, outcome, row["length"], row["lower"], row["upper"], moves)
        claim = replace(claim, algorithm=row.get("algorithm"), heuristic=row.get("heuristic"))
        replay(puzzle, claim)
    except UnjamError as error:
        return Verdict(WRONG, str(error))
    except (KeyError, TypeError, ValueError) as error:
        return Verdict(WRONG, f"the answer cannot be read: {error!r}")
    return Verdict(UNSOLVABLE if outcome is Outcome.UNSOLVABLE else REPLAYED, None, claim)


def _proven(entry: Entry, verdict: Verdict, budget: Budget, cancelled: Callable[[], bool]) -> Verdict:
    """The verdict on an answer that replays, once its count is proven again."""
    from unjam.errors import VerificationError
    from unjam.search.deep import prove

    if entry.puzzle is None or verdict.claim is None:
        return verdict
    try:
        proof = prove(entry.puzzle, verdict.claim, budget, cancelled=cancelled)
    except VerificationError as error:
        return Verdict(WRONG, f"the second search went wrong: {error}")
    what = {True: PROVEN, False: WRONG, None: NOT_PROVEN}[proof.holds]
    return Verdict(what, proof.reason, verdict.claim, proof.second)


def _told(second: Solution | None) -> dict[str, Any] | None:
    names = ("algorithm", "heuristic", "outcome", "lower", "upper", "expanded", "generated", "seconds")
    return None if second is None else {name: getattr(second, name) for name in names}


def _with_stored(entries: Iterator[Entry], engine: Any, metric: Metric | None) -> Answers:
    last: list[Entry] = []

    def noted() -> Iterator[Entry]:
        for entry in entries:
            last.append(entry)
            yield entry

    for row in stored(engine, noted(), metric):
        while last[0].index < row["index"]:
            last.pop(0)
        yield last[0], row


def _with_given(entries: Iterator[Entry], answers: Iterable[bytes], name: str) -> Answers:
    """Entries with their rows, both in order; an entry without a row counts as not answered."""
    from unjam.errors import PackError

    rows = _rows(answers, name)
    row = next(rows, None)
    for entry in entries:
        if row is None or row["index"] > entry.index:
            yield entry, {}
        while row is not None and row["index"] <= entry.index:
            if row["index"] < entry.index:
                raise PackError(f"{name}: the answers are not in the order of the pack (index {row['index']})")
            yield entry, row
            row = next(rows, None)


def _rows(answers: Iterable[bytes], name: str) -> Iterator[dict[str, Any]]:
    from unjam.errors import PackError

    for number, line in enumerate(answers, 1):
        if line.strip():
            try:
                row = orjson.loads(line)
                if isinstance(row["index"], int):
                    yield row
                    continue
            except (orjson.JSONDecodeError, KeyError, TypeError):
                pass
            raise PackError(f"{name}, line {number}: this is no answer in JSON with an index")
