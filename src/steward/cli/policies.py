"""`steward policy`: which rule decides, and what a change would have meant."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from steward.cli.projects import Group, Here

app = Group()


@app.in_project("check")
def check(
    here: Here,
    tool: Annotated[str, typer.Argument(help="Name of a tool.")],
    *,
    destination: Annotated[str | None, typer.Option(help="To whom it would send.")] = None,
    untrusted: Annotated[
        bool, typer.Option("--untrusted", help="As if its arguments came from foreign content.")
    ] = False,
) -> None:
    """Explain what would be decided about a call, and by which rule."""
    found: dict[str, Any] = here.steward.governing.judging.check(
        here.access, tool, destination=destination, untrusted_arguments=untrusted
    )
    here.show(found, lambda: f"{found['outcome']}\n\n{found['explanation']}")


@app.in_project("show")
def show_policy(
    here: Here,
    level: Annotated[str, typer.Argument(help="organisation or project.")] = "project",
) -> None:
    """Print the policy in force."""
    found = here.steward.governing.rulebook.current(here.scope, level)
    document = {"level": level, "revision": found.revision, "text": found.text}
    here.show(document, lambda: found.text or "No policy at this level.")


@app.in_project("simulate")
def simulate(
    here: Here,
    file: Annotated[Path, typer.Argument(help="A Cedar text.", exists=True)],
    *,
    level: Annotated[str, typer.Option(help="organisation or project.")] = "project",
) -> None:
    """List past calls that a changed policy would decide otherwise; nothing is saved."""
    text = file.read_text(encoding="utf-8")
    found = here.steward.governing.judging.simulate(here.access, level, text)
    here.show_table(
        found,
        ["Run", "Step", "Tool", "Now", "Then", "Looser"],
        [(i["run_id"], i["key"], i["tool"], i["before"], i["after"], i["looser"]) for i in found],
        empty="No past call would be decided otherwise.",
    )


@app.in_project("save")
def save(
    here: Here,
    file: Annotated[Path, typer.Argument(help="A Cedar text.", exists=True)],
    *,
    level: Annotated[str, typer.Option(help="organisation or project.")] = "project",
    message: Annotated[str, typer.Option(help="Why it changes.")] = "",
) -> None:
    """Save a policy as a new revision, after checking it."""
    text = file.read_text(encoding="utf-8")
    rulebook = here.steward.governing.rulebook
    current = rulebook.current(here.scope, level)
    saved = rulebook.save(here.access, level, text, current.revision, message=message)
    document = {"level": level, "revision": saved.revision}
    here.show(document, lambda: f"Saved as revision {saved.revision}.")


@app.in_project("safe-mode")
def safe_mode(
    here: Here,
    state: Annotated[
        Literal["on", "off"] | None, typer.Argument(help="Leave out to see how it is.")
    ] = None,
) -> None:
    """Switch safe mode on or off: while it is on, somebody approves every change before it is made."""
    rulebook = here.steward.governing.rulebook
    settings = rulebook.settings(here.scope)
    if state is not None:
        settings = rulebook.change_settings(here.access, settings.revision, safe_mode=state == "on")
    said = "on" if settings.safe_mode else "off"
    here.show({"safe_mode": settings.safe_mode}, lambda: f"Safe mode is {said}.")
