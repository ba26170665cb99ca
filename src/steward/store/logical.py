"""Changes of rows in a PostgreSQL database, as its logical decoding tells them through the plug-in pgoutput.

The server keeps a place, a replication slot, and every change after it. Changes are looked at, and the place is moved
only when they are stored: what a crash interrupts is told again, with the same position.
"""

import json
import struct
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass
from typing import Any, Final

from steward.core import Misconfigured, Unavailable

_WHOLE_NUMBERS: Final = frozenset({20, 21, 23, 26})
_BOOLEAN: Final = 16
_FLOATS: Final = frozenset({700, 701})
_DOCUMENTS: Final = frozenset({114, 3802})
_VERBS: Final = {"I": "insert", "U": "update", "D": "delete"}
_AT_ONCE: Final = 2_000
"""Changes after which the server ends a look, at the end of a transaction."""
_FETCHED: Final = 500
_CONNECT_SECONDS: Final = 10


@dataclass(frozen=True)
class Relation:
    schema: str
    table: str
    columns: tuple[tuple[str, int], ...]
    """Names, with the numbers of their types."""


@dataclass(frozen=True)
class Change:
    operation: str
    schema: str
    table: str
    row: dict[str, Any] | None
    """After the change; of one that is deleted, None."""
    old: dict[str, Any] | None
    """Before it, as far as the table's replica identity tells."""
    transaction: int
    """Where its transaction was committed."""
    number: int
    """Within the transaction, from 1."""


@dataclass(frozen=True)
class End:
    """All changes of a transaction were told."""

    transaction: int
    after: int
    """The place behind it."""


class Decoder:
    """Reads the messages of one look, in order; the server names each table before its first change."""

    def __init__(self) -> None:
        self._relations: dict[int, Relation] = {}
        self._transaction = 0
        self._number = 0

    def read(self, message: bytes) -> Iterator[Change | End]:
        kind, reader = chr(message[0]), _Reader(message, 1)
        if kind == "B":
            self._transaction, self._number = reader.number("q"), 0
        elif kind == "R":
            self._relation(reader)
        elif kind == "C":
            reader.number("b")
            reader.number("q")
            yield End(self._transaction, reader.number("q"))
        elif kind in _VERBS:
            yield self._change(_VERBS[kind], reader, self._relations[reader.number("I")])
        elif kind == "T":
            yield from self._emptied(reader)

    def _relation(self, reader: "_Reader") -> None:
        number = reader.number("I")
        schema, table = reader.text(), reader.text()
        reader.number("b")
        columns = []
        for _ in range(reader.number("h")):
            reader.number("b")
            name, kind = reader.text(), reader.number("I")
            reader.number("i")
            columns.append((name, kind))
        self._relations[number] = Relation(schema, table, tuple(columns))

    def _change(self, verb: str, reader: "_Reader", relation: Relation) -> Change:
        old = row = None
        while reader.has_more:
            mark, values = reader.mark(), _row(reader, relation)
            if mark == "N":
                row = values
            else:
                # By its key alone, the other columns are empty and not null.
                old = {k: v for k, v in values.items() if mark == "O" or v is not None}
        return self._change_of(verb, relation, row, old)

    def _emptied(self, reader: "_Reader") -> Iterator[Change]:
        count = reader.number("I")
        reader.number("b")
        for _ in range(count):
            yield self._change_of("truncate", self._relations[reader.number("I")], None, None)

    def _change_of(
        self,
        verb: str,
        relation: Relation,
        row: dict[str, Any] | None,
        old: dict[str, Any] | None,
    ) -> Change:
        self._number += 1
        where = relation.schema, relation.table
        return Change(verb, *where, row, old, self._transaction, self._number)


