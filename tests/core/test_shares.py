"""Fair shares: one person's work, however much of it, never keeps another's waiting for long."""

import asyncio
import itertools
import threading
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.core.fair_tasks import FairTurns
from steward.core.fair_threads import FairThreads
from steward.core.shares import SYSTEM, FairQueue, Share, current_share, sharing

ANN, BOB, CARL, DORA = (
    Share("one", "ann"),
    Share("one", "bob"),
    Share("two", "carl"),
    Share("two", "dora"),
)
PEOPLE = (ANN, BOB, CARL, DORA)


def _taken(queue: FairQueue[str], count: int) -> list[str]:
    found = [queue.take() for _ in range(count)]
    return [each[1] for each in found if each is not None]


def test_one_person_may_use_every_slot_while_nobody_else_waits() -> None:
    queue: FairQueue[str] = FairQueue(slots=3, reserve=1)
    for number in range(5):
        queue.put(ANN, f"a{number}")
    assert _taken(queue, 5) == ["a0", "a1", "a2"]
    assert len(queue) == 2


def test_who_has_nothing_running_starts_at_once_though_all_slots_are_taken() -> None:
    queue: FairQueue[str] = FairQueue(slots=2, reserve=1)
    for number in range(9):
        queue.put(ANN, f"a{number}")
    _taken(queue, 9)
    queue.put(BOB, "b0")
    queue.put(BOB, "b1")
    assert _taken(queue, 9) == ["b0"]


def test_projects_come_by_turns_and_so_do_the_people_within_each() -> None:
    queue: FairQueue[str] = FairQueue(slots=8)
    for share, name in ((ANN, "a"), (BOB, "b"), (CARL, "c")):
        for number in range(4):
            queue.put(share, f"{name}{number}")
    assert _taken(queue, 8) == ["a0", "c0", "b0", "c1", "a1", "c2", "b1", "c3"]


def test_what_no_longer_waits_is_never_handed_out() -> None:
    queue: FairQueue[str] = FairQueue(slots=1)
    queue.put(ANN, "a0")
    queue.put(BOB, "b0")
    assert queue.discard(ANN, "a0")
    assert not queue.discard(ANN, "a0")
    assert not queue.discard(CARL, "c0")
    assert _taken(queue, 3) == ["b0"]
    queue.done(BOB)
    queue.put(CARL, "c0")
    assert queue.drain() == ["c0"]
    assert queue.take() is None


_MOVES = st.lists(
    st.tuples(st.sampled_from(["put", "take", "done"]), st.sampled_from(PEOPLE)), max_size=200
)


@given(_MOVES, st.integers(1, 4), st.integers(0, 2))
def test_nobody_with_nothing_running_waits_behind_many_of_one_other(
    moves: list[tuple[str, Share]], slots: int, reserve: int
) -> None:
    queue: FairQueue[int] = FairQueue(slots, reserve)
    running: Counter[Share] = Counter()
    waiting: Counter[Share] = Counter()
    passed: dict[Share, Counter[Share]] = {}
    for number, (move, share) in enumerate(moves):
        if move == "put":
            queue.put(share, number)
            waiting[share] += 1
        elif move == "done" and running[share]:
            queue.done(share)
            running[share] -= 1
        elif move == "take":
            taken = queue.take()
            total = sum(running.values())
            if taken is None:
                could = [each for each in PEOPLE if waiting[each] and not running[each]]
                full = total >= slots + (reserve if could else 0)
                assert full or not sum(waiting.values())
                continue
            assert total < slots + reserve
            who = taken[0]
            assert total < slots or not running[who]
            running[who] += 1
            waiting[who] -= 1
            for each in PEOPLE:
                if each != who and waiting[each] and not running[each]:
                    passed.setdefault(each, Counter())[who] += 1
        for each in PEOPLE:
            if running[each] or not waiting[each]:
                passed.pop(each, None)
            assert max(passed.get(each, Counter()).values(), default=0) <= slots + 1


