"""Uploads that survive a broken line and a stopped server: what has arrived is in the blob store, listed in the database.

Each request that adds bytes becomes one blob. The sender asks for the offset, sends from there, and goes on; any server
takes the next part, and any worker reads the file.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from steward.core import Clock, Conflict, Ids, Invalid, NotFound, TooLarge, work
from steward.store import EVERYWHERE, Database, Scope, Transaction
from steward.versions import FileEntry, Versions
from steward.workbench._tables import upload_parts, uploads

_PREFIX: Final = "upload"
_LONGEST_NAME: Final = 180
_RESERVED = re.compile(r"^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$", re.IGNORECASE)


@dataclass(frozen=True)
class UploadLimits:
    bytes: int = 20 << 30
    sessions: int = 1_000
    """Uploads of a project that may be open at a time."""
    idle: timedelta = timedelta(days=2)
    """How long an upload may rest before it is removed."""


@dataclass(frozen=True)
class Upload:
    id: str
    name: str
    """Safe as a file name."""
    given_name: str
    size: int | None
    offset: int
    """How many bytes have arrived: where to go on."""
    finished: bool
    touched: datetime


class Uploads:
    def __init__(
        self,
        database: Database,
        versions: Versions,
        clock: Clock,
        ids: Ids,
        limits: UploadLimits | None = None,
        scrub: Callable[[Scope, str], str] = lambda _scope, name: name,
    ) -> None:
        """`scrub` takes secrets out of the names of files."""
        self._database = database
        self._versions = versions
        self._clock = clock
        self._ids = ids
        self._limits = limits or UploadLimits()
        self._scrub = scrub

    def start(
        self, scope: Scope, name: str, size: int | None = None, *, reserve: float = 0.0
    ) -> Upload:
        """Begins an upload; `size` is the file's length where the sender knows it.

        `reserve` is the share of open uploads that is left to others.
        """
        if size is not None and size < 0:
            raise Invalid("The size of an upload cannot be negative.")
        if size is not None and size > self._limits.bytes:
            raise self._too_large()
        name = self._scrub(scope, name)
        upload_id, now = self._ids.new(_PREFIX), self._clock.now()
        with self._database.write(scope) as tx:
            open_ones = tx.first(sa.select(sa.func.count().label("n")).select_from(uploads))
            most = self._limits.sessions * (1 - reserve)
            if open_ones is not None and open_ones.n >= most:
                raise TooLarge("Too many uploads are open; finish or abandon some first.")
            tx.execute(
                sa.insert(uploads).values(
                    id=upload_id,
                    name=safe_name(name),
                    given_name=name[:1000],
                    size=size,
                    arrived=0,
                    touched_at=now,
                )
            )
        return self.get(scope, upload_id)

    def get(self, scope: Scope, upload_id: str) -> Upload:
        with self._database.read(scope) as tx:
            return _upload(_row(tx, upload_id))

    def append(self, scope: Scope, upload_id: str, offset: int, chunks: Iterable[bytes]) -> Upload:
        """Adds bytes that begin at `offset`; what arrived before a failure is kept."""
        upload = self.get(scope, upload_id)
        if upload.finished:
            raise Conflict("This upload is finished. Begin another one.", code="upload-finished")
        if offset != upload.offset:
            raise _elsewhere(upload.offset, offset)
        most = self._limits.bytes if upload.size is None else upload.size
        arriving = _Arriving(chunks, most - offset)
        part = self._versions.put_file(scope, upload.name, arriving)
        if part.bytes:
            self._add(scope, upload_id, offset, part)
        if arriving.problem is not None:
            raise arriving.problem
        if arriving.is_over:
            raise (
                self._too_large()
                if upload.size is None
                else TooLarge(
                    f"More bytes arrived than the {upload.size} that were announced.",
                    code="upload-too-large",
                )
            )
        return self.get(scope, upload_id)

    def _add(self, scope: Scope, upload_id: str, offset: int, part: FileEntry) -> None:
        with self._database.write(scope) as tx:
            # Two requests may have sent the same part: the first one counts.
            moved = tx.execute(
                sa.update(uploads)
                .where(
                    uploads.c.id == upload_id,
                    uploads.c.arrived == offset,
                    uploads.c.digest.is_(None),
                )
                .values(arrived=offset + part.bytes, touched_at=self._clock.now())
            )
            if not moved.rowcount:
                raise _elsewhere(_row(tx, upload_id).arrived, offset)
            tx.execute(
                sa.insert(upload_parts).values(
                    upload_id=upload_id, position=offset, digest=part.digest
                )
            )

    def take(
        self, scope: Scope, name: str, chunks: Iterable[bytes], *, reserve: float = 0.0
    ) -> Upload:
        """A whole file at once."""
        upload = self.start(scope, name, reserve=reserve)
        return self.append(scope, upload.id, 0, chunks)

    def file(self, scope: Scope, upload_id: str) -> FileEntry:
        """The whole file, as one blob; refused while bytes are missing. May be repeated."""
        with self._database.read(scope) as tx:
            row = _row(tx, upload_id)
            parts = tx.rows(
                sa.select(upload_parts.c.digest)
                .where(upload_parts.c.upload_id == upload_id)
                .order_by(upload_parts.c.position)
            )
        if row.size is not None and row.arrived != row.size:
            raise Conflict(
                f"{row.arrived} of {row.size} bytes have arrived; send the rest first.",
                code="upload-incomplete",
            )
        if row.digest is not None:
            return FileEntry(row.name, row.digest, row.arrived)
        whole = self._versions.join_files(scope, row.name, [part.digest for part in parts])
        with self._database.write(scope) as tx:
            done = tx.execute(
                sa.update(uploads)
                .where(uploads.c.id == upload_id, uploads.c.arrived == row.arrived)
                .values(digest=whole.digest, touched_at=self._clock.now())
            )
            if not done.rowcount:
                raise Conflict("Bytes of this upload are still arriving.", code="upload-busy")
            tx.execute(sa.delete(upload_parts).where(upload_parts.c.upload_id == upload_id))
        return whole

    def abandon(self, scope: Scope, upload_id: str) -> None:
        """Forgets an upload, harmless when there is none; the sweep removes its bytes."""
        with self._database.write(scope) as tx:
            _forget(tx, uploads.c.id == upload_id)

    def expire(self) -> int:
        """Forgets the uploads of all projects that have rested too long; how many those were."""
        limit = self._clock.now() - self._limits.idle
        with self._database.write(EVERYWHERE) as tx:
            return _forget(tx, uploads.c.touched_at < limit)

    def _too_large(self) -> TooLarge:
        return TooLarge(
            f"An upload may have at most {self._limits.bytes >> 20:,} MB.", code="upload-too-large"
        )


class _Arriving:
    """Bytes as they come, up to a limit; a broken line ends them and is told afterwards."""

    def __init__(self, chunks: Iterable[bytes], most: int) -> None:
        self._chunks = chunks
        self._most = most
        self.problem: Exception | None = None
        self.is_over = False

    def __iter__(self) -> Iterator[bytes]:
        left = self._most
        try:
            for chunk in self._chunks:
                work.current().check()
                left -= len(chunk)
                if left < 0:
                    self.is_over = True
                    return
                yield chunk
        except Exception as problem:  # noqa: BLE001 - raised once what came before is kept
            self.problem = problem


def _row(tx: Transaction, upload_id: str) -> sa.Row[tuple[object, ...]]:
    row = tx.first(sa.select(uploads).where(uploads.c.id == upload_id))
    if row is None:
        raise NotFound("There is no such upload; it may have expired. Start again.")
    return row


def _upload(row: sa.Row[tuple[object, ...]]) -> Upload:
    return Upload(
        row.id,
        row.name,
        row.given_name,
        row.size,
        row.arrived,
        row.digest is not None,
        row.touched_at,
    )


def _elsewhere(arrived: int, offset: int) -> Conflict:
    return Conflict(
        f"{arrived} bytes have arrived; send on from there, not from {offset}.",
        code="upload-offset",
    )


def _forget(tx: Transaction, which: sa.ColumnElement[bool]) -> int:
    found = [row.id for row in tx.rows(sa.select(uploads.c.id).where(which))]
    for start in range(0, len(found), 500):
        some = found[start : start + 500]
        tx.execute(sa.delete(upload_parts).where(upload_parts.c.upload_id.in_(some)))
        tx.execute(sa.delete(uploads).where(uploads.c.id.in_(some)))
    return len(found)


def safe_name(name: str) -> str:
    """A file name without folders, control characters or names a system reserves."""
    text = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    # Format characters reverse or hide parts of a name, as in `gpj.exe` shown as `exe.jpg`.
    text = "".join(c if c.isprintable() else " " for c in text if unicodedata.category(c)[0] != "C")
    text = re.sub(r'[<>:"|?*]', "_", text).strip(" .")
    if _RESERVED.match(text):
        text = f"_{text}"
    if len(text.encode()) > _LONGEST_NAME:
        stem, dot, ending = text.rpartition(".")
        tail = f".{ending}" if dot and len(ending.encode()) <= 20 else ""
        stem = stem if tail else text
        while len((stem + tail).encode()) > _LONGEST_NAME:
            stem = stem[:-1]
        text = stem + tail
    return text or "file"
