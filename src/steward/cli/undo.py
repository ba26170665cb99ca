"""`steward undo`: takes back a commit, or everything that a run did."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

import typer

from steward.app import Steward
from steward.broker.undo import Way
from steward.cli.direct import committed
from steward.cli.output import table
from steward.cli.projects import Here, in_project
from steward.core.errors import Conflict, Denied, Invalid
from steward.flows.direct_calls import DirectCall
from steward.identity import Access

_RUN = "run_"


@in_project
def undo(
    here: Here,
    what: Annotated[str, typer.Argument(help="Id of a run or of a commit.")],
    *,
    branch: Annotated[str, typer.Option(help="Branch of the commit.")] = "main",
) -> None:
    """Take back what a run did, newest first, or one commit; what cannot be taken back is named."""
    access = here.access
    if not what.startswith(_RUN):
        commit = committed(here, DirectCall("undo", {"commit": what}, branch=branch))
        here.show(asdict(commit), lambda: f"{commit.id}  {commit.message}")
        return
    found = _whole_run(here.steward, access, what)
    rows = [(each["key"], each["summary"], each["left"] or "taken back") for each in found]
    here.show(found, lambda: table(["Step", "What", "Now"], rows, empty=""))
    if any(each["left"] for each in found):
        raise typer.Exit(1)


def _whole_run(steward: Steward, access: Access, run_id: str) -> list[dict[str, Any]]:
    undoing = steward.governing.undoing
    actions = [each for each in undoing.actions(access.scope, run_id) if not each.undone]
    if not actions:
        raise Invalid("The run has nothing left to take back.")
    found: list[dict[str, Any]] = []
    for action in reversed(actions):
        left: str | None = None
        if action.way is Way.none and not action.commits and action.inverse is None:
            left = "cannot be taken back"
        else:
            try:
                asyncio.run(undoing.undo(access, run_id, action.key))
            except (Conflict, Denied) as problem:
                left = problem.message
        found.append({"key": action.key, "summary": action.summary, "left": left})
    return found
