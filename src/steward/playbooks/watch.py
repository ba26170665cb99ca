"""Watches the triggers beside a worker's runs: takes what their sources find, stores it, starts runs, and notices silence."""

import asyncio
import os
import secrets
import socket
import statistics
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Final

import sqlalchemy as sa
import structlog

from steward.core import Clock, NetworkLevel, Services, StewardError, fault, reaching_for
from steward.identity import Level
from steward.playbooks import _tables as tables
from steward.playbooks.dispatch import Dispatch
from steward.playbooks.subscriptions import COLUMNS as _SUBSCRIPTIONS
from steward.playbooks.subscriptions import Subscription, Subscriptions, subscription_of
from steward.playbooks.trigger import Looking, Source, Taken
from steward.playbooks.trigger_events import TOPIC, TriggerEvents
from steward.store import EVERYWHERE, Bus, Database, EventLog
from steward.tools import NETWORK

LEASE: Final = timedelta(seconds=6)
_LONGEST_TAKE: Final = 60.0
"""Seconds for one look, everything included."""
_PATIENT: Final = 20.0
"""Seconds that a source may listen before it says that it is still there."""
_AT_ONCE: Final = 50
_SILENCE_SECONDS: Final = 30.0
_LEAST_GAPS: Final = 10
_LEAST_SILENCE: Final = timedelta(minutes=5)
_REMEMBERED: Final = 100
_PATIENCE: Final = 2.0
"""Silence is odd after so many times the longest gap of late."""
_EVENTS: Final = tables.trigger_events.c
_log = structlog.get_logger("steward.triggers")


