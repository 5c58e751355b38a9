"""What ten million stored puzzles cost: look-ups, queries, HTTP, ingest, bytes; and how they grow.

    python -m benchmarks.scale DATA [--puzzles 100000 --puzzles 1000000 --puzzles 10000000] [--folder FOLDER]
    python -m benchmarks.scale DATA --folder FOLDER --reuse

DATA as for benchmarks/known.py: the store is filled with the answers to its rush boards, many times over, under keys
that no board has. Real boards come on top. FOLDER keeps the store (1.3 KB a puzzle) for a later run
with --reuse, which does not fill it again. Latencies are wall times as a client sees them: one request at a time, but
for GET over HTTP, at a rate.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from hashlib import md5
from itertools import islice
from pathlib import Path
from typing import TypeVar

import httpx
import orjson
from sqlalchemy import Engine, func, select

from benchmarks.boards import random_rush
from benchmarks.filled_store import BYTES, fill, filled, make_templates
from benchmarks.open_loop import ask, percentiles
from unjam.packs.read import read_objects
from unjam.search.solution import Budget
from unjam.store import batches
from unjam.store.database import migrate, open_engine, reading
from unjam.store.find import Wanted, find, find_page
from unjam.store.lookup import by_key, lookup
from unjam.store.postgres import private_postgres
from unjam.store.schema import batch
from unjam.store.sql import sql
from unjam.work import drain

BUDGET = Budget(seconds=60)
BULK = 10_000  # boards of one look-up
FOUND = 100_000  # levels at most, of one question
JSON = {"Content-Type": "application/json"}

T = TypeVar("T")
R = TypeVar("R")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--puzzles", type=int, action="append", help="10,000,000; may be given repeatedly")
    parser.add_argument("--folder", type=Path, help="keep the store here; without it, it is temporary")
    parser.add_argument("--reuse", action="store_true", help="measure what the folder holds")
    parser.add_argument("--boards", type=int, default=20_000, help="real boards to submit")
    parser.add_argument("--times", type=int, default=2000, help="look-ups of each kind, one after the other")
    parser.add_argument("--requests", type=int, default=4000, help="HTTP requests of each kind")
    parser.add_argument("--rate", type=float, default=200, help="of them in a second")
    asked = parser.parse_args()
    if asked.reuse and asked.folder is None:
        parser.error("--reuse needs --folder")
    with ExitStack() as stack:
        home = asked.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="unjam-scale-")))
        url = stack.enter_context(private_postgres(home))
        migrate(url)
        engine = open_engine(url)
        stack.callback(engine.dispose)
        with (asked.data / "rush_known.csv").open() as file:
            boards = [row["board"] for row in csv.DictReader(file)]
        if asked.reuse:
            sizes = [filled(engine)]
        else:
            sizes = sorted(asked.puzzles or [10_000_000])
            if not filled(engine):
                solve(engine, url, boards)
                make_templates(engine)
        for puzzles in sizes:
            if not asked.reuse:
                timed("filled", partial(fill, engine, puzzles), puzzles)
            show("puzzles", f"{puzzles:,}")
            show_bytes(engine, puzzles)
            measure(engine, url, puzzles, boards, asked)


def measure(engine: Engine, url: str, puzzles: int, known: list[str], asked: argparse.Namespace) -> None:
    new = ingest(engine, url, asked.boards)
    solve(engine, url, known)
    bulk = {"random boards": new[:BULK], "known boards": (known * BULK)[: len(new[:BULK])]}
    one_by_one(engine, puzzles, asked.times)
    questions(engine, asked.times)
    for name, boards in bulk.items():
        in_bulk(engine, boards, name)
    with serving(url) as address:
        over_http(address, puzzles, bulk, asked)


def solve(engine: Engine, url: str, boards: list[str]) -> None:
    rows = [{"family": "rush", "board": board} for board in boards]
    batch = batches.submit(engine, read_objects(rows), budget=BUDGET)
    drain(url, batch.batch_id, os.cpu_count() or 1)


def ingest(engine: Engine, url: str, count: int) -> list[str]:
    """Boards that the store did not know, submitted, solved, and submitted again."""
    with engine.connect() as connection:
        seed = connection.execute(select(func.max(batch.c.id))).scalar_one()
    boards = list(islice(random_rush(random.Random(seed)), count))
    rows = [{"family": "rush", "board": board} for board in boards]

    def submit() -> int:
        return batches.submit(engine, read_objects(rows), budget=BUDGET).batch_id

    new = logged(engine, "submitted, new", submit, count)
    logged(engine, "solved", lambda: drain(url, new, os.cpu_count() or 1), count)
    logged(engine, "submitted, known", submit, count)
    return boards


def stored_key(number: int) -> bytes:
    """The key that the store was filled with."""
    return md5(str(number).encode()).digest()


def one_by_one(engine: Engine, puzzles: int, times: int) -> None:
    rng = random.Random(puzzles)
    keys = [stored_key(rng.randint(1, puzzles)) for _ in range(times)]
    with reading(engine).connect() as connection:
        ask_for = partial(connection.exec_driver_sql, sql("by_key"))
        each("look-up by key, the query", keys, lambda key: ask_for({"key": key}).all())
        many = {"keys": [stored_key(rng.randint(1, puzzles)) for _ in range(BULK)]}
        name = f"{BULK:,} keys from all over, the query"
        timed(name, lambda: connection.exec_driver_sql(sql("lookup"), many).all(), BULK)
    each("look-up by key, with its moves written", keys, lambda key: by_key(engine, key))
    each("look-up of an unknown key", [md5(key).digest() for key in keys], lambda key: by_key(engine, key))


def questions(engine: Engine, times: int) -> None:
    moves = Wanted("rush", "slide", 25, 30)
    for name, wanted, count in (
        ("20 levels with 25 to 30 moves", moves, times),
        ("20 levels with any number of moves", Wanted("rush", "slide"), times),
        ("20 levels with 25 to 30 moves, 6x6, 11 pieces", replace(moves, size=(6, 6), pieces=11), times),
        ("20 levels of 5x5, of which there are none", Wanted("rush", "slide", size=(5, 5)), times // 100 + 1),
    ):
        each(name, range(count), lambda seed, w=wanted: find_page(engine, w, None, 20, seed))
    timed("all levels with 25 to 30 moves", lambda: sum(1 for _ in find(engine, moves, limit=FOUND)), FOUND)


def in_bulk(engine: Engine, boards: list[str], name: str) -> None:
    """What the parts of a look-up of many boards take."""
    rows = [{"family": "rush", "board": board} for board in boards]
    entries = timed(f"{name}, read", lambda: list(read_objects(rows)), len(rows))
    puzzles = [entry.puzzle for entry in entries if entry.puzzle]
    timed(f"{name}, keys", lambda: [puzzle.key for puzzle in puzzles], len(rows))
    found = timed(f"{name}, looked up", lambda: lookup(engine, [(puzzle, None) for puzzle in puzzles]), len(rows))
    assert all(found), "a board that was submitted is not known"


def over_http(address: str, puzzles: int, boards: dict[str, list[str]], asked: argparse.Namespace) -> None:
    rng = random.Random(2)
    keys = [stored_key(rng.randint(1, puzzles)).hex() for _ in range(asked.requests)]
    ask(address, [f"/v1/puzzles/{key}" for key in keys[:200]], asked.rate)  # connections and threads are made
    question = "family=rush&min=25&max=30&limit=20"
    for name, paths in {
        "GET /v1/puzzles/KEY": [f"/v1/puzzles/{key}" for key in keys],
        f"GET /v1/puzzles?{question}": [f"/v1/puzzles?{question}&seed={seed}" for seed in range(asked.requests)],
    }.items():
        show(f"{name}, {asked.rate:.0f}/s", ask(address, paths, asked.rate))
    for name, some in boards.items():
        body = orjson.dumps({"puzzles": [{"family": "rush", "board": board} for board in some]})

        def post(body: bytes = body) -> int:
            answer = httpx.post(f"{address}/v1/lookup", content=body, headers=JSON, timeout=60).raise_for_status()
            return len(answer.content)

        timed(f"POST /v1/lookup, {name}", post, len(some))


@contextmanager
def serving(url: str) -> Iterator[str]:
    """The API as `unjam api` runs it, over this store."""
    environment = os.environ | {"UNJAM_DATABASE_URL": url, "UNJAM_LOG_LEVEL": "warning"}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "cli", "api", f"--port={port}"], env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        while not answers(address):
            if process.poll() is not None:
                raise SystemExit("the API did not start")
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait()


def answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/healthz").is_success
    except httpx.TransportError:
        return False


def show_bytes(engine: Engine, puzzles: int) -> None:
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(BYTES).all()
    for row in rows:
        if row.bytes >= puzzles:
            show(f"bytes a puzzle, {row.name}", f"{row.bytes / puzzles:.1f}")
    show("bytes a puzzle, all", f"{sum(row.bytes for row in rows) / puzzles:.1f}")


def each(name: str, values: Iterable[T], run: Callable[[T], object]) -> None:
    seconds = []
    for value in values:
        began = time.perf_counter()
        run(value)
        seconds.append(time.perf_counter() - began)
    show(name, percentiles(seconds))


def timed(name: str, run: Callable[[], R], count: int) -> R:
    began = time.perf_counter()
    result = run()
    seconds = time.perf_counter() - began
    show(name, f"{seconds:.2f} s, {count / seconds:,.0f} a second")
    return result


def logged(engine: Engine, name: str, run: Callable[[], R], count: int) -> R:
    """As ``timed``, with the write-ahead log that it made."""

    def position() -> int:
        with engine.connect() as connection:
            return int(connection.exec_driver_sql("SELECT pg_current_wal_lsn() - '0/0'").scalar_one())

    before = position()
    result = timed(name, run, count)
    show(f"{name}, bytes of log each", f"{(position() - before) / count:,.0f}")
    return result


def show(name: str, figure: object) -> None:
    print(f"{name:70} {figure}", flush=True)


if __name__ == "__main__":
    main()
