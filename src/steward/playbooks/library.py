"""The library: playbooks with their revisions, which one is deployed, who may see them; archived before deleted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from steward.core import Clock, Conflict, Ids, Lined, NotFound, Problem, Stale
from steward.identity import Access, Role
from steward.playbooks import _tables as tables
from steward.playbooks.cards import (
    Card,
    Revision,
    State,
    card_of_row,
    numbered,
    revision_of_row,
    row_of,
)
from steward.playbooks.changes import changes_between
from steward.playbooks.comparison import Comparison, compare
from steward.playbooks.documents import as_yaml, file_text, read, refusal, source_of, without_people
from steward.playbooks.layout_files import Layout
from steward.playbooks.model import Allowed, Playbook
from steward.playbooks.people import People, Viewer, visible
from steward.playbooks.sharing import Sharing, change_card
from steward.runs import Json
from steward.store import Database, EventLog, Scope, Transaction

UNDO_WINDOW: Final = timedelta(days=30)
_COLUMNS: Final = tables.playbooks.c
_SEARCHED: Final = (*(_COLUMNS.name, _COLUMNS.slug, _COLUMNS.goal), _COLUMNS.folder, _COLUMNS.tags)
_REVISIONS: Final = tables.revisions.c
_NOTHING: Final[Mapping[str, Any]] = {}
Check = Callable[[Access, Playbook], Iterator[Problem]]


class Library:
    def __init__(
        self,
        database: Database,
        events: EventLog,
        clock: Clock,
        ids: Ids,
        people: People,
        check: Check,
    ) -> None:
        self._database = database
        self._events = events
        self._clock = clock
        self._ids = ids
        self._people = people
        self._check = check
        self._sharing = Sharing(events, clock)

    # Reading

    def listed(
        self,
        access: Access,
        *,
        text: str = "",
        folder: str | None = None,
        states: Sequence[State] = (State.draft, State.active),
        deleted: bool = False,
        after: str | None = None,
        limit: int = 50,
    ) -> list[Card]:
        """What the caller may see, by id; `text` looks in names, goals, folders and tags."""
        viewer = self._people.viewer(access)
        statement = sa.select(tables.playbooks).order_by(_COLUMNS.id)
        if deleted:
            since = self._clock.now() - UNDO_WINDOW
            statement = statement.where(_COLUMNS.deleted_at > since)
        else:
            wanted = [state.value for state in states]
            statement = statement.where(_COLUMNS.deleted_at.is_(None), _COLUMNS.state.in_(wanted))
        for word in text.split()[:10]:
            statement = statement.where(
                sa.or_(*(column.icontains(word, autoescape=True) for column in _SEARCHED))
            )
        if folder is not None:
            inside = _COLUMNS.folder.startswith(f"{folder}/", autoescape=True)
            statement = statement.where((_COLUMNS.folder == folder) | inside)
        if after is not None:
            statement = statement.where(_COLUMNS.id > after)
        with self._database.read(access.scope) as tx:
            seen = (card_of_row(row) for row in tx.rows(statement) if viewer.sees(row))
            return [card for card, _ in zip(seen, range(limit), strict=False)]

    def get(self, access: Access, named: str) -> Card:
        return self.seen_by(access.scope, self._people.viewer(access), named)

    def titles(self, scope: Scope, *, deleted: bool = False) -> dict[str, str]:
        """Of all playbooks by id, whoever sees them; for those who know which of them may be shown.

        A name may hold what became a secret after it was given.
        """
        wanted = sa.select(_COLUMNS.id, _COLUMNS.name, _COLUMNS.slug)
        with self._database.read(scope) as tx:
            rows = tx.rows(wanted if deleted else wanted.where(_COLUMNS.deleted_at.is_(None)))
        titles: dict[str, str] = self._database.conceal(
            scope, {row.id: row.name or row.slug for row in rows}
        )
        return titles

    def title(self, access: Access, named: str) -> str:
        """Of one playbook, as `titles` has it."""
        title: str = self._database.conceal(access.scope, self.get(access, named).title)
        return title

    def tags(self, scope: Scope) -> dict[str, list[str]]:
        """Of all playbooks by id, whoever sees them; deleted ones too, whose costs stay."""
        with self._database.read(scope) as tx:
            rows = tx.rows(sa.select(_COLUMNS.id, _COLUMNS.tags))
        tags: dict[str, list[str]] = self._database.conceal(
            scope, {row.id: row.tags.splitlines() for row in rows if row.tags}
        )
        return tags

    def seen_by(self, scope: Scope, viewer: Viewer, named: str) -> Card:
        with self._database.read(scope) as tx:
            return card_of_row(visible(tx, viewer, named))

    def revisions(
        self, access: Access, named: str, *, before: int | None = None, limit: int = 50
    ) -> list[Revision]:
        """Newest first."""
        card = self.get(access, named)
        statement = sa.select(tables.revisions).where(_REVISIONS.playbook_id == card.id)
        if before is not None:
            statement = statement.where(_REVISIONS.number < before)
        with self._database.read(access.scope) as tx:
            rows = tx.rows(statement.order_by(_REVISIONS.number.desc()).limit(limit))
        return [revision_of_row(row) for row in rows]

    def revision(self, access: Access, named: str, number: int | None = None) -> Revision:
        """A revision by its number; unset: the newest."""
        card = self.get(access, named)
        return self.revision_of(access.scope, card, number or card.head)

    def revision_of(self, scope: Scope, card: Card, number: int) -> Revision:
        return self.revision_by_id(scope, card.id, number)

    def revision_by_id(self, scope: Scope, playbook_id: str, number: int) -> Revision:
        """For Steward itself: nobody is asked whether they may see it."""
        with self._database.read(scope) as tx:
            return revision_of_row(numbered(tx, playbook_id, number))

    def diff(self, access: Access, named: str, left: int, right: int) -> list[str]:
        """What differs between two revisions, in lines that people read."""
        card = self.get(access, named)
        old = self.revision_of(access.scope, card, left).playbook
        new = self.revision_of(access.scope, card, right).playbook
        return changes_between(old, new)

    def comparison(self, access: Access, named: str, left: int, right: int) -> Comparison:
        """Two revisions side by side, node by node and field by field."""
        card = self.get(access, named)
        old = self.revision_of(access.scope, card, left)
        return compare(old, self.revision_of(access.scope, card, right))

    def text(self, access: Access, named: str, number: int | None = None) -> str:
        """The playbook as it is exported: a revision with its comments, and who may see it now."""
        card = self.get(access, named)
        revision = self.revision_of(access.scope, card, number or card.head)
        return file_text(revision.source, self.with_people(access, card, revision.playbook))

    def with_people(self, access: Access, card: Card, playbook: Playbook) -> Playbook:
        users = card.allowed.get("users", ())
        emails = self._people.addresses(access, {card.owner, *users})
        shared = Allowed(
            users=[emails[user] for user in users if user in emails],
            groups=list(card.allowed.get("groups", ())),
            everyone=bool(card.allowed.get("everyone")),
        )
        anybody = shared if shared != Allowed() else None
        return playbook.model_copy(update={"owner": emails.get(card.owner), "allowed": anybody})

    # Writing

    def checked(self, access: Access, source: str | Mapping[str, Any]) -> tuple[Playbook, Lined]:
        """A playbook in which nothing is wrong; Invalid names every problem with its place."""
        playbook, document = read(source)
        problems = list(self._check(access, playbook))
        problems += self._people.resolve(access, playbook.owner, playbook.allowed)[2]
        if problems:
            raise refusal(f"The playbook {playbook.id!r} is not valid", problems, document)
        return playbook, document

    def create(
        self,
        access: Access,
        source: str | Mapping[str, Any],
        *,
        message: str = "",
        layout: Layout | None = None,
    ) -> Card:
        """A new draft of the caller's."""
        access.require(Role.editor)
        playbook, _ = self.checked(access, source)
        drawn = drawn_beside(source, playbook, layout)
        try:
            with self._database.write(access.scope) as tx:
                return self.create_within(tx, access, playbook, message or "Created", drawn)
        except IntegrityError:
            raise taken(playbook.id) from None

    def create_within(
        self,
        tx: Transaction,
        access: Access,
        playbook: Playbook,
        message: str,
        drawn: Mapping[str, Any] = _NOTHING,
    ) -> Card:
        """The same for a playbook that was checked, in a transaction of the caller's."""
        owner, allowed, _ = self._people.resolve(access, playbook.owner, playbook.allowed)
        now = self._clock.now()
        row = {
            "id": self._ids.new("pbk"),
            "slug": playbook.id,
            **_described(playbook),
            "state": State.draft.value,
            "head": 0,
            "owner": owner or access.user_id,
            "allowed": allowed or {"users": [], "groups": [], "everyone": False},
            "armed": {},
            "created_by": access.user_id,
            "created_at": now,
            "updated_at": now,
            "version": 0,
        }
        tx.execute(sa.insert(tables.playbooks).values(**row))
        self._append(tx, access, str(row["id"]), playbook, message, drawn)
        self._events.append(tx, "playbook.created", str(row["id"]), {"by": access.user_id})
        return card_of_row(row_of(tx, str(row["id"])))

    def save(
        self,
        access: Access,
        named: str,
        version: int | None,
        source: str | Mapping[str, Any],
        *,
        message: str = "",
        layout: Layout | None = None,
    ) -> Card:
        """A new revision; the deployed one stays what it is. Comments and layout alone make none."""
        access.require(Role.editor)
        card = self.get(access, named)
        playbook, document = self.checked(access, source)
        if playbook.id != card.slug:
            said = f"the id of a playbook stays {card.slug!r}; make another playbook instead"
            raise refusal("The playbook is not valid", [Problem("/id", said)], document)
        drawn = drawn_beside(source, playbook, layout)
        with self._database.write(access.scope) as tx:
            return self.save_within(
                tx, access, card.id, playbook, message or "Changed", drawn, version=version
            )

    def save_within(
        self,
        tx: Transaction,
        access: Access,
        playbook_id: str,
        playbook: Playbook,
        message: str,
        drawn: Mapping[str, Any] = _NOTHING,
        *,
        version: int | None = None,
    ) -> Card:
        """The same for a playbook that was checked, in a transaction of the caller's."""
        owner, allowed, _ = self._people.resolve(access, playbook.owner, playbook.allowed)
        row = self._current(tx, access, playbook_id, version)
        if row.state == State.archived.value:
            raise Conflict("An archived playbook is not changed; bring it back first.")
        if owner is not None or allowed is not None:
            shared = row.allowed if allowed is None else allowed
            self._sharing.change(tx, row, owner or row.owner, shared, access.user_id)
        self._append(tx, access, playbook_id, playbook, message, drawn)
        return card_of_row(row_of(tx, playbook_id))

    def draw_within(
        self,
        tx: Transaction,
        access: Access,
        playbook_id: str,
        change: Callable[[Layout | None], Layout],
    ) -> Card:
        """Changes where the nodes of the newest revision are drawn; what it means stays the same."""
        row = row_of(tx, playbook_id)
        newest = numbered(tx, playbook_id, row.head)
        self._redraw(tx, access, newest, {"layout": dict(change(newest.layout))})
        return card_of_row(row_of(tx, playbook_id))

    def named_so(self, tx: Transaction, access: Access, slug: str) -> Card | None:
        """The playbook of this id; one that is hidden from the caller is a conflict, without a word about it."""
        row = tx.first(sa.select(tables.playbooks).where(_COLUMNS.slug == slug))
        if row is None:
            return None
        if not self._people.viewer(access).sees(row):
            raise taken(slug)
        return card_of_row(row)

    def share(self, access: Access, named: str, version: int, allowed: Allowed, owner: str) -> Card:
        """Who may see it from now on; runs under way go on."""
        access.require(Role.editor)
        card = self.get(access, named)
        owner_id, shared, problems = self._people.resolve(access, owner, allowed)
        if problems or owner_id is None or shared is None:
            raise refusal("It cannot be shared so", problems, Lined(None, {}))
        with self._database.write(access.scope) as tx:
            row = self._current(tx, access, card.id, version)
            self._sharing.change(tx, row, owner_id, shared, access.user_id)
            return card_of_row(row_of(tx, card.id))

    def name_of(self, scope: Scope, playbook_id: str | None) -> str | None:
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(_COLUMNS.name).where(_COLUMNS.id == playbook_id))
        return None if row is None else str(row.name)

    def deploy(
        self,
        access: Access,
        card: Card,
        number: int,
        armed: Mapping[str, Any],
        keep: Callable[[Transaction], int],
        message: str,
    ) -> Card:
        """Makes a revision the active one; `keep` writes the deployment down and answers with its number."""
        with self._database.write(access.scope) as tx:
            self._current(tx, access, card.id, card.version)
            numbered(tx, card.id, number)
            kept = {**armed, "deployment": keep(tx)}
            change_card(
                tx, self._clock, card.id, deployed=number, armed=kept, state=State.active.value
            )
            told = {"revision": number, "before": card.deployed, "by": access.user_id}
            told |= {"deployment": kept["deployment"], "message": message[:400]}
            self._events.append(tx, "playbook.deployed", card.id, told)
            return card_of_row(row_of(tx, card.id))

    def try_out(
        self,
        access: Access,
        card: Card,
        armed: Mapping[str, Any],
        keep: Callable[[Transaction], Json],
    ) -> Card:
        """Changes which deployments are tried beside the active one; `keep` answers with what to remember."""
        with self._database.write(access.scope) as tx:
            self._current(tx, access, card.id, card.version)
            tried = keep(tx)
            change_card(tx, self._clock, card.id, armed={**armed, **tried})
            told = {"by": access.user_id, **{name: each for name, each in tried.items() if each}}
            self._events.append(tx, "playbook.tried", card.id, told)
            return card_of_row(row_of(tx, card.id))

    def mark(
        self,
        access: Access,
        card: Card,
        state: State,
        armed: Mapping[str, Any],
        also: Callable[[Transaction], None] = lambda _: None,
    ) -> Card:
        """Archives it, or makes it a draft again; `also` changes its triggers in the same transaction."""
        with self._database.write(access.scope) as tx:
            self._current(tx, access, card.id, card.version)
            also(tx)
            change_card(tx, self._clock, card.id, state=state.value, armed=dict(armed))
            self._events.append(
                tx, "playbook.changed", card.id, {"state": state.value, "by": access.user_id}
            )
            return card_of_row(row_of(tx, card.id))

    def delete(self, access: Access, named: str, version: int) -> None:
        """The second step, for archived ones alone: hidden now, gone for good after thirty days."""
        access.require(Role.editor)
        card = self.get(access, named)
        if card.state is not State.archived:
            raise Conflict("Archive the playbook first; then it can be deleted.")
        now = self._clock.now()
        with self._database.write(access.scope) as tx:
            self._current(tx, access, card.id, version)
            change_card(tx, self._clock, card.id, deleted_at=now, slug=f"{card.slug}#{card.id}")
            self._events.append(tx, "playbook.deleted", card.id, {"by": access.user_id})
            _purge(tx, now - UNDO_WINDOW)

    def restore(self, access: Access, named: str) -> Card:
        """Brings a deleted playbook back as archived, within thirty days."""
        access.require(Role.editor)
        viewer = self._people.viewer(access)
        try:
            with self._database.write(access.scope) as tx:
                row = visible(tx, viewer, named, deleted=True)
                if row.deleted_at <= self._clock.now() - UNDO_WINDOW:
                    raise NotFound("It was deleted more than thirty days ago and is gone.")
                slug = row.slug.partition("#")[0]
                change_card(tx, self._clock, row.id, deleted_at=None, slug=slug)
                self._events.append(tx, "playbook.restored", row.id, {"by": access.user_id})
                return card_of_row(row_of(tx, row.id))
        except IntegrityError:
            raise taken(named) from None

    def free_slug(self, access: Access, wanted: str) -> str:
        """The id, or the id with the first number behind it that nobody uses."""
        base = wanted[:55].rstrip("-")
        statement = sa.select(_COLUMNS.slug).where(_COLUMNS.slug.startswith(base, autoescape=True))
        with self._database.read(access.scope) as tx:
            used = {row.slug for row in tx.rows(statement)}
        number = 2
        while (slug := base if number == 2 and base not in used else f"{base}-{number}") in used:
            number += 1
        return slug

    def _append(
        self,
        tx: Transaction,
        access: Access,
        playbook_id: str,
        playbook: Playbook,
        message: str,
        drawn: Mapping[str, Any],
    ) -> None:
        text = as_yaml(without_people(playbook))
        digest = sha256(text.encode()).hexdigest()
        row = row_of(tx, playbook_id)
        newest = numbered(tx, playbook_id, row.head) if row.head else None
        if newest is not None and newest.hash == digest:
            self._redraw(tx, access, newest, drawn)
            return
        number = row.head + 1
        kept = {"layout": newest.layout} if newest is not None else {}
        tx.execute(
            sa.insert(tables.revisions).values(
                playbook_id=playbook_id,
                number=number,
                hash=digest,
                text=text,
                **{**kept, **drawn},
                message=message[:400],
                author=access.user_id,
                created_at=self._clock.now(),
            )
        )
        change_card(tx, self._clock, playbook_id, head=number, **_described(playbook))
        self._events.append(
            tx, "playbook.saved", playbook_id, {"revision": number, "by": access.user_id}
        )

    def _redraw(
        self, tx: Transaction, access: Access, newest: sa.Row[Any], drawn: Mapping[str, Any]
    ) -> None:
        """Comments and layout of a revision change in place: what it means stays the same."""
        if all(getattr(newest, name) == value for name, value in drawn.items()):
            return
        tx.execute(
            sa.update(tables.revisions)
            .where(_REVISIONS.playbook_id == newest.playbook_id, _REVISIONS.number == newest.number)
            .values(**drawn)
        )
        change_card(tx, self._clock, newest.playbook_id)
        self._events.append(tx, "playbook.redrawn", newest.playbook_id, {"by": access.user_id})

    def _current(
        self, tx: Transaction, access: Access, playbook_id: str, version: int | None
    ) -> sa.Row[Any]:
        """The row, locked, if it is still what the caller read."""
        row = tx.first(
            sa.select(tables.playbooks).where(_COLUMNS.id == playbook_id).with_for_update()
        )
        if row is None or not self._people.viewer(access).sees(row):
            raise NotFound("There is no such playbook, or it is not open to you.")
        if version is not None and row.version != version:
            raise Stale("The playbook has changed since you read it. Read it again.")
        return row


