"""Confines a statement to one project: filters what it reads, fills what it inserts, refuses what it cannot check.

What is refused is never rewritten in silence: a subquery on a project table, raw SQL, a row moved to another
project. Such a statement is a bug of ours, and a loud one is better than a leak.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from sqlalchemy import bindparam
from sqlalchemy.schema import Column, Table
from sqlalchemy.sql import visitors
from sqlalchemy.sql.base import Executable
from sqlalchemy.sql.dml import Delete, Insert, Update, UpdateBase
from sqlalchemy.sql.elements import BindParameter, ColumnClause, ColumnElement, TextClause
from sqlalchemy.sql.selectable import (
    AliasedReturnsRows,
    FromClause,
    Select,
    SelectBase,
    TableClause,
)

from steward.core import Bug

Row = Mapping[str, Any]
Parameters = Row | Sequence[Row] | None

_SCOPE_COLUMNS: Final = ("org_id", "project_id")
_BOUND: Final = "confined_to_"
_RAW_PARTS: Final = ("_prefixes", "_suffixes", "_hints", "_statement_hints")


@dataclass(frozen=True)
class Scope:
    """Whose data a transaction may touch."""

    org_id: str
    project_id: str


def confine(
    statement: Executable, parameters: Parameters, scope: Scope
) -> tuple[Executable, Parameters]:
    """The statement and its parameters such that only the scope's rows can be read or written."""
    tables = _survey(statement)
    if isinstance(statement, Insert):
        _refuse_beside([table for table in tables if _base(table) is not statement.table])
        return _confine_insert(statement, parameters, scope)
    _refuse_scope_names(parameters)
    statement = _simple(statement)
    for column in _confining(statement, tables):
        statement = statement.where(column == getattr(scope, column.name))
    return statement, parameters


class Prepared:
    """A statement that is written once and run many times, with its values as parameters.

    It is checked, confined and compiled the first time only, which is most of what a small statement costs.
    """

    def __init__(self, statement: Select[Any] | Update | Delete | Insert) -> None:
        self.statement = statement
        self.deletes: bool | None = None
        """Whether it deletes records, which a legal hold stops; found out the first time."""
        self._confined: tuple[Executable, tuple[str, ...]] | None = None

    def within(self, scope: Scope, parameters: Parameters) -> tuple[Executable, Parameters]:
        """The statement and its parameters such that only the scope's rows can be read or written."""
        if isinstance(self.statement, Insert):
            if not parameters:
                raise Bug("A prepared insert takes its rows as parameters.")
            return self._insert(self.statement, scope, parameters)
        _refuse_scope_names(parameters)
        if self._confined is None:
            # Two threads may both do this the first time, and come to the same.
            self._confined = _confined_by_parameters(self.statement)
        statement, names = self._confined
        bound = {f"{_BOUND}{name}": getattr(scope, name) for name in names}
        if parameters is None or isinstance(parameters, Mapping):
            return statement, {**(parameters or {}), **bound}
        return statement, [{**row, **bound} for row in parameters]

    def _insert(
        self, statement: Insert, scope: Scope, parameters: Row | Sequence[Row]
    ) -> tuple[Executable, Parameters]:
        if self._confined is None:
            confine(statement, parameters, scope)
            self._confined = statement, ()
        values = _scope_values(statement.table, scope)
        if isinstance(parameters, Mapping):
            return statement, {**parameters, **values}
        return statement, [{**row, **values} for row in parameters]


def _confined_by_parameters(
    statement: Select[Any] | Update | Delete,
) -> tuple[Executable, tuple[str, ...]]:
    columns = _confining(_simple(statement), _survey(statement))
    for column in columns:
        statement = statement.where(
            column == bindparam(f"{_BOUND}{column.name}", type_=column.type)
        )
    return statement, tuple({column.name: None for column in columns})


def _simple(statement: Executable) -> Select[Any] | Update | Delete:
    if not isinstance(statement, Select | Update | Delete):
        raise Bug(
            f"A scoped transaction runs select, insert, update, delete; not {type(statement)}."
        )
    return statement


def _confining(
    statement: Select[Any] | Update | Delete, tables: Sequence[FromClause]
) -> list[ColumnElement[Any]]:
    """The columns that must hold the scope, after refusing what cannot be confined."""
    if isinstance(statement, Update | Delete):
        _refuse_beside([table for table in tables if table is not statement.table])
        tables = [statement.table]
    if isinstance(statement, Update):
        _refuse_moving(statement.table, statement._values or {})
    return [table.c[name] for table in tables for name in _scope_names(table)]


