"""Services outside that do not answer now: since when, and which runs failed meanwhile."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.observe._tables import abouts, facts, rollups
from steward.observe.facts import minute_of
from steward.observe.overview import Visible, seen
from steward.observe.rollups import HOUR, JOINED, MINUTE
from steward.runs import Status, runs_table
from steward.store import Transaction

_C: Final = rollups.c
_A: Final = abouts.c
_RUNS: Final = runs_table.c
_LOOK_BACK: Final = 2 * 24 * HOUR
"""Minutes."""
_MOST_RUNS: Final = 1_000
_AWAY: Final = re.compile(r"http-(5\d\d|408|429|timeout|no-connection)|unavailable")
"""How calls fail where a service is away, overloaded or broken; other refusals are answers."""


@dataclass(frozen=True)
class Outage:
    connector: str
    code: str
    """How the latest call failed."""
    since: datetime
    """The minute of the first call that failed so, with none between that was answered."""
    calls: int
    failed_runs: int
    """Runs that a person or a trigger started and that failed since, after a call that failed so."""
    last_run_id: str
    """The latest of them; empty for none."""


class Outages:
    def __init__(self, tx: Transaction, visible: Visible) -> None:
        self._tx = tx
        self._visible = visible

    def of(self, connectors: Sequence[str], now: datetime) -> list[Outage]:
        """Those of the connectors whose latest calls all failed because the service is away, the longest first."""
        if not connectors:
            return []
        found: dict[str, list[sa.Row[Any]]] = {}
        for row in self._minutes(connectors, now):
            kept = found.setdefault(row.connector, [])
            if _AWAY.fullmatch(row.code):
                kept.append(row)
            else:
                # It answered, if only in the same minute.
                kept.clear()
        away = [self._outage(name, rows) for name, rows in found.items() if rows]
        return sorted(away, key=lambda each: each.since)

    def _minutes(self, connectors: Sequence[str], now: datetime) -> Sequence[sa.Row[Any]]:
        """Calls that somebody may see, by minute; of one minute, those to which a service did not answer come first."""
        wanted = (
            sa.select(_C.at, _A.connector, _A.code, sa.func.sum(_C.times).label("times"))
            .where(_C.grain == MINUTE, _C.at >= minute_of(now) - _LOOK_BACK, JOINED)
            .where(_A.connector.in_(connectors), _C.times > 0, seen(_A.flow, self._visible))
            .group_by(_C.at, _A.connector, _A.code)
        )
        rows = self._tx.rows(wanted)
        return sorted(rows, key=lambda row: (row.at, not _AWAY.fullmatch(row.code)))

    def _outage(self, connector: str, rows: list[sa.Row[Any]]) -> Outage:
        since = datetime.fromtimestamp(rows[0].at * 60, UTC)
        roots = self._tx.rows(
            sa.select(_RUNS.root_id)
            .where(
                facts.c.run_id == _RUNS.id,
                facts.c.connector == connector,
                facts.c.errors > 0,
                facts.c.hour >= rows[0].at // HOUR,
                seen(facts.c.flow, self._visible),
            )
            .distinct()
            .limit(_MOST_RUNS)
        )
        failed = self._tx.first(
            sa.select(
                sa.func.count().label("times"), sa.func.max(_RUNS.id).label("last_run_id")
            ).where(
                _RUNS.id.in_([row.root_id for row in roots]),
                _RUNS.status == Status.failed.value,
                _RUNS.ended_at >= since,
            )
        )
        return Outage(
            connector,
            rows[-1].code,
            since,
            sum(int(row.times) for row in rows),
            int(failed.times) if failed else 0,
            (failed.last_run_id or "") if failed else "",
        )
