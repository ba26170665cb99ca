"""Trees of spans: traces of long runs, stored in preorder so that a window is one range read."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, required, scope_columns

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    op.create_table(
        "observed_trees",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("root_id", sa.String(40), nullable=False, index=True),
        sa.Column("runs", sa.Integer, nullable=False),
        sa.Column("entries", sa.BigInteger, nullable=False),
        sa.Column("spans", sa.Integer, nullable=False),
        sa.Column("is_ready", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "observed_tree_runs",
        *required(sa.String(40), "tree_id", "org_id", "project_id", "run_id"),
        sa.Column("subject", sa.String(200)),
        *required(sa.Integer, "position", "depth", "spans"),
        *required(sa.BigInteger, "start", "end"),
        sa.PrimaryKeyConstraint("tree_id", "run_id"),
        sa.ForeignKeyConstraint(["tree_id"], ["observed_trees.id"]),
    )
    op.create_table(
        "observed_spans",
        *required(sa.String(40), "tree_id", "org_id", "project_id"),
        *required(sa.Integer, "position", "depth", "size"),
        sa.Column("run_id", sa.String(40), nullable=False),
        sa.Column("key", sa.String(500), nullable=False),
        sa.Column("operation", sa.String(40), nullable=False),
        *required(sa.Text, "name", "words"),
        *required(sa.BigInteger, "start", "end"),
        sa.Column("error", sa.Text),
        sa.Column("attributes", Json, nullable=False),
        sa.PrimaryKeyConstraint("tree_id", "position"),
        sa.ForeignKeyConstraint(["tree_id"], ["observed_trees.id"]),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_runs_root_id", "runs", ["root_id"], unique=False)
