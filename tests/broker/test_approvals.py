"""An approval is enough for a call only while the right people gave it, under the policy and membership of that moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Annotated, Any, cast
from unittest.mock import patch

import pytest

from steward.broker.approvals import Approval, Extent, State
from steward.broker.plans import facts_of
from steward.broker.policy_text import parse
from steward.broker.presets import PRESETS, faults
from steward.broker.roles import AMOUNT, CONTENT, DESTINATION, REACH, TARGET
from steward.broker.tool import Arguments, Outcome, Risk, Tool, ToolContext
from steward.core.errors import Denied, Invalid
from steward.core.faults import install
from steward.identity import Access, Role
from steward.identity.principals import TokenLimits, Via
from steward.runs import Run
from steward.runs.projection import calls_of
from steward.runs.worker import LEASE
from tests.broker.conftest import Desk, World

pytestmark = pytest.mark.every_database

ASK = """
@id("work") @outcome("allow") @reason("Fine.")
permit (principal, action in [Action::"read", Action::"compute", Action::"write"], resource);
@id("send") @outcome("ask") @reason("It leaves.")
permit (principal, action in Action::"external_send", resource);
"""
FINANCE = (
    ASK
    + """
@id("money") @outcome("ask") @approvers("finance") @reason("Money.")
permit (principal, action in Action::"external_send", resource)
when { (context has destination && context.destination == "bank") || (context.amounts has rows && context.amounts.rows > 100) };
@id("never") @reason("Not there.")
forbid (principal, action, resource) when { context has destination && context.destination == "evil" };
"""
)
FOUR_EYES = ASK.replace('@id("send")', '@id("send") @four_eyes("yes")')
DENIED = (
    ASK
    + '@id("stop") @reason("Stopped.") forbid (principal, action in Action::"external_send", resource);'
)


@pytest.fixture
def finance(desk: Desk) -> Access:
    """Somebody of the group that must approve what goes to the bank."""
    person = desk.installation.person(Role.operator, "finance").access
    desk.steward.governing.groups.put(desk.access, "finance", [person.user_id])
    return person


@pytest.fixture
def author(desk: Desk) -> Access:
    return desk.installation.person(Role.operator, "author").access


def set_policy(desk: Desk, text: str) -> None:
    rulebook = desk.steward.governing.rulebook
    revision = rulebook.current(desk.access.scope, "project").revision
    rulebook.save(desk.access, "project", text, revision)


def remove(desk: Desk, person: Access) -> None:
    desk.steward.identity.members.remove(desk.access, person.user_id)


def sent_to(world: World) -> list[str]:
    return [to for _, to, _ in world.sent]


def titles_of_events(desk: Desk, approval: Approval) -> list[tuple[str, str]]:
    events = desk.steward.events.after(desk.access.scope, 0, limit=1_000)
    return [
        (event.type.rpartition("approval.")[2], event.data["title"])
        for event in events
        if event.subject == approval.id
    ]


# Editing


def test_an_edit_that_needs_another_group_is_put_to_that_group(
    desk: Desk, world: World, operator: Access, finance: Access
) -> None:
    set_policy(desk, FINANCE)
    run = desk.call("test_send", to="ann", text="hi")
    desk.drive()
    first = desk.approval(run)
    decided = desk.decide(first, access=operator, arguments={"to": "bank", "text": "hi"})
    assert (decided.status, decided.approvers) == (State.edited, ("finance",))
    desk.passed_window()
    desk.passed_window()
    assert world.sent == []
    assert desk.status(run) == "waiting_for_approval"
    asked = desk.approval(run)
    assert asked.id != first.id
    assert (asked.title, asked.preview["summary"]) == ("Send to bank", "Send to bank")
    assert asked.body["destination"] == "bank"
    assert asked.approvers == ("finance",)
    assert {rule["id"] for rule in asked.rules} == {"send", "money"}
    assert (asked.edited_by, asked.asked_body) == (operator.user_id, first.body)
    assert titles_of_events(desk, asked) == [("requested", "Send to bank")]
    with pytest.raises(Denied, match="finance"):
        desk.decide(asked, access=operator)
    desk.decide(asked, access=finance)
    desk.passed_window()
    assert sent_to(world) == ["bank"]
    assert desk.replays(run)


def test_an_edit_that_policy_denies_changes_nothing(
    desk: Desk, world: World, operator: Access
) -> None:
    set_policy(desk, FINANCE)
    run = desk.call("test_send", to="ann", text="hi")
    desk.drive()
    before = desk.approval(run)
    with pytest.raises(Denied, match="Not there"):
        desk.decide(before, access=operator, arguments={"to": "evil", "text": "hi"})
    assert desk.approval(run) == before
    desk.decide(before, access=operator)
    desk.passed_window()
    assert sent_to(world) == ["ann"]


def test_an_edited_approval_shows_what_is_sent_and_who_wrote_it(
    desk: Desk, world: World, operator: Access
) -> None:
    set_policy(desk, FINANCE)
    run = desk.call("test_send", to="ann", text="hi")
    desk.drive()
    before = desk.approval(run)
    decided = desk.decide(before, access=operator, arguments={"to": "bob", "text": "hi"})
    assert decided.status is State.approved
    assert (decided.title, decided.preview["summary"]) == ("Send to bob", "Send to bob")
    assert (decided.asked_body, decided.edited_by) == (before.body, operator.user_id)
    source = f"person:{operator.user_id}"
    assert decided.provenance["arguments"] == {"to": {"sources": [source], "trusted": True}}
    assert titles_of_events(desk, before) == [
        ("requested", "Send to ann"),
        ("approved", "Send to bob"),
    ]
    desk.passed_window()
    assert sent_to(world) == ["bob"]


def test_an_edit_that_only_changes_amounts_needs_the_group_as_well(
    desk: Desk, world: World, operator: Access, finance: Access
) -> None:
    set_policy(desk, FINANCE)
    run = desk.call("test_send", to="ann", cost=1)
    desk.drive()
    edited = {"to": "ann", "text": "hi", "cost": 5_000}
    assert desk.decide(desk.approval(run), access=operator, arguments=edited).approvers == (
        "finance",
    )
    desk.passed_window()
    assert (world.sent, desk.status(run)) == ([], "waiting_for_approval")
    by_finance = desk.call("test_send", to="ann", cost=1)
    desk.drive()
    done = desk.decide(desk.approval(by_finance), access=finance, arguments=edited)
    assert done.status is State.approved
    desk.passed_window()
    assert sent_to(world) == ["ann"]


def test_a_forged_approval_of_an_edit_is_asked_again(
    desk: Desk, world: World, operator: Access, finance: Access
) -> None:
    """The driver does not take the row's word: it compares whom the edited call needs with who approved it."""
    set_policy(desk, ASK)
    run = desk.call("test_send", to="ann", text="hi")
    desk.drive()
    desk.decide(desk.approval(run), access=operator, arguments={"to": "bank", "text": "hi"})
    set_policy(desk, FINANCE)
    desk.passed_window()
    assert world.sent == []
    assert desk.status(run) == "waiting_for_approval"
    assert desk.approval(run).approvers == ("finance",)


