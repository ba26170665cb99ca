"""The overview as a document that changes while runs end: their facts are added up, it is not read again.

`look` finds what is new and may take its time; `apply` reduces it to changes of the document and is quick. The whole is
read again when an hour ends, because the period moves on by whole hours. Rankings hold many more names than anybody
shows; a name beyond them comes in when the whole is read again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.core import Clock
from steward.observe._tables import facts
from steward.observe.overview import (
    MOST_HOURS,
    Extent,
    Overview,
    OverviewFigures,
    Period,
    Standing,
    Visible,
    seen,
)
from steward.observe.patched_document import PatchedDocument
from steward.observe.period_sums import Totals
from steward.observe.projector import OVERLAP, Projector
from steward.runs import Status, runs_table
from steward.store import Database, Scope, Transaction

_FACTS: Final = facts.c
_RUNS: Final = runs_table.c
_HEAT: Final = ("tokens", "runs", "errors")
_SUMMED: Final = ("count", "errors", "nano_usd", "tokens", "milliseconds")
_KEPT: Final = 4 * OVERLAP
"""How long the ends of runs are known by name, so that none is added twice."""
_MOST_AT_ONCE: Final = 500
_RANKINGS: Final = ("flow", "model", "tool", "agent", "connector")
_EXTENT: Final = Extent(100, 200, with_healthy=True)
_DAY: Final = 24

Beside = Callable[[Sequence[str]], Mapping[str, Any]]
"""Further parts of the document from rooms above, such as titles of these flows."""


@dataclass(frozen=True)
class Look:
    """What one look found."""

    standing: Standing
    beside: Mapping[str, Any]
    is_complete: bool
    whole: OverviewFigures | None = None
    facts: tuple[Mapping[str, Any], ...] = ()
    ended: Mapping[str, datetime] = field(default_factory=dict)
    """Runs whose facts these are, or that the whole holds already."""


class LiveFigures:
    """Of one project over so many hours, as people with one sight see it. Looks come one after the other."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        projector: Projector,
        overview: Overview,
        scope: Scope,
        hours: int,
        visible: Visible,
        beside: Beside,
    ) -> None:
        self._database = database
        self._clock = clock
        self._projector = projector
        self._overview = overview
        self._scope = scope
        self._hours = hours
        self._visible = visible
        self._beside = beside
        # Microseconds since 1970: a document made later, here or elsewhere, has none of its numbers.
        self.document = PatchedDocument(round(clock.now().timestamp() * 1_000_000))
        self._period: Period | None = None
        self._ended: dict[str, datetime] = {}
        self._was_complete = False

    # In a thread

    def look(self) -> Look:
        is_complete = self._projector.catch_up(self._scope)
        now = self._clock.now()
        with self._database.snapshot(self._scope) as tx:
            # Runs that are counted late may have ended long ago: then all are read again, until none is missing.
            if not self._was_complete or self._period != Period.until(now, self._hours):
                figures = self._overview.read_within(
                    tx,
                    now,
                    self._hours,
                    self._visible,
                    is_complete=is_complete,
                    extent=_EXTENT,
                )
                flows = [each.flow for each in figures.heat] + [
                    each.name for each in figures.ranked if each.kind == "flow"
                ]
                ended = {row.id: row.ended_at for row in _ended(tx, now - _KEPT)}
                beside = self._beside(flows)
                return Look(figures.standing, beside, is_complete, figures, ended=ended)
            standing = self._overview.standing_within(tx, now, self._visible)
            known = max(self._ended.values(), default=now)
            fresh = {
                row.id: row.ended_at
                for row in _ended(tx, min(known, now) - OVERLAP)
                if row.id not in self._ended
            }
            found = _facts_of(tx, list(fresh), self._visible)
        flows = list({*self._shown_flows(), *(row["flow"] for row in found)})
        return Look(standing, self._beside(flows), is_complete, facts=tuple(found), ended=fresh)

    def _shown_flows(self) -> list[str]:
        document = self.document.document
        return [*document["heat"], *document["ranked"]["flow"]]

    # In the loop

    def apply(self, look: Look) -> None:
        self._was_complete = look.is_complete
        if look.whole is not None:
            self._period = look.whole.period
            self._ended = dict(look.ended)
            self.document.replace(_document(look.whole) | dict(look.beside))
            return
        for row in look.facts:
            self._reduce(row)
        self._ended |= look.ended
        if look.ended:
            oldest = max(self._ended.values()) - _KEPT
            self._ended = {key: end for key, end in self._ended.items() if end >= oldest}
        for name, value in (_standing(look.standing) | dict(look.beside)).items():
            if isinstance(value, Mapping) and name in self.document.document:
                for key, each in value.items():
                    self.document.put((name, key), each)
                for key in self.document.document[name].keys() - value.keys():
                    # Statuses that no run has any more count zero; what else is gone is null.
                    self.document.put((name, key), 0 if name == "live" else None)
            else:
                self.document.put((name,), value)
        self.document.put(("is_complete",), look.is_complete)

    def _reduce(self, row: Mapping[str, Any]) -> None:
        """Adds one fact to all figures that it belongs to."""
        period = self._period
        if period is None:
            return
        hour, kind, is_root = row["hour"], row["kind"], row["is_root"]
        for name, each in (("now", period), ("before", period.before)):
            if each.first <= hour < each.first + each.hours:
                self.document.add((name,), _totals_of(row))
        if not period.first <= hour < period.first + period.hours:
            return
        is_run = kind == "run"
        self._heat(period, row)
        self._rank("flow", row["flow"], row, counted=is_run)
        if kind in ("model", "tool"):
            self._rank(kind, row["name"], row, counted=True)
        self._rank("connector", row["connector"], row, counted=True)
        agent = row["name"] if kind == "agent" else row["agent"]
        self._rank("agent", agent, row, counted=kind == "agent")
        if is_run and is_root:
            self._count_failure(row)

    def _heat(self, period: Period, row: Mapping[str, Any]) -> None:
        path = ("heat", row["flow"])
        if not self._has_place(path, _EXTENT.flows):
            return
        if row["flow"] not in self.document.document["heat"]:
            self.document.put(path, {})
        is_run = row["kind"] == "run"
        cell = {
            "tokens": row["input_tokens"] + row["output_tokens"],
            "runs": row["times"] if is_run else 0,
            "errors": row["errors"] if is_run else 0,
        }
        self.document.add((*path, _bucket(period, row["hour"])), cell)

    def _rank(self, kind: str, name: str, row: Mapping[str, Any], *, counted: bool) -> None:
        if name and self._has_place(("ranked", kind, name), _EXTENT.names):
            self.document.add(("ranked", kind, name), _ranked_of(row, counted=counted))

    def _count_failure(self, row: Mapping[str, Any]) -> None:
        path = ("failing", row["flow"])
        if not self._has_place(path, _EXTENT.names):
            return
        if row["flow"] not in self.document.document["failing"]:
            self.document.put(path, {"failed": 0, "runs": 0, "last_run_id": ""})
        self.document.add(path, {"failed": row["errors"], "runs": row["times"]})
        if row["errors"]:
            latest = max(self.document.get((*path, "last_run_id")), row["run_id"])
            self.document.put((*path, "last_run_id"), latest)

    def _has_place(self, path: tuple[str, ...], most: int) -> bool:
        """Whether a name is in its ranking, or new there because nothing was left out."""
        *above, name = path
        inside = self.document.get(above)
        return name in inside or len(inside) < most


