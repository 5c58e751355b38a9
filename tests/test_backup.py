"""The commands of docs/operations.md bring a store back."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine
from test_docs import DOCS, blocks

from tests.levels import random_levels
from unjam.search.solution import Budget
from unjam.store import batches
from unjam.store.database import open_engine
from unjam.store.postgres import installed
from unjam.work import work

BUDGET = Budget(seconds=60)


def documented() -> list[str]:
    page = (DOCS / "operations.md").read_text()
    section = page.partition("## Backup and restore")[2].partition("\n## ")[0]
    return [script for _, script in blocks(section, "sh")]


def test_a_dump_restores_everything(engine: Engine, database_url: str, empty_database: str, tmp_path: Path) -> None:
    entries = random_levels(30, families=("rush", "klotski"))
    done, waiting = (batches.submit(engine, some, budget=BUDGET) for some in (entries[:20], entries))
    while work(engine, worker="here", batch_id=done.batch_id):
        pass
    programs = {major: folder for folder, major in installed()}
    folder = programs[max(programs)]  # those that the store runs on
    if not (folder / "pg_dump").exists():
        pytest.skip(f"there is no pg_dump in {folder}")
    environment = os.environ | {
        "PATH": f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "UNJAM_DATABASE_URL": database_url,
        "RESTORED": empty_database,
    }
    dump, restore = documented()
    for script in (dump, restore):
        ran = subprocess.run(["bash", "-euc", script], cwd=tmp_path, env=environment, capture_output=True, check=False)
        assert ran.returncode == 0, ran.stderr.decode()
    restored = open_engine(empty_database)
    for batch in (done, waiting):
        assert list(batches.results(restored, batch.batch_id)) == list(batches.results(engine, batch.batch_id))
    # it is a store to go on with: what waited is solved, what was solved is known
    while work(restored, worker="there", batch_id=waiting.batch_id):
        pass
    assert batches.status(restored, waiting.batch_id).state == "done"
    assert batches.submit(restored, entries, budget=BUDGET).new == 0
    restored.dispose()
