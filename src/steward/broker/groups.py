"""Groups of approvers: who may decide what a policy reserves for them."""

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from steward.broker import _tables as tables
from steward.core import Invalid, NotFound
from steward.identity import Access, Members, Role
from steward.store import Database, EventLog, Prepared, Scope, Transaction

_COLUMNS = tables.groups.c
_MEMBERS = Prepared(sa.select(_COLUMNS.name, _COLUMNS.members))


@dataclass(frozen=True)
class Group:
    name: str
    members: tuple[str, ...]


class Groups:
    def __init__(self, database: Database, members: Members, events: EventLog) -> None:
        self._database = database
        self._members = members
        self._events = events

    def listed(self, scope: Scope) -> list[Group]:
        with self._database.read(scope) as tx:
            rows = tx.rows(sa.select(tables.groups).order_by(_COLUMNS.name))
        return [Group(row.name, tuple(row.members)) for row in rows]

    def put(self, access: Access, name: str, members: list[str]) -> Group:
        access.require(Role.admin)
        name = name.strip()
        if not name or len(name) > 100:
            raise Invalid("A group needs a name of at most 100 characters.")
        with self._database.write(access.scope) as tx:
            unknown = [one for one in members if self.role_within(tx, one) is None]
            if unknown:
                raise Invalid(f"Not in this project: {', '.join(unknown)}. Invite them first.")
            group = Group(name, tuple(sorted(set(members))))
            insert = postgresql.insert if tx.dialect == "postgresql" else sqlite.insert
            values = {"members": list(group.members)}
            statement = insert(tables.groups).values(name=name, **values)
            tx.execute(
                statement.on_conflict_do_update(
                    index_elements=[_COLUMNS.project_id, _COLUMNS.name], set_=values
                )
            )
            told = {"members": len(group.members), "by": access.user_id}
            self._events.append(tx, "approvers.changed", name, told)
        return group

    def delete(self, access: Access, name: str) -> None:
        access.require(Role.admin)
        with self._database.write(access.scope) as tx:
            gone = tx.execute(sa.delete(tables.groups).where(_COLUMNS.name == name))
            if gone.rowcount == 0:
                raise NotFound(f"There is no group {name!r} in this project.")
            self._events.append(tx, "approvers.deleted", name, {"by": access.user_id})

    def of(self, scope: Scope, user_id: str) -> frozenset[str]:
        with self._database.read(scope) as tx:
            return self.of_within(tx, user_id)

    def of_within(self, tx: Transaction, user_id: str) -> frozenset[str]:
        """The groups somebody belongs to."""
        rows = tx.rows(_MEMBERS)
        return frozenset(row.name for row in rows if user_id in row.members)

    def role_within(
        self, tx: Transaction, user_id: str, token_id: str | None = None
    ) -> Role | None:
        return self._members.role_within(tx, user_id, token_id)

    def role(self, scope: Scope, user_id: str) -> Role | None:
        with self._database.read(scope) as tx:
            return self._members.role_within(tx, user_id)
