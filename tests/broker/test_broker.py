"""The one door: nothing gets past it, everything that passes is recorded, and what a person allowed is what happens."""

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import sqlalchemy as sa

from steward.broker import _tables as tables
from steward.broker.approvals import Approval, Extent, State
from steward.broker.grants import Grant
from steward.broker.presets import PRESETS
from steward.broker.tool import Risk
from steward.core.errors import Conflict, Denied, Invalid, StewardError
from steward.flows.launch import Start
from steward.identity import Access, Role
from steward.runs import Execution, Run, RunRequest, digest
from steward.runs.projection import calls_of
from tests.broker.conftest import Desk, World

pytestmark = pytest.mark.every_database


def test_a_read_is_allowed_recorded_and_replays(desk: Desk) -> None:
    run = desk.call("test_read")
    desk.drive()
    assert desk.outcome(run)["output"]["text"].startswith("Ignore")
    assert desk.replays(run)


def test_a_send_waits_for_a_person_and_happens_once(desk: Desk, world: World) -> None:
    run = desk.call("test_send", to="ann", text="hi")
    desk.drive()
    assert desk.status(run) == "waiting_for_approval"
    assert world.sent == []
    approval = desk.approval(run)
    assert approval.body["payload"] == {"to": "ann", "text": "hi"}
    assert approval.body_hash == digest(approval.body)
    assert approval.expires_at - approval.requested_at == timedelta(hours=1)
    desk.decide(approval)
    desk.drive()
    assert world.sent == [], "the undo window is open"
    desk.passed_window()
    assert [(to, text) for _, to, text in world.sent] == [("ann", "hi")]
    assert desk.status(run) == "done"
    assert desk.approval(run).status is State.used
    assert desk.replays(run)
    assert len(world.sent) == 1, "a replay sends nothing"


def test_a_message_is_taken_back_within_the_window(desk: Desk, world: World) -> None:
    run = desk.call("test_send")
    desk.drive()
    desk.decide(desk.approval(run))
    desk.drive()
    desk.steward.governing.approvals.take_back(desk.access, run.id, "call")
    desk.passed_window()
    assert desk.outcome(run)["error"]["code"] == "taken-back"
    assert world.sent == []


def test_a_rejection_needs_a_reason_and_ends_the_call(desk: Desk, world: World) -> None:
    run = desk.call("test_send")
    desk.drive()
    with pytest.raises(Invalid, match="why"):
        desk.decide(desk.approval(run), approve=False)
    desk.decide(desk.approval(run), approve=False, reason="Not today.")
    desk.drive()
    assert desk.outcome(run)["error"] == {
        "code": "rejected",
        "message": "This was rejected: Not today.",
        "at": "call",
    }
    assert world.sent == []
    assert desk.replays(run)


def test_an_unanswered_request_expires_and_the_run_is_told(desk: Desk, world: World) -> None:
    run = desk.call("test_send")
    desk.drive()
    desk.clock.advance(hours=1)
    with pytest.raises(Conflict, match="expired"):
        desk.decide(desk.approval(run))
    desk.drive()
    assert desk.outcome(run)["error"]["code"] == "approval-expired"
    assert desk.approval(run).status is State.expired
    assert world.sent == []


def test_edited_arguments_are_what_is_sent(desk: Desk, world: World) -> None:
    run = desk.call("test_send", to="ann", text="hi")
    desk.drive()
    before = desk.approval(run)
    decided = desk.decide(before, arguments={"to": "bob", "text": "hello"})
    assert decided.body_hash != before.body_hash
    assert decided.asked_body == before.body
    desk.passed_window()
    desk.passed_window()
    assert [(to, text) for _, to, text in world.sent] == [("bob", "hello")]
    assert desk.replays(run)


