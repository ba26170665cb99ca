"""Rate limits: a token bucket per principal, or per address for people who are not signed in."""

import math
from threading import Lock

from steward.core import Clock, RateLimited

_MAX_BUCKETS = 10_000


class RateLimiter:
    def __init__(self, clock: Clock, *, per_minute: int, burst: int) -> None:
        self._clock = clock
        self._rate = per_minute / 60
        self._burst = float(burst)
        self._lock = Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> None:
        """Uses one request of the key's allowance, or refuses and says when to come back."""
        now = self._clock.monotonic()
        with self._lock:
            level, since = self._buckets.get(key, (self._burst, now))
            level = min(self._burst, level + (now - since) * self._rate)
            if level < 1:
                wait = max(1, math.ceil((1 - level) / self._rate))
                raise RateLimited(
                    f"Too many requests. Try again in {wait} s.", retry_after_seconds=wait
                )
            self._buckets[key] = (level - 1, now)
            if len(self._buckets) > _MAX_BUCKETS:
                self._forget_full(now)

    def _forget_full(self, now: float) -> None:
        """Drops the buckets that would be full by now: they say nothing that a new one would not."""
        full_after = self._burst / self._rate
        self._buckets = {
            key: (level, since)
            for key, (level, since) in self._buckets.items()
            if now - since < full_after
        }
