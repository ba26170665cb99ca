"""Loads a table of a database server as a dataset; its address, which may hold a password, is a secret."""

from datetime import timedelta
from secrets import token_hex
from typing import Annotated, Final

from pydantic import Field

from steward.broker import (
    DESTINATION,
    NEW_TARGET,
    PLAIN,
    SECRET,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.core import Denied, StewardError, Stopped
from steward.identity import Access, Role
from steward.ingest import parse_address
from steward.store import OWN_SECRETS, SecretStore
from steward.tools._calls import bench, heavy, off_loop, secret
from steward.tools._commits import load_outcome, reconciling, version_now
from steward.tools._file_options import FileOptions
from steward.tools._installation import ROLE_OF, SECRETS
from steward.versions import Commit

KEPT_ADDRESSES: Final = f"{OWN_SECRETS}load_"
"""How the names of addresses begin that are kept for one load only."""


class LoadFromServer(Arguments):
    server: Annotated[str, DESTINATION] = Field(
        min_length=1, max_length=2000, description="Address of the database, without a password."
    )
    secret: Annotated[str, SECRET] = Field(
        min_length=1, max_length=100, description="Name of the secret that holds the whole address."
    )
    dataset: Annotated[str, NEW_TARGET] = Field(
        min_length=1, max_length=180, description="Name of the dataset."
    )
    reading: Annotated[FileOptions, PLAIN] = Field(
        FileOptions(), description="Which table, and corrections of how it is read."
    )


def keep_address(secrets: SecretStore, access: Access, url: str) -> str:
    """Keeps an address that somebody typed until its load is over; the name of the secret."""
    name = f"{KEPT_ADDRESSES}{token_hex(16)}"
    secrets.set(access.scope, name, url, author=access.user_id)
    return name


def server_name(url: str) -> str:
    """What a server is called in records: without the password, and never the whole of an address."""
    return parse_address(url).shown().partition("://")[2]


async def dry_run(context: ToolContext, arguments: LoadFromServer) -> Preview:
    before = await off_loop(version_now, context, arguments.dataset)
    what = arguments.reading.table or "a table"
    return Preview(
        summary=f"{'Replace' if before else 'Make'} {arguments.dataset} from {what} of {arguments.server}",
        details={"server": arguments.server, "replaces": before},
        payload={"replaces": before},
    )


async def run(context: ToolContext, arguments: LoadFromServer) -> Outcome:
    url = await _address(context, arguments)
    try:
        commit = await heavy(context, _loaded, context, arguments, url)
    except (StewardError, Stopped):
        await off_loop(_forget, context, arguments)
        raise
    await off_loop(_forget, context, arguments)
    return await described(context, commit)


async def _address(context: ToolContext, arguments: LoadFromServer) -> str:
    # What a person typed is for the load they started, and for no other call.
    if arguments.secret.startswith(OWN_SECRETS) and not (
        context.direct and arguments.secret.startswith(KEPT_ADDRESSES)
    ):
        raise Denied("This secret is Steward's own.", code="own-secret")
    url = await secret(context, arguments.secret)
    if server_name(url) != arguments.server:
        raise Denied(
            f"The secret {arguments.secret!r} holds the address of another server than {arguments.server}.",
            code="other-server",
        )
    return url


def _loaded(context: ToolContext, arguments: LoadFromServer, url: str) -> Commit:
    _, commit = bench(context).bringing.load_server(
        context.scope,
        context.author,
        url,
        arguments.dataset,
        arguments.reading.options(),
        context.branch,
        private=_may_go_inside(context),
    )
    return commit


def _may_go_inside(context: ToolContext) -> bool:
    """Servers on private addresses are open to admins of the project alone, when they load by hand."""
    role = context.services.use(ROLE_OF)(context.scope, context.author)
    if context.token_role is not None and role is not None:
        role = min(role, context.token_role)
    return context.direct and role is not None and role >= Role.admin


def _forget(context: ToolContext, arguments: LoadFromServer) -> None:
    if arguments.secret.startswith(KEPT_ADDRESSES):
        context.services.use(SECRETS).forget(context.scope, arguments.secret)


async def described(context: ToolContext, commit: Commit) -> Outcome:
    return await off_loop(load_outcome, context, commit, ("source", "table"))


add_tool(
    name="load_from_server",
    title="Load from a database server",
    description=(
        "Loads a table of a database server, whose address a secret holds, as a dataset. Rows that do not fit "
        "are kept apart, with the reason."
    ),
    arguments=LoadFromServer,
    risk=Risk.write,
    run=run,
    effects=Effects(reads=True, writes=True, network=True),
    dry_run=dry_run,
    reconcile=reconciling(described),
    timeout=timedelta(hours=1),
)
