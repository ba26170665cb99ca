"""Calls an operation of an installed service: the request, who calls, pages, limits and second tries, out by the one checked HTTP."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import quote, urlencode

from steward.connections.catalogue.aws_calls import call_aws
from steward.connections.catalogue.credentials import Credentials, Tokens, credentials
from steward.connections.catalogue.graphql_calls import read_graphql, write_graphql
from steward.connections.catalogue.grpc_calls import call_grpc
from steward.connections.catalogue.notify_calls import call_notify
from steward.connections.catalogue.rates import Rates
from steward.connections.catalogue.record import Operation, Service
from steward.connections.catalogue.requests import WireRequest, completed, write_request
from steward.connections.catalogue.settings import ServiceSettings
from steward.connections.health import Opened
from steward.connections.hosts import HostPatterns, grpc_place, place_of
from steward.connections.http import Http, HttpAnswer, HttpLimits, Sink
from steward.core import Clock, Invalid, Misconfigured, RateLimited

MOST_PAGES: Final = 50
LIMITS: Final = HttpLimits(response_bytes=50 << 20, time=timedelta(seconds=90))
LARGE: Final = HttpLimits(response_bytes=2 << 30, time=timedelta(minutes=20))
"""For an answer that goes into a file, and is not held."""
_TRIES: Final = 3
_LONGEST_WAIT: Final = 20.0
_BUSY: Final = frozenset({429, 503})
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "QUERY"})
_REPEATABLE: Final = frozenset({*_SAFE, "PUT", "DELETE"})


@dataclass(frozen=True)
class ServiceAnswer:
    status: int
    value: Any
    """Parsed JSON, text, or the parsed answer of a library."""
    media_type: str
    body: bytes = field(default=b"", repr=False)
    size: int = 0
    pages: int = 1
    tries: int = 1
    problems: tuple[str, ...] = ()
    """What the service says went wrong, in its own words, where its status does not say it."""

    @property
    def failed(self) -> bool:
        return self.status >= 400 or bool(self.problems)


class ServiceCalls:
    def __init__(self, http: Http, clock: Clock, rates: Rates | None = None) -> None:
        """Without `rates` no limit of a connection holds."""
        self._http = http
        self._clock = clock
        self._rates = rates
        self._tokens = Tokens(http, clock)

    def base_url(self, service: Service, operation: Operation, settings: ServiceSettings) -> str:
        """Where the call goes: the connection's address before the description's."""
        told = settings.base_url or operation.base_url or service.base_url
        if service.adapter in {"aws", "notify"}:
            return settings.base_url
        if not told:
            raise Misconfigured(
                f"The description of {service.title} does not say where the service is; set the base address of the "
                "connection."
            )
        defaults = {each.name: each.default for each in service.fields if each.default}
        found = completed(told, {**defaults, **settings.fields})
        if service.adapter == "grpc":
            grpc_place(found)
        else:
            place_of(found)
        return found

    async def call(
        self,
        opened: Opened,
        service: Service,
        operation: Operation,
        arguments: Mapping[str, Any],
        *,
        pages: int = 1,
        idempotency_key: str = "",
    ) -> ServiceAnswer:
        settings: ServiceSettings = opened.settings
        await self._count(opened)
        if service.adapter == "aws":
            status, value, size = await call_aws(
                self._http,
                str(service.extra["service"]),
                operation.name,
                arguments,
                region=settings.fields.get("region") or "us-east-1",
                secrets=opened.secrets,
                base_url=settings.base_url,
                limits=LIMITS,
            )
            return ServiceAnswer(status, value, "application/json", size=size)
        if service.adapter == "notify":
            worked = await call_notify(
                self._http, service, settings.fields, opened.secrets, arguments
            )
            return ServiceAnswer(200 if worked else 502, {"sent": worked}, "application/json")
        over = self._over_grpc if service.adapter == "grpc" else self._over_http
        return await over(
            opened, settings, service, operation, dict(arguments), pages, idempotency_key
        )

    async def save(
        self,
        opened: Opened,
        service: Service,
        operation: Operation,
        arguments: Mapping[str, Any],
        sink: Sink,
    ) -> HttpAnswer:
        """One request whose answer goes to `sink` in pieces; an answer that is no success is returned whole."""
        if service.adapter not in {"openapi", "google_discovery"}:
            raise Invalid(
                f"Answers of {service.title} cannot be loaded in pieces. Call the operation itself.",
                code="not-streamed",
            )
        await self._count(opened)
        base, who = await self._place(opened, opened.settings, service, operation)
        wire = write_request(operation, arguments, base)
        answer, _ = await self._sent(wire, who, base, operation, "", LARGE, sink)
        return answer

    async def _place(
        self, opened: Opened, settings: ServiceSettings, service: Service, operation: Operation
    ) -> tuple[str, Credentials]:
        """Where a call goes, and as whom."""
        base = self.base_url(service, operation, settings)
        key = (opened.connection.id, str(opened.connection.revision))
        who = await credentials(
            self._tokens, key, service, operation, settings, opened.secrets, opened.service_line
        )
        return base, who

    async def _over_grpc(
        self,
        opened: Opened,
        settings: ServiceSettings,
        service: Service,
        operation: Operation,
        arguments: dict[str, Any],
        pages: int,
        _idempotency_key: str,
    ) -> ServiceAnswer:
        base, who = await self._place(opened, settings, service, operation)
        collected: list[Any] = []
        seen: set[str] = set()
        size = 0
        while True:
            answer = await call_grpc(self._http, service, operation, arguments, url=base, who=who)
            collected.append(answer.value)
            size += answer.size
            following = _next(operation, arguments, answer.value)
            if following is None or len(collected) >= min(pages, MOST_PAGES):
                break
            mark = json.dumps(following, sort_keys=True)
            if mark in seen or size > LIMITS.response_bytes:
                break
            if not await self._has_more_room(opened):
                break
            seen.add(mark)
            arguments |= following
        value = {"pages": collected} if len(collected) > 1 else collected[0]
        return ServiceAnswer(
            answer.status,
            value,
            "application/json",
            size=size,
            pages=len(collected),
            problems=answer.problems,
        )

    async def _over_http(
        self,
        opened: Opened,
        settings: ServiceSettings,
        service: Service,
        operation: Operation,
        arguments: dict[str, Any],
        pages: int,
        idempotency_key: str,
    ) -> ServiceAnswer:
        base, who = await self._place(opened, settings, service, operation)
        collected: list[Any] = []
        seen: set[str] = set()
        size, tries, page = 0, 0, 0
        problems: tuple[str, ...] = ()
        is_graphql = service.adapter == "graphql"
        write = write_graphql if is_graphql else write_request
        while True:
            page += 1
            wire = write(operation, arguments, base)
            answer, tried = await self._sent(wire, who, base, operation, idempotency_key)
            size, tries = size + len(answer.body), tries + tried
            value = _parsed(answer)
            if is_graphql:
                value, problems = read_graphql(operation, value)
            following = _next(operation, arguments, value)
            wanted = min(pages, MOST_PAGES)
            if answer.status >= 400 or problems or following is None or page >= wanted:
                break
            mark = json.dumps(following, sort_keys=True)
            if mark in seen or size > LIMITS.response_bytes:
                break
            if not await self._has_more_room(opened):
                break
            seen.add(mark)
            collected.append(value)
            arguments |= following
        if collected:
            value = {"pages": [*collected, value]}
        # What GraphQL answers with nothing is nothing, whatever is around it.
        body = b"" if is_graphql else answer.body
        return ServiceAnswer(
            answer.status, value, answer.media_type, body, size, page, tries, problems
        )

    async def _sent(
        self,
        wire: WireRequest,
        who: Credentials,
        base: str,
        operation: Operation,
        idempotency_key: str,
        limits: HttpLimits = LIMITS,
        sink: Sink | None = None,
    ) -> tuple[HttpAnswer, int]:
        place = place_of(base)
        only = HostPatterns.parse([f"{place.scheme}://{place.text}"])
        url = wire.url
        if who.query:
            url += ("&" if "?" in url else "?") + urlencode(who.query, quote_via=quote)
        headers = dict(wire.headers)
        if idempotency_key and operation.verb not in _REPEATABLE:
            headers.setdefault("Idempotency-Key", idempotency_key)
        for number in range(1, _TRIES + 1):
            answer = await self._http.request(
                wire.method,
                url,
                headers=headers,
                secret_headers=who.headers,
                certificate=who.certificate,
                body=wire.body,
                check=lambda where: only.require(where, "the connection"),
                # A key in the address would go along with a redirect.
                follow=not who.query,
                limits=limits,
                sink=sink,
            )
            wait = _retry_after(answer, self._clock)
            # A service that says it was too busy has done nothing; others are asked again only where that is harmless.
            again = answer.status == 429 or operation.verb in _SAFE
            if answer.status not in _BUSY or not again or wait is None or wait > _LONGEST_WAIT:
                return answer, number
            if number < _TRIES:
                await asyncio.sleep(wait)
        return answer, _TRIES

    async def _count(self, opened: Opened) -> None:
        """Counts a request against the connection's own limit; refused past it."""
        most = opened.settings.requests_per_minute
        if most > 0 and self._rates is not None and opened.scope is not None:
            await asyncio.to_thread(self._rates.take, opened.scope, opened.connection.id, most)

    async def _has_more_room(self, opened: Opened) -> bool:
        """Before a further page: waits a little where the connection's limit is reached, and gives up after that."""
        try:
            await self._count(opened)
        except RateLimited as problem:
            wait = problem.retry_after_seconds or _LONGEST_WAIT
            if wait > _LONGEST_WAIT:
                return False
            await asyncio.sleep(wait)
            return await self._has_more_room(opened)
        return True