def taken(slug: str) -> Conflict:
    return Conflict(
        f"The id {slug[:60]!r} is taken in this project; choose another one.", code="id-taken"
    )


def drawn_beside(
    source: str | Mapping[str, Any], playbook: Playbook, layout: Layout | None
) -> dict[str, Any]:
    """What is kept beside the document: the text as it was written, and the layout where one is given."""
    written = source_of(source, playbook) if isinstance(source, str) else None
    if layout is not None:
        return {"source": written, "layout": dict(layout)}
    # A file in the one order of documents, such as an export, takes no comments away.
    return {} if written in {None, as_yaml(without_people(playbook))} else {"source": written}


def _described(playbook: Playbook) -> dict[str, str]:
    return {
        "name": playbook.title,
        "folder": playbook.folder,
        "tags": "\n".join(playbook.tags),
        "goal": playbook.goal,
    }


def _purge(tx: Transaction, before: datetime) -> None:
    if tx.hold() is not None:
        return
    gone = tx.rows(sa.select(_COLUMNS.id).where(_COLUMNS.deleted_at <= before))
    ids = [row.id for row in gone]
    if ids:
        for table in (
            tables.shadow_runs,
            tables.shadows,
            tables.deployments,
            tables.tests,
            tables.revisions,
            tables.presence,
        ):
            tx.execute(sa.delete(table).where(table.c.playbook_id.in_(ids)))
        tx.execute(sa.delete(tables.drafts).where(tables.drafts.c.about.in_(ids)))
        tx.execute(sa.delete(tables.playbooks).where(_COLUMNS.id.in_(ids)))
