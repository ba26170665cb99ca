"""Starts it for each NOTIFY on a channel of a PostgreSQL database. Notices sent while Steward is not listening are lost."""

from typing import Any, ClassVar, Final, Literal
from urllib.parse import urlunsplit

from pydantic import Field

from steward.playbooks.trigger import TRIGGERS, Arrival, Looking, Name, Source, Taken
from steward.playbooks.triggers.secret_address import (
    SecretAddressTrigger,
    checked_address,
    secret_address,
)
from steward.playbooks.triggers.webhook import read_body
from steward.runs import Json
from steward.store import Notice, Notices

_MOST: Final = 200
_LEAST_WAIT: Final = 0.2


@TRIGGERS.register("postgres_notify")
class PostgresNotifyTrigger(SecretAddressTrigger):
    title: ClassVar = "On a notice from PostgreSQL"
    starter: ClassVar = {"url_secret": "database_url", "channel": "orders"}

    type: Literal["postgres_notify"]
    name: Name = "notice"
    channel: str = Field(min_length=1, max_length=63, pattern=r"^[A-Za-z_][A-Za-z0-9_$]*$")

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
        parts, port = await secret_address(
            looking,
            trigger.url_secret,
            ports={"postgresql": 5432, "postgres": 5432},
            example="postgresql://user:password@host/name",
        )
        address = await checked_address(looking, parts, port)
        return Notices(urlunsplit(parts), str(address), trigger.channel)

    async def close(self) -> None:
        if self._notices is not None:
            await self._notices.close()


def _arrival(notice: Notice) -> Arrival:
    data = read_body("", notice.payload.encode())
    return Arrival(data, facts={"channel": notice.channel})
