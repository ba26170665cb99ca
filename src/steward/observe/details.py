"""What one flow or one connector did lately: day by day, by version, how it failed, and whether a service is away."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeVar

import sqlalchemy as sa

from steward.observe._tables import abouts, facts, rollups
from steward.observe.facts import minute_of
from steward.observe.outages import Outage, Outages
from steward.observe.overview import Visible, seen
from steward.observe.projector import Projector
from steward.observe.rollups import DAY, JOINED
from steward.runs import Kind, Runs, Status, journal_table, runs_table
from steward.store import Database, Scope, Transaction

Detailed = Literal["flow", "connector"]
_C: Final = rollups.c
_A: Final = abouts.c
_FACTS: Final = facts.c
_RUNS: Final = runs_table.c
_LATEST: Final = 200
_PLAYBOOK: Final = "playbook:"


@dataclass(frozen=True)
class Sums:
    """Runs of a flow or calls of a connector, and what they cost."""

    count: int = 0
    errors: int = 0
    milliseconds: int = 0
    """Of all that is counted, added up."""
    tokens: int = 0
    nano_usd: int = 0
    changes: int = 0
    """Calls that changed something and can be undone."""

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(*(getattr(self, name) + getattr(other, name) for name in _SUMMED))


_SUMMED: Final = tuple(Sums.__dataclass_fields__)


@dataclass(frozen=True)
class Failure:
    """One way to fail."""

    where: str
    """The tool or model that failed; empty for whole runs."""
    code: str
    times: int
    last_run_id: str
    """The latest run that failed so; empty where only calls did."""


@dataclass(frozen=True)
class Part:
    """A tool, model or agent that a flow used, or a flow that used a connector."""

    kind: str
    name: str
    sums: Sums


@dataclass(frozen=True)
class Latest:
    """The latest ended runs of a flow, at most 200 of them."""

    runs: int = 0
    median_ms: int | None = None
    slow_ms: int | None = None
    """Nineteen of twenty were faster."""
    changes: int = 0
    undone: int = 0
    """Of the changes, those that are undone now."""


@dataclass(frozen=True)
class Detail:
    kind: Detailed
    name: str
    first: int
    """The first day, since 1970."""
    total: Sums
    days: dict[int, Sums]
    versions: dict[int, Sums]
    """Of a flow, by revision of its playbook; 0 for none."""
    parts: list[Part]
    failures: list[Failure]
    outages: list[Outage]
    latest: Latest
    is_complete: bool


class Details:
    def __init__(self, database: Database, projector: Projector, runs: Runs) -> None:
        self._database = database
        self._runs = runs
        self._projector = projector

    def detail(
        self,
        scope: Scope,
        now: datetime,
        days: int,
        kind: Detailed,
        name: str,
        visible: Visible = None,
    ) -> Detail:
        """Of the last so many days (UTC), today included; of runs that somebody may see."""
        is_complete = self._projector.catch_up(scope)
        today = minute_of(now) // DAY
        first = today - days + 1
        wanted = (
            sa.select(
                *(_C[each] for each in ("at", "times", "errors", "changes", "nano_usd")),
                *(_C[each] for each in ("input_tokens", "output_tokens", "milliseconds")),
                _C.last_failed,
                *(_A[each] for each in ("kind", "name", "agent", "code", "connector", "flow")),
                _A.revision,
                _A.is_root,
            )
            .where(_C.grain == DAY, _C.at.between(first, today), JOINED)
            .where(_A[kind] == name, seen(_A.flow, visible))
        )
        with self._database.read(scope) as tx:
            rows = tx.rows(wanted)
            latest = _latest(tx, name, visible) if kind == "flow" else Latest()
        used = {name} if kind == "connector" else {row.connector for row in rows} - {""}
        outages = Outages(self._database, self._runs, scope, visible).of(sorted(used), now)
        read = _Read(kind, rows)
        return Detail(
            kind,
            name,
            first,
            read.by(lambda _: "all").get("all", Sums()),
            read.by(lambda row: int(row.at)),
            read.by(lambda row: int(row.revision)) if kind == "flow" else {},
            read.parts(),
            read.failures(),
            outages,
            latest,
            is_complete,
        )


_Key = TypeVar("_Key")


class _Read:
    def __init__(self, kind: Detailed, rows: Sequence[sa.Row[Any]]) -> None:
        self._kind = kind
        self._rows = rows

    def by(self, key: Callable[[sa.Row[Any]], _Key]) -> dict[_Key, Sums]:
        """Sums; what a flow's runs asked and called counts in money, only they themselves as runs."""
        found: defaultdict[_Key, Sums] = defaultdict(Sums)
        for row in self._rows:
            counted = self._kind == "connector" or (row.kind == "run" and row.is_root)
            sums = _sums(row)
            found[key(row)] += sums if counted else replace(sums, count=0, errors=0, milliseconds=0)
        return dict(found)

    def parts(self) -> list[Part]:
        found: defaultdict[tuple[str, str], Sums] = defaultdict(Sums)
        for row in self._rows:
            if self._kind == "connector":
                found["flow", row.flow] += _sums(row)
                found["tool", row.name] += _sums(row)
            elif row.kind != "run":
                found[row.kind, row.name] += _sums(row)
                if row.agent:
                    # What an agent asked and called is spent by it, and counts as none of its steps.
                    spent = replace(_sums(row), count=0, errors=0, milliseconds=0)
                    found["agent", row.agent] += spent
        every = [Part(kind, name, sums) for (kind, name), sums in found.items()]
        return sorted(every, key=lambda each: (each.kind, -each.sums.count, each.name))

    def failures(self) -> list[Failure]:
        found: dict[tuple[str, str], Failure] = {}
        for row in self._rows:
            if not row.errors or (row.kind == "run" and not row.is_root) or row.kind == "agent":
                continue
            where = "" if row.kind == "run" else row.name
            known = found.get((where, row.code)) or Failure(where, row.code, 0, "")
            last = max(known.last_run_id, row.last_failed)
            found[where, row.code] = replace(
                known, times=known.times + int(row.errors), last_run_id=last
            )
        # How runs failed comes before how calls did.
        return sorted(found.values(), key=lambda each: (each.where != "", -each.times, each.code))