def _retry_after(answer: HttpAnswer, clock: Clock) -> float | None:
    """Seconds until the service wants to be asked again; None where it does not say."""
    said = (answer.header("retry-after") or "").strip()
    if not said:
        return None
    if said.isdigit():
        return float(said)
    try:
        return max(0.0, (parsedate_to_datetime(said) - clock.now()).total_seconds())
    except (ValueError, TypeError):
        return None


def _parsed(answer: HttpAnswer) -> Any:
    if not answer.body:
        return None
    if answer.media_type == "application/json" or answer.media_type.endswith("+json"):
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            return answer.text
    if answer.media_type.startswith("text/") or answer.media_type.endswith("xml"):
        return answer.text
    return None


def _next(operation: Operation, arguments: Mapping[str, Any], value: Any) -> dict[str, Any] | None:
    """The arguments that ask for the next page; None where there is none."""
    told = operation.pagination
    if told is None:
        return None
    if told.more and _at(value, told.more) is not True:
        return None
    if told.kind == "token":
        token = _at(value, told.next)
        return {told.parameter: token} if isinstance(token, str) and token else None
    items = _at(value, told.items) if told.items else value
    if not isinstance(items, list) or not items:
        return None
    before = arguments.get(told.parameter)
    if told.kind == "page":
        return {told.parameter: (before if isinstance(before, int) else 1) + 1}
    return {told.parameter: (before if isinstance(before, int) else 0) + len(items)}


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value
