"""A mailbox whose mail starts playbooks."""

from typing import Literal

from pydantic import Field

from steward.connections.catalogue.settings import SignInSettings
from steward.connections.catalogue.sign_in import ServiceLine
from steward.connections.connector import (
    ConnectorSettings,
    SecretField,
    Secrets,
    Surroundings,
    add_connector,
)
from steward.connections.http import Http
from steward.connections.mailbox import Mailbox, MailboxServer
from steward.core import Misconfigured


class _ImapPlace(ConnectorSettings):
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
    way: Literal["password", "person"] = Field(
        "password",
        title="Authentication",
        description="“person”: somebody signs in with the browser (OAuth 2), as Microsoft 365 and Gmail want it.",
    )


class ImapSettings(SignInSettings, _ImapPlace):
    @property
    def signs_in(self) -> bool:
        return self.way == "person"

    @property
    def place(self) -> str:
        return f"imap://{self.username}@{self.host}:{self.port}"


async def open_mailbox(
    http: Http, settings: ImapSettings, secrets: Secrets, line: ServiceLine | None
) -> Mailbox:
    """Signed in with the password, or with a token that is good now."""
    password = secrets.get("password", "")
    if line is None and not password:
        raise Misconfigured("The connection has no 'Password'.")
    token = await line.token(secrets) if line is not None else ""
    server = MailboxServer(
        settings.host, settings.port, settings.security, settings.username, password, token
    )
    return await Mailbox.open(http, server)


async def check(around: Surroundings, settings: ImapSettings, secrets: Secrets) -> str:
    mailbox = await open_mailbox(around.http, settings, secrets, around.service_line)
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
    place=lambda settings: settings.place,
    secrets=(
        SecretField(
            "password",
            "Password",
            "Of the mailbox. Gmail and others want an app password here. Not needed with “person”.",
        ),
        SecretField(
            "client_secret", "Client secret", "With “person”, where the provider gave one."
        ),
    ),
)
