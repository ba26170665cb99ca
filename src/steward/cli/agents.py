"""`steward agents`: the agents of a project; list, show, apply, export, try; what they remember."""

from pathlib import Path
from typing import Annotated, Any

import typer

from steward.agents import agent_from_yaml, agent_to_yaml
from steward.cli.direct import call
from steward.cli.projects import Group, Here
from steward.core import Conflict, Invalid, error_from_json, read_yaml
from steward.flows import DirectCall, agent_trial
from steward.runs import Status

app = Group()
Name = Annotated[str, typer.Argument(help="Name of an agent; NAME@3 is its third version.")]

BareName = Annotated[str, typer.Argument(metavar="NAME", help="Name of an agent.")]


@app.in_project("list")
def list_agents(here: Here) -> None:
    """List the agents that flows can name."""
    found = here.steward.agents.listed(here.scope)
    here.show_table(
        [
            {
                "name": each.agent.name,
                "title": each.agent.title,
                "description": each.agent.description,
                "origin": each.origin,
                "version": each.version,
            }
            for each in found
        ],
        ["Name", "From", "Version", "When to choose it"],
        [
            (each.agent.name, each.origin, each.version or None, each.agent.description)
            for each in found
        ],
        empty="There are no agents.",
    )


@app.in_project("show")
def show_agent(here: Here, name: Name) -> None:
    """Print an agent as YAML."""
    agent = here.steward.agents.find(here.scope, name)
    here.show(agent.model_dump(mode="json"), lambda: agent_to_yaml(agent).rstrip())


@app.in_project("apply")
def apply_agents(
    here: Here,
    files: Annotated[list[Path], typer.Argument(help="Agents as YAML files.", exists=True)],
    *,
    message: Annotated[str, typer.Option(help="Why they change.")] = "",
) -> None:
    """Save agents from files; a file that changes nothing makes no version."""
    said = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        agent = agent_from_yaml(text, file.name)
        current = here.steward.agents.current(here.scope, agent.name)
        if current is not None and current.agent == agent:
            said.append({"name": agent.name, "version": current.version, "changed": False})
            continue
        arguments: dict[str, Any] = {
            "name": agent.name,
            "document": read_yaml(text),
            "message": message or f"Applied from {file.name}",
            "version": current.version if current is not None else 0,
        }
        done = call(here, DirectCall("change_agent", arguments, title=f"Save {agent.name}"))
        made = {"name": agent.name, "version": done.value["version"], "changed": True}
        said.append({**made, "run": done.run.id})
    here.show(
        said,
        lambda: "\n".join(
            f"{each['name']}: version {each['version']}"
            + ("" if each["changed"] else ", nothing to change")
            for each in said
        ),
    )


@app.in_project("export")
def export_agent(
    here: Here,
    name: Name,
    file: Annotated[Path, typer.Argument(help="Where to write it, as YAML.")],
) -> None:
    """Write an agent to a file that `steward agents apply` reads."""
    agent = here.steward.agents.find(here.scope, name)
    file.write_text(agent_to_yaml(agent), encoding="utf-8")
    here.show({"name": agent.name, "file": str(file)}, lambda: f"Wrote {file}.")


@app.in_project("notes")
def list_notes(here: Here, name: BareName) -> None:
    """List what an agent remembers between runs: the project's notes and your own."""
    here.steward.agents.versions(here.scope, name)
    found = here.steward.agents.notes.visible(here.scope, name, here.access.user_id)
    here.show_table(
        [
            {
                "id": each.id,
                "number": each.number,
                "text": each.text,
                "per": "person" if each.person else "project",
                "run": each.run_id,
                "created_at": each.created_at.isoformat(),
            }
            for each in found
        ],
        ["Note", "Id", "Written by run", "Text"],
        [(each.number, each.id, each.run_id, each.text) for each in found],
        empty="It remembers nothing yet.",
    )


@app.in_project("forget")
def delete_notes(
    here: Here,
    name: BareName,
    notes: Annotated[
        list[str] | None, typer.Argument(help="Notes by id, as 'steward agents notes' lists them.")
    ] = None,
    *,
    all_notes: Annotated[bool, typer.Option("--all", help="All that you can see.")] = False,
) -> None:
    """Delete notes of an agent; undoing the run brings them back."""
    if bool(notes) is all_notes:
        raise Invalid("Name the notes to delete, or say --all.")
    wanted = DirectCall(
        "delete_notes", {"agent": name, "notes": notes or None}, title=f"Delete notes of {name}"
    )
    done = call(here, wanted)
    count = done.value["deleted"]
    here.show({"run": done.run.id, **done.value}, lambda: f"Deleted {count} notes.")


@app.in_project("try")
def try_agent(
    here: Here,
    name: Name,
    task: Annotated[str, typer.Argument(help="What it should do.")],
    *,
    context: Annotated[
        str, typer.Option("--context", help="Data it works on, as JSON or YAML.")
    ] = "",
) -> None:
    """Run an agent alone with a test input, here and now, and print its answer."""
    steward = here.steward
    agent = steward.agents.find(here.scope, name)
    start = agent_trial(agent, name, task, read_yaml(context) if context else None)
    run = steward.governing.launcher.start(here.access, start)
    steward.runs.drive_until_idle()
    run = steward.runs.get(here.scope, run.id)
    ended = steward.runs.outcome(here.scope, run.id)
    if run.status is Status.failed:
        raise error_from_json(ended["error"])
    if run.status is not Status.done:
        waits = f": {run.reason}" if run.reason else ""
        raise Conflict(f"The run {run.id} is not over{waits}. See 'steward inbox'.", code="waits")
    answer = ended["output"]
    here.show(
        {"run": run.id, "answer": answer},
        lambda: answer if isinstance(answer, str) else _shown(answer),
    )


def _shown(answer: Any) -> str:
    from steward.core import dump_yaml

    if answer is None:
        raise Invalid("The agent gave no answer.")
    return dump_yaml(answer).rstrip()
