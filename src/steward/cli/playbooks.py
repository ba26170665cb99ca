"""`steward playbooks` and `steward blueprints`: the library from the terminal."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from steward.app import Steward
from steward.cli.output import AsJson, command, installation, show, table
from steward.cli.projects import ProjectOption, UserOption, enter
from steward.core.errors import Invalid
from steward.identity import Access
from steward.playbooks import Change, State
from steward.playbooks.exchange import Imported, read_file
from steward.runs import Run

app = typer.Typer(no_args_is_help=True)
blueprints = typer.Typer(no_args_is_help=True)
T = TypeVar("T")
Name = Annotated[str, typer.Argument(help="Id of the playbook, as its document has it.")]


def _inside(user: str | None, project: str | None, work: Callable[[Steward, Access], T]) -> T:
    with installation() as steward:
        return work(steward, enter(steward, user, project))


@app.command("list")
@command
def list_playbooks(
    *,
    query: Annotated[str, typer.Option("--search", help="Words in name, goal or folder.")] = "",
    archived: Annotated[bool, typer.Option("--archived", help="Archived ones instead.")] = False,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """List the playbooks that the person may see."""
    states = (State.archived,) if archived else (State.draft, State.active)
    cards = _inside(
        user,
        project,
        lambda steward, access: steward.playbooks.library.listed(
            access, text=query, states=states, limit=10_000
        ),
    )
    show(
        [asdict(card) for card in cards],
        as_json=as_json,
        text=lambda: table(
            ["Playbook", "Name", "Folder", "State", "Newest", "Deployed"],
            [(c.slug, c.name, c.folder, c.state.value, c.head, c.deployed) for c in cards],
            empty="No playbooks. Fork one with 'steward blueprints fork', or import a file.",
        ),
    )


@app.command("show")
@command
def show_playbook(
    name: Name,
    *,
    revision: Annotated[int | None, typer.Option(help="Number; unset: the newest.")] = None,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Print a playbook as YAML."""

    def work(steward: Steward, access: Access) -> dict[str, Any]:
        library = steward.playbooks.library
        card = library.get(access, name)
        return {**asdict(card), "yaml": library.text(access, card.id, revision)}

    found = _inside(user, project, work)
    show(found, as_json=as_json, text=lambda: found["yaml"].rstrip("\n"))


@app.command("run")
@command
def run_playbook(
    name: Name,
    *,
    inputs: Annotated[str, typer.Option("--inputs", help="Inputs as one JSON object.")] = "{}",
    revision: Annotated[int | None, typer.Option(help="Number; unset: the deployed one.")] = None,
    branch: Annotated[str, typer.Option(help="Branch of the data to work on.")] = "main",
    drive: Annotated[
        bool, typer.Option("--drive", help="Drive it here and now, without a server.")
    ] = False,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Start a run of a playbook."""
    given = _object(inputs)

    def work(steward: Steward, access: Access) -> Run:
        run = steward.playbooks.running.start(access, name, given, revision=revision, branch=branch)
        if drive:
            steward.runs.drive_until_idle()
        return steward.runs.get(access.scope, run.id)

    run = _inside(user, project, work)
    reason = f": {run.reason}" if run.reason else ""
    show(asdict(run), as_json=as_json, text=lambda: f"{run.id}  {run.status.value}{reason}")


@app.command("import")
@command
def import_playbooks(
    source: Annotated[Path, typer.Argument(help="A file, or a folder of files.")],
    *,
    mine: Annotated[
        bool, typer.Option("--mine", help="Leave out owner and sharing; they become yours.")
    ] = False,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Take playbooks in; a second time changes nothing."""

    def work(steward: Steward, access: Access) -> list[Imported]:
        exchange = steward.playbooks.exchange
        if source.is_dir():
            return exchange.read_folder(access, source, mine=mine)
        return [exchange.bring_in(access, read_file(source), mine=mine)]

    done = _inside(user, project, work)
    rows = [(each.name, each.change.value, each.reason or "") for each in done]
    show(
        [{"name": name, "change": change, "reason": reason} for name, change, reason in rows],
        as_json=as_json,
        text=lambda: table(["Playbook", "What", "Why"], rows, empty="There are no YAML files."),
    )
    if any(each.change is Change.refused for each in done):
        raise typer.Exit(1)


@app.command("export")
@command
def export_playbooks(
    folder: Annotated[Path, typer.Argument(help="Where to; made when it is missing.")],
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Write every playbook the person sees as a file of its own, for Git."""
    written = _inside(
        user,
        project,
        lambda steward, access: steward.playbooks.exchange.write_folder(access, folder),
    )
    names = [str(path) for path in written]
    show(names, as_json=as_json, text=lambda: "\n".join(names) or "No playbooks to write.")


@app.command("deploy")
@command
def deploy_playbook(
    name: Name,
    *,
    revision: Annotated[int | None, typer.Option(help="Number; unset: the newest.")] = None,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Make a revision the one that people and triggers run."""
    card = _inside(
        user,
        project,
        lambda steward, access: steward.playbooks.deploying.deploy(access, name, revision),
    )
    show(asdict(card), as_json=as_json, text=lambda: f"Revision {card.deployed} is deployed.")


@app.command("rollback")
@command
def roll_back_playbook(
    name: Name, *, project: ProjectOption = None, user: UserOption = None, as_json: AsJson = False
) -> None:
    """Deploy what was deployed before."""
    card = _inside(
        user, project, lambda steward, access: steward.playbooks.deploying.roll_back(access, name)
    )
    show(asdict(card), as_json=as_json, text=lambda: f"Revision {card.deployed} is deployed again.")


@blueprints.command("list")
@command
def list_blueprints(*, as_json: AsJson = False) -> None:
    """List blueprints by category."""
    with installation() as steward:
        shelf = steward.playbooks.blueprints.shelf()
    found = sorted(shelf.blueprints.values(), key=lambda each: (each.category, each.title))
    rows = [(each.category, each.id, each.title) for each in found]
    broken = "".join(f"\n{each.file} is left out: {each.reason}" for each in shelf.broken)
    show(
        [each.model_dump(mode="json", exclude={"playbook", "sample"}) for each in found],
        as_json=as_json,
        text=lambda: table(["Category", "Blueprint", "Title"], rows, empty="None.") + broken,
    )


@blueprints.command("fork")
@command
def fork_blueprint(
    blueprint: Annotated[str, typer.Argument(help="Id of the blueprint.")],
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Make a draft playbook from a blueprint."""
    card = _inside(
        user,
        project,
        lambda steward, access: steward.playbooks.blueprints.fork(access, blueprint),
    )
    show(
        asdict(card),
        as_json=as_json,
        text=lambda: f"{card.slug} is a draft now. Try it: steward playbooks run {card.slug}",
    )


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        raise Invalid("--inputs is not JSON.") from None
    if not isinstance(found, dict):
        raise Invalid('--inputs is a JSON object, as in \'{"dataset": "orders"}\'.')
    return found
