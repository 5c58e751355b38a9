"""Which database, and is its schema the one of this program."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

import orjson
import psycopg
from sqlalchemy import URL, Connection, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from unjam.errors import StoreError
from unjam.settings import Settings
from unjam.store.schema import REVISION

if TYPE_CHECKING:
    from alembic.config import Config

# A process that is stopped in the middle of a transaction holds its locks, and no token helps against that. Nobody
# computes for so long inside one.
IDLE_SECONDS = 20
# A machine that is gone says nothing; without these, who waits for it does so for hours.
PATIENCE = {"connect_timeout": 10, "tcp_user_timeout": 30_000, "keepalives_idle": 30}  # s, ms, s

_MIGRATING = 7305101  # key of the advisory lock: one process migrates, the others wait
CONNECTIONS = 15  # of an engine at most
LOCK_SECONDS, LOCK_TRIES = 3, 100  # how long a migration holds up others while it waits for a lock, and how often


def open_engine(url: str | URL) -> Engine:
    """An engine with its pool of connections. Connections do not survive a fork: open it after forking."""
    target = make_url(url).set(drivername="postgresql+psycopg")
    arguments = {name: value for name, value in PATIENCE.items() if name not in target.query}
    options = f"{target.query.get('options', '')} -c idle_in_transaction_session_timeout={IDLE_SECONDS}s"
    return create_engine(
        target,
        pool_pre_ping=True,  # a restarted Postgres costs a reconnect, not an error
        pool_size=CONNECTIONS,  # opened as they are needed, and kept: what overflows a pool is closed after each use
        max_overflow=0,
        pool_use_lifo=True,
        connect_args={**arguments, "options": options},
        hide_parameters=True,  # errors are logged: no keys and no boards in them
        json_serializer=lambda value: orjson.dumps(value).decode(),
        json_deserializer=orjson.loads,
    )


def reading(engine: Engine) -> Engine:
    """The same engine, and pool, for single queries: no BEGIN and no ROLLBACK go to the server and back with them."""
    return engine.execution_options(isolation_level="AUTOCOMMIT")


@contextmanager
def beside(engine: Engine) -> Iterator[Connection]:
    """A connection that is not of the engine's pool: who holds one and waits for another may wait for ever."""
    other = open_engine(engine.url)
    try:
        with other.connect() as connection:
            yield connection
    finally:
        other.dispose()


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


def migrate(url: str, to: str = REVISION) -> None:
    """Bring the schema up to this program's, or an earlier one; costs one query when it is. Workers may go on.

    Raises StoreError where it cannot.
    """
    if _older(url, to):
        _alembic(url, "upgrade", to)


def check_schema(url: str) -> None:
    """Raise StoreError unless the schema is this program's: for those that leave it to others to migrate."""
    if _older(url):
        raise StoreError(f"the database has not this program's schema, {REVISION}: run `unjam migrate` first")


def _older(url: str, wanted: str = REVISION) -> bool:
    """Whether there is something to migrate; raises StoreError where the database is of a newer program."""
    found = revision(url)
    if found is not None and found > wanted:
        raise StoreError(f"the database has schema {found}, this program knows {wanted}: use a newer version of unjam")
    return found != wanted


def downgrade(url: str, to: str) -> None:
    """Take the schema back to an earlier revision, ``base`` for an empty database; what it held is dropped."""
    _alembic(url, "downgrade", to)


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


def _alembic(url: str, direction: Literal["upgrade", "downgrade"], to: str) -> None:
    from alembic import command
    from alembic.util import CommandError

    engine = open_engine(url)
    try:
        with engine.connect() as connection, _alone(connection):
            config = alembic_config(connection)
            for patience in range(LOCK_TRIES):
                try:
                    getattr(command, direction)(config, to)
                    return
                except OperationalError as error:
                    if not isinstance(error.orig, psycopg.errors.LockNotAvailable) or patience == LOCK_TRIES - 1:
                        raise
                    connection.rollback()
                    time.sleep(LOCK_SECONDS)
    except CommandError as error:
        raise StoreError(f"cannot migrate the database: {error}") from error
    finally:
        engine.dispose()  # the session ends, and its settings and lock with it


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """The only process that migrates. It asks again and again: one that waited inside Postgres would be a transaction
    that an index built concurrently waits for.

    A statement of a migration that must wait for a long transaction gives way after some seconds, since all others
    queue up behind it.
    """
    while not connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({_MIGRATING})").scalar_one():
        connection.rollback()
        time.sleep(0.1)
    connection.exec_driver_sql(f"SET lock_timeout = {int(1000 * LOCK_SECONDS)}")
    connection.commit()
    yield
