"""A request to an allowed host on the web, or to a connected API. Off until the project names one."""

import base64
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from steward.broker import (
    CONTENT,
    DESTINATION,
    SECRET,
    TARGET,
    Arguments,
    Artifact,
    Cost,
    Effects,
    HasRole,
    Outcome,
    Preview,
    Risk,
    Role,
    ToolContext,
    add_tool,
)
from steward.connections import (
    ClientCertificate,
    Connection,
    HostPatterns,
    HttpAnswer,
    HttpApiSettings,
    HttpLimits,
    place_of,
)
from steward.connections import headers as headers_of
from steward.core import Bug, Denied, Invalid
from steward.runs import Found, Reconciled, Ticket
from steward.tools._calls import ToolSettings, failure_of, keep, secret, settings_of
from steward.tools._connections import connection_of, named, opened
from steward.tools._installation import HTTP

SETTING: Final = "http_request.allow"
# By the rules of HTTP a second one of these changes nothing that the first did not.
_REPEATABLE: Final = frozenset({"GET", "HEAD", "PUT", "DELETE"})
_READING: Final = frozenset({"GET", "HEAD"})
_SHOWN: Final = 64 << 10
_ERRORS: Final = 400
_GIVES: Final = {
    "type": "object",
    "properties": {
        "status": {"type": "integer", "examples": [200]},
        "url": {"type": "string", "format": "uri"},
        "redirected_from": {"type": "array", "items": {"type": "string"}, "examples": [[]]},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "bytes": {"type": "integer", "minimum": 0},
        "text": {"type": "string"},
    },
    "required": ["status", "url", "redirected_from", "headers", "bytes"],
}
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


_METHOD: Final = HasRole(Role.reach, only_reads=("GET", "HEAD"))


class HttpRequest(Arguments):
    method: Annotated[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], _METHOD] = Field(
        "GET", description="GET and HEAD read; the others act."
    )
    url: Annotated[str, DESTINATION] = Field(
        min_length=1,
        max_length=4000,
        description="https:// and an allowed host; with a connection, a path below its base address.",
    )
    headers: Annotated[dict[str, str], CONTENT] = Field(
        {}, max_length=50, description="Further headers."
    )
    body: Annotated[str, CONTENT] = Field("", max_length=1 << 20, description="Text to send.")
    secret_headers: Annotated[dict[str, str], SECRET] = Field(
        {}, max_length=5, description="Header → name of a secret that is put there as it is."
    )
    bearer: Annotated[str | None, SECRET] = Field(
        None, max_length=100, description="Name of a secret that is sent as a bearer token."
    )
    connection: Annotated[str | None, TARGET] = Field(
        None, max_length=50, description="Name of an HTTP API connection, with its own credentials."
    )


@dataclass(frozen=True)
class _Way:
    """Where a request goes, how far, and with which of the project's secrets."""

    url: str
    allowed: HostPatterns
    setting: str
    settings: HttpRequestSettings
    connection: Connection | None = None


async def _way(context: ToolContext, arguments: HttpRequest) -> _Way:
    if arguments.connection is None:
        settings = _checked(context, arguments)
        return _Way(arguments.url, HostPatterns.parse(settings.allow), SETTING, settings)
    if _secrets(arguments):
        raise Invalid(
            "A connection brings its own credentials; leave bearer and secret_headers out."
        )
    found = await connection_of(context, arguments.connection, "http")
    api = found.parsed()
    if not isinstance(api, HttpApiSettings):
        raise Bug(f"{found.kind} is used as an HTTP API and is none.")
    place = place_of(api.base_url)
    only = HostPatterns.parse([f"{place.scheme}://{place.text}"])
    settings = settings_of(context, "http_request", HttpRequestSettings)
    return _Way(api.url(arguments.url), only, f"the connection {found.name}", settings, found)


async def _hidden(
    context: ToolContext, way: _Way, arguments: HttpRequest
) -> tuple[dict[str, str], ClientCertificate | None]:
    """Headers with secrets in them, and a certificate: for the request alone."""
    if way.connection is not None:
        found = await opened(context, way.connection)
        return headers_of(found.settings, found.secrets), ClientCertificate.of(found.secrets)
    hidden = {name: await secret(context, key) for name, key in arguments.secret_headers.items()}
    if arguments.bearer:
        hidden["Authorization"] = f"Bearer {await secret(context, arguments.bearer)}"
    return hidden, None


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
    way = await _way(context, arguments)
    place = place_of(way.url)
    secrets = sorted(set(_secrets(arguments)))
    through = {"connection": named(way.connection)} if way.connection else {}
    return Preview(
        summary=f"{arguments.method} {way.url}",
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
            "url": way.url,
            "headers": arguments.headers,
            "body": arguments.body,
            "secrets": secrets,
            **through,
        },
    )


async def run(context: ToolContext, arguments: HttpRequest) -> Outcome:
    way = await _way(context, arguments)
    http = context.services.use(HTTP)
    headers = dict(arguments.headers)
    if arguments.method not in _REPEATABLE and context.ticket is not None:
        headers.setdefault("Idempotency-Key", context.ticket.idempotency_key)
    hidden, certificate = await _hidden(context, way, arguments)
    answer = await http.request(
        arguments.method,
        way.url,
        headers=headers,
        secret_headers=hidden,
        certificate=certificate,
        body=arguments.body.encode(),
        check=lambda url: way.allowed.require(url, way.setting),
        limits=HttpLimits(
            response_bytes=way.settings.max_bytes, time=timedelta(seconds=way.settings.seconds)
        ),
    )
    artifacts = await _kept(context, answer)
    summary = f"{arguments.method} {place_of(answer.url).text}: {answer.status}"
    return Outcome(
        value=_described(answer),
        summary=summary,
        artifacts=artifacts,
        sources=(f"url:{answer.url}",),
        trusted=False,
        cost=Cost(bytes=len(answer.body) + len(arguments.body)),
        failure=failure_of(summary, answer.status) if answer.status >= _ERRORS else None,
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


add_tool(
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
    gives=_GIVES,
    dry_run=dry_run,
    reconcile=reconcile,
    estimate=lambda _context, arguments: Cost(bytes=len(arguments.body.encode())),
    destination=lambda arguments: (
        f"connection:{arguments.connection}/{arguments.url.lstrip('/')}"
        if arguments.connection
        else arguments.url
    ),
)