# Approvals that cover later calls


def chain(*calls: dict[str, Any]) -> Iterator[dict[str, Any]]:
    nodes: list[dict[str, Any]] = [
        {"id": f"s{number}", "type": "tool", "tool": "test_send", "arguments": each}
        for number, each in enumerate(calls)
    ]
    for before, node in pairwise(nodes):
        node["needs"] = [before["id"]]
    yield from nodes


def test_a_session_does_not_cover_what_another_group_must_approve(
    desk: Desk, world: World, operator: Access, finance: Access
) -> None:
    set_policy(desk, FINANCE)
    run = desk.start(*chain({"to": "ann", "cost": 1}, {"to": "ann", "cost": 5_000}))
    desk.drive()
    desk.decide(desk.approval(run), access=operator, extent=Extent.session)
    for _ in range(3):
        desk.passed_window()
    assert len(world.sent) == 1
    assert desk.status(run) == "waiting_for_approval"
    assert desk.approval(run).approvers == ("finance",)


def test_a_session_covers_other_words_and_no_more() -> None:
    facts = {"destination": "x", "recipients": ["ann"], "bound": "b", "amount": "10"}
    body = {"run": "r", "tool": "t", "branch": "main", "pin": {"v": 1}, **facts}
    session = SimpleNamespace(extent=Extent.session, body={**body, "arguments": {"text": "hi"}})

    def covered(**changes: Any) -> bool:
        return Approval.covers(cast(Approval, session), {**body, **changes})

    assert covered(arguments={"text": "other words"})
    assert covered(amount="9.5")
    assert covered(amount=None)
    others: dict[str, Any] = {
        "amount": "10.01",
        "bound": "another file, record or permission",
        "pin": {"v": 2},
        "recipients": ["eve"],
        "destination": "y",
        "branch": "draft",
    }
    for name, value in others.items():
        assert not covered(**{name: value}), name
    without = {name: value for name, value in body.items() if name != "amount"}
    unlimited = SimpleNamespace(extent=Extent.session, body=without)
    assert not Approval.covers(cast(Approval, unlimited), body), "no amount was approved"


