"""Devices that are told what waits for their person, while the browser session that asked for it lasts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from steward.core import Clock, Denied, Ids, NotFound
from steward.identity._tables import organisation_members, project_members, push_devices, sessions
from steward.identity.principals import Principal
from steward.identity.users import checked_name
from steward.store import EVERYWHERE, Database, Scope

_MOST: Final = 20
_C: Final = push_devices.c


@dataclass(frozen=True)
class PushAddress:
    """Where the browser's push service takes messages for a device, and the keys that only the device can open."""

    endpoint: str
    p256dh: bytes
    auth: bytes


@dataclass(frozen=True)
class PushDevice:
    id: str
    user_id: str
    session_id: str
    name: str
    address: PushAddress
    created_at: datetime
    told_at: datetime
    """What was asked until then, the device was told of."""


class PushDevices:
    def __init__(self, database: Database, clock: Clock, ids: Ids) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids

    def listed(self, user_id: str) -> list[PushDevice]:
        return self._read((_C.user_id == user_id) & self._is_signed_in())

    def add(self, principal: Principal, name: str, address: PushAddress) -> PushDevice:
        """The same browser is one device, whoever used it before."""
        if principal.session_id is None:
            raise Denied("Only a browser that is signed in can be told what waits for you.")
        now, endpoint = self._clock.now(), address.endpoint.encode()
        row: dict[str, Any] = {
            "id": self._ids.new("psd"),
            "user_id": principal.user_id,
            "session_id": principal.session_id,
            "name": checked_name(name),
            "endpoint": endpoint,
            "p256dh": address.p256dh,
            "auth": address.auth,
            "created_at": now,
            "told_at": now,
        }
        with self._database.write(EVERYWHERE) as tx:
            tx.execute(sa.delete(push_devices).where(_C.endpoint == endpoint))
            mine = _C.user_id == principal.user_id
            newest = sa.select(_C.id).where(mine, self._is_signed_in())
            newest = newest.order_by(_C.created_at.desc(), _C.id.desc()).limit(_MOST - 1)
            kept = [each.id for each in tx.rows(newest)]
            tx.execute(sa.delete(push_devices).where(mine, _C.id.not_in(kept)))
            tx.execute(sa.insert(push_devices).values(**row))
        return _device(row)

    def remove(self, user_id: str, device_id: str) -> None:
        if not self._delete((_C.id == device_id) & (_C.user_id == user_id)):
            raise NotFound("There is no such device; it may have been removed already.")

    def forget(self, device_id: str) -> None:
        """Its push service does not know it any more."""
        self._delete(_C.id == device_id)

    def of_project(self, scope: Scope) -> list[PushDevice]:
        """Devices of people who may belong to the project and are still signed in there."""
        inside = sa.select(project_members.c.user_id).where(
            project_members.c.project_id == scope.project_id
        )
        above = sa.select(organisation_members.c.user_id).where(
            organisation_members.c.org_id == scope.org_id
        )
        return self._read(_C.user_id.in_(inside.union(above)) & self._is_signed_in())

    def claim(self, device: PushDevice, until: datetime) -> bool:
        """Whether this process may tell the device what was asked until then: of several, one may."""
        mine = (_C.id == device.id) & (_C.told_at == device.told_at)
        with self._database.write(EVERYWHERE) as tx:
            changed = sa.update(push_devices).where(mine).values(told_at=until)
            return bool(tx.execute(changed).rowcount)

    def _is_signed_in(self) -> sa.ColumnElement[bool]:
        return sa.exists().where(
            sessions.c.id == _C.session_id, sessions.c.expires_at > self._clock.now()
        )

    def _read(self, which: sa.ColumnElement[bool]) -> list[PushDevice]:
        statement = sa.select(push_devices).where(which).order_by(_C.created_at, _C.id)
        with self._database.read(EVERYWHERE) as tx:
            rows: Sequence[sa.Row[Any]] = tx.rows(statement)
        return [_device(row._mapping) for row in rows]

    def _delete(self, which: sa.ColumnElement[bool]) -> int:
        with self._database.write(EVERYWHERE) as tx:
            return int(tx.execute(sa.delete(push_devices).where(which)).rowcount)


def _device(row: Any) -> PushDevice:
    return PushDevice(
        id=row["id"],
        user_id=row["user_id"],
        session_id=row["session_id"],
        name=row["name"],
        address=PushAddress(row["endpoint"].decode(), row["p256dh"], row["auth"]),
        created_at=row["created_at"],
        told_at=row["told_at"],
    )
