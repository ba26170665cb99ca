"""Who belongs to a project, with which role."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from steward.core import Clock, Conflict, Denied, NotFound
from steward.identity._tables import (
    api_tokens,
    organisation_members,
    project_members,
    projects,
    users,
)
from steward.identity.principals import Access
from steward.identity.projects import highest
from steward.identity.roles import Role
from steward.identity.users import active_owners, last_owner
from steward.store import EVERYWHERE, Database, EventLog, News, Scope, Transaction


@dataclass(frozen=True)
class Member:
    user_id: str
    email: str
    name: str
    role: Role
    inherited: bool
    """Whether the role comes from the organisation and cannot be changed here."""
    since: datetime


_REVOKED = sa.select(api_tokens.c.id).where(
    api_tokens.c.id == sa.bindparam("token"), api_tokens.c.revoked_at.is_not(None)
)
_OF_ORG = organisation_members.alias("of_org")
_OF_PROJECT = project_members.alias("of_project")
# Written once: whose role somebody has is asked at every call of every tool.
_MEMBERS = (
    sa.select(
        users.c.id,
        users.c.email,
        users.c.name,
        _OF_ORG.c.role.label("org_role"),
        _OF_PROJECT.c.role.label("project_role"),
        sa.func.coalesce(_OF_PROJECT.c.created_at, _OF_ORG.c.created_at).label("since"),
    )
    .select_from(users)
    .outerjoin(
        _OF_ORG, (_OF_ORG.c.user_id == users.c.id) & (_OF_ORG.c.org_id == sa.bindparam("org"))
    )
    .outerjoin(
        _OF_PROJECT,
        (_OF_PROJECT.c.user_id == users.c.id)
        & (_OF_PROJECT.c.project_id == sa.bindparam("project"))
        & _OF_PROJECT.c.removed_at.is_(None),
    )
    .where(
        _OF_ORG.c.role.is_not(None) | _OF_PROJECT.c.role.is_not(None),
        users.c.disabled_at.is_(None),
        users.c.id > sa.bindparam("after"),
    )
    .order_by(users.c.id)
    .limit(sa.bindparam("most"))
)
_MEMBER = _MEMBERS.where(users.c.id == sa.bindparam("user"))


class Members:
    def __init__(self, database: Database, clock: Clock, events: EventLog) -> None:
        self._database = database
        self._clock = clock
        self._events = events

    def page(self, access: Access, *, after: str | None = None, limit: int = 200) -> list[Member]:
        with self._database.read(EVERYWHERE) as tx:
            return self._find(tx, access.scope, after=after, limit=limit)

    def set_role(self, access: Access, user_id: str, role: Role) -> Member:
        """Gives a role to somebody of the organisation; also brings back a removed member."""
        access.require(Role.admin)
        access.may_grant(role)
        with self._database.write(access.scope) as tx:
            _lock_project(tx)
            current = self._one(tx, access.scope, user_id)
            if current is None and not self._known_to_organisation(tx, access.scope, user_id):
                raise NotFound("There is no such person in this organisation. Invite them instead.")
            if current is not None:
                self._refuse_above(access, current)
                self._refuse_last_owner(tx, access, current, role)
            self._store(tx, user_id, role)
            told = {"role": role.name, "by": access.user_id}
            self._events.append(tx, "member.changed", user_id, told)
            member = self._one(tx, access.scope, user_id)
        if member is None:
            raise NotFound("There is no such person in this organisation.")
        return member

    def set_organisation_role(self, org_id: str, user_id: str, role: Role) -> None:
        """Gives a role in every project of the organisation; for its administrator at the terminal."""
        mine = (organisation_members.c.org_id == org_id) & (
            organisation_members.c.user_id == user_id
        )
        with self._database.write(EVERYWHERE) as tx:
            if role is not Role.owner and active_owners(tx) == {user_id}:
                raise last_owner()
            done = tx.execute(sa.update(organisation_members).where(mine).values(role=role.name))
            if done.rowcount == 0:
                tx.execute(
                    sa.insert(organisation_members).values(
                        org_id=org_id,
                        user_id=user_id,
                        role=role.name,
                        created_at=self._clock.now(),
                    )
                )

    def add_within(self, tx: Transaction, user_id: str, role: Role) -> None:
        """Adds somebody who accepted an invitation; never lowers a role they already have."""
        _lock_project(tx)
        current = self.direct_role_within(tx, user_id)
        if current is None or current < role:
            self._store(tx, user_id, role)
        self._events.append(tx, "member.changed", user_id, {"role": role.name})

    def remove(self, access: Access, user_id: str) -> None:
        """Takes a member out; everyone may leave by themselves."""
        if user_id != access.user_id:
            access.require(Role.admin)
        with self._database.write(access.scope) as tx:
            _lock_project(tx)
            current = self._one(tx, access.scope, user_id)
            if current is None:
                raise NotFound("There is no such member in this project.")
            if user_id != access.user_id:
                self._refuse_above(access, current)
            if current.inherited:
                raise Conflict("This person is here through the organisation; change it there.")
            self._refuse_last_owner(tx, access, current, None)
            self._withdraw(tx, user_id)
            self._events.append(tx, "member.removed", user_id, {"by": access.user_id})

    def settle_within(
        self, tx: Transaction, user_id: str, role: Role | None, note: Mapping[str, Any]
    ) -> News | None:
        """Gives the role that a sign-on provider says, or takes the member out; None: nothing changed.

        The last owner stays. The caller records the event: it may settle many projects in one transaction.
        """
        _lock_project(tx)
        current = self.direct_role_within(tx, user_id)
        if current is role:
            return None
        if current is Role.owner and self._owners(tx, tx.project) == [user_id]:
            return None
        if role is None:
            self._withdraw(tx, user_id)
            return News(tx.project, "member.removed", user_id, note)
        self._store(tx, user_id, role)
        return News(tx.project, "member.changed", user_id, {"role": role.name, **note})

    def direct_role_within(self, tx: Transaction, user_id: str) -> Role | None:
        """The role somebody has in the transaction's project itself, whatever the organisation gives them."""
        row = tx.first(
            sa.select(project_members.c.role).where(
                project_members.c.user_id == user_id, project_members.c.removed_at.is_(None)
            )
        )
        return None if row is None else Role[row.role]

    def role_within(
        self, tx: Transaction, user_id: str, token_id: str | None = None
    ) -> Role | None:
        """Somebody's role in the transaction's project, if they have one; none for a token that was revoked."""
        if token_id is not None and tx.first(_REVOKED, {"token": token_id}) is not None:
            return None
        found = self._one(tx, tx.project, user_id)
        return found.role if found else None

    def owns_organisation(self, scope: Scope, user_id: str) -> bool:
        """Whether somebody owns the organisation itself, not only a project of it."""
        statement = sa.select(organisation_members.c.role).where(
            organisation_members.c.user_id == user_id
        )
        with self._database.read(scope) as tx:
            row = tx.first(statement)
        return row is not None and row.role == Role.owner.name

    def require_organisation_owner(self, access: Access) -> None:
        """Denied to owners of a project alone, and to tokens: they belong to one project."""
        access.require(Role.owner)
        if access.principal.limits is not None or not self.owns_organisation(
            access.scope, access.user_id
        ):
            raise Denied(
                "This is for owners of the organisation, not for those of a project.",
                code="not-an-organisation-owner",
            )

    def _store(self, tx: Transaction, user_id: str, role: Role) -> None:
        done = tx.execute(
            sa.update(project_members)
            .where(project_members.c.user_id == user_id)
            .values(role=role.name, removed_at=None)
        )
        if done.rowcount == 0:
            tx.execute(
                sa.insert(project_members).values(
                    user_id=user_id, role=role.name, created_at=self._clock.now()
                )
            )

    def _refuse_above(self, access: Access, member: Member) -> None:
        if member.role > access.role:
            raise Denied(
                f"{member.name} has a higher role than yours; somebody of that role can do this."
            )

    def _refuse_last_owner(
        self, tx: Transaction, access: Access, member: Member, role: Role | None
    ) -> None:
        if member.role is not Role.owner or role is Role.owner:
            return
        if self._owners(tx, access.scope) == [member.user_id]:
            raise Conflict("This is the project's last owner. Make somebody else an owner first.")

    def _owners(self, tx: Transaction, scope: Scope) -> list[str]:
        return [m.user_id for m in self._find(tx, scope, limit=1000) if m.role is Role.owner]

    def _withdraw(self, tx: Transaction, user_id: str) -> None:
        tx.execute(
            sa.update(project_members)
            .where(project_members.c.user_id == user_id)
            .values(removed_at=self._clock.now())
        )

    def _one(self, tx: Transaction, scope: Scope, user_id: str) -> Member | None:
        found = self._find(tx, scope, user_id=user_id)
        return found[0] if found else None

    def _known_to_organisation(self, tx: Transaction, scope: Scope, user_id: str) -> bool:
        """Whether somebody is, or was, in any project of this organisation."""
        statement = (
            sa.select(project_members.c.user_id)
            .join(users, users.c.id == project_members.c.user_id)
            .where(
                project_members.c.org_id == scope.org_id,
                project_members.c.user_id == user_id,
                users.c.disabled_at.is_(None),
            )
        )
        return tx.execute_as_written(statement).first() is not None

    def _find(
        self,
        tx: Transaction,
        scope: Scope,
        *,
        user_id: str | None = None,
        after: str | None = None,
        limit: int = 1,
    ) -> list[Member]:
        wanted = {
            "org": scope.org_id,
            "project": scope.project_id,
            "after": after or "",
            "most": limit,
        }
        # The outer joins carry their own scope; the automatic filter would turn them inner.
        if user_id is None:
            found = tx.execute_as_written(_MEMBERS, wanted)
        else:
            found = tx.execute_as_written(_MEMBER, {**wanted, "user": user_id})
        return [_member(row) for row in found]


def _lock_project(tx: Transaction) -> None:
    """Changes of membership take turns, so that two owners cannot remove each other at once."""
    tx.execute(
        sa.select(projects.c.id).where(projects.c.id == tx.project.project_id).with_for_update()
    )


def _member(row: sa.Row[Any]) -> Member:
    role = highest(row.org_role, row.project_role)
    inherited = row.org_role is not None and Role[row.org_role] == role
    return Member(row.id, row.email, row.name, role, inherited, row.since)
