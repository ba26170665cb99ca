"""People and groups of a directory: kept as SCIM documents, brought into accounts, memberships and their end."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.core import Clock, Conflict, Denied, Ids, Invalid, NotFound
from steward.identity._tables import (
    directory_groups,
    directory_members,
    directory_users,
    organisation_members,
    users,
)
from steward.identity.directories.documents import email_of, kept_user, name_of
from steward.identity.directories.registry import Directory
from steward.identity.roles import Role
from steward.identity.sign_on.admission import Admission, organisations_of
from steward.identity.users import Users
from steward.store import EVERYWHERE, Database, EventLog, News, Transaction

TOMBSTONE: Final = "deleted:"
MOST: Final = 50_000


@dataclass(frozen=True)
class Record:
    """A person or a group, as the directory knows it."""

    id: str
    document: Mapping[str, Any]
    related: tuple[tuple[str, str], ...]
    """Groups of a person, or members of a group: id and name."""
    created_at: datetime
    updated_at: datetime
    revision: int


@dataclass(eq=False, repr=False)
class People:
    _database: Database
    _clock: Clock
    _ids: Ids
    _events: EventLog
    _users: Users
    _admission: Admission

    def listed(self, directory: Directory, equal: tuple[str, str] | None = None) -> list[Record]:
        """All people of a directory, by id; `equal` narrows by what an index knows."""
        statement = sa.select(directory_users).where(
            directory_users.c.directory_id == directory.id,
            directory_users.c.user_name.not_like(f"{TOMBSTONE}%"),
        )
        columns = {"username": directory_users.c.user_name, "id": directory_users.c.id}
        if equal is not None and equal[0] in columns:
            wanted = equal[1].casefold() if equal[0] == "username" else equal[1]
            statement = statement.where(columns[equal[0]] == wanted)
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(statement.order_by(directory_users.c.id).limit(MOST))
            related = self._related(tx, directory, [row.id for row in rows])
        return [record(row, related.get(row.id, ())) for row in rows]

    def get(self, directory: Directory, user_id: str) -> Record:
        found = self.listed(directory, ("id", user_id))
        if not found:
            raise NotFound(f"There is no user {user_id[:60]!r} in this directory.")
        return found[0]

    def create(self, directory: Directory, given: Mapping[str, Any]) -> Record:
        document = kept_user(given)
        record_id, now = self._ids.new("scu"), self._clock.now()
        with self._database.write(EVERYWHERE) as tx:
            self._require_free(tx, directory, document["userName"])
            account = self._account(tx, directory, document)
            tx.execute(
                sa.insert(directory_users).values(
                    id=record_id,
                    directory_id=directory.id,
                    user_name=document["userName"].casefold(),
                    external_id=document.get("externalId"),
                    user_id=account,
                    document=document,
                    revision=1,
                    created_at=now,
                    updated_at=now,
                )
            )
            news = self._settled(
                tx, directory, account, active=document.get("active", True), groups=()
            )
            news.append(_person_news(directory, "added", account, document))
            self._events.append_many(tx, news)
        return self.get(directory, record_id)

    def replace(self, directory: Directory, record_id: str, given: Mapping[str, Any]) -> Record:
        document, now = kept_user(given), self._clock.now()
        with self._database.write(EVERYWHERE) as tx:
            row = self.row(tx, directory, record_id)
            if document["userName"].casefold() != row.user_name:
                self._require_free(tx, directory, document["userName"])
            self._rename(tx, directory, row, document)
            tx.execute(
                sa.update(directory_users)
                .where(directory_users.c.id == record_id)
                .values(
                    user_name=document["userName"].casefold(),
                    external_id=document.get("externalId"),
                    document=document,
                    revision=row.revision + 1,
                    updated_at=now,
                )
            )
            groups = self._group_names(tx, record_id)
            active = bool(document.get("active", True))
            news = self._settled(tx, directory, row.user_id, active=active, groups=groups)
            if active != row.document.get("active", True):
                what = "added" if active else "removed"
                news.append(_person_news(directory, what, row.user_id, document))
            self._events.append_many(tx, news)
        return self.get(directory, record_id)

    def delete(self, directory: Directory, record_id: str) -> None:
        """Ends the person's access; the account stays, disabled, so that what they did keeps its name."""
        with self._database.write(EVERYWHERE) as tx:
            row = self.row(tx, directory, record_id)
            news = self._settled(tx, directory, row.user_id, active=False, groups=())
            tx.execute(
                sa.delete(directory_members).where(directory_members.c.member_id == record_id)
            )
            tx.execute(
                sa.update(directory_users)
                .where(directory_users.c.id == record_id)
                .values(user_name=f"{TOMBSTONE}{record_id}", document={"active": False})
            )
            news.append(_person_news(directory, "removed", row.user_id, row.document))
            self._events.append_many(tx, news)

    def settle_everyone(self, directory: Directory) -> None:
        """Brings all memberships in line with the rules of today."""
        with self._database.write(EVERYWHERE) as tx:
            rows = tx.rows(
                sa.select(directory_users.c.id).where(
                    directory_users.c.directory_id == directory.id,
                    directory_users.c.user_name.not_like(f"{TOMBSTONE}%"),
                )
            )
            self.settle_all(tx, directory, {row.id for row in rows})

    def settle_all(self, tx: Transaction, directory: Directory, record_ids: Iterable[str]) -> None:
        news: list[News] = []
        for record_id in sorted(record_ids):
            row = self.row(tx, directory, record_id)
            if row.document.get("active", True):
                groups = self._group_names(tx, record_id)
                news += self._roles(tx, directory, row.user_id, groups)
        self._events.append_many(tx, news)

    def _account(self, tx: Transaction, directory: Directory, document: Mapping[str, Any]) -> str:
        """A new account, or one of this organisation alone that nobody else vouches for."""
        email = email_of(document)
        existing = tx.first(sa.select(users).where(users.c.email == email))
        if existing is None:
            return self._users.create_within(tx, email, name_of(document)).id
        known = tx.first(
            sa.select(directory_users.c.id).where(
                directory_users.c.user_id == existing.id,
                directory_users.c.directory_id == directory.id,
                directory_users.c.user_name.like(f"{TOMBSTONE}%"),
            )
        )
        here = organisations_of(tx, existing.id) == {directory.org_id}
        joins = existing.disabled_at is None and here
        if not (joins or known is not None) or not self._is_theirs(tx, directory, existing.id):
            raise Conflict(
                "There is an account with this e-mail address that this directory cannot take over.",
                code="uniqueness",
            )
        return str(existing.id)

    def _is_theirs(self, tx: Transaction, directory: Directory, user_id: str) -> bool:
        """Whether the account belongs to this organisation alone, and does not own one."""
        owns = tx.first(
            sa.select(organisation_members.c.role).where(
                organisation_members.c.user_id == user_id,
                organisation_members.c.role == Role.owner.name,
            )
        )
        return owns is None and organisations_of(tx, user_id) <= {directory.org_id}

    def _rename(
        self, tx: Transaction, directory: Directory, row: sa.Row[Any], document: Mapping[str, Any]
    ) -> None:
        if not self._is_theirs(tx, directory, row.user_id):
            return
        email = email_of(document)
        taken = tx.first(
            sa.select(users.c.id).where(users.c.email == email, users.c.id != row.user_id)
        )
        if taken is not None:
            raise Conflict("Another account has this e-mail address.", code="uniqueness")
        tx.execute(
            sa.update(users)
            .where(users.c.id == row.user_id)
            .values(email=email, name=name_of(document), revision=users.c.revision + 1)
        )

    def _settled(
        self,
        tx: Transaction,
        directory: Directory,
        user_id: str,
        *,
        active: bool,
        groups: Sequence[str],
    ) -> list[News]:
        theirs = self._is_theirs(tx, directory, user_id)
        if active:
            if theirs:
                self._users.enable_within(tx, user_id)
            return self._roles(tx, directory, user_id, groups)
        owner = tx.first(
            sa.select(organisation_members.c.role).where(
                organisation_members.c.user_id == user_id,
                organisation_members.c.org_id == directory.org_id,
                organisation_members.c.role == Role.owner.name,
            )
        )
        if owner is not None:
            raise Denied(
                "This person owns the organisation. Another owner has to take that from them first.",
                code="mutability",
            )
        news = self._roles(tx, directory, user_id, ())
        if theirs:
            self._users.disable_within(tx, user_id)
        else:
            self._users.end_access_within(tx, user_id, directory.org_id)
        return news

    def _roles(
        self, tx: Transaction, directory: Directory, user_id: str, groups: Sequence[str]
    ) -> list[News]:
        wanted: dict[str, Role] = {}
        for rule in directory.rules:
            if rule.group in groups:
                role = Role[rule.role]
                wanted[rule.project_id] = max(role, wanted.get(rule.project_id, role))
        alive = self._admission.alive(tx, directory.org_id, wanted)
        return self._admission.settle(tx, directory, user_id, alive)

    def row(self, tx: Transaction, directory: Directory, record_id: str) -> sa.Row[Any]:
        row = tx.first(
            sa.select(directory_users).where(
                directory_users.c.id == record_id,
                directory_users.c.directory_id == directory.id,
                directory_users.c.user_name.not_like(f"{TOMBSTONE}%"),
            )
        )
        if row is None:
            raise NotFound(f"There is no user {record_id[:60]!r} in this directory.")
        return row

    def _require_free(self, tx: Transaction, directory: Directory, name: str) -> None:
        if name.casefold().startswith(TOMBSTONE):
            raise Invalid(f"userName must not begin with {TOMBSTONE!r}.", code="invalidValue")
        taken = sa.select(directory_users.c.id).where(
            directory_users.c.directory_id == directory.id,
            directory_users.c.user_name == name.casefold(),
        )
        if tx.first(taken) is not None:
            raise Conflict(f"There is a user {name!r} already.", code="uniqueness")

    def _group_names(self, tx: Transaction, record_id: str) -> list[str]:
        statement = (
            sa.select(directory_groups.c.display_name)
            .join(directory_members, directory_members.c.group_id == directory_groups.c.id)
            .where(directory_members.c.member_id == record_id)
        )
        return [row.display_name for row in tx.rows(statement)]

    def _related(
        self, tx: Transaction, directory: Directory, record_ids: Sequence[str]
    ) -> dict[str, tuple[tuple[str, str], ...]]:
        statement = (
            sa.select(
                directory_members.c.member_id,
                directory_groups.c.id,
                directory_groups.c.display_name,
            )
            .join(directory_groups, directory_members.c.group_id == directory_groups.c.id)
            .where(directory_groups.c.directory_id == directory.id)
        )
        if len(record_ids) == 1:
            statement = statement.where(directory_members.c.member_id == record_ids[0])
        found: dict[str, tuple[tuple[str, str], ...]] = {}
        for row in tx.rows(statement) if record_ids else ():
            found[row.member_id] = (*found.get(row.member_id, ()), (row.id, row.display_name))
        return found


def _person_news(
    directory: Directory, what: str, user_id: str, document: Mapping[str, Any]
) -> News:
    data = {"user": user_id, "name": document.get("userName", ""), "directory": directory.name}
    return News(directory.home, f"directory.person_{what}", user_id, data)


def record(row: sa.Row[Any], related: Iterable[tuple[str, str]]) -> Record:
    return Record(
        row.id, row.document, tuple(related), row.created_at, row.updated_at, row.revision
    )
