"""Threads of chat, their turns, and text that is still being written."""

import sqlalchemy as sa
from alembic import op

from steward.store.tables import Json, id_column, required, scope_columns

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "threads",
        id_column(primary_key=True),
        *scope_columns(),
        *required(sa.String(200), "title", "branch"),
        sa.Column("settings", Json, nullable=False),
        sa.Column("head", sa.String(40)),
        sa.Column("turns", sa.Integer, nullable=False),
        sa.Column("created_by", sa.String(40), nullable=False),
        *required(sa.BigInteger, "created_at", "updated_at"),
        sa.Column("deleted_at", sa.BigInteger),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("client_id", sa.String(200)),
        sa.UniqueConstraint("project_id", "created_by", "client_id"),
        sa.Index(None, "project_id", "updated_at"),
    )
    op.create_table(
        "live_texts",
        *scope_columns(),
        sa.Column("run_id", sa.String(40), sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("part", sa.String(200), nullable=False),
        sa.Column("beginning", sa.BigInteger, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("written_at", sa.BigInteger, nullable=False, index=True),
        sa.PrimaryKeyConstraint("run_id", "part"),
    )
    op.create_table(
        "thread_turns",
        *scope_columns(),
        *required(sa.String(40), "run_id", "thread_id"),
        sa.Column("parent", sa.String(40)),
        sa.Column("message", sa.Text, nullable=False),
        *required(Json, "mentions", "attachments"),
        sa.Column("query_type", sa.String(10)),
        sa.Column("created_by", sa.String(40), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("run_id"),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"]),
        sa.ForeignKeyConstraint(["thread_id"], ["threads.id"]),
        sa.Index(None, "thread_id", "run_id"),
    )
    _take_over_queries()


def _take_over_queries() -> None:
    """Queries were asked in threads before threads had rows: each becomes a turn that follows the one before."""
    op.execute(
        """
        INSERT INTO threads (id, org_id, project_id, title, branch, settings, head, turns,
                             created_by, created_at, updated_at, revision)
        SELECT substr(subject, 8), min(org_id), min(project_id), min(title), 'main',
               '{"rows"\\: "all", "review"\\: "changes"}', max(id), count(*),
               min(created_by), min(created_at), max(created_at), 1
        FROM runs WHERE subject LIKE 'thread\\:thr_%' GROUP BY subject
        """
    )
    op.execute(
        """
        INSERT INTO thread_turns (org_id, project_id, run_id, thread_id, parent, message,
                                  mentions, attachments, query_type, created_by, created_at)
        SELECT org_id, project_id, id, substr(subject, 8),
               lag(id) OVER (PARTITION BY subject ORDER BY id), title, '[]', '[]', NULL,
               created_by, created_at
        FROM runs WHERE subject LIKE 'thread\\:thr_%'
        """
    )