def _confine_insert(
    statement: Insert, parameters: Parameters, scope: Scope
) -> tuple[Executable, Parameters]:
    values = _scope_values(statement.table, scope)
    if not values:
        return statement, parameters
    if statement.select is not None or statement._multi_values:
        raise Bug("A scoped insert takes its rows as parameters or as one set of values.")
    _refuse_wide_upsert(statement)
    if parameters and not isinstance(parameters, Mapping):
        # Every row carries the scope; the statement stays the same one, so it is compiled only once.
        return statement, [{**row, **values} for row in parameters]
    statement = statement.values(**values)
    # Parameters would win over the statement's own values, so they carry the scope as well.
    if isinstance(parameters, Mapping):
        return statement, {**parameters, **values}
    return statement, parameters


def _survey(statement: Executable) -> list[FromClause]:
    """Every table the statement names, aliases apart; refuses what hides tables from this look."""
    found: dict[FromClause, None] = {}
    pending: list[Any] = [statement]
    while pending:
        element = pending.pop()
        kind = type(element)
        # Most of a statement: declared columns and values, which hide nothing.
        if kind is BindParameter or (kind is Table and element in found):
            continue
        if kind is Column and element.table is not None:
            if element.table not in found:
                pending.append(element.table)
            continue
        _refuse_raw(element)
        if element is not statement and isinstance(element, SelectBase | UpdateBase):
            _refuse_nested(element)
            continue
        if isinstance(element, Table) or (
            isinstance(element, AliasedReturnsRows) and isinstance(element.element, Table)
        ):
            found[element] = None
            continue
        if isinstance(element, ColumnClause) and element.table is not None:
            pending.append(element.table)
        pending += element.get_children()
    return list(found)


def _scope_names(table: FromClause) -> tuple[str, ...]:
    if "project_id" in table.c:
        return _SCOPE_COLUMNS
    return _SCOPE_COLUMNS[:1] if "org_id" in table.c else ()


def _scope_values(table: FromClause, scope: Scope) -> dict[str, str]:
    return {name: getattr(scope, name) for name in _scope_names(table)}


def _base(table: FromClause) -> object:
    """The table behind an alias; an upsert calls its own row `excluded`."""
    return table.element if isinstance(table, AliasedReturnsRows) else table


def _is_scoped(table: FromClause) -> bool:
    return any(name in table.c for name in _SCOPE_COLUMNS)


def _refuse_raw(element: Any) -> None:
    # `count(*)` is the one literal that SQLAlchemy writes itself.
    literal = isinstance(element, ColumnClause) and element.is_literal and element.name != "*"
    decorated = any(getattr(element, part, ()) for part in _RAW_PARTS)
    if literal or decorated or isinstance(element, TextClause):
        raise Bug("A scoped statement contains raw SQL, which cannot be confined.")
    if isinstance(element, TableClause) and not isinstance(element, Table):
        raise Bug(f"Table {element.name!r} is not declared; a scoped statement needs its columns.")


def _refuse_nested(statement: Any) -> None:
    """A project table inside a subquery would escape the filter, so it is refused, not trusted."""
    if isinstance(statement, UpdateBase):
        raise Bug("A scoped statement contains another one that writes.")
    for table in visitors.iterate(cast(visitors.ExternallyTraversible, statement)):
        _refuse_raw(table)
        if isinstance(table, UpdateBase):
            raise Bug("A scoped statement contains another one that writes.")
        if isinstance(table, TableClause) and _is_scoped(table):
            raise Bug(f"Table {table.name!r} is used in a subquery of a scoped statement.")


def _refuse_beside(tables: Sequence[FromClause]) -> None:
    """An insert, update or delete looks at no project table but its own."""
    for table in tables:
        if _is_scoped(table):
            name = getattr(table, "name", "?")
            raise Bug(f"Table {name!r} is used beside the table that a scoped statement writes.")


def _refuse_scope_names(parameters: Parameters) -> None:
    """The filter's own parameters are called after the columns; a caller must not replace them."""
    rows = [parameters] if isinstance(parameters, Mapping) else parameters or []
    if any(str(name).startswith((*_SCOPE_COLUMNS, _BOUND)) for row in rows for name in row):
        raise Bug("The scope of a statement comes from its transaction, not from parameters.")


def _refuse_moving(table: FromClause, values: Mapping[Any, Any]) -> None:
    if not _is_scoped(table):
        return
    for column in values:
        if getattr(column, "name", column) in _SCOPE_COLUMNS:
            raise Bug("A scoped transaction cannot move rows to another project.")


def _refuse_wide_upsert(statement: Insert) -> None:
    """On a conflict with a row of another project, "update" would change that row."""
    key = "project_id" if "project_id" in statement.table.c else "org_id"
    for clause in visitors.iterate(statement):
        renewed = getattr(clause, "update_values_to_set", None)
        if renewed is None:
            continue
        target = getattr(clause, "inferred_target_elements", None) or ()
        if key not in {getattr(column, "name", column) for column in target}:
            raise Bug(f"An upsert into a project table must name {key} among its conflict columns.")
        _refuse_moving(statement.table, renewed)
