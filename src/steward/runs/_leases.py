"""Who drives which run: claims with a lease and an epoch, prolonged while somebody is really at it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from steward.core import Conflict, NotFound
from steward.runs import _tables as tables
from steward.runs._rows import COLUMNS, Rows, run_of
from steward.runs._turns import LATER, next_runs
from steward.runs.entries import Entry
from steward.runs.model import Run, Status
from steward.runs.topics import run_topic
from steward.store import EVERYWHERE, Moment, News, Scope, Transaction

_AGAIN = timedelta(seconds=2)
_ASIDE = timedelta(seconds=10)
_ASIDE_HOLDER = "aside"
_TAKE = (
    sa.update(tables.runs)
    .where(COLUMNS.id.in_(sa.bindparam("ids", expanding=True)))
    .values(
        epoch=COLUMNS.epoch + 1,
        holder=sa.bindparam("by"),
        lease_until=sa.bindparam("until", type_=Moment()),
        wake_at=None,
        status=Status.running.value,
        reason=None,
        started_at=sa.func.coalesce(COLUMNS.started_at, sa.bindparam("began", type_=Moment())),
    )
)
_MOST_LOST_HELD = sa.select(sa.func.max(COLUMNS.lost).label("losses")).where(
    COLUMNS.lease_until >= sa.bindparam("at", type_=Moment()),
    COLUMNS.holder == sa.bindparam("by"),
)
_SILENT = (
    sa.select(COLUMNS.holder, sa.func.max(COLUMNS.lease_until).label("until"))
    .where(COLUMNS.lease_until.is_not(None), COLUMNS.holder.is_not(None))
    .group_by(COLUMNS.holder)
    .having(sa.func.max(COLUMNS.lease_until) < sa.bindparam("until", type_=Moment()))
)
"""Holders none of whose leases was prolonged when it was due."""


@dataclass(frozen=True)
class QueueFigures:
    """How one queue of an installation stands."""

    waiting: int
    longest_wait: timedelta
    driven: int


class Leases(Rows):
    def claim(
        self,
        holder: str,
        queues: Sequence[str],
        limit: int,
        lease: timedelta,
        overdue: timedelta = timedelta(0),
    ) -> list[Run]:
        """Takes runs that are due or whose holder has gone; each claim has a new epoch.

        With `overdue`, only what is due for so long: the rest was rung for, and somebody is on the way.
        """
        with self._database.write(EVERYWHERE) as tx:
            return self.claim_within(tx, holder, queues, limit, lease, overdue)

    def claim_within(
        self,
        tx: Transaction,
        holder: str,
        queues: Sequence[str],
        limit: int,
        lease: timedelta,
        overdue: timedelta = timedelta(0),
        *,
        newcomers: bool = False,
    ) -> list[Run]:
        """The same in a shared transaction. With `newcomers`, only for people none of whose runs is being driven."""
        now = self._clock.now()
        wanted = {"now": now, "due": now - overdue, "queues": list(queues), "most": limit}
        return self._taken(tx, holder, wanted, lease, newcomers=newcomers)

    def claim_these(
        self, holder: str, queues: Sequence[str], run_ids: Sequence[str], lease: timedelta
    ) -> list[Run]:
        """Takes those of these runs that are due and that nobody holds."""
        with self._database.write(EVERYWHERE) as tx:
            return self.claim_called(tx, holder, queues, run_ids, lease)[0]

    def claim_called(
        self,
        tx: Transaction,
        holder: str,
        queues: Sequence[str],
        run_ids: Sequence[str],
        lease: timedelta,
    ) -> tuple[list[Run], frozenset[str]]:
        """Takes those of these runs that are due, and names those that are due once their holder is done."""
        called = {"ids": sorted(set(run_ids)), "queues": list(queues)}
        wanted = {**called, "now": self._clock.now(), "most": len(run_ids)}
        runs = self._taken(tx, holder, wanted, lease, called=True)
        later = tx.rows(LATER, called)
        return runs, frozenset(row.id for row in later)

    def _taken(
        self,
        tx: Transaction,
        holder: str,
        wanted: Mapping[str, Any],
        lease: timedelta,
        *,
        called: bool = False,
        newcomers: bool = False,
    ) -> list[Run]:
        now: datetime = wanted["now"]
        held = tx.first(_MOST_LOST_HELD, {"at": now, "by": holder})
        worst = (held.losses or 0) if held is not None else 0
        innocent = worst >= self._suspect
        rows = tx.rows(next_runs(called=called, innocent=innocent, newcomers=newcomers), wanted)
        losses = self._losses(tx, holder, rows, now, lease / 2)
        rows = self._with_one_suspect(rows, losses, worst)
        if not rows:
            return []
        tx.execute(
            _TAKE,
            {
                "ids": [row.id for row in rows],
                "by": holder,
                "until": now + lease,
                "began": now,
            },
        )
        runs = [
            run_of(
                row,
                Scope(row.org_id, row.project_id),
                epoch=row.epoch + 1,
                holder=holder,
                started_at=row.started_at or now,
                lost=losses[row.id].count,
            )
            for row in rows
        ]
        self._note_losses(tx, rows, losses)
        begun = [run for run in runs if run.status is not Status.running]
        kind = f"run.{Status.running.value}"
        self._events.append_many(
            tx, [News(run.scope, kind, run.id, {"title": run.title}) for run in begun]
        )
        self._bus.ring_all(tx, [run_topic(run.id) for run in begun])
        return runs

    def _losses(
        self,
        tx: Transaction,
        holder: str,
        rows: Sequence[sa.Row[Any]],
        now: datetime,
        at_once: timedelta,
    ) -> dict[str, "_Losses"]:
        """What is known of each run once it is claimed: a lease that another holder let run out is one loss more.

        Not where several processes fell silent at once: the network, the database or a machine was away, and no run is
        to blame.
        """
        gone = [
            row.id
            for row in rows
            if row.lease_until is not None and row.holder not in (holder, _ASIDE_HOLDER)
        ]
        if gone:
            silent = _silent_processes(tx, now + at_once)
            gone = [
                row.id
                for row in rows
                if row.id in gone and _fell_alone(silent, row.holder, at_once)
            ]
        seq, run_id = tables.journal.c.seq, tables.journal.c.run_id
        reached = sa.select(run_id, sa.func.max(seq).label("seq")).group_by(run_id)
        heads = (
            {row.run_id: row.seq for row in tx.rows(reached.where(run_id.in_(gone))) if row.seq}
            if gone
            else {}
        )
        found = {}
        for row in rows:
            known = _Losses(row.lost, row.lost_seq)
            found[row.id] = known.one_more(heads[row.id]) if row.id in heads else known
        return found

    def _with_one_suspect(
        self, rows: Sequence[sa.Row[Any]], losses: Mapping[str, "_Losses"], worst: int
    ) -> list[sa.Row[Any]]:
        """One suspect at most, and only beside runs that were never lost: none of these is then set aside for another.

        `worst`: how often a run was lost that the worker drives already.
        """
        suspects = [row.id for row in rows if losses[row.id].count == self._suspect]
        chosen = suspects[0] if suspects and worst == 0 else None
        alone = chosen is not None or worst >= self._suspect
        return [
            row
            for row in rows
            if row.id == chosen
            or losses[row.id].count in ({0} if alone else range(self._suspect))
            or losses[row.id].count > self._suspect
        ]

    @property
    def _suspect(self) -> int:
        """From so many losses on, a worker drives one such run at a time: another one may have ended them all."""
        return self.most_lost - 1

    def _note_losses(
        self, tx: Transaction, rows: Sequence[sa.Row[Any]], losses: Mapping[str, "_Losses"]
    ) -> None:
        for row in rows:
            loss = losses[row.id]
            if loss != _Losses(row.lost, row.lost_seq):
                changed = sa.update(tables.runs).where(COLUMNS.id == row.id)
                tx.execute(changed.values(lost=loss.count, lost_seq=loss.seq))

    def clear_loss(self, runs: Sequence[Run]) -> None:
        """Takes back that these runs were lost with their worker: it was cut off or stopped for a while, and lives."""
        with self._database.write(EVERYWHERE) as tx:
            for run in sorted(runs, key=lambda run: run.id):
                taken = sa.and_(
                    COLUMNS.id == run.id, COLUMNS.epoch == run.epoch + 1, COLUMNS.lost > 0
                )
                tx.execute(sa.update(tables.runs).where(taken).values(lost=COLUMNS.lost - 1))

    def give_back(self, run: Run) -> None:
        """Ends the lease of a run that cannot go on for the moment; it is due again shortly, and was not lost."""
        mine = sa.and_(
            COLUMNS.id == run.id, COLUMNS.epoch == run.epoch, COLUMNS.holder == run.holder
        )
        again = self._clock.now() + _AGAIN
        with self._database.write(run.scope) as tx:
            tx.execute(
                sa.update(tables.runs)
                .where(mine)
                .values(lease_until=None, holder=None, wake_at=again)
            )

    def hold(self, scope: Scope, run_id: str) -> Run:
        """Takes a run that nobody drives for one entry, whatever its status; fences every earlier driver."""
        now = self._clock.now()
        with self._database.write(scope) as tx:
            row = tx.first(sa.select(tables.runs).where(COLUMNS.id == run_id).with_for_update())
            if row is None:
                raise NotFound(f"There is no run {run_id!r} in this project.")
            if row.lease_until is not None and row.lease_until > now:
                raise Conflict("The run is under way; pause it or wait until it rests.")
            tx.execute(
                sa.update(tables.runs)
                .where(COLUMNS.id == run_id)
                .values(epoch=row.epoch + 1, holder=_ASIDE_HOLDER, lease_until=now + _ASIDE)
            )
            return run_of(row, scope, epoch=row.epoch + 1)

    def let_go(self, tx: Transaction, run: Run, entry: Entry) -> None:
        """Ends a hold in the transaction that writes its entry."""
        tx.narrowed(run.scope).execute(
            sa.update(tables.runs)
            .where(COLUMNS.id == run.id)
            .values(holder=None, lease_until=None, head_seq=entry.seq, head_hash=entry.hash)
        )
        self._bus.ring(tx, run_topic(run.id))

    def renew(
        self, holder: str, run_ids: Sequence[str], lease: timedelta
    ) -> dict[tuple[str, int], tuple[str | None, str | None]]:
        """Prolongs the leases of runs that are really being driven; returns those still held, with what was asked.

        A run that its holder gave up is not among them: its lease ends, and somebody drives it again.
        """
        until = self._clock.now() + lease
        mine = sa.and_(
            COLUMNS.id.in_(list(run_ids)),
            COLUMNS.holder == holder,
            COLUMNS.lease_until.is_not(None),
        )
        with self._database.write(EVERYWHERE) as tx:
            # In the order in which entries of many runs are written: neither waits for the other in a circle.
            tx.rows(sa.select(COLUMNS.id).where(mine).order_by(COLUMNS.id).with_for_update())
            tx.execute(sa.update(tables.runs).where(mine).values(lease_until=until))
            rows = tx.rows(
                sa.select(COLUMNS.id, COLUMNS.epoch, COLUMNS.control, COLUMNS.control_by).where(
                    mine
                )
            )
        return {(row.id, row.epoch): (row.control, row.control_by) for row in rows}

    def queue_figures(self, queues: Sequence[str]) -> tuple[dict[str, QueueFigures], int]:
        """What waits and what is driven in each queue, of all projects, and how many workers drive something."""
        now = self._clock.now()
        free = sa.or_(COLUMNS.lease_until.is_(None), COLUMNS.lease_until < now)
        # By the index on what is due and the one on leases: runs that are over are not looked at.
        due = (
            sa.select(
                COLUMNS.queue,
                sa.func.count().label("runs"),
                sa.func.min(COLUMNS.wake_at).label("since"),
            )
            .where(COLUMNS.queue.in_(list(queues)), COLUMNS.wake_at <= now, free)
            .group_by(COLUMNS.queue)
        )
        queue = (COLUMNS.queue + "").label("queue")
        left = (
            sa.select(
                queue,
                sa.func.count().label("runs"),
                sa.func.min(COLUMNS.lease_until).label("since"),
            )
            .where(COLUMNS.lease_until < now, COLUMNS.wake_at.is_(None))
            .group_by(queue)
        )
        held = sa.select(queue, COLUMNS.holder).where(COLUMNS.lease_until >= now)
        with self._database.read(EVERYWHERE) as tx:
            waiting = [*tx.rows(due), *tx.rows(left)]
            leases = tx.rows(held)
        driven = Counter(row.queue for row in leases)
        figures = {}
        for name in queues:
            here = [row for row in waiting if row.queue == name]
            figures[name] = QueueFigures(
                sum(row.runs for row in here),
                max((now - row.since for row in here), default=timedelta(0)),
                driven[name],
            )
        return figures, len({row.holder for row in leases})

    def release(self, holder: str) -> None:
        """Gives every lease of a holder back at once, as on an orderly stop."""
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(
                sa.update(tables.runs)
                .where(COLUMNS.holder == holder)
                .values(lease_until=None, holder=None, wake_at=self._clock.now())
            )


def _process_of(holder: str) -> str:
    """A process may hold runs under several names that begin alike."""
    return holder.rpartition("/")[0] or holder


def _silent_processes(tx: Transaction, until: datetime) -> dict[str, datetime]:
    """When the last lease of each process ends whose leases were not prolonged when they were due."""
    found: dict[str, datetime] = {}
    for row in tx.rows(_SILENT, {"until": until}):
        if row.holder != _ASIDE_HOLDER:
            process = _process_of(row.holder)
            found[process] = max(row.until, found.get(process, row.until))
    return found


def _fell_alone(silent: Mapping[str, datetime], holder: str, at_once: timedelta) -> bool:
    process = _process_of(holder)
    fell = silent.get(process)
    # A process that prolongs its other leases lives: it gave up this run alone.
    return fell is None or all(
        abs(at - fell) > at_once for name, at in silent.items() if name != process
    )


@dataclass(frozen=True)
class _Losses:
    count: int
    seq: int | None

    def one_more(self, head: int) -> "_Losses":
        """Counted anew where the run got further since the last time."""
        return _Losses(self.count + 1 if head == self.seq else 1, head)
