"""Services outside that do not answer now: since when, and which runs failed meanwhile."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from steward.core import StewardError
from steward.observe._tables import abouts, facts, rollups
from steward.observe.facts import is_shared, minute_of
from steward.observe.overview import Visible, seen
from steward.observe.rollups import HOUR, JOINED, MINUTE
from steward.observe.spans import spans_of
from steward.runs import Runs, Status, runs_table
from steward.store import Database, Scope
from steward.trace import genai

_C: Final = rollups.c
_A: Final = abouts.c
_RUNS: Final = runs_table.c
_LOOK_BACK: Final = 2 * 24 * HOUR
"""Minutes."""
_MOST_RUNS: Final = 1_000
_MOST_READ: Final = 200
"""Journals that are read to find a moment within a minute."""
_AWAY: Final = re.compile(r"http-(5\d\d|408|429|timeout|no-connection)|unavailable")
"""How calls fail where a service is away, overloaded or broken; other refusals are answers."""


@dataclass(frozen=True)
class Outage:
    connector: str
    code: str
    """How the latest call failed."""
    since: datetime
    """The end of the first call that failed so, with none between that was answered."""
    calls: int
    failed_runs: int
    """Runs that a person or a trigger started and that failed since, after a call that failed so."""
    last_run_id: str
    """The latest of them; empty for none."""


class Outages:
    def __init__(self, database: Database, runs: Runs, scope: Scope, visible: Visible) -> None:
        self._database = database
        self._runs = runs
        self._scope = scope
        self._visible = visible

    def of(self, connectors: Sequence[str], now: datetime) -> list[Outage]:
        """Those of the connectors whose latest calls all failed because the service is away, the longest first."""
        if not connectors:
            return []
        found: dict[str, list[sa.Row[Any]]] = {}
        for row in self._minutes(connectors, now):
            found.setdefault(row.connector, []).append(row)
        every = (self._outage(name, rows) for name, rows in found.items())
        return sorted((each for each in every if each), key=lambda each: each.since)

    def _minutes(self, connectors: Sequence[str], now: datetime) -> Sequence[sa.Row[Any]]:
        """Calls that somebody may see, by minute."""
        wanted = (
            sa.select(_C.at, _A.connector, _A.code, sa.func.sum(_C.times).label("times"))
            .where(_C.grain == MINUTE, _C.at >= minute_of(now) - _LOOK_BACK, JOINED)
            .where(_A.connector.in_(connectors), _C.times > 0, seen(_A.flow, self._visible))
            .group_by(_C.at, _A.connector, _A.code)
            .order_by(_C.at)
        )
        with self._database.read(self._scope) as tx:
            return tx.rows(wanted)

    def _outage(self, connector: str, rows: list[sa.Row[Any]]) -> Outage | None:
        answered = max((row.at for row in rows if not _is_away(row.code)), default=-1)
        after = [row for row in rows if row.at > answered]
        first: list[_Call] = []
        if any(row.at == answered and _is_away(row.code) for row in rows):
            # It answered and failed in one minute. Failures after its last answer belong to the outage.
            calls = self._calls(connector, answered)
            last = max((at for at, call in enumerate(calls) if not _is_away(call.code)), default=-1)
            first = calls[last + 1 :]
        count = len(first) + sum(int(row.times) for row in after)
        if not count:
            return None
        code = after[-1].code if after else first[-1].code
        if not first:
            first = self._calls(connector, after[0].at)
        # Journals may be gone, or too many to be read: then it is the minute.
        since = first[0].at if first else datetime.fromtimestamp(after[0].at * 60, UTC)
        failed, last_run_id = self._failed(connector, since)
        return Outage(connector, code, since, count, failed, last_run_id)

    def _calls(self, connector: str, minute: int) -> list["_Call"]:
        """What the journals tell about the calls of one minute, in order; nothing if there are too many of them."""
        begin = datetime.fromtimestamp(minute * 60, UTC)
        wanted = sa.select(_RUNS.id).where(
            facts.c.run_id == _RUNS.id,
            facts.c.connector == connector,
            facts.c.hour == minute // HOUR,
            _RUNS.created_at < begin + timedelta(minutes=1),
            _RUNS.ended_at >= begin,
            seen(facts.c.flow, self._visible),
        )
        with self._database.read(self._scope) as tx:
            ids = [row.id for row in tx.rows(wanted.distinct().limit(_MOST_READ + 1))]
        if len(ids) > _MOST_READ:
            return []
        every = (call for run_id in ids for call in self._calls_of(run_id, connector))
        within = [call for call in every if minute_of(call.at) == minute]
        # An answer at the same moment as a failure counts as the later of both.
        return sorted(within, key=lambda call: (call.at, not _is_away(call.code)))

    def _calls_of(self, run_id: str, connector: str) -> Iterator["_Call"]:
        [run] = self._runs.records.these(self._scope, [run_id]).values()
        try:
            entries = list(self._runs.journal.entries(self._scope, run_id))
            spans = list(spans_of(run, run.root_id, entries, self._runs.payload))
        except (StewardError, LookupError, ValueError, TypeError):
            # Figures leave out a journal that cannot be read, too.
            return
        for span in spans:
            is_call = span.attributes.get(genai.OPERATION) == genai.EXECUTE_TOOL
            is_asked = is_call and span.attributes.get(genai.CONNECTION) == connector
            if is_asked and not is_shared(run, span):
                yield _Call(span.end, span.error or "")

    def _failed(self, connector: str, since: datetime) -> tuple[int, str]:
        """How many runs failed since, after a call that failed, and the latest of them."""
        with self._database.read(self._scope) as tx:
            roots = tx.rows(
                sa.select(_RUNS.root_id)
                .where(
                    facts.c.run_id == _RUNS.id,
                    facts.c.connector == connector,
                    facts.c.errors > 0,
                    facts.c.hour >= minute_of(since) // HOUR,
                    seen(facts.c.flow, self._visible),
                )
                .distinct()
                .limit(_MOST_RUNS)
            )
            [failed] = tx.rows(
                sa.select(
                    sa.func.count().label("times"), sa.func.max(_RUNS.id).label("last_run_id")
                ).where(
                    _RUNS.id.in_([row.root_id for row in roots]),
                    _RUNS.status == Status.failed.value,
                    _RUNS.ended_at >= since,
                )
            )
        return int(failed.times), failed.last_run_id or ""


@dataclass(frozen=True)
class _Call:
    at: datetime
    """When it ended."""
    code: str
    """How it failed; empty where it was answered."""


def _is_away(code: str) -> bool:
    return _AWAY.fullmatch(code) is not None
