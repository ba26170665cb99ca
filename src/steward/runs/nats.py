"""The doorbell over NATS JetStream: a work queue per queue and priority, redelivered when a worker falls silent.

A stream holds the calls of one queue, a durable pull consumer serves each priority. Workers hear every call as it is
published and then pull, the urgent ones first, no more than they have room for.
"""

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import nats
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import BadRequestError

from steward.core import Unavailable
from steward.runs.doorbell import Call

LEVELS: Final = ("high", "normal", "low")
_QUEUES: Final = ("cpu", "llm")
_NOBODY: Final = "503"
"""What the server answers where nothing listens: the consumer is missing."""
_ANSWER_SECONDS: Final = 2.0
_RECONNECT_SECONDS: Final = 0.5
_MOST_WAITING: Final = 10_000
_BATCH: Final = 100
# Calls are cheap to lose: whatever is due for long is found in SQL.
_OLDEST: Final = timedelta(hours=1)
_DUPLICATES: Final = timedelta(minutes=2)
_AWAY = (NatsError, OSError, TimeoutError)

_log = structlog.get_logger("steward.nats")


def level_of(priority: int) -> str:
    if priority == 0:
        return "normal"
    return "high" if priority > 0 else "low"


class NatsDoorbell:
    """Publishes calls from a thread of its own, so that nobody who starts a run waits for NATS."""

    def __init__(self, url: str, name: str) -> None:
        """`name` sets installations apart that share a server."""
        self._url = url
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls: asyncio.Queue[Call | None] | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def ring(self, call: Call) -> None:
        loop, calls = self._started()

        def put() -> None:
            if calls.qsize() < _MOST_WAITING:
                calls.put_nowait(call)

        with contextlib.suppress(RuntimeError):  # the loop was closed: Steward is stopping
            loop.call_soon_threadsafe(put)

    def line(self, queues: Sequence[str], lease: timedelta) -> "NatsLine":
        return NatsLine(self._url, self._name, queues, lease)

    def close(self) -> None:
        with self._lock:
            thread, loop, calls = self._thread, self._loop, self._calls
        if thread is not None and loop is not None and calls is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(calls.put_nowait, None)
            thread.join(timeout=5)

    def _started(self) -> tuple[asyncio.AbstractEventLoop, "asyncio.Queue[Call | None]"]:
        with self._lock:
            if self._loop is None or self._calls is None:
                self._loop = asyncio.new_event_loop()
                self._calls = asyncio.Queue()
                self._thread = threading.Thread(target=self._run, name="steward-nats", daemon=True)
                self._thread.start()
            return self._loop, self._calls

    def _run(self) -> None:
        if self._loop is None or self._calls is None:
            return
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:  # type: ignore[arg-type,return-value]
            runner.run(self._serve(self._calls))

    async def _serve(self, calls: "asyncio.Queue[Call | None]") -> None:
        connection = Connection(self._url, self._name, _QUEUES, None)
        await connection.open()
        try:
            while (call := await calls.get()) is not None:
                batch = [call]
                while len(batch) < _BATCH and not calls.empty():
                    following = calls.get_nowait()
                    if following is None:
                        calls.put_nowait(None)
                        break
                    batch.append(following)
                # A call that cannot be made soon is not made: the sweep finds the run.
                if await connection.soon_ready():
                    await asyncio.gather(*(self._publish(connection, each) for each in batch))
        finally:
            await connection.close()

    async def _publish(self, connection: "Connection", call: Call) -> None:
        subject = f"{_subject(self._name, call.queue)}.{level_of(call.priority)}"
        try:
            await connection.stream.publish(
                subject,
                call.run_id.encode(),
                timeout=_ANSWER_SECONDS,
                headers={"Nats-Msg-Id": f"{call.run_id}/{call.wake}"},
            )
        except _AWAY as problem:
            _log.info("call_not_made", run_id=call.run_id, error=str(problem))
            connection.doubt()


