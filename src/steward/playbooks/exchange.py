"""Playbooks as files: one each, in one order, so that Git shows what changed and a second import changes nothing."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from sqlalchemy.exc import IntegrityError

from steward.core.errors import Conflict, Invalid, NotFound, Problem, StewardError
from steward.identity import Access, Role
from steward.playbooks.cards import Card, State
from steward.playbooks.documents import LARGEST, as_yaml, decoded, read
from steward.playbooks.library import Library, drawn_beside
from steward.playbooks.model import Playbook
from steward.store import Database, Transaction

MOST_FILES: Final = 2_000
ENDINGS: Final = (".yaml", ".yml")
_PEOPLE: Final = ("/owner", "/allowed")
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
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Source:
    """A file that is to be taken in."""

    name: str
    text: str
    unreadable: str | None = None
    """Why there is no text."""


class _NothingWritten(Exception):
    """Takes back what a transaction wrote, so that it only tells what would become of each file."""


class Exchange:
    def __init__(self, library: Library, database: Database) -> None:
        self._library = library
        self._database = database

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

    def bring_in_all(
        self,
        access: Access,
        sources: Sequence[Source],
        *,
        message: str = "",
        mine: bool = False,
        trial: bool = False,
    ) -> list[Imported]:
        """Takes in several files, all of them or none: one that is refused holds up the others.

        What became of each is told in the order given; with `trial`, or when one is refused, nothing is written.
        """
        access.require(Role.editor)
        read_in = [(source, self._understood(access, source, mine=mine)) for source in sources]
        done: list[Imported] = []
        try:
            with suppress(_NothingWritten), self._database.write(access.scope) as tx:
                done += self._put_all(tx, access, read_in, message or "Imported")
                if trial or any(each.change is Change.refused for each in done):
                    raise _NothingWritten
        except IntegrityError:
            raise Conflict(
                "Somebody made a playbook of the same id meanwhile. Try again."
            ) from None
        return done

    def _put_all(
        self,
        tx: Transaction,
        access: Access,
        read_in: Sequence[tuple[Source, Playbook | Imported]],
        message: str,
    ) -> Iterator[Imported]:
        names: dict[str, str] = {}
        for source, found in read_in:
            if isinstance(found, Imported):
                yield found
            elif found.id in names:
                said = f"{names[found.id]} has the same id {found.id!r}; import one of the two."
                yield Imported(source.name, Change.refused, reason=said)
            else:
                names[found.id] = source.name
                yield self._put(tx, access, source, found, message)

    def _understood(self, access: Access, source: Source, *, mine: bool) -> Playbook | Imported:
        """The playbook of a file, or why it is refused; lines are those of the file in any case."""
        if source.unreadable is not None:
            return Imported(source.name, Change.refused, reason=source.unreadable)
        try:
            playbook, _ = read(source.text)
        except Invalid as problem:
            return _refused(source, problem)
        if mine:
            playbook = playbook.model_copy(update={"owner": None, "allowed": None})
        try:
            self._library.checked(access, source.text)
        except Invalid as problem:
            if not (mine and all(each.pointer.startswith(_PEOPLE) for each in problem.problems)):
                return _refused(source, problem)
        return playbook

    def _put(
        self, tx: Transaction, access: Access, source: Source, playbook: Playbook, message: str
    ) -> Imported:
        name, drawn = source.name, drawn_beside(source.text, playbook, None)
        try:
            before = self._library.named_so(tx, access, playbook.id)
            if before is None:
                made = self._library.create_within(tx, access, playbook, message, drawn)
                return Imported(name, Change.created, made)
            after = self._library.save_within(tx, access, before.id, playbook, message, drawn)
        except Conflict as problem:
            return Imported(name, Change.refused, reason=problem.message)
        change = Change.unchanged if after.version == before.version else Change.changed
        return Imported(name, change, after)

    def files(self, access: Access) -> list[tuple[str, str]]:
        """Every playbook the caller sees by the path of its file, in the order of the paths."""
        found = (
            (
                f"{card.folder}/{card.slug}.yaml".removeprefix("/"),
                self._library.text(access, card.id),
            )
            for card in self.everything(access)
        )
        return sorted(found)

    def write_folder(self, access: Access, folder: Path) -> list[Path]:
        """Writes every playbook the caller sees, in the folders of the library; only their owner reads the files."""
        written = []
        for card in self.everything(access):
            place = folder.joinpath(*[part for part in card.folder.split("/") if part])
            _make_private(folder, place)
            path = place / f"{card.slug}.yaml"
            write_private(path, self._library.text(access, card.id).encode())
            written.append(path)
        return written

    def read_folder(
        self, access: Access, folder: Path, *, mine: bool = False, trial: bool = False
    ) -> list[Imported]:
        """Takes in every file of a folder, all of them or none, as `bring_in_all` does."""
        if not folder.is_dir():
            raise NotFound(f"There is no folder {folder}.")
        sources = [_source(folder, path) for path in _files(folder)]
        return self.bring_in_all(access, sources, mine=mine, trial=trial)

    def everything(self, access: Access) -> Iterator[Card]:
        """Every playbook that the caller sees, put away or not."""
        after: str | None = None
        states = tuple(State)
        while page := self._library.listed(access, states=states, after=after, limit=200):
            yield from page
            after = page[-1].id


def _refused(source: Source, problem: Invalid) -> Imported:
    return Imported(source.name, Change.refused, reason=problem.message, problems=problem.problems)


def _source(folder: Path, path: Path) -> Source:
    name = str(path.relative_to(folder))
    try:
        return Source(name, read_file(path))
    except StewardError as problem:
        return Source(name, "", problem.message)


def read_file(path: Path) -> str:
    """The text of a playbook's file; never more than a playbook can be."""
    return decoded(read_bytes(path, LARGEST * 4 + 4))


def read_bytes(path: Path, most: int) -> bytes:
    """The first bytes of a file, one more than `most` where there are; never through a link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as problem:
        raise Invalid(f"{path.name} cannot be read: {problem.strerror}.") from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Invalid(f"{path.name} is not a file.")
        return file.read(most + 1)


def _files(folder: Path) -> Iterator[Path]:
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in ENDINGS
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if len(found) > MOST_FILES:
        raise Invalid(
            f"A folder has at most {MOST_FILES:,} playbooks; this one has {len(found):,}."
        )
    yield from found


def _make_private(top: Path, place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True, mode=_PRIVATE_FOLDER)
    inside = place.resolve()
    if not inside.is_relative_to(top.resolve()):
        raise Conflict(f"{place} leads out of the folder; remove the link first.")


def write_private(path: Path, content: bytes) -> None:
    """Beside the old file first, then in its place: nobody ever sees half a playbook."""
    beside = path.with_name(f".{path.name}.new")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    beside.replace(path)