def test_all_that_says_where_on_what_and_how_far_binds_a_session() -> None:
    class Sharing(Arguments):
        file: Annotated[str, TARGET] = "a"
        as_role: Annotated[str, REACH] = "reader"
        url: Annotated[str, DESTINATION] = "https://x.example"
        note: Annotated[str, CONTENT] = "hi"
        sum: Annotated[int, AMOUNT] = 1

    async def nothing(_context: ToolContext, _arguments: Arguments) -> Outcome:
        return Outcome(None)

    tool = Tool("share", "S", "S.", Sharing, Risk.external_send, nothing, destination=lambda _: "x")
    usual = facts_of(tool, Sharing()).bound
    assert facts_of(tool, Sharing(note="other", sum=2)).bound == usual
    for change in ({"file": "b"}, {"as_role": "owner"}, {"url": "https://y.example"}):
        assert facts_of(tool, Sharing(**change)).bound != usual, change


def test_a_changed_policy_ends_a_session(desk: Desk, world: World, operator: Access) -> None:
    set_policy(desk, ASK)
    run = desk.start(*chain({"to": "ann"}, {"to": "ann"}))
    desk.drive()
    desk.decide(desk.approval(run), access=operator, extent=Extent.session)
    desk.drive()
    desk.clock.advance(seconds=6)
    set_policy(desk, ASK.replace("It leaves.", "It leaves the house."))
    for _ in range(3):
        desk.passed_window()
    # The first call has its approval; the second one is asked about under the new text.
    assert desk.status(run) == "waiting_for_approval"
    assert desk.approval(run).reason == "It leaves the house."
    assert len(world.sent) <= 1


def test_a_changed_policy_ends_a_batch(desk: Desk, world: World, operator: Access) -> None:
    set_policy(desk, ASK)
    send = {"id": "send", "type": "tool", "tool": "test_send", "arguments": {"to": "${item}"}}
    everyone = {"id": "all", "type": "map", "over": "['ann', 'bob']", "approve_together": True}
    run = desk.start({**everyone, "body": {"nodes": [send]}})
    desk.drive()
    desk.decide(desk.approval(run), access=operator)
    set_policy(desk, FINANCE)
    for _ in range(3):
        desk.passed_window()
    assert world.sent == []
    assert desk.status(run) == "waiting_for_approval"
    assert desk.approval(run).extent is Extent.single


# A second look at the effect


def in_window(desk: Desk, *, author: Access, approver: Access | None) -> Run:
    """A send that was approved, or allowed, and waits for its window to close."""
    run = desk.call("test_send", to="ann", text="hi", access=author)
    desk.drive()
    if approver is not None:
        desk.decide(desk.approval(run), access=approver)
        desk.drive()
    assert desk.status(run) == "blocked"
    return run


@pytest.mark.parametrize("asked", [True, False])
def test_a_rule_set_to_deny_in_the_window_stops_the_send(
    desk: Desk, world: World, author: Access, operator: Access, asked: bool
) -> None:
    set_policy(desk, ASK if asked else PRESETS["trusted"])
    run = in_window(desk, author=author, approver=operator if asked else None)
    set_policy(desk, DENIED)
    desk.passed_window()
    assert world.sent == []
    error = desk.outcome(run)["error"]
    assert (error["code"], "Stopped." in error["message"]) == ("denied", True)


