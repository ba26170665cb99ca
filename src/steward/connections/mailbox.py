"""A mailbox read by IMAP over TLS, in a thread of its own: what is new in it, and a wait for more."""

import asyncio
import imaplib
import logging
import ssl
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final, Literal, TypeVar

from imapclient import IMAPClient, SocketTimeout
from imapclient.exceptions import LoginError

from steward.connections.hosts import Place
from steward.connections.http import Http
from steward.connections.received_mail import MOST_MAIL_BYTES
from steward.connections.tls import NamedTls
from steward.core import Misconfigured, StewardError, Unavailable

_CONNECT_SECONDS: Final = 10
_READ_SECONDS: Final = 30
_CLOSE_SECONDS: Final = 5
_WINDOW: Final = 2_000
"""Numbers of messages that are asked for at a time: the answer is one line, which must not be too long."""
_HEAD_BYTES: Final = 64 << 10
_SLACK: Final = 1 << 20

# It would write whole conversations there.
logging.getLogger("imapclient").setLevel(logging.WARNING)
T = TypeVar("T")


@dataclass(frozen=True)
class MailboxServer:
    host: str
    port: int
    security: Literal["tls", "starttls"]
    username: str
    password: str = field(repr=False)
    token: str = field(default="", repr=False)
    """An access token of OAuth 2, which takes the place of the password."""


@dataclass(frozen=True)
class Folder:
    """A folder as it was opened."""

    validity: int
    """While it is the same, a message keeps its number."""
    next_number: int
    """What the next message that arrives will have at least."""
    messages: int


@dataclass(frozen=True)
class Stored:
    """A message as the server has it."""

    number: int
    size: int
    arrived_at: datetime | None
    content: bytes = field(repr=False)
    """The whole of it; of one that is too large, the beginning of its headers."""

    @property
    def is_whole(self) -> bool:
        return self.size <= MOST_MAIL_BYTES


