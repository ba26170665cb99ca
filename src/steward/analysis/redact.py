"""Personal data taken out of a table: masked, replaced by a keyed hash, or dropped with its column.

The hash is HMAC-SHA256 with a key of the project. The key never stands in the SQL of a change, which is stored and
shown: the SQL reads two session variables, the padded inner and outer keys, which `unlock` sets on the connection
that runs it. The same value gives the same hash wherever the same key is used, so redacted tables still join;
without the key, nobody can test guesses against the hashes.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Literal

import duckdb
from pydantic import BaseModel, ConfigDict, Field

from steward.analysis.consolidate.naming import fresh
from steward.analysis.relate.keytext import key_text
from steward.core import Invalid
from steward.tables import Change, ColumnLineage, Table, literal, quote, result_columns

INNER_KEY = "steward_redaction_inner"
OUTER_KEY = "steward_redaction_outer"
MIN_KEY_BYTES = 16
_BLOCK = 64


class _Method(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class Mask(_Method):
    """Letters become x or X and digits 0; punctuation, spaces and length stay, so the form can still be seen."""

    method: Literal["mask"] = "mask"
    keep_first: int = Field(0, ge=0, le=8, description="Characters at the start that stay.")
    keep_last: int = Field(0, ge=0, le=8, description="Characters at the end that stay.")
    keep_domain: bool = Field(False, description="For e-mail addresses: what follows @ stays.")


class Hash(_Method):
    """HMAC-SHA256 with the project's key, in hexadecimal digits."""

    method: Literal["hash"] = "hash"
    length: int = Field(64, ge=16, le=64, description="Digits; fewer make equal hashes likelier.")


class Drop(_Method):
    method: Literal["drop"] = "drop"


Method = Annotated[Mask | Hash | Drop, Field(discriminator="method")]


def redact(
    connection: duckdb.DuckDBPyConnection, table: Table, columns: Mapping[str, Mask | Hash | Drop]
) -> Change:
    """The plan of a redaction. A change with hashes needs `unlock` on the connection that runs its SQL.

    Missing values stay missing. Masked and hashed columns become text. The list of changed cells never shows the
    old values.
    """
    _check(table, columns)
    kept = [name for name in table.column_names if not isinstance(columns.get(name), Drop)]
    expressions = {
        name: _expression(table, name, method)
        for name, method in columns.items()
        if not isinstance(method, Drop)
    }
    terms = [f"{expressions.get(name, quote(name))} AS {quote(name)}" for name in kept]
    sql = f"SELECT {', '.join(terms)} FROM {table.source}"
    counts = _counts(connection, table, list(expressions))
    hashed = any(isinstance(method, Hash) for method in columns.values())
    return Change(
        operation="redact",
        arguments={"columns": {name: method.model_dump() for name, method in columns.items()}},
        sql=sql,
        inputs=(table,),
        columns=result_columns(connection, sql),
        lineage=tuple(_lineage(table, name, columns.get(name)) for name in kept),
        summary=_summary(columns, counts),
        counts={"changed_cells": sum(counts.values())},
        cells_sql=_cells(table, expressions),
        variables=(INNER_KEY, OUTER_KEY) if hashed else (),
        warnings=_warnings(columns),
    )


