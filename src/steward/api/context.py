"""What a request handler can reach: the installation, the limiter, the request's id and address."""

from dataclasses import dataclass, field
from threading import Event
from typing import cast

from fastapi import Request

from steward.api.limits import RateLimiter
from steward.api.streams import StreamPlaces
from steward.app import Steward


@dataclass(frozen=True)
class ApiContext:
    steward: Steward
    limiter: RateLimiter
    streams: StreamPlaces
    stopping: Event = field(default_factory=Event)
    """Set when the server goes down, so that open streams end by themselves."""


def context_of(request: Request) -> ApiContext:
    return cast(ApiContext, request.app.state.context)


def steward_of(request: Request) -> Steward:
    return context_of(request).steward


def address_of(request: Request) -> str:
    """The caller's address; a proxy's word is taken only where the settings trust that proxy."""
    direct = request.client.host if request.client else "unknown"
    if direct in steward_of(request).settings.http.trusted_proxies:
        forwarded = request.headers.get("x-forwarded-for", "")
        return forwarded.rpartition(",")[2].strip() or direct
    return direct
