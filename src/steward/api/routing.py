"""Routes that are built when the first request asks for one: reading the signatures of all takes a second and 30 MB."""

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any, Final, cast

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

PREFIX: Final = "/api/v1"
ALL: Final = "/api/"
"""Beginning of all addresses of the API, those without a version included."""


class DeferredRoute(Route):
    """Knows the path and methods of a route, and makes the route out of its declaration once it is needed."""

    def __init__(self, kind: type[APIRoute], path: str, **declared: Any) -> None:
        super().__init__(path, declared["endpoint"], methods=sorted(declared["methods"] or ["GET"]))
        self.dependencies = declared["dependencies"]
        self._make = partial(kind, path, **declared)

    @cached_property
    def built(self) -> APIRoute:
        return self._make()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        return (match, child) if match is Match.NONE else self.built.matches(scope)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.built.handle(scope, receive, send)


class Router(APIRouter):
    """The routes of one file, below the prefix of the API unless it says otherwise."""

    def __init__(
        self,
        *,
        prefix: str = "",
        outside: bool = False,
        route_class: type[APIRoute] = APIRoute,
        **options: Any,
    ) -> None:
        super().__init__(
            prefix=prefix if outside else PREFIX + prefix,
            # The router only calls it, with what a route is made of.
            route_class=cast("type[APIRoute]", partial(DeferredRoute, route_class)),
            generate_unique_id_function=lambda route: route.name,
            **options,
        )


def built(routes: Sequence[BaseRoute]) -> Iterator[BaseRoute]:
    """The routes as the framework knows them."""
    for route in routes:
        yield route.built if isinstance(route, DeferredRoute) else route
