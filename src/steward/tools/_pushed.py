"""Queries about datasets that stay where they are: checked like any other, written for their database, run there."""

import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steward.broker import ToolContext
from steward.core import Invalid, NotFound, StewardError
from steward.tools._calls import bench, clock_of, off_loop
from steward.tools._commits import workspace
from steward.tools._connections import connection_of, opened, said_plainly, source, target_of
from steward.versions import Dataset

if TYPE_CHECKING:
    from steward.ingest import Asked


@dataclass(frozen=True)
class Pushed:
    """What a database answered, and what a journal keeps of the question."""

    asked: "Asked"
    columns: tuple[str, ...]
    sql: str
    tables: tuple[Dataset, ...]
    source: str
    read: Mapping[str, str]


async def push(
    context: ToolContext,
    sql: str,
    found: Sequence[Dataset],
    limit: int,
    parameters: Mapping[str, Any] | None = None,
    seconds: float = 60,
) -> Pushed | None:
    """Runs a query in the database that holds all its tables; None where none of them stays elsewhere."""
    staying = [each for each in found if each.stays]
    if not mentioned(sql, staying):
        return None
    name, tables, written = await off_loop(_written, sql, found, parameters or {})
    if not name:
        return None
    connection = await connection_of(context, name, "database")
    opening = await opened(context, connection)
    target = target_of(context, opening)
    at = clock_of(context).now().isoformat()
    try:
        asked = await off_loop(
            bench(context).bringing.query_source,
            target,
            name,
            written,
            limit,
            private=True,
            seconds=math.ceil(seconds),
        )
    except StewardError as problem:
        said = said_plainly(problem, opening)
        raise type(said)(
            f"{said.message} The table stays at {name!r}; if it changed there, register it again.",
            code=said.specific_code,
        ) from None
    known = {each.casefold(): each for each in _names(sql, tables)}
    shown = tuple(known.get(each.casefold(), each) for each in asked.columns)
    digest = hashlib.sha256(written.encode()).hexdigest()
    read = {"connection": name, "at": at, "query_sha256": digest}
    return Pushed(asked, shown, written, tuple(tables), source(connection), read)


def stays_acts_as(context: ToolContext, name: str, at: str) -> tuple[str, ...]:
    """Rules about questions to connections count for a dataset that stays at one."""
    try:
        known = workspace(context).datasets(at, [name])
    except NotFound:
        return ()
    return ("query_connection",) if any(each.stays for each in known) else ()


def mentioned(text: str, staying: Collection[Dataset]) -> bool:
    """Whether a query may read one of these datasets; its tables are looked at more closely afterwards."""
    folded = text.casefold()
    return any(each.name.casefold().replace('"', '""') in folded for each in staying)


def _written(
    sql: str, found: Sequence[Dataset], parameters: Mapping[str, Any]
) -> tuple[str, list[Dataset], str]:
    """The connection, the datasets, and the statement as their database has it."""
    from steward.sandbox import Refused, check_sql

    try:
        checked = check_sql(
            sql, {each.name: [c.name for c in each.columns] for each in found}, list(parameters)
        )
    except Refused as refused:
        raise Invalid(f"The query was refused: {refused}", code="sql-refused") from None
    read = [each for each in found if each.name in checked.tables]
    staying = [each.stays for each in read if each.stays]
    places = sorted({each.connection for each in staying})
    if not places:
        return "", [], ""
    if len(places) > 1 or len(staying) < len(read) or checked.lists:
        names = ", ".join(repr(each.name) for each in read if each.stays)
        raise Invalid(
            f"The rows of {names} stay at {' and '.join(map(repr, places))}, so one query can neither pivot them nor "
            "join them with other datasets. Load a copy with load_from_connection, and query that.",
            code="stays-elsewhere",
        )
    return places[0], read, _for_postgres(sql, read, parameters)


def _for_postgres(sql: str, read: Sequence[Dataset], parameters: Mapping[str, Any]) -> str:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.scope import traverse_scope

    known = {each.name.casefold(): each for each in read}
    try:
        tree = sqlglot.parse_one(sql, read="duckdb")
        for node in list(tree.find_all(exp.Parameter, exp.Placeholder)):
            node.replace(exp.convert(parameters[node.name]))
        for word in tree.find_all(exp.Identifier):
            word.set("this", word.this.lower())
            word.set("quoted", True)
        real = [
            each
            for scope in traverse_scope(tree)
            for each in scope.sources.values()
            if isinstance(each, exp.Table)
        ]
        for table in {id(each): each for each in real}.values():
            dataset = known.get(table.name)
            stays = dataset.stays if dataset else None
            if (
                dataset is None
                or stays is None
                or table.db
                or table.args.get("sample")
                or table.args.get("pivots")
            ):
                raise Invalid(
                    f"The query reads {table.sql('duckdb')[:80]!r} in a way that its database cannot. Load a copy.",
                    code="cannot-push-down",
                )
            fields = [
                exp.column(theirs, quoted=True).as_(ours.name.lower(), quoted=True)
                for ours, theirs in zip(dataset.columns, stays.columns, strict=True)
            ]
            place = exp.table_(stays.table, db=stays.schema, quoted=True)
            rows = exp.select(*fields).from_(place).subquery(table.alias or table.name)
            rows.args["alias"].args["this"].set("quoted", True)
            table.replace(rows)
        return tree.sql("postgres", comments=False)
    except (SqlglotError, KeyError) as problem:
        raise Invalid(
            f"The query cannot be written for PostgreSQL: {str(problem)[:200]}. Load a copy of the table instead.",
            code="cannot-push-down",
        ) from None


def _names(sql: str, tables: Sequence[Dataset]) -> list[str]:
    """Names as people write them: those of the query, and the datasets' own above all."""
    import sqlglot

    words = [token.text for token in sqlglot.tokenize(sql, read="duckdb")]
    return [*words, *(column.name for each in tables for column in each.columns)]
