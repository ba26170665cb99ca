"""What triggers share whose events wait in a queue: taken, stored, and only then acknowledged to the server.

A queue is one small file: a QueueTrigger that opens a Queue. The server keeps the place; Steward's cursor remembers
only what was stored and perhaps not acknowledged, for servers whose messages have no id that lasts.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Final, Literal
from urllib.parse import unquote

from pydantic import Field

from steward.connections import NamedTls, Place
from steward.core import Invalid, Misconfigured, StewardError, Unavailable
from steward.playbooks.trigger import Arrival, Looking, Source, Taken
from steward.playbooks.triggers.secret_address import (
    SecretAddressTrigger,
    secret_address,
)
from steward.playbooks.triggers.webhook import read_body
from steward.runs import Json
from steward.tools import HTTP

MOST: Final = 100
"""Messages taken at a time."""
CONNECT_SECONDS: Final = 10.0
_LARGEST: Final = 1 << 20
_SHOWN: Final = 2_000
_MOST_HEADERS: Final = 60
_LONGEST_HEADER: Final = 1_000
_LEAST_WAIT: Final = 0.2

Start = Annotated[
    Literal["new", "all"],
    Field(description="new: messages from now on. all: also those that are there already."),
]


@dataclass(frozen=True)
class Message:
    data: Json
    receipt: Any
    """What the queue needs to acknowledge it."""
    id: str | None = None
    """What it is called at each delivery; None: the server has no such name."""
    mark: str = ""
    """Without an id: what a second delivery has in common with the first."""
    again: bool = False
    """Without an id: whether the server says that it delivered this before."""
    facts: Mapping[str, Json] = field(default_factory=dict)
    held: str | None = None


class Queue(ABC):
    """An open connection to one queue. One trigger has one place in it, whichever worker holds the trigger."""

    @abstractmethod
    async def receive(self, most: int, seconds: float) -> list[Message]:
        """Messages that wait, or the first ones that come within this time."""

    @abstractmethod
    async def acknowledge(self, messages: Sequence[Message]) -> None:
        """Says that these are stored; the server does not deliver them again."""

    @abstractmethod
    async def close(self) -> None:
        """Lets go of the connection; the server delivers again what was not acknowledged."""


@dataclass(frozen=True)
class Server:
    """Where a queue is: an address that may be called, and how to sign in there."""

    scheme: str
    host: str
    address: str
    port: int
    user: str | None
    password: str | None = field(repr=False)
    path: str
    tls: NamedTls | None
    consumer: str
    """What Steward calls itself there; the server remembers the trigger's place by it."""
    sign_in: str
    """How it signs in there, where there are several ways and the connection says which one."""
    _looking: Looking = field(repr=False)

    @property
    def url_host(self) -> str:
        return f"[{self.address}]" if ":" in self.address else self.address

    async def also(self, host: str, port: int) -> str:
        """The address of another server that this one names, if it may be called."""
        http = self._looking.services.use(HTTP)
        found = str((await http.checked_addresses(Place(self.scheme, host, port)))[0])
        if self.tls is not None:
            self.tls.names[found] = host
        return found


class QueueTrigger(SecretAddressTrigger):
    service: ClassVar[str]
    """What people call the server."""
    ports: ClassVar[Mapping[str, int]]
    """Usual ports by the scheme of the address."""
    encrypted: ClassVar[frozenset[str]]
    """Schemes that mean TLS."""
    example: ClassVar[str]
    extra: ClassVar[str] = "queues"

    async def server(self, looking: Looking) -> Server:
        """Where the queue is, at an address that may be called."""
        parts, port = await secret_address(
            looking, self.url_secret, ports=self.ports, example=self.example
        )
        tls = NamedTls() if parts.scheme in self.encrypted else None
        user = unquote(parts.username) if parts.username else None
        password = unquote(parts.password) if parts.password else None
        place = Place(parts.scheme, str(parts.hostname), port)
        path = unquote(parts.path.lstrip("/"))
        return await server_at(looking, place, tls, user, password, path=path)

    @abstractmethod
    async def open(self, server: Server) -> Queue:
        """Connects and signs in. An unexpected error of a library becomes one that says the server did not answer."""

    def source(self, looking: Looking) -> Source:
        return _Subscriber(self, looking)


