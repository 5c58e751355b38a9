"""``unjam atlas``: what it prints, writes and returns."""

import json
import os
import sys
from pathlib import Path

import pexpect
import pytest
from click.testing import CliRunner, Result

from cli.main import cli


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNJAM_TABLES", str(tmp_path))
    return tmp_path


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, ["atlas", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def test_build_and_list(folder: Path) -> None:
    assert run("list", "--json").stdout == ""
    run("build", "3x3")
    run("build", "2x3", "--metric", "slide", "--blank", "2")
    rows = [json.loads(line) for line in run("list", "--json").stdout.splitlines()]
    assert [(row["name"], row["boards"]) for row in rows] == [
        ("tiles-3x2-slide-blank-1", 360),
        ("tiles-3x3-step", 181_440),
    ]
    heading, *lines = (line.split() for line in run("list").stdout.splitlines())
    assert heading == ["atlas", "boards", "bytes"]
    assert [line[:2] for line in lines] == [["tiles-3x2-slide-blank-1", "360"], ["tiles-3x3-step", "181,440"]]
    (folder / "tiles-3x3-step.atlas").write_bytes(b"spoilt")
    refused = run("build", "3x3", code=2)
    assert "unjam atlas build 3x3 --metric step --again" in " ".join(refused.stderr.split())
    run("build", "3x3", "--again")


def test_show() -> None:
    missing = run("show", "3x3", code=2)
    assert "unjam atlas build 3x3 --metric step" in " ".join(missing.stderr.replace("│", " ").split())
    run("build", "3x3")
    text = run("show", "3x3").stdout.splitlines()
    assert text[:3] == ["  0             1", "  1             2", "  2             4"]
    assert sorted(text[-2:]) == ["6 4 7/8 5 0/3 2 1", "8 6 7/2 5 4/3 0 1"]
    row = json.loads(run("show", "3x3", "--json").stdout)
    assert (row["boards"], row["farthest"], row["counts"][31], row["blank"]) == (181_440, 31, 2, 8)
    first = json.loads(run("show", "3x3", "--blank", "0", "--json").stdout)
    assert first["counts"] == row["counts"]
    assert first["farthest_boards"] != row["farthest_boards"]


def test_distance() -> None:
    for metric in ("step", "slide"):
        run("build", "3x3", "--metric", metric)
    assert run("distance", "8 6 7/2 5 4/3 0 1").stdout == "31\n"
    assert run("distance", "1 2 3/4 5 6/8 7 0", code=1).stdout == "unsolvable\n"
    assert run("distance", "1 2 3/4 5 6/0 7 8", "--metric", "slide", "--moves").stdout == "1\n8\n"
    assert run("distance", "1 2 3/4 5 6/0 7 8", "--moves").stdout == "2\n7 8\n"
    assert run("distance", "1 0 2/3 4 5/6 7 8", "--goal", "blank-first", "--moves").stdout == "1\n1\n"
    row = json.loads(run("distance", "1 2 3/4 5 6/0 7 8", "--moves", "--json").stdout)
    assert (row["length"], row["moves"]) == (2, ["7", "8"])
    row = json.loads(run("distance", "1 2 3/4 5 6/8 7 0", "--moves", "--json", code=1).stdout)
    assert (row["length"], row["moves"]) == (None, None)
    run("distance", "1 2 3/4 5 6/7 8 9", code=2)


def test_a_sample_is_a_pack() -> None:
    run("build", "2x4", "--metric", "slide")
    sample = run("sample", "2x4", "--metric", "slide", "--depth", "20", "--count", "3", "--seed", "7").stdout
    rows = [json.loads(line) for line in sample.splitlines()]
    assert len({row["board"] for row in rows}) == 3
    assert [row["known"] for row in rows] == [{"slide": 20}] * 3
    for row in rows:
        assert run("distance", row["board"], "--metric", "slide").stdout == "20\n"
    run("sample", "2x4", "--metric", "slide", "--depth", "26", code=2)
    run("sample", "2x4", "--metric", "slide", "--depth", "25", "--count", "9", code=2)


@pytest.mark.parametrize("size", ["3", "3x", "axb", "4x4", "1x2", "3x3x3"])
def test_sizes_that_are_none_are_refused(size: str) -> None:
    run("build", size, code=2)


def test_interrupting_a_build_leaves_nothing_behind(folder: Path) -> None:
    program = pexpect.spawn(
        sys.executable,
        ["-P", "-m", "cli", "atlas", "build", "3x4"],
        env=dict(os.environ),
        encoding="utf-8",
        dimensions=(24, 200),
        timeout=30,
    )
    program.expect("[1-9][0-9,.]*( M)?/239.50 M")
    program.sendintr()
    program.expect(pexpect.EOF)
    program.close()
    assert program.exitstatus == 130
    assert list(folder.iterdir()) == []
