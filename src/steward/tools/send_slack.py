"""A message to a Slack channel, by an incoming webhook or by a bot's token; both are secrets named in the settings
or in a connection.

Slack knows no idempotency: after a crash a person says whether the message arrived. A bot can delete its message.
"""

import json
from typing import Annotated, Any, Final, Self

from pydantic import Field, model_validator

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
from steward.connections import Connection, HostPatterns, HttpAnswer
from steward.core import Denied, Invalid, Misconfigured, Unavailable, read_json
from steward.runs import Json
from steward.tools._calls import ToolSettings, secret, settings_of
from steward.tools._connections import connection_of, named
from steward.tools._installation import HTTP

_HOOKS: Final = ("hooks.slack.com", "hooks.slack-gov.com")
_WRONG_TOKEN: Final = frozenset(
    {"invalid_auth", "not_authed", "token_revoked", "account_inactive", "missing_scope"}
)


class SendSlackSettings(ToolSettings):
    webhook_secret: str | None = Field(
        None, max_length=100, description="Name of the secret with an incoming webhook's address."
    )
    token_secret: str | None = Field(
        None, max_length=100, description="Name of the secret with a bot's token (xoxb-…)."
    )
    channels: list[str] = Field([], description="Channels a bot may write to; none at first.")
    api_url: str = Field("https://slack.com/api", max_length=500)
    webhook_hosts: list[str] = Field(list(_HOOKS), description="Hosts of incoming webhooks.")

    @model_validator(mode="after")
    def _one_of(self) -> Self:
        if (self.webhook_secret is None) == (self.token_secret is None):
            raise ValueError("name either webhook_secret or token_secret")
        return self


class SendSlack(Arguments):
    text: Annotated[str, CONTENT] = Field(
        min_length=1, max_length=10_000, description="The message, as plain text."
    )
    channel: Annotated[str | None, RECIPIENT] = Field(
        None, max_length=100, description="Channel, where a bot sends; a webhook has its own."
    )
    connection: Annotated[str | None, TARGET] = Field(
        None,
        max_length=50,
        description="Name of a Slack connection; unset: as the settings have it.",
    )


async def _settings(context: ToolContext, arguments: SendSlack) -> SendSlackSettings:
    if arguments.connection is not None:
        settings = _of_connection(await connection_of(context, arguments.connection, "slack"))
    elif not context.settings.get("send_slack"):
        raise Denied(
            "Slack is not set up in this project; name a connection, or an administrator can name a secret in "
            "send_slack.",
            code="off",
        )
    else:
        settings = settings_of(context, "send_slack", SendSlackSettings)
    if settings.token_secret is None:
        if arguments.channel is not None:
            raise Invalid("The webhook writes to its own channel; leave `channel` out.")
    elif arguments.channel is None:
        raise Invalid("Say to which channel; a bot has none of its own.")
    elif arguments.channel not in settings.channels:
        raise Denied(
            f"Channel {arguments.channel!r} is not among "
            + (
                f"those of {arguments.connection}."
                if arguments.connection
                else "send_slack.channels."
            ),
            code="channel-not-allowed",
        )
    return settings


def _of_connection(connection: Connection) -> SendSlackSettings:
    """The same settings as a project may write down itself: the secrets stay names."""
    found = connection.settings
    if connection.kind == "slack_webhook":
        return SendSlackSettings(
            webhook_secret=connection.secrets["url"], webhook_hosts=found["webhook_hosts"]
        )
    return SendSlackSettings(
        token_secret=connection.secrets["token"],
        channels=found["channels"],
        api_url=found["api_url"],
    )


def message_of(arguments: SendSlack) -> dict[str, Any]:
    """What Slack gets: no mentions, links or previews hide in the text."""
    escaped = arguments.text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    message: dict[str, Any] = {"text": escaped, "unfurl_links": False, "unfurl_media": False}
    if arguments.channel is not None:
        message |= {"channel": arguments.channel, "parse": "none", "link_names": False}
    return message


