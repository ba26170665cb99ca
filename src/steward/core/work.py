"""Long work: it reports how far it is, and it ends soon after someone stops it.

The work that a thread or task does for someone is found by `current()`; threads started with the caller's context
inherit it. What can be ended from outside (a query, a child process, a request) registers how with `ended_by`.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

from steward.core.fair_threads import give_way

T = TypeVar("T")
_AGAIN = 0.05
"""Seconds until something is stopped again that has not ended."""


class Stopped(BaseException):
    """The work is no longer wanted; not an Exception, so that no `except Exception` swallows it."""


@dataclass(frozen=True)
class Progress:
    doing: str
    done: int = 0
    total: int | None = None
    """How much there is to do, where that is known."""


class Work:
    """One piece of long work; may be stopped from any thread."""

    def __init__(self, tell: Callable[[Progress], None] | None = None) -> None:
        self._tell = tell
        self._stopped = False
        self._lock = threading.Lock()
        self._ends: list[Callable[[], object]] = []

    @property
    def stopped(self) -> bool:
        return self._stopped

    def report(self, doing: str, done: int = 0, total: int | None = None) -> None:
        """Says what is being done; raises Stopped when the work is no longer wanted.

        Gives way first to people who have little under way.
        """
        give_way()
        self.check()
        self.tell(Progress(doing, done, total))

    def tell(self, progress: Progress) -> None:
        if self._tell is not None:
            self._tell(progress)

    def check(self) -> None:
        if self._stopped:
            raise Stopped

    def stop(self) -> None:
        """Ends the work at its next report, and what it waits for at once.

        To be repeated until the work has ended: it may just have been between two things that can be ended.
        """
        self._stopped = True
        with self._lock:
            for end in self._ends:
                end()

    async def keep_stopping(self) -> None:
        """Stops the work until the caller, who waits for its end, cancels this."""
        while True:
            self.stop()
            await asyncio.sleep(_AGAIN)

    @contextmanager
    def ended_by(self, end: Callable[[], object]) -> Iterator[None]:
        """What happens inside is ended by calling `end` from another thread; how it fails then is not its fault.

        `end` must be quick, must not raise, and may be called more than once.
        """
        with self._lock:
            self._ends.append(end)
        try:
            self.check()
            yield
        except Exception as problem:
            if self._stopped:
                raise Stopped from problem
            raise
        finally:
            with self._lock:
                self._ends.remove(end)


_UNWATCHED = Work()
_current: ContextVar[Work] = ContextVar("work", default=_UNWATCHED)


def current() -> Work:
    return _current.get()


def report(doing: str, done: int = 0, total: int | None = None) -> None:
    """Reports for the work that is being done here."""
    _current.get().report(doing, done, total)


@contextmanager
def doing(work: Work) -> Iterator[Work]:
    """What happens inside, and in threads started inside, belongs to `work`."""
    token = _current.set(work)
    try:
        yield work
    finally:
        _current.reset(token)


async def stoppable(waiting: Coroutine[Any, Any, T]) -> T:
    """Waits for something that a stop may break off, such as a download; not for a send."""
    loop = asyncio.get_running_loop()
    task = loop.create_task(waiting)
    work = _current.get()

    def end() -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    try:
        with work.ended_by(end):
            return await task
    except asyncio.CancelledError:
        if work.stopped and task.cancelled():
            raise Stopped from None
        raise
    finally:
        task.cancel()


async def in_thread(job: Callable[[], T], *, patience: float, pool: Executor | None = None) -> T:
    """Blocking work in a thread of the same context, taken from `pool` or the loop's own.

    Whoever is cancelled meanwhile stops the work and waits until the thread has ended, but for `patience` seconds at
    most. What still waits for a thread of the pool when it is stopped never starts.
    """
    if pool is None:
        return await _shielded(asyncio.ensure_future(asyncio.to_thread(job)), patience)
    call = pool.submit(copy_context().run, job)
    thread = asyncio.wrap_future(call)
    try:
        with _current.get().ended_by(call.cancel):
            return await _shielded(thread, patience)
    except asyncio.CancelledError:
        if call.cancelled() and _current.get().stopped:
            raise Stopped from None
        raise
    finally:
        call.cancel()


async def _shielded(thread: "asyncio.Future[T]", patience: float) -> T:
    try:
        return await asyncio.shield(thread)
    except asyncio.CancelledError:
        await _ended(thread, _current.get(), patience)
        raise


async def _ended(thread: "asyncio.Future[Any]", work: Work, patience: float) -> None:
    if work is _UNWATCHED:
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(patience):
            while not thread.done():
                work.stop()
                await asyncio.wait({thread}, timeout=_AGAIN)
    # How it ended is nobody's concern any more, and no exception that was lost.
    thread.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
