"""API keys: who may use the API from elsewhere, for what, and how much of it. Their secrets are stored nowhere."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Literal

from sqlalchemy import Engine, Row, bindparam, func, insert, select, text, update

from unjam.errors import NoSuchKey
from unjam.store.database import reading
from unjam.store.ingest import storable
from unjam.store.schema import api_key, batch

Scope = Literal["read", "submit", "admin"]
MARK = "unjam_"
SHOWN = len(MARK) + 12  # characters of a key that stay visible, to tell it from others: 48 of its 256 bits
_KEY = re.compile(rf"{MARK}[0-9a-f]{{64}}")
_UNNOTED = func.coalesce(api_key.c.last_used < func.now() - text("interval '1 minute'"), True)
_FIND = select(api_key, _UNNOTED.label("unnoted")).where(
    api_key.c.prefix == bindparam("shown"), api_key.c.revoked.is_(None)
)


@dataclass(frozen=True, slots=True)
class Key:
    """An API key without its secret. Limits are None where there is none; ``last_used`` is a minute late at most."""

    key_id: int
    name: str
    prefix: str
    scopes: tuple[Scope, ...]
    requests_per_minute: int | None
    batch_levels: int | None
    created: datetime
    last_used: datetime | None
    revoked: datetime | None

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes or "admin" in self.scopes


def create(
    engine: Engine,
    name: str,
    scopes: Iterable[Scope],
    *,
    requests_per_minute: int | None = None,
    batch_levels: int | None = None,
) -> tuple[Key, str]:
    """A new key, and its secret, which cannot be had again."""
    random = secrets.token_bytes(32)
    secret = MARK + random.hex()
    values = {
        "name": storable(name),
        "prefix": secret[:SHOWN],
        "digest": sha256(random).digest(),
        "scopes": sorted(set(scopes)),
        "requests_per_minute": requests_per_minute,
        "batch_levels": batch_levels,
    }
    with engine.begin() as connection:
        row = connection.execute(insert(api_key).values(values).returning(*api_key.c)).one()
    return _key(row), secret


def find(engine: Engine, secret: str) -> Key | None:
    """The key of this secret; None if there is none, or it is revoked. Takes note that it was used."""
    if not _KEY.fullmatch(secret):
        return None
    digest = sha256(bytes.fromhex(secret.removeprefix(MARK))).digest()
    with reading(engine).connect() as connection:
        row = connection.execute(_FIND, {"shown": secret[:SHOWN]}).one_or_none()
    if row is None or not compare_digest(row.digest, digest):
        return None
    if row.unnoted:
        with engine.begin() as connection:
            connection.execute(update(api_key).where(api_key.c.id == row.id, _UNNOTED).values(last_used=func.now()))
    return _key(row)


def list_keys(engine: Engine) -> list[Key]:
    """All keys, revoked ones too, in the order of their numbers."""
    with engine.connect() as connection:
        return [_key(row) for row in connection.execute(select(api_key).order_by(api_key.c.id))]


def revoke(engine: Engine, key_id: int) -> Key:
    """End a key, from the next request on; one that is revoked stays so. Raises NoSuchKey."""
    revoked = func.coalesce(api_key.c.revoked, func.now())
    with engine.begin() as connection:
        query = update(api_key).where(api_key.c.id == key_id).values(revoked=revoked).returning(*api_key.c)
        row = connection.execute(query).one_or_none()
    if row is None:
        raise NoSuchKey(f"there is no API key {key_id}")
    return _key(row)


def owns(engine: Engine, key_id: int, batch_id: int) -> bool:
    """Whether the batch was ordered with this key."""
    with reading(engine).connect() as connection:
        query = select(batch.c.id).where(batch.c.id == batch_id, batch.c.key_id == key_id)
        return connection.execute(query).one_or_none() is not None


def _key(row: Row[Any]) -> Key:
    return Key(
        key_id=row.id,
        name=row.name,
        prefix=row.prefix,
        scopes=tuple(row.scopes),
        requests_per_minute=row.requests_per_minute,
        batch_levels=row.batch_levels,
        created=row.created,
        last_used=row.last_used,
        revoked=row.revoked,
    )
