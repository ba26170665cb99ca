"""Approvals: a person allows exactly one payload, once, in time; anything else is refused when it counts."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from steward.broker import _tables as tables
from steward.broker.approval_model import (
    NOT_ENOUGH,
    Approval,
    Approver,
    Ask,
    Extent,
    Needs,
    State,
    Verdict,
    not_by_askers,
)
from steward.broker.grants import Grant
from steward.broker.groups import Groups
from steward.core import Clock, Conflict, Denied, Ids, Invalid, NotFound
from steward.identity import Access
from steward.runs import Json, Runs, digest
from steward.store import Database, EventLog, Scope, Transaction

MISMATCH: Final = "approval-mismatch"
LIFETIME: Final = timedelta(hours=1)
"""How long a request waits for an answer, and how long the answer may be used."""
UNDO_WINDOW: Final = timedelta(seconds=5)

_COLUMNS = tables.approvals.c


@dataclass(eq=False, repr=False)
class Approvals:
    _database: Database
    _runs: Runs
    _events: EventLog
    _clock: Clock
    _ids: Ids
    _groups: Groups
    _lifetime: timedelta = LIFETIME

    def ask(self, scope: Scope, ask: Ask) -> Approval:
        """Puts a request into the inbox; asked again after a crash, it is the same request."""
        now, ask = self._clock.now(), self._scrubbed(scope, ask)
        askers = ask.askers | self._askers(scope, ask.run_id)
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
                    risk=ask.risk,
                    asked_body=ask.asked_body,
                    edited_by=ask.edited_by,
                    extent=(Extent.batch if batch else Extent.single).value,
                    batch=batch,
                    status=State.pending.value,
                    requested_by=ask.requested_by,
                    requested_at=now,
                    expires_at=now + self._lifetime,
                    **_shown(ask, askers),
                )
            )
            self._events.append(
                tx, "approval.requested", approval_id, {"title": ask.title, "run": ask.run_id}
            )
            return self._existing(tx, approval_id)

    def _scrubbed(self, scope: Scope, ask: Ask) -> Ask:
        shown = {"title": ask.title, "preview": ask.preview, "reason": ask.reason}
        return replace(ask, **self._runs.scrub(scope, shown))

    def _askers(self, scope: Scope, run_id: str) -> frozenset[str]:
        """Who asked for what a run does: who started it, those above it or those it was forked from, or wrote them."""
        found: set[str] = set()
        left, seen = [run_id], {run_id}
        while left:
            current = left.pop()
            try:
                run = self._runs.get(scope, current)
            except NotFound:
                # The original of a fork was deleted since.
                continue
            grant = Grant.from_json(self._runs.request(scope, current).grant)
            found |= {run.created_by, *grant.authors}
            further = {run.parent_id, run.forked_from} - seen - {None}
            left += [each for each in further if each is not None]
            seen |= {*left}
        return frozenset(found)

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

    def decidable(self, access: Access, approval_id: str, verdict: Verdict) -> Approval:
        """The request, for somebody who may decide it in this way; everybody else is told why not."""
        with self._database.read(access.scope) as tx:
            found = self._existing(tx, approval_id)
            self._check(tx, access, found, verdict)
        return found

    def decide(self, access: Access, approval_id: str, verdict: Verdict) -> Approval:
        """Records the first decision in time by somebody who may; everything else is refused.

        An edit that others must approve is no approval: it is recorded, and the run asks them.
        """
        edit, scrub = verdict.edit, self._runs.scrub
        if edit is not None:
            body = scrub(access.scope, edit.body)
            edit = replace(self._scrubbed(access.scope, edit), body=body)
        reason = scrub(access.scope, verdict.reason)
        verdict = replace(verdict, edit=edit, reason=reason)
        with self._database.write(access.scope) as tx:
            found = self._existing(tx, approval_id, lock=True)
            self._check(tx, access, found, verdict)
            limits = access.principal.limits
            token = None if limits is None else limits.token_id
            decided = replace(found, decided_by=access.user_id, decided_token=token)
            approver = self._approver(tx, decided)
            status = _status(verdict, approver)
            values: dict[str, Any] = {}
            if edit is not None:
                askers = frozenset({*found.askers, *edit.askers, access.user_id})
                values = {**_shown(edit, askers), "asked_body": found.body}
                values["edited_by"] = access.user_id
            changed = tx.execute(
                sa.update(tables.approvals)
                .where(_COLUMNS.id == approval_id, _COLUMNS.status == State.pending.value)
                .values(
                    status=status.value,
                    extent=_extent(found, verdict).value,
                    decided_by=access.user_id,
                    decided_token=token,
                    decided_at=self._clock.now(),
                    decision_reason=verdict.reason[:1000] or None,
                    **values,
                )
            )
            if changed.rowcount != 1:
                raise Conflict("Somebody else decided this a moment ago.")
            now = self._existing(tx, approval_id)
            answer = {
                "decision": status.value,
                "approval_id": approval_id,
                "by": access.user_id,
                "reason": verdict.reason,
                "body_hash": now.body_hash,
                "edited": edit is not None,
                "body": now.body,
                # What the driver compares with the call that it would make of this.
                "groups": sorted(approver.groups),
                "policy": now.policy,
            }
            self._runs.records.signal_within(tx, found.run_id, found.wait_key, answer)
            told = {"title": now.title, "by": access.user_id}
            self._events.append(tx, f"approval.{status.value}", approval_id, told)
            self._runs.sign_within(tx, found.run_id)
            return now

    def delegate(self, access: Access, approval_id: str, user_id: str) -> Approval:
        """Passes a request on: from then on the other person may decide it, whatever their groups."""
        with self._database.write(access.scope) as tx:
            found = self._existing(tx, approval_id, lock=True)
            if found.status is not State.pending:
                raise Conflict(f"This was {found.status.value} already.")
            found.refuse_unless_decidable(access, self._groups.of_within(tx, access.user_id))
            if found.four_eyes and found.is_asker(user_id):
                raise not_by_askers()
            role = self._groups.role_within(tx, user_id)
            if role is None or not role.acts:
                raise NotFound("There is nobody in this project by that id who may approve.")
            tx.execute(
                sa.update(tables.approvals)
                .where(_COLUMNS.id == approval_id)
                .values(
                    delegated_to=user_id,
                    # Handed on again, it stays with the groups of the first.
                    delegated_by=found.delegated_by or access.user_id,
                )
            )
            told = {"title": found.title, "to": user_id, "by": access.user_id}
            self._events.append(tx, "approval.delegated", approval_id, told)
            self._runs.sign_within(tx, found.run_id)
            return self._existing(tx, approval_id)

    def take_back(self, access: Access, run_id: str, key: str) -> None:
        """Stops an external send within its undo window."""
        access.require_acting()
        self._runs.records.signal(
            access.scope, run_id, f"{key}/window", {"decision": "undone", "by": access.user_id}
        )

    def redeem(
        self, scope: Scope, approval_id: str, body: Json, ticket: str, needs: Needs | None
    ) -> Approval:
        """Checks at the moment of the effect that exactly this was allowed, and uses the approval up.

        `needs` is what the rules ask at this moment; None where they would let the call pass unasked.
        """
        body_hash = digest(body)
        try:
            return self._redeemed(scope, approval_id, body, body_hash, ticket, needs)
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
        self,
        scope: Scope,
        approval_id: str,
        body: Json,
        body_hash: str,
        ticket: str,
        needs: Needs | None,
    ) -> Approval:
        with self._database.write(scope) as tx:
            found = self._existing(tx, approval_id, lock=True)
            self._check_redeemable(found, body, body_hash, ticket)
            found.refuse_unless_enough(self._approver(tx, found), needs)
            if found.extent is Extent.single and found.used_by is None:
                tx.execute(
                    sa.update(tables.approvals)
                    .where(_COLUMNS.id == approval_id, _COLUMNS.status == State.approved.value)
                    .values(status=State.used.value, used_by=ticket)
                )
            return self._existing(tx, approval_id)

    def needs_another(self, scope: Scope, approval_id: str, needs: Needs) -> bool:
        """Whether the rules in force ask for an approval that this one is not."""
        with self._database.read(scope) as tx:
            found = self._existing(tx, approval_id)
            try:
                found.refuse_unless_enough(self._approver(tx, found), needs)
            except Denied as refused:
                return refused.specific_code == NOT_ENOUGH
        return False

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
            for row in rows:
                found = _approval(row, scope)
                listed = found.extent is Extent.batch or ask.provenance["trusted"]
                fresh = self._clock.now() < _usable_until(found, self._lifetime)
                if listed and fresh and found.covers(ask.body) and self._is_enough(tx, found, ask):
                    return found
        return None

    def _is_enough(self, tx: Transaction, found: Approval, ask: Ask) -> bool:
        asked_by = replace(found, askers=(*found.askers, *ask.askers))
        try:
            asked_by.refuse_unless_enough(self._approver(tx, found), ask.needs)
        except Denied:
            return False
        return True

    def _approver(self, tx: Transaction, found: Approval) -> Approver:
        user_id = found.decided_by or ""
        groups = self._groups.of_within(tx, user_id)
        if found.delegated_by is not None:
            above = self._groups.role_within(tx, found.delegated_by)
            if above is not None and above.acts:
                groups |= self._groups.of_within(tx, found.delegated_by)
        role = self._groups.role_within(tx, user_id, found.decided_token)
        return Approver(user_id, role, groups)

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
        found.refuse_unless_decidable(access, self._groups.of_within(tx, access.user_id))
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
        if verdict.edit is not None and found.batch:
            raise Invalid("A batch is approved or rejected as it is; leave `arguments` out.")

    def _check_redeemable(self, found: Approval, body: Json, body_hash: str, ticket: str) -> None:
        if found.status is State.used and found.used_by == ticket:
            # The same effect, tried again after a crash.
            allowed = found.body_hash == body_hash
        else:
            allowed = found.status is State.approved and _matches(found, body, body_hash)
        if digest(found.body) != found.body_hash or not allowed:
            raise Denied(
                "What would happen is not what was approved.",
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


def _shown(ask: Ask, askers: frozenset[str]) -> dict[str, Any]:
    """What people see of a call and decide about; an edit replaces all of it."""
    return {
        "title": ask.title[:200],
        "body": ask.body,
        "body_hash": digest(ask.body),
        "preview": ask.preview,
        "provenance": ask.provenance,
        "rules": ask.rules,
        "approvers": sorted(ask.needs.approvers),
        "four_eyes": ask.needs.four_eyes,
        "askers": sorted(askers),
        "policy": ask.needs.policy,
        "reason": ask.reason[:1000],
    }


def _status(verdict: Verdict, approver: Approver) -> State:
    if not verdict.approve:
        return State.rejected
    if verdict.edit is None:
        return State.approved
    needs = verdict.edit.needs
    # Who edits a call asks for it, so four eyes want somebody else.
    enough = needs.approvers <= approver.groups and not needs.four_eyes
    return State.approved if enough else State.edited


def _extent(found: Approval, verdict: Verdict) -> Extent:
    if found.batch:
        return Extent.batch
    carried = found.provenance if verdict.edit is None else verdict.edit.provenance
    if verdict.extent is Extent.session and not carried.get("trusted", True):
        raise Invalid(
            "This call carries foreign content, so each one is looked at by itself; "
            "approve it once instead of for the session."
        )
    return Extent.session if verdict.extent is Extent.session else Extent.single


def _may_decide(access: Access, approval: Approval, member_of: frozenset[str]) -> bool:
    try:
        approval.refuse_unless_decidable(access, member_of)
    except Denied:
        return False
    return True


def _usable_until(found: Approval, lifetime: timedelta) -> datetime:
    return (found.decided_at or found.requested_at) + lifetime


def _matches(found: Approval, body: Json, body_hash: str) -> bool:
    if found.extent is Extent.single:
        return found.used_by is None and found.body_hash == body_hash
    return found.covers(body)


def _approval(row: sa.Row[Any], scope: Scope) -> Approval:
    fields = {
        name: getattr(row, name)
        for name in Approval.__dataclass_fields__
        if name not in {"scope", "approvers", "askers", "extent", "batch", "status"}
    }
    return Approval(
        scope=scope,
        approvers=tuple(row.approvers),
        askers=tuple(row.askers),
        extent=Extent(row.extent),
        batch=tuple(row.batch or ()),
        status=State(row.status),
        **fields,
    )


__all__ = [
    "LIFETIME",
    "MISMATCH",
    "UNDO_WINDOW",
    "Approval",
    "Approvals",
    "Ask",
    "Extent",
    "Needs",
    "State",
    "Verdict",
]
