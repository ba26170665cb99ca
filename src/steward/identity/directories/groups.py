"""Groups of a directory: their members, and the roles that follow from them."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from steward.core import Clock, Conflict, Ids, Invalid, NotFound
from steward.identity._tables import directory_groups, directory_members, directory_users
from steward.identity.directories.documents import kept_group
from steward.identity.directories.people import MOST, People, Record, record
from steward.identity.directories.registry import Directory
from steward.store import EVERYWHERE, Database, Transaction


class Groups:
    def __init__(self, database: Database, clock: Clock, ids: Ids, people: People) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._people = people

    def listed(self, directory: Directory, equal: tuple[str, str] | None = None) -> list[Record]:
        statement = sa.select(directory_groups).where(
            directory_groups.c.directory_id == directory.id
        )
        if equal is not None and equal[0] == "id":
            statement = statement.where(directory_groups.c.id == equal[1])
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(statement.order_by(directory_groups.c.id).limit(MOST))
            members = self._members_of(tx, [row.id for row in rows])
        return [record(row, members.get(row.id, ())) for row in rows]

    def get(self, directory: Directory, group_id: str) -> Record:
        found = self.listed(directory, ("id", group_id))
        if not found:
            raise NotFound(f"There is no group {group_id[:60]!r} in this directory.")
        return found[0]

    def save(
        self, directory: Directory, given: Mapping[str, Any], group_id: str | None = None
    ) -> Record:
        """A new group, or another content of one; the roles of everyone it touches follow at once."""
        document, wanted = kept_group(given)
        now = self._clock.now()
        with self._database.write(EVERYWHERE) as tx:
            before = self._members_now(tx, directory, group_id) if group_id else set()
            self._require_members(tx, directory, wanted)
            self._require_free(tx, directory, document["displayName"], group_id)
            values = {
                "display_name": document["displayName"],
                "external_id": document.get("externalId"),
                "document": document,
                "updated_at": now,
            }
            if group_id is None:
                group_id = self._ids.new("scg")
                fixed = {"id": group_id, "directory_id": directory.id, "revision": 1}
                tx.execute(sa.insert(directory_groups).values(**fixed, **values, created_at=now))
            else:
                tx.execute(
                    sa.update(directory_groups)
                    .where(directory_groups.c.id == group_id)
                    .values(**values, revision=directory_groups.c.revision + 1)
                )
            self._set_members(tx, group_id, before, set(wanted))
            self._people.settle_all(tx, directory, before | set(wanted))
        return self.get(directory, group_id)

    def delete(self, directory: Directory, group_id: str) -> None:
        with self._database.write(EVERYWHERE) as tx:
            before = self._members_now(tx, directory, group_id)
            self._set_members(tx, group_id, before, set())
            tx.execute(sa.delete(directory_groups).where(directory_groups.c.id == group_id))
            self._people.settle_all(tx, directory, before)

    def _require_free(
        self, tx: Transaction, directory: Directory, name: str, group_id: str | None
    ) -> None:
        taken = sa.select(directory_groups.c.id).where(
            directory_groups.c.directory_id == directory.id,
            directory_groups.c.display_name == name,
            directory_groups.c.id != (group_id or ""),
        )
        if tx.first(taken) is not None:
            raise Conflict(f"There is a group {name!r} already.", code="uniqueness")

    def _require_members(self, tx: Transaction, directory: Directory, wanted: list[str]) -> None:
        for record_id in wanted:
            try:
                self._people.row(tx, directory, record_id)
            except NotFound as problem:
                raise Invalid(problem.message, code="invalidValue") from None

    def _members_now(self, tx: Transaction, directory: Directory, group_id: str) -> set[str]:
        found = sa.select(directory_groups.c.id).where(
            directory_groups.c.id == group_id, directory_groups.c.directory_id == directory.id
        )
        if tx.first(found) is None:
            raise NotFound(f"There is no group {group_id[:60]!r} in this directory.")
        rows = tx.rows(
            sa.select(directory_members.c.member_id).where(directory_members.c.group_id == group_id)
        )
        return {row.member_id for row in rows}

    def _set_members(
        self, tx: Transaction, group_id: str, before: set[str], wanted: set[str]
    ) -> None:
        gone = before - wanted
        if gone:
            tx.execute(
                sa.delete(directory_members).where(
                    directory_members.c.group_id == group_id,
                    directory_members.c.member_id.in_(sorted(gone)),
                )
            )
        for record_id in sorted(wanted - before):
            tx.execute(sa.insert(directory_members).values(group_id=group_id, member_id=record_id))

    def _members_of(
        self, tx: Transaction, group_ids: Sequence[str]
    ) -> dict[str, tuple[tuple[str, str], ...]]:
        statement = sa.select(
            directory_members.c.group_id, directory_users.c.id, directory_users.c.user_name
        ).join(directory_users, directory_members.c.member_id == directory_users.c.id)
        if len(group_ids) == 1:
            statement = statement.where(directory_members.c.group_id == group_ids[0])
        wanted, found = set(group_ids), dict[str, list[tuple[str, str]]]()
        for row in tx.rows(statement) if group_ids else ():
            if row.group_id in wanted:
                found.setdefault(row.group_id, []).append((row.id, row.user_name))
        return {group: tuple(members) for group, members in found.items()}
