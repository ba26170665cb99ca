"""Drafts: what a person has changed in a flow and not saved. It is theirs alone until they save it as a revision."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from steward.core import Clock, Stale
from steward.identity import Access, Role
from steward.playbooks import _tables as tables
from steward.playbooks.library import Library
from steward.runs import Json
from steward.store import Database, Transaction

NEW: Final = "new"
"""Stands for a flow that was never saved: everybody has one draft of such."""
STAYS: Final = timedelta(days=90)
_C: Final = tables.drafts.c


@dataclass(frozen=True)
class Drawing:
    """A flow as it is edited: its text, which need not be valid, and where its nodes are drawn."""

    text: str
    layout: Mapping[str, Any]


@dataclass(frozen=True)
class Draft:
    drawing: Drawing
    base: Drawing
    """What it was changed from: with it, what others saved since can be taken along."""
    base_version: int
    """The version of the playbook that had this base; 0 for a new flow."""
    version: int
    updated_at: datetime


@dataclass(frozen=True)
class Unsaved:
    """That somebody has a draft; what it says is theirs."""

    user_id: str
    updated_at: datetime


class Drafts:
    def __init__(self, database: Database, clock: Clock, library: Library) -> None:
        self._database = database
        self._clock = clock
        self._library = library

    def mine(self, access: Access, named: str) -> Draft | None:
        """The caller's draft of a playbook, or of the flow that they never saved."""
        about = self._about(access, named)
        with self._database.read(access.scope) as tx:
            row = self._row(tx, access, about)
        if row is None:
            return None
        return Draft(
            Drawing(row.text, row.layout),
            Drawing(row.base["text"], row.base["layout"]),
            row.base["version"],
            row.version,
            row.updated_at,
        )

    def keep(
        self,
        access: Access,
        named: str,
        drawing: Drawing,
        base: Drawing,
        *,
        base_version: int,
        seen: int,
    ) -> int:
        """Keeps the caller's draft and answers with its version; `seen` is the version that it replaces, 0 if none."""
        access.require(Role.editor)
        about = self._about(access, named)
        kept: dict[str, Json] = {
            "text": drawing.text,
            "layout": dict(drawing.layout),
            "base": {"text": base.text, "layout": dict(base.layout), "version": base_version},
        }
        now = self._clock.now()
        try:
            with self._database.write(access.scope) as tx:
                tx.execute(sa.delete(tables.drafts).where(_C.updated_at < now - STAYS))
                row = self._row(tx, access, about)
                version = 0 if row is None else row.version
                if version != seen:
                    raise _elsewhere()
                tx.execute(sa.delete(tables.drafts).where(self._is(access, about)))
                tx.execute(
                    sa.insert(tables.drafts).values(
                        about=about,
                        user_id=access.user_id,
                        **kept,
                        version=version + 1,
                        updated_at=now,
                    )
                )
        except IntegrityError:
            raise _elsewhere() from None
        return version + 1

    def discard(self, access: Access, named: str, *, seen: int) -> None:
        """Drops the caller's draft of the version `seen`; a later one stays."""
        access.require(Role.editor)
        gone = self._is(access, self._about(access, named)) & (_C.version <= seen)
        with self._database.write(access.scope) as tx:
            tx.execute(sa.delete(tables.drafts).where(gone))

    def unsaved(self, access: Access, named: str) -> list[Unsaved]:
        """Who has a draft of a playbook, the newest first."""
        card = self._library.get(access, named)
        since = self._clock.now() - STAYS
        wanted = sa.select(_C.user_id, _C.updated_at).where(
            _C.about == card.id, _C.updated_at >= since
        )
        with self._database.read(access.scope) as tx:
            rows = tx.rows(wanted.order_by(_C.updated_at.desc(), _C.user_id))
        return [Unsaved(row.user_id, row.updated_at) for row in rows]

    def _about(self, access: Access, named: str) -> str:
        return NEW if named == NEW else self._library.get(access, named).id

    def _row(self, tx: Transaction, access: Access, about: str) -> sa.Row[Any] | None:
        return tx.first(sa.select(tables.drafts).where(self._is(access, about)))

    def _is(self, access: Access, about: str) -> sa.ColumnElement[bool]:
        return (_C.about == about) & (_C.user_id == access.user_id)


def _elsewhere() -> Stale:
    return Stale("You have changed this flow in another window since. Save here to keep both.")
