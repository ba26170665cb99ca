"""Reports that a project keeps, to look at and to compare."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from steward.core import Clock, Ids, NotFound
from steward.evaluation import _tables as tables
from steward.evaluation.report import Report, read_report
from steward.evaluation.report_comparison import Comparison, compare
from steward.identity import Access, Role
from steward.store import Database, EventLog, Scope, Transaction

UNDO_WINDOW: Final = timedelta(days=30)
_R = tables.reports.c
_SHOWN: Final = ("id", "title", "mode", "cases", "passed", "failed", "created_by", "created_at")


@dataclass(frozen=True)
class KeptReport:
    id: str
    title: str
    mode: str
    cases: int
    passed: int
    failed: int
    created_by: str
    created_at: datetime


class Reports:
    def __init__(self, database: Database, events: EventLog, clock: Clock, ids: Ids) -> None:
        self._database = database
        self._events = events
        self._clock = clock
        self._ids = ids

    def keep(self, access: Access, report: Report, title: str = "") -> KeptReport:
        access.require(Role.editor)
        suites = ", ".join(dict.fromkeys(case.suite for case in report.cases))
        values = {
            "id": self._ids.new("evl"),
            "title": (title or suites)[:200],
            "mode": report.mode,
            "cases": len(report.cases),
            "passed": report.count("passed"),
            "failed": report.count("failed"),
            "created_by": access.user_id,
            "created_at": self._clock.now(),
        }
        with self._database.write(access.scope) as tx:
            tx.execute(sa.insert(tables.reports).values(document=report.to_json(), **values))
            self._events.append(tx, "evaluation.kept", str(values["id"]), {"by": access.user_id})
        return KeptReport(**values)  # type: ignore[arg-type]

    def listed(
        self, scope: Scope, *, before: str | None = None, limit: int = 50
    ) -> list[KeptReport]:
        """Newest first."""
        statement = sa.select(*(_R[name] for name in _SHOWN)).where(_R.deleted_at.is_(None))
        if before is not None:
            statement = statement.where(_R.id < before)
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(_R.id.desc()).limit(limit))
        return [_kept(row) for row in rows]

    def get(self, scope: Scope, report_id: str) -> tuple[KeptReport, Report]:
        with self._database.read(scope) as tx:
            row = _existing(tx, report_id)
        return _kept(row), read_report(row.document)

    def compared(self, scope: Scope, before: str, after: str) -> Comparison:
        return compare(self.get(scope, before)[1], self.get(scope, after)[1])

    def delete(self, access: Access, report_id: str) -> None:
        """Hides it; it can be had back for 30 days."""
        access.require(Role.editor)
        with self._database.write(access.scope) as tx:
            _existing(tx, report_id)
            self._mark(tx, report_id, self._clock.now())
            self._events.append(tx, "evaluation.deleted", report_id, {"by": access.user_id})

    def restore(self, access: Access, report_id: str) -> KeptReport:
        access.require(Role.editor)
        since = self._clock.now() - UNDO_WINDOW
        with self._database.write(access.scope) as tx:
            found = sa.select(_R.id).where(_R.id == report_id, _R.deleted_at > since)
            if tx.first(found) is not None:
                self._mark(tx, report_id, None)
                self._events.append(tx, "evaluation.restored", report_id, {"by": access.user_id})
            return _kept(_existing(tx, report_id))

    def _mark(self, tx: Transaction, report_id: str, moment: datetime | None) -> None:
        change = sa.update(tables.reports).where(_R.id == report_id).values(deleted_at=moment)
        tx.execute(change)


def _existing(tx: Transaction, report_id: str) -> sa.Row[Any]:
    statement = sa.select(tables.reports).where(_R.id == report_id, _R.deleted_at.is_(None))
    row = tx.first(statement)
    if row is None:
        raise NotFound("There is no such report in this project.")
    return row


def _kept(row: sa.Row[Any]) -> KeptReport:
    return KeptReport(**{name: getattr(row, name) for name in _SHOWN})
