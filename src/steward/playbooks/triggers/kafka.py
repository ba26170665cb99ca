"""Starts it for each record of a Kafka topic; its place there moves once the records are stored."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from steward.connections import KafkaSignIn, Place, kafka_options, kafka_tls, require_kafka
from steward.core import Misconfigured, Problem, StewardError, Unavailable
from steward.playbooks.trigger import TRIGGERS, Looking, Name
from steward.playbooks.triggers.queues import (
    CONNECT_SECONDS,
    Message,
    Queue,
    QueueTrigger,
    Server,
    Start,
    headers_of,
    message,
    server_at,
)
from steward.tools import CONNECTIONS

_MOST_BYTES: Final = 16 << 20


# What goes wrong is raised and shown at the trigger; the library would log it as well.
logging.getLogger("aiokafka").setLevel(logging.CRITICAL)


@TRIGGERS.register("kafka")
class KafkaTrigger(QueueTrigger):
    title: ClassVar = "On a record from Kafka"
    starter: ClassVar = {"url_secret": "kafka_url", "topic": "orders"}
    service: ClassVar = "Kafka"
    ports: ClassVar = {"kafka": 9092, "kafkas": 9093}
    encrypted: ClassVar = frozenset({"kafkas"})
    example: ClassVar = "kafka://user:password@host:9092"

    type: Literal["kafka"]
    name: Name = "kafka"
    topic: str = Field(min_length=1, max_length=249, pattern=r"^[A-Za-z0-9._-]+$")
    start: Start = "new"
    url_secret: str = Field(
        "",
        max_length=100,
        description="Name of the project's secret with the address, user and password, where no connection is named.",
    )
    connection: str = Field(
        "", max_length=100, description="Name of a connection to Kafka, with its certificates."
    )
    sign_in: KafkaSignIn = Field(
        "PLAIN",
        description="How Steward signs in where the address in the secret names a user.",
    )

    def problems(self, now: datetime) -> Iterator[Problem]:
        yield from super().problems(now)
        if bool(self.url_secret) == bool(self.connection):
            yield Problem("/connection", "name either a connection or a secret with the address")

    async def server(self, looking: Looking) -> Server:
        if not self.connection:
            return await super().server(looking)
        desk = looking.services.use(CONNECTIONS)
        connection = await asyncio.to_thread(desk.named, looking.scope, self.connection, "kafka")
        opened = await asyncio.to_thread(desk.open, looking.scope, connection)
        settings = opened.settings
        return await server_at(
            looking,
            Place("kafka", settings.host, settings.port),
            kafka_tls(settings, opened.secrets),
            settings.username or None,
            opened.secrets.get("password"),
            sign_in=settings.sign_in,
        )

    def details(self) -> dict[str, Any]:
        return {"topic": self.topic}

    async def open(self, server: Server) -> Queue:
        from aiokafka import AIOKafkaConsumer
        from aiokafka.errors import KafkaConnectionError

        sign_in = server.sign_in or self.sign_in
        options = kafka_options(server.tls, sign_in, server.user, server.password)
        consumer = AIOKafkaConsumer(
            bootstrap_servers=f"{server.url_host}:{server.port}",
            group_id=server.consumer,
            client_id="steward",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            fetch_max_bytes=_MOST_BYTES,
            request_timeout_ms=int(CONNECT_SECONDS * 1_000),
            **options,
        )
        queue = _Topic(consumer, self.topic, server)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await queue.begin(self.start)
        except KafkaConnectionError:
            await queue.close()
            place = Place(server.scheme, server.host, server.port)
            await require_kafka(server.address, place, options)
            raise Unavailable(f"Kafka did not answer at {server.host}:{server.port}.") from None
        except BaseException:
            await queue.close()
            raise
        return queue


class _Topic(Queue):
    """All partitions of a topic. The trigger's lease takes the place of a group's election; the group keeps the place."""

    def __init__(self, consumer: Any, topic: str, server: Server) -> None:
        self._consumer = consumer
        self._topic = topic
        self._server = server
        self._refused: StewardError | None = None
        self._door = consumer._client._get_conn
        consumer._client._get_conn = self._connection

    async def _connection(self, node: Any, **more: Any) -> Any:
        """A connection to a broker that another one named, if its address may be called."""
        cluster = self._consumer._client.cluster
        broker = cluster.broker_metadata(node)
        if broker is not None:
            try:
                address = await self._server.also(broker.host, broker.port)
            except StewardError as problem:
                self._refused = problem
                return None
            named = cluster._brokers if node in cluster._brokers else cluster._bootstrap_brokers
            named[node] = broker._replace(host=address)
        return await self._door(node, **more)

    async def begin(self, start: Start) -> None:
        try:
            await self._consumer.start()
            await self._assign()
        except Exception:
            # The library only says that it reached no broker.
            self._raise_refusal()
            raise
        assigned = self._consumer.assignment()
        known = [await self._consumer.committed(each) for each in assigned]
        if start == "new" and all(each is None for each in known):
            ends = await self._consumer.end_offsets(list(assigned))
            for partition, end in ends.items():
                self._consumer.seek(partition, end)
            # Kept at once: what comes from now on is not lost when this process is.
            await self._consumer.commit(ends)

    async def _assign(self) -> None:
        from aiokafka import TopicPartition

        found = await self._consumer._client.fetch_all_metadata()
        numbers = found.partitions_for_topic(self._topic)
        if not numbers:
            raise Misconfigured(f"Kafka has no topic {self._topic!r} there.")
        self._consumer.assign([TopicPartition(self._topic, number) for number in numbers])

    def _raise_refusal(self) -> None:
        refused, self._refused = self._refused, None
        if refused is not None:
            raise refused

    async def receive(self, most: int, seconds: float) -> list[Message]:
        known = self._consumer._client.cluster.partitions_for_topic(self._topic)
        if known and len(known) > len(self._consumer.assignment()):
            # Partitions that were added are read from their first record.
            await self._assign()
        wait = int(seconds * 1_000)
        found = await self._consumer.getmany(timeout_ms=wait, max_records=most)
        self._raise_refusal()
        return [_message(each) for records in found.values() for each in records]

    async def acknowledge(self, messages: Sequence[Message]) -> None:
        places: dict[Any, int] = {}
        for each in messages:
            partition, offset = each.receipt
            places[partition] = max(places.get(partition, 0), offset + 1)
        if places:
            await self._consumer.commit(places)

    async def close(self) -> None:
        await self._consumer.stop()


def _message(found: Any) -> Message:
    from aiokafka import TopicPartition

    key = None if found.key is None else found.key.decode("utf-8", "replace").replace("\0", "")
    facts = {
        "topic": found.topic,
        "partition": found.partition,
        "offset": found.offset,
        "key": key,
        "headers": headers_of(found.headers),
    }
    return message(
        found.value or b"",
        (TopicPartition(found.topic, found.partition), found.offset),
        # With the time: offsets begin again when a topic is deleted and made again.
        id=f"{found.topic}:{found.partition}:{found.offset}:{found.timestamp}",
        facts=facts,
    )
