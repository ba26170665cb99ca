"""Blobs: bytes named by their SHA-256, in files or in S3-compatible storage behind the same door."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Protocol

from steward.core import Invalid, Misconfigured, NotFound, TooLarge

CHUNK = 1 << 20


@dataclass(frozen=True)
class Blob:
    digest: str
    size: int


class BlobStore(Protocol):
    """What both stores promise, and the contract kit checks."""

    def put(self, chunks: Iterable[bytes], *, max_bytes: int | None = None) -> Blob:
        """Stores bytes durably; the same bytes twice are one blob."""
        ...

    def read(self, digest: str) -> Iterator[bytes]:
        """The bytes in chunks; NotFound at once when there is no such blob."""
        ...

    def size(self, digest: str) -> int | None:
        """Size in bytes, or None when there is no such blob."""
        ...

    def delete(self, digest: str) -> None:
        """Removes a blob; removing one that is not there is no error."""
        ...

    def digests(self) -> Iterator[str]:
        """Every stored blob, in order of digest."""
        ...


def check_digest(digest: str) -> str:
    if len(digest) != 64 or any(character not in "0123456789abcdef" for character in digest):
        raise Invalid("A blob is named by 64 lowercase hexadecimal digits (SHA-256).")
    return digest


@contextmanager
def spooled(
    chunks: Iterable[bytes], folder: Path, max_bytes: int | None
) -> Iterator[tuple[IO[bytes], Blob]]:
    """Writes chunks to a temporary file while hashing and counting them."""
    folder.mkdir(parents=True, exist_ok=True)
    hasher, size = hashlib.sha256(), 0
    with NamedTemporaryFile(dir=folder, prefix="incoming-", delete=False) as file:
        try:
            for chunk in chunks:
                size += len(chunk)
                if max_bytes is not None and size > max_bytes:
                    raise TooLarge(f"More than the allowed {max_bytes:,} bytes were sent.")
                hasher.update(chunk)
                file.write(chunk)
            file.flush()
            yield file, Blob(hasher.hexdigest(), size)
        finally:
            Path(file.name).unlink(missing_ok=True)


class FileBlobs:
    """Files under `<root>/ab/cd/<digest>`, written beside and renamed, so that none is ever half there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._incoming = root / "incoming"
        self._incoming.mkdir(parents=True, exist_ok=True)

    def put(self, chunks: Iterable[bytes], *, max_bytes: int | None = None) -> Blob:
        with spooled(chunks, self._incoming, max_bytes) as (file, blob):
            target = self.path(blob.digest)
            if not target.exists():
                os.fsync(file.fileno())
                self._move(Path(file.name), target)
        return blob

    def adopt(self, file: Path, digest: str) -> None:
        """Takes over a finished file whose digest the caller has just computed."""
        target = self.path(digest)
        if target.exists():
            file.unlink()
            return
        with file.open("rb+") as handle:
            os.fsync(handle.fileno())
        self._move(file, target)

    def _move(self, file: Path, target: Path) -> None:
        """Puts a finished, synced file in its place, durably."""
        folders = [target.parent]
        if not target.parent.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            folders += [target.parent.parent, self.root]
        file.chmod(0o440)
        file.replace(target)
        for folder in folders:
            sync_folder(folder)

    def read(self, digest: str) -> Iterator[bytes]:
        try:
            file = self.path(digest).open("rb")
        except FileNotFoundError:
            raise NotFound(f"Blob {digest[:12]}… is not in the store.") from None
        return _drain(file)

    def path(self, digest: str) -> Path:
        check_digest(digest)
        return self.root / digest[:2] / digest[2:4] / digest

    def size(self, digest: str) -> int | None:
        try:
            return self.path(digest).stat().st_size
        except FileNotFoundError:
            return None

    def delete(self, digest: str) -> None:
        self.path(digest).unlink(missing_ok=True)

    def digests(self) -> Iterator[str]:
        for first in sorted(self.root.glob("[0-9a-f][0-9a-f]")):
            for second in sorted(first.iterdir()):
                yield from sorted(file.name for file in second.iterdir())


def _drain(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK):
            yield chunk


def checked_chunks(blobs: BlobStore, digest: str) -> Iterator[bytes]:
    """The bytes of a blob; the last of them only if all are those it is named after."""
    hasher = hashlib.sha256()
    held: bytes | None = None
    for chunk in blobs.read(digest):
        if held is not None:
            yield held
        hasher.update(chunk)
        held = chunk
    if hasher.hexdigest() != digest:
        raise Misconfigured(
            f"The stored file {digest[:12]}… was altered or is damaged. Restore it from a backup."
        )
    if held is not None:
        yield held


def sync_folder(folder: Path) -> None:
    """A new name is durable only once the folder that holds it is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
