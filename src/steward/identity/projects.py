"""Organisations and projects, and the one place that decides who may enter a project."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from steward.core import Clock, Conflict, Denied, Ids, NotFound, Stale, copied
from steward.identity._tables import (
    organisation_members,
    organisations,
    project_members,
    projects,
)
from steward.identity.principals import Access, Principal
from steward.identity.roles import Role, within
from steward.store import EVERYWHERE, Database, EventLog, Scope, Transaction

UNDO_WINDOW = timedelta(days=30)


@dataclass(frozen=True)
class Organisation:
    id: str
    name: str


@dataclass(frozen=True)
class Project:
    id: str
    name: str
    is_demo: bool
    organisation: Organisation
    role: Role
    """The caller's role in it."""
    revision: int
    created_at: datetime
    updated_at: datetime


class Projects:
    def __init__(self, database: Database, clock: Clock, ids: Ids, events: EventLog) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._events = events

    def enter(self, principal: Principal, project_id: str) -> Access:
        """The principal's access to a project; NotFound alike when it is absent and when it is closed to them."""
        found = self._visible(principal, project_id=project_id)
        if not found:
            raise _no_such_project()
        project = found[0]
        return Access(principal, Scope(project.organisation.id, project.id), project.role)

    def get(self, access: Access) -> Project:
        found = self._visible(access.principal, project_id=access.scope.project_id)
        if not found:
            raise _no_such_project()
        return found[0]

    def name_of(self, scope: Scope) -> str:
        """What people named a project; nothing where it is gone."""
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(sa.select(projects.c.name).where(projects.c.id == scope.project_id))
        return str(rows[0].name) if rows else ""

    def page(
        self, principal: Principal, *, after: str | None = None, limit: int = 200
    ) -> list[Project]:
        return self._visible(principal, after=after, limit=limit)

    def create_organisation(self, name: str, owner_id: str) -> Organisation:
        organisation = Organisation(self._ids.new("org"), name)
        now = self._clock.now()
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(
                sa.insert(organisations).values(id=organisation.id, name=name, created_at=now)
            )
            tx.execute(
                sa.insert(organisation_members).values(
                    org_id=organisation.id, user_id=owner_id, role=Role.owner.name, created_at=now
                )
            )
        return organisation

    def scopes(self) -> Sequence[Scope]:
        """Every project there is, deleted ones too."""
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(sa.select(projects.c.id, projects.c.org_id).order_by(projects.c.id))
        return [Scope(row.org_id, row.id) for row in rows]

    def organisations(self) -> Sequence[Organisation]:
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(sa.select(organisations).order_by(organisations.c.created_at))
        return [Organisation(row.id, row.name) for row in rows]

    def create_as(self, principal: Principal, name: str) -> Project:
        """Creates in the organisation where the caller is an admin."""
        if principal.limits is not None:
            raise Denied(
                "A token belongs to one project and cannot create others. Sign in instead."
            )
        statement = (
            sa.select(organisation_members)
            .where(
                organisation_members.c.user_id == principal.user_id,
                organisation_members.c.role.in_([Role.admin.name, Role.owner.name]),
            )
            .order_by(organisation_members.c.created_at)
        )
        with self._database.read(EVERYWHERE) as tx:
            row = tx.first(statement)
        if row is None:
            raise Denied("Creating a project needs the role admin in the organisation.")
        project_id = self.create(row.org_id, name, principal.user_id)
        return self._visible(principal, project_id=project_id)[0]

    def any_exists(self) -> bool:
        """Whether there is or was any project, deleted ones included."""
        with self._database.read(EVERYWHERE) as tx:
            return tx.first(sa.select(projects.c.id).limit(1)) is not None

    def create(
        self,
        org_id: str,
        name: str,
        owner_id: str,
        *,
        is_demo: bool = False,
        project_id: str | None = None,
    ) -> str:
        project_id = project_id or self._ids.new("prj")
        now = self._clock.now()
        with self._database.write(Scope(org_id, project_id)) as tx:
            tx.execute(
                sa.insert(projects).values(
                    id=project_id,
                    name=name,
                    is_demo=is_demo,
                    revision=1,
                    created_at=now,
                    updated_at=now,
                )
            )
            tx.execute(
                sa.insert(project_members).values(
                    user_id=owner_id, role=Role.owner.name, created_at=now
                )
            )
            self._events.append(tx, "project.created", project_id, {"name": name, "by": owner_id})
        return project_id

    def rename(self, access: Access, revision: int, name: str) -> Project:
        access.require(Role.admin)
        with self._database.write(access.scope) as tx:
            done = tx.execute(
                sa.update(projects)
                .where(projects.c.id == access.scope.project_id, projects.c.revision == revision)
                .values(name=name, revision=revision + 1, updated_at=self._clock.now())
            )
            if done.rowcount == 0:
                raise Stale("The project was changed by somebody else meanwhile. Reload it first.")
            told = {"name": name, "by": access.user_id}
            self._events.append(tx, "project.updated", access.scope.project_id, told)
        return self.get(access)

    def delete(self, access: Access) -> None:
        """Hides the project from everyone; it can be restored for thirty days."""
        access.require(Role.owner)
        with self._database.write(access.scope) as tx:
            self._refuse_last(tx, access)
            self._mark(tx, access.scope.project_id, self._clock.now())
            told = {"by": access.user_id}
            self._events.append(tx, "project.deleted", access.scope.project_id, told)

    def restore(self, principal: Principal, project_id: str) -> Project:
        found = self._visible(principal, project_id=project_id, deleted=True)
        if not found:
            raise _no_such_project()
        project = found[0]
        Access(principal, Scope(project.organisation.id, project_id), project.role).require(
            Role.owner
        )
        with self._database.write(Scope(project.organisation.id, project_id)) as tx:
            self._mark(tx, project_id, None)
            self._events.append(tx, "project.restored", project_id, {"by": principal.user_id})
        return self._visible(principal, project_id=project_id)[0]

    def _mark(self, tx: Transaction, project_id: str, deleted_at: datetime | None) -> None:
        tx.execute(
            sa.update(projects)
            .where(projects.c.id == project_id)
            .values(deleted_at=deleted_at, revision=projects.c.revision + 1)
        )

    def _refuse_last(self, tx: Transaction, access: Access) -> None:
        alive = tx.rows(
            sa.select(projects.c.id).where(projects.c.deleted_at.is_(None)).with_for_update()
        )
        if [row.id for row in alive] == [access.scope.project_id]:
            raise Conflict("This is the organisation's last project. Create another one first.")

    def _visible(
        self,
        principal: Principal,
        *,
        project_id: str | None = None,
        after: str | None = None,
        limit: int = 1,
        deleted: bool = False,
    ) -> list[Project]:
        of_org = organisation_members.alias("of_org")
        of_project = project_members.alias("of_project")
        statement = (
            sa.select(
                projects,
                organisations.c.name.label("org_name"),
                of_org.c.role.label("org_role"),
                of_project.c.role.label("project_role"),
            )
            .join(organisations, organisations.c.id == projects.c.org_id)
            .outerjoin(
                of_org,
                (of_org.c.org_id == projects.c.org_id) & (of_org.c.user_id == principal.user_id),
            )
            .outerjoin(
                of_project,
                (of_project.c.project_id == projects.c.id)
                & (of_project.c.user_id == principal.user_id)
                & of_project.c.removed_at.is_(None),
            )
            .where(of_org.c.role.is_not(None) | of_project.c.role.is_not(None))
            .order_by(projects.c.id)
            .limit(limit)
        )
        if deleted:
            statement = statement.where(projects.c.deleted_at > self._clock.now() - UNDO_WINDOW)
        else:
            statement = statement.where(projects.c.deleted_at.is_(None))
        limits = principal.limits
        wanted = {value for value in (project_id, limits and limits.project_id) if value}
        for value in wanted:
            statement = statement.where(projects.c.id == value)
        if after is not None:
            statement = statement.where(projects.c.id > after)
        with self._database.read(EVERYWHERE) as tx:
            found = [_project(row, principal) for row in tx.rows(statement)]
        return [project for project in found if project is not None]


def highest(*names: str | None) -> Role:
    return max(Role[name] for name in names if name)


def _project(row: sa.Row[Any], principal: Principal) -> Project | None:
    role: Role | None = highest(row.org_role, row.project_role)
    if role is not None and principal.limits is not None:
        role = within(role, principal.limits.role)
    if role is None:
        return None
    return copied(Project, row, organisation=Organisation(row.org_id, row.org_name), role=role)


def _no_such_project() -> NotFound:
    return NotFound("There is no such project, or it is not open to you.")
