"""What people and senders do with triggers: look, replay, drop, pause; send a webhook or a form to an address."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from steward.core import Clock, Conflict, NotFound, StewardError, TooLarge
from steward.identity import Access, Role
from steward.playbooks.cards import Card
from steward.playbooks.deployer import Deployer
from steward.playbooks.library import Library
from steward.playbooks.subscriptions import Subscription, Subscriptions
from steward.playbooks.trigger import Trigger
from steward.playbooks.trigger_events import EventState, TriggerEvent, TriggerEvents
from steward.playbooks.triggers.form import FormTrigger
from steward.playbooks.triggers.webhook import WebhookTrigger
from steward.playbooks.watch import Watch
from steward.store import SecretStore

HOOK: Final = "hook"
FORM: Final = "form"
MOST_BYTES: Final = 1 << 20
"""Of one event; larger things are sent as files, with an event that names them."""
_FRESH_SECONDS: Final = 1.0
_MOST_KNOWN: Final = 1_000
Action = Literal["replay", "drop", "release"]


@dataclass(frozen=True)
class Shown:
    """A trigger with its playbook, how it fares and how many events it has."""

    subscription: Subscription
    card: Card
    counts: Mapping[str, int]
    expected_seconds: float | None
    """After so many seconds without an event its owner is told."""


@dataclass(frozen=True)
class Receipt:
    """What a sender is answered."""

    event_id: str | None = None
    is_duplicate: bool = False
    challenge: str | None = None
    """The word that a service wants back before it sends events; nothing was stored then."""


@dataclass(frozen=True)
class _Address:
    """What a webhook's address leads to, as it was a moment ago."""

    subscription: Subscription
    trigger: WebhookTrigger
    secret: str


