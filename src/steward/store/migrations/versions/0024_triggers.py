"""Triggers of playbooks with their events; schedules that playbooks had become triggers of this kind."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, optional, required, scope_columns

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    subscriptions = op.create_table(
        "trigger_subscriptions",
        id_column(primary_key=True),
        *required(sa.String(40), "org_id", "project_id", "playbook_id", "name", "type"),
        sa.Column("revision", sa.Integer, nullable=False),
        *required(Json, "settings", "request"),
        sa.Column("author", sa.String(40), nullable=False),
        *required(sa.Integer, "armed", "enabled", "address"),
        sa.Column("cursor", Json),
        sa.Column("next_at", sa.BigInteger),
        sa.Column("epoch", sa.BigInteger, nullable=False),
        sa.Column("holder", sa.String(80)),
        sa.Column("lease_until", sa.BigInteger),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("failing_since", sa.BigInteger),
        sa.Column("failing_why", sa.String(400)),
        *optional(sa.BigInteger, "last_at", "silent_since"),
        *required(sa.BigInteger, "duplicates", "created_at", "updated_at"),
        sa.UniqueConstraint("playbook_id", "name"),
    )
    for column in ("project_id", "next_at"):
        name = f"ix_trigger_subscriptions_{column}"
        op.create_index(name, "trigger_subscriptions", [column], unique=False)
    op.create_table(
        "trigger_events",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column(
            "trigger_id", sa.String(40), sa.ForeignKey("trigger_subscriptions.id"), nullable=False
        ),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("reason", sa.String(400)),
        sa.Column("same", sa.String(64)),
        sa.Column("order_key", sa.String(200)),
        sa.Column("document", Json, nullable=False),
        sa.Column("inputs", Json),
        sa.Column("revision", sa.Integer),
        sa.Column("replay_of", sa.String(40)),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("run_id", sa.String(40)),
        *required(sa.BigInteger, "received_at", "due_at"),
        *optional(sa.BigInteger, "started_at", "ended_at"),
    )
    for columns in (["trigger_id", "state", "due_at"], ["trigger_id", "same"], ["state", "due_at"]):
        name = f"ix_trigger_events_{'_'.join(columns)}"
        op.create_index(name, "trigger_events", columns, unique=False)
    op.add_column("schedules", sa.Column("asked", Json))
    _take_over_schedules(subscriptions)


def _take_over_schedules(subscriptions: sa.Table) -> None:
    connection = op.get_bind()
    schedules = {
        row.id: row._mapping for row in connection.execute(sa.text("SELECT * FROM schedules"))
    }
    rows = connection.execute(sa.text("SELECT id, armed, deployed FROM playbooks")).all()
    for playbook_id, armed, deployed in rows:
        for name, state in _parsed(armed).get("triggers", {}).items():
            found = schedules.get(state.get("schedule")) if isinstance(state, dict) else None
            if found is None or deployed is None:
                continue
            request = _parsed(found["request"])
            settings = {key: found[key] for key in ("cron", "time_zone", "missed")}
            row: dict[str, Any] = {
                "id": f"trg_{found['id'].partition('_')[2]}",
                "playbook_id": playbook_id,
                "name": name,
                "type": "cron",
                "revision": deployed,
                "settings": {"type": "cron", "name": name, **settings, "inputs": request["inputs"]},
                "request": request,
                "author": found["created_by"],
                "armed": 1,
                "address": 1,
                "epoch": 0,
                "failures": 0,
                "duplicates": 0,
                "updated_at": found["created_at"],
            }
            kept = ("org_id", "project_id", "enabled", "next_at", "last_at", "created_at")
            row |= {key: found[key] for key in kept}
            connection.execute(subscriptions.insert().values(**row))
            connection.execute(sa.text("DELETE FROM schedules WHERE id = :id"), {"id": found["id"]})


def _parsed(value: Any) -> Any:
    """SQLite gives JSON as text, PostgreSQL as a value."""
    return json.loads(value) if isinstance(value, str) else value
