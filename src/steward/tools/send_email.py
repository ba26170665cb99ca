"""Mail through the project's SMTP server, to allowed domains only.

The Message-ID is the effect's own key. Mail servers do not drop a second copy by it, so after a crash a person says
whether the message went out; the id is what to look for.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import EmailStr, Field, StringConstraints

from steward.broker import (
    CONTENT,
    RECIPIENT,
    TARGET,
    Arguments,
    Cost,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.connections import Attachment, Letter, MailServer, no_password
from steward.core import Conflict, Denied, Invalid, NotFound, TooLarge
from steward.tools._calls import (
    ToolSettings,
    agreed,
    clock_of,
    off_loop,
    secret,
    settings_of,
    ticket_of,
)
from steward.tools._commits import media_type, workspace
from steward.tools._connections import connection_of, named
from steward.tools._installation import MAIL
from steward.versions import FileEntry

_TEXTS: Final = {"type": "array", "items": {"type": "string"}}
_GIVES: Final = {
    "type": "object",
    "properties": {
        "message_id": {"type": "string"},
        "accepted": {**_TEXTS, "examples": [["someone@example.com"]]},
        "refused": {"type": "array", "items": {"type": "object"}, "examples": [[]]},
        "counts": {
            "type": "object",
            "properties": {
                "recipients": {"type": "integer", "minimum": 1},
                "attachments": {"type": "integer", "minimum": 0},
            },
            "required": ["recipients", "attachments"],
        },
    },
    "required": ["message_id", "accepted", "refused", "counts"],
}
MAX_ATTACHED: Final = 15 << 20
OneLine = Annotated[str, StringConstraints(pattern=r"^[^\r\n\x00]*$")]


class SendEmailSettings(ToolSettings):
    host: str = Field(max_length=300, description="Name of the mail server.")
    port: int = Field(587, ge=1, le=65535)
    security: Literal["starttls", "tls"] = Field(
        "starttls", description="TLS after STARTTLS, or from the start (port 465)."
    )
    sender: EmailStr = Field(description="Address that mail comes from.")
    reply_to: EmailStr | None = None
    username: str | None = Field(None, max_length=300)
    password_secret: str | None = Field(
        None, max_length=100, description="Name of the secret with the password."
    )
    allow_domains: list[str] = Field(
        [], description="Domains of recipients, such as example.com; none at first."
    )


class _Connected(SendEmailSettings):
    """The same from a connection, which the approval names."""

    connection: dict[str, Any]


class SendEmail(Arguments):
    to: Annotated[list[EmailStr], RECIPIENT] = Field(
        min_length=1, max_length=50, description="Recipients."
    )
    cc: Annotated[list[EmailStr], RECIPIENT] = Field(
        [], max_length=50, description="Recipients of a copy."
    )
    subject: Annotated[OneLine, CONTENT] = Field(
        min_length=1, max_length=300, description="What it is about."
    )
    text: Annotated[str, CONTENT] = Field(
        min_length=1, max_length=200_000, description="The message, as plain text."
    )
    attachments: Annotated[list[str], TARGET] = Field(
        [], max_length=10, description="Paths of the branch's files to attach."
    )
    connection: Annotated[str | None, TARGET] = Field(
        None,
        max_length=50,
        description="Name of a mail connection; unset: as the settings have it.",
    )


async def _settings(context: ToolContext, arguments: SendEmail) -> SendEmailSettings:
    if arguments.connection is not None:
        found = await connection_of(context, arguments.connection, "mail")
        settings: SendEmailSettings = _Connected(
            **found.settings, password_secret=found.secrets.get("password"), connection=named(found)
        )
    elif not context.settings.get("send_email"):
        raise Denied(
            "Mail is not set up in this project; name a connection, or an administrator can name a server in "
            "send_email.",
            code="off",
        )
    else:
        settings = settings_of(context, "send_email", SendEmailSettings)
    if settings.username is not None and settings.password_secret is None:
        raise no_password(settings.username)
    allowed = {domain.lower() for domain in settings.allow_domains}
    for address in (*arguments.to, *arguments.cc):
        if address.rpartition("@")[2].lower() not in allowed:
            raise Denied(
                f"{address} is not in an allowed domain; an administrator can add it to "
                f"{f'the connection {arguments.connection}' if arguments.connection else 'send_email'}.allow_domains.",
                code="recipient-not-allowed",
            )
        if not address.isascii():
            raise Invalid(f"{address} has letters that not every mail server takes.")
    return settings


def _attached(context: ToolContext, arguments: SendEmail) -> list[FileEntry]:
    known = {entry.path: entry for entry in workspace(context).files(context.branch)}
    missing = [path for path in arguments.attachments if path not in known]
    if missing:
        raise NotFound(f"There is no file {missing[0]!r} on {context.branch}.")
    found = [known[path] for path in dict.fromkeys(arguments.attachments)]
    if sum(entry.bytes for entry in found) > MAX_ATTACHED:
        raise TooLarge(f"The attachments have more than {MAX_ATTACHED:,} bytes together.")
    return found


def _payload(
    settings: SendEmailSettings, arguments: SendEmail, files: list[FileEntry]
) -> dict[str, Any]:
    return {
        "from": settings.sender,
        "to": list(arguments.to),
        "cc": list(arguments.cc),
        "subject": arguments.subject,
        "text": arguments.text,
        "attachments": [{"path": each.path, "digest": each.digest} for each in files],
        **({"connection": settings.connection} if isinstance(settings, _Connected) else {}),
    }


async def dry_run(context: ToolContext, arguments: SendEmail) -> Preview:
    settings = await _settings(context, arguments)
    files = await off_loop(_attached, context, arguments)
    recipients = dict.fromkeys((*arguments.to, *arguments.cc))
    return Preview(
        summary=f"Mail {arguments.subject!r} to {', '.join(recipients)}",
        details={
            "server": settings.host,
            "counts": {"recipients": len(recipients), "attachments": len(files)},
        },
        irreversible="Mail that was handed over cannot be called back.",
        payload=_payload(settings, arguments, files),
    )


async def run(context: ToolContext, arguments: SendEmail) -> Outcome:
    settings = await _settings(context, arguments)
    mailer = context.services.use(MAIL)
    letter = await off_loop(_letter, context, settings, arguments)
    password = None
    if settings.password_secret is not None:
        password = await secret(context, settings.password_secret)
    server = MailServer(
        settings.host, settings.port, settings.security, settings.username, password
    )
    receipt = await mailer.send(server, letter)
    return Outcome(
        value={
            "message_id": receipt.message_id,
            "accepted": list(receipt.accepted),
            "refused": [{"recipient": who, "code": code} for who, code in receipt.refused],
            "counts": {"recipients": len(receipt.accepted), "attachments": len(letter.attachments)},
        },
        summary=f"Mailed {arguments.subject!r} to {len(receipt.accepted)} recipients",
        sources=tuple(f"file:{path}" for path in arguments.attachments),
        cost=Cost(bytes=len(arguments.text) + sum(len(a.content) for a in letter.attachments)),
    )


def _letter(context: ToolContext, settings: SendEmailSettings, arguments: SendEmail) -> Letter:
    files = _attached(context, arguments)
    promised = agreed(context)
    if promised and promised != _payload(settings, arguments, files):
        raise Conflict("An attachment or the sender changed since the preview; look at it again.")
    place = workspace(context)
    attachments = tuple(
        Attachment(
            each.path.rpartition("/")[2],
            media_type(each.path),
            b"".join(place.read_file(each.path, context.branch)),
        )
        for each in files
    )
    return Letter(
        sender=settings.sender,
        to=tuple(arguments.to),
        cc=tuple(arguments.cc),
        reply_to=settings.reply_to,
        subject=arguments.subject,
        text=arguments.text,
        key=ticket_of(context).idempotency_key,
        date=clock_of(context).now(),
        attachments=attachments,
    )


add_tool(
    name="send_email",
    title="Send mail",
    description="Sends a plain text mail, with files of the project where wanted, to allowed domains.",
    arguments=SendEmail,
    risk=Risk.external_send,
    run=run,
    effects=Effects(reads=True, network=True),
    gives=_GIVES,
    dry_run=dry_run,
    estimate=lambda _context, arguments: Cost(bytes=len(arguments.text.encode())),
    destination=lambda arguments: tuple(
        f"mailto:{address}" for address in (*arguments.to, *arguments.cc)
    ),
)
