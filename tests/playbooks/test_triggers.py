"""Events of triggers: stored first, run once, filtered, ordered, capped, retried, replayed, and missed when they do not come."""

import asyncio
import hashlib
import hmac
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from steward.connections.webhooks import sign, signing_key
from steward.core.errors import Conflict, Denied, Invalid, NotFound
from steward.playbooks import EventState, Shown, TriggerEvent
from steward.playbooks.dispatch import Dispatch
from steward.playbooks.retries import Which
from steward.playbooks.subscriptions import Subscription
from steward.playbooks.trigger import Arrival
from steward.playbooks.trigger_events import Stored
from steward.playbooks.watch import learned_gap
from steward.runs import Missed
from steward.runs.worker import QUEUES
from steward.store import EVERYWHERE
from tests.playbooks.conftest import Room

pytestmark = pytest.mark.every_database

SECRET = "whsec_" + "c3RhcnRlZCBieSBhIHdlYmhvb2sgc2VjcmV0"
ORDERS = """\
format: 1
id: orders
name: Orders
budget: {usd: 1}
inputs:
  type: object
  properties: {amount: {type: number}, note: {type: string, default: none}}
  required: [amount]
  additionalProperties: false
steps:
  - {id: ask, question: "Ship ${inputs.amount}?", form: {type: boolean}}
triggers:
  - type: webhook
    signature: none
    inputs: {amount: "${event.data.amount}"}
    DELIVERY
"""
BROKEN = ORDERS.replace(
    '{id: ask, question: "Ship ${inputs.amount}?", form: {type: boolean}}',
    "{id: look, tool: get_dataset_schema, arguments: {dataset: nowhere}}",
)


def deploy(room: Room, delivery: str = "", text: str = ORDERS) -> Shown:
    written = text.replace("DELIVERY", f"delivery: {{{delivery}}}" if delivery else "")
    card = room.playbooks.library.create(room.editor.access, written)
    room.playbooks.deploying.deploy(room.editor.access, card.id)
    return room.playbooks.triggers.listed(room.editor.access)[0]


def arrive(room: Room, shown: Shown, *data: Any) -> list[Stored]:
    arrivals = [Arrival(each, key=each.get("id")) for each in data]
    return room.playbooks.triggers.events.store(shown.subscription, arrivals)


def events(room: Room, shown: Shown) -> list[TriggerEvent]:
    """Oldest first."""
    desk = room.playbooks.triggers
    return desk.page(room.editor.access, shown.subscription.id, limit=200)[::-1]


def states(room: Room, shown: Shown) -> list[str]:
    return [each.state.value for each in events(room, shown)]


def test_an_event_is_stored_then_runs_once(room: Room) -> None:
    shown = deploy(room)
    arrive(room, shown, {"amount": 3})
    assert states(room, shown) == ["stored"]
    assert room.runs.records.listed(room.editor.access.scope) == []
    assert room.go_round() == 1
    assert room.go_round() == 0
    [event] = events(room, shown)
    assert event.state is EventState.running
    run = room.runs.get(room.editor.access.scope, event.run_id)
    request = room.runs.request(run.scope, run.id)
    assert request.inputs["amount"] == 3
    assert request.inputs["note"] == "none"
    assert request.inputs["event"]["data"] == {"amount": 3}
    # What came from outside is nobody's word.
    assert sorted(request.foreign) == ["amount", "event"]
    room.drive()
    room.answer(run, answer=True)
    room.go_round()
    assert states(room, shown) == ["done"]


