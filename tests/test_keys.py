"""API keys, whose batch is whose, and orders that come more than once, in the store."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import IntegrityError

from unjam.errors import NoSuchKey, OrderConflict
from unjam.packs import Entry, read_objects
from unjam.search.solution import Budget
from unjam.store import keys
from unjam.store.batches import Submitted, cancel, list_batches, status, submit
from unjam.store.once import Once

LEVELS = [
    {"family": "tiles", "board": "1 2 3/4 0 6/7 5 8"},
    {"family": "tiles", "board": "1 2/3 0"},
    {"family": "rush"},
]


def rows(engine: Engine, query: str) -> list[tuple[object, ...]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(query))]


def order(engine: Engine, once: Once | None = None, key_id: int | None = None, levels: object = None) -> Submitted:
    entries: Iterator[Entry] = read_objects(LEVELS if levels is None else levels)  # type: ignore[arg-type]
    return submit(engine, entries, budget=Budget(), key_id=key_id, once=once)


def named(name: str, content: bytes = b"order") -> Once:
    return Once(name, sha256(content).digest())


def test_a_key_is_found_by_its_secret_alone(engine: Engine) -> None:
    key, secret = keys.create(engine, "designer", ["submit", "read"], requests_per_minute=60, batch_levels=1000)
    other, other_secret = keys.create(engine, "designer", ["admin"])
    assert secret.startswith(key.prefix)
    assert (key.scopes, key.requests_per_minute, key.batch_levels) == (("read", "submit"), 60, 1000)
    assert (other.requests_per_minute, other.batch_levels) == (None, None)
    for mine, its_secret in ((key, secret), (other, other_secret)):
        found = keys.find(engine, its_secret)
        assert found is not None
        assert found.key_id == mine.key_id
    last = "0" if secret[-1] != "0" else "1"
    for wrong in (
        "",
        "unjam_",
        secret[:-1],
        secret[:-1] + last,
        secret + "0",
        secret.upper(),
        f" {secret}",
        key.prefix,
    ):
        assert keys.find(engine, wrong) is None


def test_scopes(engine: Engine) -> None:
    reader, _ = keys.create(engine, "reader", ["read"])
    admin, _ = keys.create(engine, "admin", ["admin"])
    assert [reader.may(scope) for scope in ("read", "submit", "admin")] == [True, False, False]
    assert [admin.may(scope) for scope in ("read", "submit", "admin")] == [True, True, True]
    for scopes in ([], ["write"]):
        with pytest.raises(IntegrityError):
            keys.create(engine, "made up", scopes)  # type: ignore[arg-type]


def test_the_secret_is_not_stored(engine: Engine) -> None:
    key, secret = keys.create(engine, "designer", ["read"])
    assert keys.find(engine, secret)
    random = secret.removeprefix("unjam_")
    [stored] = rows(engine, "SELECT api_key::text, digest FROM api_key")
    assert stored[1] == sha256(bytes.fromhex(random)).digest()
    assert random[len(key.prefix) - len("unjam_") :] not in str(stored[0])


def test_a_revoked_key_is_none(engine: Engine) -> None:
    key, secret = keys.create(engine, "designer", ["read"])
    batch = order(engine, key_id=key.key_id).batch_id
    first = keys.revoke(engine, key.key_id)
    assert first.revoked is not None
    assert keys.find(engine, secret) is None
    assert keys.revoke(engine, key.key_id).revoked == first.revoked
    assert [each.revoked for each in keys.list_keys(engine)] == [first.revoked]
    assert status(engine, batch).state == "running"
    with pytest.raises(NoSuchKey, match="7"):
        keys.revoke(engine, 7)


def test_when_a_key_was_used_is_noted_at_most_once_a_minute(engine: Engine) -> None:
    key, secret = keys.create(engine, "designer", ["read"])

    def used() -> object:
        keys.find(engine, secret)
        return keys.list_keys(engine)[0].last_used

    assert key.last_used is None
    first = used()
    assert first is not None
    assert used() == first
    with engine.begin() as connection:
        connection.execute(text("UPDATE api_key SET last_used = last_used - interval '61 seconds'"))
    assert used() >= first  # type: ignore[operator]


def test_batches_belong_to_their_keys(engine: Engine) -> None:
    one, two = (keys.create(engine, name, ["submit"])[0].key_id for name in ("one", "two"))
    batches = {key_id: order(engine, key_id=key_id).batch_id for key_id in (one, two, None)}
    for key_id in (one, two):
        assert [each.batch_id for each in list_batches(engine, key_id=key_id)] == [batches[key_id]]
        assert [keys.owns(engine, key_id, batch) for batch in batches.values()] == [key_id == one, key_id == two, False]
    assert len(list_batches(engine)) == 3
    assert list_batches(engine, key_id=two, before=batches[two]) == []


def test_an_order_that_comes_again_is_the_same_batch(engine: Engine) -> None:
    key = keys.create(engine, "designer", ["submit"])[0].key_id
    first = order(engine, named("a"), key)
    again = order(engine, named("a"), key)
    assert (first.levels, first.new, first.bad) == (3, 2, 1)
    assert first.chunks
    assert (again.batch_id, again.levels, again.new, again.bad) == (first.batch_id, 3, 2, 1)
    assert again.chunks == []
    cancel(engine, first.batch_id)
    assert order(engine, named("a"), key).batch_id == first.batch_id
    others = [order(engine, named("b"), key), order(engine, named("a"), None), order(engine, None, key)]
    assert len({each.batch_id for each in (first, *others)}) == 4
    assert order(engine, named("a"), None).batch_id == others[1].batch_id
    assert rows(engine, "SELECT count(*) FROM batch") == [(4,)]


def test_another_order_of_the_same_name_is_refused(engine: Engine) -> None:
    first = order(engine, named("a"))
    with pytest.raises(OrderConflict, match=f"'a'.*batch {first.batch_id}"):
        order(engine, named("a", b"another"))
    assert rows(engine, "SELECT count(*) FROM batch") == [(1,)]


def test_an_order_that_failed_can_come_again(engine: Engine) -> None:
    with pytest.raises(ZeroDivisionError):
        order(engine, named("a"), levels=(1 // 0 for _ in range(1)))
    assert order(engine, named("a", b"mended")).levels == 3


def test_many_at_once_are_one_batch(engine: Engine) -> None:
    together = threading.Barrier(4, timeout=60)

    def order_with_the_others(_: int) -> Submitted:
        together.wait()
        return order(engine, named("a"))

    with ThreadPoolExecutor(4) as pool:
        made = [*pool.map(order_with_the_others, range(4))]
    assert len({each.batch_id for each in made}) == 1
    assert sum(bool(each.chunks) for each in made) == 1
    assert rows(engine, "SELECT count(*), sum(levels) FROM batch") == [(1, len(LEVELS))]


def test_the_levels_of_an_order_that_came_before_are_not_read(engine: Engine) -> None:
    first = order(engine, named("a"))
    assert order(engine, named("a"), levels=(1 // 0 for _ in range(1))).batch_id == first.batch_id


def test_the_database_holds_it_too(engine: Engine) -> None:
    order(engine, named("a"))
    with pytest.raises(IntegrityError, match="batch_idempotency_idx"), engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO batch (queue, levels, idempotency_key, idempotency_digest)"
                " SELECT queue, levels, idempotency_key, idempotency_digest FROM batch"
            )
        )
