"""What agents remember between runs: short notes that only their own calls write, and that people look at and delete."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from steward.agents.composed import _tables as tables
from steward.broker import Notebook
from steward.core import Clock, Conflict, Ids, NotFound, Unavailable
from steward.store import Database, EventLog, Scope, Transaction

KEPT_DELETED: Final = timedelta(days=30)
"""How long a deleted note can be brought back."""
_N = tables.notes.c


@dataclass(frozen=True)
class Note:
    id: str
    agent: str
    person: str
    """Whose it is; empty where all runs of the project share it."""
    number: int
    text: str
    author: str
    """For whom the run worked that wrote it."""
    run_id: str
    created_at: datetime


class AgentNotes:
    def __init__(self, database: Database, events: EventLog, clock: Clock, ids: Ids) -> None:
        self._database = database
        self._events = events
        self._clock = clock
        self._ids = ids

    # Looking

    def recalled(self, scope: Scope, notebook: Notebook) -> list[Note]:
        """All that the agent remembers, in the order in which it was written."""
        with self._database.read(scope) as tx:
            return _kept(tx, notebook)

    def visible(self, scope: Scope, agent: str, user_id: str) -> list[Note]:
        """What a person may see of an agent's notes: the project's and their own, newest first."""
        wanted = _live().where(_N.agent == agent, _N.person.in_(["", user_id]))
        with self._database.read(scope) as tx:
            return [_note(row) for row in tx.rows(wanted.order_by(_N.id.desc()))]

    def written_by(self, scope: Scope, call: str) -> Note | None:
        """The note that a call wrote, if it wrote one."""
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.notes).where(_N.call == call))
        return _note(row) if row is not None else None

    def deleted_by(self, scope: Scope, call: str) -> list[Note]:
        """The notes that a call deleted."""
        wanted = sa.select(tables.notes).where(_N.deleting_call == call).order_by(_N.number)
        with self._database.read(scope) as tx:
            return [_note(row) for row in tx.rows(wanted)]

    def room_for(self, scope: Scope, notebook: Notebook, text: str) -> int:
        """How many notes there are already; Conflict where one more does not fit. The same text fits always."""
        with self._database.read(scope) as tx:
            kept = _kept(tx, notebook)
        if not _same(kept, text):
            _refuse_full(notebook, kept)
        return len(kept)

    def numbered(self, scope: Scope, notebook: Notebook, number: int) -> Note:
        found = [each for each in self.recalled(scope, notebook) if each.number == number]
        if not found:
            raise NotFound(f"You have no note {number}.")
        return found[0]

    # Changing

    def write(
        self, scope: Scope, notebook: Notebook, text: str, *, author: str, run_id: str, call: str
    ) -> tuple[Note, bool]:
        """The note of this text, and whether it is new: what is kept already is not kept twice."""
        with self._database.write(scope) as tx:
            # Runs that write at once count one after the other, or more would be kept than fit.
            tx.wait_for_turn(f"{scope.project_id}/notes/{notebook.agent}/{notebook.person}")
            return self._written(tx, notebook, text, author, run_id, call)

    def _written(
        self, tx: Transaction, notebook: Notebook, text: str, author: str, run_id: str, call: str
    ) -> tuple[Note, bool]:
        kept, now = _kept(tx, notebook), self._clock.now()
        same = _same(kept, text)
        if same is not None:
            return same, False
        _refuse_full(notebook, kept)
        tx.purge(sa.delete(tables.notes).where(_N.deleted_at < now - KEPT_DELETED))
        last = tx.first(sa.select(sa.func.max(_N.number)).where(*_of(notebook)))
        number = 1 + (last[0] or 0 if last is not None else 0)
        note_id = self._ids.new("note")
        tx.execute(
            sa.insert(tables.notes).values(
                id=note_id,
                agent=notebook.agent,
                person=notebook.person,
                number=number,
                text=text,
                author=author,
                run_id=run_id,
                call=call,
                created_at=now,
                deleted_at=None,
                deleting_call="",
            )
        )
        told = {"by": author, "name": notebook.agent, "run_id": run_id}
        self._events.append(tx, "agent.remembered", notebook.agent, told)
        row = tx.first(sa.select(tables.notes).where(_N.id == note_id))
        if row is None:
            raise Unavailable("The note was not kept. Try it again.")
        return _note(row), True

    def delete(
        self, scope: Scope, agent: str, note_ids: Sequence[str], *, by: str, call: str
    ) -> list[Note]:
        """Deletes those of the notes that are there; they can be brought back for a while."""
        with self._database.write(scope) as tx:
            wanted = _live().where(_N.agent == agent, _N.id.in_(note_ids))
            found = _set(tx, wanted, deleted_at=self._clock.now(), deleting_call=call)
            if found:
                told = {"by": by, "name": agent, "notes": len(found)}
                self._events.append(tx, "agent.notes_deleted", agent, told)
        return found

    def restore(self, scope: Scope, agent: str, note_ids: Sequence[str], *, by: str) -> list[Note]:
        """Brings deleted notes back."""
        these = sa.select(tables.notes).where(_N.agent == agent, _N.id.in_(note_ids))
        with self._database.write(scope) as tx:
            found = _set(tx, these.where(_N.deleted_at.is_not(None)), deleted_at=None)
            if found:
                told = {"by": by, "name": agent, "notes": len(found)}
                self._events.append(tx, "agent.notes_restored", agent, told)
            elif tx.first(these) is None:
                days = KEPT_DELETED.days
                raise NotFound(
                    f"The notes were deleted more than {days} days ago and cannot be restored."
                )
        return found


def _set(tx: Transaction, wanted: sa.Select[Any], **values: Any) -> list[Note]:
    """Changes the notes, and says which."""
    found = [_note(row) for row in tx.rows(wanted.order_by(_N.number))]
    if found:
        ids = [each.id for each in found]
        tx.execute(sa.update(tables.notes).where(_N.id.in_(ids)).values(**values))
    return found


def _live() -> sa.Select[Any]:
    return sa.select(tables.notes).where(_N.deleted_at.is_(None))


def _of(notebook: Notebook) -> tuple[sa.ColumnElement[bool], ...]:
    return (_N.agent == notebook.agent, _N.person == notebook.person)


def _kept(tx: Transaction, notebook: Notebook) -> list[Note]:
    wanted = _live().where(*_of(notebook)).order_by(_N.number)
    return [_note(row) for row in tx.rows(wanted)]


def _same(kept: Iterable[Note], text: str) -> Note | None:
    return next((each for each in kept if each.text == text), None)


def _refuse_full(notebook: Notebook, kept: Sequence[Note]) -> None:
    if len(kept) >= notebook.keep:
        raise Conflict(
            f"The memory is full: it keeps {notebook.keep} notes. Forget one that is no longer needed first.",
            code="memory-full",
        )


def _note(row: sa.Row[Any]) -> Note:
    return Note(
        row.id, row.agent, row.person, row.number, row.text, row.author, row.run_id, row.created_at
    )
