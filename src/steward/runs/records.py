"""The rows of runs: looked at, asked for something from outside, and told what became of them."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from steward.core import Conflict, Invalid
from steward.runs import _tables as tables
from steward.runs._leases import Leases
from steward.runs._rows import COLUMNS, existing, run_of
from steward.runs._starts import New, Starts
from steward.runs.canonical import Json, plain
from steward.runs.model import Run, Status
from steward.runs.topics import run_topic
from steward.store import EVERYWHERE, Prepared, Scope, Transaction

__all__ = ["New", "Records", "is_over", "run_of"]

_MOST_KEY = 400
_OVER = [status.value for status in Status if status.is_final]
_EPOCH_LOCKED = Prepared(
    sa.select(COLUMNS.epoch)
    .where(COLUMNS.id == sa.bindparam("run"))
    .with_for_update(key_share=True)
)


def is_over(run_id: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
    """Whether the run that a column of another table names is over."""
    return sa.exists().where(COLUMNS.id == run_id, COLUMNS.status.in_(_OVER))


class Records(Starts, Leases):
    """Everything there is to do with the rows; how runs begin and who drives them have files of their own."""

    def these(self, scope: Scope, run_ids: Collection[str]) -> dict[str, Run]:
        """Runs by their ids, those that there are."""
        with self._database.read(scope) as tx:
            rows = tx.rows(sa.select(tables.runs).where(COLUMNS.id.in_(sorted(run_ids))))
        return {row.id: run_of(row, scope) for row in rows}

    def listed(
        self,
        scope: Scope,
        *,
        statuses: Sequence[str] = (),
        subject: str | None = None,
        author: str | None = None,
        parent: str | None = None,
        program: str | None = None,
        text: str | None = None,
        before: str | None = None,
        limit: int = 50,
        among: tuple[str, Collection[str]] | None = None,
        unless_done: str | None = None,
        where: sa.ColumnElement[bool] | None = None,
    ) -> list[Run]:
        """Runs of a project, newest first; ids are ordered by time.

        `among` is a beginning of subjects and those of them that count; other subjects count anyway. `unless_done`
        names a program whose runs are left out once they are done. `where` is a further condition of `runs_table`,
        which may hold for several rows of another table.
        """
        statement = sa.select(tables.runs)
        if unless_done is not None:
            statement = statement.where(
                (COLUMNS.program != unless_done) | (COLUMNS.status != Status.done.value)
            )
        if among is not None:
            statement = statement.where(
                COLUMNS.subject.is_(None)
                | COLUMNS.subject.not_like(f"{among[0]}%")
                | COLUMNS.subject.in_(sorted(among[1]))
            )
        if statuses:
            statement = statement.where(COLUMNS.status.in_(list(statuses)))
        asked = (
            (COLUMNS.subject, subject),
            (COLUMNS.created_by, author),
            (COLUMNS.parent_id, parent),
            (COLUMNS.program, program),
        )
        statement = statement.where(
            *(column == value for column, value in asked if value is not None)
        )
        if text:
            statement = statement.where(COLUMNS.title.icontains(text, autoescape=True))
        if before is not None:
            statement = statement.where(COLUMNS.id < before)
        statement = statement.order_by(COLUMNS.id.desc()).limit(limit)
        with self._database.read(scope) as tx:
            if where is not None:
                ids = statement.with_only_columns(COLUMNS.id).where(where).distinct()
                found = [row.id for row in tx.rows(ids)]
                statement = statement.where(COLUMNS.id.in_(found))
            rows = tx.rows(statement)
        return [run_of(row, scope) for row in rows]

    def ended(self, scope: Scope, subject: str, since: datetime, limit: int) -> list[Run]:
        """Runs of a subject that people or triggers started and that ended from a moment on, in that order."""
        over = [status.value for status in Status if status.is_final]
        statement = sa.select(tables.runs).where(
            COLUMNS.ended_at >= since,
            COLUMNS.subject == subject,
            COLUMNS.parent_id.is_(None),
            COLUMNS.status.in_(over),
        )
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(COLUMNS.ended_at, COLUMNS.id).limit(limit))
        return [run_of(row, scope) for row in rows]

    def endings(
        self, tx: Transaction, run_ids: Collection[str]
    ) -> dict[str, tuple[Status, str | None]]:
        """Those of the runs that are over: how they ended, and why if that was told."""
        statement = sa.select(COLUMNS.id, COLUMNS.status, COLUMNS.reason).where(
            COLUMNS.id.in_(sorted(run_ids)), COLUMNS.status.in_(_OVER)
        )
        rows = tx.rows(statement) if run_ids else ()
        return {row.id: (Status(row.status), row.reason) for row in rows}

    def scopes(self) -> list[Scope]:
        """Every project in which something ran."""
        found: set[Scope] = set()
        with self._database.read(EVERYWHERE) as tx:
            for table in (tables.runs, tables.heads):
                statement = sa.select(table.c.org_id, table.c.project_id).distinct()
                found |= {Scope(row.org_id, row.project_id) for row in tx.rows(statement)}
        return sorted(found, key=lambda scope: scope.project_id)

    def ids(self, scope: Scope) -> Iterator[str]:
        """Every run of a project, newest first, fetched page by page."""
        before: str | None = None
        while page := self.listed(scope, before=before, limit=200):
            yield from (run.id for run in page)
            before = page[-1].id

    def waiting(self, scope: Scope, before: str | None = None, limit: int = 50) -> list[Run]:
        """Runs that wait for a person, newest first."""
        stopped = [Status.blocked, Status.waiting_for_approval, Status.reviewing]
        # The end has an index, and few runs of a project are not over.
        statement = sa.select(tables.runs).where(
            COLUMNS.ended_at.is_(None),
            COLUMNS.status.in_([status.value for status in stopped]),
            COLUMNS.waits.is_not(None),
        )
        if before is not None:
            statement = statement.where(COLUMNS.id < before)
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(COLUMNS.id.desc()).limit(limit))
        return [run_of(row, scope) for row in rows]

    def signal(self, scope: Scope, run_id: str, key: str, data: Json) -> None:
        """Answers a wait; the first answer counts, a second one is told so."""
        with self._database.write(scope) as tx:
            self.signal_within(tx, run_id, key, data)

    def signal_within(self, tx: Transaction, run_id: str, key: str, data: Json) -> None:
        if len(key) > _MOST_KEY:
            raise Invalid("The key of a wait is too long.")
        run = existing(tx, run_id, lock=True)
        if run.status.is_final:
            raise Conflict(f"The run is {run.status.value}; it waits for nothing any more.")
        taken = tx.first(
            sa.select(tables.signals.c.key).where(
                tables.signals.c.run_id == run_id, tables.signals.c.key == key
            )
        )
        if taken is not None:
            raise Conflict("This was answered already; the first answer counts.")
        tx.execute(
            sa.insert(tables.signals).values(
                run_id=run_id,
                key=key,
                data=plain(self.scrub(tx.project, data)),
                created_at=self._clock.now(),
            )
        )
        self._wake(tx, run)

    def signals(self, scope: Scope, run_id: str) -> dict[str, Json]:
        statement = sa.select(tables.signals).where(tables.signals.c.run_id == run_id)
        with self._database.read(scope) as tx:
            return {row.key: row.data for row in tx.rows(statement)}

    def control(self, scope: Scope, run_id: str, action: str, by: str) -> Run:
        """Asks a run to pause, to go on, or to end; it does so before its next step."""
        word = {"pause": "pause", "resume": None, "cancel": "cancel"}[action]
        with self._database.write(scope) as tx:
            run = existing(tx, run_id, lock=True)
            if run.status.is_final:
                raise Conflict(f"The run is {run.status.value} already.")
            if run.control == "cancel" and action != "cancel":
                raise Conflict("The run is being cancelled.")
            for each in [run, *_descendants(tx, run)]:
                if each.status.is_final:
                    continue
                tx.execute(
                    sa.update(tables.runs)
                    .where(COLUMNS.id == each.id)
                    .values(control=word, control_by=by)
                )
                self._wake(tx, each)
            self._events.append(tx, f"run.{action}_asked", run_id, {"by": by})
        return self.get(scope, run_id)

    def tell_parent(self, tx: Transaction, run: Run, status: Status, data: dict[str, Any]) -> None:
        """A run that ends answers the wait of the run that started it."""
        if run.parent_id is None or run.parent_key is None:
            return
        inside = tx.narrowed(run.scope)
        parent = existing(inside, run.parent_id)
        inside.execute(
            sa.insert(tables.signals).values(
                run_id=parent.id,
                key=run.parent_key,
                data={"run_id": run.id, "status": status.value, **data},
                created_at=self._clock.now(),
            )
        )
        self._wake(inside, parent)

    def refuse_unless_driving(self, tx: Transaction, run: Run) -> None:
        """Refuses the change of a transaction when another worker took the run over meanwhile.

        The row is locked: whoever takes the run over waits for the transaction and finds what it did.
        """
        row = tx.first(_EPOCH_LOCKED, {"run": run.id})
        if row is None or row.epoch != run.epoch:
            raise Conflict(
                "Another worker took over this run, so this one changed nothing.",
                code="run-taken-over",
            )

    def show_progress(self, tx: Transaction, run: Run, progress: Json) -> None:
        """Says how far a run is, if it is still driven by this epoch."""
        mine = sa.and_(COLUMNS.id == run.id, COLUMNS.epoch == run.epoch)
        tx.execute(sa.update(tables.runs).where(mine).values(progress=progress))
        self._bus.ring(tx, run_topic(run.id))

    def announce(self, tx: Transaction, run: Run, status: Status) -> None:
        inside = tx.narrowed(run.scope)
        self._events.append(inside, f"run.{status.value}", run.id, {"title": run.title})
        self._bus.ring(inside, run_topic(run.id))


def _descendants(tx: Transaction, run: Run) -> list[Run]:
    found: list[Run] = []
    level = [run.id]
    while level:
        rows = tx.rows(sa.select(tables.runs).where(COLUMNS.parent_id.in_(level)))
        found += [run_of(row, tx.project) for row in rows]
        level = [row.id for row in rows]
    return found
