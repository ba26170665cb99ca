"""The index of routes finds what the routes themselves would, and nothing else."""

from typing import Any

import pytest
from fastapi import FastAPI
from starlette.routing import BaseRoute, Match

from steward.api import _routes
from steward.api.openapi import routes_of
from steward.api.route_index import RouteIndex
from steward.api.routing import Router


def _scope(path: str, method: str) -> dict[str, Any]:
    return {"type": "http", "path": path, "root_path": "", "method": method, "headers": []}


def _chosen(routes: tuple[BaseRoute, ...], path: str, method: str) -> BaseRoute | None:
    """As Starlette looks: the first that matches whole."""
    return next((r for r in routes if r.matches(_scope(path, method))[0] is Match.FULL), None)


def _paths() -> list[tuple[str, str]]:
    api = FastAPI(openapi_url=None)
    api.router.routes.extend(_routes())
    return [(each.path, method) for each in routes_of(api) for method in each.methods or ()]


def test_every_route_is_found_and_the_same() -> None:
    routes = _routes()
    index = RouteIndex(routes)
    for template, method in _paths():
        # As a value, a name that is a part of other paths is harder than any other.
        for value in ("x1", "runs", "projects"):
            path = "/".join(value if "{" in part else part for part in template.split("/"))
            match, child = index.matches(_scope(path, method))
            assert match is Match.FULL, (method, path)
            assert child["steward.route"] is _chosen(routes, path, method), (method, path)


@pytest.mark.parametrize(
    "path", ["", "/", "/api", "/api/v1", "/api/v1/nothing", "/api/v1/projects/x/nothing", "//", "x"]
)
def test_what_is_no_route_is_left_to_others(path: str) -> None:
    assert RouteIndex(_routes()).matches(_scope(path, "GET"))[0] is Match.NONE


def test_another_method_is_left_to_others() -> None:
    assert RouteIndex(_routes()).matches(_scope("/api/v1/session", "PATCH"))[0] is Match.NONE


def test_a_path_as_a_parameter_takes_any_number_of_parts() -> None:
    router = Router(outside=True)

    @router.get("/a/{rest:path}/end")
    def whole(rest: str) -> str:
        return rest

    index = RouteIndex(router.routes)
    assert index.matches(_scope("/a/b/c/d/end", "GET"))[0] is Match.FULL
