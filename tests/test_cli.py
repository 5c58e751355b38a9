"""The commands, run for real against a private Postgres: what they print, write and return."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest
import rich_click as click
from click.testing import CliRunner, Result

from cli import options, output
from cli.main import COMMANDS, cli
from cli.options import without_password
from cli.report import SHOWN_LEVELS
from unjam.packs import FORMATS, WRITABLE
from unjam.packs.fields import METRICS
from unjam.puzzles import FAMILIES
from unjam.search.solve import ALGORITHMS, HEURISTICS
from unjam.settings import get_settings

EXAMPLES = Path(__file__).parents[1] / "examples"
UNJAM = [sys.executable, "-P", "-m", "cli"]

TWO = {
    "family": "rush",
    "board": "ooooooooooooAAoooBoooooBoooooooooooo",
    "name": "two",
    "known": {"slide": 2, "step": 5},
}
AROUND = {"family": "klotski", "board": ["AB", ".."], "goal": ["..", ".A"], "name": "around"}
LOT = {"family": "parkout", "board": "aA./..B/..b", "known": {"slide": 2}}
STUCK = {"family": "parkout", "board": "aA./..B/..b", "closed": ["right:0"], "name": "stuck", "known": {"slide": None}}
# 35 pieces, each with a place of its own: nobody solves this
HOPELESS = {
    "family": "klotski",
    "board": "ABCDEF/GHIJKL/MNOPQR/STUVWX/YZabcd/efghi.",
    "goal": ".ihgfe/dcbaZY/XWVUTS/RQPONM/LKJIHG/FEDCBA",
    "name": "hopeless",
}


class Unjam:
    """Runs commands in this process, on one store."""

    def __init__(self, database_url: str) -> None:
        self.environment = {"UNJAM_DATABASE_URL": database_url}

    def __call__(self, *arguments: object, stdin: str | None = None, code: int = 0) -> Result:
        get_settings.cache_clear()
        result = CliRunner().invoke(cli, [str(each) for each in arguments], input=stdin, env=self.environment)
        get_settings.cache_clear()
        assert result.exit_code == code, (result.output, result.exception)
        return result

    def rows(self, *arguments: object, stdin: str | None = None, code: int = 0) -> list[dict[str, Any]]:
        return lines(self(*arguments, "--json", stdin=stdin, code=code).stdout)


@pytest.fixture
def unjam(database_url: str) -> Unjam:
    return Unjam(database_url)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def write_pack(path: Path, *levels: object) -> Path:
    path.write_text("".join(level if isinstance(level, str) else json.dumps(level) + "\n" for level in levels))
    return path


def documented_examples() -> list[str]:
    """What follows ``unjam solve examples/`` on the page of formats."""
    page = (EXAMPLES.parent / "docs" / "formats.md").read_text()
    return [command.strip() for command in re.findall(r"^unjam solve examples/([^#\n]+)", page, re.MULTILINE)]


def commands(group: click.Command = cli, *path: str) -> Iterator[tuple[str, ...]]:
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield from commands(command, *path, name)
    yield path


class TestHelp:
    @pytest.mark.parametrize("path", list(commands()), ids=" ".join)
    def test_every_command_has_help_with_an_example(self, path: tuple[str, ...]) -> None:
        result = CliRunner().invoke(cli, [*path, "--help"], prog_name="unjam")
        assert result.exit_code == 0
        example = f"unjam {' '.join(path)}".strip()
        _, _, rest = result.output.partition("Usage:")[2].partition("\n")
        assert example in rest

    def test_help_imports_nothing_heavy(self) -> None:
        script = (
            "import sys; from cli.main import cli; cli(['--help'], standalone_mode=False)\n"
            "print(*sorted({'sqlalchemy', 'pydantic', 'celery', 'fastapi', 'rich.progress'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == ""

    def test_choices_are_those_of_the_library(self) -> None:
        """The options have lists of their own, so that help does not import the library."""
        assert tuple(FAMILIES) == options.FAMILIES
        assert options.METRICS == METRICS
        assert (options.ALGORITHMS, options.HEURISTICS) == (ALGORITHMS, HEURISTICS)
        assert options.FORMATS == FORMATS
        assert output.FORMATS == WRITABLE

    def test_all_commands_are_listed(self) -> None:
        output = CliRunner().invoke(cli, ["--help"], prog_name="unjam").output
        assert all(re.search(rf"^│ {name} ", output, re.MULTILINE) for name in COMMANDS)
        assert "130  interrupted" in output


class TestSolve:
    def test_rows_come_in_the_order_of_the_pack(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO, AROUND, LOT, TWO, STUCK)
        rows = unjam.rows("solve", pack)
        assert [row["index"] for row in rows] == [0, 1, 2, 3, 4]
        assert [row["name"] for row in rows] == ["two", "around", None, "two", "stuck"]
        assert [(row["metric"], row["length"]) for row in rows[:4]] == [
            ("slide", 2),
            ("path", 1),
            ("slide", 2),
            ("slide", 2),
        ]
        assert [row["outcome"] for row in rows] == ["optimal"] * 4 + ["unsolvable"]
        assert [row["known_ok"] for row in rows] == [True, None, True, True, True]
        assert rows[1]["moves"] in (["A:R1D1"], ["A:D1R1"])

    def test_the_table_tells_what_is_wrong(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO, TWO | {"known": {"slide": 5}, "name": "said 5"}, "{\n", LOT)
        output = unjam("solve", pack, code=1).output
        assert "said 5: slide is 2, not 5" in output
        assert re.search(r"line 3: is no JSON", output)
        for total in (r"3 +optimal", r"1 +bad entry ", r"1 +wrong claim ", "nodes expanded", "levels a second"):
            assert re.search(total, output), total

    def test_bad_entries_are_listed_to_twenty(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", *[TWO if n % 10 else "?\n" for n in range(400)])
        output = unjam("solve", pack, code=1).output
        assert len(re.findall(r"^  line \d+: ", output, re.MULTILINE)) == 20
        assert "and 20 more" in output
        rows = unjam.rows("solve", pack, code=1)
        assert [row["line"] for row in rows if row.get("error")] == list(range(1, 400, 10))

    def test_a_budget_that_ends_gives_bounds(self, unjam: Unjam) -> None:
        board = ["--family", "klotski", "--board", HOPELESS["board"], "--goal", HOPELESS["goal"]]
        output = unjam("solve", *board, "--nodes", 1000, code=1).output
        assert re.search(r"bounded \d+\.\.( |\n)", output)
        assert "the budget of nodes ended" in output

    def test_a_bounded_answer_has_moves_that_are_kept_and_checked(self, unjam: Unjam, tmp_path: Path) -> None:
        board = ["--family", "tiles", "--board", "0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1"]  # 80 steps
        row = unjam.rows("solve", *board, "--nodes", 60_000, code=1)[0]
        assert (row["outcome"], row["length"]) == ("bounded", None)
        assert row["lower"] < 80 <= row["upper"] == len(row["moves"])
        stored = unjam.rows("lookup", *board, code=1)[0]
        assert (stored["lower"], stored["upper"], stored["moves"]) == (row["lower"], row["upper"], row["moves"])

        better = unjam.rows("solve", *board, "--nodes", 900_000, code=1)[0]
        assert row["lower"] <= better["lower"] < better["upper"] <= row["upper"]
        output = unjam("lookup", *board, code=1).output
        assert f"level 1: {' '.join(better['moves'])}\n" in output
        assert f"bounded {better['lower']}..{better['upper']} (the budget of nodes ended)" in output

        pack = write_pack(tmp_path / "pack.jsonl", {"family": "tiles", "board": board[3]})
        assert "1 replayed" in unjam("verify", pack).stderr

    def test_boards_on_the_command_line(self, unjam: Unjam) -> None:
        output = unjam(
            "solve", "--family", "rush", "--board", TWO["board"], "--board", "..AA/....", "--metric", "step"
        ).output
        assert re.search(r"^ +level 1: ([AB]:[RD]1 ?){5}$", output, re.MULTILINE)
        assert re.search(r"level 1 +rush +step +5 ", output)
        assert re.search(r"level 2 +rush +step +0 ", output)

    def test_standard_input_and_formats(self, unjam: Unjam) -> None:
        board = "......\n......\nAA...B\n.....B\n......\n......\n"
        rows = unjam.rows("solve", "-", "--family", "rush", stdin=f"{board}\nname: again\n{board}")
        assert [(row["name"], row["length"]) for row in rows] == [(None, 2), ("again", 2)]
        rows = unjam.rows("solve", "-", "--format", "lines", stdin=f"7 {TWO['board']} 14\n", code=1)
        assert (rows[0]["known"], rows[0]["known_ok"]) == ({"slide": 7}, False)

    def test_again_costs_nothing(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO, LOT)
        unjam("solve", pack)
        turned = write_pack(tmp_path / "turned.jsonl", TWO | {"board": "..A/..A/BB.", "exit": "bottom"}, LOT)
        assert lines(unjam("submit", pack, "--json").stdout)[0] | {"batch_id": 0} == {
            "batch_id": 0,
            "levels": 2,
            "new": 0,
            "answered": 2,
            "bad": 0,
        }
        assert lines(unjam("submit", turned, "--json").stdout)[0]["new"] == 1

    def test_output_files(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO, "x\n")
        expected = unjam.rows("solve", pack, code=1)
        for name in ("answers.jsonl", "answers.csv", "answers.txt"):
            unjam("solve", pack, "--output", tmp_path / name, code=1)
        assert lines((tmp_path / "answers.jsonl").read_text()) == expected
        moves = " ".join(expected[0]["moves"])
        first, second = csv.DictReader((tmp_path / "answers.csv").open())
        assert (first["length"], first["moves"], first["known_ok"]) == ("2", moves, "true")
        assert (second["line"], second["outcome"]) == ("2", "")
        assert (tmp_path / "answers.txt").read_text().splitlines()[0] == f"two: slide 2: {moves}"
        both = unjam("lookup", pack, "--json", "--output", tmp_path / "known.jsonl", code=1)
        assert lines(both.stdout) == lines((tmp_path / "known.jsonl").read_text()) != []
        (tmp_path / "known.jsonl").unlink()
        full = unjam("solve", pack, "--output", "/dev/full", code=2)
        assert "No space left on device" in full.stderr
        unjam("solve", pack, "--output", tmp_path / "missing" / "x.csv", code=2)
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "answers.csv",
            "answers.jsonl",
            "answers.txt",
            "pack.jsonl",
        ]

    @pytest.mark.parametrize("command", documented_examples())
    def test_examples(self, unjam: Unjam, command: str) -> None:
        name, *options = command.split()
        rows = unjam.rows("solve", EXAMPLES / name, *options)
        assert rows
        assert all(row["known_ok"] for row in rows)


class TestTable:
    def test_the_first_levels_of_a_large_pack(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", *({**TWO, "name": f"number {i}"} for i in range(SHOWN_LEVELS + 2)))
        output = unjam("solve", pack).output
        assert f"number {SHOWN_LEVELS - 1} " in output
        assert f"number {SHOWN_LEVELS} " not in output
        assert "and 2 more: see --json" in output


class TestRefusals:
    def test_what_cannot_be_read_is_exit_code_2(self, unjam: Unjam, tmp_path: Path) -> None:
        empty = write_pack(tmp_path / "empty.jsonl")
        assert "the pack is empty" in unjam("solve", empty, code=2).output
        unjam("solve", tmp_path / "missing.jsonl", code=2)
        unjam("solve", tmp_path, code=2)
        unjam("solve", code=2)
        assert "not both" in unjam("solve", empty, "--board", "..AA/....", code=2).output
        for option, value in (("memory", "much"), ("memory", "0"), ("memory", "9999999TB"), ("nodes", 2**63)):
            unjam("solve", empty, f"--{option}", value, code=2)
        for seconds in ("nan", "0", "-1"):
            assert "no time above zero" in unjam("solve", empty, "--seconds", seconds, code=2).output
        unjam("status", 99, code=2)
        unjam("results", 99, code=2)
        unjam("cancel", 99, code=2)

    def test_a_database_that_is_away(self) -> None:
        away = Unjam("postgresql://nobody:secret@127.0.0.1:1/x")
        output = away("status", code=2).output
        assert "127.0.0.1" in output
        assert "secret" not in output
        assert "Traceback" not in output

    @pytest.mark.parametrize("url", ["nonsense", "postgresql://127.0.0.1:port/x", "postgresql://127.0.0.1/x?what=1"])
    def test_a_database_url_that_is_none(self, url: str) -> None:
        output = Unjam(url)("status", code=2).output
        assert "Traceback" not in output


class TestLookup:
    def test_in_any_orientation(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", AROUND)
        assert "not stored" in unjam("lookup", pack, code=1).output
        unjam("solve", pack)
        [row] = unjam.rows("lookup", "--family", "klotski", "--board", "../XY", "--goal", "X./..", code=1)
        assert row["outcome"] is None
        [row] = unjam.rows("lookup", "--family", "klotski", "--board", "../YX", "--goal", "X./..")
        assert row["length"] == 1
        assert row["moves"] in (["X:U1L1"], ["X:L1U1"])

    def test_metrics_and_bad_entries(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO, "x\n")
        for metric in ("step", "slide"):
            unjam("solve", pack, "--metric", metric, code=1)
        rows = unjam.rows("lookup", pack, code=1)
        assert {row["metric"]: row["length"] for row in rows[:2]} == {"step": 5, "slide": 2}
        assert (rows[2]["index"], rows[2]["line"]) == (1, 2)
        assert [row["length"] for row in unjam.rows("lookup", pack, "--metric", "step", code=1)[:-1]] == [5]

    def test_what_a_pack_claims_is_compared(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO, TWO | {"known": {"slide": 3}}, TWO | {"known": {}})
        unjam("solve", pack, code=1)
        assert [row["known_ok"] for row in unjam.rows("lookup", pack, code=1)] == [True, False, None]
        assert "wrong claims" in unjam("lookup", pack, code=1).output

    def test_a_metric_that_the_family_does_not_have(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO)
        unjam("solve", pack)
        for command in ("solve", "lookup", "verify"):
            assert "has no metric 'path'" in unjam(command, pack, "--metric", "path", code=1).stdout


class TestFind:
    def test_what_is_found_is_a_pack(self, unjam: Unjam, tmp_path: Path) -> None:
        unjam("solve", write_pack(tmp_path / "a.jsonl", TWO, AROUND, LOT))
        [level] = lines(unjam("find", "--family", "rush", "--min", "2", "--max", "2").stdout)
        assert level["known"] == {"slide": 2}
        assert level["name"] == unjam.rows("lookup", "--family", "rush", "--board", TWO["board"])[0]["key"]
        for ending in ("jsonl", "csv", "txt"):
            pack = tmp_path / f"found.{ending}"
            unjam("find", "--family", "rush", "--size", "6x6", "--seed", "1", "--output", pack)
            [row] = unjam.rows("solve", pack)
            assert (row["name"], row["length"], row["known_ok"]) == (level["name"], 2, True)

    def test_nothing_found(self, unjam: Unjam) -> None:
        result = unjam("find", "--family", "rush", "--min", "25", code=1)
        assert (result.stdout, result.stderr) == ("", "no such level is stored\n")

    def test_what_cannot_be_is_refused(self, unjam: Unjam) -> None:
        assert "rush has no metric 'path'" in unjam("find", "--family", "rush", "--metric", "path", code=2).stderr
        assert "--min is more" in unjam("find", "--family", "rush", "--min", "5", "--max", "4", code=2).stderr


class TestVerify:
    def test_given_answers(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO, AROUND, STUCK)
        rows = unjam.rows("solve", pack)
        answers = write_pack(tmp_path / "answers.jsonl", *rows)
        assert "2 replayed; 1 unsolvable" in unjam("verify", pack, "--results", answers).stderr
        rows[0]["moves"] = ["A:R4", "B:D1"]
        write_pack(answers, *rows[:2])
        result = unjam("verify", pack, "--results", answers, code=1)
        assert "line 1: " in result.stdout
        assert "1 replayed; 1 without an answer; 1 wrong" in result.stderr
        write_pack(answers, rows[1] | {"index": 0})
        assert "for another board" in unjam("verify", pack, "--results", answers, code=1).stdout
        write_pack(answers, "nonsense\n")
        assert "line 1" in unjam("verify", pack, "--results", answers, code=2).output

    def test_stored_answers(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO, LOT)
        unjam("verify", pack, code=1)
        unjam("solve", pack)
        unjam("solve", pack, "--board-column", "board", code=2)
        assert "2 replayed" in unjam("verify", pack).stderr
        assert [row["verdict"] for row in unjam.rows("verify", pack)] == ["replayed", "replayed"]

    def test_deep_finds_out_what_replays_but_is_not_the_least(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO, AROUND, STUCK, LOT)
        rows = unjam.rows("solve", pack)
        answers = write_pack(tmp_path / "answers.jsonl", *rows)
        assert unjam("verify", pack, "--results", answers, "--deep").stderr == "4 proven again\n"
        assert unjam("verify", pack, "--deep").stderr == "4 proven again\n"

        rows[0] |= {"length": 3, "lower": 3, "upper": 3, "moves": ["A:R1", "B:D2", "A:R3"]}
        rows[3] |= {"outcome": "unsolvable", "length": None, "lower": None, "upper": None, "moves": None}
        write_pack(answers, *rows)
        assert unjam("verify", pack, "--results", answers).stderr.startswith("2 replayed; 2 unsolvable")
        result = unjam("verify", pack, "--results", answers, "--deep", code=1)
        assert result.stderr == "2 proven again; 2 wrong\n"
        assert "line 1: astar finds a solution of 2 moves" in result.stdout
        found = unjam.rows("verify", pack, "--results", answers, "--deep", code=1)
        assert [row["verdict"] for row in found] == ["wrong", "proven again", "proven again", "wrong"]
        assert [row["second"]["algorithm"] for row in found] == ["astar", "astar", "bfs", "bfs"]
        assert found[0]["second"]["lower"] == 2

    def test_deep_says_what_the_budget_did_not_let_it_prove(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", STUCK)
        unjam("solve", pack)
        result = unjam("verify", pack, "--deep", "--nodes", 1)
        assert result.stderr == "0 proven again; 1 not proven within the budget\n"
        assert "line 1: the budget of nodes ended" in result.stdout


class TestBatches:
    def test_cancelled_too_late(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO)
        unjam("solve", pack)
        batch = unjam("submit", pack).stdout.strip()
        assert f"batch {batch} is done" in unjam("cancel", batch).output
        assert unjam.rows("status", batch)[0]["state"] == "done"

    def test_submit_status_cancel_results(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO, "x\n")
        batch = unjam("submit", pack, "--name", "mine").stdout.strip()
        [status] = unjam.rows("status", batch)
        assert (status["state"], status["levels"], status["done"], status["name"]) == ("running", 2, 1, "mine")
        assert [row["batch_id"] for row in unjam.rows("status")] == [int(batch)]
        assert re.search(r"running .* mine", unjam("status").output)
        assert "waiting" in unjam("results", batch, code=1).output
        assert "is cancelled" in unjam("cancel", batch).output
        assert re.search("1 +cancelled", unjam("results", batch, code=1).output)
        first, second = unjam.rows("results", batch, code=1)
        assert first["outcome"] is None
        assert second["line"] == 2

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("postgresql://unjam:s3cret%40@db:5432/unjam", "postgresql://unjam:***@db:5432/unjam"),
            ("redis://:s3cret@redis:6379/0", "redis://:***@redis:6379/0"),
            (
                "postgresql://unjam@/postgres?host=%2Ftmp&port=5432",
                "postgresql://unjam@/postgres?host=%2Ftmp&port=5432",
            ),
            ("unix:///tmp/redis/socket", "unix:///tmp/redis/socket"),
        ],
    )
    def test_passwords_are_not_shown(self, url: str, shown: str) -> None:
        assert without_password(url) == shown

    def test_database(self, unjam: Unjam, tmp_path: Path) -> None:
        unjam("solve", write_pack(tmp_path / "pack.jsonl", TWO))
        assert "up to date" in unjam("migrate").output
        assert unjam("db", "url").stdout.strip() == unjam.environment["UNJAM_DATABASE_URL"]
        assert unjam.rows("db", "stats") == [{"family": "rush", "metric": "slide", "outcome": "optimal", "puzzles": 1}]
        unjam("db", "reset", stdin="n\n", code=1)
        unjam("db", "reset", "--yes")
        assert unjam.rows("db", "stats") == []


class TestConvert:
    def test_formats(self, unjam: Unjam, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", TWO, "x\n", AROUND)
        for name in ("pack.csv", "pack.txt"):
            result = unjam("convert", pack, "--output", tmp_path / name, code=1)
            assert result.stderr.startswith("line 2: is no JSON")
            assert len(lines(unjam("convert", tmp_path / name).stdout)) == 2


class TestInterrupt:
    def test_ctrl_c_keeps_what_is_done(self, database_url: str, tmp_path: Path) -> None:
        levels = [TWO, LOT, AROUND, STUCK]
        pack = write_pack(tmp_path / "pack.jsonl", *levels, *[HOPELESS | {"name": f"hopeless {n}"} for n in range(2)])
        environment = os.environ | {"UNJAM_DATABASE_URL": database_url, "TERM": "xterm", "COLUMNS": "120"}
        command = [*UNJAM, "solve", str(pack), "--algorithm", "idastar", "--processes", "2"]
        child = pexpect.spawn(
            command[0], command[1:], env=environment, encoding="utf-8", codec_errors="replace", timeout=30
        )
        child.expect("solving.*/s")
        time.sleep(1)
        child.sendintr()
        began = time.monotonic()
        child.expect(r"interrupted: (\d) of 6 levels are done and kept; the same command goes on from there")
        done = int(child.match.group(1))
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 130
        assert time.monotonic() - began < 15
        unjam = Unjam(database_url)
        submitted = lines(unjam("submit", pack, "--json").stdout)[0]
        assert submitted["answered"] == done
        rows = unjam.rows("solve", pack, "--seconds", "0.2", code=1)
        assert [row["outcome"] for row in rows] == ["optimal"] * 3 + ["unsolvable"] + ["bounded"] * 2

    def test_ctrl_c_while_proving(self, database_url: str, tmp_path: Path) -> None:
        pack = write_pack(tmp_path / "pack.jsonl", HOPELESS, HOPELESS)
        claim = {"metric": "path", "outcome": "unsolvable", "length": None, "lower": None, "upper": None, "moves": None}
        answers = write_pack(tmp_path / "answers.jsonl", *({"index": number} | claim for number in range(2)))
        environment = os.environ | {"UNJAM_DATABASE_URL": database_url, "TERM": "xterm", "COLUMNS": "120"}
        command = [*UNJAM, "verify", str(pack), "--results", str(answers), "--deep"]
        child = pexpect.spawn(
            command[0], command[1:], env=environment, encoding="utf-8", codec_errors="replace", timeout=30
        )
        child.expect("proving")
        time.sleep(1)
        child.sendintr()
        child.expect("interrupted")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 130

    def test_ctrl_c_while_reading(self, database_url: str) -> None:
        environment = os.environ | {"UNJAM_DATABASE_URL": database_url, "TERM": "xterm", "COLUMNS": "120"}
        command = [*UNJAM, "solve", "-", "--family", "rush", "--format", "lines"]
        child = pexpect.spawn(
            command[0], command[1:], env=environment, encoding="utf-8", codec_errors="replace", timeout=30
        )
        child.sendline(str(TWO["board"]))
        child.expect(r"reading.*\D1\x1b\[0m +\x1b")
        child.sendintr()
        child.expect("interrupted")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 130
        assert Unjam(database_url).rows("status") == []
