"""`steward connections`: what a project may reach; found, added, tested, removed."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from steward.app import Steward
from steward.broker import propose_roles, without_roles
from steward.cli.output import AsJson, plain, progress, show_table
from steward.cli.projects import Group, Here
from steward.cli.values import json_or_text
from steward.connections import Connection, Draft, ServerTool, load_connectors
from steward.connections.discovery import Proposal, told_wrong
from steward.connections.mcp import program_hash
from steward.core import Denied, Invalid
from steward.identity import Access
from steward.tools import accept_tools

app = Group()
ConnectionArgument = Annotated[str, typer.Argument(help="Name or id of the connection.")]
Settings = Annotated[
    list[str],
    typer.Option("--set", help="A setting as NAME=VALUE; several. JSON values are read as JSON."),
]


@app.in_project("list")
def list_connections(
    here: Here,
) -> None:
    """List the project's connections and whether they worked."""
    found = here.steward.connections.documents.listed(here.scope)
    rows = [(c.name, c.connector.title, c.place, c.state, c.checked_at) for c in found]
    documents = [_document(each) for each in found]
    here.show_table(
        documents,
        ["Name", "Kind", "Place", "State", "Checked"],
        rows,
        empty="No connections. 'steward connections discover' shows what this machine has.",
    )


@app.on_machine("kinds")
def list_kinds(*, as_json: AsJson = False) -> None:
    """List the kinds of connections with their settings and secrets."""
    known = [each for _, each in load_connectors()]
    documents = [
        {
            "kind": each.kind,
            "title": each.title,
            "settings": each.schema(),
            "secrets": [secret.name for secret in each.secrets],
        }
        for each in known
    ]
    show_table(
        documents,
        ["Kind", "Title", "Settings", "Secrets"],
        [
            (
                each.kind,
                each.title,
                ", ".join(each.schema().get("properties", {})),
                ", ".join(secret.name for secret in each.secrets) or None,
            )
            for each in known
        ],
        empty="No kinds.",
        as_json=as_json,
    )


@app.in_project("add")
def add_connection(
    here: Here,
    kind: Annotated[str, typer.Argument(help="Such as postgresql; 'kinds' lists them.")],
    name: Annotated[str, typer.Argument(help="By which tools and playbooks refer to it.")],
    *,
    settings: Settings = [],  # noqa: B006 - typer's way of an empty list
    secret: Annotated[
        list[str],
        typer.Option("--secret", help="A secret of the project as FIELD=NAME; several."),
    ] = [],  # noqa: B006
    ask: Annotated[
        list[str],
        typer.Option("--ask", help="A secret field whose value is read from the terminal."),
    ] = [],  # noqa: B006
    hint: Annotated[str, typer.Option(help="What it is for, in words.")] = "",
) -> None:
    """Add a connection; values of secrets are typed in or come on standard input, never as arguments."""
    draft = Draft(
        name=name,
        kind=kind,
        settings={key: _value(text) for key, text in _pairs(settings)},
        secrets=dict(_pairs(secret)),
        scope_hint=hint,
        values={field: _typed(field) for field in ask},
    )
    made = here.steward.connections.documents.create(here.access, draft)
    here.show(_document(made), lambda: f"Added {made.name}. Test it now.")


@app.in_project("test")
def try_connection(
    here: Here,
    connection: ConnectionArgument,
) -> None:
    """Try a connection now; exits with 1 when it does not work."""
    steward, access = here.steward, here.access
    found = _found(steward, access, connection)
    check = asyncio.run(steward.connections.health.check(access.scope, found.id, access.user_id))
    document = {"name": found.name, "worked": check.worked, "words": check.words}
    mark = "works" if check.worked else "does not work"
    here.show(
        {**document, "code": check.code, "milliseconds": check.milliseconds},
        lambda: f"{found.name} {mark} ({check.milliseconds} ms): {check.words}",
    )
    if not check.worked:
        raise typer.Exit(1)


@app.in_project("discover")
def discover(
    here: Here,
) -> None:
    """Show what is configured on this machine already; nothing of it is used before it is accepted."""
    proposals = here.steward.connections.discovery.proposals(here.access, again=True)
    found = [told_wrong(each) for each in proposals]
    here.show_table(
        [_proposal(each) for each in found],
        ["Id", "Kind", "Name", "Found in", "Settings", "Remarks"],
        [
            (
                each.id[:12],
                each.kind,
                each.name,
                each.found_in,
                _settings_text(each),
                each.refused or _missing(each) or each.note or None,
            )
            for each in found
        ],
        empty="Nothing was found that is not connected already.",
    )


