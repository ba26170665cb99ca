"""SCIM 2.0: an identity provider brings people and groups with the token of a directory (RFC 7644)."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from steward.api.context import base_of, context_of, steward_of
from steward.api.guards import count_against_address
from steward.api.problems import status_of
from steward.api.routing import Router
from steward.api.scim_documents import (
    ERROR,
    MOST,
    config_document,
    group_document,
    listed,
    narrowed,
    schema_documents,
    type_documents,
    user_document,
)
from steward.core import (
    Conflict,
    Invalid,
    NotFound,
    RateLimited,
    StewardError,
    Unauthenticated,
)
from steward.identity import Directory, patched, read_filter, simple_equality
from steward.trace import add_to_context

PATH: Final = "/scim/v2"
_MEDIA: Final = "application/scim+json"
_LONGEST: Final = 2 << 20
_SCIM_TYPES: Final = frozenset(
    {
        "invalidFilter",
        "invalidPath",
        "invalidSyntax",
        "invalidValue",
        "mutability",
        "noTarget",
        "uniqueness",
    }
)


class ScimRoute(APIRoute):
    """Answers every error in SCIM's own shape."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except StewardError as problem:
                return _failed(problem)
            except RequestValidationError:
                return _failed(Invalid("A parameter is not valid.", code="invalidValue"))

        return handled


outside = Router(outside=True, prefix=PATH, include_in_schema=False, route_class=ScimRoute)


