"""A mailbox whose mail starts playbooks."""

from typing import Literal

from pydantic import Field

from steward.connections.connector import (
    ConnectorSettings,
    SecretField,
    Secrets,
    Surroundings,
    add_connector,
)
from steward.connections.mailbox import Mailbox, MailboxServer


class ImapSettings(ConnectorSettings):
    host: str = Field(min_length=1, max_length=300, title="Host", description="The mail server.")
    port: int = Field(993, ge=1, le=65535, title="Port")
    security: Literal["tls", "starttls"] = Field(
        "tls",
        title="Encryption",
        description="TLS from the start, or after STARTTLS (port 143).",
    )
    username: str = Field(
        min_length=1,
        max_length=300,
        title="User name",
        description="Often the whole mail address.",
    )


def imap_server(settings: ImapSettings, secrets: Secrets) -> MailboxServer:
    return MailboxServer(
        settings.host,
        settings.port,
        settings.security,
        settings.username,
        secrets.get("password", ""),
    )


async def check(around: Surroundings, settings: ImapSettings, secrets: Secrets) -> str:
    mailbox = await Mailbox.open(around.http, imap_server(settings, secrets))
    try:
        found = await mailbox.look("INBOX")
        how = (
            "The server tells Steward when mail arrives."
            if mailbox.tells
            else "The server does not tell when mail arrives, so Steward looks at intervals."
        )
    finally:
        await mailbox.close()
    return f"Signed in to {settings.host} over TLS. INBOX has {found.messages:,} messages. {how}"


add_connector(
    kind="imap",
    title="Mailbox (IMAP)",
    description="A mailbox whose messages start playbooks.",
    use="mailbox",
    settings=ImapSettings,
    check=check,
    place=lambda settings: f"imap://{settings.username}@{settings.host}:{settings.port}",
    secrets=(
        SecretField(
            "password",
            "Password",
            "Of the mailbox. Gmail and others want an app password here.",
            required=True,
        ),
    ),
)
