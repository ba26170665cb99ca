"""Tags of playbooks, by which costs are added up."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0042"
down_revision = "0041"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.add_column("playbooks", sa.Column("tags", _JSON, nullable=False, server_default="[]"))


def downgrade() -> None:
    op.drop_column("playbooks", "tags")
