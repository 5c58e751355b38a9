"""The HTTP API is what its OpenAPI description and docs/api.md say it is."""

import json
from collections.abc import Iterator
from typing import Any

import httpx

from tests.serving import wait_until_done
from tests.test_docs import DOCS, blocks


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
