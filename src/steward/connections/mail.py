"""Mail by SMTP over TLS: one message to one server, and what the server said about each recipient."""

import asyncio
import smtplib
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Any, Final, Literal

from steward.connections.addresses import (
    Address,
    Allowed,
    MayReach,
    Resolve,
    resolve_by_system,
    resolve_checked,
)
from steward.core import Denied, Invalid, Misconfigured, Unavailable

_SECONDS: Final = 30.0
_SIGN_IN_FIRST: Final = 530


@dataclass(frozen=True)
class MailServer:
    host: str
    port: int = 587
    security: Literal["starttls", "tls"] = "starttls"
    username: str | None = None
    password: str | None = None


@dataclass(frozen=True)
class Attachment:
    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True)
class Letter:
    """What is sent; `key` becomes the Message-ID, by which a second copy can be recognised."""

    sender: str
    to: tuple[str, ...]
    subject: str
    text: str
    key: str
    date: datetime
    cc: tuple[str, ...] = ()
    reply_to: str | None = None
    attachments: tuple[Attachment, ...] = ()

    @property
    def recipients(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.to, *self.cc)))

    @property
    def message_id(self) -> str:
        return f"<{self.key}@{self.sender.rpartition('@')[2]}>"

    def as_message(self) -> EmailMessage:
        message = EmailMessage()
        headers = {
            "From": self.sender,
            "To": ", ".join(self.to),
            "Cc": ", ".join(self.cc),
            "Reply-To": self.reply_to or "",
            "Subject": self.subject,
            "Date": format_datetime(self.date),
            "Message-ID": self.message_id,
            # Automatic answers to automatic mail go round in circles.
            "Auto-Submitted": "auto-generated",
        }
        try:
            for name, value in headers.items():
                if value:
                    message[name] = value
        except ValueError:
            raise Invalid(
                "A mail header holds a line end; leave it out of subject and names."
            ) from None
        message.set_content(self.text)
        for item in self.attachments:
            main, _, sub = item.media_type.partition("/")
            message.add_attachment(
                item.content,
                maintype=main or "application",
                subtype=sub or "octet-stream",
                filename=item.name,
            )
        return message


@dataclass(frozen=True)
class Receipt:
    message_id: str
    accepted: tuple[str, ...]
    refused: tuple[tuple[str, int], ...] = ()
    """Recipients that the server did not take, with its code."""


class Mailer:
    """The only way out by mail; the server's address is checked like every other."""

    def __init__(
        self,
        *,
        allow_private: Sequence[str] = (),
        resolve: Resolve = resolve_by_system,
        tls: ssl.SSLContext | None = None,
        may_reach: MayReach | None = None,
    ) -> None:
        self._may_reach = may_reach
        self._allowed = Allowed.parse(allow_private)
        self._resolve = resolve
        self._tls = tls

    async def send(self, server: MailServer, letter: Letter) -> Receipt:
        """Hands a letter over. Unavailable with the code `uncertain` means: it may have been taken."""
        message = letter.as_message()
        addresses = await self._addresses(server)
        return await asyncio.to_thread(self._hand_over, server, addresses[0], letter, message)

    async def greet(self, server: MailServer) -> None:
        """Connects, encrypts and signs in, and sends nothing; what does not work is raised."""
        addresses = await self._addresses(server)
        await asyncio.to_thread(self._greeted, server, addresses[0])

    async def _addresses(self, server: MailServer) -> tuple[Address, ...]:
        return await resolve_checked(
            server.host,
            server.port,
            resolve=self._resolve,
            allowed=self._allowed,
            may_reach=self._may_reach,
        )

    def _greeted(self, server: MailServer, address: Address) -> None:
        tls = self._tls or ssl.create_default_context()
        opened = self._opened(server, address, tls)
        try:
            _begin(opened, server, tls)
            _leave(opened)
        finally:
            opened.close()

    def _hand_over(
        self, server: MailServer, address: Address, letter: Letter, message: EmailMessage
    ) -> Receipt:
        tls = self._tls or ssl.create_default_context()
        opened = self._opened(server, address, tls)
        try:
            _begin(opened, server, tls)
            return _deliver(opened, letter, message)
        finally:
            opened.close()

    def _opened(self, server: MailServer, address: Address, tls: ssl.SSLContext) -> smtplib.SMTP:
        if server.username is not None and server.password is None:
            raise no_password(server.username)
        try:
            if server.security == "tls":
                return _TlsFromStart(server.host, server.port, address, tls)
            return _ToAddress(server.host, server.port, address)
        except ssl.SSLCertVerificationError as problem:
            raise _untrusted(server, problem) from None
        except (OSError, smtplib.SMTPException) as problem:
            raise _no_connection(server, problem) from None


