"""The scale benchmark runs, on a small store, and leaves the tables as the migrations made them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from sqlalchemy import Engine, text

from benchmarks.filled_store import filled
from tests.test_migrations import catalog
from unjam.store.database import open_engine
from unjam.store.postgres import private_postgres

ROOT = Path(__file__).parents[1]


def test_a_small_run_and_another_on_what_it_kept(engine: Engine, shared_data: Path, tmp_path: Path) -> None:
    def run(*options: str) -> dict[str, str]:
        command = [sys.executable, "-m", "benchmarks.scale", str(shared_data), "--folder", str(tmp_path), *options]
        small = ["--boards=200", "--requests=20", "--rate=20", "--times=20"]
        done = subprocess.run([*command, *small], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return dict(re.split(r"  +", line, maxsplit=1) for line in done.stdout.splitlines())

    figures = run("--puzzles=3000")
    assert figures["puzzles"] == "3,000"
    for name in ("look-up by key, the query", "20 levels with 25 to 30 moves", "random boards, looked up"):
        assert re.search(r"median [\d.]+ ms|[\d,]+ a second", figures[name]), name
    served = [figure for name, figure in figures.items() if name.startswith("GET")]
    assert len(served) == 2
    assert all("no errors" in figure for figure in served), served
    assert float(figures["bytes a puzzle, puzzle"]) > 100
    again = run("--reuse")
    assert again.keys() == figures.keys() - {"filled"}
    with private_postgres(tmp_path) as url:
        kept = open_engine(url)
        assert filled(kept) == 3000
        ours = [row for row in catalog(kept) if row[0] not in ("template", "fill")]
        assert ours == catalog(engine)
        with kept.connect() as connection:
            newest = connection.execute(text("SELECT max(puzzle_id) FROM batch_item"))
            assert newest.scalar_one() > 3000, "real boards came on top"
        kept.dispose()
