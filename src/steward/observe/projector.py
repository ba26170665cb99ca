"""Makes facts from the journals of ended runs: those that are missing, or all of them again."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final, Literal

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects import postgresql, sqlite

from steward.core import StewardError
from steward.observe._tables import (
    abouts,
    ended_hours,
    facts,
    outputs,
    people,
    projected,
    rollups,
)
from steward.observe.ended_hours import add_ended
from steward.observe.facts import Fact, facts_of, hour_of, hourly_facts
from steward.observe.rollups import SUMS, Rollups
from steward.observe.run_outputs import Measures, RunOutputs, measures_of
from steward.observe.spans import spans_of
from steward.runs import Entry, Run, Runs, Status, flow_name, is_of_tests, runs_table
from steward.store import Database, Scope
from steward.trace import Span

_log = structlog.get_logger("steward.observe")
_RUNS: Final = runs_table.c
_FINAL: Final = [status.value for status in Status if status.is_final]
OVERLAP: Final = timedelta(minutes=2)
"""Machines' clocks differ, and a run's end may become visible after the end of a later one."""
_MOST_AT_ONCE: Final = 200
_PAGE: Final = 500


class Projector:
    """Keeps the facts of a project up to its journals. Whoever reads figures calls `catch_up` first."""

    def __init__(
        self, database: Database, runs: Runs, sums: Rollups, run_outputs: RunOutputs
    ) -> None:
        self._database = database
        self._runs = runs
        self.sums = sums
        self.run_outputs = run_outputs
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
            for table in (facts, rollups, people, abouts, ended_hours, outputs):
                tx.execute(sa.delete(table))
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
            # The first part alone says where an index begins; without it all runs are read up to there.
            since = sa.and_(
                _RUNS.ended_at >= last.ended_at,
                sa.or_(_RUNS.ended_at > last.ended_at, _RUNS.id > last.id),
            )
        return found[:_MOST_AT_ONCE]

    def _add(self, scope: Scope, run_ids: Sequence[str]) -> None:
        if not run_ids:
            return
        runs = self._runs.records.these(scope, run_ids)
        above = {run.root_id for run in runs.values()} - runs.keys()
        roots = runs | (self._runs.records.these(scope, above) if above else {})
        counted = [self._counted(runs[run_id], roots[runs[run_id].root_id]) for run_id in run_ids]
        with self._database.write(scope) as tx:
            insert = postgresql.insert if tx.dialect == "postgresql" else sqlite.insert
            # Two readers may count the same run at once. Whoever stores how it ended adds it to the sums.
            ends = insert(facts).on_conflict_do_nothing().returning(facts.c.run_id)
            first = {
                row.run_id for row in tx.execute(ends, [_end(each.hourly) for each in counted])
            }
            fresh = [each for each in counted if each.run.id in first]
            rest = [row for each in fresh for row in each.hourly if row["kind"] != "run"]
            if rest:
                tx.execute(sa.insert(facts), rest)
            self.sums.add(tx, (row for each in fresh for row in each.by_minute))
            add_ended(tx, ((hour_of(each.ended_at), each.hourly) for each in fresh))
            self.run_outputs.add(
                tx,
                (
                    (each.run.id, flow_of(each.run), hour_of(each.ended_at), each.measures)
                    for each in fresh
                ),
            )
            newest = insert(projected).values(until=max(each.ended_at for each in counted))
            tx.execute(
                newest.on_conflict_do_update(
                    index_elements=[projected.c.project_id], set_={"until": newest.excluded.until}
                )
            )

    def _counted(self, run: Run, root: Run) -> "_Counted":
        try:
            entries = list(self._runs.journal.entries(run.scope, run.id))
            found = facts_of(run, self._spans(run, entries))
            revision = self._revision(root, entries if root is run else ())
            measures = measures_of(entries, self._runs.payload) if _gives_output(run) else {}
        except (StewardError, LookupError, ValueError, TypeError):
            # One run that cannot be read holds up no figures but its own.
            _log.warning("run.not_counted", run_id=run.id)
            found, revision, measures = facts_of(run, ()), 0, {}
        about = {
            "run_id": run.id,
            "flow": flow_of(root),
            "revision": revision,
            "person": run.created_by,
            "is_root": run.parent_id is None,
        }
        if is_of_tests(root.subject):
            # It counts as no run, call or failure; what it spent is spent.
            found = [
                replace(fact, times=0, errors=0, changes=0, milliseconds=0, judged=0, adhered=0)
                for fact in found
            ]
        hourly = fact_rows(hourly_facts(found), about, "hour")
        return _Counted(run, fact_rows(found, about, "minute"), hourly, measures)

    def _revision(self, root: Run, entries: Sequence[Entry]) -> int:
        """Which revision of a playbook a run follows; 0 for none."""
        first = entries or self._runs.journal.page(root.scope, root.id, 0, 1)
        grant = first[0].data["request"].get("grant") if first else None
        revision = grant.get("revision") if isinstance(grant, Mapping) else None
        return revision if isinstance(revision, int) else 0

    def _spans(self, run: Run, entries: Sequence[Entry]) -> list[Span]:
        return list(spans_of(run, run.root_id, entries, self._runs.payload)) if entries else []


@dataclass(frozen=True)
class _Counted:
    """One run with its facts, as rows."""

    run: Run
    by_minute: list[dict[str, Any]]
    hourly: list[dict[str, Any]]
    measures: Measures

    @property
    def ended_at(self) -> datetime:
        return self.run.ended_at or self.run.created_at


def fact_rows(
    found: Iterable[Fact], about: Mapping[str, Any], time: Literal["minute", "hour"]
) -> list[dict[str, Any]]:
    """Facts as rows of the table, or as what is added up; `about` says what the run is and belongs to."""
    names = (time, "kind", "name", "agent", "code", "connector", *SUMS)
    return [{**{name: getattr(fact, name) for name in names}, **about} for fact in found]


def _end(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The one fact about how a run ended."""
    [found] = [row for row in rows if row["kind"] == "run"]
    return found


def _gives_output(run: Run) -> bool:
    """Whether outputs are compared with those of earlier runs: of playbooks, not of chats, single calls and tests."""
    is_playbook = run.subject is not None and run.subject.startswith("playbook:")
    return run.parent_id is None and is_playbook and not is_of_tests(run.subject)


def flow_of(run: Run) -> str:
    """What the figures of a root run and of all below it are kept for: a playbook, else the program.

    Threads of a chat are one flow, and so are the sessions of programs outside.
    """
    return flow_name(run.subject, run.program)
