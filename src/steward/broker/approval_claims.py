"""What the approvals of a run say, as it is signed with the run's heads and compared when the run is verified."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from steward.broker import _tables as tables
from steward.runs import Json, digest
from steward.store import Prepared, Transaction

_COVERED: Final = (
    *("id", "run_id", "wait_key", "tool", "title", "risk", "body", "body_hash", "asked_body"),
    *("preview", "provenance", "rules", "approvers", "reason", "extent", "batch", "status"),
    *("requested_by", "requested_at", "expires_at", "delegated_to", "decided_by", "decided_at"),
    *("decision_reason", "used_by"),
)
"""Columns under the signature, left out where they are NULL."""
_ADDED: Final = ("four_eyes", "askers", "edited_by", "policy", "delegated_by", "decided_token")
"""Columns that came later, left out where they are empty: what was signed before stays true."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_OF_RUNS = Prepared(
    sa.select(tables.approvals)
    .where(tables.approvals.c.run_id.in_(sa.bindparam("runs", expanding=True)))
    .order_by(tables.approvals.c.id)
)


def approval_claims(tx: Transaction, run_ids: Sequence[str]) -> Mapping[str, list[Json]]:
    """The claims of these runs' approvals, by run."""
    found: dict[str, list[Json]] = defaultdict(list)
    for row in tx.rows(_OF_RUNS, {"runs": list(run_ids)}):
        found[row.run_id].append(approval_claim(row._asdict()))
    return found


def approval_claim(row: Mapping[str, Any]) -> dict[str, Any]:
    """One row, from the database or from a backup."""
    covered = {name: _plain(row[name]) for name in _COVERED if row.get(name) is not None}
    covered |= {name: row[name] for name in _ADDED if row.get(name)}
    return {
        "id": row["id"],
        "key": row["wait_key"],
        "status": row["status"],
        "by": row["decided_by"],
        "body_hash": row["body_hash"],
        "body": digest(row["body"]),
        "digest": digest(covered),
    }


def _plain(value: Any) -> Json:
    return (value - _EPOCH) // _MICROSECOND if isinstance(value, datetime) else value
