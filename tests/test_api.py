"""The HTTP API: a real server over a real Postgres, with a worker that solves what comes in."""

import json
from typing import Any

import httpx
import pytest

from tests.serving import HARD, RUSH, TILES, refused, serving, wait_until_done, working
from unjam.settings import Settings


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
    progress = {name: value for name, value in status.items() if name in newest["batches"][0]}
    assert (newest["batches"], newest["next"]) == ([progress], None)
    assert {"id", "state", "levels", "done"} < progress.keys()


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
