"""Versions of data: workspaces, branches, commits, versions and the ledger of their blobs."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, optional, required, scope_columns

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "data_blobs",
        sa.Column("blob", sa.String(64), primary_key=True),
        *required(sa.BigInteger, "bytes", "touched_at"),
        sa.Column("doomed_at", sa.BigInteger, index=True),
    )
    op.create_table(
        "data_branches",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        *required(sa.String(40), "line_id", "head_id"),
        sa.Column("protected", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_by", sa.String(40), nullable=False),
        sa.UniqueConstraint("workspace_id", "name"),
    )
    op.create_table(
        "data_changes",
        *scope_columns(),
        sa.Column("commit_id", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("name", sa.String(500), nullable=False),
        *optional(sa.String(64), "before", "after"),
        sa.Column("lineage", Json, nullable=False),
        sa.PrimaryKeyConstraint("commit_id", "kind", "name"),
        sa.Index(None, "project_id", "kind", "name"),
    )
    op.create_table(
        "data_commits",
        id_column(primary_key=True),
        *scope_columns(),
        *required(sa.String(40), "workspace_id", "line_id"),
        sa.Column("position", sa.Integer, nullable=False),
        *optional(sa.String(40), "parent_id", "merged_id"),
        sa.Column("tree_id", sa.String(64), nullable=False),
        sa.Column("author", sa.String(40), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("operation", sa.String(100), nullable=False),
        sa.Column("arguments", Json, nullable=False),
        *optional(sa.String(40), "run_id", "undoes_id", "redoes_id"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expired_at", sa.BigInteger),
        sa.UniqueConstraint("line_id", "position"),
        sa.Index(None, "workspace_id", "run_id"),
    )
    op.create_table(
        "data_inputs",
        *scope_columns(),
        sa.Column("commit_id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(500), nullable=False),
        sa.Column("version_id", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("commit_id", "name", "version_id"),
        sa.Index(None, "project_id", "version_id"),
    )
    op.create_table(
        "data_lines",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("parent_line_id", sa.String(40)),
        sa.Column("parent_position", sa.Integer),
    )
    op.create_table(
        "data_pins",
        *scope_columns(),
        sa.Column("holder", sa.String(40), nullable=False),
        sa.Column("reference", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("target", sa.String(64), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "holder", "reference", "kind", "target"),
    )
    op.create_table(
        "data_tags",
        *scope_columns(),
        sa.Column("workspace_id", sa.String(40), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("commit_id", sa.String(40), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_by", sa.String(40), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "name"),
    )
    op.create_table(
        "data_trees",
        *scope_columns(),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("touched_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("project_id", "id"),
    )
    op.create_table(
        "data_versions",
        *scope_columns(),
        sa.Column("id", sa.String(64), nullable=False),
        *required(sa.BigInteger, "rows", "bytes"),
        sa.Column("columns", Json, nullable=False),
        sa.Column("manifest", sa.LargeBinary, nullable=False),
        *required(sa.BigInteger, "created_at", "touched_at"),
        sa.PrimaryKeyConstraint("project_id", "id"),
    )
    op.create_table(
        "data_workspaces",
        id_column(primary_key=True),
        *scope_columns(),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("created_by", sa.String(40), nullable=False),
        sa.UniqueConstraint("project_id", "name"),
    )
