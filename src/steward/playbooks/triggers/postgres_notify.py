"""Starts it for each NOTIFY on a channel of a PostgreSQL database. Notices sent while Steward is not listening are lost."""

import asyncio
from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar, Final, Literal
from urllib.parse import urlsplit

from pydantic import Field

from steward.connections import Http
from steward.connections.hosts import Place
from steward.core.errors import Invalid, NotFound, Problem
from steward.playbooks.trigger import TRIGGERS, Arrival, Looking, Name, Source, Taken, Trigger
from steward.playbooks.triggers.webhook import read_body
from steward.runs import Json
from steward.store import OWN_SECRETS
from steward.store.notices import Notice, Notices

_MOST: Final = 200
_LEAST_WAIT: Final = 0.2


@TRIGGERS.register("postgres_notify")
class PostgresNotifyTrigger(Trigger):
    title: ClassVar = "On a notice from PostgreSQL"
    starter: ClassVar = {"url_secret": "database_url", "channel": "orders"}

    type: Literal["postgres_notify"]
    name: Name = "notice"
    url_secret: str = Field(
        min_length=1,
        max_length=100,
        description="Name of the project's secret with the address, as in postgresql://user:password@host/name.",
    )
    channel: str = Field(min_length=1, max_length=63, pattern=r"^[A-Za-z_][A-Za-z0-9_$]*$")

    def problems(self, now: datetime) -> Iterator[Problem]:
        yield from super().problems(now)
        if self.url_secret.startswith(OWN_SECRETS):
            yield Problem("/url_secret", "is one of Steward's own; choose another name")

    def first_look(self, now: datetime) -> datetime:
        return now

    def source(self, looking: Looking) -> Source:
        return _Listener(self, looking)

    def details(self) -> dict[str, Any]:
        return {"channel": self.channel}


class _Listener(Source):
    def __init__(self, trigger: PostgresNotifyTrigger, looking: Looking) -> None:
        self._trigger = trigger
        self._looking = looking
        self._notices: Notices | None = None

    async def take(self, cursor: Json) -> Taken:
        if self._notices is None:
            self._notices = await self._opened()
        wait = max(self._looking.patience, _LEAST_WAIT)
        found = await self._notices.next(wait, _MOST)
        return Taken(tuple(_arrival(each) for each in found), cursor)

    async def _opened(self) -> Notices:
        trigger, looking = self._trigger, self._looking
        try:
            url = await asyncio.to_thread(
                looking.services["secrets"].get, looking.scope, trigger.url_secret
            )
        except NotFound:
            raise NotFound(f"The secret {trigger.url_secret!r} is not set.") from None
        parts = urlsplit(url)
        try:
            port = parts.port or 5432
        except ValueError:
            port = 0
        # Further hosts and options could lead elsewhere than to what was checked.
        is_plain = parts.hostname and "," not in parts.netloc and "host" not in parts.query
        if parts.scheme not in {"postgresql", "postgres"} or not is_plain or not port:
            raise Invalid(
                f"The secret {trigger.url_secret!r} is not an address such as postgresql://user:password@host/name."
            )
        http: Http = looking.services["http"]
        place = Place("postgresql", str(parts.hostname), port)
        address = (await http.checked_addresses(place))[0]
        return Notices(url, str(address), trigger.channel)

    async def close(self) -> None:
        if self._notices is not None:
            await self._notices.close()


def _arrival(notice: Notice) -> Arrival:
    data = read_body("", notice.payload.encode())
    return Arrival(data, facts={"channel": notice.channel})