def test_a_trigger_that_cannot_be_looked_at_stops_no_other(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = deploy(room)
    deploy(room, text=ORDERS.replace("id: orders", "id: others"))
    found = room.playbooks.triggers.listed(room.editor.access)
    [good] = [each for each in found if each.subscription.id != bad.subscription.id]
    room.playbooks.triggers.events.store(bad.subscription, [Arrival({"amount": 1})])
    room.playbooks.triggers.events.store(good.subscription, [Arrival({"amount": 2})])
    look = Dispatch._looked

    def looked(self: Dispatch, subscription: Subscription, *rest: Any) -> Any:
        if subscription.id == bad.subscription.id:
            raise RuntimeError("nobody thought of this")
        return look(self, subscription, *rest)

    monkeypatch.setattr(Dispatch, "_looked", looked)
    assert room.go_round() == 1
    assert (states(room, bad), states(room, good)) == (["stored"], ["running"])
    monkeypatch.setattr(Dispatch, "_looked", look)
    assert room.go_round() == 1


def test_the_same_event_runs_once_within_its_window(room: Room) -> None:
    shown = deploy(room, "once: {seconds: 60}")
    first = arrive(room, shown, {"id": "a", "amount": 1}, {"id": "a", "amount": 1})
    assert [each.is_duplicate for each in first] == [False, True]
    again = arrive(room, shown, {"id": "a", "amount": 1})
    assert again == [Stored(first[0].id, is_duplicate=True)]
    room.installation.clock.advance(seconds=61)
    assert not arrive(room, shown, {"id": "a", "amount": 1})[0].is_duplicate
    assert room.go_round() == 2
    fresh = room.playbooks.triggers.get(room.editor.access, shown.subscription.id)
    assert fresh.subscription.duplicates == 2


@pytest.mark.parametrize("by", ["content", "event.data.amount"])
def test_events_are_the_same_by_content_or_by_what_is_said(room: Room, by: str) -> None:
    shown = deploy(room, f"once: {{by: {by}}}")
    found = arrive(room, shown, {"amount": 1}, {"amount": 2}, {"amount": 1})
    assert [each.is_duplicate for each in found] == [False, False, True]


def test_a_filter_lets_through_what_it_is_true_for(room: Room) -> None:
    shown = deploy(room, "filter: event.data.amount > 10")
    arrive(room, shown, {"amount": 5}, {"amount": 50}, {"price": 1})
    assert room.go_round() == 1
    small, large, odd = events(room, shown)
    assert (small.state, large.state, odd.state) == (
        EventState.filtered,
        EventState.running,
        EventState.dead,
    )
    assert "event.data.amount > 10" in (small.reason or "")
    assert "there is no 'event.data.amount'" in (odd.reason or "")


def test_what_does_not_fit_is_a_dead_letter_that_says_why(room: Room) -> None:
    shown = deploy(room)
    arrive(room, shown, {"amount": "many"})
    assert room.go_round() == 0
    [event] = events(room, shown)
    assert event.state is EventState.dead
    assert event.reason is not None
    assert event.reason.startswith("The event does not fit the inputs of the playbook: ")
    [note] = room.installation.steward.identity.notifications.page(room.editor.access)
    assert note.title == "Orders: trigger webhook could not start a run"
    assert note.link == f"triggers?trigger={shown.subscription.id}"


def test_events_with_the_same_key_run_one_after_the_other(room: Room) -> None:
    shown = deploy(room, "order_by: event.data.customer")
    arrive(
        room,
        shown,
        {"amount": 1, "customer": "a"},
        {"amount": 2, "customer": "a"},
        {"amount": 3, "customer": "b"},
    )
    assert room.go_round() == 2
    first, second, _ = events(room, shown)
    assert states(room, shown) == ["running", "waiting", "running"]
    assert second.reason == 'Waits for an earlier event with the key "a".'
    room.drive()
    room.answer(room.runs.get(room.editor.access.scope, first.run_id), answer=True)
    assert room.go_round() == 1
    assert states(room, shown) == ["done", "running", "running"]


def test_caps_keep_events_waiting_until_there_is_room(room: Room) -> None:
    shown = deploy(room, "at_once: 1, rate: {runs: 2, seconds: 60}")
    arrive(room, shown, *({"amount": each} for each in range(3)))
    assert room.go_round() == 1
    assert "at most 1 run of this playbook" in (events(room, shown)[1].reason or "")
    for expected in (1, 0):
        running = next(each for each in events(room, shown) if each.state is EventState.running)
        room.drive()
        room.answer(room.runs.get(room.editor.access.scope, running.run_id), answer=True)
        assert room.go_round() == expected
    room.installation.clock.advance(seconds=61)
    assert room.go_round() == 1


def test_a_batch_waits_for_its_size_or_its_time(room: Room) -> None:
    text = ORDERS.replace('"${event.data.amount}"', "1")
    shown = deploy(room, "batch: {most: 2, seconds: 30}", text)
    arrive(room, shown, *({"amount": each} for each in range(3)))
    assert room.go_round() == 1
    first, second, third = events(room, shown)
    assert first.run_id == second.run_id is not None
    assert (third.state, third.run_id) == (EventState.waiting, None)
    request = room.runs.request(room.editor.access.scope, first.run_id)
    assert [each["data"]["amount"] for each in request.inputs["events"]] == [0, 1]
    room.installation.clock.advance(seconds=31)
    assert room.go_round() == 1


def test_failed_runs_are_tried_again_and_then_given_up(room: Room) -> None:
    shown = deploy(room, "retries: 1", BROKEN)
    arrive(room, shown, {"amount": 1})
    for attempt in (1, 2):
        assert room.go_round() == 1
        assert events(room, shown)[0].attempts == attempt
        room.drive()
        assert room.go_round() == 0
        room.installation.clock.advance(minutes=2)
    [event] = events(room, shown)
    assert event.state is EventState.dead
    assert (event.reason or "").startswith("All 2 tries failed. The run was failed: ")


def test_a_worker_that_comes_late_does_not_begin_a_third_try(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its look at what failed is old: another worker noted that meanwhile and has begun the second try."""
    shown = deploy(room, "retries: 2", BROKEN)
    arrive(room, shown, {"amount": 1})
    room.go_round()
    room.drive()
    looked_at, first = room.runs.records.endings, threading.Event()

    def look_and_be_overtaken(*given: Any) -> Any:
        found = looked_at(*given)
        if not first.is_set():
            first.set()
            room.go_round()
            room.installation.clock.advance(minutes=2)
            room.go_round()
        return found

    monkeypatch.setattr(room.runs.records, "endings", look_and_be_overtaken)
    room.go_round()
    room.installation.clock.advance(minutes=10)
    room.go_round()
    [event] = events(room, shown)
    assert (event.state, event.attempts) == (EventState.running, 2)
    assert len(room.runs.records.listed(room.editor.access.scope)) == 2


def test_workers_that_claim_runs_and_start_them_do_not_wait_in_a_ring(room: Room) -> None:
    """One claims runs, which the project's log tells of, and goes on to a trigger; the other starts a run for the trigger."""
    if room.installation.steward.database.is_sqlite:
        pytest.skip("SQLite writes one transaction after the other")
    shown, records = deploy(room), room.runs.records
    arrive(room, shown, {"amount": 1})
    room.go_round()
    arrive(room, shown, {"amount": 2})
    trigger = sa.text("SELECT id FROM trigger_subscriptions WHERE id = :id FOR UPDATE")
    database = room.installation.steward.database
    with ThreadPoolExecutor(1) as threads, database.write(EVERYWHERE) as tx:
        assert len(records.claim_within(tx, "one", QUEUES, 10, timedelta(seconds=6))) == 1
        assert threads.submit(room.go_round).result(30) == 1
        assert len(tx.rows(trigger, {"id": shown.subscription.id})) == 1
    assert states(room, shown) == ["running", "running"]


def test_events_are_replayed_dropped_and_kept_for_a_while(room: Room) -> None:
    shown = deploy(room)
    access, desk = room.editor.access, room.playbooks.triggers
    arrive(room, shown, {"amount": "many"}, {"amount": "few"})
    room.go_round()
    assert states(room, shown) == ["dead", "dead"]
    looser = ORDERS.replace("{type: number}", "{}").replace("DELIVERY", "")
    room.playbooks.library.save(access, "orders", None, looser)
    room.playbooks.deploying.deploy(access, "orders")
    ids = desk.in_states(access, shown.subscription.id, [EventState.dead])
    assert desk.decide(access, shown.subscription.id, "replay", ids) == 2
    assert room.go_round() == 2
    replayed = events(room, shown)[2:]
    assert [each.replay_of for each in replayed] == ids
    # What is on its way already is not stored a third time.
    assert desk.decide(access, shown.subscription.id, "replay", [replayed[0].id]) == 0
    arrive(room, shown, {"amount": 1})
    waiting = events(room, shown)[-1].id
    assert desk.decide(access, shown.subscription.id, "drop", [waiting]) == 1
    assert room.go_round() == 0
    room.installation.clock.advance(days=31)
    desk.events.tidy()
    assert states(room, shown) == ["running", "running"]


def test_a_paused_trigger_stores_and_waits(room: Room) -> None:
    shown = deploy(room)
    desk, access = room.playbooks.triggers, room.editor.access
    desk.switch(access, shown.subscription.id, enabled=False)
    arrive(room, shown, {"amount": 1})
    assert room.go_round() == 0
    desk.switch(access, shown.subscription.id, enabled=True)
    assert room.go_round() == 1


def test_one_subscription_over_all_revisions(room: Room) -> None:
    shown = deploy(room)
    access = room.editor.access
    address = room.playbooks.triggers.token(access, shown.subscription)
    changed = ORDERS.replace("Ship", "Really ship").replace("DELIVERY", "")
    room.playbooks.library.save(access, "orders", None, changed)
    room.playbooks.deploying.deploy(access, "orders")
    [again] = room.playbooks.triggers.listed(access)
    assert again.subscription.id == shown.subscription.id
    assert again.subscription.revision == 2
    assert room.playbooks.triggers.token(access, again.subscription) == address


@pytest.mark.parametrize(
    ("missed", "started", "held"),
    [(Missed.skip, 0, 0), (Missed.once, 1, 0), (Missed.all, 3, 0), (Missed.ask, 0, 1)],
)
def test_missed_moments_follow_the_policy(
    room: Room, missed: Missed, started: int, held: int
) -> None:
    cron = f"triggers: [{{type: cron, cron: 0 2 * * *, missed: {missed}, inputs: {{amount: 1}}}}]"
    text = ORDERS[: ORDERS.index("triggers:")] + cron + "\n"
    shown = deploy(room, text=text)
    room.installation.clock.advance(days=3)
    assert room.go_round() == started
    waiting = [each for each in events(room, shown) if each.state is EventState.held]
    assert len(waiting) == held
    if held:
        assert "missed 3 moments, the last at 2026-03-05 02:00 UTC" in (waiting[0].reason or "")
        access, desk = room.editor.access, room.playbooks.triggers
        assert desk.decide(access, shown.subscription.id, "release", [waiting[0].id]) == 1
        assert room.go_round() == 1


def test_an_interval_keeps_its_rhythm(room: Room) -> None:
    text = ORDERS[: ORDERS.index("triggers:")]
    deploy(room, text=text + "triggers: [{type: interval, seconds: 60, inputs: {amount: 1}}]\n")
    clock = room.installation.clock
    assert room.go_round() == 0
    clock.advance(seconds=70)
    assert room.go_round() == 1
    clock.advance(seconds=49)
    assert room.go_round() == 0
    clock.advance(seconds=1)
    assert room.go_round() == 1


def test_silence_is_told_once_until_something_comes(room: Room) -> None:
    shown = deploy(room, "silence: 3600")
    watch, clock = room.playbooks.triggers.watch, room.installation.clock
    notifications = room.installation.steward.identity.notifications
    arrive(room, shown, {"amount": 1})
    clock.advance(minutes=59)
    assert watch.notice_silence() == 0
    clock.advance(minutes=2)
    assert watch.notice_silence() == 1
    assert watch.notice_silence() == 0
    [note] = notifications.page(room.editor.access)
    assert note.title == "Orders: trigger webhook is silent"
    arrive(room, shown, {"amount": 1})
    fresh = room.playbooks.triggers.get(room.editor.access, shown.subscription.id)
    assert fresh.subscription.silent_since is None


def test_a_rhythm_is_learned_from_the_past(room: Room) -> None:
    now = room.installation.clock.now()
    hourly = [now - timedelta(hours=each) for each in range(20)]
    assert learned_gap(hourly[:5]) is None
    assert learned_gap(hourly) == timedelta(hours=2)
    outage = [*hourly[:10], *(each - timedelta(days=9) for each in hourly[10:])]
    assert learned_gap(outage) == timedelta(hours=2)


def test_two_workers_do_not_look_at_once_and_a_lost_lease_stores_nothing(room: Room) -> None:
    text = ORDERS[: ORDERS.index("triggers:")]
    shown = deploy(
        room, text=text + "triggers: [{type: interval, seconds: 60, inputs: {amount: 1}}]\n"
    )
    subscriptions = room.playbooks.triggers.subscriptions
    clock = room.installation.clock
    clock.advance(seconds=60)
    lease = timedelta(seconds=6)
    [held] = subscriptions.claim("first", lease, 10, [])
    assert subscriptions.claim("second", lease, 10, []) == []
    clock.advance(seconds=7)
    [taken] = subscriptions.claim("second", lease, 10, [])
    assert taken.epoch == held.epoch + 1
    with room.installation.steward.database.write(held.scope) as tx:
        assert not subscriptions.move_within(tx, held, None, clock.now())
        assert subscriptions.move_within(tx, taken, None, clock.now())
    assert events(room, shown) == []


# Webhooks


def sent(room: Room, shown: Shown, body: bytes, headers: dict[str, str], **how: Any) -> Any:
    desk = room.playbooks.triggers
    token = desk.token(room.editor.access, shown.subscription) or ""
    return asyncio.run(desk.receive(token, headers, {}, body, **how))


def signed_trigger(room: Room, signature: str, secret: str = "s3cret-of-the-sender") -> Shown:
    room.installation.steward.secrets.set(
        room.editor.access.scope, "hook_secret", secret, author="test"
    )
    text = ORDERS.replace("signature: none", f"signature: {signature}\n    secret: hook_secret")
    return deploy(room, text=text)


def test_a_standard_webhook_is_stored_and_a_second_copy_is_not(room: Room) -> None:
    shown = signed_trigger(room, "standard", SECRET)
    body = b'{"amount": 7}'
    headers = sign(signing_key(SECRET), "msg_1", room.installation.clock.now(), body)
    first = sent(room, shown, body, headers)
    again = sent(room, shown, body, headers)
    assert again.event_id == first.event_id
    assert again.is_duplicate
    assert room.go_round() == 1
    [event] = events(room, shown)
    assert "webhook-signature" not in event.document["headers"]
    forged = {**headers, "webhook-id": "msg_2"}
    with pytest.raises(Denied):
        sent(room, shown, body, forged)
    room.installation.clock.advance(minutes=6)
    with pytest.raises(Denied, match="older"):
        sent(room, shown, body, headers)
    assert len(events(room, shown)) == 1


def _github(secret: str, body: bytes, _: str) -> dict[str, str]:
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"x-hub-signature-256": f"sha256={digest}", "x-github-delivery": "one"}


def _stripe(secret: str, body: bytes, at: str) -> dict[str, str]:
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return {"stripe-signature": f"t={at},v0=old,v1={digest}"}


def _slack(secret: str, body: bytes, at: str) -> dict[str, str]:
    digest = hmac.new(secret.encode(), f"v0:{at}:".encode() + body, hashlib.sha256).hexdigest()
    return {"x-slack-signature": f"v0={digest}", "x-slack-request-timestamp": at}


def _shopify(secret: str, body: bytes, _: str) -> dict[str, str]:
    import base64

    digest = hmac.new(secret.encode(), body, hashlib.sha256).digest()
    return {"x-shopify-hmac-sha256": base64.b64encode(digest).decode()}


def _gitlab(secret: str, _body: bytes, _: str) -> dict[str, str]:
    return {"x-gitlab-token": secret}


def _hmac(secret: str, body: bytes, _: str) -> dict[str, str]:
    return {"x-signature-256": hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}


def _bearer(secret: str, _body: bytes, _: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}", "idempotency-key": "one"}


SIGNERS = {
    "github": _github,
    "stripe": _stripe,
    "slack": _slack,
    "shopify": _shopify,
    "gitlab": _gitlab,
    "hmac": _hmac,
    "bearer": _bearer,
}


@pytest.mark.parametrize("scheme", list(SIGNERS))
def test_genuine_messages_are_taken_and_forged_and_repeated_ones_are_not(
    room: Room, scheme: str
) -> None:
    signer: Callable[[str, bytes, str], dict[str, str]] = SIGNERS[scheme]
    secret = "s3cret-of-the-sender"
    shown = signed_trigger(room, scheme, secret)
    body = json.dumps({"amount": 7, "id": "evt_1", "event_id": "Ev1"}).encode()
    at = str(int(room.installation.clock.now().timestamp()))
    headers = signer(secret, body, at)
    assert not sent(room, shown, body, headers).is_duplicate
    # A new id of its own does not make an old message new.
    assert sent(room, shown, body, {**headers, "x-github-delivery": "two"}).is_duplicate
    with pytest.raises(Denied):
        sent(room, shown, body, signer("another secret", body, at))
    with pytest.raises(Denied):
        sent(room, shown, body, {})
    if scheme not in {"gitlab", "bearer"}:
        with pytest.raises(Denied):
            sent(room, shown, body + b" ", headers)
    if scheme in {"stripe", "slack"}:
        old = str(int(at) - 400)
        with pytest.raises(Denied, match="older"):
            sent(room, shown, body, signer(secret, body, old))
    assert len(events(room, shown)) == 1


def test_an_address_of_its_own_for_tests_and_for_each_revision(room: Room) -> None:
    shown = deploy(room)
    access = room.editor.access
    tried = sent(room, shown, b'{"amount": 1}', {}, test=True)
    assert room.go_round() == 0
    assert room.playbooks.triggers.event(access, tried.event_id).state is EventState.held
    changed = ORDERS.replace("Ship", "Really ship").replace("DELIVERY", "")
    room.playbooks.library.save(access, "orders", None, changed)
    room.playbooks.deploying.deploy(access, "orders")
    room.installation.clock.advance(seconds=2)
    old = sent(room, shown, b'{"amount": 1}', {}, revision=1)
    new = sent(room, shown, b'{"amount": 1}', {})
    assert room.go_round() == 2
    desk = room.playbooks.triggers
    for event_id, revision in ((old.event_id, 1), (new.event_id, 2)):
        run_id = desk.event(access, event_id).run_id
        assert room.playbooks.running.pin(access.scope, run_id or "") == revision
    with pytest.raises(NotFound):
        sent(room, shown, b"{}", {}, revision=9)


def test_the_address_of_a_revision_starts_nothing_that_was_never_deployed(room: Room) -> None:
    shown = deploy(room)
    draft = ORDERS.replace("Ship", "Ship at once").replace("DELIVERY", "")
    room.playbooks.library.save(room.editor.access, "orders", None, draft)
    with pytest.raises(NotFound, match="never deployed"):
        sent(room, shown, b'{"amount": 1}', {}, revision=2)
    assert events(room, shown) == []


def test_the_address_of_an_old_revision_wants_the_signature_of_today(room: Room) -> None:
    shown = deploy(room)
    access = room.editor.access
    owner = room.installation.owner.access
    room.installation.steward.secrets.set(owner.scope, "hook", SECRET, author="owner")
    signed = ORDERS.replace("signature: none", "signature: standard\n    secret: hook")
    room.playbooks.library.save(access, "orders", None, signed.replace("DELIVERY", ""))
    room.playbooks.deploying.deploy(access, "orders")
    with pytest.raises(Denied):
        sent(room, shown, b'{"amount": 1}', {}, revision=1)
    assert events(room, shown) == []


def test_what_came_from_outside_stays_foreign_when_it_runs_again(room: Room) -> None:
    shown = deploy(room)
    access = room.editor.access
    arrive(room, shown, {"amount": 3})
    room.go_round()
    [event] = events(room, shown)
    room.drive()
    assert event.run_id is not None
    room.runs.records.control(access.scope, event.run_id, "cancel", access.user_id)
    room.drive()
    versions: tuple[Which | int, ...] = ("same", "deployed", 1)
    for version in versions:
        [again] = room.playbooks.retries.retry(access, "orders", [event.run_id], version=version)
        assert again.run is not None, again.problem
        request = room.runs.request(access.scope, again.run.id)
        assert sorted(request.foreign) == ["amount", "event"], version


def test_a_replaced_address_is_worth_nothing(room: Room) -> None:
    shown = deploy(room)
    access, desk = room.editor.access, room.playbooks.triggers
    token = desk.token(access, shown.subscription) or ""
    desk.renew_address(access, shown.subscription.id)
    for guess in (token, token[:-1] + "0", token[:26] + "0" * 32, "x" * 58):
        with pytest.raises(NotFound):
            asyncio.run(desk.receive(guess, {}, {}, b"{}"))
    assert desk.token(room.controller.access, shown.subscription) is None
    room.playbooks.deploying.archive(access, "orders")
    fresh = desk.subscriptions.get(access.scope, shown.subscription.id)
    with pytest.raises(NotFound):
        asyncio.run(desk.receive(desk.subscriptions.token(fresh, "hook"), {}, {}, b"{}"))


@pytest.mark.parametrize(
    "body",
    [b"{", b'{"a": NaN}', b'{"a": "\\u0000"}', b'{"a": "\\ud800"}', b"[" * 5000 + b"]" * 5000],
)
def test_what_is_no_json_is_refused_and_not_stored(room: Room, body: bytes) -> None:
    shown = deploy(room)
    with pytest.raises(Invalid):
        sent(room, shown, body, {"content-type": "application/json"})
    assert events(room, shown) == []


def test_slack_reads_its_word_back(room: Room) -> None:
    secret = "s3cret-of-the-sender"
    shown = signed_trigger(room, "slack", secret)
    body = b'{"type": "url_verification", "challenge": "abc"}'
    at = str(int(room.installation.clock.now().timestamp()))
    assert sent(room, shown, body, _slack(secret, body, at)).challenge == "abc"
    assert events(room, shown) == []


def test_without_its_secret_nothing_is_taken(room: Room) -> None:
    text = ORDERS.replace("signature: none", "signature: github\n    secret: missing")
    shown = deploy(room, text=text)
    with pytest.raises(Conflict):
        sent(room, shown, b"{}", {})


@pytest.mark.parametrize(
    ("written", "pointer"),
    [
        ("filter: 'event.data.'", "/triggers/0/delivery/filter"),
        ("filter: inputs.amount > 1", "/triggers/0/delivery/filter"),
        ("order_by: nodes.a.output", "/triggers/0/delivery/order_by"),
        ("once: {by: run.id}", "/triggers/0/delivery/once/by"),
        ("silence: 0", "/triggers/0/delivery/silence"),
    ],
)
def test_what_is_wrong_with_a_trigger_is_said_before_it_is_saved(
    room: Room, written: str, pointer: str
) -> None:
    with pytest.raises(Invalid) as refused:
        deploy(room, written)
    assert pointer in [each.pointer for each in refused.value.problems]


# Forms

FORM = (
    ORDERS.partition("triggers:")[0]
    + """\
triggers:
  - type: form
    heading: Order
    fields: {type: object, properties: {amount: {type: number}}, required: [amount]}
    inputs: {amount: "${event.data.amount}"}
    closes_at: 2026-04-01T00:00:00Z
"""
)


def test_somebody_without_an_account_fills_in_a_form(room: Room) -> None:
    shown = deploy(room, text=FORM)
    access, desk = room.editor.access, room.playbooks.triggers
    token = desk.token(access, shown.subscription) or ""
    client = room.installation.anonymous()
    found = client.post("/api/v1/forms/lookup", json={"token": token})
    assert found.json()["heading"] == "Order"
    wrong = client.post("/api/v1/forms/answers", json={"token": token, "values": {"amount": "x"}})
    assert wrong.status_code == 422
    assert wrong.json()["errors"][0]["pointer"] == "/amount"
    extra = {"amount": 1, "admin": True}
    unknown = client.post("/api/v1/forms/answers", json={"token": token, "values": extra})
    assert unknown.status_code == 422
    sent = client.post("/api/v1/forms/answers", json={"token": token, "values": {"amount": 4}})
    assert sent.status_code == 201
    assert room.go_round() == 1
    # A webhook's address is no form's, and the other way round.
    assert client.post(f"/api/v1/hooks/{token}", json={}).status_code == 404
    room.installation.clock.advance(days=40)
    assert client.post("/api/v1/forms/lookup", json={"token": token}).status_code == 404
