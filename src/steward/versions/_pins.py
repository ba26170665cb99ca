"""Pins: how journals, runs and others hold commits, versions and blobs that no branch may lead to any more."""

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa

from steward.core import Clock, NotFound
from steward.store import Database, Prepared, Scope, Transaction
from steward.versions import _tables as tables
from steward.versions._history import refuse_expired
from steward.versions._parts import Parts

_LOCKED: Final = Prepared(
    sa.select(tables.commits)
    .where(tables.commits.c.id == sa.bindparam("of_commit"))
    .with_for_update()
)


class Pins:
    def __init__(self, database: Database, clock: Clock, parts: Parts) -> None:
        self._database = database
        self._clock = clock
        self._parts = parts

    def pin(
        self,
        scope: Scope,
        holder: str,
        reference: str,
        *,
        commits: Sequence[str] = (),
        versions: Sequence[str] = (),
        blobs: Sequence[str] = (),
    ) -> None:
        """Holds things until `unpin`; `holder` says what kind of thing holds, `reference` which one."""
        with self._database.write(scope) as tx:
            self.pin_within(tx, holder, reference, commits=commits, versions=versions, blobs=blobs)

    def pin_within(
        self,
        tx: Transaction,
        holder: str,
        reference: str,
        *,
        commits: Sequence[str] = (),
        versions: Sequence[str] = (),
        blobs: Sequence[str] = (),
    ) -> None:
        """The same inside a transaction of the caller."""
        now = self._clock.now()
        for commit_id in sorted(set(commits)):
            _held_commit(tx, commit_id)
        wanted = sorted(set(versions))
        if tables.renew(tx, tables.versions, tables.versions.c.id, wanted, now) != len(wanted):
            raise NotFound("A version to be held is not in this project.")
        self._parts.renew(tx, blobs)
        rows = [
            {
                "holder": holder,
                "reference": reference,
                "kind": kind,
                "target": target,
                "created_at": now,
            }
            for kind, targets in (("commit", commits), ("version", versions), ("blob", blobs))
            for target in sorted(set(targets))
        ]
        tables.upsert(tx, tables.pins, rows)

    def unpin(self, scope: Scope, holder: str, reference: str) -> int:
        """Lets go of everything that one holder held; returns how much that was."""
        statement = sa.delete(tables.pins).where(
            tables.pins.c.holder == holder, tables.pins.c.reference == reference
        )
        with self._database.write(scope) as tx:
            return tx.execute(statement).rowcount

    def unpin_runs(self, tx: Transaction, run_ids: Sequence[str]) -> None:
        """Lets go of what these runs held, in a transaction of the caller."""
        mine = tables.pins.c.holder == "run", tables.pins.c.reference.in_(run_ids)
        tx.execute(sa.delete(tables.pins).where(*mine))


def _held_commit(tx: Transaction, commit_id: str) -> None:
    row = tx.first(_LOCKED, {"of_commit": commit_id})
    if row is None:
        raise NotFound(f"There is no commit {commit_id!r} in this project.")
    refuse_expired(row)
