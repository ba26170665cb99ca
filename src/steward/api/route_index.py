"""Finds the route of a request among hundreds: only routers that have paths which begin like the request's are asked."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from fastapi.routing import RouteContext, iter_route_contexts
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

_DEPTH: Final = 5
"""Parts of a path that are compared, as far as the name behind a project's id."""
_CHOSEN: Final = "steward.route"

Opening = tuple[str | None, ...]
"""How a path begins, part by part; None stands for any text."""


class RouteIndex(BaseRoute):
    """Stands before the routes that it finds; what it does not find is left to them."""

    include_in_schema = False

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        openings = [(route, _openings(route)) for route in routes]
        self._names = frozenset(
            part for _, found in openings for opening in found or () for part in opening if part
        )

        @lru_cache(maxsize=4_096)
        def candidates(parts: Opening) -> tuple[BaseRoute, ...]:
            return tuple(
                route
                for route, found in openings
                if found is None or any(_fits(opening, parts) for opening in found)
            )

        self._candidates = candidates

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        parts = scope["path"].split("/", _DEPTH + 1)[1 : _DEPTH + 1]
        known = tuple(part if part in self._names else None for part in parts)
        for route in self._candidates(known):
            match, child = route.matches(scope)
            if match is Match.FULL:
                return match, {**child, _CHOSEN: route}
        return Match.NONE, {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        route: BaseRoute = scope.pop(_CHOSEN)
        await route.handle(scope, receive, send)


def _openings(route: BaseRoute) -> frozenset[Opening] | None:
    """How the paths of a router begin; None where that cannot be told."""
    contexts: list[RouteContext] = list(iter_route_contexts([route]))
    paths = [context.path for context in contexts]
    if not all(paths):
        return None
    return frozenset(_opening(path) for path in paths if path)


def _opening(path: str) -> Opening:
    # `{name:path}` takes any number of parts, so that what follows it has no place of its own.
    parts = path.partition(":path}")[0].split("/", _DEPTH + 1)[1 : _DEPTH + 1]
    return tuple(None if "{" in part else part for part in parts)


def _fits(opening: Opening, parts: Opening) -> bool:
    return all(mine is None or mine == given for mine, given in zip(opening, parts, strict=False))
