"""Figures of flows by the hour in which their runs ended."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import required

revision = "0045"
down_revision = "0044"


def upgrade() -> None:
    op.create_table(
        "observed_ended_hours",
        *required(sa.String(40), "org_id", "project_id"),
        sa.Column("at", sa.Integer, nullable=False),
        sa.Column("flow", sa.String(200), nullable=False),
        *required(sa.Integer, "runs", "failed"),
        *required(sa.BigInteger, "milliseconds", "nano_usd", "tokens"),
        sa.PrimaryKeyConstraint("project_id", "at", "flow"),
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
