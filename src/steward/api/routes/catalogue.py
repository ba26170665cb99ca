"""The catalogue: services that can be installed, those that are, their operations, and what people decide about them."""

import asyncio
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query, Request, status
from pydantic import Base64Bytes, Field, model_validator

from steward.api.documents import Input, Output, Page
from steward.api.guards import AsAdmin, AsViewer
from steward.api.routes.connections import desk_of
from steward.api.routes.server_tools import ArgumentRole, ArgumentRoleOut
from steward.api.routing import Router
from steward.broker import Risk, Role, fields_of, propose_roles, with_roles, without_roles
from steward.connections import (
    MOST_DESCRIPTION_BYTES,
    OPERATION_NAME,
    PACKAGE,
    SERVICE_NAME,
    Adapter,
    Found,
    InstalledService,
    Operation,
    convert_packaged,
    convert_text,
    fetch_description,
    packages,
)
from steward.core import reaching_for
from steward.identity import Access
from steward.tools import OWN_ROLES, arguments_schema, operation_tool_name

router = Router(prefix="/projects/{project_id}/catalogue", tags=["catalogue"])

ServiceName = Annotated[str, Path(pattern=SERVICE_NAME, examples=["google-drive"])]
OperationName = Annotated[str, Path(pattern=OPERATION_NAME, examples=["files.list"])]
Words = Annotated[str, Query(max_length=200, description="Words to look for.")]
State = Literal["converted", "tried"]


class CatalogueCounts(Output):
    services: int
    vendors: int
    operations: int
    adapters: dict[str, int]
    packages: dict[str, str] = Field(description="Packages that carry descriptions, with versions.")
    missing: list[str] = Field(description="Packages that would bring more.")


class OperationSummary(Output):
    name: str
    title: str
    description: str
    verb: str
    risk: Risk


class CatalogueServiceOut(Output):
    id: str
    title: str
    description: str
    vendor: str
    adapter: Adapter
    version: str
    licence: str
    categories: list[str]
    operation_count: int
    operations: list[OperationSummary] = Field(description="Those that fit the words.")
    installed: bool


class InstalledServiceOut(Output):
    name: str
    title: str
    vendor: str
    adapter: Adapter
    version: str
    licence: str
    source: str
    sha256: str
    operations: int
    state: State = Field(description="`tried`: a call has been answered.")
    tried_at: datetime | None
    installed_by: str
    installed_at: datetime
    updated_at: datetime
    revision: int
    connections: list[str] = Field(description="Names of the connections to it.")


class SchemeOut(Output):
    id: str
    kind: str
    place: str
    name: str
    token_url: str


class ConnectionFieldOut(Output):
    name: str
    title: str
    required: bool
    secret: bool
    default: str
    choices: list[str]


class LeftOutOut(Output):
    operation: str
    reason: str


class InstalledServiceDetail(InstalledServiceOut):
    description: str
    base_url: str
    hosts: list[str]
    schemes: list[SchemeOut]
    fields: list[ConnectionFieldOut]
    left_out: list[LeftOutOut]


class ServiceOperationOut(OperationSummary):
    path: str
    hash: str
    deprecated: bool
    offered: bool
    chosen_risk: Risk | None
    risk_reason: str | None
    roles_confirmed: bool
    often_used: bool = Field(description="One of the most used operations of a well-known service.")


class ServiceOperationDetail(ServiceOperationOut):
    arguments: dict[str, Any]
    arguments_by_role: list[ArgumentRoleOut]
    answer: dict[str, Any] | None
    scopes: list[str]
    pages: bool
    tools: list[str] = Field(description="The tool's name through each connection.")


