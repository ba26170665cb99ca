"""Starts it for each entry of a Redis stream; an entry is acknowledged once it is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from steward.core import Misconfigured
from steward.playbooks.trigger import TRIGGERS, Name
from steward.playbooks.triggers.queues import (
    CONNECT_SECONDS,
    Message,
    Queue,
    QueueTrigger,
    Server,
    Start,
    message,
    read,
)
from steward.runs import Json

_CONSUMER: Final = "steward"


@TRIGGERS.register("redis_stream")
class RedisStreamTrigger(QueueTrigger):
    title: ClassVar = "On an entry of a Redis stream"
    starter: ClassVar = {"url_secret": "redis_url", "stream": "orders"}
    service: ClassVar = "Redis"
    ports: ClassVar = {"redis": 6379, "rediss": 6379}
    encrypted: ClassVar = frozenset({"rediss"})
    example: ClassVar = "redis://user:password@host:6379/0"

    type: Literal["redis_stream"]
    name: Name = "redis"
    stream: str = Field(min_length=1, max_length=500, description="Key of the stream.")
    start: Start = "new"

    def details(self) -> dict[str, Any]:
        return {"stream": self.stream}

    async def open(self, server: Server) -> Queue:
        from redis.asyncio import Connection, ConnectionPool, Redis
        from redis.exceptions import AuthenticationError, ResponseError

        class Checked(Connection):
            """Connects where the address was checked, and checks the certificate by the name."""

            def _connection_arguments(self) -> Mapping[str, Any]:
                return {"host": server.address, "port": server.port, "ssl": server.tls}

        if server.path and not server.path.isdecimal():
            raise Misconfigured("The path of a Redis address is the number of a database, as /0.")
        pool = ConnectionPool(
            connection_class=Checked,
            username=server.user,
            password=server.password,
            db=int(server.path or 0),
            protocol=2,
            socket_connect_timeout=CONNECT_SECONDS,
            # A read may wait for an entry as long as a trigger may listen.
            socket_timeout=45,
        )
        client = Redis(connection_pool=pool)
        try:
            begin = "$" if self.start == "new" else "0"
            await client.xgroup_create(self.stream, server.consumer, begin, mkstream=True)
        except AuthenticationError:
            await client.aclose()
            raise Misconfigured("Redis refused the user name or password.") from None
        except ResponseError as problem:
            if not str(problem).startswith("BUSYGROUP"):
                await client.aclose()
                raise
        except BaseException:
            await client.aclose()
            raise
        return _Stream(client, self.stream, server.consumer)


class _Stream(Queue):
    """One consumer of a group of its own. Entries that it was given and did not acknowledge come first."""

    def __init__(self, client: Any, stream: str, group: str) -> None:
        self._client = client
        self._stream = stream
        self._group = group
        self._after: str | None = "0"
        """While it reads again what was delivered before: the entry behind which it goes on."""

    async def receive(self, most: int, seconds: float) -> list[Message]:
        if self._after is not None:
            given = await self._read(self._after, most, None)
            if given:
                self._after = _text(given[-1][0])
                return await self._messages(given)
            self._after = None
        return await self._messages(await self._read(">", most, max(int(seconds * 1_000), 1)))

    async def _read(self, after: str, most: int, wait: int | None) -> list[Any]:
        found = await self._client.xreadgroup(
            self._group, _CONSUMER, {self._stream: after}, count=most, block=wait
        )
        return [entry for _, entries in found for entry in entries]

    async def _messages(self, entries: Sequence[Any]) -> list[Message]:
        gone = [number for number, fields in entries if not fields]
        if gone:
            # Trimmed from the stream before they were read a second time: there is nothing left to store.
            await self._client.xack(self._stream, self._group, *gone)
        return [self._message(number, fields) for number, fields in entries if fields]

    def _message(self, found: bytes, fields: Mapping[bytes, bytes]) -> Message:
        number = _text(found)
        key = f"{self._stream}:{number}"
        facts = {"stream": self._stream, "entry": number}
        whole = b"".join([*fields.keys(), *fields.values()])
        made = message(whole, number, id=key, facts=facts)
        return made if made.held is not None else replace(made, data=_data(fields))

    async def acknowledge(self, messages: Sequence[Message]) -> None:
        if messages:
            await self._client.xack(self._stream, self._group, *(each.receipt for each in messages))

    async def close(self) -> None:
        await self._client.aclose()
        await self._client.connection_pool.disconnect()


def _data(fields: Mapping[bytes, bytes]) -> dict[str, Json]:
    return {_text(name): read(value) for name, value in fields.items()}


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace").replace("\0", "")
