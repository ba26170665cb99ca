"""Approvals that flows ask for by a step of their own: they are in the waits of their runs, not among approvals of calls."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from steward.runs import Kind, Status, journal_table, runs_table
from steward.store import Transaction

_RUNS: Final = runs_table.c
_ROOT: Final = runs_table.alias("root").c
_JOURNAL: Final = journal_table.c
_MOST: Final = 1_000
_LAST: Final = 1_000
"""Entries of a run in which a wait is looked for; what waits for longer counts from when its run began."""
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
    asked = _asked(tx, [row.id for row, *_ in gates])
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


def _asked(tx: Transaction, run_ids: list[str]) -> dict[tuple[str, str], datetime]:
    """When waits of these runs were opened, as far as their last entries say."""
    if not run_ids:
        return {}
    wanted = sa.select(_JOURNAL.run_id, _JOURNAL.key, _JOURNAL.body).where(
        _JOURNAL.run_id.in_(run_ids),
        _JOURNAL.run_id == _RUNS.id,
        _JOURNAL.seq > _RUNS.head_seq - _LAST,
        _JOURNAL.kind == Kind.opened.value,
    )
    rows = tx.rows(wanted.order_by(_JOURNAL.run_id, _JOURNAL.seq))
    return {
        (row.run_id, row.key): datetime.fromisoformat(json.loads(row.body)["at"]) for row in rows
    }
