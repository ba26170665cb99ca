"""The file that a backup is: a gzipped tar in which a single changed byte does not go unnoticed."""

import gzip
import hashlib
import io
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from steward.core.errors import Invalid
from steward.store.blobs import CHUNK

_LEVEL: Final = 1
# No name, no time, fastest compression: the only bytes that gzip's own checksum does not cover.
_GZIP_HEADER: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"


class ArchiveWriter:
    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self.sha256: dict[str, str] = {}
        """Hash of every entry so far."""

    def data(self, name: str, content: bytes) -> None:
        self.stream(name, len(content), iter([content]))

    def stream(self, name: str, size: int, chunks: Iterator[bytes]) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = size, 0o600
        source = _HashingReader(chunks)
        self._archive.addfile(entry, source)
        self.sha256[name] = source.hexdigest()

    def file(self, name: str, path: Path) -> None:
        with path.open("rb") as handle:
            self.stream(name, path.stat().st_size, iter(lambda: handle.read(CHUNK), b""))


class _HashingReader(io.RawIOBase):
    """What tarfile reads from: chunks, hashed as they pass."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = b""
        self._hasher = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        while size < 0 or len(self._rest) < size:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._rest += chunk
        taken = self._rest if size < 0 else self._rest[:size]
        self._rest = self._rest[len(taken) :]
        self._hasher.update(taken)
        return taken

    def hexdigest(self) -> str:
        return self._hasher.hexdigest()


@contextmanager
def writing(path: Path) -> Iterator[ArchiveWriter]:
    """Fills an archive; `path` exists already, with the permissions it shall have."""
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        yield ArchiveWriter(archive)


def reading(path: Path) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The entries in order, name and chunks; each is read before the next. Invalid when damaged."""
    with _clear_damage(path), path.open("rb") as file:
        if file.read(len(_GZIP_HEADER)) != _GZIP_HEADER:
            raise Invalid(f"{path} is not a Steward backup, or its first bytes are damaged.")
        file.seek(0)
        with (
            gzip.GzipFile(fileobj=file) as packed,
            tarfile.open(fileobj=packed, mode="r:") as archive,
        ):
            for entry in archive:
                content = archive.extractfile(entry) if entry.type == tarfile.REGTYPE else None
                if content is None:
                    raise Invalid(f"The archive holds {entry.name!r}, which is not a plain file.")
                yield entry.name, _chunks(path, content)
            # The checksum comes last: what tar ignores, such as padding, is checked only by reading on.
            while packed.read(CHUNK):
                pass


def _chunks(path: Path, content: IO[bytes]) -> Iterator[bytes]:
    with _clear_damage(path):
        while chunk := content.read(CHUNK):
            yield chunk


@contextmanager
def _clear_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise Invalid(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise Invalid(f"{path} is a folder, not a backup.") from None
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError) as error:
        raise Invalid(
            f"{path} is damaged or not a complete Steward backup ({type(error).__name__})."
        ) from None
