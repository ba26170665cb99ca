"""Operations of installed services as tools of the project: `api.<connection>.<operation>`.

There are thousands, so they are not listed: those that somebody chose are, and a request brings along the ones that fit it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from steward.broker import (
    Arguments,
    Artifact,
    Cost,
    Effects,
    Outcome,
    Preview,
    Risk,
    Role,
    Tool,
    ToolContext,
    arguments_of,
    with_roles,
)
from steward.connections import (
    MOST_PAGES,
    SELECTION,
    Choice,
    Connection,
    Desk,
    Operation,
    Service,
    ServiceAnswer,
    ServiceSettings,
)
from steward.core import Denied, Invalid, NotFound
from steward.runs import Found, Json, Reconciled, Ticket, digest
from steward.store import Scope
from steward.tools._calls import failure_of, keep, off_loop, plain

WORD: Final = "api"
PAGES: Final = "steward_pages"
OWN_ROLES: Final = {PAGES: Role.plain, SELECTION: Role.selector}
"""Of the arguments that Steward adds: nobody has to confirm what they are for."""
_TIME: Final = timedelta(minutes=5)
_SHOWN: Final = 64 << 10
_SUITED: Final = 8
_REPEATABLE: Final = frozenset({"GET", "HEAD", "OPTIONS", "QUERY", "PUT", "DELETE"})


@dataclass(frozen=True)
class _Known:
    connection: Connection
    service: Service
    operation: Operation
    choice: Choice | None
    title: str
    risk: str


class ServiceTools:
    """The provider of what services offer; a tool exists while its service is installed and connected."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def find(self, scope: Scope, name: str, pin: Json = None) -> Tool[Any]:
        _, connection_name, operation_name = [*name.split(".", 2), "", ""][:3]
        try:
            known = self._known(
                scope, self._desk.documents.named(scope, connection_name), operation_name
            )
        except NotFound:
            raise _unknown(name) from None
        if known is None:
            raise _unknown(name)
        tool = self._tool(known)
        if pin is not None and pin != tool.pin:
            raise Denied(
                f"{name!r} is not what it was when this call was planned. Start the run again.",
                code="tool-changed",
            )
        return tool

    def listed(self, scope: Scope) -> Iterator[Tool[Any]]:
        """Only what somebody chose to offer."""
        for connection in self._connections(scope):
            service = str(connection.settings["service"])
            for choice in self._desk.services.offered(scope, service):
                try:
                    known = self._known(scope, connection, choice.operation)
                    if known is not None:
                        yield self._tool(known)
                except (NotFound, Invalid):
                    # Removed, or a schema that nothing can be checked against; the page says so.
                    continue

    def suited(self, scope: Scope, text: str) -> Iterator[Tool[Any]]:
        """The operations of connected services that fit the words best."""
        for connection, operation in search(self._desk, scope, text, _SUITED):
            try:
                known = self._known(scope, connection, operation.name)
                if known is not None:
                    yield self._tool(known)
            except (NotFound, Invalid):
                continue

    def _connections(self, scope: Scope) -> list[Connection]:
        return self._desk.documents.listed(scope, kind="service", limit=100)

    def _known(self, scope: Scope, connection: Connection, operation_name: str) -> _Known | None:
        if connection.connector.use != "service":
            return None
        name = str(connection.settings["service"])
        record = self._desk.services.record(scope, name)
        operation = record.find(operation_name)
        if operation is None:
            return None
        choice = self._desk.services.choice(scope, name, operation)
        title, risk = record.title(operation), record.risk(operation)
        return _Known(connection, record.service, operation, choice, title, risk)

    def _tool(self, known: _Known) -> Tool[Any]:
        connection, service, operation = known.connection, known.service, known.operation
        name = operation_tool_name(connection, operation.name)
        roles = (known.choice.roles if known.choice else None) or {}
        risk = (known.choice.risk if known.choice else None) or known.risk
        settings = connection.parsed()
        assert isinstance(settings, ServiceSettings)  # noqa: S101
        place = settings.base_url or operation.base_url or service.base_url or service.title

        async def dry_run(_context: ToolContext, arguments: Arguments) -> Preview:
            return Preview(
                summary=f"{known.title} on {connection.name}",
                details={
                    "service": service.title,
                    "place": place,
                    "request": f"{operation.verb} {operation.path}",
                },
                irreversible=None
                if risk == Risk.read
                else f"Steward cannot undo what {service.title} does with this call.",
                payload={
                    "service": service.id,
                    "place": place,
                    "operation": operation.name,
                    "definition": operation.hash,
                    "connection": {"name": connection.name, "revision": connection.revision},
                    "arguments": arguments.model_dump(mode="json"),
                },
            )

        async def run(context: ToolContext, arguments: Arguments) -> Outcome:
            return await self._called(context, known, arguments)

        async def reconcile(
            _context: ToolContext, _arguments: Arguments, _ticket: Ticket
        ) -> Reconciled:
            # By HTTP's rules a second one of these changes nothing that the first did not; AWS has no such rule.
            repeatable = operation.verb in _REPEATABLE and service.adapter != "aws"
            return Reconciled(Found.not_happened if repeatable else Found.unknown)

        return Tool(
            name=name,
            title=f"{known.title} ({connection.name})",
            description=(
                f"Operation {operation.name!r} of {service.title!r} through the connection {connection.name!r}. Its "
                f"description says, in words nobody here vouches for: “{operation.description}”"
            ),
            arguments=arguments_of(_with_all_roles(operation, roles), name),
            risk=Risk(risk),
            run=run,
            effects=Effects(reads=True, network=True),
            gives=_gives(operation),
            dry_run=dry_run,
            reconcile=reconcile,
            timeout=_TIME,
            destination=lambda _arguments: f"{WORD}:{connection.name}",
            pin={
                "connection": connection.id,
                "revision": connection.revision,
                "definition": operation.hash,
                **({"roles": digest(dict(roles))} if roles else {}),
            },
        )

    async def _called(self, context: ToolContext, known: _Known, given: Arguments) -> Outcome:
        arguments = given.model_dump(mode="json")
        pages = arguments.pop(PAGES, 1)
        opened = await off_loop(self._desk.open, context.scope, known.connection)
        answer = await self._desk.calls.call(
            opened,
            known.service,
            known.operation,
            arguments,
            pages=pages,
            idempotency_key=context.ticket.idempotency_key if context.ticket else "",
        )
        if not answer.failed:
            await off_loop(
                self._desk.services.was_answered,
                context.scope,
                opened.settings.service,
                known.operation,
                plain(answer.value),
                context.author,
            )
        value, artifacts = await _shown(context, answer)
        if answer.problems:
            value["problems"] = list(answer.problems)
        told = f"failed with {answer.status}" if answer.failed else f"{answer.status}"
        if answer.problems:
            told = "failed; the service reports errors"
        summary = f"{known.title} on {known.connection.name}: {told}"
        return Outcome(
            value={
                "status": answer.status,
                "failed": answer.failed,
                "pages": answer.pages,
                **value,
            },
            summary=summary,
            artifacts=artifacts,
            sources=(f"{WORD}:{known.connection.name}/{known.operation.name}",),
            trusted=False,
            cost=Cost(bytes=answer.size),
            # Its title is a stranger's text, and what went wrong may be told to a model.
            failure=failure_of(
                f"{operation_tool_name(known.connection, known.operation.name)} {told}",
                answer.status,
            )
            if answer.failed
            else None,
        )


