"""Links for people without an account: a file to fetch, or a file to send."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import optional, required

revision = "0210"
down_revision = "0205"


def upgrade() -> None:
    op.create_table(
        "links",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("org_id", sa.String(40), nullable=False),
        sa.Column("project_id", sa.String(40), nullable=False, index=True),
        sa.Column("user_id", sa.String(40), sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("run_id", sa.String(40), nullable=False),
        sa.Column("method", sa.String(3), nullable=False),
        sa.Column("path", sa.String(700), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("content", sa.String(64), nullable=False),
        sa.Column("single_use", sa.Boolean, nullable=False),
        sa.Column("uses", sa.Integer, nullable=False),
        *required(sa.BigInteger, "created_at", "expires_at"),
        *optional(sa.BigInteger, "last_used_at", "revoked_at"),
        sa.UniqueConstraint("project_id", "run_id", name="uq_links_project_id_run_id"),
    )


def downgrade() -> None:
    op.drop_table("links")