class DescriptionIn(Input):
    """Where a description comes from: exactly one of the four."""

    service: str | None = Field(
        None, pattern=SERVICE_NAME, description="The id of a service that a package describes."
    )
    text: str | None = Field(
        None, max_length=MOST_DESCRIPTION_BYTES, description="The description itself."
    )
    base64: Base64Bytes | None = Field(
        None,
        max_length=MOST_DESCRIPTION_BYTES * 4 // 3 + 4,
        description="The description itself where it is no text, such as gRPC's descriptors.",
    )
    url: str | None = Field(
        None,
        max_length=2_000,
        description="The address of a description, of a GraphQL API, or of a gRPC server (`grpcs://host:port`).",
    )

    @model_validator(mode="after")
    def _one(self) -> "DescriptionIn":
        given = (self.service, self.text, self.base64, self.url)
        if sum(each is not None for each in given) != 1:
            raise ValueError("give one of service, text, base64 and url")
        return self


class InstallIn(DescriptionIn):
    name: str | None = Field(
        None,
        pattern=SERVICE_NAME,
        description="By which the project knows it; needed for text and url.",
    )

    @model_validator(mode="after")
    def _named(self) -> "InstallIn":
        if self.service is None and self.name is None:
            raise ValueError("a description from a file or an address needs a name")
        return self


class UpdateIn(DescriptionIn):
    sha256: str = Field(
        pattern=r"^[0-9a-f]{64}$", description="Of the description whose changes were shown."
    )


class DifferenceOut(Output):
    added: list[str]
    removed: list[str]
    changed: list[str]
    hosts_added: list[str]
    riskier: list[str]
    sha256: str
    is_same: bool


class OfferIn(Input):
    offered: bool = Field(description="Whether agents and the flow editor list it.")


class OperationRolesIn(Input):
    hash: str = Field(max_length=64, description="Of the operation that was shown.")
    roles: dict[str, ArgumentRole] = Field(max_length=500)


class OperationRiskIn(Input):
    risk: Risk | None = Field(description="None: as the verb has it.")
    reason: str = Field("", max_length=400, description="Needed where the risk is lowered.")


@router.get("/counts")
def count_catalogue(request: Request, _access: AsViewer) -> CatalogueCounts:
    """How many services, vendors and operations can be installed without a network."""
    shelf = desk_of(request).services.shelf
    return CatalogueCounts(
        **shelf.counts(),
        adapters=dict(shelf.adapters()),
        packages=packages.versions(),
        missing=packages.missing(),
    )


