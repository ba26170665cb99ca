"""`steward policy`: which rule decides, and what a change would have meant."""

from pathlib import Path
from typing import Annotated, Any

import typer

from steward.cli.output import AsJson, command, installation, show, table
from steward.cli.projects import ProjectOption, UserOption, enter

app = typer.Typer(no_args_is_help=True)


@app.command("check")
@command
def check(
    tool: Annotated[str, typer.Argument(help="Name of a tool.")],
    *,
    destination: Annotated[str | None, typer.Option(help="To whom it would send.")] = None,
    untrusted: Annotated[
        bool, typer.Option("--untrusted", help="As if its arguments came from foreign content.")
    ] = False,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Explain what would be decided about a call, and by which rule."""
    with installation() as steward:
        access = enter(steward, user, project)
        found: dict[str, Any] = steward.governing.judging.check(
            access, tool, destination=destination, untrusted_arguments=untrusted
        )
    show(found, as_json=as_json, text=lambda: f"{found['outcome']}\n\n{found['explanation']}")


@app.command("show")
@command
def show_policy(
    level: Annotated[str, typer.Argument(help="organisation or project.")] = "project",
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Print the policy in force."""
    with installation() as steward:
        access = enter(steward, user, project)
        found = steward.governing.rulebook.current(access.scope, level)
    document = {"level": level, "revision": found.revision, "text": found.text}
    show(document, as_json=as_json, text=lambda: found.text or "No policy at this level.")


@app.command("simulate")
@command
def simulate(
    file: Annotated[Path, typer.Argument(help="A Cedar text.", exists=True)],
    *,
    level: Annotated[str, typer.Option(help="organisation or project.")] = "project",
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """List past calls that a changed policy would decide otherwise; nothing is saved."""
    text = file.read_text(encoding="utf-8")
    with installation() as steward:
        access = enter(steward, user, project)
        found = steward.governing.judging.simulate(access, level, text)
    show(
        found,
        as_json=as_json,
        text=lambda: table(
            ["Run", "Step", "Tool", "Now", "Then", "Looser"],
            [
                (i["run_id"], i["key"], i["tool"], i["before"], i["after"], i["looser"])
                for i in found
            ],
            empty="No past call would be decided otherwise.",
        ),
    )


@app.command("save")
@command
def save(
    file: Annotated[Path, typer.Argument(help="A Cedar text.", exists=True)],
    *,
    level: Annotated[str, typer.Option(help="organisation or project.")] = "project",
    message: Annotated[str, typer.Option(help="Why it changes.")] = "",
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Save a policy as a new revision, after checking it."""
    text = file.read_text(encoding="utf-8")
    with installation() as steward:
        access = enter(steward, user, project)
        rulebook = steward.governing.rulebook
        current = rulebook.current(access.scope, level)
        saved = rulebook.save(access, level, text, current.revision, message=message)
    document = {"level": level, "revision": saved.revision}
    show(document, as_json=as_json, text=lambda: f"Saved as revision {saved.revision}.")