async def dry_run(context: ToolContext, arguments: SendSlack) -> Preview:
    settings = await _settings(context, arguments)
    promised: dict[str, Any] = {}
    if arguments.connection is not None:
        promised["connection"] = named(await connection_of(context, arguments.connection, "slack"))
    by_bot = settings.token_secret is not None
    return Preview(
        summary=f"Write to Slack{f' channel {arguments.channel}' if arguments.channel else ''}",
        details={"counts": {"characters": len(arguments.text)}},
        irreversible=None if by_bot else "A message sent by a webhook cannot be deleted from here.",
        payload={**message_of(arguments), **promised},
    )


async def run(context: ToolContext, arguments: SendSlack) -> Outcome:
    settings = await _settings(context, arguments)
    message = message_of(arguments)
    if settings.webhook_secret is not None:
        await _by_webhook(context, settings, message)
        inverse = None
    else:
        said = await _api(context, settings, "chat.postMessage", message)
        inverse = {"channel": said.get("channel"), "ts": said.get("ts")}
    return Outcome(
        value={"sent": True, **(inverse or {})},
        summary=f"Wrote to Slack{f' channel {arguments.channel}' if arguments.channel else ''}",
        inverse=inverse,
        cost=Cost(bytes=len(arguments.text.encode())),
    )


async def undo(context: ToolContext, arguments: SendSlack, inverse: Json) -> Outcome:
    if not inverse:
        raise Denied("A message sent by a webhook cannot be deleted from here.")
    settings = await _settings(context, arguments)
    await _api(context, settings, "chat.delete", dict(inverse))
    return Outcome(value={"deleted": inverse["ts"]}, summary="Deleted the message in Slack")


async def _by_webhook(
    context: ToolContext, settings: SendSlackSettings, message: dict[str, Any]
) -> None:
    name = settings.webhook_secret or ""
    url = await secret(context, name)
    try:
        # The whole address is the secret: no message may quote it.
        HostPatterns.parse(settings.webhook_hosts).require(url, "send_slack.webhook_hosts")
    except (Invalid, Denied):
        raise Misconfigured(f"The secret {name!r} is not the address of a Slack webhook.") from None
    answer = await _posted(context, url, message, {})
    if answer.status != 200:
        raise _refused(answer.status)


async def _api(
    context: ToolContext, settings: SendSlackSettings, method: str, message: dict[str, Any]
) -> dict[str, Any]:
    token = await secret(context, settings.token_secret or "")
    hidden = {"Authorization": f"Bearer {token}"}
    answer = await _posted(context, f"{settings.api_url}/{method}", message, hidden)
    if answer.status != 200:
        raise _refused(answer.status)
    try:
        said = read_json(answer.body)
    except Invalid:
        said = None
    if not isinstance(said, dict):
        raise Unavailable("Slack's answer could not be read.", code="uncertain")
    if said.get("ok") is not True:
        reason = str(said.get("error", "unknown"))[:80]
        if reason in _WRONG_TOKEN:
            raise Misconfigured(f"Slack does not accept the bot's token ({reason}).")
        raise Invalid(f"Slack did not take the message ({reason}).")
    return said


async def _posted(
    context: ToolContext, url: str, message: dict[str, Any], hidden: dict[str, str]
) -> HttpAnswer:
    http = context.services.use(HTTP)
    return await http.request(
        "POST",
        url,
        headers={"Content-Type": "application/json; charset=utf-8"},
        secret_headers=hidden,
        body=json.dumps(message, ensure_ascii=False).encode(),
        follow=False,
    )


def _refused(status: int) -> Exception:
    if status == 429 or status >= 500:
        return Unavailable(f"Slack cannot take the message now ({status}); try again later.")
    return Invalid(f"Slack did not take the message ({status}).")


def destination(arguments: SendSlack) -> str:
    """For policies: the channel, and through which connection."""
    through = f"{arguments.connection}/" if arguments.connection else ""
    return f"slack:{through}{arguments.channel or 'webhook'}"


add_tool(
    name="send_slack",
    title="Write to Slack",
    description="Sends a plain message to Slack; mentions and links in it have no effect.",
    arguments=SendSlack,
    risk=Risk.external_send,
    run=run,
    effects=Effects(network=True),
    gives={"type": "object", "properties": {"sent": {"const": True}}, "required": ["sent"]},
    dry_run=dry_run,
    undo=undo,
    undo_is_compensation=True,
    estimate=lambda _context, arguments: Cost(bytes=len(arguments.text.encode())),
    destination=destination,
)