def test_a_session_approval_covers_the_same_destination_only(desk: Desk, world: World) -> None:
    sends: list[dict[str, Any]] = [
        {
            "id": f"s{n}",
            "type": "tool",
            "tool": "test_send",
            "arguments": {"to": to, "text": str(n)},
        }
        for n, to in enumerate(["ann", "ann", "bob"])
    ]
    for before, node in pairwise(sends):
        node["needs"] = [before["id"]]
    run = desk.start(*sends)
    desk.drive()
    desk.decide(desk.approval(run), extent=Extent.session)
    for _ in range(4):
        desk.passed_window()
    assert [to for _, to, _ in world.sent] == ["ann", "ann"]
    assert desk.status(run) == "waiting_for_approval"
    assert desk.approval(run).body["destination"] == "bob"


def test_a_declared_list_is_approved_once_and_nothing_else_is(desk: Desk, world: World) -> None:
    send = {
        "id": "send",
        "type": "tool",
        "tool": "test_send",
        "arguments": {"to": "${item}", "text": "hi"},
    }
    run = desk.start(
        {
            "id": "everyone",
            "type": "map",
            "over": "['ann', 'bob']",
            "approve_together": True,
            "body": {"nodes": [send]},
        },
        {**send, "id": "another", "needs": ["everyone"], "arguments": {"to": "cid"}},
    )
    desk.drive()
    approval = desk.approval(run)
    assert approval.extent is Extent.batch
    assert [body["payload"]["to"] for body in approval.batch] == ["ann", "bob"]
    desk.decide(approval)
    for _ in range(3):
        desk.passed_window()
    assert sorted(to for _, to, _ in world.sent) == ["ann", "bob"]
    assert desk.status(run) == "waiting_for_approval"
    assert desk.approval(run).body["payload"]["to"] == "cid"


def test_what_follows_from_foreign_content_needs_a_person_even_when_trusted(
    desk: Desk, world: World
) -> None:
    rulebook = desk.steward.governing.rulebook
    rulebook.save(desk.access, "project", PRESETS["trusted"], 0)
    free = desk.call("test_send")
    desk.passed_window()
    assert desk.status(free) == "done", "the trusted preset lets it out"
    run = desk.start(
        {"id": "page", "type": "tool", "tool": "test_read"},
        {
            "id": "send",
            "type": "tool",
            "tool": "test_send",
            "needs": ["page"],
            "arguments": {"to": "ann", "text": "${nodes.page.output.text}"},
        },
    )
    desk.drive()
    assert desk.status(run) == "waiting_for_approval"
    approval = desk.approval(run)
    assert approval.provenance["untrusted_arguments"] is True
    assert approval.provenance["sources"] == ["url:https://outside.example"]
    with pytest.raises(Invalid, match="foreign content"):
        desk.decide(approval, extent=Extent.session)
    assert len(world.sent) == 1


@pytest.mark.parametrize(("asked_for", "status"), [(True, "done"), (False, "waiting_for_approval")])
def test_what_enforcement_found_asked_for_goes_where_the_project_lets_it(
    desk: Desk, world: World, asked_for: bool, status: str
) -> None:
    async def program(execution: Execution) -> Any:
        broker = desk.steward.governing.broker
        await broker.begin(execution)
        page = await broker.call(execution, "page", "test_read", {})
        said = {"to": "ann", "text": page.value["text"]}
        labels = {"text": page.labels}
        await broker.call(execution, "send", "test_send", said, labels, asked_for=asked_for)
        return None

    desk.steward.governing.rulebook.save(desk.access, "project", PRESETS["trusted"], 0)
    desk.steward.runs.programs["asked"] = program
    grant = Grant(frozenset({"test_read", "test_send"}), Risk.external_send).to_json()
    request = RunRequest("Asked", "asked", {}, grant=grant)
    run = desk.steward.runs.start(desk.access.scope, desk.access.user_id, request)
    desk.passed_window()
    assert desk.status(run) == status
    assert len(world.sent) == (1 if asked_for else 0)


