"""``unjam hint``: what it prints and returns, without any server and with the store."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cli.main import cli
from unjam.settings import get_settings

RUSH = ("--family", "rush", "--board", "ooooooooooooAAoooBoooooBoooooooooooo")
KORF = ("--family", "tiles", "--goal", "blank-first", "--board", "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNJAM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def run(*arguments: str, code: int = 0, **environment: str) -> Result:
    get_settings.cache_clear()
    result = CliRunner().invoke(cli, arguments, env=environment)
    get_settings.cache_clear()
    assert result.exit_code == code, (result.output, result.exception)
    return result


def rows(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_no_server_is_started(home: Path) -> None:
    assert re.fullmatch(r"level 1: slide: B:[UD]\d; 2 left \(search\)\n", run("hint", *RUSH).stdout)
    assert not home.exists()


def test_what_people_are_told(home: Path) -> None:
    goal = run("hint", "--family", "tiles", "--board", "1 2/3 0").stdout
    assert goal == "level 1: step: this is the goal\n"
    dead = run("hint", "--family", "parkout", "--board", "aA./..B/..b", "--closed", "right:0", code=1).stdout
    assert dead == "level 1: slide: unsolvable: car a can leave only by right:0, which is never open\n"
    late = run("hint", *KORF, "--nodes", "1000", code=1).stdout
    assert "not within budget: 5" in late
    assert "not proven optimal" in late
    assert "has no metric 'path'" in run("hint", *RUSH, "--metric", "path", code=1).stdout


def test_positions_in_the_middle_of_play(home: Path) -> None:
    lot = ("--family", "parkout", "--board", "aA./.../...", "--gates", '[{"edge": "right:0", "opens": 1}]')
    assert run("hint", *lot, "--left", "1").stdout == "level 1: slide: a:R*; 1 left (search)\n"
    assert "unsolvable" in run("hint", *lot, code=1).stdout
    empty = run("hint", "--family", "parkout", "--board", ".../...", "--left", "2").stdout
    assert empty == "level 1: slide: this is the goal\n"
    board = ("--family", "klotski", "--board", "B./A-/..", "--goal", "../../A.")
    assert run("hint", *board, "--gates", "../-./..").stdout == "level 1: path: A:D1; 1 left (search)\n"


def test_rows_in_json(home: Path, tmp_path: Path) -> None:
    pack = tmp_path / "pack.jsonl"
    lot = {"family": "parkout", "board": "aA./..B/..b", "gates": [{"edge": "right:0", "opens": 1}], "name": "lot"}
    pack.write_text(json.dumps(lot) + "\nnonsense\n")
    first, bad = rows(run("hint", str(pack), "--json", code=1))
    assert first.pop("seconds") < 10
    assert first == {
        "index": 0,
        "name": "lot",
        "family": "parkout",
        "metric": "slide",
        "outcome": "optimal",
        "moves_left": 2,
        "lower": 2,
        "upper": 2,
        "moves": [{"move": "b:U*", "cell": 5, "to": None}],
        "complete": False,
        "unproven": None,
        "source": "search",
        "reason": None,
    }
    assert bad.keys() == {"index", "name", "line", "error"}
    [row] = rows(run("hint", *KORF, "--nodes", "1000", "--json", code=1))
    assert (row["outcome"], row["moves_left"], row["moves"]) == ("bounded", None, [])
    assert row["lower"] < 57 <= row["upper"]
    assert row["unproven"]["move"] in ("6", "2", "12", "8")


def test_a_store_that_does_not_answer_is_no_hindrance() -> None:
    with pytest.warns(RuntimeWarning, match="stored answers are not used"):
        assert "2 left (search)" in run("hint", *RUSH, UNJAM_DATABASE_URL="postgresql://x@127.0.0.1:1/x").stdout


def test_the_store_is_asked(database_url: str) -> None:
    [before] = rows(run("hint", *RUSH, "--json", UNJAM_DATABASE_URL=database_url))
    run("solve", *RUSH, UNJAM_DATABASE_URL=database_url)
    [after] = rows(run("hint", *RUSH, "--json", UNJAM_DATABASE_URL=database_url))
    assert (before["source"], after["source"]) == ("search", "store")
    assert before["moves_left"] == after["moves_left"] == 2
