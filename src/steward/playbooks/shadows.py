"""Shadow runs: another version does again what ended runs of the deployed one did, without effects, to compare both.

A shadow begins when its live run is over, behind all live runs in the queue. So it delays none, and what the live run
sent, asked and was told can stand in for what a shadow does not do.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy.dialects import postgresql, sqlite

from steward.broker import Grant
from steward.core import Clock, Conflict, Invalid, NotFound, StewardError, copied
from steward.identity import Access, Role
from steward.playbooks import _tables as tables
from steward.playbooks.cards import State
from steward.playbooks.deployments import Deployments, within
from steward.playbooks.library import Library
from steward.playbooks.manifest import Manifests
from steward.playbooks.people import People, subject_of
from steward.playbooks.rehearsals import Rehearsals
from steward.playbooks.run_differences import Difference, RunDifferences
from steward.playbooks.trigger_events import TOPIC
from steward.runs import Json, Run, Runs, Status
from steward.store import EVERYWHERE, Bus, Database, Scope, Transaction

AT_ONCE: Final = 2
"""Shadows of one playbook that are under way together."""
MOST_WAITING: Final = 100
"""While so many wait, further runs get no shadow."""
_OVERLAP: Final = timedelta(minutes=2)
"""Machines' clocks differ, and a run's end may become visible after the end of a later one."""
_PAGE: Final = 200
_MOST_DIFFERENCES: Final = 50
_PAUSE: Final = 1.0
_KEPT: Final = timedelta(days=90)
_S: Final = tables.shadows.c
_R: Final = tables.shadow_runs.c
_log = structlog.get_logger("steward.shadows")


@dataclass(frozen=True)
class Shadow:
    """A version that runs beside the deployed one, and how it did so far."""

    deployment: int
    revision: int
    percent: int
    spend: bool
    author: str
    created_at: datetime
    ended_at: datetime | None
    compared: int
    equal: int
    under_way: int
    failed: int
    """Runs for which no comparison was possible."""


@dataclass(frozen=True)
class ShadowComparison:
    live_id: str
    shadow_id: str | None
    state: str
    equal: bool | None
    differences: list[Difference]
    live_seconds: float | None
    shadow_seconds: float | None
    live_usd: float | None
    shadow_usd: float | None
    problem: str | None
    live_ended_at: datetime


@dataclass(eq=False, repr=False)
class Shadows:
    _database: Database
    _clock: Clock
    _bus: Bus
    _library: Library
    _people: People
    _manifests: Manifests
    _deployments: Deployments
    _rehearsals: Rehearsals
    _runs: Runs
    _differences: RunDifferences

    # What people ask for

    def start(
        self,
        access: Access,
        named: str,
        number: int | None = None,
        *,
        percent: int = 100,
        spend: bool = False,
        message: str = "",
    ) -> Shadow:
        """Lets a revision run in the shadow of a share of the runs, from now on."""
        access.require(Role.editor)
        card = self._library.get(access, named)
        if card.state is not State.active:
            raise Conflict("Deploy a version first; then another one can run in its shadow.")
        revision = self._library.revision_of(access.scope, card, number or card.head)
        if revision.number == card.deployed:
            raise Conflict(
                f"Revision {revision.number} is deployed already; choose another one as its shadow."
            )
        checks = self._manifests.checks(access, revision)
        if failed := [each.message for each in checks if each.state == "failed"]:
            raise Invalid(f"Revision {revision.number} cannot run. {' '.join(failed)}")
        pins = self._manifests.pins(access, card, revision)

        def keep(tx: Transaction) -> Json:
            made = self._deployments.add_within(
                tx, access, card.id, revision.number, "shadow", pins, checks, message
            )
            tx.execute(sa.delete(tables.shadows).where(_S.playbook_id == card.id))
            tx.execute(
                sa.insert(tables.shadows).values(
                    playbook_id=card.id,
                    deployment=made,
                    percent=percent,
                    spend=spend,
                    author=access.user_id,
                    created_at=self._clock.now(),
                )
            )
            return {}

        self._library.try_out(access, card, card.armed, keep)
        return self._required(access, card.id)

    def end(self, access: Access, named: str) -> Shadow:
        """No further run gets a shadow; what was compared stays."""
        access.require(Role.editor)
        card = self._library.get(access, named)

        def keep(tx: Transaction) -> Json:
            self.end_within(tx, card.id)
            return {}

        if self._required(access, card.id).ended_at is None:
            self._library.try_out(access, card, card.armed, keep)
        return self._required(access, card.id)

    def end_within(self, tx: Transaction, playbook_id: str) -> None:
        """Also when another version is deployed: what ran beside the one before says nothing about it."""
        mine = (_S.playbook_id == playbook_id) & _S.ended_at.is_(None)
        tx.execute(sa.update(tables.shadows).where(mine).values(ended_at=self._clock.now()))

    def found(self, access: Access, named: str) -> Shadow | None:
        """The shadow of a playbook, also where it ended; None where it never had one."""
        card = self._library.get(access, named)
        counts = (
            sa.select(_R.state, _R.equal, sa.func.count().label("times"))
            .where(_R.playbook_id == card.id)
            .group_by(_R.state, _R.equal)
        )
        with self._database.read(access.scope) as tx:
            row = tx.first(sa.select(tables.shadows).where(_S.playbook_id == card.id))
            if row is None:
                return None
            revision = within(tx, card.id, row.deployment).revision
            times: Counter[str] = Counter()
            for each in tx.rows(counts.where(_R.deployment == row.deployment)):
                times[each.state] += each.times
                times["equal"] += each.times if each.equal else 0
        return copied(
            Shadow,
            row,
            revision=revision,
            compared=times["compared"],
            equal=times["equal"],
            under_way=times["waiting"] + times["running"],
            failed=times["failed"],
        )

    def comparisons(
        self, access: Access, named: str, *, before: str | None = None, limit: int = 50
    ) -> list[ShadowComparison]:
        """Of the last shadow, newest live runs first."""
        card = self._library.get(access, named)
        shadow = self._required(access, card.id)
        statement = sa.select(tables.shadow_runs).where(
            _R.playbook_id == card.id,
            _R.deployment == shadow.deployment,
            _R.state != "left_out",
        )
        if before is not None:
            statement = statement.where(_R.live_id < before)
        with self._database.read(access.scope) as tx:
            rows = tx.rows(statement.order_by(_R.live_id.desc()).limit(limit))
        return [_comparison(row) for row in rows]

    def _required(self, access: Access, playbook_id: str) -> Shadow:
        shadow = self.found(access, playbook_id)
        if shadow is None:
            raise NotFound("No version of this playbook ever ran in shadow; start one first.")
        return shadow

    # What a worker does beside its runs

    async def serve(self) -> None:
        """Until it is cancelled; everything it knows is in the database."""
        loop, bell = asyncio.get_running_loop(), asyncio.Event()

        def ring() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(bell.set)

        with self._bus.listening(TOPIC, ring):
            while True:
                await asyncio.to_thread(self.round)
                # Runs may end by the hundred; a shadow has time.
                await asyncio.sleep(_PAUSE)
                try:
                    async with asyncio.timeout(10 * _PAUSE):
                        await bell.wait()
                except TimeoutError:
                    pass
                bell.clear()

    def round(self) -> int:
        """One look at every playbook that has a shadow; how many shadows it started or compared."""
        with self._database.read(EVERYWHERE) as tx:
            rows = tx.rows(sa.select(tables.shadows))
            open_ones = tx.rows(
                sa.select(_R.playbook_id).where(_R.state.in_(("waiting", "running"))).distinct()
            )
        busy = {row.playbook_id for row in open_ones}
        done = 0
        for row in rows:
            if row.ended_at is not None and row.playbook_id not in busy:
                continue
            try:
                done += self._look(Scope(row.org_id, row.project_id), row)
            except StewardError as problem:
                _log.warning(
                    "shadow_not_looked_at", playbook=row.playbook_id, error=problem.message
                )
            except Exception:  # noqa: BLE001
                # One shadow that cannot be looked at must not stop the others.
                _log.exception("shadow_not_looked_at", playbook=row.playbook_id)
        return done

    def tidy(self) -> int:
        """Removes comparisons that are older than 90 days, and branches of shadows and tests that are older than 7."""
        before = self._clock.now() - _KEPT
        with self._database.write(EVERYWHERE) as tx:
            gone = sa.delete(tables.shadow_runs).where(_R.live_ended_at < before)
            removed = tx.execute(gone).rowcount
            rows = tx.rows(sa.select(tables.shadows))
        for row in rows:
            try:
                self._rehearsals.drop_old_branches(Scope(row.org_id, row.project_id), row.author)
            except StewardError as problem:
                _log.warning("old_branches_kept", playbook=row.playbook_id, error=problem.message)
        return removed

    def _look(self, scope: Scope, shadow: sa.Row[Any]) -> int:
        if shadow.ended_at is None:
            self._note_ended(scope, shadow)
        mine = sa.select(tables.shadow_runs).where(
            _R.playbook_id == shadow.playbook_id, _R.deployment == shadow.deployment
        )
        with self._database.read(scope) as tx:
            running = tx.rows(mine.where(_R.state == "running"))
            waiting = tx.rows(mine.where(_R.state == "waiting").order_by(_R.live_id).limit(AT_ONCE))
        over = [row for row in running if self._runs.get(scope, row.shadow_id).status.is_final]
        for row in over:
            self._compare(scope, row, shadow)
        room = AT_ONCE - (len(running) - len(over))
        begun = [row for row in waiting[: max(0, room)] if self._begin(scope, row, shadow)]
        return len(over) + len(begun)

    def _note_ended(self, scope: Scope, shadow: sa.Row[Any]) -> None:
        """Writes down each run of the deployed version that ended, and whether it gets a shadow."""
        here = (_R.playbook_id == shadow.playbook_id) & (_R.deployment == shadow.deployment)
        with self._database.read(scope) as tx:
            last = tx.first(sa.select(sa.func.max(_R.live_ended_at).label("at")).where(here))
            row = tx.first(
                sa.select(tables.playbooks).where(tables.playbooks.c.id == shadow.playbook_id)
            )
        if row is None or row.state != State.active.value:
            return
        newest = last.at if last is not None and last.at is not None else shadow.created_at
        since = max(shadow.created_at, newest - _OVERLAP)
        subject = subject_of(shadow.playbook_id)
        while page := self._runs.records.ended(scope, subject, since, _PAGE):
            with self._database.read(scope) as tx:
                known = here & _R.live_id.in_([run.id for run in page])
                seen = {each.live_id for each in tx.rows(sa.select(_R.live_id).where(known))}
            fresh = [each for each in page if each.id not in seen]
            fitting = [each for each in fresh if self._is_live(each, shadow, row.deployed)]
            if fitting:
                self._note(scope, shadow, fitting)
            last_end = page[-1].ended_at
            if len(page) < _PAGE or last_end is None or last_end == since:
                return
            since = last_end

    def _is_live(self, run: Run, shadow: sa.Row[Any], deployed: int | None) -> bool:
        if run.created_at < shadow.created_at or run.status not in {Status.done, Status.failed}:
            return False
        if run.forked_from is not None:
            # It went on from a step of another run: no run from the start is like it.
            return False
        grant = Grant.from_json(self._runs.request(run.scope, run.id).grant)
        return grant.test is None and grant.revision == deployed

    def _note(self, scope: Scope, shadow: sa.Row[Any], ended: Sequence[Run]) -> None:
        here = (_R.playbook_id == shadow.playbook_id) & (_R.deployment == shadow.deployment)
        with self._database.write(scope) as tx:
            # Two workers may look at once: the second one waits here and finds what the first one wrote.
            tx.execute(
                sa.update(tables.shadows)
                .where(_S.playbook_id == shadow.playbook_id)
                .values(percent=_S.percent)
            )
            known = sa.select(_R.live_id).where(here, _R.live_id.in_([run.id for run in ended]))
            seen = {row.live_id for row in tx.rows(known)}
            counts = sa.select(_R.state, sa.func.count().label("times")).where(here)
            times = {row.state: row.times for row in tx.rows(counts.group_by(_R.state))}
            offered, waiting = sum(times.values()), times.get("waiting", 0)
            rows = []
            for run in ended:
                if run.id in seen:
                    continue
                offered += 1
                is_due = offered * shadow.percent // 100 > (offered - 1) * shadow.percent // 100
                is_taken = is_due and waiting < MOST_WAITING
                waiting += is_taken
                rows.append(
                    {
                        "live_id": run.id,
                        "playbook_id": shadow.playbook_id,
                        "deployment": shadow.deployment,
                        "state": "waiting" if is_taken else "left_out",
                        "live_ended_at": run.ended_at,
                    }
                )
            if rows:
                insert = postgresql.insert if tx.dialect == "postgresql" else sqlite.insert
                tx.execute(insert(tables.shadow_runs).on_conflict_do_nothing(), rows)

    def _begin(self, scope: Scope, row: sa.Row[Any], shadow: sa.Row[Any]) -> bool:
        live = self._runs.get(scope, row.live_id)
        try:
            viewer = self._people.author(scope, shadow.author)
            card = self._library.seen_by(scope, viewer, shadow.playbook_id)
            deployment = self._deployments.get(scope, card.id, shadow.deployment)
            revision = self._library.revision_of(scope, card, deployment.revision)
            request = self._rehearsals.shadow_request(
                viewer, card, revision, deployment, live, spend=shadow.spend
            )
        except Invalid as problem:
            # The same inputs do not start this version: that is a difference, too.
            told = Difference("end", "run", live.status.value, f"Not started: {problem.message}")
            self._settle(scope, row, "waiting", "compared", [told])
            return False
        except StewardError as problem:
            self._settle(scope, row, "waiting", "failed", [], {"problem": problem.message})
            return False
        self._rehearsals.drop_old_branches(scope, shadow.author)
        with self._database.write(scope) as tx:
            run_id = self._runs.records.prepared(scope, shadow.author, request).run.id
            taken = tx.execute(
                sa.update(tables.shadow_runs)
                .where(*_this(row), _R.state == "waiting")
                .values(state="running", shadow_id=run_id)
            ).rowcount
            if taken:
                self._runs.records.start_within(tx, shadow.author, request, run_id=run_id)
        return bool(taken)

    def _compare(self, scope: Scope, row: sa.Row[Any], shadow: sa.Row[Any]) -> None:
        try:
            live, tried = (self._runs.get(scope, each) for each in (row.live_id, row.shadow_id))
            differences = self._differences.between(live, tried, spend=shadow.spend)
            measured = self._differences.measured(live, tried)
        except StewardError as problem:
            self._settle(scope, row, "running", "failed", [], {"problem": problem.message})
            return
        self._settle(scope, row, "running", "compared", differences, measured)

    def _settle(
        self,
        scope: Scope,
        row: sa.Row[Any],
        before: str,
        state: str,
        differences: Sequence[Difference],
        more: Mapping[str, Any] | None = None,
    ) -> None:
        kept = [asdict(each) for each in differences[:_MOST_DIFFERENCES]]
        values = {
            "state": state,
            "equal": not differences if state == "compared" else None,
            "found": {"differences": kept, **(more or {})},
        }
        with self._database.write(scope) as tx:
            tx.execute(
                sa.update(tables.shadow_runs)
                .where(*_this(row), _R.state == before)
                .values(**values)
            )


def _this(row: sa.Row[Any]) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return _R.live_id == row.live_id, _R.deployment == row.deployment


def _comparison(row: sa.Row[Any]) -> ShadowComparison:
    found: Mapping[str, Any] = row.found or {}
    return copied(
        ShadowComparison,
        row,
        differences=[Difference(**each) for each in found.get("differences", ())],
        live_seconds=found.get("live_seconds"),
        shadow_seconds=found.get("shadow_seconds"),
        live_usd=found.get("live_usd"),
        shadow_usd=found.get("shadow_usd"),
        problem=found.get("problem"),
    )
