"""Targets that find something in one case of ten: what the driver has to notice."""

from __future__ import annotations

import os
import time
from random import Random


def wrong(random: Random) -> None:
    assert random.random() < 0.9


def crash(random: Random) -> None:
    if random.random() < 0.1:
        os.abort()


def hang(random: Random) -> None:
    time.sleep(60 if random.random() < 0.1 else 0)


def grow(random: Random, kept: list[bytes] = []) -> None:  # noqa: B006  # it is to keep them
    kept.append(b"x" * 1_000_000)
    time.sleep(0.001)
