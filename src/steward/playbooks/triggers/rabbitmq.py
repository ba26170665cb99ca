"""Starts it for each message of a RabbitMQ queue; a message is acknowledged once it is stored."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from steward.core import Misconfigured
from steward.playbooks.trigger import TRIGGERS, Name
from steward.playbooks.triggers.queues import (
    CONNECT_SECONDS,
    MOST,
    Message,
    Queue,
    QueueTrigger,
    Server,
    headers_of,
    message,
)

_MORE_SECONDS: Final = 0.05
"""How long a first message waits for others to be stored with it."""


# What goes wrong is raised and shown at the trigger; the library would log it as well.
logging.getLogger("aiormq").setLevel(logging.CRITICAL)


@TRIGGERS.register("rabbitmq")
class RabbitmqTrigger(QueueTrigger):
    title: ClassVar = "On a message from RabbitMQ"
    starter: ClassVar = {"url_secret": "rabbitmq_url", "queue": "orders"}
    service: ClassVar = "RabbitMQ"
    ports: ClassVar = {"amqp": 5672, "amqps": 5671}
    encrypted: ClassVar = frozenset({"amqps"})
    example: ClassVar = "amqp://user:password@host:5672/vhost"

    type: Literal["rabbitmq"]
    name: Name = "rabbitmq"
    queue: str = Field(
        min_length=1,
        max_length=255,
        description="A queue that exists. Steward takes its messages: let no one else read from it.",
    )

    def details(self) -> dict[str, Any]:
        return {"queue": self.queue}

    async def open(self, server: Server) -> Queue:
        import aiormq
        from aiormq.exceptions import AuthenticationError, ChannelNotFoundEntity
        from yarl import URL

        where = URL.build(
            scheme=server.scheme,
            host=server.address,
            port=server.port,
            user=server.user or "guest",
            password=server.password or "guest",
            path=f"/{server.path}",
        )
        connection = aiormq.Connection(where.update_query(name=server.consumer), context=server.tls)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await connection.connect()
                channel = await connection.channel(publisher_confirms=False)
                await channel.basic_qos(prefetch_count=MOST)
                await channel.queue_declare(self.queue, passive=True)
        except BaseException as problem:
            await connection.close()
            if isinstance(problem, AuthenticationError):
                raise Misconfigured("RabbitMQ refused the user name or password.") from None
            if isinstance(problem, ChannelNotFoundEntity):
                raise Misconfigured(f"RabbitMQ has no queue {self.queue!r} there.") from None
            raise
        return _Queue(connection, channel, self.queue)


class _Queue(Queue):
    """Asks for a batch, and for no more until that one is acknowledged: so all that is under way is in the batch."""

    def __init__(self, connection: Any, channel: Any, queue: str) -> None:
        self._connection = connection
        self._channel = channel
        self._queue = queue

    async def receive(self, most: int, seconds: float) -> list[Message]:
        found: list[Any] = []
        full, first = asyncio.Event(), asyncio.Event()

        async def deliver(delivered: Any) -> None:
            found.append(delivered)
            first.set()
            if len(found) >= most:
                full.set()

        consuming = await self._channel.basic_consume(self._queue, deliver)
        await self._either(first, seconds)
        if found:
            await self._either(full, _MORE_SECONDS)
        await self._channel.basic_cancel(consuming.consumer_tag)
        # What arrived before the answer to this is with tasks that were made before.
        await asyncio.sleep(0)
        return [_message(each) for each in found]

    async def _either(self, event: asyncio.Event, seconds: float) -> None:
        """Until it happens, the time is over or the connection is gone."""
        waiting = asyncio.ensure_future(event.wait())
        await asyncio.wait(
            {waiting, self._channel.closing},
            timeout=seconds,
            return_when=asyncio.FIRST_COMPLETED,
        )
        waiting.cancel()

    async def acknowledge(self, messages: Sequence[Message]) -> None:
        if messages:
            await self._channel.basic_ack(max(each.receipt for each in messages), multiple=True)
            # Acknowledgements are not answered; this is, and after them.
            await self._channel.basic_qos(prefetch_count=MOST)

    async def close(self) -> None:
        await self._connection.close()


def _message(found: Any) -> Message:
    properties = found.header.properties
    facts = {
        "exchange": found.exchange or "",
        "routing_key": found.routing_key or "",
        "headers": headers_of((properties.headers or {}).items()),
    }
    named = properties.message_id
    return message(
        found.body,
        found.delivery_tag,
        id=f"id:{named}" if named else None,
        again=bool(found.redelivered),
        facts=facts,
    )
