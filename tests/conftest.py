"""What several tests share."""

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import psycopg
import pytest
from sqlalchemy import Engine

import unjam.sharing
from unjam.settings import Settings
from unjam.store.database import migrate, open_engine
from unjam.store.postgres import private_postgres
from unjam.store.redis import private_redis

# or their failures would not say what was there
pytest.register_assert_rewrite("tests.service", "tests.serving", "tests.shared_searches")

from tests.service import Service  # noqa: E402

# A shell has what it runs in the background ignore Ctrl-C; the tests of it would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A service that runs on this machine, and what it keeps, are none of the tests' business.
_HOME = tempfile.TemporaryDirectory(prefix="unjam-home-")
os.environ["UNJAM_HOME"] = _HOME.name
for _name in ("UNJAM_DATABASE_URL", "UNJAM_REDIS_URL"):
    os.environ.pop(_name, None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of known answers, which lies beside the repository; ``UNJAM_SHARED_DATA`` says where else."""
    folder = Path(os.environ.get("UNJAM_SHARED_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the known answers are missing: no folder {folder}; set UNJAM_SHARED_DATA")
    return folder


@pytest.fixture(scope="session", autouse=True)
def tables_folder() -> Iterator[Path]:
    """The pattern databases of these tests and of the programs that they start."""
    with tempfile.TemporaryDirectory(prefix="unjam-tables-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNJAM_TABLES", folder)
        yield Path(folder)


@pytest.fixture(scope="session")
def server_home() -> Iterator[Path]:
    """A data folder for the servers of these tests."""
    with tempfile.TemporaryDirectory(prefix="unjam-tests-") as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def postgres(server_home: Path) -> Iterator[str]:
    """The URL of a private Postgres, which for once need not outlive a power cut."""
    with private_postgres(server_home) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
        yield url


@pytest.fixture(scope="session")
def redis_url(server_home: Path) -> Iterator[str]:
    """The URL of a private Redis."""
    with private_redis(server_home) as url:
        yield url


@pytest.fixture
def empty_database(postgres: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a new database without tables."""
    name = f"empty_{abs(hash(request.node.nodeid))}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield postgres.replace("@/postgres", f"@/{name}")
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def template(postgres: str) -> str:
    """The name of a database with the present schema, to be copied."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE DATABASE template_unjam")
    migrate(postgres.replace("@/postgres", "@/template_unjam"))
    return "template_unjam"


@pytest.fixture
def database_url(postgres: str, template: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a new, empty store."""
    name = f"test_{abs(hash(request.node.nodeid))}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        yield postgres.replace("@/postgres", f"@/{name}")
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An engine on a new, empty store."""
    engine = open_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def service(database_url: str, redis_url: str, tmp_path: Path) -> Iterator[Service]:
    """Processes over a new, empty store; they end with the test."""
    with ExitStack() as stack:
        yield Service(stack, database_url, redis_url, tmp_path)


@pytest.fixture
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches are shared at once, and in small parts."""
    monkeypatch.setattr(unjam.sharing, "DISTRIBUTED_SECONDS", 0.02)
    monkeypatch.setattr(unjam.sharing, "SLICE_SECONDS", 0.1)


@pytest.fixture
def settings(database_url: str, tmp_path: Path) -> Settings:
    """Those of an API over a new store, with small limits."""
    from tests.serving import BODY_LIMIT, LEVEL_LIMIT

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
    from tests.serving import serving

    with serving(settings) as url, httpx.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.fixture
def api(idle_api: httpx.Client, database_url: str) -> Iterator[httpx.Client]:
    """The API with a worker."""
    from tests.serving import working

    with working(database_url):
        yield idle_api
