"""`steward network`: which places may be called for a project, and for every project of its organisation."""

import asyncio
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from steward.cli.direct import call
from steward.cli.projects import Group, Here
from steward.connections import resolve_by_system
from steward.core import Denied, check_reach
from steward.flows import DirectCall
from steward.identity import Role

app = Group()


class Level(StrEnum):
    project = "project"
    organisation = "organisation"


@app.in_project("show")
def show_network(here: Here) -> None:
    """Show the rules of the project and of its organisation."""
    _require_admin(here)
    found = here.steward.connections.network.levels(here.scope)
    rows = [
        (
            each.name,
            "everything" if each.rules.allow is None else " ".join(each.rules.allow) or "nothing",
            " ".join(each.rules.deny) or "–",
            "yes" if each.rules.programs or not each.rules.says_something else "no",
        )
        for each in found
    ]
    headings = ["Policy of the", "Allowed", "Denied", "Programs"]
    here.show_table([asdict(each) for each in found], headings, rows, empty="")


@app.in_project("set")
def set_network(
    here: Here,
    *,
    allow: Annotated[
        list[str] | None, typer.Option(help="A place that may be called; then no other one may.")
    ] = None,
    deny: Annotated[list[str] | None, typer.Option(help="A place that must not be called.")] = None,
    nothing: Annotated[bool, typer.Option("--nothing", help="Allow no place at all.")] = False,
    programs: Annotated[
        bool,
        typer.Option("--programs", help="Let connections start programs in spite of the rules."),
    ] = False,
    level: Annotated[Level, typer.Option(help="Whose policy.")] = Level.project,
) -> None:
    """Replace the rules: hosts, networks and ports, such as *.example.com:443. Without any, all may be called."""
    current = here.steward.connections.network.current(here.scope, level)
    arguments = {
        "level": level.value,
        "allow": allow or ([] if nothing else None),
        "deny": deny or [],
        "programs": programs,
        "revision": current.revision,
    }
    title = f"Change the network policy of the {level}"
    done = call(here, DirectCall("change_network", arguments, title=title), Role.admin)
    here.show(
        {**done.value, "run": done.run.id},
        lambda: f"Saved. It counts from now on. To undo: steward runs undo {done.run.id}",
    )


@app.in_project("try")
def try_network(
    here: Here,
    host: Annotated[str, typer.Argument(help="A host or an address.")],
    port: Annotated[int, typer.Argument(min=1, max=65_535)] = 443,
) -> None:
    """Say whether the rules let a host be called. A name is looked up first; nothing is called."""
    _require_admin(here)
    levels = here.steward.connections.network.levels(here.scope)
    found = asyncio.run(resolve_by_system(host, port))
    try:
        check_reach(levels, host, port, found)
        reason = None
    except Denied as refused:
        reason = refused.message
    here.show(
        {"allowed": reason is None, "reason": reason, "addresses": found},
        lambda: reason or f"{host}:{port} may be called.",
    )


def _require_admin(here: Here) -> None:
    if here.access.role < Role.admin:
        raise Denied("Only admins of the project may see its network policy.")