@app.in_project("accept")
def accept(
    here: Here,
    proposal: Annotated[
        str, typer.Argument(help="Id of a proposal, or its first characters; or a connection.")
    ],
    *,
    name: Annotated[str | None, typer.Option(help="Name of the connection.")] = None,
    settings: Settings = [],  # noqa: B006
    program: Annotated[
        bool,
        typer.Option("--program", help="Let the connection of this name start its program here."),
    ] = False,
) -> None:
    """Make a connection of what was found; or, with --program, let a connection start its program."""
    steward, access = here.steward, here.access
    if program:
        made = _accept_program(steward, access, proposal)
    else:
        chosen = [
            each
            for each in steward.connections.discovery.proposals(access)
            if each.id.startswith(proposal)
        ]
        if len(chosen) != 1:
            raise Invalid(
                f"{len(chosen)} proposals begin with {proposal!r}; 'steward connections discover' lists them."
            )
        given = {key: _value(text) for key, text in _pairs(settings)}
        made = steward.connections.discovery.accept(access, chosen[0].id, name=name, settings=given)
    here.show(_document(made), lambda: f"Accepted {made.name}.")


@app.in_project("tools")
def list_tools(
    here: Here,
    connection: ConnectionArgument,
    *,
    ask: Annotated[bool, typer.Option("--ask", help="Ask the server what it offers now.")] = False,
) -> None:
    """List the tools of an MCP server, and what their arguments are for."""
    desk, access = here.steward.connections, here.access
    found = _found(here.steward, access, connection)
    if ask:
        asyncio.run(desk.look_at_tools(access, found.id))
    tools = desk.tools.listed(access.scope, found.id)
    here.show_table(
        [_tool_document(each) for each in tools],
        ["Tool", "State", "Risk", "Argument", "Role", "Proposed"],
        [row for each in tools for row in _tool_rows(each)],
        empty="No tools seen yet. Use --ask to ask the server what it offers.",
    )


@app.in_project("accept-tool")
def accept_tool(
    here: Here,
    connection: ConnectionArgument,
    tool: Annotated[str, typer.Argument(help="Name of the tool on the server.")],
    *,
    role: Annotated[
        list[str],
        typer.Option("--role", help="What an argument is for, as PATH=ROLE; several."),
    ] = [],  # noqa: B006
    proposed: Annotated[
        bool, typer.Option("--proposed", help="Confirm the proposed roles of the other arguments.")
    ] = False,
) -> None:
    """Let agents call a tool as it was seen last, and confirm what its arguments are for.

    Arguments without a confirmed role count as the strictest: only a person or an approved plan can give their values.
    """
    desk, access = here.steward.connections, here.access
    found = _found(here.steward, access, connection)
    known = desk.tools.find(access.scope, found.id, tool)
    if known is None or known.seen is None:
        raise Invalid(
            f"{found.name} offers no tool {tool!r}. 'steward connections tools' lists them."
        )
    roles = {path: each for path, each in _proposed(known).items() if each} if proposed else {}
    roles |= dict(_pairs(role))
    hashes = {tool: known.seen.hash}
    accept_tools(desk, access, found.id, hashes, {tool: roles} if roles else {})
    accepted = desk.tools.find(access.scope, found.id, tool) or known
    left = [path for path in _proposed(accepted) if path not in (accepted.roles or {})]
    strict = f" Still the strictest: {', '.join(left)}." if left else ""
    here.show(_tool_document(accepted), lambda: f"Accepted {tool} of {found.name}.{strict}")


@app.in_project("sign-in")
def sign_in(here: Here, connection: ConnectionArgument) -> None:
    """Sign in to a service with a code that you type on another device."""
    steward = here.steward
    found = _found(steward, here.access, connection)
    signs = steward.connections.service_sign_ins
    secrets = steward.connections.open(here.scope, found).secrets

    async def signed_in() -> None:
        device = await signs.start_on_device(here.access, found, secrets)
        progress(f"Open {plain(device.address)} and type the code {plain(device.code)}")
        loop = asyncio.get_running_loop()
        end = loop.time() + device.seconds
        while not await signs.finish_on_device(here.access, found, secrets, device):
            if loop.time() >= end:
                raise Denied("Nobody agreed before the code ended. Start again.", code="too-late")
            await asyncio.sleep(device.interval)

    asyncio.run(signed_in())
    status = steward.connections.sign_in_status(here.scope, found)
    here.show(
        {"connection": found.name, "state": status.state if status else None},
        lambda: f"Signed in to {found.name}.",
    )