class Changes:
    """The changes of one publication, from one slot. One reader at a time, as the server sees to it."""

    def __init__(self, url: str, address: str | None, slot: str, publication: str) -> None:
        """`address` is where the connection goes, whatever the name in the URL leads to by then; unset: by the name."""
        self._url = url
        self._address = address
        self._slot = slot
        self._publication = publication
        self._connection: Any = None

    async def prepare(self) -> bool:
        """Makes the slot where there is none; whether it was made."""
        rows = await self._ask("SELECT 1 FROM pg_publication WHERE pubname = %s", self._publication)
        if not rows:
            raise Misconfigured(
                f"The database has no publication {self._publication!r}. Create it: "
                f"CREATE PUBLICATION {self._publication} FOR TABLE …"
            )
        known = await self._ask(
            "SELECT plugin, database = current_database() FROM pg_replication_slots WHERE slot_name = %s",
            self._slot,
        )
        if known and known[0] != ("pgoutput", True):
            raise Misconfigured(
                f"The slot {self._slot!r} belongs to another database or plug-in. Choose another name."
            )
        if not known:
            await self._ask("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", self._slot)
        return not known

    async def told(self) -> AsyncGenerator[Change | End, None]:
        """What the slot holds now, up to the end of a transaction; read in pieces, however large one is."""
        [(here,)] = await self._ask("SELECT (pg_current_wal_lsn() - '0/0')::bigint")
        connection, decoder, count = await self._open(), Decoder(), 0
        statement = (
            "SELECT data FROM pg_logical_slot_peek_binary_changes(%s, %s::pg_lsn, %s, "
            "'proto_version', '1', 'publication_names', %s)"
        )
        given = (self._slot, _written(here), _AT_ONCE, f'"{self._publication}"')
        try:
            async with connection.transaction(), connection.cursor("steward_changes") as cursor:
                await cursor.execute(statement, given)
                while rows := await cursor.fetchmany(_FETCHED):
                    for (data,) in rows:
                        count += 1
                        for each in decoder.read(bytes(data)):
                            yield each
        except self._errors() as problem:
            raise await self._lost(problem) from None
        if not count:
            # Nothing of this publication up to here: the server need not keep it.
            await self.move(here)

    async def move(self, after: int) -> None:
        """Tells the server that everything up to there is stored."""
        await self._ask(
            "SELECT pg_replication_slot_advance(slot_name, %s::pg_lsn) FROM pg_replication_slots "
            "WHERE slot_name = %s AND confirmed_flush_lsn < %s::pg_lsn",
            _written(after),
            self._slot,
            _written(after),
        )

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _ask(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        connection = await self._open()
        try:
            answer = await connection.execute(statement, given)
            found: list[tuple[Any, ...]] = await answer.fetchall()
        except self._errors() as problem:
            raise await self._lost(problem) from None
        return found

    async def _open(self) -> Any:
        try:
            import psycopg
        except ModuleNotFoundError:
            raise Misconfigured(
                "PostgreSQL needs Steward's 'postgres' extra; install it first."
            ) from None
        if self._connection is None:
            there: dict[str, Any] = {} if self._address is None else {"hostaddr": self._address}
            try:
                self._connection = await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, connect_timeout=_CONNECT_SECONDS, **there
                )
            except psycopg.Error as problem:
                raise await self._lost(problem) from None
        return self._connection

    def _errors(self) -> type[Exception]:
        import psycopg

        return psycopg.Error

    async def _lost(self, problem: Exception) -> Unavailable:
        await self.close()
        lines = str(problem).splitlines()
        said = lines[0][:200] if lines else type(problem).__name__
        return Unavailable(f"PostgreSQL did not answer: {said}")


def _written(place: int) -> str:
    return f"{place >> 32:X}/{place & 0xFFFFFFFF:X}"


class _Reader:
    def __init__(self, content: bytes, at: int) -> None:
        self._content = content
        self._at = at

    @property
    def has_more(self) -> bool:
        return self._at < len(self._content)

    def number(self, kind: str) -> int:
        form = f">{kind}"
        (found,) = struct.unpack_from(form, self._content, self._at)
        self._at += struct.calcsize(form)
        return int(found)

    def mark(self) -> str:
        return chr(self.number("B"))

    def text(self) -> str:
        end = self._content.index(b"\0", self._at)
        found = self._content[self._at : end].decode()
        self._at = end + 1
        return found

    def piece(self) -> bytes:
        size = self.number("i")
        found = self._content[self._at : self._at + size]
        self._at += size
        return found


def _row(reader: _Reader, relation: Relation) -> dict[str, Any]:
    found: dict[str, Any] = {}
    count = reader.number("h")
    for name, kind in relation.columns[:count]:
        mark = reader.mark()
        if mark == "n":
            found[name] = None
        elif mark == "t":
            found[name] = _value(kind, reader.piece().decode("utf-8", "replace"))
        # Large values that did not change are not told.
    return found


def _value(kind: int, text: str) -> Any:
    """What JSON has a kind for; numbers of any length and dates stay as PostgreSQL writes them."""
    if kind in _WHOLE_NUMBERS:
        return int(text)
    if kind == _BOOLEAN:
        return text == "t"
    if kind in _FLOATS:
        number = float(text)
        # JSON has no word for those that are none.
        return number if number - number == 0 else text
    if kind in _DOCUMENTS:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text
