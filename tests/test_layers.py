"""Imports point downwards only."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("unjam", "cli", "api", "worker", "migrations")

# What the modules of a layer may import of ours; the longest matching prefix is a module's layer.
LAYERS = {
    "unjam.errors": (),
    "unjam._kernels": ("unjam._kernels_base", "unjam._kernels_v3"),
    "unjam.settings": ("unjam.errors",),
    "unjam.logs": (),
    "unjam.puzzles": ("unjam.errors", "unjam.puzzles"),
    "unjam.search": ("unjam.errors", "unjam._kernels", "unjam.puzzles", "unjam.search"),
    "unjam.packs": ("unjam.errors", "unjam.puzzles", "unjam.search", "unjam.packs"),
    "unjam.store": ("unjam.errors", "unjam.settings", "unjam.puzzles", "unjam.search", "unjam.packs", "unjam.store"),
    "unjam.heartbeat": ("unjam.settings",),
    "unjam.work": ("unjam",),
    "unjam.sharing": ("unjam",),
    "unjam.watch": ("unjam",),
    "unjam": ("unjam.errors", "unjam.puzzles", "unjam.search"),
    "migrations": ("unjam.store", "unjam.settings", "migrations"),
    "worker": ("unjam", "worker"),
    "api": ("unjam", "api", "worker.tasks"),
    "cli": ("unjam", "cli", "api", "worker"),
}
PROGRAM_LIBRARIES = ("celery", "fastapi", "starlette", "uvicorn", "click", "rich", "rich_click")


def modules() -> Iterator[tuple[str, Path]]:
    for package in OURS:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(modules())


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else node.module


def under(module: str, prefix: str) -> bool:
    return module == prefix or module.startswith(f"{prefix}.")


def layer(module: str) -> str:
    return max((prefix for prefix in LAYERS if under(module, prefix)), key=len)


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_downwards(module: str) -> None:
    allowed = LAYERS[layer(module)]
    for name in imports(MODULES[module]):
        if name.partition(".")[0] in OURS and name != "unjam":
            assert any(under(name, prefix) for prefix in allowed), f"{module} must not import {name}"


@pytest.mark.parametrize("module", [module for module in MODULES if under(module, "unjam")])
def test_the_library_knows_no_program(module: str) -> None:
    for name in imports(MODULES[module]):
        assert not any(under(name, library) for library in PROGRAM_LIBRARIES), f"{module} must not import {name}"
