"""Numbers about the outputs of runs, to compare with those of later runs."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, required

revision = "0060"
down_revision = "0052"


def upgrade() -> None:
    op.create_table(
        "observed_outputs",
        *required(sa.String(40), "org_id", "project_id"),
        sa.Column("at", sa.Integer, nullable=False),
        sa.Column("run_id", sa.String(40), nullable=False),
        sa.Column("flow", sa.String(200), nullable=False),
        sa.Column("measures", Json, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "at", "run_id"),
        sqlite_with_rowid=False,
    )
