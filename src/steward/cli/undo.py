"""`steward undo`: takes back a commit, or everything that a run did."""

import asyncio
from dataclasses import asdict
from typing import Annotated

import typer

from steward.broker import Whole
from steward.cli.direct import committed
from steward.cli.projects import Here, in_project
from steward.core import Invalid
from steward.flows import DirectCall

_RUN = "run_"


@in_project
def undo(
    here: Here,
    what: Annotated[str, typer.Argument(help="Id of a run or of a commit.")],
    *,
    branch: Annotated[str, typer.Option(help="Branch of the commit.")] = "main",
    with_later: Annotated[
        bool, typer.Option("--with-later", help="Also undo later changes that depend on it.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the changes only.")] = False,
) -> None:
    """Take back all that a run changed, or one commit. What cannot be undone is listed."""
    is_run = what.startswith(_RUN)
    if not (is_run or with_later or dry_run):
        commit = committed(here, DirectCall("undo", {"commit": what}, branch=branch))
        here.show(asdict(commit), lambda: f"{commit.id}  {commit.message}")
        return
    undoing = here.steward.governing.undoing
    whole = Whole(run_id=what) if is_run else Whole(commit=what, branch=branch)
    plan = undoing.plan_whole(here.scope, whole)
    steps = plan.steps if with_later or dry_run else plan.only_own()
    if not steps:
        raise Invalid("There is nothing left to take back.")
    if not dry_run:
        asyncio.run(undoing.take_back(here.access, whole, with_later=with_later))
    state = "would be taken back" if dry_run else "taken back"
    found = [
        {"key": s.key, "run": s.run_id, "summary": s.summary, "later": s.later, "left": None}
        for s in steps
    ]
    found += [
        {
            "key": a.key,
            "run": what,
            "summary": a.summary,
            "later": False,
            "left": "cannot be undone",
        }
        for a in plan.left
    ]
    rows = [
        (
            each["key"] or "",
            each["summary"],
            each["left"] or (f"{state} (later change)" if each["later"] else state),
        )
        for each in found
    ]
    here.show_table(found, ["Step", "What", "Now"], rows, empty="")
    if plan.left and not dry_run:
        raise typer.Exit(1)
