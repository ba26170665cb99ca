"""Triggers of playbooks with their events; schedules that playbooks had become triggers of this kind."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0024"
down_revision = "0023"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    subscriptions = op.create_table(
        "trigger_subscriptions",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("playbook_id", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("type", sa.String(length=40), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("settings", _JSON, nullable=False),
        sa.Column("request", _JSON, nullable=False),
        sa.Column("author", sa.String(length=40), nullable=False),
        sa.Column("armed", sa.Integer(), nullable=False),
        sa.Column("enabled", sa.Integer(), nullable=False),
        sa.Column("address", sa.Integer(), nullable=False),
        sa.Column("cursor", _JSON, nullable=True),
        sa.Column("next_at", sa.BigInteger(), nullable=True),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.String(length=80), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failing_since", sa.BigInteger(), nullable=True),
        sa.Column("failing_why", sa.String(length=400), nullable=True),
        sa.Column("last_at", sa.BigInteger(), nullable=True),
        sa.Column("silent_since", sa.BigInteger(), nullable=True),
        sa.Column("duplicates", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_trigger_subscriptions"),
        sa.UniqueConstraint(
            "playbook_id", "name", name="uq_trigger_subscriptions_playbook_id_name"
        ),
    )
    for column in ("project_id", "next_at"):
        name = f"ix_trigger_subscriptions_{column}"
        op.create_index(name, "trigger_subscriptions", [column], unique=False)
    op.create_table(
        "trigger_events",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("org_id", sa.String(length=40), nullable=False),
        sa.Column("project_id", sa.String(length=40), nullable=False),
        sa.Column("trigger_id", sa.String(length=40), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("reason", sa.String(length=400), nullable=True),
        sa.Column("same", sa.String(length=64), nullable=True),
        sa.Column("order_key", sa.String(length=200), nullable=True),
        sa.Column("document", _JSON, nullable=False),
        sa.Column("inputs", _JSON, nullable=True),
        sa.Column("revision", sa.Integer(), nullable=True),
        sa.Column("replay_of", sa.String(length=40), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(length=40), nullable=True),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["trigger_id"], ["trigger_subscriptions.id"], name="fk_trigger_events_trigger_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_trigger_events"),
    )
    op.create_index("ix_trigger_events_project_id", "trigger_events", ["project_id"], unique=False)
    for columns in (["trigger_id", "state", "due_at"], ["trigger_id", "same"], ["state", "due_at"]):
        name = f"ix_trigger_events_{'_'.join(columns)}"
        op.create_index(name, "trigger_events", columns, unique=False)
    op.add_column("schedules", sa.Column("asked", _JSON, nullable=True))
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
