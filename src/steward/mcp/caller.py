"""Who calls, and with what: the access and the client behind one request."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext

from steward.flows import Client
from steward.identity import Access

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True)
class Caller:
    access: Access
    client: Client


FindCaller = Callable[[Context], Awaitable[Caller]]
"""Who makes a request; raises one of our errors where nobody may."""


def client_name(context: Context) -> str:
    """What the client calls itself; nothing is decided by it."""
    params = context.session.client_params
    return f"{params.client_info.name} {params.client_info.version}" if params is not None else ""