def search(
    desk: Desk, scope: Scope, text: str, limit: int, connection: str | None = None
) -> list[tuple[Connection, Operation]]:
    """Operations of the project's connected services that fit the words; the best of each in turn."""
    found: list[list[tuple[Connection, Operation]]] = []
    for each in desk.documents.listed(scope, kind="service", limit=100):
        if connection is not None and each.name != connection:
            continue
        try:
            record = desk.services.record(scope, str(each.settings["service"]))
        except NotFound:
            continue
        service = record.service
        # Words that name the service say which one is meant; the rest says what to do there.
        named = f"{each.name} {service.title} {service.vendor}".lower()
        rest = " ".join(word for word in text.split() if word.lower() not in named.split())
        is_meant = rest != " ".join(text.split()) or connection is not None
        operations = record.search(rest, limit) if rest or is_meant else []
        if operations:
            found.append([(each, operation) for operation in operations])
    turns = [group[row] for row in range(limit) for group in found if row < len(group)]
    return turns[:limit]


def operation_tool_name(connection: Connection, operation: str) -> str:
    return f"{WORD}.{connection.name}.{operation}"


def arguments_schema(operation: Operation) -> dict[str, Any]:
    """The arguments of the tool: the operation's own, and how many pages are wanted where it has pages."""
    schema = dict(operation.arguments)
    properties = schema["properties"]
    if SELECTION in properties:
        selection = {**properties[SELECTION], "title": "Fields of the answer"}
        schema["properties"] = {**properties, SELECTION: selection}
    if operation.pagination is None:
        return schema
    further = {
        "title": "Pages at most",
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_PAGES,
        "description": "How many pages to fetch at most.",
    }
    return {**schema, "properties": {**schema["properties"], PAGES: further}}


def _with_all_roles(operation: Operation, confirmed: Mapping[str, str]) -> dict[str, Any]:
    schema = arguments_schema(operation)
    own = {name: role for name, role in OWN_ROLES.items() if name in schema["properties"]}
    return with_roles(schema, {**confirmed, **own})


async def _shown(
    context: ToolContext, answer: ServiceAnswer
) -> tuple[dict[str, Json], tuple[Artifact, ...]]:
    """The answer where it is short; its beginning and a file where it is long or no text."""
    value = plain(answer.value)
    if value is None and answer.body:
        kept = await keep(context, "answer", answer.media_type, answer.body)
        return {"file": kept.name, "bytes": kept.size}, (kept,)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= _SHOWN:
        return {"answer": value}, ()
    kept = await keep(context, "answer.json", "application/json", text.encode())
    return {"beginning": text[:_SHOWN], "file": kept.name, "bytes": kept.size}, (kept,)


def _gives(operation: Operation) -> dict[str, Any]:
    """The answer as the description of the service has it, in what a call makes of it."""
    return {
        "type": "object",
        "properties": {
            "status": {"const": 200},
            "failed": {"const": False},
            "pages": {"const": 1},
            "answer": dict(operation.answer or {"type": "string"}),
        },
        "required": ["status", "failed", "pages", "answer"],
    }


def _unknown(name: str) -> NotFound:
    return NotFound(
        f"There is no tool called {name!r}. Install the service from the catalogue and connect to it first."
    )
