"""How runs begin: put in the queue, under another run, with the past of another one, or brought in from a file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from steward.core import Conflict
from steward.runs import _tables as tables
from steward.runs._commit import Unit
from steward.runs._rows import COLUMNS, Rows, run_of
from steward.runs.canonical import Json
from steward.runs.capsules import Capsule
from steward.runs.entries import Entry, Link, made
from steward.runs.entry_types import Kind
from steward.runs.forks import copied
from steward.runs.model import IMPORTED, Run, RunRequest, Status
from steward.runs.topics import queue_topic
from steward.store import News, Scope, Transaction

_INSERT_RUN = sa.insert(tables.runs)
_INSERT_ENTRY = sa.insert(tables.journal)
_STORED = [name for name in Run.__dataclass_fields__ if name not in {"scope", "status"}]


@dataclass(frozen=True)
class New:
    """A run that is about to be started."""

    run: Run
    entry: Entry
    lease: timedelta | None = None
    """Set where the run is driven by the one who starts it, so that no worker is called."""

    def row(self, now: datetime) -> dict[str, Any]:
        run = self.run
        row = {name: getattr(run, name) for name in _STORED}
        held = self.lease is not None
        row |= {
            "status": run.status.value,
            "wake_at": None if held else run.created_at,
            "lease_until": now + self.lease if self.lease is not None else None,
        }
        return row | {"org_id": run.scope.org_id, "project_id": run.scope.project_id}

    @property
    def entry_row(self) -> dict[str, Any]:
        names = ("seq", "kind", "key", "body", "hash")
        return {"run_id": self.run.id} | {name: getattr(self.entry, name) for name in names}

    @property
    def news(self) -> News:
        status = self.run.status
        return News(self.run.scope, f"run.{status.value}", self.run.id, {"title": self.run.title})


class Starts(Rows):
    def start(
        self,
        scope: Scope,
        author: str,
        request: RunRequest,
        *,
        run_id: str | None = None,
        forked_from: str | None = None,
    ) -> Run:
        """Puts a run in the queue; it is durable when this returns."""
        with self._database.write(scope) as tx:
            return self.start_within(tx, author, request, run_id=run_id, forked_from=forked_from)

    def start_within(
        self,
        tx: Transaction,
        author: str,
        request: RunRequest,
        *,
        run_id: str | None = None,
        parent: Run | None = None,
        parent_key: str | None = None,
        forked_from: str | None = None,
    ) -> Run:
        """The same inside a transaction of the caller: a schedule moves on and starts its run in one."""
        new = self.prepared(
            tx.project,
            author,
            request,
            run_id=run_id,
            parent=parent,
            parent_key=parent_key,
            forked_from=forked_from,
        )
        tx.execute(_INSERT_RUN, [new.row(new.run.created_at)])
        tx.execute(_INSERT_ENTRY, [new.entry_row])
        self._events.append_many(tx, [new.news])
        self._call(tx, new.run, new.run.created_at)
        return new.run

    def start_all_within(self, tx: Transaction, news: Sequence["New"]) -> None:
        """The same for many that are prepared already."""
        tx.execute(_INSERT_RUN, [new.row(new.run.created_at) for new in news])
        tx.execute(_INSERT_ENTRY, [new.entry_row for new in news])
        self._events.append_many(tx, [new.news for new in news])
        for new in news:
            self._call(tx, new.run, new.run.created_at)

    def unit(self, new: "New") -> Unit:
        """The start as part of a transaction that many share."""
        run = new.run

        def call(tx: Transaction) -> None:
            self._ring_for(tx, run, run.created_at)

        return Unit(
            run.id,
            run.epoch,
            run.scope,
            [new.entry],
            call if self._doorbell is not None else None,
            begin=new.row(run.created_at),
            news=new.news,
            rings=[queue_topic(run.queue)],
        )

    def prepared(
        self,
        scope: Scope,
        author: str,
        request: RunRequest,
        *,
        run_id: str | None = None,
        parent: Run | None = None,
        parent_key: str | None = None,
        forked_from: str | None = None,
        holder: str | None = None,
        lease: timedelta | None = None,
    ) -> "New":
        """Everything that a start writes; with a holder, the run is theirs from the beginning."""
        request = self.without_secrets(scope, request)
        run_id = run_id or self._ids.new("run")
        now = self._clock.now()
        data: dict[str, Json] = {"request": dict(vars(request)), "author": author}
        if parent is not None:
            data["parent"] = parent.id
        if forked_from is not None:
            data["forked_from"] = forked_from
        entry = made(run_id, Link(), Kind.created, "run", now, data)
        run = Run(
            id=run_id,
            scope=scope,
            title=request.title[:200],
            program=request.program,
            subject=request.subject,
            status=Status.queued if holder is None else Status.running,
            reason=None,
            queue=request.queue,
            priority=request.priority,
            control=None,
            control_by=None,
            created_by=author,
            created_at=now,
            started_at=None if holder is None else now,
            ended_at=None,
            parent_id=parent.id if parent else None,
            parent_key=parent_key,
            root_id=parent.root_id if parent else run_id,
            forked_from=forked_from,
            epoch=0 if holder is None else 1,
            holder=holder,
            head_seq=entry.seq,
            head_hash=entry.hash,
            progress=None,
            waits=None,
        )
        return New(run, entry, lease)

    def without_secrets(self, scope: Scope, request: RunRequest) -> RunRequest:
        """The request as it may be kept: what somebody typed into it is searched for secrets."""
        typed = ("title", "document", "inputs")
        clean = self.scrub(scope, {name: getattr(request, name) for name in typed})
        # Of a grant only what somebody typed: a secret that is chosen to equal a rule must not take the rule out.
        given = {name: request.grant[name] for name in ("branch", "test") if name in request.grant}
        return replace(request, **clean, grant={**request.grant, **self.scrub(scope, given)})

    def start_child(self, parent: Run, key: str, request: RunRequest) -> Run:
        """Starts a run under another one; asked again after a crash, it finds the one it started."""
        with self._database.write(parent.scope) as tx:
            row = tx.first(
                sa.select(tables.runs).where(
                    COLUMNS.parent_id == parent.id, COLUMNS.parent_key == key
                )
            )
            if row is not None:
                return run_of(row, parent.scope)
            return self.start_within(tx, parent.created_by, request, parent=parent, parent_key=key)

    def child_of(self, parent: Run, key: str) -> Run | None:
        """The run that was started under another one by this name, if any was."""
        statement = sa.select(tables.runs).where(
            COLUMNS.parent_id == parent.id, COLUMNS.parent_key == key
        )
        with self._database.read(parent.scope) as tx:
            row = tx.first(statement)
        return None if row is None else run_of(row, parent.scope)

    def start_fork(
        self, scope: Scope, author: str, request: RunRequest, source: Run, kept: list[Entry]
    ) -> Run:
        """Starts a run whose journal begins with entries of another one."""
        with self._database.write(scope) as tx:
            run = self.start_within(tx, author, request, forked_from=source.id)
            link = Link(run.head_seq, run.head_hash)
            link = copied(tx, run.id, link, kept, self._clock.now())
            tx.execute(
                sa.update(tables.runs)
                .where(COLUMNS.id == run.id)
                .values(head_seq=link.seq, head_hash=link.hash)
            )
        return self.get(scope, run.id)

    def bring_in(
        self, scope: Scope, capsule: Capsule, sign: Callable[[Transaction, str], None]
    ) -> Run:
        """Stores a run that was driven elsewhere; it is looked at and replayed here, never driven on.

        It is signed here as it came: from then on it cannot be changed unnoticed.
        """
        with self._database.write(scope) as tx:
            known = tx.first(sa.select(tables.runs).where(COLUMNS.id == capsule.run_id))
            if known is not None:
                if known.head_hash != capsule.entries[-1].hash:
                    raise Conflict(
                        "A run with this id is here already, and it is another one. Nothing was imported."
                    )
                return run_of(known, scope)
            self._insert_capsule(tx, capsule)
            self._events.append(
                tx, "run.brought_in", capsule.run_id, {"title": capsule.run["title"]}
            )
            sign(tx, capsule.run_id)
        return self.get(scope, capsule.run_id)

    def _insert_capsule(self, tx: Transaction, capsule: Capsule) -> None:
        described, last = capsule.run, capsule.entries[-1]
        created = datetime.fromisoformat(described["created_at"])
        status = Status(described["status"])
        over = status if status.is_final else Status.cancelled
        tx.execute(
            sa.insert(tables.runs).values(
                id=capsule.run_id,
                title=described["title"],
                program=described["program"],
                subject=described["subject"],
                status=over.value,
                reason=IMPORTED,
                queue="cpu",
                priority=0,
                created_by=described["created_by"][:40],
                created_at=created,
                ended_at=datetime.fromisoformat(last.at),
                root_id=capsule.run_id,
                epoch=0,
                head_seq=last.seq,
                head_hash=last.hash,
            )
        )
        rows = [
            {
                "run_id": capsule.run_id,
                "seq": entry.seq,
                "kind": entry.kind,
                "key": entry.key,
                "body": entry.body,
                "hash": entry.hash,
            }
            for entry in capsule.entries
        ]
        tx.execute(sa.insert(tables.journal), rows)
        if capsule.digests:
            held = [{"run_id": capsule.run_id, "digest": name} for name in capsule.digests]
            tx.execute(sa.insert(tables.run_blobs), held)
