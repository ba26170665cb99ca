"""How much each person has under way in this process: who has much goes slower while somebody with little is active.

Python runs one thread at a time, and the machine has few cores. Dividing threads fairly is therefore not enough: the one
small thing that somebody asks for would still share the processor with all that another person has running. So each
piece of work (a call in a thread, a step of a task) looks here first. While somebody with little is active, the pieces
of a person with much go at a `Pace`: they get a part of one processor, and never nothing. Otherwise nobody waits.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Final

from steward.core.shares import SYSTEM, Share

_MUCH: Final = 8
"""Times as many things under way as somebody else has: people who work alike do not wait for each other."""
_STILL_ACTIVE: Final = 0.2
"""Seconds after a piece of work in which the next one usually follows."""
_ANSWERED_WITHIN: Final = 1.0
"""Seconds for which somebody who asked for something counts as active; what takes longer is not small."""
_USUAL_COST: Final = 0.005
"""Seconds for the first piece of a person, whose cost is not known yet."""
LOOK_AGAIN: Final = 0.004
"""Seconds after which a piece of work that must wait looks again."""


class Pace:
    """A part of one processor for each person who must go slower: after each piece of work a pause as long as it usually costs, so many times.

    Long pieces lead to long pauses and short ones to short pauses. So nobody has to guess how long pieces are, and the
    person who must go slower gets the same part of the machine from threads, tasks and executions.
    """

    def __init__(
        self,
        times: float = 8.0,
        longest: float = 1.0,
        cost_clock: Callable[[], float] = time.thread_time,
    ) -> None:
        """`cost_clock` says what a piece costs: the processor time of the thread, or for work elsewhere the time that passes."""
        self._times = times
        self._longest = longest
        self.cost_clock = cost_clock
        self._next_at: dict[Share, float] = {}
        self._costs: dict[Share, float] = {}

    def slows(self, share: Share) -> bool:
        return share in self._next_at

    def may_go(self, share: Share, now: float) -> bool:
        if now < self._next_at.get(share, 0.0):
            return False
        pause = self._times * self._costs.get(share, _USUAL_COST)
        self._next_at[share] = now + min(pause, self._longest)
        return True

    def learn(self, share: Share, seconds: float) -> None:
        """Remembers what pieces of this person usually cost while they go slower."""
        if share in self._next_at:
            known = self._costs.get(share, seconds)
            self._costs[share] = known + (seconds - known) / 4

    def forget(self, share: Share) -> None:
        if self._next_at:
            self._next_at.pop(share, None)
            self._costs.pop(share, None)


@dataclass
class _Account:
    under_way: int = 0
    active_until: float = 0.0


class Demand:
    """Counts calls and tasks per person. Steward's own are not counted and never wait."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._accounts: dict[Share, _Account] = {}

    def begin(self, share: Share) -> None:
        """Something of this person is under way from now on, even if it still waits for a thread."""
        if share != SYSTEM:
            with self._lock:
                self._account(share).under_way += 1

    def end(self, share: Share) -> None:
        if share != SYSTEM:
            with self._lock:
                self._account(share).under_way -= 1

    def asked(self, share: Share) -> None:
        """Somebody has asked for something and waits for the answer."""
        self._active(share, _ANSWERED_WITHIN)

    def may_go(self, share: Share, pace: Pace) -> bool:
        """Whether a piece of work may start now; one that may counts as started."""
        # Most of the time one person works alone.
        if share == SYSTEM or len(self._accounts) < 2:
            return True
        with self._lock:
            now = self._clock()
            if not self._gives_way(share, now):
                pace.forget(share)
            elif not pace.may_go(share, now):
                return False
        self._active(share, _STILL_ACTIVE)
        return True

    def _active(self, share: Share, seconds: float) -> None:
        with self._lock:
            account = self._account(share)
            account.active_until = max(account.active_until, self._clock() + seconds)

    def _gives_way(self, share: Share, now: float) -> bool:
        """Whether the person has much under way while somebody with little is active."""
        mine = self._accounts.get(share)
        return mine is not None and any(
            now < other.active_until and _MUCH * max(other.under_way, 1) < mine.under_way
            for other in self._accounts.values()
        )

    def _account(self, share: Share) -> _Account:
        found = self._accounts.get(share)
        if found is None:
            now = self._clock()
            over = [
                each
                for each, account in self._accounts.items()
                if not account.under_way and now >= account.active_until
            ]
            for each in over:
                del self._accounts[each]
            found = self._accounts[share] = _Account()
        return found


DEMAND: Final = Demand()
"""That of this process."""
