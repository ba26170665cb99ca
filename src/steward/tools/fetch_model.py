"""Fetches open weights onto this machine, for a model that Steward runs itself. Only for people who keep the machine.

Called again with the digest of what is here, it fetches nothing and confirms the digest.
"""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Annotated, Final

from pydantic import Field

from steward.broker import (
    DESTINATION,
    PLAIN,
    TARGET,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.core import Denied, Invalid
from steward.models.local import Fetched, Weights, fetch, found_here, listed_weights
from steward.runs import Found, Reconciled, Ticket
from steward.tools._calls import happened
from steward.tools._installation import HTTP, KEEPS_MACHINE, LOCAL_MODELS

_MOST_BYTES: Final = 200 << 30


class FetchModel(Arguments):
    name: Annotated[str, TARGET] = Field(
        max_length=60,
        pattern=r"^[a-z][a-z0-9.-]{0,59}$",
        description="A listed model, or a new name.",
    )
    url: Annotated[str | None, DESTINATION] = Field(
        None, max_length=1_000, description="Where the GGUF file is; unset: as listed."
    )
    sha256: Annotated[str | None, PLAIN] = Field(
        None, pattern=r"^[0-9a-f]{64}$", description="The file's SHA-256; unset: as listed."
    )


async def preview(context: ToolContext, arguments: FetchModel) -> Preview:
    _refuse_others(context)
    listed = _listed(arguments.name)
    size = f" ({listed.bytes:,} bytes)" if listed is not None else ""
    address = arguments.url or (listed.url if listed is not None else None)
    return Preview(
        summary=f"Fetch {arguments.name}{size} onto this machine",
        details={"address": address, "sha256": arguments.sha256},
        irreversible="The file stays on this machine until it is removed there.",
    )


async def run(context: ToolContext, arguments: FetchModel) -> Outcome:
    _refuse_others(context)
    servers = context.services.use(LOCAL_MODELS)
    listed = _listed(arguments.name)
    target = servers.shelf.path(arguments.name)
    digest = arguments.sha256 or (listed.sha256 if listed else None)
    found = await asyncio.to_thread(found_here, target, digest) if digest else None
    if found is None:
        found = await _fetched(context, arguments, listed, digest)
    return _here(arguments.name, found)


async def reconcile(context: ToolContext, arguments: FetchModel, _ticket: Ticket) -> Reconciled:
    """Weights with the digest that was asked for are here; whatever else is here is looked at again."""
    listed = _listed(arguments.name)
    digest = arguments.sha256 or (listed.sha256 if listed else None)
    if digest is None:
        return Reconciled(Found.not_happened)
    servers = context.services.use(LOCAL_MODELS)
    found = await asyncio.to_thread(found_here, servers.shelf.path(arguments.name), digest)
    return (
        Reconciled(Found.not_happened) if found is None else happened(_here(arguments.name, found))
    )


def _here(name: str, found: Fetched) -> Outcome:
    words = (
        "Its SHA-256 is the expected one."
        if found.verified
        else f"Its SHA-256 is {found.sha256}. No one has confirmed it: compare it with the publisher's before you use it."
    )
    return Outcome(
        value={
            "name": name,
            "bytes": found.bytes,
            "sha256": found.sha256,
            "verified": found.verified,
        },
        summary=f"{name} is on this machine: {found.bytes:,} bytes. {words}",
    )


def _refuse_others(context: ToolContext) -> None:
    if not context.direct or not context.services.use(KEEPS_MACHINE)(context.scope, context.author):
        raise Denied(
            "Only an owner of the organisation that runs this installation may fetch models onto it.",
            code="not-a-keeper",
        )


def _listed(name: str) -> Weights | None:
    return next((each for each in listed_weights() if each.name == name), None)


async def _fetched(
    context: ToolContext, arguments: FetchModel, listed: Weights | None, digest: str | None
) -> Fetched:
    url = arguments.url or (listed.url if listed else None)
    if url is None:
        raise Invalid(
            f"No address is known for {arguments.name}. Give the address of its GGUF file.",
            code="no-address",
        )
    servers = context.services.use(LOCAL_MODELS)
    is_listed = listed is not None and digest == listed.sha256
    return await fetch(
        url,
        servers.shelf.path(arguments.name),
        digest,
        lambda done, total: context.report(f"Fetching {arguments.name}", done, total),
        size=listed.bytes if listed is not None and is_listed else None,
        transport=partial(context.services.use(HTTP).inside().transport, _MOST_BYTES),
    )


add_tool(
    name="fetch_model",
    title="Fetch a model",
    description="Fetches open weights onto this machine and verifies them.",
    arguments=FetchModel,
    risk=Risk.write,
    run=run,
    dry_run=preview,
    effects=Effects(writes=True, network=True),
    idempotent=True,
    reconcile=reconcile,
    timeout=timedelta(hours=12),
)
