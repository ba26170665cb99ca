"""Fetches open weights onto this machine, for a model that Steward runs itself. Only for people who keep the machine.

Called again with the digest of what is here, it fetches nothing and confirms the digest.
"""

import asyncio
from datetime import timedelta
from typing import Annotated

from pydantic import Field

from steward.broker.roles import DESTINATION, PLAIN, TARGET
from steward.broker.tool import TOOLS, Arguments, Effects, Outcome, Risk, Tool, ToolContext
from steward.core.errors import Denied, Invalid
from steward.models.local import Fetched, Weights, fetch, found_here
from steward.models.local.server import LocalServers
from steward.models.local.weights import listed_weights


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


async def run(context: ToolContext, arguments: FetchModel) -> Outcome:
    if not context.direct or not context.services["keeps_machine"](context.scope, context.author):
        raise Denied(
            "Only an owner of the organisation that runs this installation may fetch models onto it.",
            code="not-a-keeper",
        )
    servers: LocalServers = context.services["local_models"]
    listed = next((each for each in listed_weights() if each.name == arguments.name), None)
    target = servers.shelf.path(arguments.name)
    digest = arguments.sha256 or (listed.sha256 if listed else None)
    found = await asyncio.to_thread(found_here, target, digest) if digest else None
    if found is None:
        found = await _fetched(context, arguments, listed, digest)
    words = (
        "Its SHA-256 is the expected one."
        if found.verified
        else f"Its SHA-256 is {found.sha256}. No one has confirmed it: compare it with the publisher's before you use it."
    )
    return Outcome(
        value={
            "name": arguments.name,
            "bytes": found.bytes,
            "sha256": found.sha256,
            "verified": found.verified,
        },
        summary=f"{arguments.name} is on this machine: {found.bytes:,} bytes. {words}",
    )


async def _fetched(
    context: ToolContext, arguments: FetchModel, listed: Weights | None, digest: str | None
) -> Fetched:
    url = arguments.url or (listed.url if listed else None)
    if url is None:
        raise Invalid(
            f"No address is known for {arguments.name}. Give the address of its GGUF file.",
            code="no-address",
        )
    servers: LocalServers = context.services["local_models"]
    is_listed = listed is not None and digest == listed.sha256
    return await fetch(
        url,
        servers.shelf.path(arguments.name),
        digest,
        lambda done, total: context.report(f"Fetching {arguments.name}", done, total),
        size=listed.bytes if listed is not None and is_listed else None,
    )


TOOLS.add(
    "fetch_model",
    Tool(
        name="fetch_model",
        title="Fetch a model",
        description="Fetches open weights onto this machine and verifies them.",
        arguments=FetchModel,
        risk=Risk.compute,
        run=run,
        effects=Effects(network=True),
        timeout=timedelta(hours=12),
        attempts=1,
    ),
)