@contextmanager
def unlock(connection: duckdb.DuckDBPyConnection, key: bytes) -> Iterator[None]:
    """Lets the SQL of hashing changes run on this connection; the key is gone afterwards."""
    if len(key) < MIN_KEY_BYTES:
        raise Invalid(f"A key for hashing has at least {MIN_KEY_BYTES} bytes, not {len(key)}.")
    block = (hashlib.sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    for name, pad in ((INNER_KEY, 0x36), (OUTER_KEY, 0x5C)):
        padded = bytes(byte ^ pad for byte in block)
        connection.execute(f"SET VARIABLE {name} = ?::BLOB", [padded])
    try:
        yield
    finally:
        for name in (INNER_KEY, OUTER_KEY):
            connection.execute(f"RESET VARIABLE {name}")


def _check(table: Table, columns: Mapping[str, Mask | Hash | Drop]) -> None:
    if not columns:
        raise Invalid("Name at least one column to redact.")
    missing = [name for name in columns if name not in table.column_names]
    if missing:
        known = ", ".join(table.column_names[:50])
        raise Invalid(f"Table {table.name!r} has no column {missing[0]!r}. It has: {known}.")
    dropped = [name for name, method in columns.items() if isinstance(method, Drop)]
    if len(dropped) == len(table.columns):
        raise Invalid("All columns would go; keep at least one.")


def _expression(table: Table, name: str, method: Mask | Hash) -> str:
    kind = next(column.type for column in table.columns if column.name == name)
    text = key_text(quote(name), kind)
    if isinstance(method, Hash):
        return _hashed(text, method.length)
    return _masked(text, method)


def _hashed(text: str, length: int) -> str:
    inner, outer = (_variable(name) for name in (INNER_KEY, OUTER_KEY))
    digest = f"sha256({outer} || unhex(sha256({inner} || encode({text}))))"
    return f"CASE WHEN {text} IS NOT NULL THEN left({digest}, {length}) END"


def _variable(name: str) -> str:
    # An unset variable is null, and null would wipe the column: better to stop.
    missing = literal("The key for hashing is not set on this connection.")
    value = f"CAST(getvariable({literal(name)}) AS BLOB)"
    return f"CASE WHEN {value} IS NULL THEN CAST(error({missing}) AS BLOB) ELSE {value} END"


def _masked(text: str, method: Mask) -> str:
    head, tail = method.keep_first, method.keep_last
    hidden, domain = text, "''"
    if method.keep_domain:
        hidden = f"regexp_replace({text}, '@[^@]*$', '')"
        domain = f"regexp_extract({text}, '@[^@]*$')"
    middle = f"substring({hidden}, {head + 1}, greatest(0, length({hidden}) - {head + tail}))"
    # Capitals first; the X they leave is the one letter that the second step passes over.
    middle = f"regexp_replace({middle}, '\\p{{Lu}}', 'X', 'g')"
    middle = f"regexp_replace({middle}, '[^\\P{{L}}X]|\\p{{M}}', 'x', 'g')"
    middle = f"regexp_replace({middle}, '\\p{{N}}', '0', 'g')"
    shown = f"left({hidden}, {head}) || {middle} || right({hidden}, {tail})"
    # A value too short to hide anything is hidden whole.
    whole = f"repeat('x', length({hidden}))"
    return f"CASE WHEN length({hidden}) <= {head + tail} THEN {whole} ELSE {shown} END || {domain}"


def _lineage(table: Table, name: str, method: Mask | Hash | Drop | None) -> ColumnLineage:
    done = {"mask": "masked", "hash": "hashed with the project's key"}
    transformation = "unchanged" if method is None else done[method.method]
    return ColumnLineage(name, ((table.name, name),), transformation)


def _counts(
    connection: duckdb.DuckDBPyConnection, table: Table, names: list[str]
) -> dict[str, int]:
    if not names:
        return {}
    terms = ", ".join(f"count({quote(name)})" for name in names)
    row = connection.execute(f"SELECT {terms} FROM {table.source}").fetchone()
    return {name: int(number) for name, number in zip(names, row or (), strict=True)}


def _cells(table: Table, expressions: Mapping[str, str]) -> str | None:
    if not expressions:
        return None
    row = quote(fresh(table.column_names, "steward_row"))
    rows = f"(SELECT *, row_number() OVER () AS {row} FROM {table.source})"
    parts = " UNION ALL ".join(
        f'SELECT {row} AS "row", {index} AS part, {literal(name)} AS "column", '
        f'CAST(NULL AS VARCHAR) AS "old", {expression} AS "new" FROM {rows} WHERE {quote(name)} IS NOT NULL'
        for index, (name, expression) in enumerate(expressions.items())
    )
    return f'SELECT "row", "column", "old", "new" FROM ({parts}) ORDER BY "row", part'


def _summary(columns: Mapping[str, Mask | Hash | Drop], counts: Mapping[str, int]) -> str:
    said = []
    for name, method in columns.items():
        if isinstance(method, Drop):
            said.append(f"drops {name!r}")
        else:
            verb = "hashes" if isinstance(method, Hash) else "masks"
            said.append(f"{verb} {counts[name]:,} values of {name!r}")
    text = "; ".join(said)
    return text[:1].upper() + text[1:] + "."


def _warnings(columns: Mapping[str, Mask | Hash | Drop]) -> tuple[str, ...]:
    shown = [
        name
        for name, method in columns.items()
        if isinstance(method, Mask)
        and (method.keep_first or method.keep_last or method.keep_domain)
    ]
    if not shown:
        return ()
    return (f"Parts of {', '.join(repr(name) for name in shown)} stay readable, as asked.",)
