"""The table of the evaluation room."""

from sqlalchemy import Column, Index, Integer, String, Table

from steward.store import Moment, TypedJson, TypedText, id_column, metadata, required, scope_columns

reports = Table(
    "evaluation_reports",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("title", TypedText(200), nullable=False),
    Column("mode", String(10), nullable=False),
    *required(Integer, "cases", "passed", "failed"),
    # The report as it was handed in.
    Column("document", TypedJson(), nullable=False),
    Column("created_by", String(40), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("deleted_at", Moment),
    Index("ix_evaluation_reports_project_id_id", "project_id", "id"),
)
