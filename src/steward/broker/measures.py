"""Measures of how work under the broker goes: what completes, how fast people decide, how well undo works."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from steward.broker import _tables as tables
from steward.broker.approvals import State
from steward.broker.grants import DIRECT_PROGRAM
from steward.core import TYPE_PREFIX
from steward.runs import Status, runs_table
from steward.store import Database, Scope, events

_LATEST = 1000
_UNDO = (f"{TYPE_PREFIX}run.undo_done", f"{TYPE_PREFIX}run.undo_failed")


@dataclass(frozen=True)
class Measured:
    """Rates are between 0 and 1; None where there is nothing to count yet."""

    since: datetime
    runs: dict[str, int]
    completion_rate: float | None
    error_rate: float | None
    approvals: dict[str, int]
    approval_latency_s: dict[str, float] | None
    approved_unchanged_rate: float | None
    """Requests that people let through as they were: how often the guard stopped something harmless."""
    undo_success_rate: float | None
    revert_latency_ms: dict[str, float] | None


class Measures:
    def __init__(self, database: Database) -> None:
        self._database = database

    def since(self, scope: Scope, since: datetime) -> Measured:
        with self._database.read(scope) as tx:
            by_status = {
                row.status: row.number
                for row in tx.rows(
                    sa.select(runs_table.c.status, sa.func.count().label("number"))
                    # What people do by hand says nothing of how well flows and agents work.
                    .where(runs_table.c.created_at >= since, runs_table.c.program != DIRECT_PROGRAM)
                    .group_by(runs_table.c.status)
                )
            }
            columns = tables.approvals.c
            decided = tx.rows(
                sa.select(
                    columns.status, columns.requested_at, columns.decided_at, columns.asked_body
                )
                .where(columns.requested_at >= since)
                .order_by(columns.id.desc())
                .limit(_LATEST)
            )
            undone = tx.rows(
                sa.select(events.c.type, events.c.data)
                .where(events.c.type.in_(_UNDO), events.c.time >= since)
                .order_by(events.c.cursor.desc())
                .limit(_LATEST)
            )
        return _measured(since, by_status, decided, undone)


def _measured(
    since: datetime,
    by_status: dict[str, int],
    decided: Sequence[sa.Row[Any]],
    undone: Sequence[sa.Row[Any]],
) -> Measured:
    over = sum(by_status.get(status.value, 0) for status in Status if status.is_final)
    states: dict[str, int] = {}
    for row in decided:
        states[row.status] = states.get(row.status, 0) + 1
    answered = [row for row in decided if row.decided_at is not None]
    let_through = [
        row
        for row in answered
        if row.status in {State.approved.value, State.used.value} and row.asked_body is None
    ]
    worked = [row for row in undone if row.type == _UNDO[0]]
    return Measured(
        since=since,
        runs=by_status,
        completion_rate=_rate(by_status.get(Status.done.value, 0), over),
        error_rate=_rate(by_status.get(Status.failed.value, 0), over),
        approvals=states,
        approval_latency_s=_spread(
            [(row.decided_at - row.requested_at).total_seconds() for row in answered]
        ),
        approved_unchanged_rate=_rate(len(let_through), len(answered)),
        undo_success_rate=_rate(len(worked), len(undone)),
        revert_latency_ms=_spread([float(row.data["milliseconds"]) for row in worked]),
    )


def _rate(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _spread(values: list[float]) -> dict[str, float] | None:
    if not values:
        return None
    ordered = sorted(values)
    return {
        "median": round(ordered[len(ordered) // 2], 3),
        "p90": round(ordered[min(len(ordered) - 1, len(ordered) * 9 // 10)], 3),
        "most": round(ordered[-1], 3),
    }
