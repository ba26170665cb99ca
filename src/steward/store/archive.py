"""The file that a backup is: a gzipped tar in which a single changed byte does not go unnoticed."""

import gzip
import hashlib
import io
import os
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from steward.core import Invalid, Misconfigured
from steward.store.blobs import CHUNK

_LEVEL: Final = 1
# The last bytes of the file: an empty gzip member whose comment is a hash of all bytes before it, so
# that `tar xzf` still reads the file, and padding that no decoder looks at is covered too.
_SEAL_START: Final = b"\x1f\x8b\x08\x10\x00\x00\x00\x00\x00\xffsteward sha256="
_SEAL_END: Final = b"\x00\x03\x00" + bytes(8)
_SEAL_LENGTH: Final = len(_SEAL_START) + 64 + len(_SEAL_END)


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
        # Reading to the end also closes what the chunks come from.
        if source.read(1):
            raise Misconfigured(f"{name} grew while it was written; try again.")
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
    with path.open("wb") as file:
        with (
            gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            yield ArchiveWriter(archive)
        file.flush()
        file.write(_seal(path, path.stat().st_size))
        file.flush()
        os.fsync(file.fileno())


def reading(path: Path) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The entries in order, name and chunks; each is read before the next. Invalid when damaged."""
    with _clear_damage(path):
        _check_seal(path)
        with gzip.open(path) as packed, tarfile.open(fileobj=packed, mode="r:") as archive:
            for entry in archive:
                content = archive.extractfile(entry) if entry.type == tarfile.REGTYPE else None
                if content is None:
                    raise Invalid(f"The archive holds {entry.name!r}, which is not a plain file.")
                yield entry.name, _chunks(path, content)


def _seal(path: Path, size: int) -> bytes:
    """What must follow the first `size` bytes of the file."""
    hasher = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(min(CHUNK, size - file.tell())):
            hasher.update(chunk)
    return _SEAL_START + hasher.hexdigest().encode() + _SEAL_END


def _check_seal(path: Path) -> None:
    size = path.stat().st_size - _SEAL_LENGTH
    with path.open("rb") as file:
        file.seek(max(0, size))
        seal = file.read()
    if size < 0 or seal != _seal(path, size):
        raise Invalid(f"{path} is not a Steward backup, or it is damaged or cut short.")


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
