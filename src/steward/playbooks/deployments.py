"""Deployments as records: a revision with every part around it pinned, who deployed it, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, Literal

import sqlalchemy as sa

from steward.core import Clock, NotFound, copied
from steward.identity import Access
from steward.playbooks import _tables as tables
from steward.playbooks.pins import Changed, Pin, hash_of
from steward.store import Database, Scope, Transaction

_D: Final = tables.deployments.c
Way = Literal["deploy", "rollback", "canary", "shadow"]
_TOLD: Final = {"policy": "The policy of the", "model": "The model for", "code": "The code of"}
_KEPT: Final = {
    "policy": "Runs keep to the stricter of both.",
    "model": "Runs ask the older one as long as it is set up.",
}


@dataclass(frozen=True)
class Finding:
    """What one check before a deployment found."""

    check: str
    state: Literal["passed", "warning", "failed"]
    message: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Deployment:
    number: int
    revision: int
    kind: str
    of: int | None
    """The deployment whose parts it has once more."""
    hash: str
    pins: tuple[Pin, ...]
    checks: tuple[Finding, ...]
    message: str
    author: str
    created_at: datetime


class Deployments:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def listed(
        self, scope: Scope, playbook_id: str, *, before: int | None = None, limit: int = 50
    ) -> list[Deployment]:
        """Newest first."""
        statement = sa.select(tables.deployments).where(_D.playbook_id == playbook_id)
        if before is not None:
            statement = statement.where(_D.number < before)
        with self._database.read(scope) as tx:
            rows = tx.rows(statement.order_by(_D.number.desc()).limit(limit))
        return [_deployment(row) for row in rows]

    def get(self, scope: Scope, playbook_id: str, number: int) -> Deployment:
        with self._database.read(scope) as tx:
            return within(tx, playbook_id, number)

    def latest_of(self, scope: Scope, playbook_id: str, revision: int) -> Deployment | None:
        """The last time that this revision was deployed for all runs, if it ever was."""
        statement = sa.select(tables.deployments).where(
            _D.playbook_id == playbook_id,
            _D.revision == revision,
            _D.kind.in_(("deploy", "rollback")),
        )
        with self._database.read(scope) as tx:
            row = tx.first(statement.order_by(_D.number.desc()).limit(1))
        return None if row is None else _deployment(row)

    def add_within(
        self,
        tx: Transaction,
        access: Access,
        playbook_id: str,
        revision: int,
        kind: Way,
        pins: Sequence[Pin],
        checks: Sequence[Finding],
        message: str,
        of: int | None = None,
    ) -> int:
        """Writes a deployment down; answers with its number."""
        newest = sa.select(sa.func.max(_D.number)).where(_D.playbook_id == playbook_id)
        row = tx.first(newest)
        number = int((row[0] if row is not None else 0) or 0) + 1
        values: Mapping[str, Any] = {
            "playbook_id": playbook_id,
            "number": number,
            "revision": revision,
            "kind": kind,
            "of": of,
            "hash": hash_of(pins),
            "pins": [pin.to_json() for pin in pins],
            "checks": [each.to_json() for each in checks],
            "message": message[:400],
            "author": access.user_id,
            "created_at": self._clock.now(),
            "offered": 0,
        }
        tx.execute(sa.insert(tables.deployments).values(**values))
        return number


def differing(changed: Sequence[Changed], *, keeps: bool = False) -> list[Finding]:
    """Policies, models and code that differ, as findings. `keeps`: the older ones count again, as after a rollback."""
    found = []
    for each in changed:
        is_kept = each.after is not None and each.after.fixed
        if each.kind not in _TOLD or each.is_in_document or (keeps and not is_kept):
            continue
        before, after = _side(each.before), _side(each.after)
        if before == after and each.before is not None and each.after is not None:
            before, after = each.before.hash[:8], f"{each.after.hash[:8]} ({after})"
        said = f"{_TOLD[each.kind]} {each.name} differs: {before} → {after}."
        found.append(
            Finding(each.kind, "warning", f"{said} {_KEPT.get(each.kind, '')}" if keeps else said)
        )
    return found


def _side(pin: Pin | None) -> str:
    return "none" if pin is None else pin.version or pin.hash[:8]


def within(tx: Transaction, playbook_id: str, number: int) -> Deployment:
    statement = sa.select(tables.deployments).where(
        _D.playbook_id == playbook_id, _D.number == number
    )
    row = tx.first(statement)
    if row is None:
        raise NotFound(f"The playbook has no deployment {number}.")
    return _deployment(row)


def takes_canary(tx: Transaction, playbook_id: str, number: int, percent: int) -> bool:
    """Whether the next run is one of the share that the canary gets; counts the run.

    The share is kept exactly, run by run: no luck decides who tries the new version.
    """
    here = (_D.playbook_id == playbook_id, _D.number == number)
    tx.execute(sa.update(tables.deployments).where(*here).values(offered=_D.offered + 1))
    row = tx.first(sa.select(_D.offered).where(*here))
    offered = int(row.offered) if row is not None else 0
    return offered * percent // 100 > (offered - 1) * percent // 100


def _deployment(row: sa.Row[Any]) -> Deployment:
    return copied(
        Deployment,
        row,
        pins=tuple(Pin(**each) for each in row.pins),
        checks=tuple(Finding(**each) for each in row.checks),
    )
