"""``unjam atlas level``: what it prints, keeps and returns."""

import json
import os
import sys
from pathlib import Path

import pexpect
import pytest
from click.testing import CliRunner, Result

import unjam
from cli.main import cli
from unjam.search.level_atlas import find_level_atlas

TWO = "ooooooooooooAAoooBoooooBoooooooooooo"
LOT = "aA./..B/..b"
HOPELESS = ("ABCDEF/GHIJKL/MNOPQR/STUVWX/YZabcd/efghi.", ".ihgfe/dcbaZY/XWVUTS/RQPONM/LKJIHG/FEDCBA")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNJAM_TABLES", str(tmp_path / "tables"))
    return tmp_path


@pytest.fixture
def pack(tmp_path: Path) -> str:
    rows = [
        {"family": "rush", "board": TWO, "name": "two"},
        {"family": "tiles", "board": "1 2/3 0"},
        {"family": "parkout", "board": LOT, "name": "lot"},
        {"family": "klotski", "board": "AB..", "goal": "B...", "name": "stuck", "metric": "step"},
        {"family": "klotski"},
    ]
    path = tmp_path / "pack.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def run(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, ["atlas", "level", *map(str, arguments)])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def test_for_people(pack: str) -> None:
    *told, farthest = run("--family", "rush", "--board", TWO).stdout.splitlines()
    assert told == [
        "level 1: slide, 23 positions",
        "moves from the start: 2; shortest solutions: 3",
        "  0             3",
        "  1            12",
        "  2             8",
        "the farthest, 2 moves from the goal:",
    ]
    assert unjam.solve(unjam.parse("rush", farthest)).length == 2
    lines = run(pack, "--hardest", 0, code=1).stdout.splitlines()
    assert [line for line in lines if line[0] != " "] == [
        "two: slide, 23 positions",
        "moves from the start: 2; shortest solutions: 3",
        "line 2: no positions of tiles are explored; `unjam atlas build` serves boards of a size",
        "lot: slide, 8 positions",
        "moves from the start: 2; shortest solutions: 2",
        "stuck: step, 6 positions",
        "no goal can be reached from the start",
        "line 5: board: there is none",
    ]
    assert lines[-2] == "                6 dead ends"


def test_json(pack: str) -> None:
    two, tiles, lot, stuck, bad = map(json.loads, run(pack, "--json", "--hardest", 99, code=1).stdout.splitlines())
    assert {unjam.solve(unjam.parse("rush", board)).length for board in two["hardest"]} == {2}
    assert len(set(two.pop("hardest"))) == 8
    assert two == {
        "index": 0,
        "name": "two",
        "family": "rush",
        "metric": "slide",
        "key": unjam.parse("rush", TWO).key.hex(),
        "outcome": "complete",
        "states": 23,
        "length": 2,
        "solutions": "3",
        "counts": [3, 12, 8],
        "dead_ends": 0,
        "farthest": 2,
        "path": None,
    }
    assert (tiles["line"], bad["line"]) == (2, 5)
    assert lot["counts"] == [1, 4, 3]
    assert (stuck["length"], stuck["solutions"], stuck["farthest"], stuck["hardest"]) == (None, "0", None, [])


def test_some_of_a_pack(pack: str) -> None:
    assert json.loads(run(pack, "--json", "--index", 2).stdout)["name"] == "lot"
    assert json.loads(run(pack, "--json", "--name", "two", "--metric", "step").stdout)["length"] == 5
    assert "path" in json.loads(run(pack, "--json", "--name", "two", "--metric", "path", code=1).stdout)["error"]
    assert "no such level" in run(pack, "--name", "three", code=2).stderr
    assert "not in the range" in run(pack, "--hardest", 2**64, code=2).stderr


def test_kept_atlases_are_used() -> None:
    level = ("--family", "klotski", "--board", "AB/C./..", "--goal", "../../.A", "--metric", "step")
    without = json.loads(run(*level, "--json").stdout)
    kept = json.loads(run(*level, "--json", "--save").stdout)
    assert Path(kept.pop("path")).is_file()
    assert without.pop("path") is None
    assert kept == without
    again = json.loads(run(*level, "--json", "--nodes", 1).stdout)  # no search
    assert again["counts"] == kept["counts"]
    assert find_level_atlas(unjam.parse("klotski", "AB/C./..", goal="../../.A"), "step") is not None
    listed = CliRunner().invoke(cli, ["atlas", "list", "--json"]).stdout
    assert [json.loads(line)["boards"] for line in listed.splitlines()] == [kept["states"]]
    assert "klotski" in CliRunner().invoke(cli, ["atlas", "list"]).stdout


def test_spoilt_atlases_are_made_anew() -> None:
    level = ("--family", "rush", "--board", TWO, "--json")
    path = Path(json.loads(run(*level, "--save").stdout)["path"])
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(RuntimeWarning, match="unjam atlas level --save"):
        assert json.loads(run(*level, "--save").stdout)["states"] == 23
    assert find_level_atlas(unjam.parse("rush", TWO), "slide") is not None


def test_list_is_of_files_and_lines_up(folder: Path) -> None:
    run("--family", "rush", "--board", TWO, "--save")
    name = f"rush-{'0' * 16}-{'0' * 32}"
    (folder / "tables" / f"{name}-step.level").mkdir()
    (folder / "tables" / f"{name}-slide.level").symlink_to("gone")
    listed = CliRunner().invoke(cli, ["atlas", "list"])
    assert listed.exit_code == 0, listed.output
    heading, line = listed.stdout.splitlines()
    assert len(heading) == len(line)


def test_budgets_end() -> None:
    hopeless = ("--family", "klotski", "--board", HOPELESS[0], "--goal", HOPELESS[1])
    row = json.loads(run(*hopeless, "--nodes", 10_000, "--json", code=1).stdout)
    assert row["outcome"] == "bounded"
    assert row["reason"].startswith("the budget of nodes ended after ")
    assert "the budget of bytes ended after " in run(*hopeless, "--memory", "1MB", code=1).stdout
    assert "the budget of seconds ended after " in run(*hopeless, "--seconds", "0.2", code=1).stdout


def test_interrupted(folder: Path) -> None:
    program = pexpect.spawn(
        sys.executable,
        [
            "-P",
            "-m",
            "cli",
            "atlas",
            "level",
            "--family=klotski",
            "--board",
            HOPELESS[0],
            "--goal",
            HOPELESS[1],
            "--save",
        ],
        env=dict(os.environ),
        encoding="utf-8",
        dimensions=(24, 200),
        timeout=30,
    )
    program.expect("exploring level 1.*[1-9][0-9,.]+")
    program.sendintr()
    program.expect(pexpect.EOF)
    program.close()
    assert program.exitstatus == 130
    assert not (folder / "tables").exists()
