"""Links for people without an account: one file to fetch, or one file to send, until a moment.

A link's address is its id and a signature over everything that it allows. The address is stored nowhere. The row is what
counts, lists and ends the link; a row that somebody altered no longer fits its signature.
"""

import hmac
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import sqlalchemy as sa

from steward.core import Clock, Denied, IdentitySettings, Ids, Invalid, NotFound, is_id
from steward.identity._tables import links
from steward.identity.principals import Access
from steward.identity.roles import Role
from steward.store import EVERYWHERE, Database, EventLog, Keyring, Scope, Transaction

Method = Literal["GET", "PUT"]
_ID: Final = 26
_MAC: Final = 48
_PURPOSE: Final = "links"
_C: Final = links.c


@dataclass(frozen=True)
class Link:
    id: str
    scope: Scope
    user_id: str
    """Who made it: it opens nothing that is closed to them."""
    run_id: str
    """The call that made it."""
    method: Method
    path: str
    """What may be fetched, or the dataset that a file which is sent becomes."""
    name: str
    bytes: int
    """The size of the file, or the most that may be sent."""
    digest: str
    single_use: bool
    uses: int
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None


class Links:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        ids: Ids,
        events: EventLog,
        keyring: Keyring,
        settings: IdentitySettings,
    ) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._events = events
        self._keyring = keyring
        self._longest = settings.link_max_lifetime

    def make(
        self,
        scope: Scope,
        user_id: str,
        run_id: str,
        lifetime: timedelta,
        method: Method,
        path: str,
        name: str,
        size: int,
        digest: str,
        single_use: bool,
    ) -> Link:
        """The link that a call makes; the same one when the call is repeated."""
        self.check(lifetime)
        now = self._clock.now().replace(microsecond=0)
        values = {
            "user_id": user_id,
            "run_id": run_id,
            "method": method,
            "path": path,
            "name": name[:200],
            "bytes": size,
            "content": digest,
            "single_use": single_use,
            "uses": 0,
            "created_at": now,
            "expires_at": now + lifetime,
        }
        with self._database.write(scope) as tx:
            known = tx.first(sa.select(links).where(_C.run_id == run_id))
            if known is not None:
                return _link(known)
            link_id = self._ids.new("lnk")
            tx.execute(sa.insert(links).values(id=link_id, **values))
            made = self._found(tx, link_id)
            told = {"by": user_id, "expires": made.expires_at.isoformat(), **_told(made)}
            self._events.append(tx, "link.created", link_id, told)
            return made

    def check(self, lifetime: timedelta) -> None:
        if not self._longest:
            raise Denied("Links are switched off here. An administrator can allow them.")
        if not timedelta(minutes=1) <= lifetime <= self._longest:
            most = int(self._longest / timedelta(minutes=1))
            raise Invalid(f"A link is valid for 1 to {most:,} minutes.", code="link-lifetime")

    def made_by(self, scope: Scope, run_id: str) -> Link | None:
        with self._database.read(scope) as tx:
            row = tx.first(sa.select(links).where(_C.run_id == run_id))
        return None if row is None else _link(row)

    def page(self, access: Access, *, after: str | None = None, limit: int = 200) -> list[Link]:
        """Links that still open something, newest first: an admin sees everybody's, others their own."""
        statement = sa.select(links).where(*_open(self._clock.now()))
        if access.role < Role.admin:
            statement = statement.where(_C.user_id == access.user_id)
        if after is not None:
            statement = statement.where(_C.id < after)
        with self._database.read(access.scope) as tx:
            return [_link(row) for row in tx.rows(statement.order_by(_C.id.desc()).limit(limit))]

    def revoke(self, scope: Scope, link_id: str, *, by: str, everybodys: bool) -> None:
        """Ends a link at once; somebody else's only where the caller may."""
        with self._database.write(scope) as tx:
            found = self._found(tx, link_id)
            if found.user_id != by and not everybodys:
                raise _no_such_link()
            if found.revoked_at is None:
                tx.execute(
                    sa.update(links).where(_C.id == link_id).values(revoked_at=self._clock.now())
                )
                self._events.append(tx, "link.revoked", link_id, {"by": by, **_told(found)})

    def address(self, link: Link, base: str) -> str:
        token = link.id.partition("_")[2] + _mac(self._keyring.derived(_PURPOSE), link)
        # Programs such as curl add the name of the file that they send.
        return f"{base}/api/v1/links/{token}{'/' if link.method == 'PUT' else ''}"

    def resolve(self, token: str, method: Method) -> Link:
        """The link behind an address; what never was one, and what was altered, are NotFound alike."""
        link_id, given = f"lnk_{token[:_ID]}", token[_ID:]
        row = None
        if is_id(link_id, "lnk") and len(given) == _MAC and given.isascii():
            with self._database.read(EVERYWHERE) as tx:
                row = tx.first(sa.select(links).where(_C.id == link_id))
        if row is None or not self._is_signed(_link(row), given):
            raise NotFound(
                "There is nothing at this address. Check that you copied all of the link.",
                code="no-such-link",
            )
        found = _link(row)
        if found.method != method:
            way = (
                "receives one file: send it with PUT"
                if found.method == "PUT"
                else "is a download: use GET"
            )
            raise Denied(f"This link {way}.", code="link-method")
        self._refuse_ended(found)
        return found

    def use(self, link: Link, address: str) -> None:
        """Counts a use before anything is handed out or taken in: of two at once, one gets a link for one use."""
        now = self._clock.now()
        with self._database.write(link.scope) as tx:
            done = tx.execute(
                sa.update(links)
                .where(_C.id == link.id, *_open(now))
                .values(uses=_C.uses + 1, last_used_at=now)
            )
            found = self._found(tx, link.id)
            if not done.rowcount:
                self._refuse_ended(found)
            told = {"user": link.user_id, "address": address, "uses": found.uses}
            self._events.append(tx, "link.used", link.id, {**told, **_told(found)})

    def give_back(self, link: Link) -> None:
        """What came was refused or broke off: the link can be used again."""
        with self._database.write(link.scope) as tx:
            tx.execute(
                sa.update(links).where(_C.id == link.id, _C.uses > 0).values(uses=_C.uses - 1)
            )

    def _is_signed(self, link: Link, given: str) -> bool:
        keys = self._keyring.derived_by_all(_PURPOSE)
        if not any(hmac.compare_digest(_mac(key, link), given) for key in keys):
            # Another server may know a newer key already.
            keys = self._keyring.read_again().derived_by_all(_PURPOSE)
        return any(hmac.compare_digest(_mac(key, link), given) for key in keys)

    def _refuse_ended(self, link: Link) -> None:
        ask = "Ask the person who gave it to you for another one."
        if link.revoked_at is not None:
            raise NotFound(f"This link was revoked. {ask}", code="link-revoked")
        if link.expires_at <= self._clock.now():
            raise NotFound(
                f"This link ended on {link.expires_at:%d %B %Y at %H:%M} UTC. {ask}",
                code="link-expired",
            )
        if link.single_use and link.uses:
            raise NotFound(f"This link could be used once, and it was. {ask}", code="link-used")

    def _found(self, tx: Transaction, link_id: str) -> Link:
        row = tx.first(sa.select(links).where(_C.id == link_id))
        if row is None:
            raise _no_such_link()
        return _link(row)


def _told(link: Link) -> dict[str, str]:
    return {"kind": "download" if link.method == "GET" else "upload", "name": link.name}


def _open(now: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    unused = sa.or_(sa.not_(_C.single_use), _C.uses == 0)
    return _C.revoked_at.is_(None), _C.expires_at > now, unused


def _mac(key: bytes, link: Link) -> str:
    said = json.dumps(
        [
            *(link.method, link.path, link.name, link.bytes, link.digest, link.single_use),
            *(
                link.id,
                link.run_id,
                link.user_id,
                link.scope.project_id,
                link.expires_at.isoformat(),
            ),
        ]
    )
    return hmac.new(key, said.encode(), "sha256").hexdigest()[:_MAC]


def _link(row: sa.Row[Any]) -> Link:
    told = {name: getattr(row, name) for name in Link.__dataclass_fields__ if name in row._mapping}
    return Link(**told, scope=Scope(row.org_id, row.project_id), digest=row.content)


def _no_such_link() -> NotFound:
    return NotFound("There is no such link of yours in this project.")
