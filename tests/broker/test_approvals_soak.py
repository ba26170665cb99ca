"""Whatever changes between a request, its approval and its effect: nothing goes out that the right people did not allow."""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from steward.broker.approvals import Approval, Extent, State
from steward.broker.tool import ToolContext
from steward.core.errors import StewardError
from steward.identity import Access, Role
from steward.runs import Run
from tests.broker.conftest import Desk, World

pytestmark = pytest.mark.every_database

GROUPS = ("finance", "legal")


@dataclass(frozen=True)
class Rules:
    """A policy as a text and, beside it, as plain code: who must approve a message, if it may go out at all."""

    text: str
    denies: Callable[[str], bool] = lambda _: False
    asks: bool = True
    four_eyes: bool = False
    groups: Callable[[str, int], frozenset[str]] = lambda _to, _cost: frozenset()


def _rule(name: str, notes: str, when: str = "") -> str:
    clause = f" when {{ {when} }}" if when else ""
    return f'@id("{name}") {notes} permit (principal, action, resource){clause};\n'


_ASK = '@outcome("ask")'
_BANK = 'context has destination && context.destination == "bank"'
_LARGE = "context.amounts has rows && context.amounts.rows > 100"
_EVIL = '@id("evil") forbid (principal, action, resource) when { context has destination && context.destination == "evil" };'
POLICIES = (
    Rules(_rule("free", '@outcome("allow")'), asks=False),
    Rules(_rule("ask", _ASK)),
    Rules(_rule("ask", _ASK) + "// the same, written otherwise\n"),
    Rules(_rule("four", f'{_ASK} @four_eyes("yes")'), four_eyes=True),
    Rules(_rule("ask", _ASK) + _EVIL, denies=lambda to: to == "evil"),
    Rules(_rule("no", '@outcome("deny")'), denies=lambda _: True),
    Rules(
        _rule("ask", _ASK) + _rule("bank", f'{_ASK} @approvers("finance")', _BANK),
        groups=lambda to, _: frozenset({"finance"} if to == "bank" else ()),
    ),
    Rules(
        _rule("ask", f'{_ASK} @four_eyes("yes")')
        + _rule("bank", f'{_ASK} @approvers("finance")', _BANK)
        + _rule("large", f'{_ASK} @approvers("legal")', _LARGE),
        four_eyes=True,
        groups=lambda to, cost: frozenset(
            {*(["finance"] if to == "bank" else []), *(["legal"] if cost > 100 else [])}
        ),
    ),
)