def test_a_rule_set_to_deny_while_the_run_waits_stops_it(
    desk: Desk, world: World, author: Access, operator: Access
) -> None:
    set_policy(desk, ASK)
    run = desk.call("test_send", to="ann", access=author)
    desk.drive()
    set_policy(desk, DENIED)
    desk.decide(desk.approval(run), access=operator)
    desk.passed_window()
    assert world.sent == []
    assert desk.outcome(run)["error"]["code"] == "denied"


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("change", ["removed", "demoted"])
def test_an_author_who_may_no_longer_act_stops_the_send(
    desk: Desk, world: World, author: Access, operator: Access, asked: bool, change: str
) -> None:
    everyone = '@id("all") @outcome("dry_run") permit (principal, action, resource);'
    set_policy(desk, ASK if asked else everyone)
    run = in_window(desk, author=author, approver=operator if asked else None)
    if change == "removed":
        remove(desk, author)
    else:
        desk.steward.identity.members.set_role(desk.access, author.user_id, Role.viewer)
    desk.passed_window()
    assert world.sent == []
    assert desk.outcome(run)["error"]["code"] == "denied"


@pytest.mark.parametrize("change", ["removed", "demoted", "group"])
def test_an_approver_who_may_no_longer_approve_stops_the_send(
    desk: Desk, world: World, author: Access, finance: Access, change: str
) -> None:
    set_policy(desk, ASK.replace('@id("send")', '@id("send") @approvers("finance")'))
    run = in_window(desk, author=author, approver=finance)
    if change == "removed":
        remove(desk, finance)
    elif change == "demoted":
        desk.steward.identity.members.set_role(desk.access, finance.user_id, Role.viewer)
    else:
        desk.steward.governing.groups.put(desk.access, "finance", [])
    desk.passed_window()
    assert world.sent == []
    error = desk.outcome(run)["error"]
    assert error["code"] == "approver-lost"
    assert "approved" in error["message"]


@pytest.mark.parametrize("asked", [True, False])
def test_a_rule_that_asks_others_now_is_asked_with_its_reason(
    desk: Desk, world: World, author: Access, operator: Access, finance: Access, asked: bool
) -> None:
    set_policy(desk, ASK if asked else PRESETS["trusted"])
    run = in_window(desk, author=author, approver=operator if asked else None)
    set_policy(desk, ASK.replace('@id("send")', '@id("send") @approvers("finance")'))
    desk.passed_window()
    assert world.sent == []
    assert desk.status(run) == "waiting_for_approval"
    again = desk.approval(run)
    assert (again.approvers, again.reason) == (("finance",), "It leaves.")
    desk.decide(again, access=finance)
    desk.drive()
    assert world.sent == [], "the window is open again"
    desk.passed_window()
    assert sent_to(world) == ["ann"]
    assert desk.replays(run)


def test_what_is_asked_another_time_can_be_edited_again(
    desk: Desk, world: World, author: Access, operator: Access, finance: Access
) -> None:
    set_policy(desk, ASK)
    run = desk.call("test_send", to="ann", text="hi", access=author)
    desk.drive()
    desk.decide(desk.approval(run), access=operator, arguments={"to": "bob", "text": "hi"})
    desk.drive()
    set_policy(desk, ASK.replace('@id("send")', '@id("send") @approvers("finance")'))
    desk.passed_window()
    again = desk.approval(run)
    assert (again.body["destination"], again.status) == ("bob", State.pending)
    desk.decide(again, access=finance, arguments={"to": "cid", "text": "hi"})
    desk.passed_window()
    assert sent_to(world) == ["cid"]
    runs = desk.steward.runs
    told = calls_of(runs.journal.entries(run.scope, run.id), runs.payload)
    (call,) = (each for each in told if each.tool is not None)
    assert (call.key, call.state, call.arguments["to"]) == ("call", "done", "cid")
    assert [answer["decision"] for answer in call.approvals] == ["approved", "approved"]


