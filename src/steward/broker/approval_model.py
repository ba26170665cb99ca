"""What an approval is: the request, the decision, and the rules by which one is enough for the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from steward.broker.plans import Facts, Plan, editors
from steward.broker.policy import Decision
from steward.broker.tool import Tool
from steward.core import Denied
from steward.identity import Access, Role
from steward.runs import Json, Run, digest
from steward.store import Scope

APPROVER_LOST: Final = "approver-lost"
"""The person who approved may no longer do so."""
NOT_ENOUGH: Final = "approval-not-enough"
"""The rules in force need another approval than the one that was given."""


class State(StrEnum):
    pending = "pending"
    approved = "approved"
    rejected = "rejected"
    edited = "edited"
    """Somebody changed the call so that others must approve it: they are asked in a request of its own."""
    expired = "expired"
    used = "used"
    withdrawn = "withdrawn"


class Extent(StrEnum):
    """What an approval covers: one payload, a declared list of them, or further calls of the same kind in this run."""

    single = "single"
    batch = "batch"
    session = "session"


@dataclass(frozen=True)
class Needs:
    """What the rules in force ask of people before a call."""

    approvers: frozenset[str]
    four_eyes: bool
    policy: str

    @classmethod
    def of(cls, decision: Decision) -> "Needs":
        return cls(frozenset(decision.approvers), decision.four_eyes, decision.policy)


@dataclass(frozen=True)
class Ask:
    """What somebody is asked to allow."""

    run_id: str
    wait_key: str
    tool: str
    title: str
    risk: str
    body: Json
    preview: Json
    provenance: Json
    rules: Json
    needs: Needs
    reason: str
    requested_by: str
    askers: frozenset[str]
    """Those who asked for the call as it is: who started the run, and who edited it."""
    batch: Sequence[Json] | None = None
    asked_body: Json = None
    """The body before somebody edited it."""
    edited_by: str | None = None

    @classmethod
    def of(cls, run: Run, wait_key: str, tool: Tool[Any], plan: Plan) -> "Ask":
        decision = plan.decision
        return cls(
            run_id=run.id,
            wait_key=wait_key,
            tool=plan.tool,
            title=plan.preview["summary"] if plan.preview else tool.title,
            risk=tool.risk.value,
            body=plan.body,
            preview=plan.preview,
            provenance=plan.provenance,
            rules=decision["rules"],
            needs=needs_of(plan),
            reason=decision["reason"],
            requested_by=run.created_by,
            askers=frozenset({run.created_by, *editors(plan.provenance)}),
        )


@dataclass(frozen=True)
class Approval:
    id: str
    scope: Scope
    run_id: str
    wait_key: str
    tool: str
    title: str
    risk: str
    body: Json
    body_hash: str
    asked_body: Json
    edited_by: str | None
    preview: Json
    provenance: Json
    rules: Json
    approvers: tuple[str, ...]
    four_eyes: bool
    askers: tuple[str, ...]
    policy: str
    reason: str
    extent: Extent
    batch: tuple[Json, ...]
    status: State
    requested_by: str
    requested_at: datetime
    expires_at: datetime
    delegated_to: str | None
    delegated_by: str | None
    decided_by: str | None
    decided_token: str | None
    decided_at: datetime | None
    decision_reason: str | None
    used_by: str | None

    @property
    def doubts(self) -> tuple[str, ...]:
        """What whoever decides should look at, in words; rules alone may ask as well."""
        return tuple((self.provenance or {}).get("doubts", ()))

    def is_asker(self, user_id: str) -> bool:
        """Whether somebody asked for this themselves. A token acts for its person."""
        return user_id == self.requested_by or user_id in self.askers

    def refuse_unless_decidable(self, access: Access, member_of: frozenset[str]) -> None:
        """Raises Denied, with the way on, for somebody who may not decide this."""
        if self.four_eyes and self.is_asker(access.user_id):
            raise not_by_askers()
        if self.delegated_to is not None and self.delegated_to != access.user_id:
            raise Denied("You may not decide this. It was handed to somebody, who decides it now.")
        mine = self.delegated_to is not None or set(self.approvers) <= member_of
        if not access.role.acts or not mine:
            groups = ", ".join(self.approvers)
            needed = f"somebody of: {groups}" if groups else "somebody who may run things here"
            raise Denied(f"You may not decide this. It needs {needed}.")

    def refuse_unless_enough(self, approver: "Approver", needs: Needs | None) -> None:
        """Raises Denied where this approval does not let a call pass at this moment.

        `needs` is what the rules in force ask, None where they ask nothing. An approval of one payload is enough while
        its approver is who the rules ask for. One that covers later calls is bound to the rules it was given under.
        """
        if approver.role is None or not approver.role.acts:
            raise Denied(
                "The person who approved this has left the project or may no longer approve, or the API "
                "token that they used was revoked. "
                "Start it again to ask somebody else.",
                code=APPROVER_LOST,
            )
        if not set(self.approvers) <= approver.groups:
            names = ", ".join(self.approvers)
            raise Denied(
                f"The person who approved this no longer belongs to {names}. "
                "Start it again to ask somebody else.",
                code=APPROVER_LOST,
            )
        if needs is None:
            return
        many = self.extent is not Extent.single
        satisfied = set(self.approvers) if many else approver.groups
        if (many and self.policy != needs.policy) or not needs.approvers <= satisfied:
            raise Denied(
                "The policy has changed since this was approved and needs another approval.",
                code=NOT_ENOUGH,
            )
        if needs.four_eyes and self.is_asker(approver.user_id):
            raise not_by_askers()

    def covers(self, body: Mapping[str, Any]) -> bool:
        """Whether a call with this body is among those that a batch or a session lets pass.

        Calls of a session differ in their words, in what they select and in amounts, which may be lower: not in the
        version of the tool, nor in who, where, on what or how far.
        """
        if self.extent is Extent.batch:
            wanted = digest(body)
            return any(digest(item) == wanted for item in self.batch)
        own: Mapping[str, Any] = self.body
        same = ("tool", "pin", "branch", "destination", "recipients", "bound")
        most, asked = Facts.from_body(own).amount, Facts.from_body(body).amount
        within = asked is None or (most is not None and asked <= most)
        return within and all(own.get(name) == body.get(name) for name in same)


@dataclass(frozen=True)
class Approver:
    """Who approved something, as the project knows them at this moment."""

    user_id: str
    role: Role | None
    groups: frozenset[str]
    """Theirs, and those of the person who handed the decision to them."""


@dataclass(frozen=True)
class Verdict:
    """What a person decided."""

    approve: bool
    body_hash: str
    """The hash of what they saw."""
    reason: str = ""
    extent: Extent = Extent.single
    edit: Ask | None = None
    """The call as they edited it, planned and decided; None when they took it as it was."""


def needs_of(plan: Plan) -> Needs:
    decision = plan.decision
    return Needs(
        frozenset(decision["approvers"]),
        decision.get("four_eyes", False),
        decision.get("policy", ""),
    )


def not_by_askers() -> Denied:
    return Denied(
        "The policy asks for four eyes: someone other than the person who asked must approve this.",
        code=NOT_ENOUGH,
    )
