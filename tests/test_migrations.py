"""The migrations build the schema of unjam/store/schema.py, and take it down again."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from unjam.errors import StoreError
from unjam.store import database
from unjam.store.database import alembic_config, check_schema, downgrade, migrate, open_engine, reset, revision
from unjam.store.schema import REVISION, metadata

# All that autogenerate does not compare: checks, index predicates, defaults, identities.
CATALOG = """
SELECT conrelid::regclass::text AS relation, conname AS name, pg_get_constraintdef(oid) AS definition
FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'alembic_version'
UNION ALL
SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version'
UNION ALL
SELECT table_name, column_name, concat_ws(' ', data_type, udt_name, is_nullable, column_default, identity_generation)
FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'alembic_version'
ORDER BY 1, 2, 3
"""


def catalog(engine: Engine) -> list[tuple[str, str, str]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(CATALOG)]


def test_the_migrated_schema_is_the_one_of_the_program(engine: Engine) -> None:
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_checks_and_indexes_too(engine: Engine, empty_database: str) -> None:
    created = open_engine(empty_database)
    metadata.create_all(created)
    assert catalog(engine) == catalog(created)
    created.dispose()


def test_the_newest_revision_is_the_one_the_program_expects(engine: Engine) -> None:
    with engine.connect() as connection:
        assert ScriptDirectory.from_config(alembic_config(connection)).get_heads() == [REVISION]


def test_up_down_and_up_again(empty_database: str) -> None:
    assert revision(empty_database) is None
    migrate(empty_database)
    assert revision(empty_database) == REVISION
    downgrade(empty_database, "base")
    assert revision(empty_database) is None
    engine = open_engine(empty_database)
    assert catalog(engine) == []
    engine.dispose()
    reset(empty_database)
    assert revision(empty_database) == REVISION


REVISIONS = [path.name[:4] for path in sorted((Path(__file__).parents[1] / "migrations" / "versions").glob("*.py"))]
COLUMNS = """
SELECT table_name, column_name, concat_ws(' ', data_type, udt_name), is_nullable = 'NO' AND column_default IS NULL
FROM information_schema.columns
WHERE table_schema = 'public' AND table_name <> 'alembic_version' AND identity_generation IS NULL
"""
REFUSE = """
SELECT conrelid::regclass::text, conname, array_agg(attname::text)
FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY(conkey)
WHERE connamespace = 'public'::regnamespace
GROUP BY 1, 2
UNION ALL
SELECT indrelid::regclass::text, indexrelid::regclass::text, regexp_split_to_array(pg_get_indexdef(indexrelid), '\\W+')
FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
WHERE indisunique AND relnamespace = 'public'::regnamespace
"""


def test_workers_of_the_version_before_go_on(empty_database: str) -> None:
    """What they read stays, and what they write is taken: a migration adds, and what it refuses is new, too."""
    engine = open_engine(empty_database)
    before: dict[tuple[str, str], str] = {}
    refused: set[str] = set()
    for number in REVISIONS:
        migrate(empty_database, number)
        with engine.connect() as connection:
            columns = {
                (table, name): (kind, needed) for table, name, kind, needed in connection.exec_driver_sql(COLUMNS)
            }
            refusing = [tuple(row) for row in connection.exec_driver_sql(REFUSE)]
        tables = {table for table, _ in before}
        assert {place: columns[place][0] for place in before if place in columns} == before
        for (table, name), (_, needed) in columns.items():
            assert table not in tables or (table, name) in before or not needed, f"{number}: {table}.{name}"
        for table, name, names in refusing:
            new = any((table, column) in columns and (table, column) not in before for column in names)
            assert table not in tables or name in refused or new, f"{number}: {name}"
        before = {place: kind for place, (kind, _) in columns.items()}
        refused = {name for _, name, _ in refusing}
    assert number == REVISION
    engine.dispose()


def test_an_index_is_built_beside_the_work(empty_database: str) -> None:
    """Whoever writes meanwhile is not held up, though a transaction from before keeps the index from being ready."""
    migrate(empty_database)
    downgrade(empty_database, "0004")
    engine = open_engine(empty_database)
    with engine.connect() as earlier, ThreadPoolExecutor() as pool:
        earlier.exec_driver_sql("SELECT FROM solution")
        migrating = pool.submit(migrate, empty_database)
        with engine.connect() as other:
            other.exec_driver_sql("SET lock_timeout = '20s'")
            while not other.exec_driver_sql("SELECT FROM pg_index WHERE NOT indisvalid").all():
                assert not migrating.done(), migrating.result()
                other.rollback()
            other.exec_driver_sql("LOCK TABLE solution IN ROW EXCLUSIVE MODE")  # as an insert does
            other.rollback()
        assert not migrating.done()
        earlier.rollback()
        migrating.result()
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT FROM pg_index WHERE NOT indisvalid").all() == []
    assert revision(empty_database) == REVISION
    engine.dispose()


def test_a_migration_that_waits_for_a_lock_lets_others_pass(
    empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LOCK_SECONDS", 0.1)
    migrate(empty_database)
    downgrade(empty_database, "0003")
    engine = open_engine(empty_database)
    with engine.connect() as submitting, ThreadPoolExecutor() as pool:
        submitting.exec_driver_sql("LOCK TABLE batch IN ROW EXCLUSIVE MODE")
        migrating = pool.submit(migrate, empty_database)
        for _ in range(5):
            with engine.begin() as other:
                other.exec_driver_sql("SET LOCAL lock_timeout = '20s'")
                other.exec_driver_sql("SELECT FROM batch")
            time.sleep(0.1)
        assert not migrating.done()
        submitting.rollback()
        migrating.result()
    assert revision(empty_database) == REVISION
    engine.dispose()


def test_a_database_of_a_newer_program_is_refused(engine: Engine, database_url: str) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    for start in (migrate, check_schema):
        with pytest.raises(StoreError, match="9999"):
            start(database_url)


@pytest.mark.parametrize("command", ["worker", "reconcile"])
def test_programs_that_leave_the_schema_to_others_say_what_to_do(empty_database: str, command: str) -> None:
    migrate(empty_database, REVISIONS[-2])
    environment = os.environ | {"UNJAM_DATABASE_URL": empty_database, "UNJAM_REDIS_URL": "redis://127.0.0.1:1/0"}
    started = [sys.executable, "-P", "-m", "cli", command]
    done = subprocess.run(started, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert "run `unjam migrate` first" in " ".join(done.stderr.split())
    migrate(empty_database)
    check_schema(empty_database)


def test_a_database_that_cannot_be_reached() -> None:
    with pytest.raises(StoreError, match=r"cannot reach .*nobody:\*\*\*@"):
        migrate("postgresql://nobody:secret@127.0.0.1:1/nothing")
