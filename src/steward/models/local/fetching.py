"""Fetches a file of weights: resumed where it stopped, verified by its digest, and put in place only when whole."""

import asyncio
import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from steward.core.errors import Conflict, Denied, Invalid, TooLarge, Unavailable

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
    """Whether the digest was known before; otherwise it is recorded now and holds from now on."""


async def fetch(
    url: str, target: Path, sha256: str | None = None, progress: Progress = lambda *_: None
) -> Fetched:
    """The file at `target`; Conflict where it is not the one that was expected, and then nothing is kept."""
    _refuse_odd(url)
    known = await asyncio.to_thread(_expected, target, sha256)
    part = target.with_suffix(".part")
    for attempt in range(1, _TRIES + 1):
        try:
            await _download(url, part, progress)
            break
        except _Broken as broken:
            if attempt == _TRIES:
                raise Unavailable(
                    f"The download broke off {_TRIES} times: {broken}. What arrived is kept; try again to go on."
                ) from None
    return await asyncio.to_thread(_placed, part, target, known)


def _expected(target: Path, sha256: str | None) -> str | None:
    """The digest that was given, or that of an earlier fetch of the same model."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    recorded = target.with_suffix(".sha256")
    return sha256 or (recorded.read_text().strip() if recorded.is_file() else None)


def _placed(part: Path, target: Path, known: str | None) -> Fetched:
    """Puts a file in its place after looking at all of it; one that is wrong is removed."""
    if part.stat().st_size < len(_MAGIC) or _beginning(part) != _MAGIC:
        part.unlink()
        raise Invalid("What was fetched is not a GGUF file. Check the address.", code="not-weights")
    digest = _digest(part)
    if known is not None and digest != known.lower():
        part.unlink()
        raise Conflict(
            f"What was fetched has the SHA-256 {digest}, not {known}. It was removed: do not use this source.",
            code="wrong-digest",
        )
    part.replace(target)
    target.with_suffix(".sha256").write_text(digest + "\n")
    return Fetched(target, target.stat().st_size, digest, known is not None)


class _Broken(Exception):
    """The line broke; what arrived stays."""


async def _download(url: str, part: Path, progress: Progress) -> None:
    import httpx2

    from steward.models.provided import trusted_certificates

    have = _size(part)
    headers = {"accept-encoding": "identity"} | ({"range": f"bytes={have}-"} if have else {})
    timeout = httpx2.Timeout(_STALL_S)
    try:
        async with (
            httpx2.AsyncClient(
                verify=trusted_certificates(),
                timeout=timeout,
                follow_redirects=True,
                event_hooks={"request": [_before_request]},
            ) as client,
            client.stream("GET", url, headers=headers) as answer,
        ):
            if answer.status_code == 416:
                return  # all of it is here
            if answer.status_code not in {200, 206}:
                raise _refused(answer)
            resumed = answer.status_code == 206
            size = int(answer.headers.get("content-length") or 0)
            total = (have if resumed else 0) + size if size else None
            _refuse_large(part, have if resumed else 0, total)
            await _write(answer, part, "ab" if resumed else "wb", total, progress)
    except httpx2.HTTPError as problem:
        raise _Broken(type(problem).__name__) from None


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


def _refuse_large(part: Path, have: int, total: int | None) -> None:
    free = shutil.disk_usage(part.parent).free
    if total is not None and total - have + _SPARE > free:
        missing = (total - have + _SPARE - free) / (1 << 30)
        raise TooLarge(f"There is not enough room on the disk: {missing:.1f} GiB are missing.")


def _refused(answer: Any) -> Exception:
    return Unavailable(
        f"The server answered {answer.status_code} instead of the file. Check the address.",
        code="fetch-refused",
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_MAGIC))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
