"""Threads: conversations as trees of turns. A turn is a run; the thread says what it follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final, Literal

import sqlalchemy as sa

from steward.agents import _tables as tables
from steward.agents._turns import (
    Attachment,
    Turn,
    insert_turn,
    newest_below,
    require_known,
    siblings_of,
    tree_of,
    turn_of_row,
    turn_row,
    way_to,
)
from steward.agents.operator import READ_SKILL
from steward.agents.roster import Roster
from steward.broker.grants import Grant
from steward.broker.tool import Risk
from steward.broker.toolbox import Toolbox
from steward.core.clock import Clock
from steward.core.errors import Conflict, Invalid, NotFound, Problem, Stale
from steward.core.ids import Ids
from steward.data.workbench import Workbench
from steward.identity import Access, Role
from steward.runs import Json, Run, RunRequest, Runs, Status
from steward.store import Database, EventLog, Scope, Transaction

__all__ = [
    "HEAD",
    "PRIORITY",
    "PROGRAM",
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

PROGRAM: Final = "chat"
FORMAT: Final = 1
UNDO_WINDOW: Final = timedelta(days=30)
DEFAULT_SETTINGS: Final[Mapping[str, str]] = {"rows": "all", "review": "changes"}
"""Whether rows may be shown to a model, and when a person looks at a plan before it runs."""
PRIORITY: Final = 10
"""Somebody sits there and waits: chat goes before other work."""
_SUBJECT: Final = "thread:"
_LONGEST_TITLE: Final = 80
_LONGEST_RUN_TITLE: Final = 120
_MOST_FOUND: Final = 500
_T, _U = tables.threads.c, tables.turns.c


class _Head(Enum):
    HEAD = "head"


HEAD: Final = _Head.HEAD
"""As a parent: the turn at which the thread stands."""
Parent = str | None | Literal[_Head.HEAD]


@dataclass(frozen=True)
class Thread:
    id: str
    title: str
    branch: str
    settings: Mapping[str, str]
    head: str | None
    turns: int
    created_by: str
    created_at: datetime
    updated_at: datetime
    revision: int


@dataclass(frozen=True)
class Path:
    """Turns from the first one shown to a leaf."""

    turns: Sequence[Turn]
    before: str | None
    """Ask with this for the turns before; None when the first one is the root."""


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
        self._workbench = workbench
        self._tools = tools
        self._roster = roster
        self._events = events
        self._clock = clock
        self._ids = ids
        self._budget = dict(budget)

    # Threads

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
        branch = self._branch(access, branch or "main")
        with self._database.write(access.scope) as tx:
            return self._created(tx, access, title, branch, settings, client_id)

    def get(self, scope: Scope, thread_id: str) -> Thread:
        with self._database.read(scope) as tx:
            return _existing(tx, thread_id)

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
        return None if row is None else _thread(row)

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
        return [_thread(row) for row in rows]

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
        with self._database.write(access.scope) as tx:
            thread = _existing(tx, thread_id, lock=True)
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
            return _existing(tx, thread_id)

    def delete(self, access: Access, thread_id: str) -> None:
        """Hides it; it can be had back for 30 days. Its runs stay in the record."""
        access.require(Role.operator)
        with self._database.write(access.scope) as tx:
            _existing(tx, thread_id, lock=True)
            self._mark(tx, thread_id, self._clock.now())
            self._events.append(tx, "thread.deleted", thread_id, {"by": access.user_id})

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
            return _existing(tx, thread_id)

    # Turns

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
        thread = self.get(access.scope, thread_id) if thread_id is not None else None
        branch = self._branch(access, branch or (thread.branch if thread else "main"))
        if thread is not None and branch != thread.branch:
            raise Conflict(
                f"This thread works on the branch {thread.branch!r}; start another one for {branch!r}."
            )
        files = self._attached(access, attachments)
        self._check_mentions(access, branch, mentions)
        with self._database.write(access.scope) as tx:
            if thread_id is None:
                thread = self._created(tx, access, _title(message), branch, None, client_id)
            else:
                thread = _existing(tx, thread_id, lock=True)
            before = self._parent(tx, thread, parent, waits=query is None)
            request = query
            if request is None:
                document = _document(thread, message, before, mentions, files)
                request = self._request(
                    access.scope, thread, message, {**document, **(extra or {})}
                )
            request = replace(request, subject=subject_of(thread.id))
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
            return _existing(tx, thread.id), run

    def path(
        self,
        scope: Scope,
        thread_id: str,
        *,
        leaf: str | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> Path:
        """The last turns on the way from the root to a leaf (the head, where none is named), oldest first.

        A leaf stands for the conversation that goes on below it: of its answers the newest ones are followed.
        """
        with self._database.read(scope) as tx:
            thread = _existing(tx, thread_id)
            tree = tree_of(tx, thread_id)
            if before is not None:
                require_known(tree, before)
                way = way_to(tree, before)[:-1]
            else:
                start = leaf or thread.head
                if start is None:
                    return Path((), None)
                require_known(tree, start)
                way = way_to(tree, newest_below(tree, start) if leaf else start)
            shown = way[-limit:]
            rows = tx.rows(sa.select(tables.turns).where(_U.run_id.in_(shown)))
        found = {row.run_id: row for row in rows}
        turns = [turn_of_row(found[run_id], siblings_of(tree, run_id)) for run_id in shown]
        return Path(turns, shown[0] if len(way) > len(shown) else None)

    def newest(
        self, scope: Scope, thread_id: str, *, until: str | None = None, limit: int = 50
    ) -> list[Turn]:
        """Turns of all branches, the last one first; from `until` on, itself included."""
        statement = sa.select(tables.turns).where(_U.thread_id == thread_id)
        if until is not None:
            statement = statement.where(_U.run_id <= until)
        with self._database.read(scope) as tx:
            _existing(tx, thread_id)
            rows = tx.rows(statement.order_by(_U.run_id.desc()).limit(limit))
        return [turn_of_row(row) for row in rows]

    def turn(self, scope: Scope, thread_id: str, run_id: str) -> Turn:
        with self._database.read(scope) as tx:
            _existing(tx, thread_id)
            row = turn_row(tx, thread_id, run_id)
            return turn_of_row(row, siblings_of(tree_of(tx, thread_id), run_id))

    def turn_of(self, scope: Scope, run_id: str) -> Turn | None:
        """The turn that a run is, if it is one."""
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(tables.turns).where(_U.run_id == run_id))
            if row is None:
                return None
            return turn_of_row(row, siblings_of(tree_of(tx, row.thread_id), run_id))

    def history(
        self, scope: Scope, thread_id: str, before: str | None, limit: int = 20
    ) -> Sequence[Turn]:
        """The turns on the way to `before`, itself included, oldest first: what a model is reminded of."""
        if before is None:
            return ()
        with self._database.read(scope) as tx:
            tree = tree_of(tx, thread_id)
            require_known(tree, before)
            shown = way_to(tree, before)[-limit:]
            rows = tx.rows(sa.select(tables.turns).where(_U.run_id.in_(shown)))
        found = {row.run_id: row for row in rows}
        return [turn_of_row(found[run_id]) for run_id in shown]

    # Parts of it

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
        return _existing(tx, thread_id)

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
                title=thread.title or _title(turn.message),
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

    def _request(
        self, scope: Scope, thread: Thread, message: str, document: dict[str, Json]
    ) -> RunRequest:
        tools = frozenset(
            tool.name
            for tool in self._tools.listed(scope)
            if any(agent.may_call(tool.name, tool.risk) for agent in self._roster)
        ) | {READ_SKILL}
        return RunRequest(
            title=_shortened(message, _LONGEST_RUN_TITLE),
            program=PROGRAM,
            document=document,
            grant=Grant(tools, Risk.external_send, thread.branch).to_json(),
            budget=dict(self._budget),
            queue="llm",
            priority=PRIORITY,
        )

    def _branch(self, access: Access, name: str) -> str:
        known = self._workbench.datasets.branches(access.scope, access.user_id)
        if name not in {branch.name for branch in known}:
            raise NotFound(f"There is no branch {name!r} in this project.")
        return name

    def _attached(self, access: Access, uploads: Sequence[str]) -> tuple[Attachment, ...]:
        files = []
        for number, upload_id in enumerate(uploads):
            try:
                # Uploads lie in a folder of their project: one of another project is not found.
                upload = self._workbench.bringing.get(access.scope, upload_id)
            except NotFound:
                raise _wrong("attachments", number, f"there is no upload {upload_id!r}") from None
            if upload.size is not None and upload.offset < upload.size:
                raise _wrong("attachments", number, f"{upload.name!r} has not arrived whole")
            files.append(Attachment(upload.id, upload.name, upload.offset))
        return tuple(files)

    def _check_mentions(self, access: Access, branch: str, mentions: Sequence[str]) -> None:
        if not mentions:
            return
        workspace = self._workbench.datasets.workspace(access.scope, access.user_id)
        known = {dataset.name for dataset in workspace.datasets(branch)}
        for number, name in enumerate(mentions):
            if name not in known:
                raise _wrong("mentions", number, f"there is no dataset {name!r} on {branch!r}")


def subject_of(thread_id: str) -> str:
    return f"{_SUBJECT}{thread_id}"


def thread_of(run: Run) -> str | None:
    """The thread that a run belongs to."""
    subject = run.subject or ""
    return subject.removeprefix(_SUBJECT) if subject.startswith(_SUBJECT) else None


def position_of(thread: Thread) -> str:
    """Where a thread stands in the list."""
    return f"{thread.updated_at.isoformat()} {thread.id}"


def _document(
    thread: Thread,
    message: str,
    parent: str | None,
    mentions: Sequence[str],
    attachments: Sequence[Attachment],
) -> dict[str, Json]:
    return {
        "format": FORMAT,
        "message": message,
        "thread_id": thread.id,
        "parent": parent,
        "mentions": list(mentions),
        "attachments": [
            {"upload": item.upload, "name": item.name, "size": item.size} for item in attachments
        ],
        "rows": thread.settings["rows"],
        "review": thread.settings["review"],
    }


def _position(text: str) -> tuple[datetime, str]:
    moment, _, thread_id = text.partition(" ")
    try:
        found = datetime.fromisoformat(moment)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise Invalid("The cursor is not one of ours; start again without it.")
    return found, thread_id


def _title(message: str) -> str:
    return _shortened(message, _LONGEST_TITLE)


def _shortened(message: str, longest: int) -> str:
    """The beginning of a message in one line, cut between words where there are any."""
    words = " ".join(message.split())
    if len(words) <= longest:
        return words
    cut = words[: longest - 1]
    at = cut.rfind(" ")
    return (cut[:at] if at > longest // 2 else cut) + "…"


def _wrong(field: str, number: int, why: str) -> Invalid:
    return Invalid(
        f"The message cannot be sent: {why}.", problems=[Problem(f"/{field}/{number}", why)]
    )


def _existing(tx: Transaction, thread_id: str, *, lock: bool = False) -> Thread:
    statement = sa.select(tables.threads).where(_T.id == thread_id, _T.deleted_at.is_(None))
    row = tx.first(statement.with_for_update() if lock else statement)
    if row is None:
        raise NotFound("There is no such thread in this project.")
    return _thread(row)


def _thread(row: sa.Row[Any]) -> Thread:
    return Thread(**{name: getattr(row, name) for name in Thread.__dataclass_fields__})