class NatsDelivery:
    def __init__(self, message: Msg) -> None:
        self._message = message
        self.run_id = message.data.decode()

    async def keep(self) -> None:
        await _tried(self._message.in_progress())

    async def done(self) -> None:
        await _tried(self._message.ack())

    async def again(self, after: float) -> None:
        await _tried(self._message.nak(delay=after))


class NatsLine:
    """A worker's own connection, in the worker's loop."""

    def __init__(self, url: str, name: str, queues: Sequence[str], lease: timedelta) -> None:
        self._name = name
        self._queues = tuple(queues)
        self._connection = Connection(url, name, self._queues, lease)

    @property
    def connected(self) -> bool:
        return self._connection.ready

    async def open(self, ring: Callable[[], None]) -> None:
        async def heard(_: Msg) -> None:
            ring()

        async def ready(client: Client) -> None:
            # JetStream's subjects are ordinary ones: whoever subscribes hears a call as it is made.
            for queue in self._queues:
                await client.subscribe(f"{_subject(self._name, queue)}.*", cb=heard)
            ring()

        await self._connection.open(ready)

    async def take(self, most: int) -> list[NatsDelivery]:
        found: list[NatsDelivery] = []
        for level in LEVELS:
            for queue in self._queues:
                if len(found) < most:
                    found += await self._pulled(queue, level, most - len(found))
        return found

    async def close(self) -> None:
        await self._connection.close()

    async def _pulled(self, queue: str, level: str, most: int) -> list[NatsDelivery]:
        """What waits there, in one request."""
        if not self.connected:
            return []
        found: list[NatsDelivery] = []
        client = self._connection.client
        try:
            # A pulled message carries its own subject, not that of the answer: it needs an inbox of its own.
            inbox = await client.subscribe(client.new_inbox())
            try:
                address = f"$JS.API.CONSUMER.MSG.NEXT.{_stream(self._name, queue)}.{level}"
                pull = json.dumps({"batch": most, "no_wait": True}).encode()
                await client.publish(address, pull, reply=inbox.subject)
                while len(found) < most:
                    message = await inbox.next_msg(timeout=_ANSWER_SECONDS)
                    status = (message.headers or {}).get("Status")
                    if status == _NOBODY:
                        raise NoRespondersError
                    if status:
                        break
                    found.append(NatsDelivery(message))
            finally:
                await inbox.unsubscribe()
        except _AWAY as problem:
            _log.info("calls_not_taken", queue=queue, error=str(problem))
            self._connection.doubt()
        return found


