"""Slack by a bot's token: allowed channels, and messages that can be deleted again."""

from pydantic import Field

from steward.connections.connector import (
    ConnectorSettings,
    SecretField,
    Secrets,
    Surroundings,
    add_connector,
)
from steward.core import Invalid, Misconfigured, Unavailable, read_json


class SlackSettings(ConnectorSettings):
    channels: list[str] = Field(
        [],
        title="Channels",
        description="Channels the bot may write to, by name or id; none at first.",
    )
    api_url: str = Field("https://slack.com/api", max_length=500, title="Address of the API")


async def check(around: Surroundings, settings: SlackSettings, secrets: Secrets) -> str:
    answer = await around.http.request(
        "POST",
        f"{settings.api_url}/auth.test",
        secret_headers={"Authorization": f"Bearer {secrets['token']}"},
        follow=False,
    )
    try:
        said = read_json(answer.body)
    except Invalid:
        said = None
    if answer.status != 200 or not isinstance(said, dict):
        raise Unavailable(f"Slack answered {answer.status}; try again later.")
    if said.get("ok") is not True:
        reason = str(said.get("error", "unknown"))[:80]
        raise Misconfigured(f"Slack does not accept the bot's token ({reason}).")
    return f"Signed in to {str(said.get('team', 'Slack'))[:80]} as {str(said.get('user', 'a bot'))[:80]}."


add_connector(
    kind="slack",
    title="Slack",
    description="Writes to allowed channels of Slack as a bot; its messages can be deleted again.",
    use="slack",
    settings=SlackSettings,
    check=check,
    place=lambda settings: settings.api_url,
    secrets=(SecretField("token", "Bot token", "Begins with xoxb-.", True),),
)
