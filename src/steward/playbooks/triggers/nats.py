"""Starts it for each message of a NATS JetStream stream; a message is acknowledged once it is stored."""

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import Field

from steward.playbooks.trigger import TRIGGERS, Name
from steward.playbooks.triggers.queues import (
    CONNECT_SECONDS,
    Message,
    Queue,
    QueueTrigger,
    Server,
    headers_of,
    message,
)


@TRIGGERS.register("nats")
class NatsTrigger(QueueTrigger):
    title: ClassVar = "On a message from NATS"
    starter: ClassVar = {"url_secret": "nats_url", "stream": "ORDERS", "subject": "orders.>"}
    service: ClassVar = "NATS"
    ports: ClassVar = {"nats": 4222, "tls": 4222}
    encrypted: ClassVar = frozenset({"tls"})
    example: ClassVar = "nats://user:password@host:4222"
    extra: ClassVar = "nats"

    type: Literal["nats"]
    name: Name = "nats"
    stream: str = Field(min_length=1, max_length=200, pattern=r"^[^\s.*>/\\]+$")
    subject: str = Field(">", min_length=1, max_length=200, pattern=r"^\S+$")

    def details(self) -> dict[str, Any]:
        return {"stream": self.stream, "subject": self.subject}

    async def open(self, server: Server) -> Queue:
        import nats

        user = "" if server.user is None else quote(server.user, safe="")
        if server.password is not None:
            user += f":{quote(server.password, safe='')}"
        client = await nats.connect(
            f"{server.scheme}://{user}{'@' if user else ''}{server.url_host}:{server.port}",
            connect_timeout=int(CONNECT_SECONDS),
            # A server may name others to go to; they were not checked.
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0.2,
            # What goes wrong is raised below and shown at the trigger.
            error_cb=_ignore,
            **({"tls_hostname": server.host} if server.tls is not None else {}),
        )
        try:
            subscription = await client.jetstream().pull_subscribe(
                self.subject, durable=server.consumer, stream=self.stream
            )
        except BaseException:
            await client.close()
            raise
        return _Stream(client, subscription)


class _Stream(Queue):
    def __init__(self, client: Any, subscription: Any) -> None:
        self._client = client
        self._subscription = subscription
        self._given: list[Any] = []

    async def receive(self, most: int, seconds: float) -> list[Message]:
        try:
            found = await self._subscription.fetch(most, timeout=seconds)
        except TimeoutError:
            return []
        self._given = list(found)
        return [_message(each) for each in found]

    async def acknowledge(self, messages: Sequence[Message]) -> None:
        await asyncio.gather(*(each.receipt.ack() for each in messages))
        # Acknowledgements may wait in the client; what is asked now is answered after them.
        await self._client.flush()
        self._given = []

    async def close(self) -> None:
        if self._given and self._client.is_connected:
            # Given back at once; otherwise the server waits half a minute for an answer.
            await asyncio.gather(*(each.nak() for each in self._given))
        await self._client.close()


async def _ignore(_problem: Exception) -> None:
    pass


def _message(found: Any) -> Message:
    headers = dict(found.headers or {})
    facts = {"subject": found.subject, "headers": headers_of(headers.items())}
    sequence = found.metadata.sequence.stream
    key = headers.get("Nats-Msg-Id") or f"{found.metadata.stream}:{sequence}"
    return message(found.data, found, id=key, facts=facts)
