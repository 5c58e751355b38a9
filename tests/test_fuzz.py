"""The fuzz targets: every kernel entry has one, some cases of each, and that what must be found is found."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz import Target, all_targets, bad, blocks, graphs, run, tables, targets_of, tiles

KERNELS = Path(__file__).parent.parent / "unjam" / "_kernels.pyi"


def entries() -> Iterator[str]:
    """The functions and classes that take arguments."""
    for node in ast.parse(KERNELS.read_text()).body:
        match node:
            case ast.FunctionDef(name=name, args=ast.arguments(args=[_, *_])):
                yield name
            case ast.ClassDef(name=name, body=body) if "__init__" in [getattr(part, "name", "") for part in body]:
                yield name


def test_every_kernel_entry_has_a_target() -> None:
    assert {*entries()} == {name for module in (blocks, graphs, tables, tiles) for name in targets_of(module)}


@pytest.mark.parametrize("name", all_targets())
def test_some_cases_of_each(name: str) -> None:
    for number in range(15):
        all_targets()[name](run.case_of(all_targets()[name], 1, number))


@pytest.mark.parametrize(
    ("target", "said"),
    [(bad.wrong, "AssertionError"), (bad.crash, "signal 6"), (bad.hang, "more than 20 seconds"), (bad.grow, "GB")],
)
def test_findings_are_found(target: Target, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "PATIENCE", 3.0)
    monkeypatch.setattr(run, "MOST_BYTES", 500_000_000)
    done = run.watch(target, 0, 30)
    assert said in done.finding
    again = run.case_of(target, 0, done.cases - 1).random()
    assert target is bad.grow or (again >= 0.9 if target is bad.wrong else again < 0.1)


def test_without_a_finding_the_time_is_used() -> None:
    began = time.monotonic()
    done = run.watch(blocks.check_rush, 0, 0.5)
    assert done.finding == ""
    assert done.cases > 10
    assert time.monotonic() - began > 0.5
