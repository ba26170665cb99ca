"""Fetches a file of weights: resumed where it stopped, verified by its digest, and put in place only when whole.

A fetch goes on only where what comes next is certain to be of the same file: the digest of the whole is known, or the
server at the same address says that its file has not changed. Otherwise it begins again.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from steward.core import Conflict, Denied, Invalid, TooLarge, Unavailable, read_json
from steward.models.local.weights import confirm, recorded_digest, set_unconfirmed

if TYPE_CHECKING:
    import httpx2

Progress = Callable[[int, int | None], None]
"""Told of bytes that are here, and of how many there will be, where that is known."""
_MAGIC: Final = b"GGUF"
_MOST_BYTES: Final = 200 << 30
_SPARE: Final = 1 << 30
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_TRIES: Final = 4
_STALL_S: Final = 60.0


@dataclass(frozen=True)
class Fetched:
    path: Path
    bytes: int
    sha256: str
    verified: bool
    """Whether the digest was known before; otherwise somebody has to confirm it before the weights are used."""


@dataclass(frozen=True)
class _Wanted:
    url: str
    target: Path
    sha256: str | None
    bytes: int | None
    """How long the file with this digest is, where that is known."""

    @property
    def part(self) -> Path:
        return self.target.with_suffix(".part")


@dataclass(frozen=True)
class _Begun:
    """What is known about a file of which a part has arrived."""

    url: str
    sha256: str | None
    validator: str | None
    """What the server calls this state of the file."""
    total: int | None


async def fetch(
    url: str,
    target: Path,
    sha256: str | None = None,
    progress: Progress = lambda *_: None,
    *,
    size: int | None = None,
    transport: "Callable[[], httpx2.AsyncBaseTransport] | None" = None,
) -> Fetched:
    """The file at `target`; Conflict where it is not the one that was expected, and then nothing is kept."""
    _refuse_odd(url)
    known = sha256 or await asyncio.to_thread(recorded_digest, target)
    wanted = _Wanted(url, target, known.lower() if known else None, size if known else None)
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(target):
        for attempt in range(1, _TRIES + 1):
            try:
                await _download(wanted, progress, transport)
                break
            except _Broken as broken:
                if attempt == _TRIES:
                    raise Unavailable(
                        f"The download broke off {_TRIES} times: {broken}. What arrived is kept; try again to go on."
                    ) from None
        return await asyncio.to_thread(_placed, wanted)


@contextlib.contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Two fetches of one model, of two projects perhaps, must not write into one file."""
    with target.with_suffix(".lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(
                f"{target.stem} is being fetched already. Wait until that fetch has ended.",
                code="fetch-under-way",
            ) from None
        yield


def found_here(target: Path, sha256: str) -> Fetched | None:
    """The file that is here already, if it has this digest; then it is confirmed."""
    if not target.is_file() or _digest(target) != sha256.lower():
        return None
    confirm(target, sha256.lower())
    return Fetched(target, target.stat().st_size, sha256.lower(), verified=True)


def _placed(wanted: _Wanted) -> Fetched:
    """Puts a file in its place after looking at all of it; one that is wrong is removed."""
    part, target, known = wanted.part, wanted.target, wanted.sha256
    if part.stat().st_size < len(_MAGIC) or _beginning(part) != _MAGIC:
        _discard(part)
        raise Invalid("What was fetched is not a GGUF file. Check the address.", code="not-weights")
    digest = _digest(part)
    if known is not None and digest != known:
        _discard(part)
        raise Conflict(
            f"What was fetched has the SHA-256 {digest}, not {known}. It was removed: do not use this source.",
            code="wrong-digest",
        )
    # First, so that a crash between both leaves nothing that may be used unseen.
    set_unconfirmed(target, digest)
    part.replace(target)
    _record_of(part).unlink(missing_ok=True)
    if known is not None:
        confirm(target, digest)
    return Fetched(target, target.stat().st_size, digest, known is not None)


class _Broken(Exception):
    """The line broke; what arrived stays as far as it can be used."""


