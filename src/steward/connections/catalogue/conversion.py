"""Has a process of its own read a description, with a time limit, and takes what it found."""

import atexit
import gzip
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from steward.connections.catalogue import worker
from steward.core import TooLarge, Unavailable, error_from_json, minimal_environment
from steward.isolation import CannotStart, ForkServer

_SECONDS: Final = 300
_stem: Final = ForkServer(worker.__name__, minimal_environment())
"""What reads a description is forked from it: loading what reading needs takes longer than most reading."""
atexit.register(_stem.close)


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
            raise error_from_json(json.loads((folder / worker.ERROR).read_text()))
        yield folder


def _run(folder: Path) -> None:
    try:
        line = _stem.line(_SECONDS)
    except CannotStart as problem:
        raise Unavailable(f"The description cannot be read now: {problem}.") from None
    try:
        line.file.write(f"{folder}\n".encode())
        line.file.flush()
        how = json.loads(line.file.read())
    except TimeoutError:
        raise Unavailable("Reading the description took too long.", code="timeout") from None
    finally:
        line.close()
    if how["ended"] != 0:
        raise TooLarge(
            "Reading the description took more memory or time than is allowed.",
            code="description-too-large",
        )
