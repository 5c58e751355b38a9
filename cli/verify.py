"""``unjam verify``: answers replayed by the Python rules, which share no code with the searches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson
import rich_click as click

from cli.lookup import stored
from cli.options import Source, metric, open_store, takes_levels
from cli.output import json_line, write_out

if TYPE_CHECKING:
    from unjam.packs import Entry
    from unjam.puzzles.puzzle import Metric

UNSOLVABLE = "unsolvable, nothing to replay"


@click.command()
@takes_levels
@click.option(
    "--results",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Answers to replay, as `unjam solve --json` wrote them for this pack.  [default: the stored answers]",
)
@metric
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object an answer to standard output.")
@click.pass_context
def verify(ctx: click.Context, source: Source, results: str | None, metric: Metric | None, as_json: bool) -> None:
    """Replay answers by the Python rules.

    Every move must be legal and the last one must reach the goal, in as many moves as the answer says. That nothing
    shorter exists is not replayed: the search proves it. The exit code is 1 if an answer does not hold, or a level has
    none.

    \b
    unjam verify levels.jsonl --results answers.jsonl
    unjam verify levels.jsonl --metric path
    """
    counts = dict.fromkeys(("replayed", UNSOLVABLE, "without an answer", "wrong", "bad"), 0)

    def judged(pairs: Iterable[tuple[Entry, Mapping[str, Any]]]) -> Iterator[bytes]:
        for entry, row in pairs:
            verdict, why = _judge(entry, row)
            counts[verdict] += 1
            place = {"index": entry.index, "name": entry.name, "line": entry.line, "metric": row.get("metric")}
            if as_json:
                yield json_line(place | {"verdict": verdict, "reason": why})
            elif why:
                yield f"line {entry.line}: {why}\n".encode()

    with source.entries() as entries:
        if results is None:
            with open_store() as (_, engine):
                write_out(judged(_with_stored(entries, engine, metric)), None)
        else:
            with click.open_file(results, "rb") as answers:
                write_out(judged(_with_given(entries, answers, results)), None)
    click.echo(
        "; ".join(f"{count:,} {what}" for what, count in counts.items() if count or what == "replayed"), err=True
    )
    ctx.exit(int(bool(counts["without an answer"] or counts["wrong"] or counts["bad"])))


def _judge(entry: Entry, row: Mapping[str, Any]) -> tuple[str, str | None]:
    """The verdict on one answer, and what is wrong."""
    from unjam.errors import UnjamError
    from unjam.search.solution import Outcome, Solution
    from unjam.search.verify import verify as replay

    puzzle = entry.puzzle
    if puzzle is None or row.get("error"):
        return "bad", entry.error or row["error"]
    try:
        if row.get("outcome") in (None, Outcome.FAILED) or (row["outcome"] == Outcome.BOUNDED and row["upper"] is None):
            return "without an answer", "there is no answer to replay"
        if row.get("key") not in (None, puzzle.key.hex()):
            return "wrong", "the answer is for another board"
        outcome, metric = Outcome(row["outcome"]), puzzle.check_metric(row["metric"])
        moves = tuple(puzzle.read_notation(row["moves"] or [], metric))
        replay(puzzle, Solution(metric, outcome, row["length"], row["lower"], row["upper"], moves))
    except UnjamError as error:
        return "wrong", str(error)
    except (KeyError, TypeError, ValueError) as error:
        return "wrong", f"the answer cannot be read: {error!r}"
    return (UNSOLVABLE if outcome is Outcome.UNSOLVABLE else "replayed"), None


def _with_stored(entries: Iterator[Entry], engine: Any, metric: Metric | None) -> Iterator[tuple[Entry, Any]]:
    last: list[Entry] = []

    def noted() -> Iterator[Entry]:
        for entry in entries:
            last.append(entry)
            yield entry

    for row in stored(engine, noted(), metric):
        while last[0].index < row["index"]:
            last.pop(0)
        yield last[0], row


def _with_given(entries: Iterator[Entry], answers: Iterable[bytes], name: str) -> Iterator[tuple[Entry, Any]]:
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
