"""Without a key only programs on the API's own machine are served: no proxies for others, no web pages."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import Request

from api.access import is_local
from tests.serving import TILES, refused, serving
from unjam.settings import Settings


@pytest.fixture
def url(database_url: str, tmp_path: Path) -> Iterator[str]:
    with serving(Settings(database_url=database_url, redis_url=None, home=tmp_path)) as url:
        yield url


def asked(client: str | None, **headers: str) -> bool:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return is_local(Request({"type": "http", "client": client and (client, 1), "headers": raw}))


@pytest.mark.parametrize("client", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize("host", ["localhost", "localhost:8731", "127.0.0.1:8731", "[::1]:8731", "LOCALHOST"])
def test_this_machine(client: str, host: str) -> None:
    assert asked(client, host=host)
    assert asked(client, host=host, origin=f"http://{host}")  # the page /docs


@pytest.mark.parametrize("client", [None, "10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", "0.0.0.0", "localhost.evil"])
def test_other_machines(client: str | None) -> None:
    assert not asked(client, host="localhost")


@pytest.mark.parametrize(
    "header",
    [
        *({"x_forwarded_for": value} for value in ("10.0.0.1", "127.0.0.1", "")),
        {"x_forwarded_host": "unjam.example"},
        {"x_forwarded_proto": "https"},
        {"forwarded": "for=127.0.0.1"},
        {"x_real_ip": "127.0.0.1"},
        {"via": "1.1 proxy"},
        {"cf_connecting_ip": "10.0.0.1"},
    ],
)
def test_proxies(header: dict[str, str]) -> None:
    assert asked("127.0.0.1", host="localhost")
    assert not asked("127.0.0.1", host="localhost", **header)


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8731", "https://evil.example"),
        ("localhost:8731", "http://localhost:3000"),
        ("localhost:8731", "null"),
        ("localhost:8731", "http://[::1"),
        ("localhost:8731", ""),
        ("evil.example:8731", "http://evil.example:8731"),  # its name was made to lead to 127.0.0.1
        ("localhost.evil.example", None),
        ("127.0.0.1.evil.example", None),
        ("localhost@evil.example", None),
        ("[::1", None),
        ("", None),
    ],
)
def test_web_pages(host: str, origin: str | None) -> None:
    assert not asked("127.0.0.1", host=host, **({} if origin is None else {"origin": origin}))


def test_a_server_knows_who_is_local(url: str) -> None:
    orders = {"json": {"levels": [TILES]}}
    assert httpx.post(f"{url}/v1/batches", **orders).status_code == 202
    for headers in ({"X-Forwarded-For": "127.0.0.1"}, {"Origin": "https://evil.example"}, {"Host": "evil.example"}):
        refused(httpx.post(f"{url}/v1/batches", headers=headers, **orders), 401, "key_missing")
        refused(httpx.get(f"{url}/v1/batches/1", headers=headers), 401, "key_missing")
        refused(httpx.get(f"{url}/metrics", headers=headers), 401, "key_missing")
        assert httpx.get(f"{url}/healthz", headers=headers).status_code == 200
    assert [batch["id"] for batch in httpx.get(f"{url}/v1/batches").json()["batches"]] == [1]


def test_a_wrong_key_is_refused_here_too(url: str) -> None:
    headers = {"Authorization": "Bearer unjam_" + 64 * "0"}
    refused(httpx.get(f"{url}/v1/batches", headers=headers), 401, "key_unknown")


def test_the_default_address_is_local() -> None:
    assert socket.gethostbyname(Settings().api_host) == "127.0.0.1"
