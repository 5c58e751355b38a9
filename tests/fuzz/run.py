"""Run a target case by case in a process of its own, which may crash, hang or grow; and one case here."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name
from random import Random
from typing import Any, NamedTuple

from tests.fuzz import Target
from unjam import _kernels

ROOT = Path(__file__).parents[2]
LONGEST = 20.0  # seconds of work on a case, with sanitizers
PATIENCE = 200.0  # seconds that a case may take on a busy machine
MOST_BYTES = 2_000_000_000  # of the whole process; no case may search with more than 64 MB
POLL = 0.1


class Run(NamedTuple):
    cases: int
    finding: str  # why it ended, and what it said; empty: nothing was found


def case_of(target: Target, seed: int, number: int) -> Random:
    return Random(f"{target.__name__} {seed} {number}")


def watch(target: Target, seed: int, seconds: float) -> Run:
    """Run cases 0, 1, 2, ... of a seed in another process for so many seconds, or until one is a finding."""
    with tempfile.TemporaryFile() as said, tempfile.NamedTemporaryFile() as begun:
        name = f"{target.__module__}:{target.__name__}"
        command = [sys.executable, "-m", "tests.fuzz.run", name, str(seed), str(seconds), begun.name]
        with subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=said) as process:
            reason = _wait(process, Path(begun.name))
        said.seek(0)
        number = int(Path(begun.name).read_text() or 0)
        if not reason and process.returncode == 0:
            return Run(number + 1, "")
        text = said.read().decode(errors="replace")
        reason = reason or (f"signal {-process.returncode}" if process.returncode < 0 else f"code {process.returncode}")
        return Run(number + 1, f"ended by {reason} in case {number}\n{text}")


def _wait(process: subprocess.Popen[bytes], begun: Path) -> str:
    """Wait for the end; kill a process that is too slow or too large, and say so."""
    last, since, spent = "", time.monotonic(), 0.0
    while process.poll() is None:
        time.sleep(POLL)
        number = begun.read_text()
        try:
            work, size = _used(process.pid)
        except (OSError, IndexError):  # it has just ended
            continue
        if number != last or not number:  # none is begun before all is imported
            last, since, spent = number, time.monotonic(), work
        reason = ""
        if work - spent > LONGEST or time.monotonic() - since > PATIENCE:
            reason = f"a case of more than {LONGEST:.0f} seconds"
        elif size > MOST_BYTES:
            reason = f"more than {MOST_BYTES / 1e9:.0f} GB"
        if reason:
            process.send_signal(signal.SIGABRT)  # which makes it say where it is
            return reason
    return ""


def _used(process: int) -> tuple[float, int]:
    """Seconds of the processor, and bytes of memory."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGESIZE")


def repeat(target: Target, seed: int, number: int) -> None:
    """One case, here; prints what the kernels are called with."""
    for entry, value in vars(_kernels).items():
        if callable(value) and not entry.startswith("_"):
            setattr(_kernels, entry, _printing(entry, value))
    target(case_of(target, seed, number))


def _printing(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def printing(*arguments: Any) -> Any:
        print(f"{name}{arguments}", flush=True)
        return call(*arguments)

    return printing


def _work(name: str, seed: int, seconds: float, begun: str) -> None:
    faulthandler.enable()
    target, number, end = resolve_name(name), 0, time.monotonic() + seconds
    with open(begun, "r+b", buffering=0) as file:
        while number == 0 or time.monotonic() < end:
            os.pwrite(file.fileno(), str(number).encode(), 0)
            target(case_of(target, seed, number))
            number += 1


if __name__ == "__main__":
    try:
        _work(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4])
    except Exception:
        traceback.print_exc()
        sys.exit(1)
