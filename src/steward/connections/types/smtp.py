"""A mail server that messages go out through, to allowed domains."""

from typing import Literal

from pydantic import EmailStr, Field

from steward.connections.connector import (
    ConnectorSettings,
    SecretField,
    Secrets,
    Surroundings,
    add_connector,
)
from steward.connections.mail import MailServer


class SmtpSettings(ConnectorSettings):
    host: str = Field(min_length=1, max_length=300, title="Host", description="The mail server.")
    port: int = Field(587, ge=1, le=65535, title="Port")
    security: Literal["starttls", "tls"] = Field(
        "starttls",
        title="Encryption",
        description="TLS after STARTTLS, or from the start (port 465).",
    )
    sender: EmailStr = Field(title="Sender", description="Address that mail comes from.")
    reply_to: EmailStr | None = Field(
        None, title="Reply to", description="Where answers go, if not to the sender."
    )
    username: str | None = Field(
        None, max_length=300, title="User name", description="Unset: no sign-in."
    )
    allow_domains: list[str] = Field(
        [],
        title="Allowed domains",
        description="Domains of recipients, such as example.com; none at first.",
    )


def server(settings: SmtpSettings, secrets: Secrets) -> MailServer:
    return MailServer(
        settings.host,
        settings.port,
        settings.security,
        settings.username,
        secrets.get("password"),
    )


async def check(around: Surroundings, settings: SmtpSettings, secrets: Secrets) -> str:
    await around.mail.greet(server(settings, secrets))
    signed_in = " and accepts the user name and password" if settings.username else ""
    return f"{settings.host} answers over TLS{signed_in}. Nothing was sent."


add_connector(
    kind="smtp",
    title="Mail (SMTP)",
    description="A mail server that reports and messages go out through.",
    use="mail",
    settings=SmtpSettings,
    check=check,
    place=lambda settings: f"smtp://{settings.host}:{settings.port}",
    secrets=(SecretField("password", "Password", "Of the mail account."),),
)