def test_what_was_asked_again_can_be_taken_back(
    desk: Desk, world: World, author: Access, operator: Access
) -> None:
    set_policy(desk, PRESETS["trusted"])
    run = in_window(desk, author=author, approver=None)
    set_policy(desk, ASK)
    desk.passed_window()
    again = desk.approval(run)
    desk.decide(again, access=operator)
    desk.drive()
    key = again.wait_key.partition("/approval/")[0]
    desk.steward.governing.approvals.take_back(operator, run.id, key)
    desk.passed_window()
    assert desk.outcome(run)["error"]["code"] == "taken-back"
    assert world.sent == []


def test_safe_mode_switched_on_in_the_window_asks(desk: Desk, world: World, author: Access) -> None:
    set_policy(desk, PRESETS["trusted"])
    run = in_window(desk, author=author, approver=None)
    desk.steward.governing.rulebook.change_settings(desk.access, 0, safe_mode=True)
    desk.passed_window()
    assert world.sent == []
    assert desk.status(run) == "waiting_for_approval"
    assert "Safe mode" in desk.approval(run).reason


class Crash(BaseException):
    """The process ends here."""


@contextmanager
def crashing_at(point: str) -> Iterator[None]:
    def die(reached: str) -> None:
        if reached == point:
            raise Crash

    previous = install(die)
    try:
        with pytest.raises(Crash):
            yield
    finally:
        install(previous)


@pytest.mark.parametrize(("tool", "status"), [("test_post", "done"), ("test_send", "failed")])
def test_what_happened_before_a_crash_is_not_decided_again(
    desk: Desk, world: World, tool: str, status: str
) -> None:
    set_policy(desk, PRESETS["trusted"])
    run = desk.call(tool, to="ann")
    desk.drive()
    desk.clock.advance(seconds=6)
    with crashing_at("runs.effect.done"):
        desk.drive()
    assert sent_to(world) == ["ann"]
    set_policy(desk, DENIED)
    desk.clock.advance(seconds=LEASE.total_seconds() + 1)
    desk.drive()
    assert (sent_to(world), desk.status(run)) == (["ann"], status)
    if status == "failed":
        # Nobody can look whether it arrived, and the rules forbid to send it again.
        assert "may have happened once" in desk.outcome(run)["error"]["message"]


def test_an_approved_send_that_had_not_begun_when_its_process_died_goes_on(
    desk: Desk, world: World
) -> None:
    """Nobody is asked whether it may have happened: nothing was intended yet."""
    set_policy(desk, ASK)
    run = desk.call("test_send", to="ann")
    desk.drive()
    desk.decide(desk.approval(run))
    desk.drive()
    desk.clock.advance(seconds=6)
    with crashing_at("broker.approved"):
        desk.drive()
    desk.clock.advance(seconds=LEASE.total_seconds() + 1)
    desk.drive()
    assert (sent_to(world), desk.status(run)) == (["ann"], "done")
    assert desk.approval(run).status is State.used


# Four eyes


def test_four_eyes_keeps_people_from_approving_their_own_requests(
    desk: Desk, world: World, author: Access, operator: Access
) -> None:
    set_policy(desk, FOUR_EYES)
    run = desk.call("test_send", to="ann", access=author)
    desk.drive()
    asked = desk.approval(run)
    assert asked.four_eyes
    by_token = replace(
        author,
        principal=replace(
            author.principal,
            via=Via.token,
            limits=TokenLimits("tok_1", author.scope.project_id, Role.operator),
        ),
    )
    approvals = desk.steward.governing.approvals
    for same in (author, by_token):
        with pytest.raises(Denied, match="other than the person who asked"):
            desk.decide(asked, access=same)
        with pytest.raises(Denied, match="other than the person who asked"):
            approvals.delegate(same, asked.id, operator.user_id)
        assert approvals.listed(same, mine=True) == []
    with pytest.raises(Denied, match="other than the person who asked"):
        approvals.delegate(operator, asked.id, author.user_id)
    desk.decide(asked, access=operator)
    desk.passed_window()
    assert sent_to(world) == ["ann"]


