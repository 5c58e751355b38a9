"""Requests at a fixed rate, whether or not the answers keep up: a slow answer delays no later request."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import httpx


@dataclass(frozen=True)
class Load:
    """``latencies`` in seconds, in order, from when the request was due until its answer was there."""

    latencies: list[float]
    errors: Counter[str]
    rate: float  # answers a second

    def __str__(self) -> str:
        errors = "no errors" if not self.errors else f"errors: {dict(self.errors)}"
        return f"{percentiles(self.latencies)}, {self.rate:.0f} answers/s, {errors}"


def percentiles(seconds: list[float]) -> str:
    """Median, 99th percentile and the slowest, in milliseconds."""
    ordered = sorted(seconds)
    if not ordered:
        return "none"
    median, late = (ordered[min(len(ordered) - 1, int(len(ordered) * part))] for part in (0.5, 0.99))
    return f"median {median * 1e3:.2f} ms, p99 {late * 1e3:.2f} ms, slowest {ordered[-1] * 1e3:.1f} ms"


def ask(base_url: str, paths: Iterable[str], rate: float) -> Load:
    """GET each path, ``rate`` of them a second."""
    return asyncio.run(_ask(base_url, list(paths), rate))


async def _ask(base_url: str, paths: list[str], rate: float) -> Load:
    latencies: list[float] = []
    errors = Counter[str]()
    limits = httpx.Limits(max_connections=100, max_keepalive_connections=100)
    async with httpx.AsyncClient(base_url=base_url, limits=limits, timeout=10) as client, asyncio.TaskGroup() as group:

        async def one(path: str, due: float) -> None:
            try:
                answer = await client.get(path)
            except httpx.HTTPError as error:
                errors[type(error).__name__] += 1
                return
            if answer.status_code == 200:
                latencies.append(time.perf_counter() - due)
            else:
                errors[str(answer.status_code)] += 1

        began = time.perf_counter()
        for number, path in enumerate(paths):
            due = began + number / rate
            await asyncio.sleep(due - time.perf_counter())
            group.create_task(one(path, due))
    return Load(latencies, errors, len(latencies) / (time.perf_counter() - began))
