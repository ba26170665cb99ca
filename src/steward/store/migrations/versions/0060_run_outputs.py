"""Numbers about the outputs of runs, to compare with those of later runs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0060"
down_revision = "0052"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "observed_outputs",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(40), nullable=False),
        sa.Column("flow", sa.String(200), nullable=False),
        sa.Column("measures", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "at", "run_id", name="pk_observed_outputs"),
        sqlite_with_rowid=False,
    )