def _sums(row: sa.Row[Any]) -> Sums:
    return Sums(
        int(row.times),
        int(row.errors),
        int(row.milliseconds),
        int(row.input_tokens + row.output_tokens),
        int(row.nano_usd),
        int(row.changes),
    )


def _latest(tx: Transaction, flow: str, visible: Visible) -> Latest:
    own = (
        _RUNS.subject == flow
        if flow.startswith(_PLAYBOOK)
        else sa.and_(
            _RUNS.program == flow,
            sa.or_(_RUNS.subject.is_(None), _RUNS.subject.not_like(f"{_PLAYBOOK}%")),
        )
    )
    runs = tx.rows(
        sa.select(_RUNS.id, _RUNS.status, _RUNS.started_at, _RUNS.ended_at)
        .where(own, seen(_RUNS.subject, visible))
        .where(_RUNS.parent_id.is_(None), _RUNS.ended_at.is_not(None))
        .order_by(_RUNS.ended_at.desc())
        .limit(_LATEST)
    )
    took = sorted(
        (row.ended_at - row.started_at) // timedelta(milliseconds=1)
        for row in runs
        if row.started_at is not None and row.status == Status.done.value
    )
    changed, undone = undone_in(tx, _RUNS.root_id.in_([row.id for row in runs]))
    return Latest(
        len(runs),
        took[len(took) // 2] if took else None,
        took[min(len(took) * 19 // 20, len(took) - 1)] if took else None,
        changed,
        undone,
    )


def undone_in(tx: Transaction, which: sa.ColumnElement[bool]) -> tuple[int, int]:
    """How many calls of these runs changed something, and how many of those are undone now."""
    changed = tx.first(
        sa.select(sa.func.coalesce(sa.func.sum(_FACTS.changes), 0).label("changes")).where(
            _FACTS.run_id == _RUNS.id, which
        )
    )
    entries = journal_table.c
    turned = tx.rows(
        sa.select(entries.run_id, entries.key, entries.kind)
        .where(
            entries.run_id == _RUNS.id,
            which,
            entries.kind.in_([Kind.undone.value, Kind.redone.value]),
        )
        .order_by(entries.run_id, entries.seq)
    )
    state = {(row.run_id, row.key): row.kind == Kind.undone.value for row in turned}
    return int(changed.changes) if changed else 0, sum(state.values())