async def _download(
    wanted: _Wanted,
    progress: Progress,
    transport: "Callable[[], httpx2.AsyncBaseTransport] | None",
) -> None:
    import httpx2

    from steward.models.provided import trusted_certificates

    part = wanted.part
    begun = await asyncio.to_thread(_usable, wanted)
    have = (part.stat().st_size if part.is_file() else 0) if begun is not None else 0
    headers = {"accept-encoding": "identity"}
    if begun is not None and have:
        headers["range"] = f"bytes={have}-"
        if begun.url == wanted.url and begun.validator is not None:
            headers["if-range"] = begun.validator
    try:
        async with (
            httpx2.AsyncClient(
                verify=trusted_certificates(),
                timeout=httpx2.Timeout(_STALL_S),
                follow_redirects=True,
                event_hooks={"request": [_before_request]},
                transport=None if transport is None else transport(),
            ) as client,
            client.stream("GET", wanted.url, headers=headers) as answer,
        ):
            if answer.status_code == 416 and begun is not None and begun.total == have:
                return  # all of it is here
            if answer.status_code == 416 or (
                answer.status_code == 206 and not _continues(answer, begun, have)
            ):
                _discard(part)
                raise _Broken("the server has another file now")
            if answer.status_code not in {200, 206}:
                raise Unavailable(
                    f"The server answered {answer.status_code} instead of the file. Check the address.",
                    code="fetch-refused",
                )
            resumed = answer.status_code == 206
            size = int(answer.headers.get("content-length") or 0)
            total = (have if resumed else 0) + size if size else None
            _refuse_other_size(wanted, total)
            _refuse_large(part, have if resumed else 0, total)
            if not resumed:
                begun = _Begun(wanted.url, wanted.sha256, _validator(answer), total)
                _discard(part)
                _record_of(part).write_text(json.dumps(asdict(begun)))
            await _write(answer, part, "ab" if resumed else "wb", total, progress)
    except httpx2.HTTPError as problem:
        raise _Broken(type(problem).__name__) from None


def _usable(wanted: _Wanted) -> _Begun | None:
    """What a part on this machine is of, if a fetch may go on with it; otherwise it is removed."""
    begun = _read_record(wanted.part)
    if begun is not None and wanted.part.is_file():
        same_file = wanted.sha256 is not None and begun.sha256 == wanted.sha256
        unchanged = begun.url == wanted.url and begun.validator is not None
        if same_file or (unchanged and begun.sha256 == wanted.sha256):
            return begun
    _discard(wanted.part)
    return None


def _read_record(part: Path) -> _Begun | None:
    path = _record_of(part)
    try:
        return _Begun(**read_json(path.read_text())) if path.is_file() else None
    except (Invalid, TypeError):
        return None


def _continues(answer: Any, begun: _Begun | None, have: int) -> bool:
    """Whether a part of a file is the one that was asked for, of a file as long as before."""
    told = str(answer.headers.get("content-range", ""))
    place, _, total = told.removeprefix("bytes ").partition("/")
    if begun is None or place.partition("-")[0] != str(have):
        return False
    return begun.total is None or not total.isdigit() or int(total) == begun.total


def _validator(answer: Any) -> str | None:
    """What tells this state of the file from others: a strong ETag, or the time of its last change."""
    tag: str | None = answer.headers.get("etag")
    changed: str | None = answer.headers.get("last-modified")
    return tag if tag and not tag.startswith("W/") else changed


async def _write(answer: Any, part: Path, mode: str, total: int | None, progress: Progress) -> None:
    with part.open(mode) as file:
        async for chunk in answer.aiter_raw():
            await asyncio.to_thread(file.write, chunk)
            if file.tell() > _MOST_BYTES:
                raise TooLarge("The file is larger than any weights that Steward runs.")
            progress(file.tell(), total)
        file.flush()
        os.fsync(file.fileno())
        if total is not None and file.tell() < total:
            raise _Broken("the server sent less than it promised")


async def _before_request(request: Any) -> None:
    """Redirects are requests, too: each address is looked at before it is asked."""
    _refuse_odd(str(request.url))


def _refuse_odd(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return
    raise Denied("Weights are fetched by https only, or from this machine.", code="address-refused")


def _refuse_other_size(wanted: _Wanted, total: int | None) -> None:
    """A file of another length has another digest: no need to fetch all of it to know."""
    if wanted.bytes is not None and total is not None and total != wanted.bytes:
        raise Conflict(
            f"The file at this address has {total:,} bytes; the one with the expected SHA-256 has {wanted.bytes:,}. "
            "Check the address.",
            code="wrong-size",
        )


def _refuse_large(part: Path, have: int, total: int | None) -> None:
    free = shutil.disk_usage(part.parent).free
    if total is not None and total - have + _SPARE > free:
        missing = (total - have + _SPARE - free) / (1 << 30)
        raise TooLarge(f"There is not enough room on the disk: {missing:.1f} GiB are missing.")


def _record_of(part: Path) -> Path:
    return part.with_suffix(".part.json")


def _discard(part: Path) -> None:
    part.unlink(missing_ok=True)
    _record_of(part).unlink(missing_ok=True)


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_MAGIC))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
