"""Columns encrypted value by value, and back. Keys never stand in SQL: values are turned here, row by row.

A token is `enc1.<mode>.<type>.<key id>.<ciphertext>`. Deterministic tokens are AES-256-SIV: equal values of a project
give equal tokens, which still join and group. Random ones are AES-256-GCM: nothing can be compared. Project, mode,
type and key are authenticated with each value, and lengths are padded to blocks, so that they tell little.
"""

import base64
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from secrets import token_bytes
from tempfile import TemporaryDirectory
from typing import Final, Literal

import duckdb
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV

from steward.analysis.consolidate.naming import fresh
from steward.core import Conflict, Invalid, report
from steward.tables import (
    MODES,
    TOKEN,
    Change,
    ColumnLineage,
    Table,
    encryption_of,
    literal,
    quote,
    result_columns,
)

Mode = Literal["deterministic", "random"]
_NONCE: Final = 12
_BLOCK: Final = 16
_BATCH: Final = 5_000
_LINE: Final = 100_000
_SIMPLE: Final = re.compile(r"[A-Z][A-Z0-9_ ]*(\(\d+(,\d+)?\))?")
_WHOLE: Final = {"TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER"}
_TURNED: Final = "steward_turned"
_LETTERS: Final = {mode: letter for letter, mode in MODES.items()}


class Cipher:
    """The keys of one project, oldest first; the newest encrypts, all of them decrypt."""

    def __init__(self, project: str, keys: Mapping[str, bytes]) -> None:
        self._project = project
        self._siv = {
            name: AESSIV(hmac.digest(key, b"column", "sha512")) for name, key in keys.items()
        }
        self._gcm = {
            name: AESGCM(hmac.digest(key, b"cell", "sha256")) for name, key in keys.items()
        }
        self._newest = list(keys)[-1] if keys else ""
        self._known: dict[tuple[str, str], str] = {}

    def encrypt(self, text: str, mode: Mode, kind: str) -> str:
        if text.startswith(TOKEN):
            try:
                plain = self.decrypt(text)
            except Invalid:
                pass  # It only looks like one: a text like any other.
            else:
                said = encryption_of(text)
                if said is None or said.mode != mode:
                    raise Conflict(
                        f"The column is encrypted as {said and said.mode}. Decrypt it first."
                    )
                return text if said.key == self._newest else self.encrypt(plain, mode, said.type)
        known = self._known.get((kind, text)) if mode == "deterministic" else None
        if known is not None:
            return known
        head = f"{TOKEN}{_LETTERS[mode]}.{kind}.{self._newest}."
        bound, data = self._bound(head), text.encode() + b"\x80"
        data += bytes(-len(data) % _BLOCK)
        if mode == "deterministic":
            sealed = self._siv[self._newest].encrypt(data, [bound])
        else:
            nonce = token_bytes(_NONCE)
            sealed = nonce + self._gcm[self._newest].encrypt(nonce, data, bound)
        token = head + base64.urlsafe_b64encode(sealed).decode()
        if mode == "deterministic" and len(self._known) < 100_000:
            self._known[kind, text] = token
        return token

    def decrypt(self, token: str) -> str:
        """The value; Invalid where the token was changed, or comes from another project."""
        said = encryption_of(token)
        head, _, body = token.rpartition(".")
        changed = Invalid(
            "An encrypted value cannot be decrypted: it was changed, or another project encrypted it.",
            code="not-decrypted",
        )
        if said is None or said.key not in self._siv:
            raise changed
        bound = self._bound(head + ".")
        try:
            sealed = base64.b64decode(body, altchars=b"-_", validate=True)
            if base64.urlsafe_b64encode(sealed).decode() != body:
                # The last letter has bits that mean nothing.
                raise changed
            if said.mode == "deterministic":
                data = self._siv[said.key].decrypt(sealed, [bound])
            else:
                data = self._gcm[said.key].decrypt(sealed[:_NONCE], sealed[_NONCE:], bound)
        except (InvalidTag, ValueError):
            raise changed from None
        return data.rstrip(b"\0")[:-1].decode()

    def shown(self, value: str | None) -> str | None:
        """A cell as a person who may decrypt sees it."""
        return self.decrypt(value) if value is not None and value.startswith(TOKEN) else value

    def _bound(self, head: str) -> bytes:
        return f"{self._project}\n{head}".encode()


def encrypt(
    connection: duckdb.DuckDBPyConnection, table: Table, columns: Mapping[str, Mode]
) -> Change:
    """The plan of an encryption; its SQL shows no value before `turn` has run."""
    table.chosen(list(columns))
    shown = {name: _unless_null(name, literal("Encrypted")) for name in columns}
    said = ", ".join(f"{name!r} ({mode})" for name, mode in columns.items())
    return _change(connection, "encrypt_columns", table, shown, dict(columns), f"Encrypt {said}.")


def decrypt(connection: duckdb.DuckDBPyConnection, table: Table, columns: Sequence[str]) -> Change:
    """The plan of a decryption; its preview shows no value."""
    table.chosen(columns)
    ends = ", ".join(f"min({quote(name)}), max({quote(name)})" for name in columns)
    found = connection.execute(f"SELECT {ends} FROM {table.source}").fetchone() or ()
    kinds = {}
    for at, name in enumerate(columns):
        said = encryption_of(*found[2 * at : 2 * at + 2])
        kinds[name] = (said.type if said else "") or "VARCHAR"
    shown = {name: f"CAST(NULL AS {kinds[name]})" for name in columns}
    said_names = ", ".join(map(repr, columns))
    return _change(connection, "decrypt_columns", table, shown, kinds, f"Decrypt {said_names}.")


