"""Turns within one event loop: the tasks of one person, however many, do not hold up those of another.

A loop runs what is ready in the order in which it became so: a task behind sixty others waits for all of them at each of
its awaits. Here tasks of several people run one step at a time by turns, and who has much under way goes slower. Of the
tasks of a person who goes slower, those that began first go first: then one after the other ends, instead of all at the
very last. While only one person has tasks, they run as they always do.
"""

import asyncio
import contextvars
import heapq
from collections import Counter
from collections.abc import Coroutine, Generator
from types import CoroutineType
from typing import Any, TypeVar

from steward.core.demand import DEMAND, LOOK_AGAIN, Demand, Pace
from steward.core.shares import SYSTEM, FairQueue, Share, current_place, current_share

T = TypeVar("T")


class FairTurns:
    """Makes an event loop's tasks take turns; of the shares that are current where the tasks are made."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, demand: Demand = DEMAND, pace: Pace | None = None
    ) -> None:
        self._loop = loop
        self._tasks: Counter[Share] = Counter()
        self._waiting: FairQueue[_Turn] = FairQueue(slots=1)
        self._slowed: dict[Share, list[_Turn]] = {}
        self._pumping = False
        self._demand = demand
        self.pace = pace or Pace()
        loop.set_task_factory(self._made)

    def _made(
        self,
        loop: asyncio.AbstractEventLoop,
        coro: Coroutine[Any, Any, T] | Generator[Any, None, T],
        *,
        context: contextvars.Context | None = None,
    ) -> "asyncio.Future[T]":
        share = current_share()
        # Most are plain coroutines; to ask the abstract class takes longer than the rest of this.
        if share != SYSTEM and (type(coro) is CoroutineType or isinstance(coro, Coroutine)):
            coro = _Steps(self, share, current_place(), coro)
        return asyncio.Task(coro, loop=loop, context=context)

    def begin(self, share: Share) -> None:
        self._tasks[share] += 1
        self._demand.begin(share)

    def end(self, share: Share) -> None:
        self._tasks[share] -= 1
        if not self._tasks[share]:
            del self._tasks[share]
        self._demand.end(share)

    def turn(self, share: Share, place: int) -> "_Turn | None":
        """Done when the task may run one step; None when it may at once."""
        alone = len(self._tasks) == 1 and not self._pumping
        if alone and self._demand.may_go(share, self.pace):
            return None
        turn = _Turn(place, self._loop.create_future())
        self._waiting.put(share, turn, place)
        if not self._pumping:
            self._pumping = True
            self._loop.call_soon(self._pump)
        return turn

    def give_up(self, share: Share, turn: "_Turn") -> None:
        self._waiting.discard(share, turn)
        turn.may_go.cancel()

    def _pump(self) -> None:
        """Lets one step run. The loop calls in order, so that it is called again after that step."""
        taken = self._waiting.take()
        if taken is None:
            self._pumping = False
            return
        share, turn = taken
        self._waiting.done(share)
        slowed = self._slowed.get(share)
        if slowed is not None:
            heapq.heappush(slowed, turn)
        else:
            self._slowed[share] = [turn]
            self._let_go(share)
        self._loop.call_soon(self._pump)

    def _let_go(self, share: Share) -> None:
        """Lets those go that may, and looks again a little later for the rest."""
        slowed = self._slowed[share]
        while slowed and (slowed[0].may_go.done() or self._demand.may_go(share, self.pace)):
            turn = heapq.heappop(slowed)
            if not turn.may_go.done():
                turn.may_go.set_result(None)
        if slowed:
            self._loop.call_later(LOOK_AGAIN, self._let_go, share)
        else:
            del self._slowed[share]


class _Turn:
    """A step that waits; those of tasks that began earlier come first."""

    __slots__ = ("may_go", "place")

    def __init__(self, place: int, may_go: "asyncio.Future[None]") -> None:
        self.place = place
        self.may_go = may_go

    def __lt__(self, other: "_Turn") -> bool:
        return self.place < other.place


class _Steps(Coroutine[Any, Any, T]):
    """A coroutine whose every step waits for its turn. What is thrown into it, such as a cancellation, does not wait."""

    def __init__(
        self, turns: FairTurns, share: Share, place: int, coro: Coroutine[Any, Any, T]
    ) -> None:
        self._turns = turns
        self._share = share
        self._place = place
        self._coro = coro
        self._turn: _Turn | None = None
        self._over = False
        turns.begin(share)

    def send(self, value: Any, /) -> Any:
        if self._turn is None:
            self._turn = self._turns.turn(self._share, self._place)
            if self._turn is not None:
                return next(self._turn.may_go.__await__())
        self._turn = None
        pace = self._turns.pace
        began = pace.cost_clock() if pace.slows(self._share) else None
        try:
            return self._coro.send(value)
        except BaseException:
            # Also when it returned, which coroutines say by raising.
            self._end()
            raise
        finally:
            if began is not None:
                pace.learn(self._share, pace.cost_clock() - began)

    def throw(self, *problem: Any) -> Any:
        if self._turn is not None:
            self._turns.give_up(self._share, self._turn)
            self._turn = None
        try:
            return self._coro.throw(*problem)
        except BaseException:
            self._end()
            raise

    def close(self) -> None:
        self._end()
        self._coro.close()

    def __await__(self) -> Generator[Any, Any, T]:
        raise TypeError("Only an event loop steps through it.")

    def _end(self) -> None:
        if not self._over:
            self._over = True
            self._turns.end(self._share)
