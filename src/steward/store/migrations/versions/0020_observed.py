"""What ended runs did and cost, made from their journals, and where that has got to in each project."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def _scope() -> tuple[sa.Column[str], sa.Column[str]]:
    return (
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
    )


def upgrade() -> None:
    op.create_table(
        "observed_facts",
        *_scope(),
        sa.Column("run_id", sa.String(40), sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("hour", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("agent", sa.String(200), nullable=False),
        sa.Column("flow", sa.String(200), nullable=False),
        sa.Column("person", sa.String(40), nullable=False),
        sa.Column("is_root", sa.Boolean(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("errors", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("nano_usd", sa.BigInteger(), nullable=False),
        sa.Column("milliseconds", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "run_id", "hour", "kind", "name", "agent", name="pk_observed_facts"
        ),
    )
    op.create_index("ix_observed_facts_project_id", "observed_facts", ["project_id"])
    op.create_index("ix_observed_facts_project_id_hour", "observed_facts", ["project_id", "hour"])
    op.create_table(
        "observed_projects",
        *_scope(),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", name="pk_observed_projects"),
    )
    op.create_index("ix_observed_projects_project_id", "observed_projects", ["project_id"])
    op.create_index("ix_runs_project_id_ended_at", "runs", ["project_id", "ended_at"])