def turn(connection: duckdb.DuckDBPyConnection, change: Change, cipher: Cipher) -> None:
    """Makes the values that the change's SQL reads; on its own connection, before it runs."""
    table, names = change.inputs[0], list(change.arguments["columns"])
    kinds = {column.name: _kind(column.type) for column in table.columns}
    turns: list[Callable[[str], str | None]] = [cipher.shown for _ in names]
    if change.operation == "encrypt_columns":
        modes = change.arguments["columns"]
        turns = [_encrypting(cipher, modes[name], kinds[name]) for name in names]
    folder = connection.execute("SELECT current_setting('temp_directory')").fetchone()
    with TemporaryDirectory(dir=folder[0] if folder else None) as made:
        path = Path(made) / "turned.csv"
        texts = ", ".join(f"CAST({quote(name)} AS VARCHAR)" for name in names)
        found = connection.execute(f"SELECT {texts} FROM {table.source}")
        row, longest = 0, _LINE
        with path.open("w", encoding="ascii") as file:
            while batch := found.fetchmany(_BATCH):
                for values in batch:
                    row += 1
                    cells = (_packed(way, each) for way, each in zip(turns, values, strict=True))
                    size = file.write(f"{row},{','.join(cells)}\n")
                    longest = max(longest, size)
                report(change.summary.rstrip("."), row, table.rows)
        columns = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(len(names)))
        types = [_type(change, name) for name in names]
        decoded = ", ".join(
            f"CAST(decode(from_base64(substr(c{at}, 2))) AS {kind}) AS c{at}"
            for at, kind in enumerate(types)
        )
        connection.execute(f"DROP VIEW {_TURNED}")
        connection.execute(
            f"CREATE TEMP TABLE {_TURNED} AS SELECT place, {decoded} FROM read_csv({literal(str(path))}, "
            f"header = false, auto_detect = false, delim = ',', quote = '', escape = '', nullstr = '', "
            f"max_line_size = {longest}, columns = {{'place': 'BIGINT', {columns}}})"
        )


def _encrypting(cipher: Cipher, mode: Mode, kind: str) -> Callable[[str], str]:
    return lambda text: cipher.encrypt(text, mode, kind)


def _packed(way: Callable[[str], str | None], value: str | None) -> str:
    """A cell of the file: nothing where there is no value, and free of whatever a reader might stumble over."""
    made = None if value is None else way(value)
    return "" if made is None else "." + base64.b64encode(made.encode()).decode()


def _kind(kind: str) -> str:
    """The type as tokens name it: whole numbers are alike whatever their width, and what is nested is text."""
    return "BIGINT" if kind in _WHOLE else kind if _SIMPLE.fullmatch(kind) else "VARCHAR"


def _type(change: Change, name: str) -> str:
    return next(column.type for column in change.columns if column.name == name)


def _unless_null(name: str, value: str) -> str:
    return f"CASE WHEN {quote(name)} IS NOT NULL THEN {value} END"


def _change(
    connection: duckdb.DuckDBPyConnection,
    operation: str,
    table: Table,
    shown: Mapping[str, str],
    columns: Mapping[str, str],
    summary: str,
) -> Change:
    if not shown:
        raise Invalid("Name at least one column.")
    at = quote(fresh(table.column_names, "steward_row"))
    numbered = f"(SELECT *, row_number() OVER () AS {at} FROM {table.source})"
    stand_ins = ", ".join(f"{value} AS c{number}" for number, value in enumerate(shown.values()))
    connection.execute(
        f"CREATE TEMP VIEW {_TURNED} AS SELECT {at} AS place, {stand_ins} FROM {numbered}"
    )
    places = {name: f"t.c{number}" for number, name in enumerate(shown)}
    terms = ", ".join(
        f"{places.get(name, f's.{quote(name)}')} AS {quote(name)}" for name in table.column_names
    )
    sql = f"SELECT {terms} FROM {numbered} s JOIN {_TURNED} t ON s.{at} = t.place ORDER BY s.{at}"
    counted = ", ".join(f"count({quote(name)})" for name in shown)
    counts = connection.execute(f"SELECT {counted} FROM {table.source}").fetchone() or ()
    cells = " UNION ALL ".join(
        f'SELECT {at} AS "row", {literal(name)} AS "column", CAST(NULL AS VARCHAR) AS "old", '
        f'CAST(NULL AS VARCHAR) AS "new" FROM {numbered} WHERE {quote(name)} IS NOT NULL'
        for name in shown
    )
    done = "encrypted" if operation == "encrypt_columns" else "decrypted"
    return Change(
        operation=operation,
        arguments={"columns": dict(columns)},
        sql=sql,
        inputs=(table,),
        columns=result_columns(connection, sql),
        lineage=tuple(
            ColumnLineage(name, ((table.name, name),), done if name in shown else "unchanged")
            for name in table.column_names
        ),
        summary=summary,
        counts={"changed_cells": sum(counts)},
        cells_sql=f'SELECT * FROM ({cells}) ORDER BY "row"',
    )