class Connection:
    """One connection that comes back by itself, with the streams and consumers it needs."""

    def __init__(self, url: str, name: str, queues: Sequence[str], lease: timedelta | None) -> None:
        self._url = url
        self._name = name
        self._queues = queues
        self._lease = lease
        self._client: Client | None = None
        self._stream: JetStreamContext | None = None
        self._prepared = False
        self._doubtful = asyncio.Event()
        self._readied = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        return self._prepared and self._client is not None and self._client.is_connected

    @property
    def client(self) -> Client:
        if self._client is None:
            raise NatsError
        return self._client

    @property
    def stream(self) -> JetStreamContext:
        if self._stream is None:
            raise NatsError
        return self._stream

    async def soon_ready(self) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ANSWER_SECONDS):
                await self._readied.wait()
        return self.ready

    def doubt(self) -> None:
        """Something did not work: streams are looked at again before the next use."""
        self._prepared = False
        self._readied.clear()
        self._doubtful.set()

    async def open(
        self, ready: Callable[[Client], Coroutine[Any, Any, None]] | None = None
    ) -> None:
        self._keeper = asyncio.create_task(self._keep(ready))

    async def close(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        if self._client is not None:
            await _tried(self._client.close())

    async def _keep(self, ready: Callable[[Client], Coroutine[Any, Any, None]] | None) -> None:
        while True:
            try:
                if self._client is None:
                    self._client = await self._connected()
                    self._stream = self._client.jetstream(timeout=_ANSWER_SECONDS)
                    if ready is not None:
                        await ready(self._client)
                if not self._prepared:
                    self._doubtful.clear()
                    await self._prepare(self._stream)
                    self._prepared = True
                    self._readied.set()
                    _log.info("nats_ready", queues=list(self._queues))
            except _AWAY as problem:
                _log.info("nats_away", error=str(problem) or type(problem).__name__)
                await asyncio.sleep(_RECONNECT_SECONDS)
                continue
            await self._doubtful.wait()
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _connected(self) -> Client:
        async def changed(*_: object) -> None:
            self.doubt()

        return await nats.connect(
            self._url,
            name="steward",
            connect_timeout=2,
            reconnect_time_wait=_RECONNECT_SECONDS,
            max_reconnect_attempts=-1,
            ping_interval=5,
            max_outstanding_pings=2,
            disconnected_cb=changed,
            reconnected_cb=changed,
            error_cb=_quiet,
        )

    async def _prepare(self, stream: JetStreamContext | None) -> None:
        if stream is None:
            raise NatsError
        for queue in self._queues:
            config = StreamConfig(
                name=_stream(self._name, queue),
                subjects=[f"{_subject(self._name, queue)}.*"],
                retention=RetentionPolicy.WORK_QUEUE,
                storage=StorageType.FILE,
                max_age=_OLDEST.total_seconds(),
                duplicate_window=_DUPLICATES.total_seconds(),
            )
            try:
                await stream.add_stream(config)
            except BadRequestError:  # another version of Steward made it with other limits
                await stream.update_stream(config)
            if self._lease is not None:
                await self._prepare_consumers(stream, queue, self._lease)

    async def _prepare_consumers(
        self, stream: JetStreamContext, queue: str, lease: timedelta
    ) -> None:
        for level in LEVELS:
            await stream.add_consumer(
                _stream(self._name, queue),
                ConsumerConfig(
                    durable_name=level,
                    filter_subject=f"{_subject(self._name, queue)}.{level}",
                    ack_wait=lease.total_seconds(),
                    max_ack_pending=_MOST_WAITING,
                ),
            )


@dataclass(frozen=True)
class NatsFound:
    """What a look at a server showed."""

    version: str
    streams: int
    milliseconds: float


async def prove(url: str) -> NatsFound:
    """Connects, asks JetStream for its account, and sends a message that comes back; leaves nothing behind."""
    try:
        async with asyncio.timeout(5 * _ANSWER_SECONDS):
            client = await nats.connect(
                url,
                name="steward-doctor",
                connect_timeout=2,
                allow_reconnect=False,
                max_reconnect_attempts=1,
                error_cb=_quiet,
            )
            try:
                account = await client.jetstream(timeout=_ANSWER_SECONDS).account_info()
                heard = await client.subscribe(client.new_inbox())
                began = time.monotonic()
                await client.publish(heard.subject, b"steward doctor")
                await heard.next_msg(timeout=_ANSWER_SECONDS)
                spent = time.monotonic() - began
                server = client.connected_server_version
                version = f"{server.major}.{server.minor}.{server.patch}"
                return NatsFound(version, account.streams, spent * 1000)
            finally:
                await client.close()
    except _AWAY as problem:
        reason = str(problem) or type(problem).__name__
        raise Unavailable(f"NATS with JetStream did not answer ({reason[:200]}).") from None


def _subject(name: str, queue: str) -> str:
    return f"steward.{name}.{queue}"


def _stream(name: str, queue: str) -> str:
    return f"steward_{name}_{queue}"


async def _tried(work: Coroutine[Any, Any, Any]) -> None:
    """What is not heard now is redelivered later; SQL knows better then."""
    try:
        await work
    except _AWAY as problem:
        _log.info("nats_not_told", error=str(problem) or type(problem).__name__)


async def _quiet(problem: Exception) -> None:
    _log.info("nats_trouble", error=str(problem) or type(problem).__name__)
