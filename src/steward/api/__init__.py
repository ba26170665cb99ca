"""The HTTP door: routes, guards and errors; no logic of its own."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.routing import BaseRoute

from steward.api import openapi, problems, routes, webapp
from steward.api.context import ApiContext
from steward.api.guards import guard_of
from steward.api.limits import RateLimiter
from steward.api.metric_feeds import Feed, Feeds, Key
from steward.api.middleware import RequestFrame
from steward.api.route_index import RouteIndex
from steward.api.routes import mcp
from steward.api.routing import ALL, PREFIX, DeferredRoute, Router
from steward.api.streams import StreamPlaces
from steward.app import Steward, live_figures
from steward.core.lazy_doors import lazily

if TYPE_CHECKING:
    from steward.api.server import serve

__all__ = [
    "create_api",
    "create_routes",
    "serve",
]


def create_routes() -> FastAPI:
    """The routes without an installation behind them; enough to describe the API."""
    api = FastAPI(title="Steward", docs_url=None, redoc_url=None, openapi_url=None)
    found = _routes()
    api.router.routes.extend([RouteIndex(found), *found])
    openapi.install(api)
    return api


@cache
def _routes() -> tuple[BaseRoute, ...]:
    """Those of each file in `routes`, in the order of their files."""
    found: list[BaseRoute] = []
    for file in iter_modules(routes.__path__):
        module = import_module(f"{routes.__name__}.{file.name}")
        for each in vars(module).values():
            if isinstance(each, Router):
                found += each.routes
    for route in found:
        if isinstance(route, DeferredRoute) and route.path.startswith(ALL):
            guard_of(route)
    return tuple(found)


def create_api(steward: Steward) -> FastAPI:
    """The whole HTTP application over an open installation."""
    api = create_routes()
    http = steward.settings.http
    limiter = RateLimiter(
        steward.clock, per_minute=http.requests_per_minute, burst=http.request_burst
    )

    def feed(key: Key) -> Feed:
        figures = live_figures(steward, key.scope, key.hours, key.visible)
        return Feed(figures, key.scope, steward.events, steward.bus)

    places = StreamPlaces(http.streams_per_person)
    api.state.context = ApiContext(steward, limiter, places, Feeds(feed))
    problems.install(api, steward.metrics)
    api.add_exception_handler(mcp.Unsigned, mcp.answer_unsigned)

    @api.get(f"{PREFIX}/openapi.json", include_in_schema=False)
    def description() -> dict[str, object]:
        return api.openapi()

    webapp.install(api)
    api.add_middleware(RequestFrame, steward=steward)
    return api


__getattr__ = lazily(__name__)
