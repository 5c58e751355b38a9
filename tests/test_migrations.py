"""The migrations build the schema of unjam/store/schema.py, and take it down again."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from unjam.errors import StoreError
from unjam.store.database import alembic_config, downgrade, migrate, open_engine, reset, revision
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


def test_a_database_of_a_newer_program_is_refused(engine: Engine, database_url: str) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match="9999"):
        migrate(database_url)


def test_a_database_that_cannot_be_reached() -> None:
    with pytest.raises(StoreError, match=r"cannot reach .*nobody:\*\*\*@"):
        migrate("postgresql://nobody:secret@127.0.0.1:1/nothing")
