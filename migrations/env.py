"""Alembic's entry: on the connection that unjam hands over, or for the alembic command on the configured database."""

from alembic import context
from sqlalchemy import Connection

from unjam.settings import get_settings
from unjam.store.database import open_engine
from unjam.store.schema import metadata


def run(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    url = get_settings().database_url
    if url is None:
        raise SystemExit("set UNJAM_DATABASE_URL to use the alembic command")
    with open_engine(url).connect() as own:
        run(own)
