"""How much of the machine's memory a pool process may take, so that one search cannot take all and down the others."""

from __future__ import annotations

import os
import resource
from pathlib import Path
from typing import Any

import structlog
from celery.signals import celeryd_init, worker_process_init, worker_ready

from unjam.settings import get_settings

log = structlog.get_logger(__name__)

CGROUP = Path("/sys/fs/cgroup/memory.max")  # of the container

_limit = 0


@celeryd_init.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _share_memory(conf: Any, options: dict[str, Any], **_: Any) -> None:
    global _limit
    processes = options.get("concurrency") or conf.worker_concurrency or os.cpu_count() or 1
    _limit = get_settings().max_worker_bytes or machine_bytes() // int(processes)
    # What a large search has taken is not all given back: a process that has taken half of its share is replaced.
    conf.worker_max_memory_per_child = _limit // 2 // 1024


@worker_ready.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _tell(**_: Any) -> None:
    log.info("memory of a process", bytes=_limit)


@worker_process_init.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _limit_memory(**_: Any) -> None:
    """Searches that are refused memory end like those whose budget of bytes does; Python raises MemoryError.

    Data, not the address space: tables are mapped from files, which all processes share.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (_limit, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def machine_bytes() -> int:
    """The memory of this machine, or of this container if that has less."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = CGROUP.read_text().strip() if CGROUP.exists() else "max"
    return whole if limit == "max" else min(whole, int(limit))
