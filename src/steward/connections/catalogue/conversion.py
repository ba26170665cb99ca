"""Starts the process that reads descriptions, with a time limit, and takes what it found."""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from steward.connections.catalogue import worker
from steward.core import StewardError, TooLarge, Unavailable, errors, minimal_environment

_SECONDS: Final = 300
_ERRORS: Final[Mapping[str, type[StewardError]]] = {
    "TooLarge": TooLarge,
    "Invalid": errors.Invalid,
    "NotFound": errors.NotFound,
}


def convert_packaged(service_id: str) -> bytes:
    """The record of a service that an installed package describes, compressed."""
    with _worked({"do": "package", "service": service_id}) as folder:
        return (folder / worker.RECORD).read_bytes()


def convert_text(content: bytes, name: str, address: str = "") -> bytes:
    """The record of a description that somebody gave or that an address answered with."""
    request = {"do": "text", "name": name, "address": address}
    with _worked(request, content) as folder:
        return (folder / worker.RECORD).read_bytes()


def outline_packages() -> list[dict[str, Any]]:
    """All services of installed packages, with the names of their operations."""
    with _worked({"do": "outline"}) as folder:
        text = gzip.decompress((folder / worker.OUTLINE).read_bytes()).decode()
        return [json.loads(line) for line in text.splitlines()]


@contextmanager
def _worked(request: Mapping[str, Any], content: bytes | None = None) -> Iterator[Path]:
    with TemporaryDirectory(prefix="steward-catalogue-") as name:
        folder = Path(name)
        (folder / worker.REQUEST).write_text(json.dumps(request))
        if content is not None:
            (folder / worker.CONTENT).write_bytes(content)
        _run(folder)
        if (folder / worker.ERROR).exists():
            raise _error(json.loads((folder / worker.ERROR).read_text()))
        yield folder


def _run(folder: Path) -> None:
    command = [sys.executable, "-m", worker.__name__, str(folder)]
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            command,
            env=minimal_environment(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            cwd=folder,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable("Reading the description took too long.", code="timeout") from None
    if done.returncode != 0:
        raise TooLarge(
            "Reading the description took more memory or time than is allowed.",
            code="description-too-large",
        )


def _error(told: Mapping[str, str]) -> StewardError:
    kind = _ERRORS.get(told["class"], errors.Invalid)
    return kind(told["message"], code=told["code"])