class _ToAddress(smtplib.SMTP):
    """Connects to a checked address while the certificate's name stays that of the server."""

    def __init__(self, host: str, port: int, address: Address) -> None:
        self._address = address
        super().__init__(host, port, local_hostname="steward.invalid", timeout=_SECONDS)

    def _get_socket(self, host: str, port: int, timeout: float) -> Any:  # noqa: ARG002
        return socket.create_connection((str(self._address), port), timeout)


class _TlsFromStart(_ToAddress):
    def __init__(self, host: str, port: int, address: Address, tls: ssl.SSLContext) -> None:
        self._context = tls
        super().__init__(host, port, address)

    def _get_socket(self, host: str, port: int, timeout: float) -> Any:
        return self._context.wrap_socket(
            super()._get_socket(host, port, timeout), server_hostname=host
        )


def _begin(opened: smtplib.SMTP, server: MailServer, tls: ssl.SSLContext) -> None:
    try:
        opened.ehlo()
        if server.security == "starttls":
            opened.starttls(context=tls)
            opened.ehlo()
        if server.username is not None and server.password is not None:
            opened.login(server.username, server.password)
    except smtplib.SMTPNotSupportedError:
        missing = "STARTTLS" if server.security == "starttls" else "authentication"
        raise Misconfigured(
            f"The mail server {server.host} does not offer {missing}; mail is only sent over TLS."
        ) from None
    except smtplib.SMTPAuthenticationError:
        raise Misconfigured(
            f"The mail server {server.host} refused the user name or password; set the secret anew."
        ) from None
    except ssl.SSLCertVerificationError as problem:
        raise _untrusted(server, problem) from None
    except (OSError, smtplib.SMTPException) as problem:
        raise _no_connection(server, problem) from None


def _deliver(opened: smtplib.SMTP, letter: Letter, message: EmailMessage) -> Receipt:
    try:
        refused = opened.send_message(message, letter.sender, list(letter.recipients))
    except smtplib.SMTPRecipientsRefused as problem:
        codes = ", ".join(str(code) for code, _ in problem.recipients.values())
        raise Invalid(f"The mail server took none of the recipients (codes {codes}).") from None
    except (smtplib.SMTPSenderRefused, smtplib.SMTPDataError) as problem:
        if 400 <= problem.smtp_code < 500:
            raise Unavailable(
                f"The mail server does not take the message now ({problem.smtp_code}); try later."
            ) from None
        if problem.smtp_code == _SIGN_IN_FIRST:
            raise Misconfigured(
                "The mail server requires a sign-in (530). Enter a user name and a password."
            ) from None
        raise Denied(f"The mail server refused the message ({problem.smtp_code}).") from None
    except (OSError, smtplib.SMTPException) as problem:
        raise Unavailable(
            f"The connection to the mail server broke while the message was handed over "
            f"({type(problem).__name__}); whether it was taken is not known.",
            code="uncertain",
        ) from None
    _leave(opened)
    taken = tuple(each for each in letter.recipients if each not in refused)
    left = tuple(sorted((each, code) for each, (code, _) in refused.items()))
    return Receipt(letter.message_id, taken, left)


def _leave(opened: smtplib.SMTP) -> None:
    """The message is with the server; how the conversation ends changes nothing."""
    try:
        opened.quit()
    except (OSError, smtplib.SMTPException):
        opened.close()


def no_password(username: str) -> Misconfigured:
    return Misconfigured(
        f"The mail server has the user name “{username}” but no password. Enter the password, or remove the user name."
    )


def _untrusted(server: MailServer, problem: ssl.SSLCertVerificationError) -> Misconfigured:
    return Misconfigured(
        f"The certificate of the mail server {server.host} is not trusted ({problem.verify_message}); no mail "
        "was sent."
    )


def _no_connection(server: MailServer, problem: Exception) -> Unavailable:
    return Unavailable(
        f"No connection to the mail server {server.host}:{server.port} ({type(problem).__name__})."
    )
