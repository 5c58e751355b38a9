"""How tests wait for other processes."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(
    true: Callable[[], bool], why: Callable[[], object] = lambda: "waited in vain", seconds: float = 90
) -> None:
    """Return once it is true; ``why`` is what there was instead."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, why()
        time.sleep(0.05)