@dataclass
class House:
    """A project in which people come and go and rules change while messages wait to go out."""

    desk: Desk
    dice: random.Random
    people: list[Access]
    rules: Rules = POLICIES[0]
    given_under: dict[str, Rules] = field(default_factory=dict)
    """The rules in force when a request was decided."""
    wrong: list[str] = field(default_factory=list)

    def change(self) -> None:
        """Something about rules, groups or members, or nothing."""
        governing, members = self.desk.steward.governing, self.desk.steward.identity.members
        owner, person = self.desk.access, self.dice.choice(self.people)
        with suppress(StewardError):
            match self.dice.choice(("policy", "policy", "group", "remove", "demote", "return", "")):
                case "policy":
                    self.rule_by(self.dice.choice(POLICIES))
                case "group":
                    some = self.dice.sample(self.people, self.dice.randint(0, len(self.people)))
                    ids = [each.user_id for each in some]
                    governing.groups.put(owner, self.dice.choice(GROUPS), ids)
                case "remove":
                    members.remove(owner, person.user_id)
                case "demote":
                    members.set_role(owner, person.user_id, Role.viewer)
                case "return":
                    members.set_role(owner, person.user_id, Role.operator)

    def rule_by(self, rules: Rules) -> None:
        rulebook = self.desk.steward.governing.rulebook
        revision = rulebook.current(self.desk.access.scope, "project").revision
        rulebook.save(self.desk.access, "project", rules.text, revision)
        self.rules = rules

    def restore(self) -> None:
        """Everybody is back, and each group has somebody."""
        members, groups = self.desk.steward.identity.members, self.desk.steward.governing.groups
        for person in self.people:
            members.set_role(self.desk.access, person.user_id, Role.operator)
        for name in GROUPS:
            groups.put(self.desk.access, name, [self.dice.choice(self.people).user_id])
        self.rule_by(self.dice.choice(POLICIES))

    def decide(self, approval: Approval) -> None:
        """Somebody approves, edits, delegates or rejects; often they may not."""
        person = self.dice.choice(self.people)
        role = self.desk.steward.governing.groups.role(person.scope, person.user_id)
        if role is None:
            return
        access = Access(person.principal, person.scope, role)
        how: dict[str, Any] = {"access": access}
        match self.dice.choice(("once", "once", "once", "session", "edit", "edit", "delegate")):
            case "session":
                how["extent"] = Extent.session
            case "edit":
                how["arguments"] = {**approval.body["arguments"], **self.message()}
            case "delegate":
                to = self.dice.choice(self.people).user_id
                with suppress(StewardError):
                    self.desk.steward.governing.approvals.delegate(access, approval.id, to)
                return
        with suppress(StewardError):
            self.desk.decide(approval, **how)
            self.given_under[approval.id] = self.rules

    def message(self) -> dict[str, Any]:
        return {
            "to": self.dice.choice(("ann", "ann", "bank", "evil")),
            "cost": self.dice.choice((1, 5_000)),
        }

    def look(self, context: ToolContext, words: Any) -> None:
        """At the moment of the effect: may this message go out, as the house is now?"""
        groups = self.desk.steward.governing.groups
        role = groups.role(context.scope, context.author)
        if role is None or not role.acts:
            self.wrong.append("the author may not act")
        elif self.rules.denies(words.to):
            self.wrong.append(f"a rule denies {words.to}")
        elif self.rules.asks:
            found = self.desk.steward.governing.approvals.listed(
                self.desk.access, run_id=context.run_id
            )
            if not any(self._allows(approval, context, words) for approval in found):
                self.wrong.append(f"nobody who should approved {words} under {self.rules.text}")

    def _allows(self, approval: Approval, context: ToolContext, words: Any) -> bool:
        groups, approver = self.desk.steward.governing.groups, approval.decided_by
        if approver is None or context.ticket is None:
            return False
        role = groups.role(context.scope, approver)
        needed = self.rules.groups(words.to, words.cost)
        theirs = groups.of(context.scope, approver)
        if approval.delegated_by is not None:
            theirs |= groups.of(context.scope, approval.delegated_by)
        own = self.rules.four_eyes and approver in {context.author, approval.edited_by}
        if role is None or not role.acts or not needed <= theirs or own:
            return False
        if approval.extent is Extent.session:
            first = approval.body["arguments"]
            return (
                self.given_under.get(approval.id) is self.rules
                and approval.status is State.approved
                and first["to"] == words.to
                and needed <= self.rules.groups(first["to"], first["cost"])
            )
        exact = approval.body["arguments"] == words.model_dump(mode="json")
        return exact and approval.used_by == context.ticket.idempotency_key


def _sends(house: House, count: int) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = [
        {"id": f"s{number}", "type": "tool", "tool": "test_send", "arguments": house.message()}
        for number in range(count)
    ]
    for before, node in pairwise(nodes):
        node["needs"] = [before["id"]]
    return nodes


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_approvals_hold_while_rules_and_people_change(
    desk: Desk, world: World, effort: Callable[[int, int], int]
) -> None:
    dice = random.Random(11)
    people = [desk.installation.person(Role.operator, f"person{n}").access for n in range(4)]
    house = House(desk, dice, people)
    world.watch = house.look
    approvals, sent = desk.steward.governing.approvals, 0
    for _ in range(effort(2, 500)):
        house.restore()
        runs: list[Run] = []
        for _ in range(5):
            with suppress(StewardError):
                runs.append(desk.start(*_sends(house, 2), access=dice.choice(people)))
        for _ in range(4):
            desk.drive()
            house.change()
            for approval in approvals.listed(desk.access, status=State.pending):
                house.decide(approval)
            house.change()
            desk.drive()
            desk.clock.advance(seconds=6)
            house.change()
            desk.drive()
            assert house.wrong == []
        sent += len(world.sent)
        world.sent.clear()
        for run in runs:
            if desk.status(run) not in {"done", "failed", "cancelled"}:
                desk.steward.runs.records.control(run.scope, run.id, "cancel", desk.access.user_id)
        desk.drive()
    assert sent > 0, "some messages do go out"
