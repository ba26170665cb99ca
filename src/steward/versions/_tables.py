"""The SQL side of versions: who points at what; the rows of data themselves are Parquet parts in the blob store.

Nothing here grows with the data except `data_versions.manifest`, the list of a version's parts.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects import postgresql, sqlite

from steward.store import (
    OUTLIVES_RUN,
    UNHELD,
    Json,
    Moment,
    Prepared,
    Transaction,
    TypedText,
    id_column,
    metadata,
    required,
    scope_columns,
)

NAME_LENGTH = 500


def _digest(name: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, String(64), nullable=nullable)


workspaces = Table(
    "data_workspaces",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("name", TypedText(100), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("created_by", String(40), nullable=False),
    UniqueConstraint("project_id", "name"),
)

# A line is the straight run of commits made on one branch. Ancestors on a line are always a prefix of it, so
# "all ancestors of a commit" is a small map line → highest position, whatever the length of the history.
lines = Table(
    "data_lines",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    id_column("workspace_id", nullable=False),
    id_column("parent_line_id"),
    Column("parent_position", Integer),
)

branches = Table(
    "data_branches",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    id_column("workspace_id", nullable=False),
    Column("name", TypedText(200), nullable=False),
    id_column("line_id", nullable=False),
    id_column("head_id", nullable=False),
    Column("protected", Boolean, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("created_by", String(40), nullable=False),
    UniqueConstraint("workspace_id", "name"),
)

commits = Table(
    "data_commits",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    id_column("workspace_id", nullable=False),
    id_column("line_id", nullable=False),
    Column("position", Integer, nullable=False),
    id_column("parent_id"),
    id_column("merged_id"),
    _digest("tree_id"),
    Column("author", String(40), nullable=False),
    Column("message", Text, nullable=False),
    Column("operation", String(100), nullable=False),
    Column("arguments", Json, nullable=False),
    id_column("run_id", info=OUTLIVES_RUN),
    id_column("undoes_id"),
    id_column("redoes_id"),
    # Names the effect of a run that made it: after a crash, whoever asks finds what happened.
    Column("ticket", String(64), index=True),
    Column("created_at", Moment, nullable=False),
    Column("expired_at", Moment),
    UniqueConstraint("line_id", "position"),
    Index("ix_data_commits_workspace_id_run_id", "workspace_id", "run_id"),
)

changes = Table(
    "data_changes",
    metadata,
    *scope_columns(),
    id_column("commit_id", nullable=False),
    Column("kind", String(10), nullable=False),
    Column("name", String(NAME_LENGTH), nullable=False),
    _digest("before", nullable=True),
    _digest("after", nullable=True),
    Column("lineage", Json, nullable=False),
    PrimaryKeyConstraint("commit_id", "kind", "name"),
    Index("ix_data_changes_project_id_kind_name", "project_id", "kind", "name"),
)

inputs = Table(
    "data_inputs",
    metadata,
    *scope_columns(),
    id_column("commit_id", nullable=False),
    Column("name", String(NAME_LENGTH), nullable=False),
    _digest("version_id"),
    PrimaryKeyConstraint("commit_id", "name", "version_id"),
    Index("ix_data_inputs_project_id_version_id", "project_id", "version_id"),
)

trees = Table(
    "data_trees",
    metadata,
    *scope_columns(),
    _digest("id"),
    Column("body", Text, nullable=False),
    Column("touched_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "id"),
)

versions = Table(
    "data_versions",
    metadata,
    *scope_columns(),
    _digest("id"),
    *required(BigInteger, "rows", "bytes"),
    Column("columns", Json, nullable=False),
    Column("manifest", LargeBinary, nullable=False),
    *required(Moment, "created_at", "touched_at"),
    PrimaryKeyConstraint("project_id", "id"),
)

# Versions that hold plain values of columns that were encrypted since: read and brought back by those who may decrypt.
seals = Table(
    "data_seals",
    metadata,
    *scope_columns(),
    _digest("version_id"),
    Column("dataset", String(NAME_LENGTH), nullable=False),
    Column("columns", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "version_id", "dataset"),
    info=UNHELD,
)

# Parts are shared by all projects, because equal bytes are one blob; hence no scope.
blobs = Table(
    "data_blobs",
    metadata,
    Column("blob", String(64), primary_key=True),
    Column("bytes", BigInteger, nullable=False),
    Column("touched_at", Moment, nullable=False),
    Column("doomed_at", Moment, index=True),
)

tags = Table(
    "data_tags",
    metadata,
    *scope_columns(),
    id_column("workspace_id", nullable=False),
    Column("name", TypedText(200), nullable=False),
    id_column("commit_id", nullable=False),
    Column("message", TypedText(), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("created_by", String(40), nullable=False),
    PrimaryKeyConstraint("workspace_id", "name"),
)

pins = Table(
    "data_pins",
    metadata,
    *scope_columns(),
    Column("holder", String(40), nullable=False),
    Column("reference", String(200), nullable=False),
    Column("kind", String(10), nullable=False),
    Column("target", String(64), nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "holder", "reference", "kind", "target"),
    info=UNHELD,
)


def upsert(
    transaction: Transaction,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    renew: Mapping[str, Any] | None = None,
) -> None:
    """Inserts rows; of those already there it renews the given columns, or leaves them alone."""
    if not rows:
        return
    if renew is None:
        transaction.execute(_insert_new(table, transaction.dialect), list(rows))
        return
    statement = _insert(table, transaction.dialect).on_conflict_do_update(
        index_elements=_key(table), set_=dict(renew)
    )
    transaction.execute(statement, list(rows))


@cache
def _insert_new(table: Table, dialect: str) -> Prepared:
    """Inserts what is not there yet."""
    return Prepared(_insert(table, dialect).on_conflict_do_nothing(index_elements=_key(table)))


def _insert(table: Table, dialect: str) -> Any:
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


def _key(table: Table) -> list[str]:
    return [column.name for column in table.primary_key.columns]


def renew(
    transaction: Transaction, table: Table, column: sa.Column[str], ids: Sequence[str], moment: Any
) -> int:
    """Marks rows as used just now, which keeps the sweep away; returns how many there were."""
    statement, found = _renewing(table, column), 0
    for start in range(0, len(ids), 500):
        chunk = {"some": ids[start : start + 500], "moment": moment}
        found += transaction.execute(statement, chunk).rowcount
    return found


@cache
def _renewing(table: Table, column: sa.Column[str]) -> Prepared:
    wanted = column.in_(sa.bindparam("some", expanding=True))
    return Prepared(sa.update(table).where(wanted).values(touched_at=sa.bindparam("moment")))
