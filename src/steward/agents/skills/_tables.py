"""The tables of skills: which ones a project has or switched off, and every version of them."""

from sqlalchemy import Column, Integer, PrimaryKeyConstraint, String, Table

from steward.store import Moment, TypedJson, TypedText, metadata, required, scope_columns

skills = Table(
    "skills",
    metadata,
    *scope_columns(),
    Column("name", String(64), nullable=False),
    # The version in force; 0 while the project uses the one that Steward brings along.
    *required(Integer, "version", "enabled"),
    # Counts every change, switching on and off included.
    Column("revision", Integer, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("updated_by", String(40), nullable=False),
    Column("deleted_at", Moment),
    PrimaryKeyConstraint("project_id", "name"),
)

skill_versions = Table(
    "skill_versions",
    metadata,
    *scope_columns(),
    Column("name", String(64), nullable=False),
    Column("version", Integer, nullable=False),
    Column("digest", String(64), nullable=False),
    # The blob that holds all its files.
    Column("bundle", String(64), nullable=False),
    Column("description", TypedText(1024), nullable=False),
    Column("files", TypedJson(), nullable=False),
    Column("message", TypedText(400), nullable=False),
    Column("author", String(40), nullable=False),
    Column("created_at", Moment, nullable=False),
    PrimaryKeyConstraint("project_id", "name", "version"),
)
