"""Threads: conversations as trees of turns. A turn is a run; the thread says what it follows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, Literal

import sqlalchemy as sa

from steward.agents.chat import _tables as tables
from steward.agents.chat._thread_rows import (
    Attachment,
    Thread,
    Turn,
    existing_thread,
    insert_turn,
    thread_of_row,
    turn_row,
)
from steward.agents.chat.turn_requests import CHAT_PROGRAM, PRIORITY, TurnRequests, shortened
from steward.agents.chat.turn_tree import Path, Turns
from steward.agents.operating.roster import Roster
from steward.broker import Toolbox, bound_to
from steward.core import Clock, Conflict, Ids, Invalid, Stale
from steward.identity import Access, Role
from steward.runs import Json, Run, RunRequest, Runs, Status
from steward.store import Database, EventLog, Scope, Transaction
from steward.workbench import Workbench

__all__ = [
    "CHAT_PROGRAM",
    "HEAD",
    "PRIORITY",
    "Attachment",
    "Parent",
    "Path",
    "Thread",
    "Threads",
    "Turn",
    "position_of",
    "subject_of",
    "thread_of",
]

UNDO_WINDOW: Final = timedelta(days=30)
DEFAULT_SETTINGS: Final[Mapping[str, str]] = {"rows": "all", "review": "changes"}
"""Whether rows may be shown to a model, and when a person looks at a plan before it runs."""
_SUBJECT: Final = "thread:"
_LONGEST_TITLE: Final = 80
_MOST_FOUND: Final = 500
_T, _U = tables.threads.c, tables.turns.c


class _Head(Enum):
    HEAD = "head"


HEAD: Final = _Head.HEAD
"""As a parent: the turn at which the thread stands."""
Parent = str | None | Literal[_Head.HEAD]


class Threads:
    def __init__(
        self,
        database: Database,
        runs: Runs,
        workbench: Workbench,
        tools: Toolbox,
        roster: Roster,
        events: EventLog,
        clock: Clock,
        ids: Ids,
        budget: Mapping[str, Any],
    ) -> None:
        """`budget` is what a turn may use when nobody says otherwise."""
        self._database = database
        self._runs = runs
        self._requests = TurnRequests(workbench, tools, roster, budget)
        self._events = events
        self._clock = clock
        self._ids = ids
        self.turns = Turns(database)

    def create(
        self,
        access: Access,
        *,
        title: str = "",
        branch: str | None = None,
        settings: Mapping[str, str] | None = None,
        client_id: str | None = None,
    ) -> Thread:
        access.require(Role.operator)
        title = self._runs.scrub(access.scope, title)
        branch = self._requests.known_branch(access, branch or "main")
        with self._database.write(access.scope) as tx:
            return self._created(tx, access, title, branch, settings, client_id)

    def get(self, scope: Scope, thread_id: str) -> Thread:
        with self._database.read(scope) as tx:
            return existing_thread(tx, thread_id)

    def named(self, access: Access, client_id: str) -> Thread | None:
        """The thread that a program of this person calls so."""
        with self._database.read(access.scope) as tx:
            row = tx.first(
                sa.select(tables.threads).where(
                    _T.client_id == client_id,
                    _T.created_by == access.user_id,
                    _T.deleted_at.is_(None),
                )
            )
        return None if row is None else thread_of_row(row)

    def listed(
        self, scope: Scope, *, text: str | None = None, before: str | None = None, limit: int = 50
    ) -> list[Thread]:
        """Threads in which something happened last come first; `before` is the position of one of them."""
        statement = sa.select(tables.threads).where(_T.deleted_at.is_(None))
        if text:
            said = self._threads_that_say(scope, text)
            statement = statement.where(
                sa.or_(_T.title.icontains(text, autoescape=True), _T.id.in_(said))
            )
        if before is not None:
            moment, thread_id = _position(before)
            statement = statement.where(
                sa.or_(_T.updated_at < moment, sa.and_(_T.updated_at == moment, _T.id < thread_id))
            )
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(_T.updated_at.desc(), _T.id.desc()).limit(limit))
        return [thread_of_row(row) for row in rows]

    def _threads_that_say(self, scope: Scope, text: str) -> list[str]:
        newest = sa.func.max(_U.run_id)
        statement = (
            sa.select(_U.thread_id)
            .where(_U.message.icontains(text, autoescape=True))
            .group_by(_U.thread_id)
            .order_by(newest.desc())
            .limit(_MOST_FOUND)
        )
        with self._database.read(scope) as tx:
            return [row.thread_id for row in tx.rows(statement)]

    def change(
        self,
        access: Access,
        thread_id: str,
        revision: int,
        *,
        title: str | None = None,
        settings: Mapping[str, str] | None = None,
        head: str | None = None,
    ) -> Thread:
        """Renames, sets, or moves on to another branch of the conversation."""
        access.require(Role.operator)
        title = self._runs.scrub(access.scope, title)
        with self._database.write(access.scope) as tx:
            thread = existing_thread(tx, thread_id, lock=True)
            if thread.revision != revision:
                raise Stale("The thread was changed meanwhile. Read it again.")
            values: dict[str, Any] = {"revision": revision + 1}
            if title is not None:
                values["title"] = title
            if settings is not None:
                values["settings"] = {**thread.settings, **settings}
            if head is not None:
                turn_row(tx, thread_id, head)
                values["head"] = head
            tx.execute(sa.update(tables.threads).where(_T.id == thread_id).values(**values))
            if title is not None or settings is not None:
                self._events.append(tx, "thread.changed", thread_id, {"by": access.user_id})
            return existing_thread(tx, thread_id)

    def delete(self, access: Access, thread_id: str) -> None:
        """Hides it; it can be had back for 30 days. Its runs stay in the record."""
        access.require(Role.operator)
        with self._database.write(access.scope) as tx:
            existing_thread(tx, thread_id, lock=True)
            self._mark(tx, thread_id, self._clock.now())
            self._events.append(tx, "thread.deleted", thread_id, {"by": access.user_id})

    def forget_turns(self, tx: Transaction, run_ids: Sequence[str]) -> None:
        """Before runs are removed: what follows their turns begins the thread, and empty threads go."""
        which = _U.run_id.in_(run_ids)
        threads = {row.thread_id for row in tx.rows(sa.select(_U.thread_id).where(which))}
        tx.execute(sa.update(tables.turns).where(_U.parent.in_(run_ids)).values(parent=None))
        tx.execute(sa.delete(tables.turns).where(which))
        left = sa.select(
            _U.thread_id, sa.func.count().label("turns"), sa.func.max(_U.run_id).label("last")
        )
        rows = tx.rows(left.where(_U.thread_id.in_(threads)).group_by(_U.thread_id))
        for row in rows:
            tx.execute(
                sa.update(tables.threads).where(_T.id == row.thread_id).values(turns=row.turns)
            )
            lost = _T.id == row.thread_id, _T.head.in_(run_ids)
            tx.execute(sa.update(tables.threads).where(*lost).values(head=row.last))
        empty = threads - {row.thread_id for row in rows}
        tx.execute(sa.delete(tables.threads).where(_T.id.in_(empty)))

    def restore(self, access: Access, thread_id: str) -> Thread:
        access.require(Role.operator)
        with self._database.write(access.scope) as tx:
            since = self._clock.now() - UNDO_WINDOW
            row = tx.first(
                sa.select(_T.id).where(_T.id == thread_id, _T.deleted_at > since).with_for_update()
            )
            if row is not None:
                self._mark(tx, thread_id, None)
                self._events.append(tx, "thread.restored", thread_id, {"by": access.user_id})
            return existing_thread(tx, thread_id)

    def begin(
        self,
        access: Access,
        message: str,
        *,
        thread_id: str | None = None,
        parent: Parent = HEAD,
        mentions: Sequence[str] = (),
        attachments: Sequence[str] = (),
        branch: str | None = None,
        query: RunRequest | None = None,
        query_type: str | None = None,
        extra: Mapping[str, Json] | None = None,
        client_id: str | None = None,
    ) -> tuple[Thread, Run]:
        """Puts a message in a thread, new where none is named, and its run in the queue: both or neither.

        `query` is the run of a message that needs no planning; anything else is driven by the program `chat`, whose
        document `extra` may add to.
        """
        access.require(Role.operator)
        # Before anything is cut out of it: half a secret would not be found.
        message = self._runs.scrub(access.scope, message)
        thread = self.get(access.scope, thread_id) if thread_id is not None else None
        branch = self._requests.known_branch(
            access, branch or (thread.branch if thread else "main")
        )
        if thread is not None and branch != thread.branch:
            raise Conflict(
                f"This thread works on the branch {thread.branch!r}; start another one for {branch!r}."
            )
        files = self._requests.attached(access, attachments)
        self._requests.check_mentions(access, branch, mentions)
        # Found before the transaction: others wait while it writes.
        tools = self._requests.tools(access.scope, message) if query is None else frozenset[str]()
        with self._database.write(access.scope) as tx:
            if thread_id is None:
                thread = self._created(
                    tx, access, shortened(message, _LONGEST_TITLE), branch, None, client_id
                )
            else:
                thread = existing_thread(tx, thread_id, lock=True)
            before = self._parent(tx, thread, parent, waits=query is None)
            request = query or self._requests.planned(
                tools, thread, message, before, mentions, files, extra or {}
            )
            request = bound_to(access, replace(request, subject=subject_of(thread.id)))
            run = self._runs.records.start_within(tx, access.user_id, request)
            turn = Turn(
                run_id=run.id,
                thread_id=thread.id,
                parent=before,
                message=message,
                mentions=tuple(mentions),
                attachments=files,
                query_type=query_type,
                created_by=access.user_id,
                created_at=run.created_at,
            )
            insert_turn(tx, turn)
            self._move(tx, thread, turn)
            return existing_thread(tx, thread.id), run

    def _created(
        self,
        tx: Transaction,
        access: Access,
        title: str,
        branch: str,
        settings: Mapping[str, str] | None,
        client_id: str | None,
    ) -> Thread:
        now = self._clock.now()
        thread_id = self._ids.new("thr")
        tx.execute(
            sa.insert(tables.threads).values(
                id=thread_id,
                title=title,
                branch=branch,
                settings={**DEFAULT_SETTINGS, **(settings or {})},
                turns=0,
                created_by=access.user_id,
                created_at=now,
                updated_at=now,
                revision=1,
                client_id=client_id,
            )
        )
        self._events.append(tx, "thread.created", thread_id, {"by": access.user_id})
        return existing_thread(tx, thread_id)

    def _mark(self, tx: Transaction, thread_id: str, moment: datetime | None) -> None:
        # A deleted thread gives its client's name free.
        values: dict[str, Any] = {"deleted_at": moment, "revision": _T.revision + 1}
        if moment is not None:
            values["client_id"] = None
        tx.execute(sa.update(tables.threads).where(_T.id == thread_id).values(**values))

    def _move(self, tx: Transaction, thread: Thread, turn: Turn) -> None:
        tx.execute(
            sa.update(tables.threads)
            .where(_T.id == thread.id)
            .values(
                head=turn.run_id,
                turns=_T.turns + 1,
                title=thread.title or shortened(turn.message, _LONGEST_TITLE),
                updated_at=turn.created_at,
                revision=_T.revision + 1,
            )
        )

    def _parent(
        self, tx: Transaction, thread: Thread, parent: Parent, *, waits: bool
    ) -> str | None:
        found = thread.head if parent is HEAD else parent
        if found is None:
            return None
        turn_row(tx, thread.id, found)
        run = self._runs.get(tx.project, found)
        if waits and run.status in {Status.queued, Status.running}:
            raise Conflict(
                "The message before is still being answered. Wait for it, or stop it first.",
                code="turn-running",
            )
        return found


def subject_of(thread_id: str) -> str:
    return f"{_SUBJECT}{thread_id}"


def thread_of(run: Run) -> str | None:
    """The thread that a run belongs to."""
    subject = run.subject or ""
    return subject.removeprefix(_SUBJECT) if subject.startswith(_SUBJECT) else None


def position_of(thread: Thread) -> str:
    """Where a thread stands in the list."""
    return f"{thread.updated_at.isoformat()} {thread.id}"


def _position(text: str) -> tuple[datetime, str]:
    moment, _, thread_id = text.partition(" ")
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise Invalid("The cursor is not one of ours; start again without it.")
    return found, thread_id
