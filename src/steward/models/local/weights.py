"""Which weights are listed, and which of them are on this machine."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from steward.core import Conflict, Invalid, NotFound, package_yaml

_NAME: Final = re.compile(r"[a-z][a-z0-9.-]{0,59}")


class Weights(BaseModel):
    """A file of open weights, and everything to know before fetching it."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    name: str = Field(pattern=_NAME.pattern)
    title: str
    use: str = ""
    licence: str
    bytes: int
    memory_bytes: int
    url: str | None = None
    sha256: str | None = Field(None, pattern=r"^[0-9a-f]{64}$")


@cache
def listed_weights() -> tuple[Weights, ...]:
    return tuple(
        Weights.model_validate(each)
        for each in package_yaml("steward.models.local", "weights.yaml")
    )


@dataclass(frozen=True)
class Kept:
    """Weights as they are on this machine."""

    name: str
    path: Path
    bytes: int
    sha256: str | None
    """Unknown for a file that somebody put there by hand."""
    confirmed: bool
    """Whether it may be used: its digest is known to be right, or somebody of this machine put it there."""


class Shelf:
    """The folder in which weights are kept, one file each, with its digest beside it: `.sha256` holds one that is known
    to be right, `.unconfirmed` one that was computed from what arrived and that nobody has compared yet.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise Invalid(
                f"{name[:60]!r} is not the name of a model: small letters, digits, . and -."
            )
        return self.folder / f"{name}.gguf"

    def kept(self) -> list[Kept]:
        found = sorted(self.folder.glob("*.gguf")) if self.folder.is_dir() else []
        return [self._kept(path) for path in found]

    def _kept(self, path: Path) -> Kept:
        waiting = unconfirmed_digest(path)
        digest = waiting or recorded_digest(path)
        return Kept(path.stem, path, path.stat().st_size, digest, waiting is None)

    def get(self, name: str) -> Path:
        path = self.path(name)
        if not path.is_file():
            raise NotFound(
                f"The model {name!r} is not on this machine. Fetch it with 'steward models pull {name}'."
            )
        digest = unconfirmed_digest(path)
        if digest is not None:
            raise Conflict(
                f"No one has confirmed the SHA-256 of {name!r} yet. It is {digest}. Compare it with the one that the "
                "publisher gives, then confirm it on the page Models, or with "
                f"'steward models pull {name} --sha256 {digest}'.",
                code="digest-not-confirmed",
            )
        return path

    def arrived(self, name: str) -> int | None:
        """Bytes of a fetch that is not finished; None where there is none."""
        part = self.path(name).with_suffix(".part")
        return part.stat().st_size if part.is_file() else None


def recorded_digest(path: Path) -> str | None:
    """The digest that the file at this place must have."""
    return _read(path.with_suffix(".sha256"))


def unconfirmed_digest(path: Path) -> str | None:
    return _read(path.with_suffix(".unconfirmed"))


def set_unconfirmed(path: Path, sha256: str) -> None:
    path.with_suffix(".unconfirmed").write_text(f"{sha256}\n")


def confirm(path: Path, sha256: str) -> None:
    path.with_suffix(".sha256").write_text(f"{sha256}\n")
    path.with_suffix(".unconfirmed").unlink(missing_ok=True)


def _read(beside: Path) -> str | None:
    return beside.read_text().strip() if beside.is_file() else None
