"""The HTTP API: a real server over a real Postgres, with a worker that solves what comes in."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from test_docs import DOCS, blocks

from api.app import create_app
from unjam.settings import Settings
from unjam.store.database import open_engine
from unjam.work import work

TILES = {"family": "tiles", "board": "1 2 3/4 0 6/7 5 8"}
RUSH = {"family": "rush", "board": "ooooooooooooAAoooBoooooBoooooooooooo"}
HARD = {"family": "tiles", "board": "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3", "goal": "blank-first"}
BODY_LIMIT = 100_000
LEVEL_LIMIT = 50


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(create_app(settings), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            thread.join(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def working(database_url: str) -> Iterator[None]:
    """A worker without Celery: it takes what is next."""
    stop = threading.Event()
    engine = open_engine(database_url)

    def run() -> None:
        while not stop.is_set():
            if work(engine, None, worker="test", cancelled=stop.is_set) is None:
                stop.wait(0.02)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        engine.dispose()


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    return Settings(
        database_url=database_url,
        redis_url=None,
        home=tmp_path,
        max_body_bytes=BODY_LIMIT,
        max_batch_levels=LEVEL_LIMIT,
    )


@pytest.fixture
def idle_api(settings: Settings) -> Iterator[httpx.Client]:
    """The API without any worker."""
    with serving(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.fixture
def api(idle_api: httpx.Client, database_url: str) -> Iterator[httpx.Client]:
    with working(database_url):
        yield idle_api


def wait_until_done(api: httpx.Client, batch: int) -> dict[str, Any]:
    for _ in range(600):
        status: dict[str, Any] = api.get(f"/v1/batches/{batch}").json()
        if status["state"] != "running":
            return status
        threading.Event().wait(0.05)
    raise AssertionError(f"not done: {status}")


def refused(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The error, in the one shape."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body.keys() == {"error"}
    assert body["error"].keys() == {"code", "message", "details", "request_id"}
    assert body["error"]["request_id"] == answer.headers["x-request-id"]
    assert body["error"]["code"] == code
    assert "Traceback" not in answer.text
    error: dict[str, Any] = body["error"]
    return error


def test_a_batch_from_order_to_results(api: httpx.Client) -> None:
    order = {"name": "mixed", "levels": [TILES, RUSH | {"known": {"slide": 5}}, {"family": "rush"}, TILES]}
    accepted = api.post("/v1/batches", json=order)
    assert accepted.status_code == 202
    batch = accepted.json()["id"]
    assert accepted.headers["location"] == f"/v1/batches/{batch}"
    status = wait_until_done(api, batch)
    assert (status["levels"], status["done"], status["bad"]) == (4, 4, 1)
    assert status["outcomes"] == {"optimal": 3}
    first, second, bad, fourth = api.get(f"/v1/batches/{batch}/results").json()["results"]
    assert (first["index"], first["outcome"], first["length"], first["moves"]) == (0, "optimal", 2, ["5", "8"])
    assert (second["length"], second["known"], second["known_ok"]) == (2, {"slide": 5}, False)
    assert bad.keys() == {"index", "name", "line", "error"}
    assert fourth | {"index": 0} == first
    newest = api.get("/v1/batches").json()
    assert (newest["batches"], newest["next"]) == ([status], None)


def test_pages_and_streams_have_the_same_rows(api: httpx.Client) -> None:
    batch = api.post("/v1/batches", json={"levels": [TILES, RUSH, {}, RUSH, TILES]}).json()["id"]
    wait_until_done(api, batch)
    results = f"/v1/batches/{batch}/results"
    rows: list[dict[str, Any]] = []
    after = -1
    while after is not None:
        page = api.get(results, params={"after": after, "limit": 2}).json()
        assert len(page["results"]) <= 2
        rows += page["results"]
        after = page["next"]
    assert [row["index"] for row in rows] == [0, 1, 2, 3, 4]
    for streamed in (
        api.get(results, params={"format": "ndjson"}),
        api.get(results, headers={"Accept": "application/x-ndjson"}),
    ):
        assert streamed.headers["content-type"] == "application/x-ndjson"
        assert [json.loads(line) for line in streamed.text.splitlines()] == rows
    part = api.get(results, params={"format": "ndjson", "after": 1, "limit": 2})
    assert [json.loads(line)["index"] for line in part.text.splitlines()] == [2, 3]
    assert api.get(results, params={"after": 10}).json() == {"results": [], "next": None}


@pytest.mark.parametrize(
    ("media", "body", "query"),
    [
        ("application/x-ndjson", json.dumps(TILES), {}),
        ("application/jsonl; charset=utf-8", json.dumps(TILES) + "\n", {"metric": "step", "seconds": "5"}),
        ("text/csv", "family,board\ntiles,1 2 3/4 0 6/7 5 8\n", {"name": "csv", "nodes": "1000000"}),
        ("text/plain", "1 2 3\n4 0 6\n7 5 8\n", {"family": "tiles", "format": "text"}),
        ("text/plain", "1 2 3/4 0 6/7 5 8\n", {"family": "tiles", "algorithm": "bfs"}),
    ],
)
def test_packs_come_in_every_format(api: httpx.Client, media: str, body: str, query: dict[str, str]) -> None:
    accepted = api.post("/v1/batches", content=body, headers={"Content-Type": media}, params=query)
    assert accepted.status_code == 202, accepted.text
    batch = accepted.json()["id"]
    assert accepted.json()["name"] == query.get("name")
    wait_until_done(api, batch)
    (row,) = api.get(f"/v1/batches/{batch}/results").json()["results"]
    assert (row["outcome"], row["length"]) == ("optimal", 2)


def test_a_batch_can_be_cancelled(idle_api: httpx.Client) -> None:
    batch = idle_api.post("/v1/batches", json={"levels": [TILES, RUSH]}).json()["id"]
    assert idle_api.delete(f"/v1/batches/{batch}").json()["state"] == "cancelled"
    assert idle_api.delete(f"/v1/batches/{batch}").json()["state"] == "cancelled"
    rows = idle_api.get(f"/v1/batches/{batch}/results").json()["results"]
    assert [row["outcome"] for row in rows] == [None, None]


def test_a_batch_that_is_done_stays_done(api: httpx.Client) -> None:
    batch = api.post("/v1/batches", json={"levels": [TILES]}).json()["id"]
    wait_until_done(api, batch)
    assert api.delete(f"/v1/batches/{batch}").json()["state"] == "done"


def test_solve_waits_for_the_answer(api: httpx.Client) -> None:
    solved = api.post("/v1/solve", json=RUSH | {"known": {"slide": 2}, "wait": 30})
    assert solved.status_code == 200
    assert solved.json()["batch"]["state"] == "done"
    result = solved.json()["result"]
    assert (result["outcome"], result["length"], result["metric"], result["known_ok"]) == ("optimal", 2, "slide", True)
    again = api.post("/v1/solve", json=RUSH | {"wait": 0})
    assert again.status_code == 200
    assert again.json()["result"]["moves"] == result["moves"]


def test_solve_refuses_a_search_that_does_not_fit(api: httpx.Client) -> None:
    refused = api.post("/v1/solve", json=RUSH | {"heuristic": "manhattan"})
    assert refused.status_code == 422
    assert refused.json()["error"]["code"] == "unfit_search"


def test_solve_gives_up_waiting_but_not_the_work(idle_api: httpx.Client, database_url: str) -> None:
    late = idle_api.post("/v1/solve", json=TILES | {"wait": 0.1})
    assert late.status_code == 202
    assert late.json()["result"] is None
    with working(database_url):
        batch = idle_api.get(late.headers["location"]).json()["id"]
        assert wait_until_done(idle_api, batch)["outcomes"] == {"optimal": 1}


def test_a_budget_is_kept(api: httpx.Client) -> None:
    result = api.post("/v1/solve", json=HARD | {"budget": {"nodes": 1000}, "wait": 30}).json()["result"]
    assert result["outcome"] == "bounded"
    assert result["length"] is None
    assert 0 < result["lower"] <= 57


def test_lookup_finds_other_orientations_and_reports_bad_entries(api: httpx.Client) -> None:
    api.post("/v1/solve", json=RUSH | {"wait": 30})
    rows = ("oooooo", "oooooo", "AAoooB", "oooooB", "oooooo", "oooooo")
    mirrored = {"family": "rush", "board": "/".join(row[::-1] for row in rows), "exit": "left"}
    unknown = {"family": "tiles", "board": "1 2/3 0"}
    order = {"puzzles": [RUSH, mirrored, unknown, {"family": "rush", "board": "x"}, RUSH | {"metric": "step"}]}
    found = api.post("/v1/lookup", json=order)
    assert found.status_code == 200, found.text
    first, second, third, bad, other_metric = found.json()["results"]
    assert first["key"] == second["key"]
    assert first["answers"][0]["length"] == second["answers"][0]["length"] == 2
    assert [move.replace("R", "L") for move in first["answers"][0]["moves"]][-1] == second["answers"][0]["moves"][-1]
    assert third["answers"] == []
    assert bad["error"]
    assert bad["index"] == 3
    assert other_metric["answers"] == []
    puzzle = api.get(f"/v1/puzzles/{first['key']}")
    assert puzzle.status_code == 200
    assert puzzle.json()["family"] == "rush"
    assert puzzle.json()["answers"][0]["length"] == 2


def test_levels_are_found_by_their_optimum_page_by_page(api: httpx.Client) -> None:
    boards = [
        "ooooooooooooAAoooBoooooBoooooooooooo",
        "ooooooooooooAAoooooooooooooooooooooo",
        "ooooooooooooAAoCoBoooCoBoooooooooooo",
    ]
    levels = [{"family": "rush", "board": board} for board in boards]
    wait_until_done(api, api.post("/v1/batches", json={"levels": [*levels, TILES]}).json()["id"])
    question: dict[str, Any] = {"family": "rush", "min": 2, "max": 9}
    whole = api.get("/v1/puzzles", params=question).json()
    assert [2 <= level["known"]["slide"] <= 9 for level in whole["levels"]] == [True, True]
    assert whole["next"] is None
    first = api.get("/v1/puzzles", params=question | {"limit": 1}).json()
    second = api.get("/v1/puzzles", params=question | {"limit": 1, "after": first["next"]}).json()
    assert first["levels"] + second["levels"] == whole["levels"]
    seeded = api.get("/v1/puzzles", params=question | {"seed": 5}).json()
    assert sorted(map(str, seeded["levels"])) == sorted(map(str, whole["levels"]))
    assert len(api.get("/v1/puzzles", params=question | {"size": "6x6", "pieces": 3}).json()["levels"]) == 1
    assert api.get("/v1/puzzles", params=question | {"size": "5x6"}).json() == {"levels": [], "next": None}
    # what is found can be ordered as it is, and is known
    batch = api.post("/v1/batches", json={"levels": whole["levels"]}).json()
    assert (batch["done"], batch["bad"], batch["outcomes"]) == (2, 0, {"optimal": 2})
    refused(api.get("/v1/puzzles", params=question | {"metric": "path"}), 422, "unknown_metric")
    for wrong in (
        {"min": 10},
        {"family": "chess"},
        {"after": "7"},
        {"after": "0-1", "seed": 1},
        {"size": "6"},
        {"limit": 0},
    ):
        refused(api.get("/v1/puzzles", params=question | wrong), 422, "invalid_request")


def test_unknown_things_are_not_found(idle_api: httpx.Client) -> None:
    refused(idle_api.get("/v1/batches/999999"), 404, "not_found")
    refused(idle_api.get("/v1/batches/999999/results"), 404, "not_found")
    refused(idle_api.get("/v1/batches/999999/results?format=ndjson"), 404, "not_found")
    refused(idle_api.delete("/v1/batches/999999"), 404, "not_found")
    refused(idle_api.get("/v1/puzzles/" + 32 * "0"), 404, "not_found")
    refused(idle_api.get("/v2"), 404, "not_found")
    refused(idle_api.put("/v1/batches"), 405, "method_not_allowed")


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


def test_health_readiness_and_metrics(idle_api: httpx.Client) -> None:
    assert idle_api.get("/healthz").json()["status"] == "ok"
    assert idle_api.get("/readyz").json() == {"status": "ready", "checks": {"postgres": "ok"}}
    idle_api.get("/v1/batches/1")
    metrics = idle_api.get("/metrics").text
    assert 'route="/v1/batches/{batch_id}",status="404"' in metrics


def test_not_ready_without_redis(settings: Settings) -> None:
    away = settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})
    with serving(away) as url, httpx.Client(base_url=url) as client:
        error = refused(client.get("/readyz"), 503, "not_ready")
        assert error["details"] == {"postgres": "ok", "redis": "unavailable"}
        assert client.get("/healthz").status_code == 200
        assert client.post("/v1/batches", json={"levels": [TILES]}, timeout=60).status_code == 202


def test_the_openapi_description_is_complete(idle_api: httpx.Client) -> None:
    description = idle_api.get("/openapi.json").json()
    text = json.dumps(description)
    components = description["components"]["schemas"]
    for reference in set(json.loads(f"[{','.join(_references(text))}]")):
        assert reference.rpartition("/")[2] in components, reference
    assert "HTTPValidationError" not in components
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], f"{method} {path}"
            for status, answer in operation["responses"].items():
                if status >= "4":
                    schema = answer["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/ErrorBody"}, f"{method} {path} {status}"


def _references(text: str) -> Iterator[str]:
    for part in text.split('"$ref": ')[1:]:
        yield part[: part.index('"', 1) + 1]


def test_the_examples_of_the_documentation(api: httpx.Client) -> None:
    messages = [content for _, content in blocks((DOCS / "api.md").read_text(), "http")]
    answer: httpx.Response | None = None
    for message in messages:
        head, _, body = message.partition("\n\n")
        start, *headers = head.splitlines()
        if not start.startswith("HTTP/"):
            method, target = start.split()
            fields = dict(line.split(": ", 1) for line in headers)
            if target.startswith("/v1/batches/1"):
                wait_until_done(api, 1)
            answer = api.request(method, target, headers=fields, content=body or None)
            continue
        assert answer is not None
        assert answer.status_code == int(start.split()[1]), answer.text
        for name, value in (line.split(": ", 1) for line in headers):
            assert answer.headers[name] == value
        _shows(json.loads(body), answer.json(), start)


VARY = ("created", "finished", "seconds", "key", "message", "error", "state", "done", "outcomes")


def _shows(documented: Any, real: Any, where: str) -> None:
    """The documented answer shows fields that are there, with their values but where these vary."""
    if isinstance(documented, dict) and isinstance(real, dict):
        for name, value in documented.items():
            assert name in real, f"{where}: no {name}"
            if name not in VARY or isinstance(value, dict):
                _shows(value, real[name], f"{where}.{name}")
    elif isinstance(documented, list) and isinstance(real, list):
        assert len(documented) <= len(real), where
        for number, (one, other) in enumerate(zip(documented, real, strict=False)):
            _shows(one, other, f"{where}[{number}]")
    else:
        assert documented == real, where
