"""A pool of threads that people share fairly: a hundred calls of one person do not hold up the one of another."""

import heapq
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

from steward.core.demand import DEMAND, LOOK_AGAIN, Demand, Pace
from steward.core.shares import FairQueue, Share, current_place, current_share, running_alone

P = ParamSpec("P")
T = TypeVar("T")


_SWITCH_SECONDS: Final = 0.0005
_here = threading.local()
"""In a thread of a pool, `give_way`: what waits between two parts of the call that it runs."""


def give_way() -> None:
    """Called between two parts of a long call: waits as a new call of the same person would.

    Call it where you hold nothing that others wait for. Outside of such a pool it does nothing.
    """
    wait = getattr(_here, "give_way", None)
    if wait is not None:
        wait()


def share_processor() -> None:
    """Lets threads hand over more often: one that has little to do waits for each that calculates, ten times less long."""
    sys.setswitchinterval(_SWITCH_SECONDS)


class FairThreads(ThreadPoolExecutor):
    """At most `slots` calls at once, and of people who have none running `reserve` more.

    A call counts against the share that is current where it is submitted. An event loop takes it as its default pool.
    """

    def __init__(
        self,
        slots: int,
        reserve: int,
        thread_name_prefix: str = "",
        pace: Pace | None = None,
        demand: Demand = DEMAND,
    ) -> None:
        """While somebody with little under way is active, the calls of a person with much start at this pace."""
        super().__init__(slots + reserve, thread_name_prefix=thread_name_prefix)
        self._pace = pace or Pace()
        self._demand = demand
        self._queue: FairQueue[_Call] = FairQueue(slots, reserve)
        self._queueing = threading.Lock()
        self._slowed: defaultdict[Share, list[_Call]] = defaultdict(list)
        self._closed = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        call = _Call(current_share(), current_place(), partial(fn, *args, **kwargs))
        with self._queueing:
            if self._closed:
                raise RuntimeError("This pool of threads was closed; nothing new can start in it.")
            self._queue.put(call.share, call, call.place)
            self._demand.begin(call.share)
        self._start()
        return call.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """What waits for its turn is cancelled; what runs may end."""
        with self._queueing:
            self._closed = True
            left = self._queue.drain()
        for call in left:
            call.future.cancel()
            self._demand.end(call.share)
        super().shutdown(wait, cancel_futures=cancel_futures)

    def _start(self) -> None:
        while True:
            with self._queueing:
                taken = None if self._closed else self._queue.take()
                if taken is None:
                    return
                share, call = taken
                super().submit(self._run, share, call, alone=self._queue.running(share) == 1)

    def _run(self, share: Share, call: "_Call", *, alone: bool) -> None:
        try:
            if not self._demand.may_go(share, self._pace):
                self._wait(share, call)
            began = self._pace.cost_clock()

            def part() -> None:
                nonlocal began
                self._pace.learn(share, self._pace.cost_clock() - began)
                if not self._demand.may_go(share, self._pace):
                    self._wait(share, call)
                began = self._pace.cost_clock()

            _here.give_way = part
            with running_alone(alone):
                call.run()
            self._pace.learn(share, self._pace.cost_clock() - began)
        finally:
            _here.give_way = None
            with self._queueing:
                self._queue.done(share)
            self._demand.end(share)
            self._start()

    def _wait(self, share: Share, call: "_Call") -> None:
        """Until it may go: of those of one person who goes slower, the ones of tasks that began first."""
        with self._queueing:
            heapq.heappush(self._slowed[share], call)
        while not self._closed:
            with self._queueing:
                slowed = self._slowed[share]
                if slowed[0] is call and self._demand.may_go(share, self._pace):
                    heapq.heappop(slowed)
                    if not slowed:
                        del self._slowed[share]
                    return
            time.sleep(LOOK_AGAIN)


class _Call:
    def __init__(self, share: Share, place: int, work: Callable[[], Any]) -> None:
        self.share = share
        self.place = place
        self._work = work
        self.future: Future[Any] = Future()

    def __lt__(self, other: "_Call") -> bool:
        return self.place < other.place

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self._work()
        except BaseException as problem:  # noqa: BLE001 - whoever waits for the call gets it
            self.future.set_exception(problem)
        else:
            self.future.set_result(result)
