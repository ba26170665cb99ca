"""Uploads that survive a broken line: bytes are appended to a file, whose length is the truth.

A session is a folder: `session.json` says what is awaited, `content` holds what has arrived. The
caller asks for the offset, sends from there, and finishes; nothing else has to be remembered.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from steward.core.clock import Clock
from steward.core.errors import Conflict, Invalid, NotFound, TooLarge
from steward.core.ids import Ids, created_at, is_id

_PREFIX = "upload"
_CHUNK = 1 << 20
_LONGEST_NAME = 180
_RESERVED = re.compile(r"^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$", re.IGNORECASE)
_SHA256 = re.compile(r"^[0-9a-f]{64}$")


@dataclass(frozen=True)
class UploadLimits:
    bytes: int = 20 << 30
    sessions: int = 1_000
    idle: timedelta = timedelta(days=2)
    """How long a session may rest before it is given up."""


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


@dataclass(frozen=True)
class _Session:
    name: str
    given_name: str
    size: int | None
    touched: str
    finished: bool = False


class Uploads:
    """The uploads under one folder."""

    def __init__(self, folder: Path, clock: Clock, limits: UploadLimits | None = None) -> None:
        self._folder = folder
        self._clock = clock
        self._ids = Ids(clock)
        self._limits = limits or UploadLimits()

    def start(self, name: str, size: int | None = None) -> Upload:
        """Opens a session for a file; `size` is its length where the sender knows it."""
        if size is not None and size < 0:
            raise Invalid("The size of an upload cannot be negative.")
        if size is not None and size > self._limits.bytes:
            raise self._too_large()
        self._folder.mkdir(parents=True, exist_ok=True)
        if sum(1 for _ in self._folder.iterdir()) >= self._limits.sessions:
            raise TooLarge("Too many uploads are open; finish or abandon some first.")
        upload_id = self._ids.new(_PREFIX)
        place = self._folder / upload_id
        place.mkdir(mode=0o700)
        (place / "content").touch(mode=0o600)
        self._write(place, _Session(safe_name(name), name[:1000], size, self._now()))
        return self.get(upload_id)

    def get(self, upload_id: str) -> Upload:
        place = self._place(upload_id)
        return self._upload(upload_id, self._read(place), _length(self._content(place)))

    def append(self, upload_id: str, offset: int, chunks: Iterable[bytes]) -> Upload:
        """Appends bytes that begin at `offset`; what arrived before a failure is kept."""
        place = self._place(upload_id)
        with self._locked(place) as session:
            if session.finished or (place / "file" / session.name).exists():
                raise Conflict(
                    "This upload is finished. Begin another one.", code="upload-finished"
                )
            content = place / "content"
            there = _length(content)
            if offset != there:
                raise Conflict(
                    f"{there} bytes have arrived; send on from there, not from {offset}.",
                    code="upload-offset",
                )
            try:
                self._take(content, there, session, chunks)
            finally:
                self._write(place, replace(session, touched=self._now()))
        return self.get(upload_id)

    def _take(self, content: Path, there: int, session: _Session, chunks: Iterable[bytes]) -> None:
        most = self._limits.bytes if session.size is None else session.size
        with content.open("ab") as file:
            try:
                for chunk in chunks:
                    if there + len(chunk) > most:
                        raise (
                            self._too_large()
                            if session.size is None
                            else TooLarge(
                                f"More bytes arrived than the {session.size} that were announced.",
                                code="upload-too-large",
                            )
                        )
                    file.write(chunk)
                    there += len(chunk)
            finally:
                # The length counts as received only when the bytes are on the disk.
                file.flush()
                os.fsync(file.fileno())

    def finish(self, upload_id: str, sha256: str | None = None) -> Path:
        """The complete file; refused while bytes are missing or differ. May be repeated."""
        place = self._place(upload_id)
        with self._locked(place) as session:
            final = place / "file" / session.name
            # A crash may have come between moving the file and saying so.
            content = final if final.exists() else place / "content"
            length = _length(content)
            if session.size is not None and length != session.size:
                raise Conflict(
                    f"{length} of {session.size} bytes have arrived; send the rest first.",
                    code="upload-incomplete",
                )
            if sha256 is not None:
                _check_digest(content, sha256)
            if content != final:
                final.parent.mkdir(exist_ok=True)
                content.replace(final)
                _sync_folder(place)
            self._write(place, replace(session, finished=True, touched=self._now()))
            return final

    def abandon(self, upload_id: str) -> None:
        """Removes a session and what it holds; harmless when there is none."""
        if is_id(upload_id, _PREFIX):
            shutil.rmtree(self._folder / upload_id, ignore_errors=True)

    def expire(self) -> tuple[str, ...]:
        """Removes the sessions that have rested too long; which those were."""
        if not self._folder.is_dir():
            return ()
        limit = self._clock.now() - self._limits.idle
        gone = []
        for place in sorted(self._folder.iterdir()):
            if is_id(place.name, _PREFIX) and self._rests_since(place) < limit:
                shutil.rmtree(place, ignore_errors=True)
                gone.append(place.name)
        return tuple(gone)

    def _rests_since(self, place: Path) -> datetime:
        try:
            with self._locked(place) as session:
                return datetime.fromisoformat(session.touched)
        except Conflict:
            return self._clock.now()
        except NotFound:
            # A crash while a session was started leaves a folder without a session.
            return created_at(place.name)

    def _place(self, upload_id: str) -> Path:
        if not is_id(upload_id, _PREFIX) or not (self._folder / upload_id).is_dir():
            raise NotFound("There is no such upload; it may have expired. Start again.")
        return self._folder / upload_id

    def _content(self, place: Path) -> Path:
        content = place / "content"
        if content.exists():
            return content
        return place / "file" / self._read(place).name

    def _upload(self, upload_id: str, session: _Session, length: int) -> Upload:
        return Upload(
            upload_id,
            session.name,
            session.given_name,
            session.size,
            length,
            session.finished,
            datetime.fromisoformat(session.touched),
        )

    @contextmanager
    def _locked(self, place: Path) -> Iterator[_Session]:
        """One writer at a time; the system frees the lock of a process that dies."""
        with (place / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as problem:
                raise Conflict(
                    "Another request is writing this upload; wait for it.", code="upload-busy"
                ) from problem
            yield self._read(place)

    def _read(self, place: Path) -> _Session:
        try:
            return _Session(**json.loads((place / "session.json").read_text("utf-8")))
        except (FileNotFoundError, ValueError) as problem:
            raise NotFound("There is no such upload; start again.") from problem

    def _write(self, place: Path, session: _Session) -> None:
        temporary = place / "session.new"
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(asdict(session), file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place / "session.json")

    def _now(self) -> str:
        return self._clock.now().isoformat()

    def _too_large(self) -> TooLarge:
        return TooLarge(
            f"An upload may have at most {self._limits.bytes >> 20:,} MB.", code="upload-too-large"
        )


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


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _check_digest(content: Path, sha256: str) -> None:
    wanted = sha256.lower()
    if not _SHA256.match(wanted):
        raise Invalid("A SHA-256 digest has 64 hexadecimal digits.")
    digest = hashlib.sha256()
    with content.open("rb") as file:
        while data := file.read(_CHUNK):
            digest.update(data)
    if digest.hexdigest() != wanted:
        raise Invalid(
            "The file that arrived differs from the one that was sent; upload it again.",
            code="upload-digest",
        )


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
