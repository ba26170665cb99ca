"""Journals in the database: read whole, or from a place on."""

import gc
import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

import sqlalchemy as sa

from steward.runs import _tables as tables
from steward.runs.canonical import Json
from steward.runs.entries import Entry, Link, Stored, read, read_all
from steward.runs.entry_types import Kind
from steward.runs.model import Run
from steward.store import Database, Scope, Transaction

_PAGE = 5_000
_ENDS = [kind.value for kind in (Kind.done, Kind.failed, Kind.cancelled)]
_READ = (
    "SELECT body, hash FROM journal WHERE run_id = ? AND project_id = ? AND seq > ?"
    " ORDER BY seq LIMIT ?"
)


_SIGNALS = (
    "SELECT key, CAST(data AS TEXT) AS data FROM run_signals WHERE run_id = ? AND project_id = ?"
)


_FIRST = (
    "SELECT run_id, body, hash FROM journal WHERE run_id IN (SELECT value FROM json_each(?)) AND seq = 1"
    " AND NOT EXISTS (SELECT 1 FROM run_signals WHERE run_signals.run_id = journal.run_id)"
)
_FIRST_ARRAYS = _FIRST.replace("IN (SELECT value FROM json_each(?))", "= ANY(?)")


def beginnings(tx: Transaction, runs: Sequence[Run]) -> dict[str, Entry]:
    """The one entry of those runs that were just claimed for the first time and have got no answer yet."""
    new = [run.id for run in runs if run.epoch == 1 and run.head_seq == 1]
    if not new:
        return {}
    if tx.dialect == "postgresql":
        found = tx.execute_raw(_FIRST_ARRAYS, (new,)).all()
    else:
        found = tx.execute_raw(_FIRST, (json.dumps(new),)).all()
    return {row.run_id: read(row.body, row.hash) for row in found}


_LAST = 1_000
"""Entries of a run in which a wait is looked for; what waits for longer counts from when its run began."""


def waits_opened(tx: Transaction, run_ids: Collection[str]) -> dict[tuple[str, str], datetime]:
    """When these runs asked, by run and key of the wait, as far as their last entries say."""
    if not run_ids:
        return {}
    entries, runs = tables.journal.c, tables.runs.c
    wanted = sa.select(entries.run_id, entries.key, entries.body).where(
        entries.run_id.in_(list(run_ids)),
        entries.run_id == runs.id,
        entries.seq > runs.head_seq - _LAST,
        entries.kind == Kind.opened.value,
    )
    rows = tx.rows(wanted.order_by(entries.run_id, entries.seq))
    return {
        (row.run_id, row.key): datetime.fromisoformat(json.loads(row.body)["at"]) for row in rows
    }


class Journal:
    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(self, scope: Scope, run_id: str, after: int = 0) -> Iterator[Entry]:
        """Entries in order, fetched page by page."""
        while True:
            page = self.page(scope, run_id, after, _PAGE)
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1].seq

    def page(self, scope: Scope, run_id: str, after: int, limit: int) -> list[Entry]:
        with self._database.read(scope) as tx:
            rows = tx.execute_raw(_READ, (run_id, scope.project_id, after, limit)).all()
        return read_all(rows)

    def waits_opened(
        self, scope: Scope, run_ids: Collection[str]
    ) -> dict[tuple[str, str], datetime]:
        with self._database.read(scope) as tx:
            return waits_opened(tx, run_ids)

    def loaded(self, scope: Scope, run_id: str) -> tuple[list[Entry], dict[str, Json]]:
        """Everything a drive begins with: the entries, and the answers that have come."""
        with self._database.read(scope) as tx:
            rows = tx.execute_raw(_READ, (run_id, scope.project_id, 0, _PAGE)).all()
            answers = tx.execute_raw(_SIGNALS, (run_id, scope.project_id)).all()
        entries = read_all(rows)
        if len(rows) == _PAGE:
            with _no_collection():
                entries += self.entries(scope, run_id, after=entries[-1].seq)
        return entries, {row.key: json.loads(row.data) for row in answers}

    def head(self, scope: Scope, run_id: str) -> Link:
        statement = (
            sa.select(tables.journal.c.seq, tables.journal.c.hash)
            .where(tables.journal.c.run_id == run_id)
            .order_by(tables.journal.c.seq.desc())
            .limit(1)
        )
        with self._database.read(scope) as tx:
            row = tx.first(statement)
        return Link(row.seq, row.hash) if row else Link()

    def end(self, scope: Scope, run_id: str) -> Entry | None:
        """The entry that says how the run ended; what was undone or redone later stands behind it."""
        columns = tables.journal.c
        statement = (
            sa.select(columns.body, columns.hash)
            .where(columns.run_id == run_id, columns.kind.in_(_ENDS))
            .order_by(columns.seq.desc())
            .limit(1)
        )
        with self._database.read(scope) as tx:
            row = tx.first(statement)
        return read(row.body, row.hash) if row else None

    def stored(self, scope: Scope, run_id: str) -> Iterator[Stored]:
        """Entries as the database has them, for those who check them."""
        after = 0
        while True:
            statement = (
                sa.select(tables.journal)
                .where(tables.journal.c.run_id == run_id, tables.journal.c.seq > after)
                .order_by(tables.journal.c.seq)
                .limit(_PAGE)
            )
            with self._database.read(scope) as tx:
                rows = tx.rows(statement)
            for row in rows:
                yield Stored(row.run_id, row.seq, row.kind, row.key, row.body, row.hash)
            if len(rows) < _PAGE:
                return
            after = rows[-1].seq


@contextmanager
def _no_collection() -> Iterator[None]:
    """While a long journal is read, nothing becomes garbage, and looking for it takes longer than the reading."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
