"""Starts it for each message of a NATS JetStream stream; a message is acknowledged once it is stored."""

import asyncio
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from steward.core.errors import Misconfigured, Unavailable
from steward.playbooks.trigger import TRIGGERS, Arrival, Looking, Name, Source, Taken
from steward.playbooks.triggers.secret_address import (
    SecretAddressTrigger,
    checked_address,
    secret_address,
)
from steward.playbooks.triggers.webhook import read_body
from steward.runs import Json

_MOST: Final = 100
_LEAST_WAIT: Final = 0.2


@TRIGGERS.register("nats")
class NatsTrigger(SecretAddressTrigger):
    title: ClassVar = "On a message from NATS"
    starter: ClassVar = {"url_secret": "nats_url", "stream": "ORDERS", "subject": "orders.>"}

    type: Literal["nats"]
    name: Name = "nats"
    stream: str = Field(min_length=1, max_length=200, pattern=r"^[^\s.*>/\\]+$")
    subject: str = Field(">", min_length=1, max_length=200, pattern=r"^\S+$")

    def source(self, looking: Looking) -> Source:
        return _Subscriber(self, looking)

    def details(self) -> dict[str, Any]:
        return {"stream": self.stream, "subject": self.subject}


class _Subscriber(Source):
    """One durable consumer for a trigger, whichever worker holds it."""

    def __init__(self, trigger: NatsTrigger, looking: Looking) -> None:
        self._trigger = trigger
        self._looking = looking
        self._client: Any = None
        self._subscription: Any = None

    async def take(self, cursor: Json) -> Taken:
        from nats.errors import Error
        from nats.js.errors import Error as StreamError

        try:
            if self._subscription is None:
                await self._connect()
            messages = await self._fetch()
        except (Error, StreamError, OSError, TimeoutError) as problem:
            await self.close()
            said = str(problem) or type(problem).__name__
            raise Unavailable(f"NATS did not answer: {said[:200]}") from None
        return Taken(tuple(_arrival(each) for each in messages), cursor, receipt=messages)

    async def _connect(self) -> None:
        try:
            import nats
        except ModuleNotFoundError:
            raise Misconfigured("NATS needs Steward's 'nats' extra; install it first.") from None
        trigger, looking = self._trigger, self._looking
        checked, host = await self._checked()
        self._client = await nats.connect(
            checked,
            connect_timeout=5,
            # A server may name others to go to; they were not checked.
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0.2,
            # What goes wrong is raised below and shown at the trigger.
            error_cb=_ignore,
            **({"tls_hostname": host} if checked.startswith("tls:") else {}),
        )
        self._subscription = await self._client.jetstream().pull_subscribe(
            trigger.subject, durable=looking.subscription_id, stream=trigger.stream
        )

    async def _checked(self) -> tuple[str, str]:
        """The server by an address that may be called, and its name."""
        parts, port = await secret_address(
            self._looking,
            self._trigger.url_secret,
            schemes=frozenset({"nats", "tls"}),
            port=4222,
            example="nats://user:password@host:4222",
        )
        found = await checked_address(self._looking, parts, port)
        shown = f"[{found}]" if found.version == 6 else str(found)
        user, at, _ = parts.netloc.rpartition("@")
        return f"{parts.scheme}://{user}{at}{shown}:{port}", str(parts.hostname)

    async def _fetch(self) -> list[Any]:
        try:
            wait = max(self._looking.patience, _LEAST_WAIT)
            return list(await self._subscription.fetch(_MOST, timeout=wait))
        except TimeoutError:
            return []

    async def settle(self, taken: Taken) -> None:
        await asyncio.gather(*(message.ack() for message in taken.receipt or ()))

    async def close(self) -> None:
        client, self._client, self._subscription = self._client, None, None
        if client is not None:
            await client.close()


async def _ignore(_problem: Exception) -> None:
    pass


def _arrival(message: Any) -> Arrival:
    headers = dict(message.headers or {})
    facts: dict[str, Json] = {"subject": message.subject, "headers": headers}
    sequence = message.metadata.sequence.stream
    key = headers.get("Nats-Msg-Id") or f"{message.metadata.stream}:{sequence}"
    return Arrival(read_body("", message.data), key=key, facts=facts)