def _ended(tx: Transaction, since: datetime) -> Sequence[sa.Row[Any]]:
    """Runs that ended since and have facts."""
    wanted = sa.select(_RUNS.id, _RUNS.ended_at).where(
        _RUNS.ended_at >= since, _FACTS.run_id == _RUNS.id, _FACTS.kind == "run"
    )
    return tx.rows(wanted)


def _facts_of(tx: Transaction, run_ids: Sequence[str], visible: Visible) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for at in range(0, len(run_ids), _MOST_AT_ONCE):
        wanted = sa.select(facts).where(
            _FACTS.run_id.in_(run_ids[at : at + _MOST_AT_ONCE]), seen(_FACTS.flow, visible)
        )
        found += [dict(row._mapping) for row in tx.rows(wanted)]
    return found


def _totals_of(row: Mapping[str, Any]) -> dict[str, int]:
    is_run = row["kind"] == "run" and row["is_root"]
    return {
        "runs": row["times"] if is_run else 0,
        "failed": row["errors"] if is_run else 0,
        "cancelled": row["times"] if is_run and row["name"] == Status.cancelled.value else 0,
        "nano_usd": row["nano_usd"],
        "tokens": row["input_tokens"] + row["output_tokens"],
        "calls": row["times"] if row["kind"] == "tool" else 0,
        "milliseconds": row["milliseconds"] if is_run else 0,
    }


def _ranked_of(row: Mapping[str, Any], *, counted: bool) -> dict[str, int]:
    return {
        "count": row["times"] if counted else 0,
        "errors": row["errors"] if counted else 0,
        "nano_usd": row["nano_usd"],
        "tokens": row["input_tokens"] + row["output_tokens"],
        "milliseconds": row["milliseconds"] if counted else 0,
    }


def _document(found: OverviewFigures) -> dict[str, Any]:
    heat: dict[str, dict[str, Any]] = {}
    for cell in found.heat:
        row = heat.setdefault(cell.flow, {})
        into = row.setdefault(_bucket(found.period, cell.hour), dict.fromkeys(_HEAT, 0))
        for name in _HEAT:
            into[name] += getattr(cell, name)
    ranked: dict[str, dict[str, Any]] = {kind: {} for kind in _RANKINGS}
    for each in found.ranked:
        ranked[each.kind][each.name] = {name: getattr(each, name) for name in _SUMMED}
    return {
        "first_hour": found.period.first,
        "hours": found.period.hours,
        "now": _sums(found.now),
        "before": _sums(found.before),
        "heat": heat,
        "ranked": ranked,
        "failing": {
            each.flow: {
                "failed": each.failed,
                "runs": each.runs,
                "last_run_id": each.last_run_id,
            }
            for each in found.failing
        },
        "is_complete": found.is_complete,
        **_standing(found.standing),
    }


def _bucket(period: Period, hour: int) -> str:
    """Which part of the period an hour is in."""
    return str((hour - period.first) // (_DAY if period.hours > MOST_HOURS else 1))


def _sums(totals: Totals) -> dict[str, int]:
    return {each.name: getattr(totals, each.name) for each in fields(totals)}


def _standing(found: Standing) -> dict[str, Any]:
    return {
        "live": found.live,
        "live_nano_usd": found.live_nano_usd,
        "today_nano_usd": found.today_nano_usd,
        "approvals": {"waiting": found.approvals, "oldest_at": _iso(found.oldest_approval_at)},
        "queue": {"oldest_at": _iso(found.oldest_queued_at), "workers": found.workers},
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()