class TriggerDesk:
    def __init__(
        self,
        library: Library,
        deploying: Deployer,
        subscriptions: Subscriptions,
        events: TriggerEvents,
        watch: Watch,
        secrets: SecretStore,
        clock: Clock,
    ) -> None:
        self._library = library
        self._deploying = deploying
        self.subscriptions = subscriptions
        self.events = events
        self.watch = watch
        self._secrets = secrets
        self._clock = clock
        self._known: dict[tuple[str, int | None], tuple[float, _Address]] = {}

    # People

    def listed(self, access: Access) -> list[Shown]:
        """The triggers at work, of the playbooks that the caller sees."""
        cards = {card.id: card for card in self._library.listed(access, limit=10_000)}
        counts = self.events.counts(access.scope)
        return [
            self._shown(each, cards[each.playbook_id], counts)
            for each in self.subscriptions.listed(access.scope)
            if each.playbook_id in cards
        ]

    def get(self, access: Access, subscription_id: str) -> Shown:
        found = self._seen(access, subscription_id)
        card = self._library.get(access, found.playbook_id)
        return self._shown(found, card, self.events.counts(access.scope))

    def page(
        self,
        access: Access,
        subscription_id: str,
        *,
        states: Sequence[EventState] = (),
        before: str | None = None,
        limit: int = 50,
    ) -> list[TriggerEvent]:
        self._seen(access, subscription_id)
        return self.events.listed(
            access.scope, subscription_id, states=states, before=before, limit=limit
        )

    def event(self, access: Access, event_id: str) -> TriggerEvent:
        found = self.events.get(access.scope, event_id)
        self._seen(access, found.trigger_id)
        return found

    def decide(
        self, access: Access, subscription_id: str, action: Action, ids: Sequence[str]
    ) -> int:
        """Replays, drops or releases events; how many that were."""
        access.require(Role.operator)
        found = self._seen(access, subscription_id)
        match action:
            case "replay":
                return len(self.events.replay(access.scope, found, ids, access.user_id))
            case "drop":
                return self.events.drop(access.scope, found, ids, access.user_id)
            case "release":
                return self.events.release(access.scope, found, ids, access.user_id)

    def in_states(
        self,
        access: Access,
        subscription_id: str,
        states: Sequence[EventState],
        most: int = 10_000,
    ) -> list[str]:
        """The ids of a trigger's events in these states, oldest first: for deciding about all of them."""
        self._seen(access, subscription_id)
        found: list[str] = []
        before: str | None = None
        while len(found) < most:
            page = self.events.listed(
                access.scope, subscription_id, states=states, before=before, limit=1_000
            )
            found += [each.id for each in page]
            if len(page) < 1_000:
                break
            before = page[-1].id
        return sorted(found)[:most]

    def switch(self, access: Access, subscription_id: str, *, enabled: bool) -> Shown:
        access.require(Role.editor)
        found = self._seen(access, subscription_id)
        if not found.armed:
            raise Conflict("The trigger is not deployed.")
        self.subscriptions.switch(access.scope, found.id, enabled=enabled, by=access.user_id)
        self._known.clear()
        return self.get(access, subscription_id)

    def renew_address(self, access: Access, subscription_id: str) -> Shown:
        """A new address; the old one stops working."""
        access.require(Role.editor)
        found = self._seen(access, subscription_id)
        self.subscriptions.renew_address(access.scope, found.id, access.user_id)
        self._known.clear()
        return self.get(access, subscription_id)

    def token(self, access: Access, subscription: Subscription) -> str | None:
        """The secret part of its address, for people who may deploy it."""
        purpose = {"webhook": HOOK, "form": FORM}.get(subscription.type)
        if access.role < Role.editor or purpose is None:
            return None
        return self.subscriptions.token(subscription, purpose)

    def _seen(self, access: Access, subscription_id: str) -> Subscription:
        """Of a playbook that is hidden from the caller there are no triggers."""
        missing = f"There is no trigger {subscription_id!r} in this project."
        found = self.subscriptions.get(access.scope, subscription_id)
        try:
            self._library.get(access, found.playbook_id)
        except NotFound:
            raise NotFound(missing) from None
        return found

    def _shown(
        self, subscription: Subscription, card: Card, counts: Mapping[str, Mapping[str, int]]
    ) -> Shown:
        gap = self.watch.expected_gap(subscription)
        seconds = gap.total_seconds() if gap is not None else None
        return Shown(subscription, card, counts.get(subscription.id, {}), seconds)

    # Senders

    async def receive(
        self,
        token: str,
        headers: Mapping[str, str],
        query: Mapping[str, str],
        body: bytes,
        *,
        revision: int | None = None,
        test: bool = False,
    ) -> Receipt:
        """Checks a webhook and stores it; it is on disk when this returns.

        NotFound, Denied and Invalid say why it was refused; nothing of it is kept then.
        """
        if len(body) > MOST_BYTES:
            raise TooLarge(f"A webhook has at most {MOST_BYTES:,} bytes.")
        address = await self._address(token, revision)
        trigger = address.trigger
        key = trigger.key(address.secret, headers, self._clock.now(), body)
        arrival = trigger.arrival(key, headers, query, body)
        challenge = trigger.challenge(arrival)
        if challenge is not None:
            return Receipt(challenge=challenge)
        await self.events.require_room(address.subscription)
        stored = await self.events.accept(
            address.subscription, arrival, revision=revision, test=test
        )
        return Receipt(stored.id, stored.is_duplicate)

    def form(self, token: str) -> FormTrigger:
        """The form behind a link, while people may send it."""
        return self._form(token)[1]

    def submit(self, token: str, values: dict[str, Any]) -> FormTrigger:
        """Stores what somebody filled in; Invalid names the fields that do not fit."""
        subscription, trigger = self._form(token)
        self.events.store(subscription, [trigger.arrival(values)])
        return trigger

    def _form(self, token: str) -> tuple[Subscription, FormTrigger]:
        subscription = self.subscriptions.by_token(token, FORM)
        trigger = subscription.trigger if subscription.is_active else None
        if not isinstance(trigger, FormTrigger):
            raise NotFound("This form is not open any more.")
        if trigger.closes_at is not None and self._clock.now() > trigger.closes_at:
            raise NotFound("This form is not open any more.")
        return subscription, trigger

    async def _address(self, token: str, revision: int | None) -> _Address:
        now = self._clock.monotonic()
        at, known = self._known.get((token, revision), (-1.0, None))
        if known is not None and 0 <= now - at < _FRESH_SECONDS:
            return known
        found = await asyncio.to_thread(self._resolved, token, revision)
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[token, revision] = (now, found)
        return found

    def _resolved(self, token: str, revision: int | None) -> _Address:
        subscription = self.subscriptions.by_token(token, HOOK)
        if not subscription.armed:
            raise NotFound("What this address started is not deployed any more.")
        trigger: Trigger = subscription.trigger
        if not isinstance(trigger, WebhookTrigger):
            raise NotFound("There is nothing at this address.")
        if revision is not None:
            # It starts what was deployed then, and is checked as is demanded now.
            self._deploying.pinned(subscription, revision)
        return _Address(subscription, trigger, self._secret(subscription, trigger))

    def _secret(self, subscription: Subscription, trigger: WebhookTrigger) -> str:
        if trigger.signature == "none":
            return ""
        try:
            return self._secrets.get(subscription.scope, trigger.secret or "")
        except StewardError:
            raise Conflict(
                "This address has no secret to check signatures with; its owner must set it.",
                code="webhook-without-secret",
            ) from None