class Watch:
    def __init__(
        self,
        database: Database,
        project_events: EventLog,
        bus: Bus,
        clock: Clock,
        subscriptions: Subscriptions,
        events: TriggerEvents,
        dispatch: Dispatch,
        services: Services,
    ) -> None:
        self._database = database
        self._project_events = project_events
        self._bus = bus
        self._clock = clock
        self._subscriptions = subscriptions
        self._events = events
        self._dispatch = dispatch
        self._services = services
        self._holder = f"{socket.gethostname()[:40]}/{os.getpid()}/{secrets.token_hex(4)}"
        self._taking: dict[str, asyncio.Task[None]] = {}

    async def serve(self) -> None:
        """Until it is cancelled; what is under way then is taken again by the next one."""
        loop, bell = asyncio.get_running_loop(), asyncio.Event()

        def ring() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(bell.set)

        renewing = asyncio.create_task(self._renew())
        silent_at = loop.time()
        try:
            with self._bus.listening(TOPIC, ring):
                while True:
                    bell.clear()
                    listening = loop.time() - silent_at >= _SILENCE_SECONDS
                    if listening:
                        silent_at = loop.time()
                    await self._go_on(listening=listening)
                    try:
                        async with asyncio.timeout(1.0):
                            await bell.wait()
                    except TimeoutError:
                        pass
        finally:
            renewing.cancel()
            for task in self._taking.values():
                task.cancel()
            await asyncio.gather(*self._taking.values(), return_exceptions=True)
            self._subscriptions.release(self._holder)

    async def _go_on(self, *, listening: bool) -> None:
        try:
            await asyncio.to_thread(self._dispatch.deliver)
            if listening:
                await asyncio.to_thread(self.notice_silence)
            for held in await asyncio.to_thread(self._claim):
                with reaching_for(held.scope):
                    task = asyncio.create_task(self._take(held), name=f"trigger {held.id}")
                self._taking[held.id] = task
                task.add_done_callback(partial(self._let_go, held.id))
        except StewardError as problem:
            _log.warning("triggers_not_watched", error=problem.message)
        except Exception:  # noqa: BLE001
            # One event that nobody thought of must not stop all others.
            _log.exception("triggers_not_watched")

    def _let_go(self, subscription_id: str, _task: asyncio.Task[None]) -> None:
        self._taking.pop(subscription_id, None)

    def _claim(self) -> list[Subscription]:
        room = _AT_ONCE - len(self._taking)
        if room <= 0:
            return []
        return self._subscriptions.claim(self._holder, LEASE, room, list(self._taking))

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(LEASE.total_seconds() / 3)
            try:
                await asyncio.to_thread(
                    self._subscriptions.renew, self._holder, list(self._taking), LEASE
                )
            except StewardError as problem:
                _log.warning("trigger_leases_not_renewed", error=problem.message)

    async def round(self) -> int:
        """One look at everything that is due, and the runs that come of it; how many these are."""
        for held in await asyncio.to_thread(self._claim):
            with reaching_for(held.scope):
                await self._take(held, once=True)
        return await asyncio.to_thread(self._dispatch.deliver)

    async def _take(self, held: Subscription, *, once: bool = False) -> None:
        """Looks, and goes on looking with a source that listens, as long as the lease and the revision last."""
        source: Source | None = None
        cursor = held.cursor
        try:
            source = held.trigger.source(self._looking(held, 0.0 if once else _PATIENT))
            rules = await asyncio.to_thread(self._network_levels, held)
            while source is not None:
                taken = await asyncio.wait_for(source.take(cursor), _LONGEST_TAKE)
                fault("triggers.taken")
                goes_on = taken.again_at is None and not once
                if not await asyncio.to_thread(self._store, held, taken, goes_on):
                    return
                fault("triggers.stored")
                await source.settle(taken)
                cursor = taken.cursor
                if not goes_on or rules != await asyncio.to_thread(self._network_levels, held):
                    # A line that is open was allowed by the old network policy; the next look asks the new one.
                    return
        except StewardError as problem:
            await asyncio.to_thread(self._subscriptions.fail, held, problem.message)
        except TimeoutError:
            said = f"It did not answer within {_LONGEST_TAKE:g} seconds."
            await asyncio.to_thread(self._subscriptions.fail, held, said)
        except Exception:  # noqa: BLE001 - of whatever library the source uses
            _log.exception("source_failed", trigger=held.id, type=held.type)
            said = "Steward met an unexpected error while it looked for events."
            await asyncio.to_thread(self._subscriptions.fail, held, said)
        finally:
            if source is not None:
                await _close(source, held)

    def _network_levels(self, held: Subscription) -> Sequence[NetworkLevel]:
        network = self._services.find(NETWORK)
        return () if network is None else network.levels(held.scope)

    def _looking(self, held: Subscription, patience: float) -> Looking:
        return Looking(
            held.scope,
            held.id,
            held.playbook_id,
            held.author,
            held.next_at or self._clock.now(),
            self._clock,
            self._services,
            patience,
        )

    def _store(self, held: Subscription, taken: Taken, goes_on: bool) -> bool:
        """Events and cursor in one transaction, fenced by the lease; False when it was lost."""
        if taken.arrivals:
            self._events.require_room_now(held)
        with self._database.write(held.scope) as tx:
            now = self._clock.now()
            if not self._subscriptions.move_within(
                tx, held, taken.cursor, taken.again_at or now, LEASE if goes_on else None
            ):
                return False
            self._events.store_within(tx, held, taken.arrivals)
        return True

    # Silence

    def notice_silence(self) -> int:
        """Tells the owners of triggers from which nothing comes any more; how many."""
        now = self._clock.now()
        quiet = sa.select(tables.subscriptions).where(
            _SUBSCRIPTIONS.armed == 1,
            _SUBSCRIPTIONS.enabled == 1,
            _SUBSCRIPTIONS.silent_since.is_(None),
        )
        with self._database.read(EVERYWHERE) as tx:
            found = [subscription_of(row) for row in tx.rows(quiet)]
        return sum(self._notice(each, now) for each in found)

    def _notice(self, subscription: Subscription, now: datetime) -> int:
        last = max(subscription.last_at or subscription.created_at, subscription.created_at)
        usual = self.expected_gap(subscription)
        if usual is None or now - last <= usual:
            return 0
        with self._database.write(subscription.scope) as tx:
            changed = tx.execute(
                sa.update(tables.subscriptions)
                .where(
                    _SUBSCRIPTIONS.id == subscription.id,
                    _SUBSCRIPTIONS.silent_since.is_(None),
                    # Nothing came between the look and this.
                    _SUBSCRIPTIONS.last_at == subscription.last_at
                    if subscription.last_at is not None
                    else _SUBSCRIPTIONS.last_at.is_(None),
                )
                .values(silent_since=last)
            ).rowcount
            if changed:
                told = {"trigger": subscription.name, "since": last.isoformat()}
                self._project_events.append(tx, "trigger.silent", subscription.playbook_id, told)
                said = (
                    f"No event since {last:%Y-%m-%d %H:%M} UTC; one was expected within "
                    f"{_words(usual)}. Check whoever sends them."
                )
                self._subscriptions.tell_within(tx, subscription, Level.warning, "is silent", said)
        return changed

    def expected_gap(self, subscription: Subscription) -> timedelta | None:
        """After how long without an event something is wrong: as it is told, or as its past shows."""
        try:
            trigger = subscription.trigger
        except StewardError:
            return None
        silence = trigger.delivery.silence
        if silence == "off" or not trigger.has_rhythm:
            return None
        if isinstance(silence, int):
            return timedelta(seconds=silence)
        recent = (
            sa.select(_EVENTS.received_at)
            .where(_EVENTS.trigger_id == subscription.id, _EVENTS.replay_of.is_(None))
            .order_by(_EVENTS.id.desc())
            .limit(_REMEMBERED)
        )
        with self._database.read(subscription.scope) as tx:
            moments = [row.received_at for row in tx.rows(recent)]
        return learned_gap(moments)


def learned_gap(moments: list[datetime]) -> timedelta | None:
    """From moments, newest first: some times the longest pause between them; None when they are too few."""
    gaps = [(later - earlier).total_seconds() for later, earlier in pairwise(moments)]
    if len(gaps) < _LEAST_GAPS:
        return None
    # One long pause among many, such as an outage, must not make it patient for ever.
    ordered = sorted(gaps)
    longest = ordered[-2] if ordered[-1] > 10 * max(statistics.median(gaps), 1) else ordered[-1]
    return max(timedelta(seconds=_PATIENCE * longest), _LEAST_SILENCE)


async def _close(source: Source, held: Subscription) -> None:
    try:
        await source.close()
    except Exception as problem:  # noqa: BLE001 - a library's own; the connection is gone either way
        _log.warning("source_not_closed", trigger=held.id, error=type(problem).__name__)


def _words(gap: timedelta) -> str:
    seconds = gap.total_seconds()
    for size, word in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {word}"
    return f"{seconds:.0f} seconds"
