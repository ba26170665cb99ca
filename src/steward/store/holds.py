"""Legal holds: while a project has one, no record of the project is deleted, whoever asks and for whatever reason.

The door to the database asks here about every statement, so no room needs to remember it. In a transaction of one
project a deletion is refused. In one that works across projects it leaves out the projects that have a hold.
A record is deleted by deleting its row, or by marking it as deleted or as given up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Column, Index, String, Table
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.dml import Delete, Update
from sqlalchemy.sql.elements import BindParameter, ColumnElement, Null

from steward.core import Conflict
from steward.store.guarded import TypedText
from steward.store.tables import Moment, id_column, metadata, scope_columns

UNHELD: Final = {"unheld": True}
"""The `info` of a table whose rows are no records: access, which must end at once, and what is made again."""
PROJECT_ID: Final = {"project": "id"}
"""The `info` of the table of projects: its own id is that of the project."""
LEGAL_HOLD: Final = "legal-hold"
_MARKS: Final = frozenset({"deleted_at", "expired_at"})

legal_holds = Table(
    "legal_holds",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("name", TypedText(100), nullable=False),
    Column("reason", TypedText(1000), nullable=False),
    Column("placed_by", String(40), nullable=False),
    Column("placed_at", Moment, nullable=False),
    Column("lift_reason", TypedText(1000)),
    Column("lifted_by", String(40)),
    Column("lifted_at", Moment),
    Index("ix_legal_holds_project_id_lifted_at", "project_id", "lifted_at"),
)


@dataclass(frozen=True)
class Hold:
    id: str
    name: str
    reason: str
    placed_by: str
    placed_at: datetime
    lift_reason: str | None
    lifted_by: str | None
    lifted_at: datetime | None


def hold_of(row: sa.Row[Any]) -> Hold:
    return Hold(**{name: getattr(row, name) for name in Hold.__dataclass_fields__})


def open_holds(project_id: str | None = None) -> sa.Select[Any]:
    """Holds that are not lifted, the oldest first; of all projects where none is named."""
    statement = sa.select(legal_holds).where(legal_holds.c.lifted_at.is_(None))
    if project_id is not None:
        statement = statement.where(legal_holds.c.project_id == project_id)
    return statement.order_by(legal_holds.c.placed_at, legal_holds.c.id)


def deletes(statement: Executable, parameters: Any = None) -> bool:
    """Whether a statement deletes records of projects, or marks them as deleted."""
    if not isinstance(statement, Delete | Update) or _project_of(statement.table) is None:
        return False
    if isinstance(statement, Delete):
        return True
    given = parameters if isinstance(parameters, list | tuple) else [parameters or {}]
    values = [statement._values or {}, *given]
    return any(_marks(each) for each in values)


def refused(hold: Hold) -> Conflict:
    return Conflict(
        f'The legal hold "{hold.name}" of {hold.placed_at:%d %B %Y} stops every deletion in this project.'
        " Nothing was deleted. An owner of the project can lift the hold under Settings, Retention.",
        code=LEGAL_HOLD,
    )


def is_held(table: Table) -> ColumnElement[bool] | None:
    """Whether a row belongs to a project with a hold; None for tables that no hold concerns."""
    column = _project_of(table)
    if column is None:
        return None
    held = sa.select(legal_holds.c.project_id).where(legal_holds.c.lifted_at.is_(None))
    return column.in_(held)


def sparing(statement: Executable) -> Executable:
    """The same deletion without the rows of projects that have a hold."""
    if isinstance(statement, Delete | Update) and isinstance(statement.table, Table):
        held = is_held(statement.table)
        if held is not None:
            return statement.where(sa.not_(held))
    return statement


def _project_of(table: Any) -> Column[Any] | None:
    if not isinstance(table, Table) or table.info.get("unheld"):
        return None
    found: Column[Any] | None = table.c.get(table.info.get("project", "project_id"))
    return found


def _marks(values: Mapping[Any, Any]) -> bool:
    return any(
        getattr(column, "name", column) in _MARKS and not _is_null(value)
        for column, value in values.items()
    )


def _is_null(value: Any) -> bool:
    if isinstance(value, BindParameter):
        # A value that comes with the parameters is not known here, and counts as one.
        return value.value is None and not value.required
    return value is None or isinstance(value, Null)