def test_four_eyes_and_edits_over_http_and_by_api_token(desk: Desk, world: World) -> None:
    people = [desk.installation.person(Role.operator, name) for name in ("asks", "edits")]
    asks, edits = people
    set_policy(desk, FOUR_EYES)
    run = desk.call("test_send", to="ann", access=asks.access)
    desk.drive()
    place = f"/api/v1/projects/{run.scope.project_id}/approvals"
    found = edits.client.get(f"{place}/{desk.approval(run).id}").json()
    assert (found["four_eyes"], found["askers"]) == (True, [asks.access.user_id])
    verdict = {"approve": True, "body_hash": found["body_hash"]}
    by_token = desk.installation.by_token(asks, Role.operator)
    refused = by_token.post(f"{place}/{found['id']}/decision", json=verdict)
    assert (refused.status_code, refused.json()["code"]) == (403, "approval-not-enough")
    edited = edits.client.post(
        f"{place}/{found['id']}/decision", json={**verdict, "arguments": {"to": "bob"}}
    )
    assert (edited.json()["status"], edited.json()["title"]) == ("edited", "Send to bob")
    desk.passed_window()
    assert (world.sent, desk.status(run)) == ([], "waiting_for_approval")


def test_four_eyes_counts_an_editor_as_one_who_asked(
    desk: Desk, world: World, author: Access, operator: Access
) -> None:
    set_policy(desk, FOUR_EYES)
    run = desk.call("test_send", to="ann", access=author)
    desk.drive()
    edited = desk.decide(desk.approval(run), access=operator, arguments={"to": "bob"})
    assert edited.status is State.edited
    desk.drive()
    again = desk.approval(run)
    assert set(again.askers) == {author.user_id, operator.user_id}
    for person in (author, operator):
        with pytest.raises(Denied, match="other than the person who asked"):
            desk.decide(again, access=person)
    desk.decide(again)
    desk.passed_window()
    assert sent_to(world) == ["bob"]


def test_four_eyes_counts_who_wrote_what_is_run(
    desk: Desk, world: World, author: Access, operator: Access
) -> None:
    set_policy(desk, FOUR_EYES)
    call = {"id": "call", "type": "tool", "tool": "test_send", "arguments": {"to": "ann"}}
    run = desk.start(call, access=operator, authors=(author.user_id,))
    desk.drive()
    asked = desk.approval(run)
    assert set(asked.askers) == {author.user_id, operator.user_id}
    for person in (author, operator):
        with pytest.raises(Denied, match="other than the person who asked"):
            desk.decide(asked, access=person)
    desk.decide(asked)
    desk.passed_window()
    assert sent_to(world) == ["ann"]


def test_four_eyes_counts_who_started_the_original_of_a_fork(
    desk: Desk, world: World, author: Access
) -> None:
    set_policy(desk, FOUR_EYES)
    run = desk.call("test_send", access=author, to="ann")
    desk.drive()
    fork = desk.steward.governing.forking.fork(desk.access, run.id, at=None, changes={})
    again = desk.steward.governing.forking.fork(desk.access, fork.id, at=None, changes={})
    desk.drive()
    for each in (fork, again):
        assert set(desk.approval(each).askers) == {author.user_id, desk.access.user_id}
        with pytest.raises(Denied, match="other than the person who asked"):
            desk.decide(desk.approval(each), access=author)
    assert world.sent == []


def test_a_revoked_token_stops_what_it_started(desk: Desk, world: World) -> None:
    set_policy(desk, ASK)
    person = desk.installation.person(Role.operator, "token")
    tokens = desk.steward.identity.tokens
    token, _ = tokens.create(person.access, "leaked", Role.operator, 30)
    limits = TokenLimits(token.id, person.access.scope.project_id, Role.operator)
    principal = replace(person.access.principal, via=Via.token, limits=limits)
    run = desk.call("test_send", access=replace(person.access, principal=principal), to="ann")
    own = desk.call("test_send", access=person.access, to="bob")
    desk.drive()
    for each in (run, own):
        desk.decide(desk.approval(each))
    desk.drive()
    tokens.revoke(person.access, token.id)
    desk.passed_window()
    assert sent_to(world) == ["bob"]
    assert "token" in desk.outcome(run)["error"]["message"]


