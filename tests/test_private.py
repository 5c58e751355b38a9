"""The private Postgres and Redis: shared by processes, and not put off by what killed ones leave behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from unjam.errors import StoreError
from unjam.settings import Settings
from unjam.store.database import database
from unjam.store.postgres import PrivatePostgres, private_postgres
from unjam.store.redis import PrivateRedis, broker, broker_url, private_redis

# Holds the server until its standard input closes.
HOLD = """
import sys
from pathlib import Path
from unjam.store.postgres import private_postgres
with private_postgres(Path(sys.argv[1])) as url:
    print(url, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "home"
    for server in (PrivatePostgres(tmp_path / "home" / "postgres"), PrivateRedis(tmp_path / "home" / "redis")):
        if server.ready():
            server._stop()


def hold(home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def answers(url: str) -> bool:
    try:
        with psycopg.connect(url) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False


def test_what_is_stored_is_there_next_time(home: Path) -> None:
    with private_postgres(home) as url, psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept (x int)")
    assert not answers(url)
    with private_postgres(home) as url, psycopg.connect(url) as connection:
        connection.execute("SELECT x FROM kept")


def test_the_last_of_several_processes_stops_it(home: Path) -> None:
    processes = [hold(home) for _ in range(4)]  # all at once, on an empty folder
    urls = {process.stdout.readline().strip() for process in processes if process.stdout}
    [url] = urls
    for process in processes:
        assert answers(url)
        process.communicate("")
    assert not answers(url)


def test_a_killed_process_neither_stops_it_nor_keeps_it(home: Path) -> None:
    killed, other = hold(home), hold(home)
    for process in (killed, other):
        assert process.stdout is not None
        url = process.stdout.readline().strip()
    killed.kill()
    killed.wait()
    assert answers(url)
    other.communicate("")
    assert not answers(url)


def test_the_server_that_a_killed_process_leaves_is_taken_over(home: Path) -> None:
    killed = hold(home)
    assert killed.stdout is not None
    url = killed.stdout.readline().strip()
    killed.kill()
    killed.wait()
    assert answers(url)
    with private_postgres(home) as again:
        assert again == url
    assert not answers(url)


@pytest.mark.parametrize("pid", [2**22 - 5, os.getpid()], ids=["dead", "alive"])
def test_a_killed_server_and_its_stale_pid_file(home: Path, pid: int) -> None:
    server = PrivatePostgres(home / "postgres")
    with server.running():
        postmaster = server.pid()
        assert postmaster is not None
        os.kill(postmaster, signal.SIGKILL)
    while answers(server.url):
        time.sleep(0.05)
    # after a restart of the machine the pid may be anybody's
    file = home / "postgres" / "postmaster.pid"
    file.write_text("\n".join([str(pid), *file.read_text().splitlines()[1:]]))
    with private_postgres(home) as url:
        assert answers(url)


def test_a_killed_initdb_leaves_nothing_that_looks_like_data(home: Path) -> None:
    (home / "postgres.new").mkdir(parents=True)
    (home / "postgres.new" / "PG_VERSION").write_text("18\n")
    with private_postgres(home) as url:
        assert answers(url)


def test_a_path_too_long_for_a_socket(home: Path) -> None:
    deep = home / ("long" * 30)
    with private_postgres(deep) as url, private_redis(deep) as cache:
        assert answers(url)
        with redis.Redis.from_url(cache) as client:
            assert client.ping()
    for server in (PrivatePostgres(deep / "postgres"), PrivateRedis(deep / "redis")):
        assert not server.socket.parent.exists(), "its folder in /tmp is gone"


def test_a_path_with_blanks_and_signs(home: Path) -> None:
    odd = home / "my data, 100% & more?"
    with database(Settings(home=odd, database_url=None)) as url, private_redis(odd) as cache:
        assert answers(url)
        with redis.Redis.from_url(cache) as client:
            assert client.ping()


def test_the_environment_of_other_postgres_clients_does_not_matter(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPORT", "1")
    monkeypatch.setenv("PGDATA", "/nowhere")
    monkeypatch.setenv("LC_ALL", "xx_XX.nonsense")
    with private_postgres(home) as url:
        assert answers(url)


def test_only_our_user_gets_in(home: Path) -> None:
    with private_postgres(home), private_redis(home):
        for folder in (home, home / "postgres", home / "redis"):
            assert folder.stat().st_mode & 0o077 == 0


def test_data_of_a_version_that_is_not_here(home: Path) -> None:
    (home / "postgres").mkdir(parents=True)
    (home / "postgres" / "PG_VERSION").write_text("9\n")
    with pytest.raises(StoreError, match="made by Postgres 9; here is only"), private_postgres(home):
        pass


def test_a_server_that_does_not_start_says_why(home: Path) -> None:
    with private_postgres(home):
        pass
    (home / "postgres" / "postgresql.conf").write_text("nonsense = 1\n")
    with pytest.raises(StoreError, match="nonsense"), private_postgres(home):
        pass


def test_a_second_start_is_quick(home: Path) -> None:
    settings = Settings(home=home, database_url=None)
    with database(settings):
        pass
    took = []
    for _ in range(3):
        began = time.monotonic()
        with database(settings):
            took.append(time.monotonic() - began)
    assert min(took) < 1


def test_the_private_redis_is_found_while_it_runs(home: Path) -> None:
    settings = Settings(home=home, redis_url=None)
    assert broker_url(settings) is None
    with broker(settings) as url:
        assert broker_url(settings) == url
    assert broker_url(settings) is None
    assert broker_url(Settings(home=home, redis_url="redis://there")) == "redis://there"
