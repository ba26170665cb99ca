"""Directories that an organisation lets bring people and groups, each with a token of its own and rules for roles."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field

from steward.core import Clock, Conflict, Ids, Invalid, NotFound, Unauthenticated
from steward.identity._tables import directories, directory_users, projects
from steward.identity.credentials import new_token, token_hash
from steward.identity.members import Members
from steward.identity.principals import Access
from steward.identity.users import checked_name
from steward.store import EVERYWHERE, Database, EventLog, Scope, Transaction

TOKEN_LIFETIME: Final = timedelta(days=365)
_MOST: Final = 20
_MOST_RULES: Final = 200
_USE_NOTED_EVERY: Final = timedelta(minutes=1)


class GroupRule(BaseModel):
    """Members of this group get this role in this project."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    group: str = Field(min_length=1, max_length=200, description="Compared letter by letter.")
    project_id: str = Field(min_length=1, max_length=40)
    role: Literal["runner", "viewer", "operator", "editor", "admin", "owner"]


@dataclass(frozen=True)
class Directory:
    id: str
    org_id: str
    home_id: str
    """The project whose event log tells of the directory."""
    name: str
    rules: tuple[GroupRule, ...]
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None

    @property
    def home(self) -> Scope:
        return Scope(self.org_id, self.home_id)


class Directories:
    def __init__(
        self, database: Database, clock: Clock, ids: Ids, events: EventLog, members: Members
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._events = events
        self._members = members

    def create(
        self, access: Access, name: str, rules: Sequence[GroupRule]
    ) -> tuple[Directory, str]:
        """Makes a directory of the caller's organisation; its token is returned here and never again."""
        self._members.require_organisation_owner(access)
        token, found, now = new_token("scim"), self._ids.new("dir"), self._clock.now()
        with self._database.write(EVERYWHERE) as tx:
            if len(self._rows(tx, access.scope.org_id)) >= _MOST:
                raise Conflict(f"An organisation has at most {_MOST} directories.")
            self._require_projects(tx, access.scope.org_id, rules)
            tx.execute(
                sa.insert(directories).values(
                    id=found,
                    org_id=access.scope.org_id,
                    home_id=access.scope.project_id,
                    name=checked_name(name),
                    token_hash=token_hash(token),
                    rules=[rule.model_dump() for rule in rules],
                    created_at=now,
                    created_by=access.user_id,
                    expires_at=now + TOKEN_LIFETIME,
                )
            )
            data = {"name": name, "by": access.user_id}
            self._events.append(tx.narrowed(access.scope), "directory.saved", found, data)
            return self._one(tx, access.scope.org_id, found), token

    def listed(self, access: Access) -> list[Directory]:
        self._members.require_organisation_owner(access)
        with self._database.read(EVERYWHERE) as tx:
            return [_directory(row) for row in self._rows(tx, access.scope.org_id)]

    def get(self, access: Access, directory_id: str) -> Directory:
        self._members.require_organisation_owner(access)
        with self._database.read(EVERYWHERE) as tx:
            return self._one(tx, access.scope.org_id, directory_id)

    def change_rules(
        self, access: Access, directory_id: str, rules: Sequence[GroupRule]
    ) -> Directory:
        """Other rules; the caller brings the memberships in line afterwards."""
        self._members.require_organisation_owner(access)
        with self._database.write(EVERYWHERE) as tx:
            found = self._one(tx, access.scope.org_id, directory_id)
            self._require_projects(tx, access.scope.org_id, rules)
            tx.execute(
                sa.update(directories)
                .where(directories.c.id == found.id)
                .values(rules=[rule.model_dump() for rule in rules])
            )
            data = {"name": found.name, "rules": len(rules), "by": access.user_id}
            self._events.append(tx.narrowed(access.scope), "directory.saved", found.id, data)
            return self._one(tx, access.scope.org_id, directory_id)

    def renew_token(self, access: Access, directory_id: str) -> tuple[Directory, str]:
        """A new token; the one before it ends at once."""
        self._members.require_organisation_owner(access)
        token = new_token("scim")
        with self._database.write(EVERYWHERE) as tx:
            found = self._one(tx, access.scope.org_id, directory_id)
            tx.execute(
                sa.update(directories)
                .where(directories.c.id == found.id)
                .values(token_hash=token_hash(token), expires_at=self._clock.now() + TOKEN_LIFETIME)
            )
            data = {"name": found.name, "by": access.user_id}
            self._events.append(
                tx.narrowed(access.scope), "directory.token_renewed", found.id, data
            )
            return self._one(tx, access.scope.org_id, directory_id), token

    def delete(self, access: Access, directory_id: str) -> None:
        """Ends the token; a directory that still has people is emptied first, by who runs it."""
        self._members.require_organisation_owner(access)
        with self._database.write(EVERYWHERE) as tx:
            found = self._one(tx, access.scope.org_id, directory_id)
            people = sa.select(directory_users.c.id).where(
                directory_users.c.directory_id == found.id
            )
            if tx.first(people.limit(1)) is not None:
                # Their roles and their being disabled depend on it.
                raise Conflict(
                    "This directory has brought people. Remove its rules to take back their roles; "
                    "renew its token and discard it to end its access.",
                    code="directory-in-use",
                )
            tx.execute(sa.delete(directories).where(directories.c.id == found.id))
            data = {"name": found.name, "by": access.user_id}
            self._events.append(tx.narrowed(access.scope), "directory.deleted", found.id, data)

    def resolve(self, token: str) -> Directory:
        """Which directory a bearer token speaks for."""
        now = self._clock.now()
        with self._database.read(EVERYWHERE) as tx:
            row = tx.first(
                sa.select(directories).where(
                    directories.c.token_hash == token_hash(token), directories.c.expires_at > now
                )
            )
        if row is None:
            raise Unauthenticated(
                "Send the token of a directory as 'Authorization: Bearer'; this one is unknown or expired."
            )
        if row.last_used_at is None or now - row.last_used_at > _USE_NOTED_EVERY:
            with self._database.write(EVERYWHERE) as tx:
                tx.execute(
                    sa.update(directories)
                    .where(directories.c.id == row.id)
                    .values(last_used_at=now)
                )
        return _directory(row)

    def _rows(self, tx: Transaction, org_id: str) -> Sequence[sa.Row[Any]]:
        statement = sa.select(directories).where(directories.c.org_id == org_id)
        return tx.rows(statement.order_by(directories.c.id))

    def _one(self, tx: Transaction, org_id: str, directory_id: str) -> Directory:
        row = tx.first(
            sa.select(directories).where(
                directories.c.id == directory_id, directories.c.org_id == org_id
            )
        )
        if row is None:
            raise NotFound("There is no such directory in this organisation.")
        return _directory(row)

    def _require_projects(self, tx: Transaction, org_id: str, rules: Sequence[GroupRule]) -> None:
        if len(rules) > _MOST_RULES:
            raise Invalid(f"A directory has at most {_MOST_RULES} rules.")
        wanted = {rule.project_id for rule in rules}
        known = tx.rows(
            sa.select(projects.c.id).where(
                projects.c.org_id == org_id, projects.c.id.in_(sorted(wanted))
            )
        )
        if wanted - {row.id for row in known}:
            raise Invalid("A rule names a project that is not of this organisation.")


def _directory(row: sa.Row[Any]) -> Directory:
    return Directory(
        row.id,
        row.org_id,
        row.home_id,
        row.name,
        tuple(GroupRule.model_validate(each) for each in row.rules),
        row.created_at,
        row.expires_at,
        row.last_used_at,
    )
