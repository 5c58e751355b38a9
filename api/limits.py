"""How many requests an API key may make: a bucket of tokens for each, in this process."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from time import monotonic


@dataclass(slots=True)
class Bucket:
    """Holds a minute's requests and fills up evenly; each request takes one."""

    per_minute: int
    tokens: float
    seen: float

    def take(self, now: float) -> bool:
        self.tokens = min(self.per_minute, self.tokens + (now - self.seen) * self.per_minute / 60)
        self.seen = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    def seconds_until(self, tokens: float) -> int:
        """Whole seconds until it holds so many."""
        return ceil(max(0.0, tokens - self.tokens) * 60 / self.per_minute)


class Buckets:
    """The buckets of all keys that were seen. Used by the event loop alone, so without a lock.

    They are not shared: of several API processes each allows a key as many requests. A count in the store would cost
    every request a write to one row, and would not protect the store.
    """

    def __init__(self) -> None:
        self._buckets: dict[int, Bucket] = {}

    def take(self, key_id: int, per_minute: int) -> tuple[bool, dict[str, str]]:
        """Whether the key may make one more request now, and the headers that tell its client where it is."""
        now = monotonic()
        bucket = self._buckets.get(key_id)
        if bucket is None or bucket.per_minute != per_minute:
            bucket = self._buckets[key_id] = Bucket(per_minute, per_minute, now)
        allowed = bucket.take(now)
        headers = {
            "RateLimit-Limit": str(per_minute),
            "RateLimit-Remaining": str(int(bucket.tokens)),
            "RateLimit-Reset": str(bucket.seconds_until(per_minute)),
        }
        if not allowed:
            headers["Retry-After"] = str(bucket.seconds_until(1))
        return allowed, headers
