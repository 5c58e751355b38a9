"""Which database, and is its schema the one of this program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING

import orjson
import psycopg
from sqlalchemy import Connection, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError

from unjam.errors import StoreError
from unjam.settings import Settings
from unjam.store.schema import REVISION

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATING = 7305101  # key of the advisory lock: one process migrates, the others wait


def open_engine(url: str) -> Engine:
    """An engine with its pool of connections. Connections do not survive a fork: open it after forking."""
    return create_engine(
        make_url(url).set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,  # a restarted Postgres costs a reconnect, not an error
        hide_parameters=True,  # errors are logged: no keys and no boards in them
        json_serializer=lambda value: orjson.dumps(value).decode(),
        json_deserializer=orjson.loads,
    )


@contextmanager
def database(settings: Settings) -> Iterator[str]:
    """The URL of the configured database, or of the private one, with the present schema; up inside this block."""
    if settings.database_url:
        migrate(settings.database_url)
        yield settings.database_url
    else:
        from unjam.store.postgres import private_postgres

        with private_postgres(settings.home) as url:
            migrate(url)
            yield url


def migrate(url: str) -> None:
    """Bring the schema up to this program's; costs one query when it is. Raises StoreError where it cannot."""
    if revision(url) != REVISION:
        _alembic(url, "head")


def downgrade(url: str, to: str) -> None:
    """Take the schema back to an earlier revision, ``base`` for an empty database; what it held is dropped."""
    _alembic(url, to)


def reset(url: str) -> None:
    """Delete everything that is stored."""
    downgrade(url, "base")
    migrate(url)


def revision(url: str) -> str | None:
    """The schema's revision, None for an empty database."""
    try:
        plain = make_url(url).set(drivername="postgresql")
    except (ArgumentError, ValueError) as error:  # the latter: a port that is no number
        raise StoreError("the database is named as postgresql://user:password@host:5432/name") from error
    try:
        # libpq reads what was given: SQLAlchemy would write a space in a path as +
        with psycopg.connect(f"postgresql://{url.partition('://')[2]}", connect_timeout=10) as connection:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except psycopg.errors.UndefinedTable:
        return None
    except (psycopg.OperationalError, psycopg.ProgrammingError) as error:  # the latter: an option libpq does not know
        raise StoreError(f"cannot reach the database {plain.render_as_string()}: {error}") from error
    return None if row is None else str(row[0])


def alembic_config(connection: Connection) -> Config:
    """Alembic's configuration for the migrations of this installation, run on ``connection``."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(files("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _alembic(url: str, to: str) -> None:
    from alembic import command
    from alembic.util import CommandError

    engine = open_engine(url)
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATING})")
            config = alembic_config(connection)
            (command.upgrade if to == "head" else command.downgrade)(config, to)
    except CommandError as error:
        raise StoreError(f"cannot migrate the database: {error}") from error
    finally:
        engine.dispose()
