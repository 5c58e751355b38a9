"""``unjam tables``: what it prints, writes and returns, and what searches say about a spoilt table."""

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pexpect
import pytest
from click.testing import CliRunner

from cli.main import cli
from tests.test_cli import UNJAM, Unjam, lines

TWENTY_FOUR = "/".join(" ".join(str((5 * row + column + 1) % 25) for column in range(5)) for row in range(5))


def test_build_list_verify_remove(tmp_path: Path) -> None:
    run = partial(CliRunner().invoke, cli, env={"UNJAM_TABLES": str(tmp_path)})
    assert run(["tables", "list", "--json"]).stdout == ""
    assert run(["tables", "build", "3x3-8", "2x3-5"]).exit_code == 0
    assert [row["name"] for row in lines(run(["tables", "list", "--json"]).stdout)] == ["2x3-5", "3x3-8"]
    assert re.search(r"^3x3-8 +362,880 +yes", run(["tables", "list", "--all"]).stdout, re.MULTILINE)
    assert re.search(r"^5x5-6-6-6-6 +72\d,\d{3},\d{3} +no", run(["tables", "list", "--all"]).stdout, re.MULTILINE)
    assert run(["tables", "verify", "3x3-8"]).stdout == "3x3-8 holds\n"
    (tmp_path / "3x3-8.pdb").write_bytes(b"spoilt")
    spoilt = run(["tables", "verify", "3x3-8"])
    assert (spoilt.exit_code, "build --again 3x3-8" in " ".join(spoilt.stderr.split())) == (2, True)
    assert run(["tables", "build", "3x3-8"]).exit_code == 2
    assert run(["tables", "build", "--again", "3x3-8"]).exit_code == 0
    assert run(["tables", "remove", "3x3-8"]).exit_code == 0
    assert run(["tables", "remove", "3x3-8"]).exit_code == 2
    assert run(["tables", "build", "3x3-9"]).exit_code == 2
    assert [path.name for path in tmp_path.glob("*.pdb")] == ["2x3-5.pdb"]


def test_a_spoilt_table_is_one_line_of_warning(database_url: str, tmp_path: Path) -> None:
    (tmp_path / "3x3-8.pdb").write_bytes(b"spoilt")
    environment = os.environ | {"UNJAM_DATABASE_URL": database_url, "UNJAM_TABLES": str(tmp_path)}
    command = [*UNJAM, "solve", "--family", "tiles", "--board", "8 6 7/2 5 4/3 0 1", "--processes", "1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    [told] = done.stderr.splitlines()
    assert re.fullmatch("warning: .*3x3-8.pdb is .*`unjam tables build --again 3x3-8` .*", told)


def test_a_table_that_is_asked_for_and_cannot_be_used_is_an_error_before_the_run(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNJAM_TABLES", str(tmp_path))
    (tmp_path / "4x3-6-5.pdb").write_bytes(b"spoilt")
    unjam = Unjam(database_url)
    solvable = "--board", "2 1 3 4/6 5 7 8/9 10 11 0"
    for board, table in ((solvable, "4x3-6-5"), (("--board", TWENTY_FOUR), "5x5-6-6-6-6")):
        refused = unjam("solve", "--family", "tiles", *board, "--heuristic", "pdb", code=2)
        assert table in refused.stderr
    assert unjam.rows("status") == []
    assert unjam.rows("solve", "--family", "tiles", *solvable, "--heuristic", "manhattan")
    [row] = unjam.rows("solve", "--family", "tiles", "--board", "8 6 7/2 5 4/3 0 1", "--heuristic", "pdb")
    assert (row["length"], row["heuristic"]) == (31, "pdb")  # a small one that is missing is built
    slides = "--heuristic", "pdb", "--metric", "slide"
    assert "not admissible" in unjam("solve", "--family", "tiles", *solvable, *slides, code=1).stdout


def test_interrupting_a_build_leaves_nothing_behind(tmp_path: Path) -> None:
    environment = {**os.environ, "UNJAM_TABLES": str(tmp_path), "TERM": "xterm", "COLUMNS": "80"}
    program = pexpect.spawn(
        sys.executable,
        ["-m", "cli", "tables", "build", "4x4-7-8"],
        env=environment,
        encoding="utf-8",
        timeout=30,
    )
    program.expect(r"building 4x4-7-8 .* M/1\.57 G.* M/s.*ETA .*\d:\d\d:\d\d")
    program.sendintr()
    program.expect(pexpect.EOF)
    program.close()
    assert program.exitstatus == 130
    assert list(tmp_path.iterdir()) == []
