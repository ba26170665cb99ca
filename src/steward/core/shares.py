"""Fair shares: whose work something is, and a queue that serves projects alike, and the people within each alike."""

import heapq
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, Generic, NamedTuple, TypeVar

T = TypeVar("T")
_places = itertools.count(1)
_BEFORE_ALL: Final = 1 << 60


class Share(NamedTuple):
    """Whom work counts against."""

    project: str
    person: str


SYSTEM: Final = Share("", "")
"""Work of Steward itself, which is one of those that share."""

_current: ContextVar[Share] = ContextVar("share", default=SYSTEM)


_place: ContextVar[int | None] = ContextVar("place", default=None)


def current_place() -> int:
    """When the request or run began for which this is done: of those of one person, the first come first."""
    place = _place.get()
    return next(_places) if place is None else place


def keep_place() -> None:
    """Gives the task that calls this a place for good: what it does later comes before what others begin later."""
    _place.set(current_place())


@contextmanager
def before_requests() -> Iterator[None]:
    """Gives what is started inside a place before every request: what was taken up ends before more is taken up."""
    before = _place.set(next(_places) - _BEFORE_ALL)
    try:
        yield
    finally:
        _place.reset(before)


_alone: ContextVar[bool] = ContextVar("alone", default=True)


def is_alone() -> bool:
    """Whether this call is the only one of its person that runs; further ones give way to those of others."""
    return _alone.get()


@contextmanager
def running_alone(alone: bool) -> Iterator[None]:
    before = _alone.set(alone)
    try:
        yield
    finally:
        _alone.reset(before)


def current_share() -> Share:
    """Whose work is being done here; tasks and threads inherit it."""
    return _current.get()


@contextmanager
def sharing(share: Share) -> Iterator[None]:
    """Counts everything inside against one person in one project, and gives it all one place."""
    before = _current.set(share)
    place = _place.set(current_place())
    try:
        yield
    finally:
        _place.reset(place)
        _current.reset(before)


@dataclass
class _Person(Generic[T]):
    waiting: list[tuple[int, int, T]] = field(default_factory=list)
    """By place, then in the order in which they came: a heap."""
    running: int = 0
    served: int = 0
    """The turn at which it was last theirs."""
    since: int = 0
    """The turn since which they wait with nothing running."""


@dataclass
class _Project(Generic[T]):
    people: dict[str, _Person[T]] = field(default_factory=dict)
    served: int = 0

    @property
    def running(self) -> int:
        return sum(person.running for person in self.people.values())


class FairQueue(Generic[T]):
    """Who has the fewest running comes next, projects before people; among equals, who was served longest ago.

    One person may have all `slots` while nobody else waits. Nothing that runs is interrupted, so beside the slots there
    is a reserve: a person who has nothing running gets one of it at once, whatever the others do. Whoever waits with
    nothing running while as many others start as there are slots comes before all, even in a project that is busy.
    """

    def __init__(self, slots: int, reserve: int = 0) -> None:
        self._slots = slots
        self._reserve = reserve
        self._projects: dict[str, _Project[T]] = {}
        self._turn = 0
        self._came = 0
        self._running = 0

    def __len__(self) -> int:
        """How many wait."""
        return sum(
            len(person.waiting)
            for project in self._projects.values()
            for person in project.people.values()
        )

    def put(self, share: Share, item: T, place: int = 0) -> None:
        """Of the items of one person, those with the lowest place come first, and among them who came first."""
        project = self._projects.setdefault(share.project, _Project())
        person = project.people.setdefault(share.person, _Person())
        if not person.waiting:
            person.since = self._turn
        self._came += 1
        heapq.heappush(person.waiting, (place, self._came, item))

    def take(self) -> tuple[Share, T] | None:
        """The item whose turn it is, which counts as running until `done`; None when nothing may start."""
        if self._running >= self._slots + self._reserve:
            return None
        share = self._next(newcomers=self._running >= self._slots)
        if share is None:
            return None
        self._turn += 1
        self._running += 1
        project = self._projects[share.project]
        person = project.people[share.person]
        person.running += 1
        person.served = project.served = self._turn
        return share, heapq.heappop(person.waiting)[2]

    def running(self, share: Share) -> int:
        """How many of a person run."""
        project = self._projects.get(share.project)
        person = project.people.get(share.person) if project is not None else None
        return person.running if person is not None else 0

    def done(self, share: Share) -> None:
        """Something that was taken is over."""
        self._running -= 1
        person = self._projects[share.project].people[share.person]
        person.running -= 1
        person.since = self._turn
        self._forget_idle(share)

    def discard(self, share: Share, item: T) -> bool:
        """Takes an item out that still waits; whether it did."""
        project = self._projects.get(share.project)
        person = project.people.get(share.person) if project is not None else None
        left = [] if person is None else [each for each in person.waiting if each[2] is not item]
        if person is None or len(left) == len(person.waiting):
            return False
        # What is left of a sorted list is a heap.
        person.waiting = sorted(left, key=lambda each: each[:2])
        self._forget_idle(share)
        return True

    def drain(self) -> list[T]:
        """Takes out everything that waits."""
        people = [
            (Share(name, who), person)
            for name, project in self._projects.items()
            for who, person in project.people.items()
        ]
        left = [
            item
            for _, person in people
            for _, _, item in sorted(person.waiting, key=lambda each: each[:2])
        ]
        for share, person in people:
            person.waiting.clear()
            self._forget_idle(share)
        return left

    def _next(self, *, newcomers: bool) -> Share | None:
        found = [
            (self._place(project, person), Share(name, who))
            for name, project in self._projects.items()
            for who, person in project.people.items()
            if person.waiting and not (newcomers and person.running)
        ]
        return min(found)[1] if found else None

    def _place(self, project: _Project[T], person: _Person[T]) -> tuple[int, ...]:
        if not person.running and self._turn - person.since >= self._slots:
            return (-1, person.since)
        return (project.running, project.served, person.running, person.served)

    def _forget_idle(self, share: Share) -> None:
        project = self._projects[share.project]
        person = project.people[share.person]
        if not person.waiting and not person.running:
            del project.people[share.person]
            if not project.people:
                del self._projects[share.project]