@app.in_project("sign-out")
def sign_out(here: Here, connection: ConnectionArgument) -> None:
    """Forget the tokens of a connection."""
    found = _found(here.steward, here.access, connection)
    asyncio.run(here.steward.connections.sign_out(here.access, found.id))
    here.show({"connection": found.name}, lambda: f"Signed out of {found.name}.")


@app.in_project("remove")
def remove(
    here: Here,
    connection: ConnectionArgument,
    *,
    restore: Annotated[
        bool, typer.Option("--restore", help="Bring a removed one back, by its id.")
    ] = False,
) -> None:
    """Remove a connection; --restore with its id brings it back."""
    steward, access = here.steward, here.access
    if restore:
        found = steward.connections.documents.restore(access, connection)
    else:
        found = _found(steward, access, connection)
        steward.connections.documents.delete(access, found.id)
    done = "Restored" if restore else "Removed"
    back = "" if restore else f" 'steward connections remove --restore {found.id}' brings it back."
    here.show(
        {"id": found.id, "name": found.name, "removed": not restore},
        lambda: f"{done} {found.name}.{back}",
    )


def _accept_program(steward: Steward, access: Access, name: str) -> Connection:
    found = _found(steward, access, name)
    if found.program is None:
        raise Invalid(f"The connection {found.name!r} starts no program.")
    # Whoever types this holds the machine; what is started is in the answer.
    return steward.connections.accept_program(access, found.id, program_hash(found.program))


def _found(steward: Steward, access: Access, text: str) -> Connection:
    documents = steward.connections.documents
    if text.startswith("con_"):
        return documents.get(access.scope, text)
    return documents.named(access.scope, text)


def _proposed(tool: ServerTool) -> dict[str, str | None]:
    schema = without_roles(tool.shown.arguments)
    return {path: role and role.value for path, role in propose_roles(schema).items()}


def _tool_document(tool: ServerTool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.shown.description,
        "state": tool.state,
        "risk": tool.risk,
        "roles": dict(tool.roles) if tool.roles is not None else None,
        "proposed": _proposed(tool),
    }


def _tool_rows(tool: ServerTool) -> list[tuple[Any, ...]]:
    confirmed = tool.roles or {}
    rows = [(path, confirmed.get(path), role) for path, role in _proposed(tool).items()]
    first, *rest = rows or [("", None, None)]
    return [
        (tool.name, tool.state, tool.risk, *first),
        *((None, None, None, *each) for each in rest),
    ]


def _document(connection: Connection) -> dict[str, Any]:
    return {
        "id": connection.id,
        "name": connection.name,
        "kind": connection.kind,
        "place": connection.place,
        "settings": dict(connection.settings),
        "secrets": dict(connection.secrets),
        "scope_hint": connection.scope_hint,
        "state": connection.state,
        "checked_at": connection.checked_at,
        "program": list(connection.program or ()) or None,
        "program_accepted": connection.program_is_accepted,
    }


def _proposal(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "kind": proposal.kind,
        "name": proposal.name,
        "found_in": proposal.found_in,
        "settings": dict(proposal.settings),
        "secrets": proposal.masked,
        "missing": list(proposal.missing),
        "note": proposal.note,
        "refused": proposal.refused,
    }


def _settings_text(proposal: Proposal) -> str:
    known = [f"{key}={value}" for key, value in proposal.settings.items()]
    return ", ".join([*known, *(f"{key}={value}" for key, value in proposal.masked.items())])


def _missing(proposal: Proposal) -> str:
    return f"say --set {proposal.missing[0]}=…" if proposal.missing else ""


def _pairs(texts: Sequence[str]) -> list[tuple[str, str]]:
    pairs = [text.partition("=") for text in texts]
    wrong = [name for name, mark, _ in pairs if not mark or not name]
    if wrong:
        raise Invalid(f"Write NAME=VALUE; {wrong[0]!r} is not that.")
    return [(name, value) for name, _, value in pairs]


def _value(text: str) -> Any:
    """Numbers, lists and objects by their JSON; everything else is text."""
    found = json_or_text(text)
    return text if isinstance(found, str) else found


def _typed(field: str) -> str:
    if sys.stdin.isatty():
        return str(typer.prompt(field, hide_input=True))
    return sys.stdin.readline().rstrip("\n")