@router.get("/services")
def search_catalogue(
    request: Request,
    access: AsViewer,
    q: Words = "",
    adapter: Annotated[Adapter | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 30,
) -> Page[CatalogueServiceOut]:
    """Services of installed packages that fit all the words, by their names or their operations."""
    services = desk_of(request).services
    installed = {each.name for each in services.listed(access.scope)}
    found = services.shelf.search(q, adapter, limit)
    return Page(items=[_found_out(each, installed) for each in found], next_cursor=None)


@router.get("/installed")
def list_installed_services(request: Request, access: AsViewer) -> Page[InstalledServiceOut]:
    services = desk_of(request).services.listed(access.scope)
    connected = _connected(request, access)
    items = [_installed_out(each, connected.get(each.name, [])) for each in services]
    return Page(items=items, next_cursor=None)


@router.post("/installed", status_code=status.HTTP_201_CREATED)
async def install_service(
    request: Request, access: AsAdmin, body: InstallIn
) -> InstalledServiceOut:
    """Installs a service by its description, which is kept with its hash. Nothing is called by it."""
    services = desk_of(request).services
    if body.service is not None:
        made = await asyncio.to_thread(services.install_packaged, access, body.service)
    else:
        content, source = await _content(request, access, body)
        made = await asyncio.to_thread(
            services.install_text, access, body.name or "", content, source, body.url or ""
        )
    return _installed_out(made, [])


@router.get("/installed/{service}")
def read_installed_service(
    request: Request, access: AsViewer, service: ServiceName
) -> InstalledServiceDetail:
    """An installed service: where it is, how it learns who calls, and what was left out of it."""
    services = desk_of(request).services
    known = services.get(access.scope, service)
    record = services.record(access.scope, service)
    about = record.service
    shown = _installed_out(known, _connected(request, access).get(service, []))
    return InstalledServiceDetail(
        **shown.model_dump(),
        description=about.description,
        base_url=about.base_url,
        hosts=record.hosts,
        schemes=[SchemeOut.model_validate(asdict(each)) for each in about.schemes],
        fields=[ConnectionFieldOut.model_validate(asdict(each)) for each in about.fields],
        left_out=[LeftOutOut.model_validate(asdict(each)) for each in about.left_out[:200]],
    )


@router.delete("/installed/{service}", status_code=status.HTTP_204_NO_CONTENT)
def remove_service(request: Request, access: AsAdmin, service: ServiceName) -> None:
    """Removes a service from the project. Its connections stay and can no longer call it."""
    desk_of(request).services.remove(access, service)


@router.post("/installed/{service}/changes")
async def compare_service(
    request: Request, access: AsAdmin, service: ServiceName, body: DescriptionIn
) -> DifferenceOut:
    """What an update would change, before it does."""
    services = desk_of(request).services
    known = await asyncio.to_thread(services.get, access.scope, service)
    record, _ = await _converted(request, access, service, body)
    found = await asyncio.to_thread(services.difference, access.scope, service, record)
    is_same = found.sha256 == known.sha256 and not (found.added or found.removed or found.changed)
    return DifferenceOut(**asdict(found), is_same=is_same)


@router.post("/installed/{service}/update")
async def update_service(
    request: Request, access: AsAdmin, service: ServiceName, body: UpdateIn
) -> InstalledServiceOut:
    """Replaces the description by the one whose changes were shown."""
    services = desk_of(request).services
    record, source = await _converted(request, access, service, body)
    made = await asyncio.to_thread(services.update, access, service, record, source, body.sha256)
    return _installed_out(made, _connected(request, access).get(service, []))


@router.get("/installed/{service}/operations")
def search_service_operations(
    request: Request,
    access: AsViewer,
    service: ServiceName,
    q: Words = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Page[ServiceOperationOut]:
    """Operations of an installed service that fit the words."""
    services = desk_of(request).services
    found = services.record(access.scope, service).search(q, limit)
    items = [
        ServiceOperationOut(**_operation_fields(request, access, service, each)) for each in found
    ]
    return Page(items=items, next_cursor=None)


@router.get("/installed/{service}/operations/{operation}")
def read_service_operation(
    request: Request, access: AsViewer, service: ServiceName, operation: OperationName
) -> ServiceOperationDetail:
    """One operation with the schema of its arguments, and what they are for."""
    found = desk_of(request).services.operation(access.scope, service, operation)
    return _detail(request, access, service, found)


@router.put("/installed/{service}/operations/{operation}/offered")
def offer_service_operation(
    request: Request,
    access: AsAdmin,
    service: ServiceName,
    operation: OperationName,
    body: OfferIn,
) -> ServiceOperationDetail:
    """Lists the operation among the tools, or no longer. Plans can name the others after a search."""
    services = desk_of(request).services
    services.offer(access, service, operation, offered=body.offered)
    return _detail(request, access, service, services.operation(access.scope, service, operation))


@router.put("/installed/{service}/operations/{operation}/roles")
def confirm_service_operation_roles(
    request: Request,
    access: AsAdmin,
    service: ServiceName,
    operation: OperationName,
    body: OperationRolesIn,
) -> ServiceOperationDetail:
    """Says what the arguments are for. It holds until the description of the operation changes."""
    services = desk_of(request).services
    found = services.operation(access.scope, service, operation)
    with_roles(arguments_schema(found), body.roles)
    services.confirm_roles(access, service, operation, body.hash, body.roles)
    return _detail(request, access, service, found)


@router.put("/installed/{service}/operations/{operation}/risk")
def set_service_operation_risk(
    request: Request,
    access: AsAdmin,
    service: ServiceName,
    operation: OperationName,
    body: OperationRiskIn,
) -> ServiceOperationDetail:
    """What a call can do at worst, by an admin's judgement. Lowering it needs a reason, which is kept."""
    services = desk_of(request).services
    risk = body.risk.value if body.risk is not None else None
    services.set_risk(access, service, operation, risk, body.reason)
    return _detail(request, access, service, services.operation(access.scope, service, operation))


async def _converted(
    request: Request, access: Access, service: str, body: DescriptionIn
) -> tuple[bytes, str]:
    if body.service is not None:
        return await asyncio.to_thread(convert_packaged, body.service), PACKAGE
    content, source = await _content(request, access, body)
    record = await asyncio.to_thread(convert_text, content, service, body.url or "")
    return record, source


async def _content(request: Request, access: Access, body: DescriptionIn) -> tuple[bytes, str]:
    if body.url is None:
        return body.base64 or (body.text or "").encode(), "file"
    with reaching_for(access.scope):
        return await fetch_description(desk_of(request).around.http, body.url), body.url


def _connected(request: Request, access: Access) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for each in desk_of(request).documents.listed(access.scope, kind="service"):
        found.setdefault(str(each.settings["service"]), []).append(each.name)
    return found


def _found_out(found: Found, installed: set[str]) -> CatalogueServiceOut:
    service = found.service
    return CatalogueServiceOut(
        **{
            name: getattr(service, name)
            for name in ("id", "title", "description", "vendor", "adapter", "version", "licence")
        },
        categories=list(service.categories),
        operation_count=len(service.operations),
        operations=[OperationSummary.model_validate(asdict(each)) for each in found.operations],
        installed=service.id in installed,
    )


def _installed_out(service: InstalledService, connections: list[str]) -> InstalledServiceOut:
    names = InstalledServiceOut.model_fields.keys() - {"connections", "state"}
    return InstalledServiceOut(
        **{name: getattr(service, name) for name in names},
        state="tried" if service.tried_at is not None else "converted",
        connections=connections,
    )


def _operation_fields(
    request: Request, access: Access, service: str, operation: Operation
) -> dict[str, Any]:
    services = desk_of(request).services
    record = services.record(access.scope, service)
    choice = services.choice(access.scope, service, operation)
    chosen = choice.risk if choice else None
    return {
        "name": operation.name,
        "title": record.title(operation),
        "description": operation.description,
        "verb": operation.verb,
        "path": operation.path,
        "risk": Risk(chosen or record.risk(operation)),
        "hash": operation.hash,
        "deprecated": operation.deprecated,
        "offered": bool(choice and choice.offered),
        "chosen_risk": Risk(chosen) if chosen else None,
        "risk_reason": choice.risk_reason if choice else None,
        "roles_confirmed": bool(choice and choice.roles is not None),
        "often_used": operation.name in record.curated,
    }


def _detail(
    request: Request, access: Access, service: str, operation: Operation
) -> ServiceOperationDetail:
    desk = desk_of(request)
    choice = desk.services.choice(access.scope, service, operation)
    schema = without_roles(arguments_schema(operation))
    fields = fields_of(schema)
    roles = (choice.roles if choice else None) or {}
    known = desk.services.record(access.scope, service).curated.get(operation.name)
    proposed = {path: Role(role) for path, role in known.roles.items()} if known else {}
    connections = [
        each
        for each in desk.documents.listed(access.scope, kind="service")
        if each.settings["service"] == service
    ]
    return ServiceOperationDetail(
        **_operation_fields(request, access, service, operation),
        arguments=dict(schema),
        arguments_by_role=[
            ArgumentRoleOut(
                path=path,
                description=str(fields[path].get("description", "")),
                role=Role(roles[path]) if path in roles else None,
                proposed=proposed.get(path, role),
            )
            for path, role in propose_roles(schema).items()
            if path not in OWN_ROLES
        ],
        answer=dict(operation.answer or (choice.answer if choice else None) or {}) or None,
        scopes=list(operation.scopes),
        pages=operation.pagination is not None,
        tools=[operation_tool_name(each, operation.name) for each in connections],
    )
