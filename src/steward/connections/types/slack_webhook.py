"""An incoming webhook of Slack: one channel, messages only in."""

from typing import Final

from pydantic import Field

from steward.connections.connector import (
    ConnectorSettings,
    SecretField,
    Secrets,
    Surroundings,
    add_connector,
)
from steward.connections.hosts import HostPatterns
from steward.core import Denied, Invalid, Misconfigured

HOOKS: Final = ("hooks.slack.com", "hooks.slack-gov.com")


class SlackWebhookSettings(ConnectorSettings):
    channel: str = Field(
        "", max_length=100, title="Channel", description="Where its messages appear, for people."
    )
    webhook_hosts: list[str] = Field(
        list(HOOKS), title="Hosts", description="Hosts that the webhook's address may have."
    )


async def check(around: Surroundings, settings: SlackWebhookSettings, secrets: Secrets) -> str:
    """Slack has no way to ask a webhook anything but by writing: an empty body is refused without a message."""
    url = secrets["url"]
    try:
        # The whole address is the secret: no message may quote it.
        place = HostPatterns.parse(settings.webhook_hosts).require(url, "webhook_hosts")
    except (Invalid, Denied):
        raise Misconfigured("The secret is not the address of a Slack webhook.") from None
    answer = await around.http.request(
        "POST", url, headers={"Content-Type": "application/json"}, body=b"{}", follow=False
    )
    if answer.status == 400 and answer.text.strip() in {"no_text", "invalid_payload"}:
        return f"{place.text} knows the webhook. Nothing was written."
    if answer.status in {403, 404, 410}:
        raise Misconfigured(
            f"{place.text} does not know the webhook ({answer.status}); make a new one in Slack."
        )
    raise Invalid(
        f"{place.text} answered {answer.status}, which is not how a webhook of Slack does."
    )


add_connector(
    kind="slack_webhook",
    title="Slack webhook",
    description="Writes to one channel of Slack through an incoming webhook.",
    use="slack",
    settings=SlackWebhookSettings,
    check=check,
    place=lambda settings: f"slack:{settings.channel or 'webhook'}",
    secrets=(SecretField("url", "Webhook address", "https://hooks.slack.com/services/…", True),),
)
