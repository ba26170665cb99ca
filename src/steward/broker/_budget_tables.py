"""The tables of budgets: what each run, and each project, flow, agent and person in a period, may use and has used."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)

from steward.store import Json, Moment, TypedText, id_column, metadata, required, scope_columns

UNITS = ("usd", "tokens", "rows", "bytes")
"""What adds up. Dollars are kept as billionths: whole numbers sum alike on every database."""


def _amounts(prefix: str) -> tuple[Column[Any], ...]:
    return tuple(Column(f"{prefix}_{unit}", BigInteger, nullable=False) for unit in UNITS)


budgets = Table(
    "budgets",
    metadata,
    id_column("run_id", primary_key=True),
    *scope_columns(),
    # The runs above it, root first: a call draws on all of them.
    Column("ancestors", Json, nullable=False),
    Column("depth", Integer, nullable=False),
    *(Column(f"limit_{unit}", BigInteger) for unit in UNITS),
    *_amounts("reserved"),
    *_amounts("spent"),
    # Wall clock: time during which at least one call was open, in milliseconds.
    Column("limit_time", BigInteger),
    Column("spent_time", BigInteger, nullable=False),
    Column("open_calls", Integer, nullable=False),
    Column("busy_since", Moment),
    # How long the calls of the present busy period took by their own account, added up.
    Column("busy_time", BigInteger, nullable=False),
)

budget_entries = Table(
    "budget_entries",
    metadata,
    id_column("run_id", nullable=False),
    *scope_columns(),
    Column("key", String(400), nullable=False),
    # `open`, `waiting` for a person (its time does not run), or `settled`.
    Column("state", String(10), nullable=False),
    Column("estimate", Json, nullable=False),
    Column("actual", Json),
    Column("created_at", Moment, nullable=False),
    # The agent that made the call; empty for none.
    Column("agent", String(200), nullable=False, server_default=""),
    # The budgets of periods that it was set aside in, each with the start of the period.
    Column("drawn", Json),
    # A call counts once, however often its step is repeated after a crash.
    PrimaryKeyConstraint("run_id", "key"),
)

PERIOD_UNITS = ("usd", "tokens")

period_budgets = Table(
    "period_budgets",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("revision", Integer, nullable=False),
    # `project`, `flow`, `agent` or `person`.
    Column("kind", String(10), nullable=False),
    # Which of them; empty for the project.
    Column("name", TypedText(200), nullable=False),
    # `day`, `week` or `month`, in UTC.
    Column("period", String(10), nullable=False),
    *(Column(f"limit_{unit}", BigInteger) for unit in PERIOD_UNITS),
    Column("author", String(40), nullable=False),
    *required(Moment, "created_at", "updated_at"),
    UniqueConstraint("project_id", "kind", "name", "period"),
)

period_uses = Table(
    "period_budget_uses",
    metadata,
    id_column("budget_id", nullable=False),
    *scope_columns(),
    Column("start", Moment, nullable=False),
    *(Column(f"reserved_{unit}", BigInteger, nullable=False) for unit in PERIOD_UNITS),
    *(Column(f"spent_{unit}", BigInteger, nullable=False) for unit in PERIOD_UNITS),
    PrimaryKeyConstraint("budget_id", "start"),
)
