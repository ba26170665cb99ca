"""A request to an allowed host on the web. Off until the project names hosts."""

import base64
from datetime import timedelta
from typing import Any, Final, Literal

from pydantic import Field

from steward.broker.tool import (
    TOOLS,
    Arguments,
    Artifact,
    Cost,
    Effects,
    Outcome,
    Preview,
    Risk,
    Tool,
    ToolContext,
)
from steward.connections import HostPatterns, Http, HttpAnswer, HttpLimits
from steward.connections.hosts import place_of
from steward.core.errors import Denied
from steward.runs import Found, Reconciled, Ticket
from steward.tools._calls import ToolSettings, keep, secret, service, settings_of

SETTING: Final = "http_request.allow"
# By the rules of HTTP a second one of these changes nothing that the first did not.
_REPEATABLE: Final = frozenset({"GET", "HEAD", "PUT", "DELETE"})
_READING: Final = frozenset({"GET", "HEAD"})
_SHOWN: Final = 64 << 10
_TEXTS: Final = ("text/", "application/json", "application/xml", "application/yaml")


class HttpRequestSettings(ToolSettings):
    allow: list[str] = Field(
        [],
        description="Hosts that may be called, such as api.example.com or *.example.com:8443; none at first.",
    )
    secrets: dict[str, list[str]] = Field(
        {}, description="Secret → hosts that it may be sent to; others never see it."
    )
    max_bytes: int = Field(10 << 20, ge=1, le=100 << 20, description="Largest answer.")
    seconds: int = Field(30, ge=1, le=300, description="Longest time for all of it.")


class HttpRequest(Arguments):
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] = Field(
        "GET", description="GET and HEAD read; the others act."
    )
    url: str = Field(min_length=1, max_length=4000, description="https:// and an allowed host.")
    headers: dict[str, str] = Field({}, max_length=50, description="Further headers.")
    body: str = Field("", max_length=1 << 20, description="Text to send.")
    secret_headers: dict[str, str] = Field(
        {}, max_length=5, description="Header → name of a secret that is put there as it is."
    )
    bearer: str | None = Field(
        None, max_length=100, description="Name of a secret that is sent as a bearer token."
    )


def _checked(context: ToolContext, arguments: HttpRequest) -> HttpRequestSettings:
    settings = settings_of(context, "http_request", HttpRequestSettings)
    if not settings.allow:
        raise Denied(
            f"Requests to the web are off in this project; an administrator can allow hosts in {SETTING}.",
            code="off",
        )
    HostPatterns.parse(settings.allow).require(arguments.url, SETTING)
    for name in _secrets(arguments):
        hosts = HostPatterns.parse(settings.secrets.get(name, []))
        hosts.require(arguments.url, f"http_request.secrets.{name}")
    return settings


def _secrets(arguments: HttpRequest) -> list[str]:
    bearer = [arguments.bearer] if arguments.bearer else []
    return [*arguments.secret_headers.values(), *bearer]


async def dry_run(context: ToolContext, arguments: HttpRequest) -> Preview:
    _checked(context, arguments)
    place = place_of(arguments.url)
    secrets = sorted(set(_secrets(arguments)))
    return Preview(
        summary=f"{arguments.method} {arguments.url}",
        details={
            "host": place.text,
            "counts": {"bytes": len(arguments.body.encode())},
            "secrets": secrets,
        },
        irreversible=None
        if arguments.method in _READING
        else f"What {place.text} does with the request cannot be taken back from here.",
        payload={
            "method": arguments.method,
            "url": arguments.url,
            "headers": arguments.headers,
            "body": arguments.body,
            "secrets": secrets,
        },
    )


async def run(context: ToolContext, arguments: HttpRequest) -> Outcome:
    settings = _checked(context, arguments)
    http: Http = service(context, "http", "A request to the web")
    patterns = HostPatterns.parse(settings.allow)
    headers = dict(arguments.headers)
    if arguments.method not in _REPEATABLE and context.ticket is not None:
        headers.setdefault("Idempotency-Key", context.ticket.idempotency_key)
    hidden = {name: await secret(context, key) for name, key in arguments.secret_headers.items()}
    if arguments.bearer:
        hidden["Authorization"] = f"Bearer {await secret(context, arguments.bearer)}"
    answer = await http.request(
        arguments.method,
        arguments.url,
        headers=headers,
        secret_headers=hidden,
        body=arguments.body.encode(),
        check=lambda url: patterns.require(url, SETTING),
        limits=HttpLimits(
            response_bytes=settings.max_bytes, time=timedelta(seconds=settings.seconds)
        ),
    )
    artifacts = await _kept(context, answer)
    return Outcome(
        value=_described(answer),
        summary=f"{arguments.method} {place_of(answer.url).text}: {answer.status}",
        artifacts=artifacts,
        sources=(f"url:{answer.url}",),
        trusted=False,
        cost=Cost(bytes=len(answer.body) + len(arguments.body)),
    )


def _described(answer: HttpAnswer) -> dict[str, Any]:
    value: dict[str, Any] = {
        "status": answer.status,
        "url": answer.url,
        "redirected_from": list(answer.hops),
        "headers": {
            name.lower(): text for name, text in answer.headers if name.lower() != "set-cookie"
        },
        "bytes": len(answer.body),
    }
    if not answer.body:
        return value
    if answer.media_type.startswith(_TEXTS) or answer.media_type.endswith(("+json", "+xml")):
        value["text"] = answer.text[:_SHOWN]
    else:
        value["base64"] = base64.b64encode(answer.body[:_SHOWN]).decode()
    return value


async def _kept(context: ToolContext, answer: HttpAnswer) -> tuple[Artifact, ...]:
    """The whole body as a file where the value only shows its beginning."""
    if len(answer.body) <= _SHOWN:
        return ()
    return (await keep(context, "body", answer.media_type, answer.body),)


async def reconcile(_context: ToolContext, arguments: HttpRequest, _ticket: Ticket) -> Reconciled:
    repeatable = arguments.method in _REPEATABLE
    return Reconciled(Found.not_happened if repeatable else Found.unknown)


TOOLS.add(
    "http_request",
    Tool(
        name="http_request",
        title="Call a web address",
        description=(
            "Sends an HTTP request to a host that the project allows and returns the answer. Off until an "
            "administrator names hosts; secrets are given by name and only to their own hosts."
        ),
        arguments=HttpRequest,
        risk=Risk.external_send,
        run=run,
        effects=Effects(network=True),
        dry_run=dry_run,
        reconcile=reconcile,
        estimate=lambda _context, arguments: Cost(bytes=len(arguments.body.encode())),
        destination=lambda arguments: arguments.url,
    ),
)
