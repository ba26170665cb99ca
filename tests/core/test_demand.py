"""Demand: who has much under way goes slower while somebody with little is active, and never stops."""

import asyncio
import contextvars
import threading

import pytest

from steward.core.demand import Demand, Pace
from steward.core.fair_tasks import FairTurns
from steward.core.fair_threads import FairThreads, give_way
from steward.core.shares import SYSTEM, Share, sharing

ANN, BOB = Share("one", "ann"), Share("one", "bob")
MUCH = 30


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def demand(clock: Clock) -> Demand:
    """Ann has much under way, Bob has just asked for something."""
    made = Demand(clock)
    for _ in range(MUCH):
        made.begin(ANN)
    made.begin(BOB)
    made.asked(BOB)
    return made


def test_who_has_much_goes_at_a_pace_while_somebody_with_little_is_active(
    demand: Demand, clock: Clock
) -> None:
    pace = Pace()
    assert [demand.may_go(ANN, pace) for _ in range(3)] == [True, False, False]
    clock.time += 0.11
    assert [demand.may_go(ANN, pace) for _ in range(2)] == [True, False]


def test_the_pause_is_as_long_as_what_pieces_cost_so_many_times(
    demand: Demand, clock: Clock
) -> None:
    pace = Pace(times=4.0, longest=1.0)
    demand.may_go(ANN, pace)
    pace.learn(ANN, 0.1)
    clock.time += 5
    demand.asked(BOB)
    assert demand.may_go(ANN, pace)
    clock.time += 0.39
    assert not demand.may_go(ANN, pace)
    clock.time += 0.02
    assert demand.may_go(ANN, pace)


def test_nobody_pauses_longer_than_the_longest_pause(demand: Demand, clock: Clock) -> None:
    pace = Pace(times=4.0, longest=1.0)
    demand.may_go(ANN, pace)
    pace.learn(ANN, 60.0)
    clock.time += 5
    demand.asked(BOB)
    assert demand.may_go(ANN, pace)
    clock.time += 0.9
    demand.asked(BOB)
    assert not demand.may_go(ANN, pace)
    clock.time += 0.11
    demand.asked(BOB)
    assert demand.may_go(ANN, pace)


def test_who_has_little_never_waits(demand: Demand) -> None:
    pace = Pace()
    assert all(demand.may_go(BOB, pace) for _ in range(10))


def test_stewards_own_work_never_waits(demand: Demand) -> None:
    pace = Pace()
    demand.begin(SYSTEM)
    assert all(demand.may_go(SYSTEM, pace) for _ in range(10))


def test_nobody_waits_for_a_person_who_does_nothing_at_the_moment(
    demand: Demand, clock: Clock
) -> None:
    pace = Pace()
    clock.time += 5
    assert all(demand.may_go(ANN, pace) for _ in range(10))


def test_what_somebody_has_done_just_now_counts_as_activity(demand: Demand, clock: Clock) -> None:
    clock.time += 5
    pace = Pace()
    demand.may_go(BOB, pace)
    assert [demand.may_go(ANN, pace) for _ in range(2)] == [True, False]


