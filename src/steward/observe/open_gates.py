"""Approvals that flows ask for by a step of their own: they are in the waits of their runs, not among approvals of calls."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from steward.runs import Status, runs_table, waits_opened
from steward.store import Transaction

_RUNS: Final = runs_table.c
_ROOT: Final = runs_table.alias("root").c
_MOST: Final = 1_000
_GATE: Final = "approval"


@dataclass(frozen=True)
class OpenGate:
    subject: str | None
    """Of the run that a person or a trigger started."""
    program: str
    asked_at: datetime
    expires_at: datetime


def open_gates(tx: Transaction, now: datetime) -> list[OpenGate]:
    """Those that wait for somebody now; of very many the newest."""
    stopped = [Status.waiting_for_approval.value, Status.reviewing.value, Status.blocked.value]
    wanted = sa.select(
        _RUNS.id, _RUNS.created_at, _RUNS.started_at, _RUNS.waits, _ROOT.subject, _ROOT.program
    ).where(
        _RUNS.ended_at.is_(None),
        _RUNS.status.in_(stopped),
        _RUNS.waits.is_not(None),
        _ROOT.id == _RUNS.root_id,
    )
    rows = tx.rows(wanted.order_by(_RUNS.id.desc()).limit(_MOST))
    gates = [(row, *gate) for row in rows for gate in _gates(row.waits, now)]
    asked = waits_opened(tx, [row.id for row, *_ in gates])
    return [
        OpenGate(
            row.subject,
            row.program,
            asked.get((row.id, key), row.started_at or row.created_at),
            until,
        )
        for row, key, until in gates
    ]


def _gates(waits: list[dict[str, object]] | None, now: datetime) -> Iterator[tuple[str, datetime]]:
    """Keys of gates, and until when each waits."""
    for wait in waits or ():
        request, until = wait.get("request"), wait.get("expires_at")
        if wait["kind"] != _GATE or not isinstance(request, dict) or "approval_id" in request:
            continue
        expires = (
            datetime.fromisoformat(str(until)) if until else datetime.max.replace(tzinfo=now.tzinfo)
        )
        if expires > now:
            yield str(wait["key"]), expires
