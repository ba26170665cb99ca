"""Rows that came back from the sandbox become a version: as text with declared types, never as a file of its making."""

import json
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Protocol

import duckdb

from steward.core import Invalid
from steward.store import Scope
from steward.tables import literal, quote, session
from steward.versions import Layout, Version, Versions

_DURATION: Final = re.compile(r"(-?)P(\d+)DT([\d.]+)S")
_MOST_DIGITS: Final = 38
_NESTED: Final = ("STRUCT(", "MAP(")
_UNFIT: Final = ("UNION(", "BIT", "GEOMETRY", "VARIANT")
_LEAST_BUFFER: Final = 1 << 20


class Column(Protocol):
    """A column as whoever made the rows declares it."""

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str: ...


def land(
    versions: Versions,
    scope: Scope,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Any]],
    layout: Layout,
) -> Version:
    """Stores the rows as a version that no branch has yet; the types they claim are checked value by value."""
    _refuse_names(columns)
    with TemporaryDirectory(prefix="steward-landing-") as folder, session() as connection:
        file = Path(folder) / "rows.json"
        types = [
            _type_of(connection, column.name, column.type, (row[at] for row in rows))
            for at, column in enumerate(columns)
        ]
        longest = _write(file, types, rows)
        names = ", ".join(f"c{at}: 'VARCHAR'" for at in range(len(columns)))
        source = (
            f"read_json({literal(str(file))}, format = 'newline_delimited', "
            f"columns = {{{names}}}, maximum_object_size = {max(longest * 2, _LEAST_BUFFER)})"
        )
        selected = ", ".join(
            f"{_cast(f'c{at}', kind)} AS {quote(column.name)}"
            for at, (column, kind) in enumerate(zip(columns, types, strict=True))
        )
        query = f"SELECT {selected} FROM {source}"
        try:
            return versions.write(scope, query, layout=layout, connection=connection)
        except duckdb.Error as problem:
            said = str(problem).partition("\n")[0]
            raise Invalid(f"The result cannot be kept as a table: {said}") from None


def _refuse_names(columns: Sequence[Column]) -> None:
    seen: set[str] = set()
    for column in columns:
        if not column.name or column.name.casefold() in seen:
            what = f"two columns called {column.name!r}" if column.name else "a column without name"
            raise Invalid(f"The result has {what}; name every column differently.")
        seen.add(column.name.casefold())


def _type_of(
    connection: duckdb.DuckDBPyConnection, name: str, claimed: str, values: Iterable[Any]
) -> str:
    """The type as DuckDB itself writes it: what the sandbox says about it is only looked up."""
    if claimed == "DECIMAL":
        return _decimal(values)
    try:
        found = str(connection.type(claimed))
    except duckdb.Error:
        raise Invalid(f"Column {name!r} has a type that is not known here: {claimed}.") from None
    if found.startswith(_UNFIT):
        raise Invalid(f"Column {name!r} has the type {found}; cast it to text or numbers first.")
    # Enumerations are kept as the texts they stand for; a column of nothing but NULL has no type yet.
    return "VARCHAR" if found.startswith("ENUM(") or found == '"NULL"' else found


def _decimal(values: Iterable[Any]) -> str:
    """Wide enough for every value, so that none is rounded."""
    scale = whole = 0
    for value in values:
        if value is None:
            continue
        _, digits, exponent = Decimal(str(value)).as_tuple()
        places = max(-exponent, 0) if isinstance(exponent, int) else 0
        scale, whole = max(scale, places), max(whole, len(digits) - places)
    if scale + whole > _MOST_DIGITS:
        return "DOUBLE"
    return f"DECIMAL({max(scale + whole, 1)},{scale})"


def _is_nested(kind: str) -> bool:
    return kind.endswith("]") or kind.startswith(_NESTED) or kind == "JSON"


def _cast(column: str, kind: str) -> str:
    if kind == "BLOB":
        return f"from_base64({column})"
    if kind == "VARCHAR":
        return column
    through = f"CAST({column} AS JSON)" if _is_nested(kind) else column
    return f"CAST({through} AS {kind})"


def _write(file: Path, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """One object of texts per line; gives the length of the longest."""
    longest = 0
    nested = [_is_nested(kind) for kind in types]
    with file.open("wb") as out:
        for row in rows:
            if len(row) != len(types):
                raise Invalid("The result has rows with more or fewer values than columns.")
            texts = {f"c{at}": _text(value, types[at], nested[at]) for at, value in enumerate(row)}
            line = json.dumps(texts, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
            longest = max(longest, len(line))
            out.write(line)
    return longest


def _text(value: Any, kind: str, nested: bool) -> str | None:
    if value is None:
        return None
    if nested and not (kind == "JSON" and isinstance(value, str)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        duration = _DURATION.fullmatch(value) if kind == "INTERVAL" else None
        if duration:
            sign, days, seconds = duration.groups()
            return f"{sign}{days} days {sign}{seconds} seconds"
        return value
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)
