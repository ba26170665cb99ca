"""Parts on this machine: putting new files into the blob store so that a crash or a sweep cannot hurt, and finding them.

A ledger row is written before its file. The sweep deletes a file only while it holds the row, and only when nobody has
renewed it; so a writer that claims first either keeps the file it found or finds it missing and puts it back.
"""

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlalchemy as sa

from steward.core import Clock, Conflict, fault
from steward.store import CHUNK, BlobStore, Database, FileBlobs, Scope, Transaction, check_digest
from steward.versions import _tables as tables

WRITING = "writing-"


@dataclass(frozen=True)
class NewFile:
    """A finished file in the scratch folder, not yet in the store."""

    path: Path
    digest: str
    bytes: int


def measured(path: Path) -> NewFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return NewFile(path, digest, path.stat().st_size)


class Parts:
    def __init__(self, database: Database, blobs: BlobStore, clock: Clock, scratch: Path) -> None:
        self._database = database
        self._blobs = blobs
        self._clock = clock
        self.scratch = scratch
        scratch.mkdir(parents=True, exist_ok=True)
        self._cache = scratch / "parts"

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """A place for files being written; whatever is left in it afterwards is removed."""
        with TemporaryDirectory(prefix=WRITING, dir=self.scratch) as name:
            yield Path(name)

    def store(self, scope: Scope, files: Sequence[NewFile]) -> None:
        """Makes files durable under their digests; the same bytes twice are one blob."""
        fault("data.write.before_claim")
        with self._database.write(scope) as tx:
            self.claim(tx, {file.digest: file.bytes for file in files})
        fault("data.write.claimed")
        for file in files:
            self._put(file)
            fault("data.write.part_stored")

    def spool(self, scope: Scope, chunks: Iterable[bytes]) -> NewFile:
        """Takes in a file as it comes."""
        with self.folder() as folder:
            path = folder / "incoming"
            hashed, size = hashlib.sha256(), 0
            with path.open("wb") as file:
                for chunk in chunks:
                    hashed.update(chunk)
                    size += file.write(chunk)
            arrived = NewFile(path, hashed.hexdigest(), size)
            self.store(scope, [arrived])
        return arrived

    def adopt(self, scope: Scope, source: Path) -> NewFile:
        """Takes over a finished file."""
        file = measured(source)
        self.store(scope, [file])
        return file

    def join(self, scope: Scope, digests: Sequence[str]) -> NewFile:
        """One file of several stored ones, in order; one alone is that file, and nothing is copied."""
        if len(digests) == 1:
            path = self.locate(digests[0])
            return NewFile(path, digests[0], path.stat().st_size)
        return self.spool(scope, (chunk for each in digests for chunk in self._blobs.read(each)))

    def claim(self, transaction: Transaction, sizes: dict[str, int]) -> None:
        """Enters blobs into the ledger as used just now, also those the sweep had its eye on."""
        now = self._clock.now()
        rows = [
            {"blob": digest, "bytes": sizes[digest], "touched_at": now} for digest in sorted(sizes)
        ]
        tables.upsert(transaction, tables.blobs, rows, renew={"touched_at": now, "doomed_at": None})

    def renew(self, transaction: Transaction, digests: Sequence[str]) -> None:
        """Keeps blobs that a commit is about to name; they must be in the ledger."""
        now = self._clock.now()
        wanted = sorted(set(digests))
        for start in range(0, len(wanted), 500):
            chunk = wanted[start : start + 500]
            statement = sa.update(tables.blobs).where(tables.blobs.c.blob.in_(chunk))
            done = transaction.execute(statement.values(touched_at=now, doomed_at=None))
            if done.rowcount != len(chunk):
                raise Conflict(
                    "A file of this change is no longer stored: it waited longer than the retention "
                    "period for its commit. Upload it again.",
                    code="swept",
                )

    def locate(self, digest: str) -> Path:
        """A local path of a part; parts in remote storage are fetched once."""
        if isinstance(self._blobs, FileBlobs):
            return self._blobs.path(digest)
        target = self._cached(check_digest(digest))
        try:
            # Marks it as in use; copies that nobody asks for are trimmed.
            os.utime(target)
        except FileNotFoundError:
            target.parent.mkdir(parents=True, exist_ok=True)
            with self.folder() as folder:
                fetched = folder / digest
                with fetched.open("wb") as file:
                    for chunk in self._blobs.read(digest):
                        file.write(chunk)
                fetched.replace(target)
        return target

    def forget(self, digest: str) -> None:
        """Removes a blob and its local copy; only the sweep calls this."""
        self._cached(digest).unlink(missing_ok=True)
        self._blobs.delete(digest)

    def trim_copies(self, unused_since: float) -> int:
        """Removes local copies of remote parts that were not asked for lately."""
        stale = [path for path in self._cache.glob("??/*") if path.stat().st_mtime < unused_since]
        for path in stale:
            path.unlink(missing_ok=True)
        return len(stale)

    def _cached(self, digest: str) -> Path:
        return self._cache / digest[:2] / digest

    def _put(self, file: NewFile) -> None:
        if isinstance(self._blobs, FileBlobs):
            try:
                self._blobs.adopt(file.path, file.digest)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                # The scratch folder is on another file system: copy instead of moving.
                self._blobs.put(_chunks(file.path))
            return
        self._blobs.put(_chunks(file.path))
        target = self._cached(file.digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        file.path.replace(target)


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
