"""What the HTTP API refuses: each with its place and code, and before it costs much."""

import json
from typing import Any

import httpx
import pytest

from tests.serving import BODY_LIMIT, LEVEL_LIMIT, TILES, refused, serving, wait_until_done
from unjam.settings import Settings


def test_unknown_things_are_not_found(idle_api: httpx.Client) -> None:
    refused(idle_api.get("/v1/batches/999999"), 404, "not_found")
    refused(idle_api.get("/v1/batches/999999/results"), 404, "not_found")
    refused(idle_api.get("/v1/batches/999999/results?format=ndjson"), 404, "not_found")
    refused(idle_api.delete("/v1/batches/999999"), 404, "not_found")
    refused(idle_api.get("/v1/puzzles/" + 32 * "0"), 404, "not_found")
    refused(idle_api.get("/v2"), 404, "not_found")
    wrong = idle_api.put("/v1/batches")
    refused(wrong, 405, "method_not_allowed")
    assert wrong.headers["allow"] == "POST, GET"


@pytest.mark.parametrize(
    ("path", "order", "code", "message"),
    [
        ("/v1/batches", {}, "invalid_request", "levels"),
        ("/v1/batches", {"levels": []}, "invalid_request", "levels"),
        ("/v1/batches", {"levels": [TILES], "metrik": "step"}, "invalid_request", "metrik"),
        ("/v1/batches", {"levels": [TILES], "metric": "jump"}, "invalid_request", "metric"),
        ("/v1/batches", {"levels": [TILES], "budget": {"seconds": 0}}, "invalid_request", "seconds"),
        ("/v1/batches", {"levels": [TILES], "budget": {"nodes": 2**70}}, "invalid_request", "nodes"),
        ("/v1/batches", {"levels": [TILES], "name": "a\0b"}, "invalid_request", "name"),
        ("/v1/batches", {"levels": [TILES], "name": "\x1b[31mred"}, "invalid_request", "name"),
        ("/v1/batches", {"levels": [TILES], "budget": {"nodes": "5"}}, "invalid_request", "nodes"),
        ("/v1/batches", {"levels": [TILES], "distributed": 1}, "invalid_request", "distributed"),
        ("/v1/solve", TILES | {"board": [[1, 2], [3, True]]}, "invalid_request", "board"),
        ("/v1/solve", TILES | {"known": {"step": "2"}}, "invalid_request", "known"),
        ("/v1/solve", TILES | {"budget": {"seconds": "5"}}, "invalid_request", "seconds"),
        ("/v1/solve", {"family": "chess", "board": "x"}, "invalid_request", "family"),
        ("/v1/solve", {"family": "rush"}, "invalid_request", "board"),
        ("/v1/solve", TILES | {"wait": 1e9}, "invalid_request", "wait"),
        ("/v1/solve", TILES | {"gaol": "blank-first"}, "invalid_request", "gaol"),
        ("/v1/solve", TILES | {"exit": "right"}, "parse_error", "exit"),
        ("/v1/solve", TILES | {"metric": "path"}, "unknown_metric", "path"),
        ("/v1/solve", {"family": "rush", "board": ["AA..", "..B."]}, "parse_error", "row 2, column 3"),
        ("/v1/solve", {"family": "rush", "board": ["AA\0."]}, "parse_error", "column 3"),
        ("/v1/solve", {"family": "klotski", "board": 40 * ["." * 40], "goal": "A"}, "parse_error", "128"),
        ("/v1/lookup", {"puzzles": 10_001 * [{}]}, "invalid_request", "puzzles"),
    ],
)
def test_bad_orders_are_refused_with_their_place(
    idle_api: httpx.Client, path: str, order: dict[str, Any], code: str, message: str
) -> None:
    error = refused(idle_api.post(path, json=order), 422, code)
    assert message in error["message"]
    assert idle_api.get("/v1/batches").json()["batches"] == []


def test_an_error_of_the_board_has_row_and_column(idle_api: httpx.Client) -> None:
    error = refused(idle_api.post("/v1/solve", json={"family": "rush", "board": ["AA..", "..B."]}), 422, "parse_error")
    assert (error["details"]["row"], error["details"]["column"]) == (2, 3)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b'{"levels": ' + 2000 * b"[", b'{"levels": "\\ud800"}', b"[1]"]
)
def test_broken_json_is_refused(idle_api: httpx.Client, body: bytes) -> None:
    for path in ("/v1/batches", "/v1/solve", "/v1/lookup"):
        answer = idle_api.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422), answer.text
        refused(answer, answer.status_code, answer.json()["error"]["code"])


def test_unreadable_packs_are_refused(idle_api: httpx.Client) -> None:
    def post(body: bytes, media: str = "application/x-ndjson", **query: str) -> httpx.Response:
        return idle_api.post("/v1/batches", content=body, headers={"Content-Type": media}, params=query)

    refused(post(b""), 422, "unreadable_pack")
    refused(post(b"\x1f\x8b\x08", "text/plain"), 422, "unreadable_pack")
    refused(post(b"nothing,here\n1,2\n", "text/csv"), 422, "unreadable_pack")
    refused(post(b"x", "application/zip"), 415, "unsupported_media_type")
    refused(post(b"x", ""), 415, "unsupported_media_type")
    refused(post(b"x", "text/plain", format="xml"), 422, "invalid_request")
    refused(post(b"x", "text/plain", unknown="1"), 422, "invalid_request")
    refused(post(json.dumps({"levels": [TILES]}).encode(), "application/json", metric="step"), 422, "invalid_request")
    assert idle_api.get("/v1/batches").json()["batches"] == []


