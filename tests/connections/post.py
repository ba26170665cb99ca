"""A real mail server for tests."""

import asyncio
import ssl
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from queue import Queue
from threading import Thread
from typing import Any, cast

from aiosmtpd import smtp
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword, Session


@dataclass
class Office:
    """Keeps what arrives; refuses what its script says."""

    refuse: dict[str, str] = field(default_factory=dict)
    data_answer: str = "250 taken"
    letters: list[EmailMessage] = field(default_factory=list)
    recipients: list[list[str]] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    port: int = 0

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self,
        server: smtp.SMTP,
        session: Session,
        envelope: Envelope,
        address: str,
        options: list[str],
    ) -> str:
        if address in self.refuse:
            return self.refuse[address]
        envelope.rcpt_tos.append(address)
        return "250 fine"

    async def handle_DATA(  # noqa: N802 - aiosmtpd's name
        self, server: smtp.SMTP, session: Session, envelope: Envelope
    ) -> str:
        if self.data_answer.startswith("250"):
            content = cast("bytes", envelope.content)
            self.letters.append(message_from_bytes(content, policy=policy.default))
            self.recipients.append(list(envelope.rcpt_tos))
            self.encrypted.append(session.ssl is not None)
        if self.data_answer == "drop":
            assert server.transport is not None
            server.transport.close()
        return self.data_answer


def _authenticate(*arguments: Any) -> AuthResult:
    login = arguments[-1]
    fits = isinstance(login, LoginPassword) and login.login == b"ada"
    return AuthResult(success=fits and login.password == b"right", handled=False)


@asynccontextmanager
async def office(
    tls: ssl.SSLContext | None = None, *, from_start: bool = False, login: bool = False
) -> AsyncIterator[Office]:
    kept = Office()
    options: dict[str, Any] = {}
    if login:
        options |= {"authenticator": _authenticate, "auth_required": True}
    if from_start:
        options |= {"auth_require_tls": False}
    elif tls is not None:
        options |= {"tls_context": tls, "require_starttls": True}

    def protocol() -> smtp.SMTP:
        with warnings.catch_warnings():
            # It advises against logins without STARTTLS; here TLS is there from the start.
            warnings.simplefilter("ignore")
            return smtp.SMTP(kept, hostname="mail.example", **options)

    listening = await asyncio.get_running_loop().create_server(
        protocol,
        "127.0.0.1",
        0,
        ssl=tls if from_start else None,
    )
    kept.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield kept


@contextmanager
def post_office(tls: ssl.SSLContext) -> Iterator[Office]:
    """A real mail server in a thread of its own."""
    ready: Queue[tuple[Office, asyncio.AbstractEventLoop, asyncio.Event]] = Queue()

    async def serve() -> None:
        over = asyncio.Event()
        async with office(tls, login=True) as kept:
            ready.put((kept, asyncio.get_running_loop(), over))
            await over.wait()

    thread = Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    kept, loop, over = ready.get(timeout=30)
    try:
        yield kept
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