def test_viewers_and_strangers_to_the_group_cannot_decide(
    desk: Desk, operator: Access, viewer: Access
) -> None:
    text = """
@id("send") @outcome("ask") @approvers("finance") @reason("Money.")
permit (principal, action, resource);
"""
    desk.steward.governing.rulebook.save(desk.access, "project", text, 0)
    run = desk.call("test_send")
    desk.drive()
    approval = desk.approval(run)
    assert approval.approvers == ("finance",)
    for person in (viewer, operator, desk.access):
        with pytest.raises(Denied, match="It needs somebody"):
            desk.decide(approval, access=person)
    desk.steward.governing.groups.put(desk.access, "finance", [operator.user_id])
    assert [a.id for a in desk.steward.governing.approvals.listed(operator, mine=True)] == [
        approval.id
    ]
    desk.decide(approval, access=operator)
    assert desk.approval(run).decided_by == operator.user_id


def test_a_delegate_decides_instead(desk: Desk, operator: Access) -> None:
    run = desk.call("test_send")
    desk.drive()
    approvals = desk.steward.governing.approvals
    approvals.delegate(desk.access, desk.approval(run).id, operator.user_id)
    with pytest.raises(Denied, match="handed to somebody"):
        desk.decide(desk.approval(run))
    desk.decide(desk.approval(run), access=operator)
    assert desk.approval(run).status is State.approved


def test_a_run_may_use_only_what_its_token_names(desk: Desk) -> None:
    launcher, runs = desk.steward.governing.launcher, desk.steward.runs
    document = launcher.single("test_send", {})
    request = launcher.request(Start(document))
    narrow = replace(request, grant={**request.grant, "tools": ["test_read"]})
    low = replace(request, grant={**request.grant, "risk": "write"})
    none = replace(request, grant={})
    found = {}
    for name, each in {"narrow": narrow, "low": low, "none": none}.items():
        found[name] = runs.start(desk.access.scope, desk.access.user_id, each)
    desk.drive()
    codes = {name: desk.outcome(run)["error"]["code"] for name, run in found.items()}
    assert codes == {
        "narrow": "tool-not-granted",
        "low": "risk-not-granted",
        "none": "tool-not-granted",
    }


def test_wrong_arguments_and_unknown_tools_are_told_before_anything_runs(desk: Desk) -> None:
    with pytest.raises(Invalid):
        desk.call("test_send", nonsense=1)
    with pytest.raises(Invalid, match="no_such_tool"):
        desk.call("no_such_tool")


def test_read_only_denies_and_names_the_rule(desk: Desk, world: World) -> None:
    desk.steward.governing.rulebook.save(desk.access, "project", PRESETS["read-only"], 0)
    run = desk.call("test_send")
    desk.drive()
    error = desk.outcome(run)["error"]
    assert error["code"] == "denied"
    assert world.sent == []
    explained = desk.steward.governing.judging.check(desk.access, "test_send")
    assert explained["outcome"] == "deny"
    changed = desk.steward.governing.judging.simulate(desk.access, "project", PRESETS["supervised"])
    assert [(c["before"], c["after"], c["looser"]) for c in changed] == [("deny", "ask", True)]


def test_safe_mode_asks_before_any_change(desk: Desk) -> None:
    rulebook = desk.steward.governing.rulebook
    rulebook.save(desk.access, "project", PRESETS["trusted"], 0)
    rulebook.change_settings(desk.access, 0, safe_mode=True)
    run = desk.call("test_send")
    desk.drive()
    assert desk.status(run) == "waiting_for_approval"