def test_a_pack_with_bad_lines_is_accepted(api: httpx.Client) -> None:
    body = b'{"family": "tiles", "board": "1 2 3/4 0 6/7 5 8"}\nno json\n\x00\n\xff\n[]\n{"family": "rush"}\n'
    batch = api.post("/v1/batches", content=body, headers={"Content-Type": "application/x-ndjson"}).json()["id"]
    assert wait_until_done(api, batch)["bad"] == 5
    rows = api.get(f"/v1/batches/{batch}/results").json()["results"]
    assert [row.get("line") for row in rows] == [None, 2, 3, 4, 5, 6]
    assert all(row["error"] for row in rows[1:])


def test_bodies_are_bounded_before_they_are_parsed(idle_api: httpx.Client) -> None:
    large = b'{"levels": ["' + BODY_LIMIT * b"x" + b'"]}'
    targets = (("/v1/batches", "application/json"), ("/v1/batches", "text/plain"), ("/v1/solve", "application/json"))
    for path, media in targets:
        headers = {"Content-Type": media}
        error = refused(idle_api.post(path, content=large, headers=headers), 413, "body_too_large")
        assert error["details"] == {"limit": BODY_LIMIT}
        pieces = (large[at : at + 1000] for at in range(0, len(large), 1000))  # no Content-Length
        refused(idle_api.post(path, content=pieces, headers=headers), 413, "body_too_large")


@pytest.mark.parametrize("path", ["/v1/batches", "/v1/solve", "/v1/hint", "/v1/lookup"])
def test_json_is_bounded_more_than_packs_are(settings: Settings, path: str) -> None:
    """For it becomes objects in memory all at once, while packs are read level by level."""
    wide = settings.model_copy(update={"max_body_bytes": 10**9, "max_batch_levels": 10**9})
    one_level = path in ("/v1/solve", "/v1/hint")
    long = b'{"levels": ["' + (2**20 if one_level else 16 * 2**20) * b"x" + b'"]}'
    with serving(wide) as url, httpx.Client(base_url=url, timeout=60) as client:

        def post(body: bytes, media: str = "application/json") -> httpx.Response:
            return client.post(path, content=body, headers={"Content-Type": media})

        for media in ("application/json", "application/zip", ""):
            refused(post(long, media), 413, "body_too_large")
        if not one_level:
            many = b'{"levels": [' + 999_999 * b"[]," + b"[]]}"
            refused(post(many), 413, "body_too_large")
        if path == "/v1/batches":
            assert post(long, "text/plain").json()["bad"] == 1


@pytest.mark.parametrize("depth", [100, 1000, 100_000])
def test_deep_json_is_refused(idle_api: httpx.Client, depth: int) -> None:
    deep = depth * "[" + depth * "]"
    for path, body in (
        ("/v1/solve", f'{{"family": "tiles", "board": {deep}}}'),
        ("/v1/hint", f'{{"family": "klotski", "board": ".", "goal": {deep}}}'),
        ("/v1/lookup", f'{{"puzzles": {deep}}}'),
        ("/v1/batches", f'{{"levels": {deep}}}'),
        ("/v1/batches", f'{{"levels": [{{}}], "budget": {deep}}}'),
    ):
        answer = idle_api.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 413, 422), (path, answer.text)
        refused(answer, answer.status_code, answer.json()["error"]["code"])
    levels = f'{{"levels": [{{"family": "tiles", "board": {deep}, "known": {deep}, "x": {deep}}}]}}'
    answer = idle_api.post("/v1/batches", content=levels, headers={"Content-Type": "application/json"})
    if depth == 100:  # a bad level like others
        assert answer.json()["bad"] == 1
    else:
        assert answer.status_code in (413, 422)


def test_memory_of_a_search_is_bounded(idle_api: httpx.Client) -> None:
    most = Settings().max_budget_bytes
    large = {"bytes": most + 1}
    for path, order in (("/v1/solve", TILES), ("/v1/batches", {"levels": [TILES]})):
        error = refused(idle_api.post(path, json={**order, "budget": large}), 422, "budget_too_large")
        assert error["details"] == {**large, "most_bytes": most}
    pack = {"content": "1 2 3/4 0 6/7 5 8\n", "headers": {"Content-Type": "text/plain"}}
    refused(idle_api.post("/v1/batches", params={"family": "tiles", **large}, **pack), 422, "budget_too_large")
    assert idle_api.get("/v1/batches").json()["batches"] == []


def test_levels_are_bounded(idle_api: httpx.Client) -> None:
    order = {"levels": (LEVEL_LIMIT + 1) * [TILES]}
    refused(idle_api.post("/v1/batches", json=order), 413, "too_many_levels")
    lines = (LEVEL_LIMIT + 1) * "1 2 3/4 0 6/7 5 8\n"
    query = {"family": "tiles"}
    refused(
        idle_api.post("/v1/batches", content=lines, headers={"Content-Type": "text/plain"}, params=query),
        413,
        "too_many_levels",
    )
    assert idle_api.get("/v1/batches").json()["batches"] == []
