"""Makes facts from the journals of ended runs: those that are missing, or all of them again."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects import postgresql, sqlite

from steward.core.errors import StewardError
from steward.observe._tables import facts, projected
from steward.observe.facts import facts_of
from steward.observe.spans import spans_of
from steward.runs import Run, Runs, Status, flow_name, is_of_tests
from steward.runs import _tables as run_tables
from steward.store import Database, Scope
from steward.trace.spans import Span

_log = structlog.get_logger("steward.observe")
_RUNS: Final = run_tables.runs.c
_FINAL: Final = [status.value for status in Status if status.is_final]
OVERLAP: Final = timedelta(minutes=2)
"""Machines' clocks differ, and a run's end may become visible after the end of a later one."""
_MOST_AT_ONCE: Final = 200
_PAGE: Final = 500


class Projector:
    """Keeps the facts of a project up to its journals. Whoever reads figures calls `catch_up` first."""

    def __init__(self, database: Database, runs: Runs) -> None:
        self._database = database
        self._runs = runs
        self._lock = Lock()
        self._counting: dict[str, Lock] = {}

    def catch_up(self, scope: Scope, most: int = 2 * _MOST_AT_ONCE) -> bool:
        """Adds the facts of runs that ended since; False when more than so many are left.

        Where another reader of the project is at it, this one does not count the same runs beside it.
        """
        with self._lock:
            lock = self._counting.setdefault(scope.project_id, Lock())
        if not lock.acquire(blocking=False):
            return False
        try:
            for _ in range(0, most, _MOST_AT_ONCE):
                missing = self._missing(scope, self._until(scope))
                self._add(scope, missing)
                if len(missing) < _MOST_AT_ONCE:
                    return True
            return False
        finally:
            lock.release()

    def rebuild(self, scope: Scope) -> int:
        """Throws all facts of a project away and makes them again; how many runs they are of."""
        with self._database.write(scope) as tx:
            tx.execute(sa.delete(facts))
            tx.execute(sa.delete(projected))
        count = 0
        while missing := self._missing(scope, self._until(scope)):
            self._add(scope, missing)
            count += len(missing)
        return count

    def _until(self, scope: Scope) -> datetime | None:
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(projected.c.until))
        return None if row is None else row.until

    def _missing(self, scope: Scope, until: datetime | None) -> list[str]:
        """Ended runs without facts, in the order in which they ended."""
        found: list[str] = []
        wanted = sa.select(_RUNS.id, _RUNS.ended_at).where(
            _RUNS.status.in_(_FINAL), _RUNS.ended_at.is_not(None)
        )
        wanted = wanted.order_by(_RUNS.ended_at, _RUNS.id).limit(_PAGE)
        since = sa.true() if until is None else _RUNS.ended_at >= until - OVERLAP
        while len(found) < _MOST_AT_ONCE:
            with self._database.read(scope) as tx:
                rows = tx.rows(wanted.where(since))
                counted = {
                    row.run_id
                    for row in tx.rows(
                        sa.select(facts.c.run_id).where(
                            facts.c.kind == "run", facts.c.run_id.in_([row.id for row in rows])
                        )
                    )
                }
            found += [row.id for row in rows if row.id not in counted]
            if len(rows) < _PAGE:
                break
            last = rows[-1]
            since = sa.or_(
                _RUNS.ended_at > last.ended_at,
                sa.and_(_RUNS.ended_at == last.ended_at, _RUNS.id > last.id),
            )
        return found[:_MOST_AT_ONCE]

    def _add(self, scope: Scope, run_ids: Sequence[str]) -> None:
        if not run_ids:
            return
        rows: list[dict[str, Any]] = []
        ended: list[datetime] = []
        for run_id in run_ids:
            run = self._runs.get(scope, run_id)
            rows += self._rows(run)
            ended.append(run.ended_at or run.created_at)
        with self._database.write(scope) as tx:
            insert = postgresql.insert if tx.dialect == "postgresql" else sqlite.insert
            # Two readers may count the same run at once: both find the same.
            tx.execute(insert(facts).on_conflict_do_nothing(), rows)
            newest = insert(projected).values(until=max(ended))
            tx.execute(
                newest.on_conflict_do_update(
                    index_elements=[projected.c.project_id], set_={"until": newest.excluded.until}
                )
            )

    def _rows(self, run: Run) -> Iterator[dict[str, Any]]:
        root = run if run.parent_id is None else self._runs.get(run.scope, run.root_id)
        is_test = is_of_tests(root.subject)
        for fact in facts_of(run, self._spans(run)):
            if is_test:
                # It counts as no run, call or failure; what it spent is spent.
                fact = replace(fact, times=0, errors=0, milliseconds=0)  # noqa: PLW2901
            yield {
                **asdict(fact),
                "run_id": run.id,
                "flow": flow_of(root),
                "person": run.created_by,
                "is_root": run.parent_id is None,
            }

    def _spans(self, run: Run) -> list[Span]:
        """None where its journal is damaged: one run that cannot be read holds up no figures but its own."""
        try:
            entries = list(self._runs.journal.entries(run.scope, run.id))
            return list(spans_of(run, run.root_id, entries, self._runs.payload)) if entries else []
        except (StewardError, LookupError, ValueError):
            _log.warning("run.not_counted", run_id=run.id)
            return []


def flow_of(run: Run) -> str:
    """What the figures of a root run and of all below it are kept for: a playbook, else the program.

    Threads of a chat are one flow, and so are the sessions of programs outside.
    """
    return flow_name(run.subject, run.program)
