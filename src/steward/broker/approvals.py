"""Approvals: a person allows exactly one payload, once, in time; anything else is refused when it counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import sqlalchemy as sa

from steward.broker import _tables as tables
from steward.broker.groups import Groups
from steward.core.clock import Clock
from steward.core.errors import Conflict, Denied, Invalid, NotFound
from steward.core.ids import Ids
from steward.identity import Access
from steward.runs import Json, Runs, digest
from steward.store import Database, EventLog, Scope, Transaction

MISMATCH: Final = "approval-mismatch"
LIFETIME: Final = timedelta(hours=1)
"""How long a request waits for an answer, and how long the answer may be used."""
UNDO_WINDOW: Final = timedelta(seconds=5)

_COLUMNS = tables.approvals.c


class State(StrEnum):
    pending = "pending"
    approved = "approved"
    rejected = "rejected"
    expired = "expired"
    used = "used"
    withdrawn = "withdrawn"


class Extent(StrEnum):
    """What an approval covers: one payload, a declared list of them, or further calls of the same kind in this run."""

    single = "single"
    batch = "batch"
    session = "session"


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
    approvers: Sequence[str]
    reason: str
    requested_by: str
    batch: Sequence[Json] | None = None


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
    preview: Json
    provenance: Json
    rules: Json
    approvers: tuple[str, ...]
    reason: str
    extent: Extent
    batch: tuple[Json, ...]
    status: State
    requested_by: str
    requested_at: datetime
    expires_at: datetime
    delegated_to: str | None
    decided_by: str | None
    decided_at: datetime | None
    decision_reason: str | None
    used_by: str | None

    @property
    def doubts(self) -> tuple[str, ...]:
        """What whoever decides should look at, in words; rules alone may ask as well."""
        return tuple((self.provenance or {}).get("doubts", ()))


@dataclass(frozen=True)
class Verdict:
    """What a person decided."""

    approve: bool
    body_hash: str
    """The hash of what they saw."""
    reason: str = ""
    extent: Extent = Extent.single
    body: Json = None
    """The body as they edited it; None when they took it as it was."""


class Approvals:
    def __init__(
        self,
        database: Database,
        runs: Runs,
        events: EventLog,
        clock: Clock,
        ids: Ids,
        groups: Groups,
        lifetime: timedelta = LIFETIME,
    ) -> None:
        self._database = database
        self._runs = runs
        self._events = events
        self._clock = clock
        self._ids = ids
        self._groups = groups
        self._lifetime = lifetime

    def ask(self, scope: Scope, ask: Ask) -> Approval:
        """Puts a request into the inbox; asked again after a crash, it is the same request."""
        shown = {"title": ask.title, "preview": ask.preview, "reason": ask.reason}
        ask = replace(ask, **self._runs.scrub(scope, shown))
        now = self._clock.now()
        with self._database.write(scope) as tx:
            known = tx.first(
                sa.select(tables.approvals).where(
                    _COLUMNS.run_id == ask.run_id, _COLUMNS.wait_key == ask.wait_key
                )
            )
            if known is not None:
                return _approval(known, scope)
            approval_id = self._ids.new("apr")
            batch = list(ask.batch) if ask.batch is not None else None
            tx.execute(
                sa.insert(tables.approvals).values(
                    id=approval_id,
                    run_id=ask.run_id,
                    wait_key=ask.wait_key,
                    tool=ask.tool,
                    title=ask.title[:200],
                    risk=ask.risk,
                    body=ask.body,
                    body_hash=digest(ask.body),
                    preview=ask.preview,
                    provenance=ask.provenance,
                    rules=ask.rules,
                    approvers=list(ask.approvers),
                    reason=ask.reason[:1000],
                    extent=(Extent.batch if batch else Extent.single).value,
                    batch=batch,
                    status=State.pending.value,
                    requested_by=ask.requested_by,
                    requested_at=now,
                    expires_at=now + self._lifetime,
                )
            )
            self._events.append(
                tx, "approval.requested", approval_id, {"title": ask.title, "run": ask.run_id}
            )
            return self._existing(tx, approval_id)

    def get(self, access: Access, approval_id: str) -> Approval:
        with self._database.read(access.scope) as tx:
            return self._existing(tx, approval_id)

    def listed(
        self,
        access: Access,
        *,
        status: State | None = None,
        mine: bool = False,
        run_id: str | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> list[Approval]:
        """Newest first; `mine` keeps what this person may decide now."""
        statement = sa.select(tables.approvals)
        if status is not None:
            statement = statement.where(_COLUMNS.status == status.value)
        if mine:
            statement = statement.where(
                _COLUMNS.status == State.pending.value, _COLUMNS.expires_at > self._clock.now()
            )
        if run_id is not None:
            statement = statement.where(_COLUMNS.run_id == run_id)
        if before is not None:
            statement = statement.where(_COLUMNS.id < before)
        with self._database.read(access.scope) as tx:
            rows = tx.rows(statement.order_by(_COLUMNS.id.desc()).limit(limit))
            member_of = self._groups.of_within(tx, access.user_id)
        found = [_approval(row, access.scope) for row in rows]
        if not mine:
            return found
        return [approval for approval in found if _may_decide(access, approval, member_of)]

    def decide(self, access: Access, approval_id: str, verdict: Verdict) -> Approval:
        """Records the first decision in time by somebody who may; everything else is refused."""
        typed = self._runs.scrub(access.scope, {"body": verdict.body, "reason": verdict.reason})
        verdict = replace(verdict, **typed)
        with self._database.write(access.scope) as tx:
            found = self._existing(tx, approval_id, lock=True)
            self._check(tx, access, found, verdict)
            body = found.body if verdict.body is None else verdict.body
            body_hash = digest(body)
            status = State.approved if verdict.approve else State.rejected
            changed = tx.execute(
                sa.update(tables.approvals)
                .where(_COLUMNS.id == approval_id, _COLUMNS.status == State.pending.value)
                .values(
                    status=status.value,
                    body=body,
                    body_hash=body_hash,
                    asked_body=found.body if verdict.body is not None else None,
                    extent=_extent(found, verdict).value,
                    decided_by=access.user_id,
                    decided_at=self._clock.now(),
                    decision_reason=verdict.reason[:1000] or None,
                )
            )
            if changed.rowcount != 1:
                raise Conflict("Somebody else decided this a moment ago.")
            answer = {
                "decision": status.value,
                "approval_id": approval_id,
                "by": access.user_id,
                "reason": verdict.reason,
                "body_hash": body_hash,
                "edited": verdict.body is not None,
                "body": body,
            }
            self._runs.records.signal_within(tx, found.run_id, found.wait_key, answer)
            self._events.append(tx, f"approval.{status.value}", approval_id, {"title": found.title})
            self._runs.sign_within(tx, found.run_id)
            return self._existing(tx, approval_id)

    def delegate(self, access: Access, approval_id: str, user_id: str) -> Approval:
        """Passes a request on: from then on the other person may decide it, whatever their groups."""
        with self._database.write(access.scope) as tx:
            found = self._existing(tx, approval_id, lock=True)
            if found.status is not State.pending:
                raise Conflict(f"This was {found.status.value} already.")
            if not _may_decide(access, found, self._groups.of_within(tx, access.user_id)):
                raise _not_yours(found)
            role = self._groups.role_within(tx, user_id)
            if role is None or not role.acts:
                raise NotFound("There is nobody in this project by that id who may approve.")
            tx.execute(
                sa.update(tables.approvals)
                .where(_COLUMNS.id == approval_id)
                .values(delegated_to=user_id)
            )
            self._events.append(
                tx, "approval.delegated", approval_id, {"title": found.title, "to": user_id}
            )
            self._runs.sign_within(tx, found.run_id)
            return self._existing(tx, approval_id)

    def take_back(self, access: Access, run_id: str, key: str) -> None:
        """Stops an external send within its undo window."""
        access.require_acting()
        self._runs.records.signal(
            access.scope, run_id, f"{key}/window", {"decision": "undone", "by": access.user_id}
        )

    def redeem(self, scope: Scope, approval_id: str, body: Json, ticket: str) -> Approval:
        """Checks at the moment of the effect that exactly this was allowed, and uses the approval up."""
        body_hash = digest(body)
        try:
            return self._redeemed(scope, approval_id, body, body_hash, ticket)
        except Denied as refused:
            if refused.specific_code == MISMATCH:
                self._record_mismatch(scope, approval_id, body_hash)
            raise

    def _record_mismatch(self, scope: Scope, approval_id: str, body_hash: str) -> None:
        """Whoever changed a payload after its approval leaves a trace outside the run, too."""
        with self._database.write(scope) as tx:
            found = self._existing(tx, approval_id)
            told = {
                "title": found.title,
                "run": found.run_id,
                "approved": found.body_hash,
                "attempted": body_hash,
            }
            self._events.append(tx, "approval.mismatched", approval_id, told)

    def _redeemed(
        self, scope: Scope, approval_id: str, body: Json, body_hash: str, ticket: str
    ) -> Approval:
        with self._database.write(scope) as tx:
            found = self._existing(tx, approval_id, lock=True)
            self._check_redeemable(found, body, body_hash, ticket)
            if found.extent is Extent.single and found.used_by is None:
                tx.execute(
                    sa.update(tables.approvals)
                    .where(_COLUMNS.id == approval_id, _COLUMNS.status == State.approved.value)
                    .values(status=State.used.value, used_by=ticket)
                )
            return self._existing(tx, approval_id)

    def covering(self, scope: Scope, ask: Ask) -> Approval | None:
        """An earlier approval of this run that covers what is asked: a batch that lists it, or a session.

        A session does not cover what follows from foreign content; a batch does, for it lists every payload.
        """
        statement = sa.select(tables.approvals).where(
            _COLUMNS.run_id == ask.run_id,
            _COLUMNS.tool == ask.tool,
            _COLUMNS.status == State.approved.value,
            _COLUMNS.extent != Extent.single.value,
        )
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(_COLUMNS.id))
        now = self._clock.now()
        for row in rows:
            found = _approval(row, scope)
            listed = found.extent is Extent.batch or ask.provenance["trusted"]
            if listed and now < _usable_until(found, self._lifetime) and _covers(found, ask.body):
                return found
        return None

    def expire(self, scope: Scope, approval_id: str) -> None:
        """Marks a request whose time is up; the run goes on with a refusal."""
        with self._database.write(scope) as tx:
            tx.execute(
                sa.update(tables.approvals)
                .where(_COLUMNS.id == approval_id, _COLUMNS.status == State.pending.value)
                .values(status=State.expired.value)
            )

    def _check(self, tx: Transaction, access: Access, found: Approval, verdict: Verdict) -> None:
        if found.status is not State.pending:
            raise Conflict(f"This was {found.status.value} already.")
        if self._clock.now() >= found.expires_at:
            raise Conflict("The request has expired; the run was told so.", code="expired")
        if not _may_decide(access, found, self._groups.of_within(tx, access.user_id)):
            raise _not_yours(found)
        if verdict.body_hash != found.body_hash:
            raise Conflict(
                "What you saw is not what is asked now. Read the request again.",
                code="other-payload",
            )
        if digest(found.body) != found.body_hash:
            raise Denied(
                "The stored payload does not match its hash: it was altered. Cancel the run and start it again."
            )
        if not verdict.approve and not verdict.reason.strip():
            raise Invalid("Say why you reject it; the reason goes to the run.")
        if verdict.body is not None and found.batch:
            raise Invalid("A batch is approved or rejected as it is; leave `body` out.")

    def _check_redeemable(self, found: Approval, body: Json, body_hash: str, ticket: str) -> None:
        if found.status is State.used and found.used_by == ticket:
            # The same effect, tried again after a crash.
            allowed = found.body_hash == body_hash
        else:
            allowed = found.status is State.approved and _matches(found, body, body_hash)
        if digest(found.body) != found.body_hash or not allowed:
            raise Denied(
                "What would happen is not what was approved. Nothing was done.",
                code=MISMATCH,
            )
        if self._clock.now() >= _usable_until(found, self._lifetime):
            raise Denied(
                "The approval is too old to be used. Ask for it again.", code="approval-expired"
            )

    def _existing(self, tx: Transaction, approval_id: str, *, lock: bool = False) -> Approval:
        statement = sa.select(tables.approvals).where(_COLUMNS.id == approval_id)
        row = tx.first(statement.with_for_update() if lock else statement)
        if row is None:
            raise NotFound("There is no such approval in this project.")
        return _approval(row, tx.project)


def _extent(found: Approval, verdict: Verdict) -> Extent:
    if found.batch:
        return Extent.batch
    if verdict.extent is Extent.session and not found.provenance.get("trusted", True):
        raise Invalid(
            "This call carries foreign content, so each one is looked at by itself; "
            "approve it once instead of for the session."
        )
    return Extent.session if verdict.extent is Extent.session else Extent.single


def _may_decide(access: Access, approval: Approval, member_of: frozenset[str]) -> bool:
    if not access.role.acts:
        return False
    if approval.delegated_to is not None:
        return approval.delegated_to == access.user_id
    return set(approval.approvers) <= member_of


def _not_yours(found: Approval) -> Denied:
    if found.delegated_to is not None:
        return Denied("You may not decide this. It was handed to somebody, who decides it now.")
    groups = ", ".join(found.approvers)
    needed = f"somebody of: {groups}" if groups else "somebody who may run things here"
    return Denied(f"You may not decide this. It needs {needed}.")


def _usable_until(found: Approval, lifetime: timedelta) -> datetime:
    return (found.decided_at or found.requested_at) + lifetime


def _matches(found: Approval, body: Json, body_hash: str) -> bool:
    if found.extent is Extent.single:
        return found.used_by is None and found.body_hash == body_hash
    return _covers(found, body)


def _covers(found: Approval, body: Mapping[str, Any]) -> bool:
    if found.extent is Extent.batch:
        wanted = digest(body)
        return any(digest(item) == wanted for item in found.batch)
    own: Mapping[str, Any] = found.body
    same = ("tool", "branch", "destination")
    return all(own.get(name) == body.get(name) for name in same)


def _approval(row: sa.Row[Any], scope: Scope) -> Approval:
    fields = {
        name: getattr(row, name)
        for name in Approval.__dataclass_fields__
        if name not in {"scope", "approvers", "extent", "batch", "status"}
    }
    return Approval(
        scope=scope,
        approvers=tuple(row.approvers),
        extent=Extent(row.extent),
        batch=tuple(row.batch or ()),
        status=State(row.status),
        **fields,
    )