def test_people_with_about_as_much_do_not_wait_for_each_other(demand: Demand) -> None:
    for _ in range(MUCH // 2):
        demand.begin(BOB)
    pace = Pace()
    assert all(demand.may_go(ANN, pace) for _ in range(10))


def test_who_has_ended_most_of_it_goes_as_fast_as_others(demand: Demand) -> None:
    for _ in range(MUCH - 2):
        demand.end(ANN)
    pace = Pace()
    assert all(demand.may_go(ANN, pace) for _ in range(10))


def test_a_pool_of_threads_holds_calls_back_until_it_is_their_turn(
    demand: Demand, clock: Clock
) -> None:
    # So that the clock alone says when Ann's second call may start.
    threads = FairThreads(2, 2, demand=demand)
    started = threading.Semaphore(0)
    with sharing(ANN):
        first = threads.submit(started.release)
        first.result(10)
        second = threads.submit(started.release)
    with sharing(BOB):
        assert threads.submit(lambda: "bob's").result(10) == "bob's"
    assert not second.done()
    clock.time += 60
    second.result(10)
    threads.shutdown()


def test_a_long_call_gives_way_between_its_parts(demand: Demand, clock: Clock) -> None:
    threads = FairThreads(2, 2, demand=demand)
    came, parts = threading.Semaphore(0), list[int]()

    def long() -> None:
        for number in range(3):
            parts.append(number)
            came.release()
            give_way()

    with sharing(ANN):
        call = threads.submit(long)
    assert came.acquire(timeout=10)
    with sharing(BOB):
        # He is served while Ann's call waits in its middle.
        assert threads.submit(lambda: "bob's").result(10) == "bob's"
    assert parts == [0]
    clock.time += 60
    call.result(10)
    assert parts == [0, 1, 2]
    threads.shutdown()


def test_outside_of_a_pool_nothing_gives_way() -> None:
    give_way()


def test_a_pool_that_closes_does_not_wait_for_calls_that_are_held_back(demand: Demand) -> None:
    threads = FairThreads(2, 2, demand=demand)
    with sharing(ANN):
        threads.submit(int).result(10)
        held = threads.submit(int)
    threads.shutdown()
    assert held.done()


def test_tasks_step_at_a_pace_while_somebody_with_little_is_active(
    demand: Demand, clock: Clock
) -> None:
    steps: list[str] = []

    async def stepping(name: str) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
            steps.append(name)

    async def main() -> None:
        FairTurns(asyncio.get_running_loop(), demand)
        with sharing(ANN):
            ann = asyncio.create_task(stepping("ann"))
        with sharing(BOB):
            await asyncio.create_task(stepping("bob"))
        assert steps.count("ann") <= 1
        clock.time += 60
        await ann

    asyncio.run(main())
    assert steps.count("ann") == steps.count("bob") == 5


class _Ticking(Clock):
    """Each look at it is some seconds later: whoever asks again may go."""

    def __call__(self) -> float:
        self.time += 0.3
        return self.time


def _kept_active() -> Demand:
    demand = Demand(_Ticking())
    for _ in range(MUCH):
        demand.begin(ANN)
    demand.begin(BOB)
    # For so long that Ann goes slower until all is over.
    demand._active(BOB, 1e6)
    return demand


def test_of_the_tasks_of_who_goes_slower_the_first_ends_first() -> None:
    ended: list[int] = []

    async def part() -> None:
        await asyncio.sleep(0)

    async def stepping(number: int) -> None:
        for _ in range(5):
            # What a task starts has the task's own place.
            await asyncio.create_task(part())
        ended.append(number)

    async def main() -> None:
        FairTurns(asyncio.get_running_loop(), _kept_active())
        tasks = []
        for number in range(8):
            with sharing(ANN):
                tasks.append(asyncio.create_task(stepping(number)))
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert ended == sorted(ended)


def test_of_the_calls_of_who_goes_slower_those_of_the_first_task_start_first(
    demand: Demand, clock: Clock
) -> None:
    demand._active(BOB, 1e6)
    threads = FairThreads(8, 2, demand=demand)
    order: list[int] = []
    contexts = []
    for _ in range(6):
        with sharing(ANN):
            contexts.append(contextvars.copy_context())
    contexts[0].run(threads.submit, int).result(10)
    backwards = list(reversed(range(6)))
    calls = [contexts[n].run(threads.submit, order.append, n) for n in backwards]
    while len(threads._slowed[ANN]) < len(calls):
        threading.Event().wait(0.001)
    for done in range(len(calls)):
        clock.time += 60
        while sum(call.done() for call in calls) <= done:
            threading.Event().wait(0.001)
    threads.shutdown()
    assert order == sorted(order)
