"""Playbooks as files: one each, in one order, so that Git shows what changed and a second import changes nothing."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from steward.core.errors import Conflict, Invalid, NotFound, StewardError
from steward.identity import Access, Role
from steward.playbooks.documents import LARGEST, as_yaml, decoded, read
from steward.playbooks.library import Card, Library, State

_MOST_FILES: Final = 2_000
_ENDINGS: Final = (".yaml", ".yml")
_PRIVATE_FILE: Final = 0o600
_PRIVATE_FOLDER: Final = 0o700


class Change(StrEnum):
    created = "created"
    changed = "changed"
    unchanged = "unchanged"
    refused = "refused"


@dataclass(frozen=True)
class Imported:
    """What became of one file."""

    name: str
    change: Change
    card: Card | None = None
    reason: str | None = None


class Exchange:
    def __init__(self, library: Library) -> None:
        self._library = library

    def bring_in(
        self, access: Access, text: str, *, message: str = "", mine: bool = False
    ) -> Imported:
        """Takes in one document: a new draft, a new revision, or nothing new.

        `mine` leaves out whom it belongs to and is shared with, as for a file from elsewhere.
        """
        access.require(Role.editor)
        playbook, _ = read(text)
        if mine:
            playbook = playbook.model_copy(update={"owner": None, "allowed": None})
            text = as_yaml(playbook)
        said = message or "Imported"
        try:
            before = self._library.get(access, playbook.id)
        except NotFound:
            return Imported(
                playbook.id, Change.created, self._library.create(access, text, message=said)
            )
        after = self._library.save(access, before.id, None, text, message=said)
        change = Change.unchanged if after.version == before.version else Change.changed
        return Imported(playbook.id, change, after)

    def write_folder(self, access: Access, folder: Path) -> list[Path]:
        """Writes every playbook the caller sees, in the folders of the library; only their owner reads the files."""
        written = []
        for card in self._everything(access):
            place = folder.joinpath(*[part for part in card.folder.split("/") if part])
            _make_private(folder, place)
            path = place / f"{card.slug}.yaml"
            _write_private(path, self._library.text(access, card.id).encode())
            written.append(path)
        return written

    def read_folder(self, access: Access, folder: Path, *, mine: bool = False) -> list[Imported]:
        """Takes in every file of a folder; what is refused says why and holds up no other."""
        if not folder.is_dir():
            raise NotFound(f"There is no folder {folder}.")
        done = []
        for path in _files(folder):
            name = str(path.relative_to(folder))
            try:
                done.append(self.bring_in(access, read_file(path), mine=mine))
            except StewardError as problem:
                done.append(Imported(name, Change.refused, reason=problem.message))
        return done

    def _everything(self, access: Access) -> Iterator[Card]:
        after: str | None = None
        states = tuple(State)
        while page := self._library.listed(access, states=states, after=after, limit=200):
            yield from page
            after = page[-1].id


def read_file(path: Path) -> str:
    """The text of a playbook's file; never through a link, never more than a playbook can be."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as problem:
        raise Invalid(f"{path.name} cannot be read: {problem.strerror}.") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Invalid(f"{path.name} is not a file.")
        return decoded(file.read(LARGEST * 4 + 4))


def _files(folder: Path) -> Iterator[Path]:
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in _ENDINGS
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if len(found) > _MOST_FILES:
        raise Invalid(
            f"A folder has at most {_MOST_FILES:,} playbooks; this one has {len(found):,}."
        )
    yield from found


def _make_private(top: Path, place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True, mode=_PRIVATE_FOLDER)
    inside = place.resolve()
    if not inside.is_relative_to(top.resolve()):
        raise Conflict(f"{place} leads out of the folder; remove the link first.")


def _write_private(path: Path, content: bytes) -> None:
    """Beside the old file first, then in its place: nobody ever sees half a playbook."""
    beside = path.with_name(f".{path.name}.new")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    beside.replace(path)
