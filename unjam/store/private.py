"""A server of our own in the data folder: the first process that needs it starts it, the last one stops it.

Who needs it is told by file locks, which the kernel drops however a process ends: no list of pids to go stale. When
the last one is killed, the server stays up, and the next process takes it over.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pwd
import shutil
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from unjam.errors import StoreError

START_SECONDS = 60  # recovery after a crash may take a while
STOP_SECONDS = 20
LONGEST_SOCKET = 100  # bytes of a path that every Unix accepts for a socket (Linux 107, macOS 103)


class PrivateServer(ABC):
    """A server program that listens on a Unix socket and keeps its files in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.log = self.folder.with_suffix(".log")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def socket(self) -> Path: ...

    @abstractmethod
    def command(self) -> list[str]:
        """The program and its arguments; prepares the folder first where needed."""

    @abstractmethod
    def ready(self) -> bool:
        """Whether the server answers."""

    @abstractmethod
    def pid(self) -> int | None:
        """The process that has the folder, by its own pid file, dead or alive."""

    @abstractmethod
    def stop_signal(self) -> int: ...

    @contextmanager
    def running(self) -> Iterator[None]:
        """The server is up inside this block; raises StoreError when it does not start."""
        self.folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = self.folder.parent / f"{self.folder.name}.lock"
        users = self.folder.parent / f"{self.folder.name}.users"
        with open(users, "a") as mine:
            with open(lock, "a") as gate:
                fcntl.flock(gate, fcntl.LOCK_EX)
                if not self.ready():
                    self._start()
                fcntl.flock(mine, fcntl.LOCK_SH)
            try:
                yield
            finally:
                with open(lock, "a") as gate:
                    fcntl.flock(gate, fcntl.LOCK_EX)
                    if _is_last(mine):
                        self._stop()
                    fcntl.flock(mine, fcntl.LOCK_UN)  # forked children share the lock; they must not keep it

    def _start(self) -> None:
        self._wait_for_a_dying_one()
        if self.ready():
            return
        if self.socket.parent != self.folder:
            self.socket.parent.mkdir(mode=0o700, exist_ok=True)
        command = self.command()
        with open(self.log, "wb") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_plain_environment(),
                start_new_session=True,  # Ctrl-C is for us; the server stops after us
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise StoreError(f"{command[0]} does not start in {self.folder}:\n{self._last_words()}")
            time.sleep(0.005)

    def _wait_for_a_dying_one(self) -> None:
        """A server that has the folder but does not answer is starting or stopping: wait; a stale pid is not ours."""
        deadline = time.monotonic() + STOP_SECONDS
        while (pid := self.pid()) is not None and self._is_ours(pid):
            if self.ready():
                return
            if time.monotonic() > deadline:
                raise StoreError(f"process {pid} has {self.folder} but does not answer; stop it and try again")
            time.sleep(0.02)

    def _is_ours(self, pid: int) -> bool:
        """Pids are used again: after a crash or in a new container the pid file may name any process."""
        command = _command_line(pid)
        return str(self.folder) in command or str(self.socket) in command

    def _stop(self) -> None:
        pid = self.pid()
        if pid is None or not self._is_ours(pid):
            return
        with suppress(ProcessLookupError):
            os.kill(pid, self.stop_signal())
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline and self._alive(pid):
            time.sleep(0.002)
        if self.socket.parent != self.folder:
            shutil.rmtree(self.socket.parent, ignore_errors=True)

    def _alive(self, pid: int) -> bool:
        if self._process is not None and self._process.pid == pid:
            return self._process.poll() is None
        return self.pid() == pid

    def _last_words(self) -> str:
        return self.log.read_text(errors="replace")[-2000:].strip() if self.log.exists() else ""

    def _socket_in(self, folder: Path, name: str) -> Path:
        """The socket's path: in ``folder``, or in a folder of /tmp where that is too long."""
        path = folder / name
        if len(os.fsencode(path)) <= LONGEST_SOCKET:
            return path
        short = Path("/tmp") / f"unjam-{os.geteuid()}-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]}"
        if short.is_symlink() or (short.exists() and short.stat().st_uid != os.geteuid()):
            raise StoreError(f"{short} belongs to somebody else")
        return short / name

    def _accepts(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(self.socket))
            except OSError:
                return False
        return True


def _command_line(pid: int) -> str:
    process = Path(f"/proc/{pid}")
    if process.parent.joinpath("self").exists():
        with suppress(OSError):
            return process.joinpath("cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        return ""
    return subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout


def _is_last(mine: IO[str]) -> bool:
    try:
        fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _plain_environment() -> dict[str, str]:
    """The environment without what would change a server's settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
    return {**kept, "LC_ALL": "C"}


def as_ordinary_user(command: list[str]) -> list[str]:
    """The command, run as ``nobody`` if we are root, which Postgres refuses.

    It keeps the right to pass and write root's folders (CAP_DAC_OVERRIDE), so no permission on the way to the data
    folder or to the program has to be loosened.
    """
    if os.geteuid() != 0:
        return command
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise StoreError("Postgres does not run as root and there is no setpriv: use another user or a database URL")
    user = pwd.getpwnam("nobody")
    capabilities = "-all,+dac_override"
    return [
        setpriv,
        f"--reuid={user.pw_uid}",
        f"--regid={user.pw_gid}",
        "--clear-groups",
        f"--inh-caps={capabilities}",
        f"--ambient-caps={capabilities}",
        *command,
    ]
