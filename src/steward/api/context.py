"""What a request handler can reach: the installation, the limiter, the request's id and address."""

import asyncio
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import lru_cache, partial
from ipaddress import ip_address, ip_network
from threading import Event
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar, cast

from fastapi import Request

from steward.api.limits import RateLimiter
from steward.api.metric_feeds import Feeds
from steward.api.streams import StreamPlaces
from steward.app import Steward
from steward.core import FairThreads, Share, keep_place, sharing
from steward.identity import Access

if TYPE_CHECKING:
    from steward.api.routes.mcp import McpDoor

P = ParamSpec("P")
T = TypeVar("T")
# More would only wait for one another: for the one writer of SQLite, and for the interpreter.
_THREADS: Final = 2
_RESERVE: Final = 16


@dataclass
class ApiContext:
    steward: Steward
    limiter: RateLimiter
    streams: StreamPlaces
    feeds: Feeds
    stopping: Event = field(default_factory=Event)
    """Set when the server goes down, so that open streams end by themselves."""
    threads: FairThreads = field(default_factory=lambda: FairThreads(_THREADS, _RESERVE, "api"))
    mcp: "McpDoor | None" = None
    """Opened when the first MCP client comes."""

    async def in_turn(
        self, access: Access, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Does in a thread what blocks; hundreds of calls of one person do not hold up the one of another."""
        keep_place()
        with sharing(Share(access.scope.project_id, access.user_id)):
            call = partial(copy_context().run, partial(work, *args, **kwargs))
            return await asyncio.get_running_loop().run_in_executor(self.threads, call)


def context_of(request: Request) -> ApiContext:
    return cast(ApiContext, request.app.state.context)


def steward_of(request: Request) -> Steward:
    return context_of(request).steward


def base_of(request: Request) -> str:
    """How the addresses begin that people are given."""
    public = steward_of(request).settings.http.public_url
    return (public or str(request.base_url)).rstrip("/")


def address_of(request: Request) -> str:
    """The caller's address; a proxy's word is taken only where the settings trust that proxy."""
    direct = request.client.host if request.client else "unknown"
    if _is_trusted(direct, tuple(steward_of(request).settings.http.trusted_proxies)):
        forwarded = request.headers.get("x-forwarded-for", "")
        return forwarded.rpartition(",")[2].strip() or direct
    return direct


@lru_cache(maxsize=1024)
def _is_trusted(address: str, proxies: tuple[str, ...]) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in ip_network(each, strict=False) for each in proxies)