class _Subscriber(Source):
    def __init__(self, trigger: QueueTrigger, looking: Looking) -> None:
        self._trigger = trigger
        self._looking = looking
        self._queue: Queue | None = None
        self._password: str | None = None
        self._known: Counter[str] = Counter()
        """Marks of messages that are stored and may be delivered again, as the connection before this one broke."""
        self._settled = False

    async def take(self, cursor: Json) -> Taken:
        try:
            if self._queue is None:
                self._queue = await self._open()
                self._known = Counter((cursor or {}).get("stored", ()))
            elif self._settled:
                # Forgotten before the next ones are taken, as one of them may look alike.
                self._settled = False
                return Taken(cursor=_cursor(self._known.elements()))
            wait = max(self._looking.patience, _LEAST_WAIT)
            messages = await self._queue.receive(MOST, wait)
        except Exception as problem:  # noqa: BLE001 - each library has errors of its own
            await self._let_go()
            raise self._explained(problem) from None
        new = [each for each in messages if not self._is_stored(each)]
        arrivals = [
            Arrival(each.data, key=each.id, facts=each.facts, held=each.held) for each in new
        ]
        marks = [each.mark for each in messages if each.id is None]
        return Taken(tuple(arrivals), _cursor([*marks, *self._known.elements()]), receipt=messages)

    def _is_stored(self, message: Message) -> bool:
        if message.id is not None:
            return False
        if not message.again:
            # Servers deliver first what they deliver again.
            self._known.clear()
        if not self._known[message.mark]:
            return False
        self._known[message.mark] -= 1
        return True

    async def _open(self) -> Queue:
        trigger = self._trigger
        server = await trigger.server(self._looking)
        self._password = server.password
        try:
            return await trigger.open(server)
        except ModuleNotFoundError:
            raise Misconfigured(
                f"{trigger.service} needs Steward's extra {trigger.extra!r}: "
                f"pip install 'steward[{trigger.extra}]'."
            ) from None

    def _explained(self, problem: Exception) -> StewardError:
        if isinstance(problem, StewardError):
            return problem
        said = (str(problem) or type(problem).__name__)[:300]
        if self._password:
            said = said.replace(self._password, "…")
        return Unavailable(f"{self._trigger.service} did not answer: {said[:200]}")

    async def settle(self, taken: Taken) -> None:
        if self._queue is None or not taken.receipt:
            return
        try:
            await self._queue.acknowledge(taken.receipt)
            self._settled = any(each.id is None for each in taken.receipt)
        except Exception as problem:  # noqa: BLE001 - as above
            await self._let_go()
            raise self._explained(problem) from None

    async def _let_go(self) -> None:
        queue, self._queue = self._queue, None
        if queue is not None:
            # What matters is the error that led here.
            with suppress(Exception):
                await queue.close()

    async def close(self) -> None:
        await self._let_go()


def _cursor(marks: Iterable[str]) -> Json:
    kept = list(marks)
    return {"stored": kept} if kept else None


async def server_at(
    looking: Looking,
    place: Place,
    tls: NamedTls | None,
    user: str | None,
    password: str | None,
    *,
    path: str = "",
    sign_in: str = "",
) -> Server:
    """A server at the first address of its host that may be called."""
    address = str((await looking.services.use(HTTP).checked_addresses(place))[0])
    if tls is not None:
        tls.names[address] = place.host
    return Server(
        scheme=place.scheme,
        host=place.host,
        address=address,
        port=place.port,
        user=user,
        password=password,
        path=path,
        tls=tls,
        consumer=looking.subscription_id,
        sign_in=sign_in,
        _looking=looking,
    )


def message(
    body: bytes,
    receipt: Any,
    *,
    facts: Mapping[str, Json],
    id: str | None = None,  # noqa: A002 - the word of the field
    mark: str = "",
    again: bool = False,
) -> Message:
    """A message as an event. One that cannot be read must not hold up those behind it, so every one is stored."""
    if id is None:
        mark = f"{mark}:{sha256(body).hexdigest()[:32]}"
    if len(body) > _LARGEST:
        shown = body[:_SHOWN].decode("utf-8", "replace").replace("\0", "")
        held = (
            f"The message has {len(body):,} bytes. Steward takes {_LARGEST:,} at most and kept its "
            "beginning. Run it if that is enough, or drop it."
        )
        return Message(shown, receipt, id, mark, again, facts, held)
    return Message(read(body), receipt, id, mark, again, facts)


def read(body: bytes) -> Json:
    """JSON as its value, everything else as text."""
    try:
        return read_body("", body)
    except Invalid:
        return body.decode("utf-8", "replace").replace("\0", "")


def headers_of(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Json]:
    """Headers as text, no more than an event should carry."""
    shown: dict[str, Json] = {}
    for name, value in pairs:
        if len(shown) == _MOST_HEADERS:
            break
        shown[_text(name)[:_LONGEST_HEADER]] = _text(value)[:_LONGEST_HEADER]
    return shown


def _text(value: Any) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.replace("\0", "")
