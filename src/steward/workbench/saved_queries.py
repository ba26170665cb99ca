"""Queries that a person keeps in a project under names; no one else sees them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from steward.core import Clock, Ids, Invalid, NotFound
from steward.identity import Access
from steward.store import Database
from steward.workbench._tables import saved_queries

MOST: Final = 200
_C: Final = saved_queries.c


@dataclass(frozen=True)
class SavedQuery:
    id: str
    name: str
    kind: str
    query: str
    updated_at: datetime


class SavedQueries:
    def __init__(self, database: Database, clock: Clock, ids: Ids) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids

    def listed(self, access: Access) -> list[SavedQuery]:
        """The caller's own, by name."""
        own = sa.select(saved_queries).where(_C.user_id == access.user_id)
        with self._database.read(access.scope) as tx:
            rows = tx.rows(own.order_by(sa.func.lower(_C.name), _C.id))
        return [SavedQuery(r.id, r.name, r.kind, r.query, r.updated_at) for r in rows]

    def save(self, access: Access, name: str, kind: str, query: str) -> SavedQuery:
        """Replaces the caller's query of the same name."""
        now = self._clock.now()
        own = _C.user_id == access.user_id
        told = {"kind": kind, "query": query, "updated_at": now}
        with self._database.write(access.scope) as tx:
            known = tx.first(sa.select(_C.id).where(own, _C.name == name))
            if known is not None:
                tx.execute(sa.update(saved_queries).where(_C.id == known.id).values(told))
                return SavedQuery(known.id, name, kind, query, now)
            count = tx.first(sa.select(sa.func.count().label("number")).where(own))
            if count is not None and count.number >= MOST:
                raise Invalid(
                    f"You have {MOST} saved queries in this project. Delete one, then save this one.",
                    code="too-many-queries",
                )
            made = SavedQuery(self._ids.new("qry"), name, kind, query, now)
            row = {"id": made.id, "user_id": access.user_id, "name": name, **told}
            tx.execute(sa.insert(saved_queries).values(row))
            return made

    def delete(self, access: Access, query_id: str) -> None:
        mine = (_C.id == query_id, _C.user_id == access.user_id)
        with self._database.write(access.scope) as tx:
            if tx.first(sa.select(_C.id).where(*mine)) is None:
                raise NotFound("You have no such saved query.", code="no-such-query")
            tx.execute(sa.delete(saved_queries).where(*mine))
