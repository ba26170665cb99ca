"""A signed message to an endpoint that the project has set up, by Standard Webhooks 1.0.

The message's id is the effect's own key: a receiver that keeps to the standard drops a second one, so it may be
repeated.
"""

from typing import Annotated, Any

from pydantic import Field

from steward.broker import (
    CONTENT,
    DESTINATION,
    PLAIN,
    Arguments,
    Cost,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.connections import place_of, sign, signing_key
from steward.core import Conflict, Denied, Invalid, Misconfigured, Unavailable
from steward.runs import canonical
from steward.tools._calls import ToolSettings, agreed, clock_of, secret, settings_of, ticket_of
from steward.tools._installation import HTTP

GONE = 410


class Endpoint(ToolSettings):
    url: str = Field(max_length=2000, description="Where messages go.")
    secret: str = Field(max_length=100, description="Name of the secret with the signing key.")


class SendWebhookSettings(ToolSettings):
    endpoints: dict[str, Endpoint] = Field({}, description="Name → address and signing secret.")


class SendWebhook(Arguments):
    endpoint: Annotated[str, DESTINATION] = Field(
        min_length=1, max_length=100, description="Name of an endpoint."
    )
    type: Annotated[str, PLAIN] = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[A-Za-z0-9_.]+$",
        description="What happened, such as orders.checked.",
    )
    data: Annotated[dict[str, Any], CONTENT] = Field(
        default_factory=dict, description="What the receiver gets."
    )


def _endpoint(context: ToolContext, arguments: SendWebhook) -> Endpoint:
    known = settings_of(context, "send_webhook", SendWebhookSettings).endpoints
    if arguments.endpoint not in known:
        listed = ", ".join(sorted(known)) or "none"
        raise Denied(
            f"There is no endpoint {arguments.endpoint!r} (known: {listed}). An administrator can add it "
            "to send_webhook.endpoints.",
            code="unknown-endpoint",
        )
    return known[arguments.endpoint]


def _payload(endpoint: Endpoint, arguments: SendWebhook) -> dict[str, Any]:
    return {"url": endpoint.url, "body": body_of(arguments).decode()}


def body_of(arguments: SendWebhook) -> bytes:
    return canonical({"type": arguments.type, "data": arguments.data}).encode()


async def dry_run(context: ToolContext, arguments: SendWebhook) -> Preview:
    endpoint = _endpoint(context, arguments)
    place = place_of(endpoint.url)
    body = body_of(arguments)
    return Preview(
        summary=f"Send {arguments.type} to {arguments.endpoint} ({place.text})",
        details={"host": place.text, "counts": {"bytes": len(body)}},
        irreversible="A message that was delivered cannot be called back.",
        payload=_payload(endpoint, arguments),
    )


async def run(context: ToolContext, arguments: SendWebhook) -> Outcome:
    endpoint = _endpoint(context, arguments)
    if agreed(context) not in ({}, _payload(endpoint, arguments)):
        raise Conflict("The endpoint changed since the preview was made; look at it again.")
    http = context.services.use(HTTP)
    message_id = ticket_of(context).idempotency_key
    body = body_of(arguments)
    key = signing_key(await secret(context, endpoint.secret))
    headers = sign(key, message_id, clock_of(context).now(), body)
    answer = await http.request(
        "POST",
        endpoint.url,
        headers={**headers, "Content-Type": "application/json"},
        body=body,
        follow=False,
    )
    if not 200 <= answer.status < 300:
        raise _refused(arguments.endpoint, answer.status)
    return Outcome(
        value={"message_id": message_id, "status": answer.status, "bytes": len(body)},
        summary=f"Sent {arguments.type} to {arguments.endpoint}",
        sources=(f"url:{endpoint.url}",),
        cost=Cost(bytes=len(body)),
    )


def _refused(endpoint: str, status: int) -> Exception:
    if status == GONE:
        return Denied(f"{endpoint!r} wants no more messages (410); take it off the list.")
    if status == 429 or status >= 500:
        return Unavailable(f"{endpoint!r} cannot take the message now ({status}); try again later.")
    if 300 <= status < 400:
        return Misconfigured(f"{endpoint!r} has moved ({status}); set its new address.")
    return Invalid(f"{endpoint!r} did not take the message ({status}).")


add_tool(
    name="send_webhook",
    title="Send a webhook",
    description="Sends a signed JSON message to an endpoint that the project has set up.",
    arguments=SendWebhook,
    risk=Risk.external_send,
    run=run,
    effects=Effects(network=True),
    gives={
        "type": "object",
        "properties": {
            "message_id": {"type": "string"},
            "status": {"type": "integer", "minimum": 200, "maximum": 299},
            "bytes": {"type": "integer", "minimum": 0},
        },
        "required": ["message_id", "status", "bytes"],
    },
    dry_run=dry_run,
    idempotent=True,
    attempts=3,
    estimate=lambda _context, arguments: Cost(bytes=len(body_of(arguments))),
    destination=lambda arguments: f"webhook:{arguments.endpoint}",
)
