"""Playbooks as they were written, comments included, and where an editor draws their nodes."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("playbook_revisions", sa.Column("source", sa.Text()))
    op.add_column("playbook_revisions", sa.Column("layout", Json))
