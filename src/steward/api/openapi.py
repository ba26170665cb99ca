"""The OpenAPI document: made from the routes and their guards, complete with every status they answer."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from steward import __version__
from steward.api.guards import Guard, InNamedProject, InProject, Public, guard_of
from steward.api.problems import MEDIA_TYPE, ProblemDocument
from steward.api.routing import ALL, built

_DESCRIPTIONS = {
    400: "The body is not JSON.",
    401: "Not signed in.",
    403: "Not allowed.",
    404: "No such thing, or none that the caller may see.",
    408: "The body did not arrive in time.",
    409: "Conflicts with the current state.",
    412: "The document changed since it was read.",
    413: "Larger than allowed.",
    422: "Not valid.",
    428: "If-Match is missing.",
    429: "Too many requests; see Retry-After.",
    503: "Temporarily unavailable; see the detail.",
}
_CONFLICTING = {"PUT", "PATCH", "POST", "DELETE"}


def install(api: FastAPI) -> None:
    def document() -> dict[str, Any]:
        if api.openapi_schema is None:
            api.openapi_schema = _document(api)
        return api.openapi_schema

    api.openapi = document  # type: ignore[method-assign]


def _document(api: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title="Steward",
        version=__version__,
        openapi_version="3.1.0",
        summary="Data work by agents that people can trust.",
        description=(
            "Errors are RFC 9457 problem documents. Lists come in pages: pass `next_cursor` as "
            "`cursor`. Documents carry an ETag; changing them needs `If-Match`."
        ),
        routes=list(built(api.routes)),
        separate_input_output_schemas=True,
    )
    components = document.setdefault("components", {})
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": "steward"},
    }
    schemas = components.setdefault("schemas", {})
    schemas["Problem"] = ProblemDocument.model_json_schema(
        ref_template="#/components/schemas/{model}", mode="serialization"
    )
    for name, definition in schemas["Problem"].pop("$defs", {}).items():
        schemas[name] = definition
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for route in routes_of(api):
        if route.include_in_schema:
            for method in route.methods or ():
                _complete(document["paths"][route.path_format][method.lower()], route, method)
    return document


def routes_of(api: FastAPI) -> Iterator[APIRoute]:
    """Every route with what it takes and answers."""
    return (each for each in built(api.routes) if isinstance(each, APIRoute))


def _complete(operation: dict[str, Any], route: APIRoute, method: str) -> None:
    own = route.path.startswith(ALL)
    guard = guard_of(route) if own else Public()
    operation["x-steward-access"] = guard.as_dict()
    operation["security"] = [] if isinstance(guard, Public) else _security(guard)
    # A route names what it answers beyond that, as `responses={409: {}}`.
    declared = {status for status in route.responses if status in _DESCRIPTIONS}
    statuses = _statuses(operation, guard, method, own=own) | declared
    for status in sorted(statuses):
        operation["responses"][str(status)] = {
            "description": _DESCRIPTIONS[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }


def _security(guard: Guard) -> list[dict[str, list[str]]]:
    session_only = getattr(guard, "session_only", False)
    return [{"session": []}] if session_only else [{"token": []}, {"session": []}]


def _statuses(operation: dict[str, Any], guard: Guard, method: str, *, own: bool) -> set[int]:
    statuses = {403, 429, 503} if own else {403, 503}
    if not isinstance(guard, Public):
        statuses |= {401}
    parameters = operation.get("parameters", [])
    if isinstance(guard, InProject | InNamedProject) or any(
        item["in"] == "path" for item in parameters
    ):
        statuses |= {404}
    if parameters or "requestBody" in operation:
        statuses |= {422}
    if "requestBody" in operation:
        statuses |= {400, 404, 408, 413}
    if method in _CONFLICTING and own:
        statuses |= {401, 409}
    if any(item["name"].lower() == "if-match" for item in parameters):
        statuses |= {412, 428}
    return statuses
