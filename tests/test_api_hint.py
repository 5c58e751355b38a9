"""POST /v1/hint: a real server that searches beside answering others, within its limits."""

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.serving import BODY_LIMIT, HARD, RUSH, TILES, refused, serving, working
from unjam.settings import Settings

LOT = {"family": "parkout", "board": "aA./..B/..b", "gates": [{"edge": "right:0", "opens": 1}]}
# 35 pieces, each with a place of its own: nobody solves this
HOPELESS = {
    "family": "klotski",
    "board": "ABCDEF/GHIJKL/MNOPQR/STUVWX/YZabcd/efghi.",
    "goal": ".ihgfe/dcbaZY/XWVUTS/RQPONM/LKJIHG/FEDCBA",
}


@pytest.fixture
def url(database_url: str, tmp_path: Path) -> Iterator[str]:
    settings = Settings(
        database_url=database_url, redis_url=None, home=tmp_path, max_body_bytes=BODY_LIMIT, max_hints=1
    )
    with serving(settings) as url:
        yield url


@pytest.fixture
def api(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=60) as client:
        yield client


def told(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    hint: dict[str, Any] = answer.json()
    return hint


def test_hints(api: httpx.Client) -> None:
    hint = told(api.post("/v1/hint", json=TILES))
    assert (hint["outcome"], hint["moves_left"], hint["metric"], hint["source"]) == ("optimal", 2, "step", "search")
    assert hint["moves"] == [{"move": "5", "cell": 7, "to": 4}]
    assert told(api.post("/v1/hint", json=LOT))["moves"] == [{"move": "b:U*", "cell": 5, "to": None}]
    assert told(api.post("/v1/hint", json=RUSH | {"metric": "step"}))["moves_left"] == 5
    alone = {"family": "parkout", "board": "aA./.../...", "gates": LOT["gates"], "left": 1}
    assert told(api.post("/v1/hint", json=alone))["moves"] == [{"move": "a:R*", "cell": 0, "to": None}]
    on_gate = {"family": "klotski", "board": "B./A-/..", "goal": "../../A.", "gates": "../-./.."}
    assert told(api.post("/v1/hint", json=on_gate))["moves"] == [{"move": "A:D1", "cell": 2, "to": 4}]
    goal = told(api.post("/v1/hint", json=TILES | {"board": "1 2 3/4 5 6/7 8 0"}))
    assert (goal["outcome"], goal["moves_left"], goal["moves"], goal["source"]) == ("optimal", 0, [], "rules")
    dead = told(api.post("/v1/hint", json=LOT | {"gates": [], "closed": ["right:0"]}))
    assert (dead["outcome"], dead["moves_left"], dead["lower"], dead["moves"]) == ("unsolvable", None, None, [])
    assert "right:0" in dead["reason"]
    late = told(api.post("/v1/hint", json=HARD | {"budget": {"nodes": 1000}}))
    assert (late["outcome"], late["moves_left"], late["moves"]) == ("bounded", None, [])
    assert late["lower"] < 57 <= late["upper"]
    assert late["unproven"]["move"] in ("6", "2", "12", "8")


def test_what_is_stored_is_told_without_a_search(api: httpx.Client, database_url: str) -> None:
    with working(database_url):
        assert api.post("/v1/solve", json=RUSH | {"wait": 30}).status_code == 200
    hint = told(api.post("/v1/hint", json=RUSH))
    assert (hint["source"], hint["moves_left"]) == ("store", 2)


@pytest.mark.parametrize(
    ("order", "code", "message"),
    [
        (TILES | {"metric": "path"}, "unknown_metric", "path"),
        (TILES | {"exit": "right"}, "parse_error", "exit"),
        (TILES | {"budget": {"seconds": 61}}, "invalid_request", "seconds"),
        (TILES | {"budget": {"seconds": None}}, "invalid_request", "seconds"),
        (TILES | {"budget": {"bytes": None}}, "invalid_request", "bytes"),
        (TILES | {"budget": {"bytes": 10**15}}, "budget_too_large", "bytes"),
        (TILES | {"wait": 1}, "invalid_request", "wait"),
        *((LOT | {"left": left}, "invalid_request", "left") for left in (True, "1", 1.0, -1)),
        ({"family": "rush", "board": ["AA..", "..B."]}, "parse_error", "row 2, column 3"),
    ],
)
def test_bad_orders_are_refused(api: httpx.Client, order: dict[str, Any], code: str, message: str) -> None:
    assert message in refused(api.post("/v1/hint", json=order), 422, code)["message"]


def ask(url: str, order: dict[str, Any], timeout: float, answers: list[httpx.Response]) -> None:
    """Until it is not the one that is refused."""
    with suppress(httpx.ReadTimeout):
        while (answer := httpx.post(f"{url}/v1/hint", json=order, timeout=timeout)).status_code == 503:
            pass
        answers.append(answer)


def when_busy(api: httpx.Client) -> httpx.Response:
    """The answer to one search more than may run."""
    deadline = time.monotonic() + 30
    while (answer := api.post("/v1/hint", json=RUSH)).status_code == 200:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return answer


def test_searches_are_few_and_the_others_are_served_meanwhile(url: str, api: httpx.Client) -> None:
    answers: list[httpx.Response] = []
    client = threading.Thread(target=ask, args=(url, HOPELESS | {"budget": {"seconds": 3}}, 60, answers))
    client.start()
    busy = when_busy(api)
    assert refused(busy, 503, "busy")
    assert busy.headers["retry-after"] == "1"
    assert api.get("/healthz").status_code == 200
    goal = api.post("/v1/hint", json=TILES | {"board": "1 2 3/4 5 6/7 8 0"})
    assert told(goal)["source"] == "rules"
    assert client.is_alive(), "they were served after the search"
    client.join()
    hint = told(answers[0])
    assert (hint["outcome"], hint["upper"], hint["reason"]) == ("bounded", None, "the budget of seconds ended")
    assert hint["lower"] > 0
    assert hint["seconds"] < 4
    assert told(api.post("/v1/hint", json=RUSH))["moves_left"] == 2


def test_a_client_that_goes_away_ends_its_search(url: str, api: httpx.Client) -> None:
    answers: list[httpx.Response] = []
    client = threading.Thread(target=ask, args=(url, HOPELESS | {"budget": {"seconds": 60}}, 1, answers))
    client.start()
    when_busy(api)
    client.join()
    assert answers == []
    began = time.monotonic()
    while api.post("/v1/hint", json=RUSH).status_code == 503:
        assert time.monotonic() - began < 5
        time.sleep(0.05)
