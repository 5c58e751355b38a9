"""Who may do what over HTTP: each endpoint with each kind of key and without one, on a server that trusts nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, inspect, text

from api.access import GuardedRoute
from api.app import create_app
from tests.serving import RUSH, TILES, refused, serving, working
from unjam.settings import Settings
from unjam.store import keys

# A request that succeeds where the store has batch 1, with each operation's scope; None: open to all.
REQUESTS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "POST /v1/batches": ("submit", {"json": {"levels": [RUSH]}}),
    "GET /v1/batches": ("read", {}),
    "GET /v1/batches/{batch_id}": ("read", {}),
    "GET /v1/batches/{batch_id}/results": ("read", {}),
    "GET /v1/batches/{batch_id}/events": ("read", {}),
    "DELETE /v1/batches/{batch_id}": ("submit", {}),
    "POST /v1/solve": ("submit", {"json": RUSH | {"wait": 0}}),
    "POST /v1/hint": ("submit", {"json": TILES}),
    "POST /v1/lookup": ("read", {"json": {"puzzles": [TILES]}}),
    "GET /v1/puzzles": ("read", {"params": {"family": "tiles"}}),
    "GET /v1/puzzles/{key}": ("read", {}),
    "GET /healthz": (None, {}),
    "GET /readyz": (None, {}),
    "GET /metrics": ("read", {}),
}
OPERATIONS = [
    f"{method.upper()} {path}"
    for path, methods in create_app(Settings()).openapi()["paths"].items()
    for method in methods
]
UNKNOWN = "unjam_" + 64 * "0"


def bearing(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def contents(engine: Engine) -> dict[str, list[str]]:
    """All rows of all tables, but for when a key was used."""
    with engine.connect() as connection:
        return {
            table: sorted(
                row[0] for row in connection.execute(text(f"SELECT (to_jsonb(t) - 'last_used')::text FROM {table} t"))
            )
            for table in inspect(engine).get_table_names()
        }


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(database_url=database_url, redis_url=None, home=tmp_path, local_needs_key=True)


@pytest.fixture
def api(settings: Settings) -> Iterator[httpx.Client]:
    with serving(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


def test_each_operation_is_tried() -> None:
    assert sorted(OPERATIONS) == sorted(REQUESTS)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_operation_with_each_key(api: httpx.Client, engine: Engine, database_url: str, operation: str) -> None:
    needs, request = REQUESTS[operation]
    its = {
        scopes: keys.create(engine, scopes, scopes.split("+"))[1]  # type: ignore[arg-type]
        for scopes in ("read", "submit", "read+submit", "admin")
    }
    revoked, revoked_secret = keys.create(engine, "revoked", ["admin"])
    keys.revoke(engine, revoked.key_id)
    with working(database_url):
        stored = api.post("/v1/solve", json=TILES | {"wait": 30}, headers=bearing(its["admin"])).json()
    method, path = operation.split()
    path = path.replace("{key}", stored["result"]["key"])

    def ask(batch: int, headers: dict[str, str]) -> httpx.Response:
        return api.request(method, path.replace("{batch_id}", str(batch)), headers=headers, **request)

    before = contents(engine)
    strangers = {
        "key_missing": [{}],
        "key_unknown": [
            *map(bearing, (UNKNOWN, revoked_secret, its["admin"][:-1], its["admin"].upper(), "x")),
            {"Authorization": its["admin"]},
            {"Authorization": f"Basic {its['admin']}"},
        ],
    }
    for code, tries in strangers.items():
        for headers in tries:
            answer = ask(1, headers)
            if needs is None:
                assert answer.status_code == 200
            else:
                refused(answer, 401, code)
                assert answer.headers["www-authenticate"].startswith("Bearer")
                assert stored["result"]["key"] not in answer.text
    for scopes, secret in its.items():
        if needs is not None and needs not in scopes and "admin" not in scopes:
            error = refused(ask(1, bearing(secret)), 403, "forbidden")
            assert error["details"] == {"needs": needs}
    assert contents(engine) == before
    for scopes, secret in its.items():
        if needs is None or needs in scopes or "admin" in scopes:
            key_id = next(key.key_id for key in keys.list_keys(engine) if secret.startswith(key.prefix))
            with engine.begin() as connection:
                connection.execute(text("UPDATE batch SET key_id = :key WHERE id = 1"), {"key": key_id})
            assert ask(1, bearing(secret)).status_code in (200, 202)


def test_a_key_sees_and_cancels_its_own_batches_only(api: httpx.Client, engine: Engine) -> None:
    mine, other, admin = (
        bearing(keys.create(engine, name, [*scopes])[1])  # type: ignore[list-item]
        for name, scopes in (("mine", ("read", "submit")), ("other", ("read", "submit")), ("admin", ("admin",)))
    )
    first = api.post("/v1/batches", json={"levels": [TILES]}, headers=mine).json()["id"]
    second = api.post("/v1/solve", json=RUSH | {"wait": 0}, headers=other).json()["batch"]["id"]
    before = contents(engine)
    for batch, headers in ((first, other), (second, mine)):
        for method, path in (("GET", ""), ("GET", "/results"), ("GET", "/results?format=ndjson"), ("DELETE", "")):
            error = refused(api.request(method, f"/v1/batches/{batch}{path}", headers=headers), 404, "not_found")
            nothing = refused(api.request(method, f"/v1/batches/99{path}", headers=headers), 404, "not_found")
            assert error["message"].replace(str(batch), "99") == nothing["message"]
    assert contents(engine) == before

    def listed(headers: dict[str, str]) -> list[int]:
        return [batch["id"] for batch in api.get("/v1/batches", headers=headers).json()["batches"]]

    assert (listed(mine), listed(other), listed(admin)) == ([first], [second], [second, first])
    assert api.get("/v1/batches", params={"limit": 1}, headers=mine).json()["next"] is None
    whose = {batch["id"]: batch["key"] for batch in api.get("/v1/batches", headers=admin).json()["batches"]}
    assert whose == {first: "mine", second: "other"}
    assert api.delete(f"/v1/batches/{first}", headers=mine).json()["state"] == "cancelled"
    assert api.delete(f"/v1/batches/{second}", headers=admin).json()["state"] == "cancelled"


def test_a_revoked_key_ends_at_once(api: httpx.Client, engine: Engine) -> None:
    key, secret = keys.create(engine, "designer", ["read"])
    assert api.get("/v1/batches", headers=bearing(secret)).status_code == 200
    keys.revoke(engine, key.key_id)
    refused(api.get("/v1/batches", headers=bearing(secret)), 401, "key_unknown")


def test_nothing_of_a_body_is_read_before_the_key(api: httpx.Client, engine: Engine) -> None:
    _, reader = keys.create(engine, "reader", ["read"])
    for path in ("/v1/batches", "/v1/solve", "/v1/hint"):
        for headers, status, code in (({}, 401, "key_missing"), (bearing(reader), 403, "forbidden")):
            refused(api.post(path, content=b"{", headers=headers | {"Content-Type": "application/json"}), status, code)


def test_no_route_is_open_by_mistake() -> None:
    with pytest.raises(TypeError, match="READ or SUBMIT"):
        GuardedRoute("/v1/new", lambda: None)
    schema = create_app(Settings()).openapi()
    assert schema["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    for operation, (needs, _) in REQUESTS.items():
        method, path = operation.split()
        described = schema["paths"][path][method.lower()]
        assert described.get("security", []) == ([{"key": [needs]}] if needs else []), operation
        assert {"401", "403", "429"} <= described["responses"].keys() or needs is None, operation


def test_levels_of_a_batch_are_limited_by_key(api: httpx.Client, engine: Engine) -> None:
    _, secret = keys.create(engine, "small", ["submit"], batch_levels=2)
    headers = bearing(secret)
    error = refused(api.post("/v1/batches", json={"levels": 3 * [TILES]}, headers=headers), 413, "too_many_levels")
    assert error["details"] == {"limit": 2}
    assert api.post("/v1/batches", json={"levels": 2 * [TILES]}, headers=headers).status_code == 202


def test_requests_are_limited_by_key(api: httpx.Client, engine: Engine) -> None:
    slow, fast, free = (
        bearing(keys.create(engine, str(limit), ["submit"], requests_per_minute=limit)[1])
        for limit in (2, 60_000, None)
    )
    for left in (1, 0):
        answer = api.post("/v1/hint", json=TILES, headers=slow)
        assert answer.status_code == 200
        assert (answer.headers["ratelimit-limit"], answer.headers["ratelimit-remaining"]) == ("2", str(left))
        assert 0 < int(answer.headers["ratelimit-reset"]) <= 60
    over = api.post("/v1/batches", json={"levels": [TILES]}, headers=slow)
    refused(over, 429, "rate_limited")
    assert 0 < int(over.headers["retry-after"]) <= 30
    assert over.headers["ratelimit-remaining"] == "0"
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM batch")).scalar_one() == 0
    assert api.post("/v1/hint", json=TILES, headers=fast).headers["ratelimit-limit"] == "60000"
    assert "ratelimit-limit" not in api.post("/v1/hint", json=TILES, headers=free).headers
    missing = refused(api.get("/v1/batches/1", headers=fast), 403, "forbidden")
    assert missing["details"] == {"needs": "read"}