@pytest.fixture
def threads() -> Iterator[FairThreads]:
    pool = FairThreads(2, 2, "fair")
    yield pool
    pool.shutdown()


def test_a_call_of_another_person_does_not_wait_for_a_hundred_of_one(threads: FairThreads) -> None:
    go_on = threading.Event()
    with sharing(ANN):
        held = [threads.submit(go_on.wait) for _ in range(100)]
    try:
        with sharing(BOB):
            assert threads.submit(current_share).result(timeout=30) == SYSTEM
            assert threads.submit(lambda: 7).result(timeout=30) == 7
        assert sum(each.running() for each in held) == 2
    finally:
        go_on.set()
    assert all(each.result(timeout=30) for each in held)


def test_calls_that_fail_or_are_cancelled_give_their_place_free(threads: FairThreads) -> None:
    go_on = threading.Event()
    with sharing(ANN):
        held = [threads.submit(go_on.wait) for _ in range(2)]
        waiting = threads.submit(lambda: 1)
        failing = threads.submit(int, "no number")
        last = threads.submit(lambda: 2)
    assert waiting.cancel()
    go_on.set()
    assert isinstance(failing.exception(timeout=30), ValueError)
    assert last.result(timeout=30) == 2
    assert all(each.result(timeout=30) for each in held)


def _held(begun: threading.Event, go_on: threading.Event) -> bool:
    begun.set()
    return go_on.wait()


def test_a_pool_that_closes_cancels_what_waits() -> None:
    pool = FairThreads(1, 0)
    go_on, begun = threading.Event(), threading.Event()
    running = pool.submit(_held, begun, go_on)
    waiting = pool.submit(lambda: 1)
    begun.wait(30)
    pool.shutdown(wait=False)
    go_on.set()
    assert running.result(timeout=30)
    assert waiting.cancelled()
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(lambda: 1)


async def _steps(name: str, count: int, order: list[str]) -> str:
    for _ in range(count):
        order.append(name)
        await asyncio.sleep(0)
    return name


def test_a_task_of_another_person_runs_after_one_step_not_after_all_tasks_of_one() -> None:
    order: list[str] = []

    async def together() -> list[str]:
        FairTurns(asyncio.get_running_loop())
        with sharing(ANN):
            many = [asyncio.create_task(_steps("a", 5, order)) for _ in range(50)]
        with sharing(BOB):
            one = asyncio.create_task(_steps("b", 5, order))
        return await asyncio.gather(one, *many)

    assert asyncio.run(together()) == ["b", *["a"] * 50]
    last = max(at for at, name in enumerate(order) if name == "b")
    assert order[:last].count("a") <= 10
    assert order.count("a") == 250


def test_tasks_keep_results_failures_cancellation_and_what_they_start(
    recwarn: pytest.WarningsRecorder,
) -> None:
    seen: list[Share] = []

    async def inner() -> int:
        seen.append(current_share())
        await asyncio.sleep(0)
        return 1

    async def outer() -> int:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(inner()) for _ in range(3)]
        return sum(task.result() for task in tasks)

    async def failing() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await asyncio.sleep(60)
        raise LookupError

    async def endless() -> None:
        for _ in itertools.count():
            await asyncio.sleep(0)

    async def main() -> None:
        FairTurns(asyncio.get_running_loop())
        with sharing(ANN):
            good, bad = asyncio.create_task(outer()), asyncio.create_task(failing())
        with sharing(BOB):
            stopped, never = asyncio.create_task(endless()), asyncio.create_task(endless())
        never.cancel()
        assert await good == 3
        with pytest.raises(LookupError):
            await bad
        stopped.cancel()
        for task in (stopped, never):
            with pytest.raises(asyncio.CancelledError):
                await task
        with sharing(CARL):
            assert await asyncio.create_task(outer()) == 3

    asyncio.run(main())
    assert seen == [ANN] * 3 + [CARL] * 3
    assert not recwarn.list
