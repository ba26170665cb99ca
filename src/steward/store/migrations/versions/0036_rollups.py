"""Figures by the minute, hour and day, and facts that say how a call failed, of which connection and revision.

All of it is made from journals, so the facts there are go, and are counted again when somebody looks.
"""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import required

revision = "0036"
down_revision = "0033"


def _about() -> list[sa.Column[str] | sa.Column[int] | sa.Column[bool]]:
    return [
        sa.Column("kind", sa.String(10), nullable=False),
        *required(sa.String(200), "name", "agent"),
        sa.Column("code", sa.String(80), nullable=False),
        *required(sa.String(200), "connector", "flow"),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("is_root", sa.Boolean(), nullable=False),
    ]


def _sums() -> list[sa.Column[int]]:
    return [
        *required(sa.Integer, "times", "errors", "changes"),
        *required(sa.BigInteger, "input_tokens", "output_tokens", "nano_usd", "milliseconds"),
    ]


def upgrade() -> None:
    op.drop_table("observed_facts")
    op.execute("DELETE FROM observed_projects")
    op.create_table(
        "observed_facts",
        *required(sa.String(40), "org_id", "project_id"),
        sa.Column("run_id", sa.String(40), sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("hour", sa.Integer(), nullable=False),
        *_about(),
        sa.Column("person", sa.String(40), nullable=False),
        *_sums(),
        sa.PrimaryKeyConstraint(
            "run_id", "hour", "kind", "name", "agent", "code", name="pk_observed_facts"
        ),
    )
    op.create_index("ix_observed_facts_project_id", "observed_facts", ["project_id"])
    op.create_index("ix_observed_facts_project_id_hour", "observed_facts", ["project_id", "hour"])
    op.create_table(
        "observed_abouts",
        *required(sa.String(40), "org_id", "project_id"),
        sa.Column("about", sa.BigInteger(), autoincrement=False, nullable=False),
        *_about(),
        sa.PrimaryKeyConstraint("project_id", "about", name="pk_observed_abouts"),
    )
    op.create_table(
        "observed_rollups",
        *required(sa.String(40), "org_id", "project_id"),
        *required(sa.Integer, "grain", "at"),
        sa.Column("about", sa.BigInteger(), nullable=False),
        *_sums(),
        sa.Column("last_failed", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "grain", "at", "about", name="pk_observed_rollups"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "observed_people",
        *required(sa.String(40), "org_id", "project_id"),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.Column("person", sa.String(40), nullable=False),
        sa.Column("flow", sa.String(200), nullable=False),
        *_sums(),
        sa.PrimaryKeyConstraint("project_id", "at", "person", "flow", name="pk_observed_people"),
        sqlite_with_rowid=False,
    )
