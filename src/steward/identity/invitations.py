"""Invitations by link: a role in one project for whoever holds the link, once."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from steward.core import Clock, Conflict, Denied, Ids, NotFound, copied
from steward.identity._tables import invitations, projects, users
from steward.identity.credentials import new_token, token_hash
from steward.identity.members import Members
from steward.identity.notifications import Level, Notifications
from steward.identity.principals import Access, Principal
from steward.identity.roles import Role
from steward.identity.sessions import NewSession, Sessions
from steward.identity.users import Users, canonical_email
from steward.store import EVERYWHERE, Database, EventLog, Scope, Transaction


@dataclass(frozen=True)
class Invitation:
    id: str
    role: Role
    email: str | None
    created_by: str
    created_at: datetime
    expires_at: datetime
    accepted_at: datetime | None
    playbook_id: str | None
    """Shared with the person who accepts."""


@dataclass(frozen=True)
class InvitationPreview:
    """What the holder of a link sees before accepting."""

    scope: Scope
    project_name: str
    role: Role
    email: str | None
    invited_by: str
    expires_at: datetime
    playbook_id: str | None


Share = Callable[[Transaction, str, str, str], None]
"""Shares a playbook with a person, on behalf of another, in the same transaction."""


class Invitations:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        ids: Ids,
        events: EventLog,
        users_: Users,
        sessions: Sessions,
        members: Members,
        notifications: Notifications,
        share: Share | None = None,
    ) -> None:
        """`share` lets the person see the playbook that an invitation names."""
        self._database = database
        self._clock = clock
        self._ids = ids
        self._events = events
        self._users = users_
        self._sessions = sessions
        self._members = members
        self._notifications = notifications
        self._share = share

    def create(
        self,
        access: Access,
        role: Role,
        email: str | None,
        days: int,
        playbook_id: str | None = None,
    ) -> tuple[Invitation, str]:
        access.require(Role.admin)
        access.may_grant(role)
        text, invitation_id, now = new_token("sti"), self._ids.new("inv"), self._clock.now()
        with self._database.write(access.scope) as tx:
            tx.execute(
                sa.insert(invitations).values(
                    id=invitation_id,
                    role=role.name,
                    email=canonical_email(email) if email else None,
                    token_hash=token_hash(text),
                    created_by=access.user_id,
                    created_at=now,
                    expires_at=now + timedelta(days=days),
                    playbook_id=playbook_id,
                )
            )
            told = {"role": role.name, "by": access.user_id, "playbook": playbook_id}
            self._events.append(tx, "invitation.created", invitation_id, told)
            row = tx.execute(sa.select(invitations).where(invitations.c.id == invitation_id)).one()
        return _invitation(row), text

    def page(
        self, access: Access, *, after: str | None = None, limit: int = 200
    ) -> list[Invitation]:
        """Open and accepted ones, newest first."""
        access.require(Role.admin)
        statement = sa.select(invitations).where(invitations.c.revoked_at.is_(None))
        if after is not None:
            statement = statement.where(invitations.c.id < after)
        with self._database.read(access.scope) as tx:
            rows = tx.rows(statement.order_by(invitations.c.id.desc()).limit(limit))
        return [_invitation(row) for row in rows]

    def revoke(self, access: Access, invitation_id: str) -> None:
        access.require(Role.admin)
        with self._database.write(access.scope) as tx:
            done = tx.execute(
                sa.update(invitations)
                .where(invitations.c.id == invitation_id, invitations.c.accepted_at.is_(None))
                .values(revoked_at=self._clock.now())
            )
            if done.rowcount == 0:
                raise NotFound("There is no open invitation with this id.")
            self._events.append(tx, "invitation.revoked", invitation_id, {"by": access.user_id})

    def preview(self, text: str) -> InvitationPreview:
        with self._database.read(EVERYWHERE) as tx:
            row = self._open(tx, text)
        return InvitationPreview(
            Scope(row.org_id, row.project_id),
            row.project_name,
            Role[row.role],
            row.email,
            row.invited_by,
            row.expires_at,
            row.playbook_id,
        )

    def accept_as_new(self, text: str, *, name: str, email: str, password: str) -> NewSession:
        """Creates the account, joins the project and signs in, all or nothing."""
        with self._database.write(EVERYWHERE) as tx:
            row = self._open(tx, text, lock=True)
            if row.email is not None and row.email != canonical_email(email):
                raise Denied(
                    "This invitation was made for another e-mail address. Use that one, or ask for a new link."
                )
            if self._users.find(email) is not None:
                raise Conflict(
                    "There is an account with this address. Sign in first, then open the link again.",
                    code="account-exists",
                )
            user = self._users.create_within(tx, email, name, password)
            session = self._sessions.open_within(tx, user.id)
            self._join(tx, row, user.id, name)
        return session

    def accept_as(self, principal: Principal, text: str) -> None:
        """Joins with the account one is signed in with."""
        if principal.limits is not None:
            raise Denied("An API token cannot accept invitations. Sign in instead.")
        with self._database.write(EVERYWHERE) as tx:
            row = self._open(tx, text, lock=True)
            if row.email is not None and row.email != principal.email:
                raise Denied(
                    "This invitation was made for another e-mail address. Use that one, or ask for a new link."
                )
            self._join(tx, row, principal.user_id, principal.name)

    def accept_by_address(
        self, tx: Transaction, org_id: str, email: str, user_id: str, name: str
    ) -> int:
        """Accepts what was sent to an address that a provider has verified; how many invitations that were."""
        statement = self._still_open().where(
            invitations.c.org_id == org_id, invitations.c.email == email
        )
        rows = tx.rows(statement.order_by(invitations.c.project_id).with_for_update(of=invitations))
        standing = [row for row in rows if self._stands(tx, row)]
        for row in standing:
            self._join(tx, row, user_id, name)
        return len(standing)

    def open_for_address(self, tx: Transaction, org_id: str, email: str) -> bool:
        statement = self._still_open().where(
            invitations.c.org_id == org_id, invitations.c.email == email
        )
        return any(self._stands(tx, row) for row in tx.rows(statement))

    def _join(self, tx: Transaction, row: sa.Row[Any], user_id: str, name: str) -> None:
        inside = tx.narrowed(Scope(row.org_id, row.project_id))
        inside.execute(
            sa.update(invitations)
            .where(invitations.c.id == row.id)
            .values(accepted_at=self._clock.now())
        )
        self._members.add_within(inside, user_id, Role[row.role])
        if row.playbook_id is not None and self._share is not None:
            self._share(inside, row.playbook_id, user_id, row.created_by)
        self._events.append(inside, "invitation.accepted", row.id, {"user": user_id})
        self._notifications.add_within(
            inside,
            row.created_by,
            Level.success,
            f"{name} joined as {row.role}",
            "They accepted your invitation.",
            link="members",
        )

    def _open(self, tx: Transaction, text: str, *, lock: bool = False) -> sa.Row[Any]:
        statement = self._still_open().where(invitations.c.token_hash == token_hash(text))
        row = tx.first(statement.with_for_update(of=invitations) if lock else statement)
        if row is None or not self._stands(tx, row):
            raise NotFound(
                "This invitation was used, withdrawn or has expired. Ask for a new link.",
                code="invitation-closed",
            )
        return row

    def _stands(self, tx: Transaction, row: sa.Row[Any]) -> bool:
        """Whether who invited could do so now: a link that somebody kept must not outlast their own role."""
        inside = tx.narrowed(Scope(row.org_id, row.project_id))
        role = self._members.role_within(inside, row.created_by)
        return role is not None and role >= max(Role.admin, Role[row.role])

    def _still_open(self) -> sa.Select[Any]:
        return (
            sa.select(
                invitations,
                projects.c.name.label("project_name"),
                users.c.name.label("invited_by"),
            )
            .join(projects, projects.c.id == invitations.c.project_id)
            .join(users, users.c.id == invitations.c.created_by)
            .where(
                invitations.c.expires_at > self._clock.now(),
                invitations.c.accepted_at.is_(None),
                invitations.c.revoked_at.is_(None),
                projects.c.deleted_at.is_(None),
            )
        )


def _invitation(row: sa.Row[Any]) -> Invitation:
    return copied(Invitation, row, role=Role[row.role])
