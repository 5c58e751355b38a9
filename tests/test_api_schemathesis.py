"""Requests made from the OpenAPI description, right ones and wrong ones: no server error, no undocumented answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from api.app import create_app
from tests.serving import serving, working
from unjam.settings import Settings
from unjam.store import keys
from unjam.store.database import open_engine

# Left out: positive_data_acceptance, for the rules of the families are in no schema; use_after_free, for a batch stays
# when it is cancelled.
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
    checks.negative_data_rejection,
    checks.missing_required_header,
    checks.unsupported_method,
    checks.allow_header_conformance,
    checks.ignored_auth,
]


@schemathesis.serializer("application/x-ndjson", "application/jsonl")
def as_text(context: schemathesis.SerializationContext, value: Any) -> bytes:
    return str(value).encode(errors="replace")


@pytest.fixture(scope="module")
def wary(postgres: str, template: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A server that wants a key of everybody, and such a key, as arguments of a call."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE wary TEMPLATE {template}")
    url = postgres.replace("@/postgres", "@/wary")
    engine = open_engine(url)
    _, secret = keys.create(engine, "admin", ["admin"])
    engine.dispose()
    home = tmp_path_factory.mktemp("wary")
    with serving(Settings(database_url=url, redis_url=None, home=home, local_needs_key=True)) as base, working(url):
        yield {"base_url": base, "headers": {"Authorization": f"Bearer {secret}"}, "timeout": 90}
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP DATABASE wary WITH (FORCE)")


@schemathesis.openapi.from_dict(create_app(Settings()).openapi()).parametrize()
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_operation_keeps_to_its_description(case: schemathesis.Case, wary: dict[str, Any]) -> None:
    case.call_and_validate(checks=CHECKS, **wary)