def as_directory(request: Request) -> Directory:
    """The directory whose token came; every other token counts for nothing here."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    shown = token.strip() if scheme.lower() == "bearer" else ""
    try:
        found = steward_of(request).identity.directories.resolve(shown)
    except Unauthenticated:
        count_against_address(request)
        raise
    context_of(request).limiter.take(found.id)
    add_to_context(principal=found.id)
    request.state.principal = found.id
    return found


AsDirectory = Annotated[Directory, Depends(as_directory)]
Filter = Annotated[str | None, Query(max_length=1000)]
Start = Annotated[int, Query(alias="startIndex")]
Count = Annotated[int, Query()]
Shown = Annotated[str | None, Query(max_length=1000)]
Hidden = Annotated[str | None, Query(alias="excludedAttributes", max_length=1000)]


@dataclass(frozen=True)
class Wanted:
    """Which documents are asked for, and what of them."""

    filter: str | None = None
    start: int = 1
    count: int = 100
    attributes: str | None = None
    excluded: str | None = None

    def page(self, documents: list[dict[str, Any]]) -> Response:
        if self.filter:
            fits = read_filter(self.filter)
            documents = [each for each in documents if fits(each)]
        # Below 1 counts as 1, and below 0 as none (RFC 7644, 3.4.2.4).
        found = listed(documents, max(1, self.start), min(max(0, self.count), MOST))
        found["Resources"] = [self.part(each) for each in found["Resources"]]
        return _answer(found)

    def part(self, document: dict[str, Any]) -> dict[str, Any]:
        return narrowed(document, self.attributes, self.excluded)


def as_wanted(
    filter: Filter = None,  # noqa: A002
    start: Start = 1,
    count: Count = 100,
    attributes: Shown = None,
    excluded: Hidden = None,
) -> Wanted:
    return Wanted(filter, start, count, attributes, excluded)


AsWanted = Annotated[Wanted, Depends(as_wanted)]


@outside.get("/ServiceProviderConfig")
def describe_service(request: Request, _: AsDirectory) -> Response:
    return _answer(config_document(base_of(request) + PATH))


@outside.get("/ResourceTypes")
def list_types(request: Request, _: AsDirectory) -> Response:
    return _answer(listed(type_documents(base_of(request) + PATH), 1, MOST))


@outside.get("/ResourceTypes/{name}")
def get_type(request: Request, _: AsDirectory, name: str) -> Response:
    return _answer(_one(type_documents(base_of(request) + PATH), name))


@outside.get("/Schemas")
def list_schemas(request: Request, _: AsDirectory) -> Response:
    return _answer(listed(schema_documents(base_of(request) + PATH), 1, MOST))


@outside.get("/Schemas/{name}")
def get_schema(request: Request, _: AsDirectory, name: str) -> Response:
    return _answer(_one(schema_documents(base_of(request) + PATH), name))


@outside.get("/Users")
def list_users(request: Request, directory: AsDirectory, wanted: AsWanted) -> Response:
    return wanted.page(_users(request, directory, wanted.filter))


@outside.post("/Users/.search")
async def search_users(request: Request, directory: AsDirectory) -> Response:
    wanted = _searched(await _body(request))
    return await run_in_threadpool(lambda: wanted.page(_users(request, directory, wanted.filter)))


@outside.post("/Users")
async def create_user(request: Request, directory: AsDirectory) -> Response:
    people = steward_of(request).identity.directory_people
    found = await run_in_threadpool(people.create, directory, await _body(request))
    return _made(user_document(found, base_of(request) + PATH))


@outside.get("/Users/{record_id}")
def get_user(
    request: Request, directory: AsDirectory, record_id: str, wanted: AsWanted
) -> Response:
    found = steward_of(request).identity.directory_people.get(directory, record_id)
    return _answer(wanted.part(user_document(found, base_of(request) + PATH)))


@outside.put("/Users/{record_id}")
async def replace_user(request: Request, directory: AsDirectory, record_id: str) -> Response:
    people = steward_of(request).identity.directory_people
    found = await run_in_threadpool(people.replace, directory, record_id, await _body(request))
    return _answer(user_document(found, base_of(request) + PATH))


@outside.patch("/Users/{record_id}")
async def change_user(request: Request, directory: AsDirectory, record_id: str) -> Response:
    people = steward_of(request).identity.directory_people
    operations = _operations(await _body(request))

    def change() -> dict[str, Any]:
        before = people.get(directory, record_id).document
        found = people.replace(directory, record_id, patched(before, operations))
        return user_document(found, base_of(request) + PATH)

    return _answer(await run_in_threadpool(change))


@outside.delete("/Users/{record_id}")
def delete_user(request: Request, directory: AsDirectory, record_id: str) -> Response:
    steward_of(request).identity.directory_people.delete(directory, record_id)
    return Response(status_code=204)


@outside.get("/Groups")
def list_groups(request: Request, directory: AsDirectory, wanted: AsWanted) -> Response:
    return wanted.page(_groups(request, directory))


@outside.post("/Groups/.search")
async def search_groups(request: Request, directory: AsDirectory) -> Response:
    wanted = _searched(await _body(request))
    return await run_in_threadpool(lambda: wanted.page(_groups(request, directory)))


@outside.post("/.search")
async def search_all(request: Request, directory: AsDirectory) -> Response:
    wanted = _searched(await _body(request))
    return await run_in_threadpool(
        lambda: wanted.page(_users(request, directory, None) + _groups(request, directory))
    )


@outside.post("/Groups")
async def create_group(request: Request, directory: AsDirectory) -> Response:
    groups = steward_of(request).identity.directory_groups
    found = await run_in_threadpool(groups.save, directory, await _body(request))
    return _made(group_document(found, base_of(request) + PATH))


@outside.get("/Groups/{group_id}")
def get_group(
    request: Request, directory: AsDirectory, group_id: str, wanted: AsWanted
) -> Response:
    found = steward_of(request).identity.directory_groups.get(directory, group_id)
    return _answer(wanted.part(group_document(found, base_of(request) + PATH)))


@outside.put("/Groups/{group_id}")
async def replace_group(request: Request, directory: AsDirectory, group_id: str) -> Response:
    groups = steward_of(request).identity.directory_groups
    found = await run_in_threadpool(groups.save, directory, await _body(request), group_id)
    return _answer(group_document(found, base_of(request) + PATH))


@outside.patch("/Groups/{group_id}")
async def change_group(request: Request, directory: AsDirectory, group_id: str) -> Response:
    groups = steward_of(request).identity.directory_groups
    operations = _operations(await _body(request))

    def change() -> dict[str, Any]:
        before = groups.get(directory, group_id)
        members = [{"value": each} for each, _ in before.related]
        wanted = patched({**before.document, "members": members}, operations)
        return group_document(groups.save(directory, wanted, group_id), base_of(request) + PATH)

    return _answer(await run_in_threadpool(change))


@outside.delete("/Groups/{group_id}")
def delete_group(request: Request, directory: AsDirectory, group_id: str) -> Response:
    steward_of(request).identity.directory_groups.delete(directory, group_id)
    return Response(status_code=204)


@outside.get("/{rest:path}")
def answer_unknown(_: AsDirectory, rest: str) -> Response:
    raise NotFound(f"There is nothing at {rest[:100]!r}.")


def _users(request: Request, directory: Directory, text: str | None) -> list[dict[str, Any]]:
    people = steward_of(request).identity.directory_people
    found = people.listed(directory, simple_equality(text) if text else None)
    return [user_document(each, base_of(request) + PATH) for each in found]


def _groups(request: Request, directory: Directory) -> list[dict[str, Any]]:
    found = steward_of(request).identity.directory_groups.listed(directory)
    return [group_document(each, base_of(request) + PATH) for each in found]


def _searched(body: dict[str, Any]) -> Wanted:
    names = {"filter": str, "startIndex": int, "count": int}
    for name, kind in names.items():
        if body.get(name) is not None and type(body[name]) is not kind:
            raise Invalid(f"{name} is not of its type.", code="invalidValue")
    lists = [body.get(name) or [] for name in ("attributes", "excludedAttributes")]
    if not all(isinstance(each, list) for each in lists):
        raise Invalid("attributes and excludedAttributes are lists.", code="invalidValue")
    attributes, excluded = (",".join(map(str, each)) or None for each in lists)
    start, count = body.get("startIndex"), body.get("count")
    return Wanted(
        body.get("filter"),
        1 if start is None else start,
        100 if count is None else count,
        attributes,
        excluded,
    )


async def _body(request: Request) -> dict[str, Any]:
    try:
        content = await request.body()
        found = await request.json() if len(content) <= _LONGEST else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Invalid("Send a JSON object of at most 2 MB.", code="invalidSyntax")
    return found


def _operations(body: dict[str, Any]) -> Any:
    return next((value for name, value in body.items() if name.lower() == "operations"), None)


def _one(documents: list[dict[str, Any]], name: str) -> dict[str, Any]:
    found = next((each for each in documents if each["id"] == name), None)
    if found is None:
        raise NotFound(f"There is no {name[:100]!r} here.")
    return found


def _answer(document: dict[str, Any]) -> Response:
    return JSONResponse(document, media_type=_MEDIA)


def _made(document: dict[str, Any]) -> Response:
    place = {"Location": document["meta"]["location"]}
    return JSONResponse(document, 201, headers=place, media_type=_MEDIA)


def _failed(problem: StewardError) -> Response:
    found = 400 if isinstance(problem, Invalid) else status_of(problem)
    body: dict[str, Any] = {"schemas": [ERROR], "status": str(found), "detail": problem.message}
    code = problem.specific_code
    if isinstance(problem, Conflict) and code not in _SCIM_TYPES:
        code = "uniqueness"
    if code in _SCIM_TYPES:
        body["scimType"] = code
    headers = {}
    if isinstance(problem, RateLimited):
        headers["Retry-After"] = str(problem.retry_after_seconds)
    if isinstance(problem, Unauthenticated):
        headers["WWW-Authenticate"] = 'Bearer realm="steward scim"'
    return JSONResponse(body, found, headers=headers, media_type=_MEDIA)
