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

from steward.core import Conflict, Invalid, NotFound, Problem, StewardError
from steward.identity import Access, Role
from steward.playbooks.cards import Card, State
from steward.playbooks.documents import LARGEST, as_yaml, decoded, read
from steward.playbooks.layout_files import (
    LARGEST_LAYOUT,
    Layout,
    layout_name,
    layout_text,
    merged,
    read_layout,
)
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
class SourceFile:
    """A file that is to be taken in."""

    name: str
    text: str
    unreadable: str | None = None
    """Why there is no text."""
    layout: Layout | None = None
    """Where an editor draws the nodes, from the file beside it; None keeps what is drawn here."""


class _NothingWritten(Exception):
    """Takes back what a transaction wrote, so that it only tells what would become of each file."""


class Exchange:
    def __init__(self, library: Library, database: Database) -> None:
        self._library = library
        self._database = database

    def bring_in(
        self,
        access: Access,
        text: str,
        *,
        message: str = "",
        mine: bool = False,
        layout: Layout | None = None,
    ) -> Imported:
        """Takes in one document: a new draft, a new revision, or nothing new.

        `mine` leaves out whom it belongs to and is shared with, as for a file from elsewhere. A `layout` is merged with
        what is drawn here.
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
            made = self._library.create(access, text, message=said)
            return Imported(playbook.id, Change.created, self._drawn(access, made, layout))
        after = self._library.save(access, before.id, None, text, message=said)
        after = self._drawn(access, after, layout)
        change = Change.unchanged if after.version == before.version else Change.changed
        return Imported(playbook.id, change, after)

    def _drawn(self, access: Access, card: Card, layout: Layout | None) -> Card:
        with self._database.write(access.scope) as tx:
            return self._draw(tx, access, card, layout)

    def _draw(self, tx: Transaction, access: Access, card: Card, layout: Layout | None) -> Card:
        if layout is None:
            return card
        return self._library.draw_within(tx, access, card.id, lambda kept: merged(kept, layout))

    def bring_in_all(
        self,
        access: Access,
        sources: Sequence[SourceFile],
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
        read_in: Sequence[tuple[SourceFile, Playbook | Imported]],
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

    def _understood(self, access: Access, source: SourceFile, *, mine: bool) -> Playbook | Imported:
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
        self, tx: Transaction, access: Access, source: SourceFile, playbook: Playbook, message: str
    ) -> Imported:
        name, drawn = source.name, drawn_beside(source.text, playbook, None)
        try:
            before = self._library.named_so(tx, access, playbook.id)
            if before is None:
                made = self._library.create_within(tx, access, playbook, message, drawn)
                return Imported(name, Change.created, self._draw(tx, access, made, source.layout))
            after = self._library.save_within(tx, access, before.id, playbook, message, drawn)
            after = self._draw(tx, access, after, source.layout)
        except Conflict as problem:
            return Imported(name, Change.refused, reason=problem.message)
        change = Change.unchanged if after.version == before.version else Change.changed
        return Imported(name, change, after)

    def files(self, access: Access) -> list[tuple[str, str]]:
        """Every playbook the caller sees by the path of its file, and its drawing, in the order of the paths."""
        return sorted(
            each for card in self.everything(access) for each in self._files(access, card)
        )

    def _files(self, access: Access, card: Card) -> Iterator[tuple[str, str]]:
        path = f"{card.folder}/{card.slug}.yaml".removeprefix("/")
        yield path, self._library.text(access, card.id)
        drawn = layout_text(card.slug, self._library.revision(access, card.id).layout)
        if drawn is not None:
            yield layout_name(path), drawn

    def write_folder(self, access: Access, folder: Path) -> list[Path]:
        """Writes every playbook the caller sees, in the folders of the library; only their owner reads the files."""
        written = []
        for card in self.everything(access):
            place = folder.joinpath(*[part for part in card.folder.split("/") if part])
            _make_private(folder, place)
            found = {Path(name).name: text for name, text in self._files(access, card)}
            for name, text in found.items():
                write_private(place / name, text.encode())
                written.append(place / name)
            beside = layout_name(f"{card.slug}.yaml")
            if beside not in found:
                # An older export may have left it there; an import would draw it again.
                (place / beside).unlink(missing_ok=True)
        return written

    def read_folder(
        self, access: Access, folder: Path, *, mine: bool = False, trial: bool = False
    ) -> list[Imported]:
        """Takes in every file of a folder, all of them or none, as `bring_in_all` does."""
        if not folder.is_dir():
            raise NotFound(f"There is no folder {folder}.")
        sources = [read_source(folder, path) for path in _files(folder)]
        return self.bring_in_all(access, sources, mine=mine, trial=trial)

    def everything(self, access: Access) -> Iterator[Card]:
        """Every playbook that the caller sees, put away or not."""
        after: str | None = None
        states = tuple(State)
        while page := self._library.listed(access, states=states, after=after, limit=200):
            yield from page
            after = page[-1].id


def _refused(source: SourceFile, problem: Invalid) -> Imported:
    return Imported(source.name, Change.refused, reason=problem.message, problems=problem.problems)


def read_source(folder: Path, path: Path) -> SourceFile:
    """A file of a playbook, with its drawing where that is beside it."""
    name = str(path.relative_to(folder))
    beside = path.with_name(layout_name(path.name))
    try:
        drawn = None
        if beside.exists():
            text = decoded(read_bytes(beside, 2 * LARGEST_LAYOUT))
            drawn = read_layout(text, layout_name(name))
        return SourceFile(name, read_file(path), layout=drawn)
    except StewardError as problem:
        return SourceFile(name, "", problem.message)


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
