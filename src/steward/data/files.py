"""Original files of a project: kept byte for byte as blobs, previewed, downloaded."""

import codecs
import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import BigInteger, Column, String, Table, Text, UniqueConstraint

from steward.core.clock import Clock
from steward.core.errors import NotFound
from steward.core.ids import Ids
from steward.store import BlobStore, Database, EventLog, Scope
from steward.store.tables import Moment, id_column, metadata, scope_columns

files = Table(
    "files",
    metadata,
    id_column(primary_key=True),
    *scope_columns(),
    Column("name", String(255), nullable=False),
    Column("description", Text, nullable=False),
    Column("media_type", String(100), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("created_by", String(40), nullable=False),
    UniqueConstraint("project_id", "name"),
)

_SNIFFED_CHARACTERS = 8192
_DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class File:
    id: str
    name: str
    description: str
    media_type: str
    digest: str
    size: int
    created_at: datetime


@dataclass(frozen=True)
class Preview:
    """The first records of a delimited file, as the text that is there."""

    columns: list[str]
    rows: list[list[str]]
    truncated: bool


class Files:
    def __init__(
        self, database: Database, blobs: BlobStore, clock: Clock, ids: Ids, events: EventLog
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._clock = clock
        self._ids = ids
        self._events = events

    def add(
        self,
        scope: Scope,
        name: str,
        chunks: Iterable[bytes],
        *,
        author: str,
        media_type: str,
        description: str = "",
    ) -> File:
        blob = self._blobs.put(chunks)
        file_id = self._ids.new("fil")
        with self._database.write(scope) as tx:
            tx.execute(
                sa.insert(files).values(
                    id=file_id,
                    name=name,
                    description=description,
                    media_type=media_type,
                    digest=blob.digest,
                    size=blob.size,
                    created_at=self._clock.now(),
                    created_by=author,
                )
            )
            self._events.append(tx, "file.added", file_id, {"name": name, "size": blob.size})
        return self.get(scope, file_id)

    def get(self, scope: Scope, file_id: str) -> File:
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(files).where(files.c.id == file_id))
        if row is None:
            raise NotFound("There is no such file in this project.")
        return _file(row)

    def page(self, scope: Scope, *, after: str | None = None, limit: int = 50) -> list[File]:
        statement = sa.select(files)
        if after is not None:
            statement = statement.where(files.c.id > after)
        with self._database.read(scope) as tx:
            return [_file(row) for row in tx.rows(statement.order_by(files.c.id).limit(limit))]

    def content(self, file: File) -> Iterator[bytes]:
        return self._blobs.read(file.digest)

    def preview(self, file: File, limit: int) -> Preview:
        """Reads only as far as it must."""
        text = _text(self.content(file))
        head = next(text, "")
        while len(head) < _SNIFFED_CHARACTERS and (more := next(text, "")):
            head += more
        first_line = head.partition("\n")[0]
        delimiter = max(_DELIMITERS, key=first_line.count)
        records = csv.reader(_lines(head, text), delimiter=delimiter)
        columns = next(records, [])
        rows: list[list[str]] = []
        for record in records:
            if len(rows) == limit:
                return Preview(columns, rows, truncated=True)
            rows.append(record)
        return Preview(columns, rows, truncated=False)


def _text(chunks: Iterator[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
    for chunk in chunks:
        yield decoder.decode(chunk)


def _lines(head: str, rest: Iterator[str]) -> Iterator[str]:
    pending = head
    while True:
        *complete, pending = pending.split("\n")
        for line in complete:
            yield line + "\n"
        more = next(rest, "")
        if not more:
            if pending:
                yield pending
            return
        pending += more


def _file(row: sa.Row[Any]) -> File:
    return File(
        id=row.id,
        name=row.name,
        description=row.description,
        media_type=row.media_type,
        digest=row.digest,
        size=row.size,
        created_at=row.created_at,
    )
