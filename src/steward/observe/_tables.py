"""The tables of the observe room: what ended runs did, added up per run, hour and thing. All of it can be rebuilt."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
)

from steward.store.tables import Moment, metadata, scope_columns

facts = Table(
    "observed_facts",
    metadata,
    *scope_columns(),
    Column("run_id", String(40), ForeignKey("runs.id"), nullable=False),
    # Whole hours since 1970, UTC.
    Column("hour", Integer, nullable=False),
    # `run`, `model`, `tool` or `agent`.
    Column("kind", String(10), nullable=False),
    # The status of a run; the name of a model, a tool or an agent.
    Column("name", String(200), nullable=False),
    # The agent for whom a model was asked or a tool was called; empty for none.
    Column("agent", String(200), nullable=False),
    # What the run belongs to, such as a playbook, or the program that drove it.
    Column("flow", String(200), nullable=False),
    Column("person", String(40), nullable=False),
    # Whether nothing started the run but a person or a trigger.
    Column("is_root", Boolean, nullable=False),
    Column("times", Integer, nullable=False),
    Column("errors", Integer, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    # Billionths of a dollar, as budgets count: whole numbers sum alike on every database.
    Column("nano_usd", BigInteger, nullable=False),
    Column("milliseconds", BigInteger, nullable=False),
    PrimaryKeyConstraint("run_id", "hour", "kind", "name", "agent"),
    Index("ix_observed_facts_project_id_hour", "project_id", "hour"),
)

projected = Table(
    "observed_projects",
    metadata,
    *scope_columns(),
    # Runs that ended before this are counted, unless they are among the latest minutes.
    Column("until", Moment, nullable=False),
    PrimaryKeyConstraint("project_id"),
)