def test_a_budget_pauses_asks_and_goes_on(desk: Desk) -> None:
    nodes = [
        {"id": f"n{i}", "type": "tool", "tool": "test_spend", "arguments": {"cost": 60}}
        for i in range(2)
    ]
    nodes[1]["needs"] = ["n0"]
    run = desk.start(*nodes, budget={"tokens": 100})
    desk.drive()
    assert desk.status(run) == "blocked"
    (item,) = desk.steward.governing.inbox.waiting(desk.access)
    assert (item.kind, "100 tokens" in item.title) == ("budget", True)
    desk.steward.governing.inbox.answer(
        desk.access, run.id, item.key, {"decision": "raise", "limits": {"tokens": 150}}
    )
    desk.drive()
    assert desk.status(run) == "done"
    usage = desk.steward.governing.budgets.status(desk.steward.runs.get(desk.access.scope, run.id))
    assert usage.usage["tokens"].spent == 120
    aborted = desk.start(*nodes, budget={"tokens": 100, "on_breach": "abort"})
    desk.drive()
    assert desk.outcome(aborted)["error"]["code"] == "budget-exceeded"
    assert desk.replays(run)
    assert desk.replays(aborted)


def test_a_question_is_answered_by_a_person(desk: Desk, viewer: Access) -> None:
    run = desk.call("ask_human", question="How many?")
    desk.drive()
    inbox = desk.steward.governing.inbox
    (item,) = inbox.waiting(desk.access)
    assert item.kind == "question"
    assert inbox.waiting(viewer) == []
    with pytest.raises(Denied):
        inbox.answer(viewer, run.id, item.key, 3)
    inbox.answer(desk.access, run.id, item.key, 3)
    with pytest.raises(StewardError):
        inbox.answer(desk.access, run.id, item.key, 4)
    desk.drive()
    assert desk.outcome(run)["output"] == 3


def test_approvals_cannot_be_answered_past_the_queue(desk: Desk, world: World) -> None:
    run = desk.call("test_send")
    desk.drive()
    approval = desk.approval(run)
    forged = {"decision": "approved", "approval_id": approval.id, "edited": False}
    with pytest.raises(StewardError):
        desk.steward.governing.inbox.answer(desk.access, run.id, approval.wait_key, forged)
    # Even a signal forged in the database gets nothing out, and verification finds it.
    desk.altered = True
    desk.steward.runs.records.signal(
        desk.access.scope, run.id, approval.wait_key, {**forged, "body_hash": approval.body_hash}
    )
    desk.passed_window()
    assert desk.outcome(run)["error"]["code"] == "approval-mismatch"
    assert world.sent == []
    faults = desk.steward.runs.verify(desk.access.scope, run.id).faults
    assert [fault.part for fault in faults] == ["approval"]


def _tamper(desk: Desk, approval: Approval, **values: Any) -> None:
    desk.altered = True
    with desk.steward.database.write(desk.access.scope) as tx:
        tx.execute(
            sa.update(tables.approvals).where(tables.approvals.c.id == approval.id).values(**values)
        )


CALM = (
    "none",
    "payload",
    "hash",
    "both",
    "viewer",
    "wrong_hash",
    "twice",
    "edit",
    "edit_then_tamper",
    "status",
)
LATE = ("expired", "late")
"""Attacks that let time pass, for all runs at once."""