class Mailbox:
    def __init__(self, server: MailboxServer) -> None:
        self._server = server
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="steward-mailbox")
        self._client: Any = None

    @classmethod
    async def open(cls, http: Http, server: MailboxServer) -> "Mailbox":
        """Connects to a checked address, encrypts and signs in."""
        place = Place("imap", server.host, server.port)
        address = str((await http.checked_addresses(place))[0])
        made = cls(server)
        try:
            await made._run(lambda: made._connect(address))
        except BaseException:
            await made.close()
            raise
        return made

    def _connect(self, address: str) -> None:
        server = self._server
        tls = NamedTls()
        tls.names[address] = server.host
        client = IMAPClient(
            address,
            port=server.port,
            ssl=server.security == "tls",
            ssl_context=tls,
            timeout=SocketTimeout(_CONNECT_SECONDS, _READ_SECONDS),
        )
        self._client = client
        read = client._imap.read
        client._imap.read = lambda size: read(_bounded(size))
        if server.security == "starttls":
            client.starttls(tls)
        try:
            _sign_in(client, server)
        except LoginError:
            what = "sign-in" if server.token else "password"
            raise Misconfigured(
                f"The mail server {server.host} refused the user name or {what}."
            ) from None

    async def look(self, folder: str, *, change: bool = False) -> Folder:
        """Opens a folder; without `change` nothing in it can be changed."""
        return await self._run(lambda: self._look(folder, change))

    def _look(self, folder: str, change: bool) -> Folder:
        try:
            found = self._client.select_folder(folder, readonly=not change)
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error:
            raise Misconfigured(f"The mailbox has no folder {folder!r} that can be read.") from None
        following = found.get(b"UIDNEXT")
        if following is None:
            numbers = self._client.search(["UID", "*"])
            following = max(numbers, default=0) + 1
        return Folder(int(found[b"UIDVALIDITY"]), int(following), int(found.get(b"EXISTS", 0)))

    async def numbers(self, first: int, folder: Folder, most: int) -> tuple[list[int], int]:
        """Messages from this number on, oldest first, and where to go on."""
        last = min(first + _WINDOW, folder.next_number) - 1
        if last < first:
            return [], first
        found = await self._run(lambda: self._client.search(["UID", f"{first}:{last}"]))
        fitting = sorted(each for each in found if first <= each <= last)
        if len(fitting) > most:
            return fitting[:most], fitting[most]
        return fitting, last + 1

    async def since(self, day: date, folder: Folder) -> int:
        """The number of the first message that arrived on this day or later."""
        found = await self._run(lambda: self._client.search(["SINCE", day]))
        return min(found, default=folder.next_number)

    async def sizes(self, numbers: Sequence[int]) -> dict[int, tuple[int, datetime | None]]:
        if not numbers:
            return {}
        found = await self._run(
            lambda: self._client.fetch(list(numbers), ["RFC822.SIZE", "INTERNALDATE"])
        )
        return {
            number: (int(each.get(b"RFC822.SIZE", 0)), each.get(b"INTERNALDATE"))
            for number, each in found.items()
        }

    async def fetch(self, number: int, size: int, arrived_at: datetime | None) -> Stored | None:
        """A message, left unread; None when it is no longer there."""
        is_whole = size <= MOST_MAIL_BYTES
        what = (
            f"BODY.PEEK[]<0.{MOST_MAIL_BYTES + 1}>"
            if is_whole
            else f"BODY.PEEK[HEADER]<0.{_HEAD_BYTES}>"
        )
        found = await self._run(lambda: self._client.fetch([number], [what]))
        for name, content in found.get(number, {}).items():
            if name.startswith(b"BODY[") and isinstance(content, bytes):
                return Stored(number, max(size, len(content)), arrived_at, content)
        return None

    async def mark_read(self, numbers: Sequence[int]) -> None:
        if numbers:
            await self._run(lambda: self._client.add_flags(list(numbers), [b"\\Seen"], silent=True))

    @property
    def tells(self) -> bool:
        """Whether the server says by itself that mail has arrived."""
        return bool(self._client.has_capability("IDLE"))

    async def wait(self, seconds: float) -> None:
        """Until something changes in the open folder, or for this time."""
        await self._run(lambda: self._wait(seconds))

    def _wait(self, seconds: float) -> None:
        self._client.idle()
        try:
            self._client.idle_check(timeout=seconds)
        finally:
            self._client.idle_done()

    async def _run(self, work: Callable[[], T]) -> T:
        """In the mailbox's thread; what its library raises becomes one of our errors."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, work)
        except StewardError:
            raise
        except ssl.SSLCertVerificationError as problem:
            raise Misconfigured(
                f"The certificate of the mail server {self._server.host} is not trusted "
                f"({problem.verify_message})."
            ) from None
        except (imaplib.IMAP4.error, OSError, ValueError, AssertionError) as problem:
            server = self._server
            raise Unavailable(
                f"The mail server {server.host}:{server.port} did not answer as expected "
                f"({type(problem).__name__})."
            ) from None

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            loop = asyncio.get_running_loop()
            leaving = loop.run_in_executor(self._thread, _leave, client)
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(leaving), _CLOSE_SECONDS)
            if not leaving.done():
                # Its thread still reads; a closed socket ends that.
                with suppress(OSError):
                    client.shutdown()
        self._thread.shutdown(wait=False, cancel_futures=True)


def _sign_in(client: Any, server: MailboxServer) -> None:
    if not server.token:
        client.login(server.username, server.password)
    elif client.has_capability("AUTH=OAUTHBEARER"):
        client.oauthbearer_login(server.username, server.token)
    elif client.has_capability("AUTH=XOAUTH2"):
        client.oauth2_login(server.username, server.token)
    else:
        raise Misconfigured(
            f"The mail server {server.host} takes no OAuth 2 tokens. Set the connection's authentication to a password."
        )


def _bounded(size: int) -> int:
    if size > MOST_MAIL_BYTES + _SLACK:
        raise imaplib.IMAP4.abort("the server sends more than was asked for")
    return size


def _leave(client: Any) -> None:
    try:
        client.logout()
    except (imaplib.IMAP4.error, OSError):
        with suppress(OSError):
            client.shutdown()