def test_a_revoked_token_takes_its_approvals_along(
    desk: Desk, world: World, author: Access
) -> None:
    set_policy(desk, ASK)
    person = desk.installation.person(Role.operator, "token")
    tokens = desk.steward.identity.tokens
    token, _ = tokens.create(person.access, "leaked", Role.operator, 30)
    limits = TokenLimits(token.id, person.access.scope.project_id, Role.operator)
    principal = replace(person.access.principal, via=Via.token, limits=limits)
    by_token = replace(person.access, principal=principal)
    stopped, goes_on = (desk.call("test_send", to=to, access=author) for to in ("ann", "bob"))
    desk.drive()
    desk.decide(desk.approval(stopped), access=by_token)
    desk.decide(desk.approval(goes_on), access=person.access)
    desk.drive()
    tokens.revoke(person.access, token.id)
    desk.passed_window()
    assert sent_to(world) == ["bob"]
    assert "token that they used was revoked" in desk.outcome(stopped)["error"]["message"]


def test_four_eyes_switched_on_after_the_approval_asks_somebody_else(
    desk: Desk, world: World, author: Access, operator: Access
) -> None:
    set_policy(desk, ASK)
    run = in_window(desk, author=author, approver=author)
    set_policy(desk, FOUR_EYES)
    desk.passed_window()
    assert world.sent == []
    assert desk.status(run) == "waiting_for_approval"
    [waits] = desk.steward.runs.get(run.scope, run.id).waits or [{}]
    assert waits["of"] == "call", "whatever its key, the wait says which call it is about"
    desk.decide(desk.approval(run), access=operator)
    desk.passed_window()
    assert sent_to(world) == ["ann"]


def test_the_policy_checker_knows_four_eyes(desk: Desk) -> None:
    assert parse(FOUR_EYES).rules["policy1"].four_eyes
    assert faults(FOUR_EYES) == []
    no_ask = '@id("x") @four_eyes("yes") permit (principal, action, resource);'
    wrong = '@id("x") @outcome("ask") @four_eyes("maybe") permit (principal, action, resource);'
    assert [str(each) for each in faults(no_ask)] == [
        'line 1, column 11: @four_eyes needs @outcome("ask")'
    ]
    assert "@four_eyes" in faults(wrong)[0].message
    with pytest.raises(Invalid):
        parse(wrong)
    set_policy(desk, FOUR_EYES)
    explained = desk.steward.governing.judging.check(desk.access, "test_send")
    assert explained["four_eyes"] is True
    assert "Someone other than the person who asked must approve." in explained["explanation"]


# Forks


@pytest.mark.parametrize("at", [None, "call/window"])
def test_a_fork_asks_again_for_what_was_approved_and_taken_back(
    desk: Desk, world: World, author: Access, at: str | None
) -> None:
    """An approval is for one run: whoever approved under four eyes cannot send it in a fork of their own."""
    set_policy(desk, FOUR_EYES)
    run = desk.call("test_send", access=author, to="ann", text="hi")
    desk.drive()
    first = desk.approval(run)
    desk.decide(first)
    desk.drive()
    forking = desk.steward.governing.forking
    in_window = forking.fork(desk.access, run.id, at=at, changes={})
    desk.steward.governing.approvals.take_back(author, run.id, "call")
    desk.drive()
    cut = forking.fork(desk.access, run.id, at="call/window", changes={})
    desk.passed_window()
    assert world.sent == []
    for fork in (in_window, cut):
        assert desk.status(fork) == "waiting_for_approval", desk.outcome(fork)
        asked = desk.approval(fork)
        assert asked.id != first.id
        with pytest.raises(Denied, match="four eyes"):
            desk.decide(asked)


def test_an_approval_is_refused_to_another_run(desk: Desk, world: World, author: Access) -> None:
    """Also where a journal says otherwise: the fork below keeps the decision."""
    set_policy(desk, ASK)
    run = desk.call("test_send", access=author, to="ann", text="hi")
    desk.drive()
    desk.decide(desk.approval(run))
    desk.drive()
    with patch("steward.runs.forks._left_out", return_value=frozenset()):
        fork = desk.steward.governing.forking.fork(desk.access, run.id, at=None, changes={})
    scope = desk.access.scope
    desk.steward.runs.records.control(scope, run.id, "cancel", author.user_id)
    desk.passed_window()
    assert (world.sent, desk.status(fork)) == ([], "failed")
