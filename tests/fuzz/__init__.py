"""Fuzz targets: one for every parser, and one for every function and class of unjam/_kernels.pyi, by its name.

A target makes one case from a Random. What it raises is a finding, and so is a crash, a report of a sanitizer, a case
without an end and memory without a limit (run.py). ``python -m tests.fuzz --help`` runs them.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from random import Random
from types import ModuleType

if "UNJAM_SANITIZED" in os.environ:
    import tests.sanitized  # noqa: F401  # for what it does

Target = Callable[[Random], None]


def targets_of(module: ModuleType) -> dict[str, Target]:
    """Its public functions."""
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }


def all_targets() -> dict[str, Target]:
    from tests.fuzz import blocks, graphs, parsers, tables, tiles

    return {
        name: target
        for module in (parsers, blocks, graphs, tiles, tables)
        for name, target in targets_of(module).items()
    }
