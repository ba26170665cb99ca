"""The definitions of a project over time: one row per revision, never changed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from steward.core import Clock, Invalid, NotFound, Stale
from steward.definitions import _tables as tables
from steward.definitions.document import Definitions, State
from steward.definitions.entries import (
    Entry,
    EntryChange,
    apply_changes,
    from_entries,
    to_entries,
)
from steward.definitions.facts import facts_from, relations_from
from steward.definitions.formulas import parse_condition, parse_formula
from steward.definitions.merging import effective, merge_definitions
from steward.definitions.proposing import propose_definitions
from steward.store import Database, EventLog, Scope, Transaction
from steward.versions import MAIN
from steward.workbench import Workbench

_R = tables.revisions.c


@dataclass(frozen=True)
class DefinitionsRevision:
    """Revision 0 is the empty document that every project begins with."""

    revision: int = 0
    definitions: Definitions = field(default_factory=Definitions)
    message: str = ""
    author: str | None = None
    created_at: datetime | None = None


class DefinitionStore:
    def __init__(
        self, database: Database, workbench: Workbench, events: EventLog, clock: Clock
    ) -> None:
        self._database = database
        self._workbench = workbench
        self._events = events
        self._clock = clock

    # Reading

    def current(self, scope: Scope) -> DefinitionsRevision:
        with self._database.read(scope) as tx:
            return _newest(tx)

    def at(self, scope: Scope, revision: int) -> DefinitionsRevision:
        if revision == 0:
            return DefinitionsRevision()
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.revisions).where(_R.revision == revision))
        if row is None:
            raise NotFound(f"There is no revision {revision} of the definitions.")
        return _revision(row)

    def history(
        self, scope: Scope, *, before: int | None = None, limit: int = 50
    ) -> list[DefinitionsRevision]:
        """Newest first."""
        statement = sa.select(tables.revisions).order_by(_R.revision.desc()).limit(limit)
        if before is not None:
            statement = statement.where(_R.revision < before)
        with self._database.read(scope) as tx:
            return [_revision(row) for row in tx.rows(statement)]

    def learn(self, scope: Scope, author: str, branch: str = MAIN) -> None:
        """Looks at the values of small datasets, so that what is proposed does not rest on names alone. Blocking."""
        self._workbench.insights.learn(scope, author, branch)

    def proposed(self, scope: Scope, author: str, branch: str = MAIN) -> Definitions:
        """What the data of a branch suggests; starts no computation."""
        datasets = facts_from(self._workbench, scope, author, branch)
        return propose_definitions(datasets, relations_from(self._workbench, scope, author, branch))

    def merged(self, scope: Scope, author: str, branch: str = MAIN) -> Definitions:
        """What people see: everything stored, and proposals for the rest."""
        return merge_definitions(
            self.current(scope).definitions, self.proposed(scope, author, branch)
        )

    def effective(self, scope: Scope, author: str, branch: str = MAIN) -> Definitions:
        """What questions are read by."""
        return effective(self.current(scope).definitions, self.proposed(scope, author, branch))

    # Changing

    def decided(
        self, scope: Scope, author: str, state: State, entries: Sequence[str] | None = None
    ) -> list[tuple[str, Entry]]:
        """Entries as people see them, in that state; unset: all that are only proposed."""
        self.learn(scope, author)
        known = to_entries(self.merged(scope, author), every_table=True)
        if entries is None:
            entries = [name for name, each in known.items() if "state" not in each]
        missing = [name for name in entries if name not in known]
        if missing:
            raise NotFound(f"There is no definition {missing[0]}.")
        return [(name, {**known[name], "state": state}) for name in entries]

    def check(self, scope: Scope, author: str, changes: Sequence[EntryChange]) -> None:
        """Refuses formulas and conditions that cannot be computed over the table's columns as they are."""
        touched = from_entries({each.entry: each.after for each in changes if each.after})
        proposed = self.proposed(scope, author)
        known = {name: list(table.columns) for name, table in proposed.tables.items()}
        for name, metric in touched.metrics.items():
            if metric.state == "rejected":
                continue
            if metric.over not in known:
                raise Invalid(f'The metric "{name}" is over "{metric.over}", which is no dataset.')
            parse_formula(metric.formula, known[metric.over], name)
        for name, table in touched.tables.items():
            if name not in known:
                continue
            conditions = [each.where for each in table.default_filters if each.state != "rejected"]
            conditions += [
                each.where for each in table.segments.values() if each.state != "rejected"
            ]
            for condition in conditions:
                parse_condition(condition, known[name])

    def save(
        self,
        scope: Scope,
        author: str,
        changes: Sequence[EntryChange],
        *,
        message: str,
        call: str,
        expected: int | None = None,
    ) -> DefinitionsRevision:
        """A new revision with the changes; `expected` is the revision they were made from, where that matters."""
        try:
            with self._database.write(scope) as tx:
                newest = _newest(tx)
                if expected is not None and newest.revision != expected:
                    raise _changed()
                made = DefinitionsRevision(
                    newest.revision + 1,
                    apply_changes(newest.definitions, changes),
                    message[:400],
                    author,
                    self._clock.now(),
                )
                tx.execute(
                    sa.insert(tables.revisions).values(
                        revision=made.revision,
                        document={"entries": list(to_entries(made.definitions).items())},
                        message=made.message,
                        author=author,
                        call=call,
                        created_at=made.created_at,
                    )
                )
                self._events.append(tx, "definitions.changed", str(made.revision), {"by": author})
        except sa.exc.IntegrityError:
            raise _changed() from None
        return made

    def made_by(self, scope: Scope, call: str) -> DefinitionsRevision | None:
        """The revision that a call made, if it made one."""
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.revisions).where(_R.call == call))
        return _revision(row) if row is not None else None


def _changed() -> Stale:
    return Stale("The definitions have changed since you read them. Read them again.")


def _newest(tx: Transaction) -> DefinitionsRevision:
    row = tx.first(sa.select(tables.revisions).order_by(_R.revision.desc()).limit(1))
    return _revision(row) if row is not None else DefinitionsRevision()


def _revision(row: sa.Row[Any]) -> DefinitionsRevision:
    # A list of pairs, because PostgreSQL sorts the keys of objects and people order their entries.
    entries = dict(row.document["entries"])
    return DefinitionsRevision(
        row.revision, from_entries(entries), row.message, row.author, row.created_at
    )
