"""The tables of budgets: what each run may use, has set aside and has used, and by which calls."""

from typing import Any

from sqlalchemy import BigInteger, Column, Integer, PrimaryKeyConstraint, String, Table

from steward.store.tables import Json, Moment, id_column, metadata, scope_columns

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
    # A call counts once, however often its step is repeated after a crash.
    PrimaryKeyConstraint("run_id", "key"),
)
