"""Starts it for each MQTT message of a topic; a message is acknowledged once it is stored."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from steward.core import Misconfigured, Problem, Unavailable
from steward.playbooks.trigger import TRIGGERS, Name
from steward.playbooks.triggers.queues import (
    CONNECT_SECONDS,
    Message,
    Queue,
    QueueTrigger,
    Server,
    message,
)

_MORE_SECONDS: Final = 0.05
"""How long a first message waits for others to be stored with it."""
_NO_TOPIC: Final = "steward/never/subscribed"
_REFUSED: Final = 0x80


@TRIGGERS.register("mqtt")
class MqttTrigger(QueueTrigger):
    title: ClassVar = "On a message from MQTT"
    starter: ClassVar = {"url_secret": "mqtt_url", "topic": "sensors/+/alarm"}
    service: ClassVar = "The MQTT server"
    ports: ClassVar = {"mqtt": 1883, "mqtts": 8883}
    encrypted: ClassVar = frozenset({"mqtts"})
    example: ClassVar = "mqtt://user:password@host:1883"

    type: Literal["mqtt"]
    name: Name = "mqtt"
    topic: str = Field(
        min_length=1,
        max_length=1_000,
        pattern=r"^[^\x00]+$",
        description="+ stands for one level, # at the end for all further ones. The server keeps messages "
        "for Steward only when they are sent with quality of service 1 or 2.",
    )

    def problems(self, now: datetime) -> Iterator[Problem]:
        yield from super().problems(now)
        levels = self.topic.split("/")
        if "#" in levels[:-1] or any(len(each) > 1 and set(each) & {"#", "+"} for each in levels):
            yield Problem("/topic", "+ and # take the place of whole levels, and # is the last one")
        if levels[0] == "$share":
            yield Problem("/topic", "leave out $share; one worker at a time reads for a trigger")

    def details(self) -> dict[str, Any]:
        return {"topic": self.topic}

    async def open(self, server: Server) -> Queue:
        queue = _Session(self.topic, server)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await queue.connect()
        except BaseException:
            await queue.close()
            raise
        return queue


class _Session(Queue):
    """A session that the server keeps while Steward is away. The library runs in a thread of its own."""

    def __init__(self, topic: str, server: Server) -> None:
        from paho.mqtt.client import Client
        from paho.mqtt.enums import CallbackAPIVersion

        self._topic = topic
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._messages: asyncio.Queue[Any] = asyncio.Queue()
        self._connected: asyncio.Future[Any] = self._loop.create_future()
        self._broken: asyncio.Future[str] = self._loop.create_future()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._client = client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=server.consumer,
            clean_session=False,
            manual_ack=True,
            reconnect_on_failure=False,
        )
        client.connect_timeout = CONNECT_SECONDS
        if server.user is not None:
            client.username_pw_set(server.user, server.password)
        if server.tls is not None:
            client.tls_set_context(server.tls)
        client.on_message = lambda _client, _data, found: self._tell(
            self._messages.put_nowait, found
        )
        client.on_connect = lambda _client, _data, _flags, code, _more: self._tell(
            _settle, self._connected, code
        )
        client.on_disconnect = lambda _client, _data, _flags, code, _more: self._tell(
            _settle, self._broken, str(code)
        )
        client.on_subscribe = lambda _client, _data, mid, codes, _more: self._tell(
            self._answered, mid, codes
        )
        client.on_unsubscribe = lambda _client, _data, mid, codes, _more: self._tell(
            self._answered, mid, codes
        )

    def _tell(self, call: Any, *words: Any) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *words)

    def _answered(self, mid: int, codes: Any) -> None:
        _settle(self._answers.setdefault(mid, self._loop.create_future()), codes)

    async def connect(self) -> None:
        server, client = self._server, self._client
        await asyncio.to_thread(client.connect, server.address, server.port)
        client.loop_start()
        code = await self._unless_broken(self._connected)
        if code.is_failure:
            raise Misconfigured(f"The MQTT server refused the sign-in: {code}.")
        [granted] = await self._answer(client.subscribe(self._topic, qos=1))
        if granted.value >= _REFUSED:
            raise Misconfigured(f"The MQTT server does not let Steward read {self._topic!r}.")

    async def _answer(self, sent: tuple[Any, int | None]) -> Any:
        code, mid = sent
        if mid is None:
            raise Unavailable(f"The MQTT server is gone ({code!s}).")
        answer = self._answers.setdefault(mid, self._loop.create_future())
        try:
            return await self._unless_broken(answer)
        finally:
            del self._answers[mid]

    async def _unless_broken(self, awaited: asyncio.Future[Any]) -> Any:
        await asyncio.wait({awaited, self._broken}, return_when=asyncio.FIRST_COMPLETED)
        if not awaited.done():
            raise Unavailable(f"The MQTT server closed the connection ({self._broken.result()}).")
        return awaited.result()

    async def receive(self, most: int, seconds: float) -> list[Message]:
        found: list[Message] = []
        wait = seconds
        while len(found) < most and (each := await self._next(wait)) is not None:
            found.append(each)
            wait = _MORE_SECONDS
        if not found and self._broken.done():
            raise Unavailable(f"The MQTT server closed the connection ({self._broken.result()}).")
        return found

    async def _next(self, seconds: float) -> Message | None:
        """The next message of the topic; None when none came in time."""
        from paho.mqtt.client import topic_matches_sub

        deadline = self._loop.time() + seconds
        while True:
            getting = asyncio.ensure_future(self._messages.get())
            left = max(deadline - self._loop.time(), 0.0)
            await asyncio.wait(
                {getting, self._broken}, timeout=left, return_when=asyncio.FIRST_COMPLETED
            )
            if not getting.done():
                getting.cancel()
                return None
            each = getting.result()
            if topic_matches_sub(self._topic, each.topic):
                return _message(each)
            # Of a topic that the trigger had before; the server still remembers it.
            self._client.ack(each.mid, each.qos)

    async def acknowledge(self, messages: Sequence[Message]) -> None:
        for each in messages:
            mid, qos = each.receipt
            if qos:
                self._client.ack(mid, qos)
        # Acknowledgements are not answered; this is, and after them.
        await self._answer(self._client.unsubscribe(_NO_TOPIC))

    async def close(self) -> None:
        self._client.disconnect()
        await asyncio.to_thread(self._client.loop_stop)


def _settle(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _message(found: Any) -> Message:
    facts = {"topic": found.topic, "retained": bool(found.retain)}
    key = None
    if found.retain:
        # Sent again at each subscription; it is the same event as long as it says the same.
        key = f"retained:{found.topic}:{sha256(found.payload).hexdigest()[:32]}"
    return message(
        found.payload,
        (found.mid, found.qos),
        id=key,
        mark=f"{found.mid}:{found.topic}"[:200],
        again=bool(found.dup),
        facts=facts,
    )