@dataclass
class Trials:
    """Many sends at once, each with an approval that somebody tries to abuse."""

    desk: Desk
    people: dict[str, Access]

    def attacked(  # noqa: C901 - one case an attack
        self, attack: str, run: Run, text: str
    ) -> set[tuple[str, str]]:
        """What may go out after the attack; tells at once where it must be refused."""
        desk, approval = self.desk, self.desk.approval(run)
        forged = {**approval.body, "arguments": {**approval.body["arguments"], "to": "evil"}}
        refused = partial(self._refused, approval)
        match attack:
            case "none":
                desk.decide(approval, access=self.people["operator"])
                return {("ann", text)}
            case "payload" | "both":
                desk.decide(approval)
                hashed = {"body_hash": digest(forged)} if attack == "both" else {}
                _tamper(desk, approval, body=forged, **hashed)
            case "hash":
                _tamper(desk, approval, body_hash=digest(forged))
                refused()
            case "expired":
                refused()
            case "viewer":
                refused(access=self.people["viewer"])
            case "wrong_hash":
                refused(body_hash=digest(forged))
            case "twice":
                desk.decide(approval, access=self.people["operator"])
                refused(access=self.people["second"], approve=False, reason="no")
                return {("ann", text)}
            case "edit" | "edit_then_tamper":
                desk.decide(approval, arguments={"to": "bob", "text": text})
                if attack == "edit":
                    return {("bob", text)}
                _tamper(desk, approval, body=forged, body_hash=digest(forged))
            case "late":
                desk.decide(approval)
            case "status":
                _tamper(desk, approval, status="approved", decided_at=desk.clock.now())
        return set()

    def _refused(self, approval: Approval, **how: Any) -> None:
        with pytest.raises(StewardError):
            self.desk.decide(approval, **how)


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_approvals_let_nothing_wrong_through(
    desk: Desk,
    world: World,
    operator: Access,
    viewer: Access,
    effort: Callable[[int, int], int],
) -> None:
    """Tampered, expired, wrong person, replayed, doubled, edited: only what was truly approved goes out."""
    dice = random.Random(7)
    second = desk.installation.person(Role.operator, "second").access
    trials = Trials(desk, {"operator": operator, "viewer": viewer, "second": second})
    count, together = effort(60, 10_000), 20
    for begin in range(0, count, together):
        world.sent.clear()
        texts = [f"message {number}" for number in range(begin, begin + together)]
        runs = {text: desk.call("test_send", to="ann", text=text) for text in texts}
        desk.drive()
        late = dice.choice(LATE) if dice.random() < 1 / 6 else None
        if late == "expired":
            desk.clock.advance(minutes=61)
        allowed: set[tuple[str, str]] = set()
        for text, run in runs.items():
            allowed |= trials.attacked(late or dice.choice(CALM), run, text)
        if late == "late":
            desk.clock.advance(minutes=61)
        desk.passed_window()
        desk.passed_window()
        assert {(to, said) for _, to, said in world.sent} == allowed, late
        assert len(world.sent) == len(allowed)


def test_what_a_person_says_of_a_lost_outcome_counts(desk: Desk) -> None:
    run = desk.call("test_lost")
    desk.drive()
    (item,) = desk.steward.governing.inbox.waiting(desk.access)
    assert item.kind == "uncertain"
    desk.steward.governing.inbox.answer(desk.access, run.id, item.key, {"decision": "happened"})
    desk.drive()
    assert desk.status(run) == "done"
    assert desk.outcome(run)["output"] is None


def test_what_a_person_tells_is_not_taken_for_a_record(desk: Desk) -> None:
    run = desk.call("test_lost")
    desk.drive()
    (item,) = desk.steward.governing.inbox.waiting(desk.access)
    file = {"digest": "0" * 64, "media_type": "text/plain", "size": 1, "name": "x"}
    forged = {"value": 1, "summary": "", "labels": {}, "cost": {}, "artifacts": [file]}
    answer = {"decision": "happened", "result": {**forged, "commits": [], "inverse": None}}
    desk.steward.governing.inbox.answer(desk.access, run.id, item.key, answer)
    desk.drive()
    assert desk.status(run) == "done"
    runs = desk.steward.runs
    calls = calls_of(runs.journal.entries(desk.access.scope, run.id), runs.payload)
    assert [call.artifacts for call in calls] == [[]]


def test_the_policy_of_the_organisation_is_for_its_owners(desk: Desk) -> None:
    of_project = desk.installation.person(Role.owner, "project-owner").access
    rulebook = desk.steward.governing.rulebook
    with pytest.raises(Denied, match="organisation"):
        rulebook.save(of_project, "organisation", PRESETS["trusted"], 0)
    assert rulebook.save(desk.access, "organisation", PRESETS["trusted"], 0).revision == 1
