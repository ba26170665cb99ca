"""Figures of flows by the hour in which their runs ended."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"


def upgrade() -> None:
    op.create_table(
        "observed_ended_hours",
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False),
        sa.Column("at", sa.Integer(), nullable=False),
        sa.Column("flow", sa.String(200), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("milliseconds", sa.BigInteger(), nullable=False),
        sa.Column("nano_usd", sa.BigInteger(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "at", "flow", name="pk_observed_ended_hours"),
        sqlite_with_rowid=False,
    )
    op.execute(
        """
        INSERT INTO observed_ended_hours
            (org_id, project_id, at, flow, runs, failed, milliseconds, nano_usd, tokens)
        SELECT f.org_id, f.project_id, r.ended_at / 3600000000, f.flow,
            sum(CASE WHEN f.kind = 'run' AND f.is_root THEN f.times ELSE 0 END),
            sum(CASE WHEN f.kind = 'run' AND f.is_root THEN f.errors ELSE 0 END),
            sum(CASE WHEN f.kind = 'run' AND f.is_root THEN f.milliseconds ELSE 0 END),
            sum(f.nano_usd), sum(f.input_tokens + f.output_tokens)
        FROM observed_facts f JOIN runs r ON r.id = f.run_id
        WHERE r.ended_at IS NOT NULL
        GROUP BY f.org_id, f.project_id, r.ended_at / 3600000000, f.flow
        """
    )
