"""Playbooks as they were written, comments included, and where an editor draws their nodes."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0018"
down_revision = "0017"

_JSON = sa.JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.add_column("playbook_revisions", sa.Column("source", sa.Text(), nullable=True))
    op.add_column("playbook_revisions", sa.Column("layout", _JSON, nullable=True))
