"""Erases a person: what is theirs goes, records of what they did stay under an id that names nobody."""

from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa

from steward.core import NotFound
from steward.identity._tables import invitations, sign_in_failures, users
from steward.identity.users import Users
from steward.store import EVERYWHERE, Database, Transaction, is_held, metadata, open_holds

ERASABLE: Final = "erasable"
"""Mark of a column, in its `info`: rows with a person's id in it are theirs and go with them."""
NAME: Final = "Former member"
_ID_LENGTH: Final = 40
_Own = list[tuple[sa.Table, sa.ColumnElement[bool]]]


@dataclass(frozen=True)
class Erasure:
    user_id: str
    removed: dict[str, int]
    """Rows by table that are the person's own: sessions, tokens, drafts, notes …"""
    kept: dict[str, int]
    """Rows by table and column that name the person by id, as they prove who did what."""
    held: dict[str, int]
    """Rows by table that are the person's own and that a legal hold keeps."""
    holds: tuple[str, ...]
    """Names of those legal holds."""


class Eraser:
    def __init__(self, database: Database, people: Users) -> None:
        self._database = database
        self._people = people

    def preview(self, user_id: str) -> Erasure:
        """What would go and what would stay."""
        with self._database.read(EVERYWHERE) as tx:
            own = _own(tx, user_id)
            return Erasure(user_id, _free(tx, own), _kept(tx, user_id), *_held(tx, own))

    def erase(self, user_id: str) -> Erasure:
        """Cannot be undone; refused for the last owner. What a legal hold keeps stays."""
        with self._database.write(EVERYWHERE) as tx:
            own = _own(tx, user_id)
            removed, held = _free(tx, own), _held(tx, own)
            self._people.disable_within(tx, user_id)
            for table, which in own:
                tx.execute(sa.delete(table).where(which))
            nobody = {
                "name": NAME,
                "email": f"{user_id}@erased.invalid".lower(),
                "locale": None,
                "password_hash": None,
                "revision": users.c.revision + 1,
            }
            tx.execute(sa.update(users).where(users.c.id == user_id).values(nobody))
            return Erasure(user_id, removed, _kept(tx, user_id), *held)


def _own(tx: Transaction, user_id: str) -> _Own:
    """What is the person's, in an order in which it can be deleted."""
    person = tx.first(sa.select(users.c.email).where(users.c.id == user_id))
    if person is None:
        raise NotFound("There is no such user.")
    found: dict[sa.Table, sa.ColumnElement[bool]] = {
        invitations: invitations.c.email == person.email,
        sign_in_failures: sign_in_failures.c.account == person.email,
    }
    for table in metadata.sorted_tables:
        for column in table.c:
            if column.name == "user_id" or column.info.get(ERASABLE):
                found[table] = column == user_id
    for table in metadata.sorted_tables:
        # What belongs to one of these rows, such as a place in a group.
        for key in table.foreign_keys:
            parent = key.column.table
            if table not in found and parent in found:
                theirs = sa.select(key.column).where(found[parent])
                found[table] = key.parent.in_(theirs)
    order = {table: number for number, table in enumerate(metadata.sorted_tables)}
    return sorted(found.items(), key=lambda each: -order[each[0]])


def _kept(tx: Transaction, user_id: str) -> dict[str, int]:
    """Wherever an id can stand: rooms need not say which of their columns name people."""
    found = {
        f"{table.name}.{column.name}": _count(tx, table, column == user_id)
        for table in metadata.sorted_tables
        if table is not users
        for column in table.c
        if isinstance(column.type, sa.String)
        and column.type.length == _ID_LENGTH
        and column.name != "user_id"
        and not column.info.get(ERASABLE)
    }
    return _some(found)


def _free(tx: Transaction, own: _Own) -> dict[str, int]:
    """What no legal hold keeps."""
    found = {}
    for table, which in own:
        held = is_held(table)
        free = which if held is None else which & sa.not_(held)
        found[table.name] = _count(tx, table, free)
    return _some(found)


def _held(tx: Transaction, own: _Own) -> tuple[dict[str, int], tuple[str, ...]]:
    found, names = {}, set()
    for table, which in own:
        held = is_held(table)
        if held is None:
            continue
        rows = tx.rows(sa.select(table.c.project_id).where(which, held))
        found[table.name] = len(rows)
        for project_id in {row.project_id for row in rows}:
            names |= {row.name for row in tx.rows(open_holds(project_id))}
    return _some(found), tuple(sorted(names))


def _count(tx: Transaction, table: sa.Table, which: sa.ColumnElement[bool]) -> int:
    return int(tx.execute(sa.select(sa.func.count()).select_from(table).where(which)).scalar_one())


def _some(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}
