"""Edits: what can be said about changing some rows of a version, each as small as the change itself.

Conditions, expressions and SELECTs are SQL that Steward's own operations build from quoted names and literals;
what people type arrives as `SetCells` and `InsertRows`, whose values are texts cast to the column's type.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Update:
    """Sets columns to SQL expressions in the rows where a condition holds."""

    where: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class Delete:
    where: str


@dataclass(frozen=True)
class Insert:
    """Appends the rows of a SELECT; columns are matched by name, missing ones are null."""

    select: str


@dataclass(frozen=True)
class Upsert:
    """Sets the columns of a SELECT in rows whose `on` columns are equal; appends its other rows."""

    select: str
    on: tuple[str, ...]


@dataclass(frozen=True)
class CellValue:
    """One value, as text or null, for the row with this id."""

    row: int
    column: str
    value: str | None


@dataclass(frozen=True)
class SetCells:
    cells: tuple[CellValue, ...]


@dataclass(frozen=True)
class DeleteRows:
    rows: tuple[int, ...]


@dataclass(frozen=True)
class InsertRows:
    """Appends rows given as column → text or null."""

    rows: tuple[Mapping[str, str | None], ...]


Edit = Update | Delete | Insert | Upsert | SetCells | DeleteRows | InsertRows
