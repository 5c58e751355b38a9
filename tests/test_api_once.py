"""Idempotency-Key and X-Request-ID over HTTP."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, make_url, text

from tests.serving import RUSH, TILES, refused, serving
from tests.tcp_proxy import cutting_proxy
from tests.waiting import wait_until
from unjam.settings import Settings
from unjam.store import keys

ORDER = {"levels": [TILES, RUSH]}


def batches(engine: Engine) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT count(*) FROM batch")).scalar_one())


def post(api: httpx.Client, name: str, order: Any = ORDER, **headers: str) -> httpx.Response:
    return api.post("/v1/batches", json=order, headers={"Idempotency-Key": name, **headers})


def test_the_same_order_is_the_same_batch(idle_api: httpx.Client, engine: Engine) -> None:
    first, again = post(idle_api, "a"), post(idle_api, "a")
    assert (first.status_code, again.status_code) == (202, 202)
    assert again.json() == first.json()
    assert again.headers["location"] == first.headers["location"]
    idle_api.delete(first.headers["location"])
    assert post(idle_api, "a").json()["state"] == "cancelled"
    assert post(idle_api, "b").json()["id"] != first.json()["id"]
    assert batches(engine) == 2


def test_another_order_under_a_name_is_refused(idle_api: httpx.Client, engine: Engine) -> None:
    def pack(
        query: str = "family=tiles&seconds=5", media: str = "text/plain", body: str = "1 2/3 0\n"
    ) -> httpx.Response:
        headers = {"Idempotency-Key": "pack", "Content-Type": media}
        return idle_api.post(f"/v1/batches?{query}", content=body, headers=headers)

    assert post(idle_api, "a").status_code == 202
    for other in ({"levels": [TILES]}, ORDER | {"name": "x"}, {"levels": [RUSH, TILES]}):
        refused(post(idle_api, "a", other), 409, "order_conflict")
    assert pack().status_code == 202
    assert pack("seconds=5&family=tiles").json() == pack().json()
    refused(pack("family=tiles&seconds=6"), 409, "order_conflict")
    refused(pack(body="1 2/0 3\n"), 409, "order_conflict")
    refused(pack(media="application/jsonl"), 409, "order_conflict")
    assert batches(engine) == 2


def test_an_order_that_is_refused_leaves_its_name_free(idle_api: httpx.Client, engine: Engine) -> None:
    refused(post(idle_api, "a", {"levels": []}), 422, "invalid_request")
    refused(post(idle_api, "a", {"levels": 51 * [TILES]}), 413, "too_many_levels")
    assert batches(engine) == 0
    assert post(idle_api, "a").status_code == 202


def test_many_at_once_are_one_batch(idle_api: httpx.Client, engine: Engine) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(lambda _: post(idle_api, "a"), range(16))]
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert batches(engine) == 1


def test_an_order_whose_commit_got_no_answer(settings: Settings, engine: Engine, database_url: str) -> None:
    at = make_url(database_url)
    with cutting_proxy(f"{at.query['host']}/.s.PGSQL.{at.query['port']}", b"INSERT INTO batch ") as proxy:
        through = at.set(host="127.0.0.1", port=proxy.port, query={}).render_as_string(hide_password=False)
        with (
            serving(settings.model_copy(update={"database_url": through})) as url,
            httpx.Client(base_url=url, timeout=60) as api,
        ):
            refused(post(api, "a"), 503, "store_unavailable")
            assert proxy.cut == 1
            assert batches(engine) == 1
            again = post(api, "a")
            assert again.status_code == 202
            assert (again.json()["id"], again.json()["levels"]) == (1, 2)
            assert batches(engine) == 1


def test_names_belong_to_their_keys(settings: Settings, engine: Engine) -> None:
    one, two = (keys.create(engine, name, ["submit"])[1] for name in ("one", "two"))
    with serving(settings) as url, httpx.Client(base_url=url, timeout=60) as api:
        answers = [post(api, "a", Authorization=f"Bearer {secret}") for secret in (one, two, one)]
        answers.append(post(api, "a"))
    ids = [answer.json()["id"] for answer in answers]
    assert ids[2] == ids[0]
    assert len(set(ids)) == 3


def test_orders_of_a_key_wait_for_each_other_but_not_those_of_others(settings: Settings, engine: Engine) -> None:
    (one, busy), (_, other) = (keys.create(engine, name, ["submit"]) for name in ("one", "two"))
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    with serving(settings) as url, httpx.Client(base_url=url, timeout=60) as api, ThreadPoolExecutor(3) as pool:
        with engine.begin() as connection:
            lock = "SELECT pg_advisory_xact_lock(hashtextextended(:order, 0))"
            connection.execute(text(lock), {"order": f"order {one.key_id} a"})
            named = [pool.submit(post, api, "a", Authorization=f"Bearer {busy}") for _ in range(2)]
            wait_until(lambda: connection.execute(text(waiting)).scalar_one() == 2)
            third = pool.submit(post, api, "b", Authorization=f"Bearer {busy}")
            assert post(api, "b", Authorization=f"Bearer {other}").status_code == 202
            assert api.get("/readyz").status_code == 200
            assert not third.done()
            assert batches(engine) == 1
        assert {each.result().status_code for each in (*named, third)} == {202}
    assert batches(engine) == 3


@pytest.mark.parametrize("name", ["", "a b", "\u00e9", 201 * "a"])
def test_names_that_are_none(idle_api: httpx.Client, engine: Engine, name: str) -> None:
    headers = {"Idempotency-Key": name.encode(), "Content-Type": "application/json"}
    error = refused(
        idle_api.post("/v1/batches", content=json.dumps(ORDER), headers=headers),  # type: ignore[arg-type]
        422,
        "invalid_request",
    )
    assert "idempotency-key" in error["message"]
    assert batches(engine) == 0


def test_each_answer_has_a_name(idle_api: httpx.Client) -> None:
    made = {idle_api.get(path).headers["x-request-id"] for path in ("/healthz", "/v1/batches", "/v2", "/v1/batches/7")}
    assert len(made) == 4
    for given in ("a", "2f1c-9:x/y+z=", 100 * "x"):
        answer = idle_api.get("/v1/batches/7", headers={"X-Request-ID": given})
        assert refused(answer, 404, "not_found")["request_id"] == given
    for given in ("a b", 'a"b', "a;b", 101 * "x", "<script>"):
        answer = idle_api.get("/v1/batches/7", headers={"X-Request-ID": given})
        assert refused(answer, 404, "not_found")["request_id"] not in given
        assert given not in answer.headers["x-request-id"]
    large = idle_api.post("/v1/batches", content=200_000 * b"x", headers={"X-Request-ID": "large"})
    assert refused(large, 413, "body_too_large")["request_id"] == "large"
