"""`steward playbooks` and `steward blueprints`: the library from the terminal."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from steward.cli import playbooks_archive, playbooks_deploying
from steward.cli.output import AsJson, installation, show, table
from steward.cli.projects import Group, Here
from steward.cli.values import json_object
from steward.playbooks import (
    LARGEST_ZIP,
    Change,
    State,
    is_zip,
    packed,
    read_bytes,
    read_source,
    unpacked,
    write_private,
)

app = Group()
app.add_typer(playbooks_archive.app)
app.add_typer(playbooks_deploying.app)
blueprints = Group()
Name = Annotated[str, typer.Argument(help="Id of the playbook, as its document has it.")]


@app.in_project("list")
def list_playbooks(
    here: Here,
    *,
    query: Annotated[str, typer.Option("--search", help="Words in name, goal or folder.")] = "",
    archived: Annotated[bool, typer.Option("--archived", help="Archived ones instead.")] = False,
    deleted: Annotated[
        bool, typer.Option("--deleted", help="Deleted ones instead, that can be brought back.")
    ] = False,
) -> None:
    """List the playbooks that the person may see."""
    states = (State.archived,) if archived else (State.draft, State.active)
    library = here.steward.playbooks.library
    cards = library.listed(here.access, text=query, states=states, deleted=deleted, limit=10_000)
    here.show_table(
        [asdict(card) for card in cards],
        ["Playbook", "Name", "Folder", "State", "Newest", "Deployed"],
        [(c.slug, c.name, c.folder, c.state.value, c.head, c.deployed) for c in cards],
        empty="No playbooks. Fork one with 'steward blueprints fork', or import a file.",
    )


@app.in_project("show")
def show_playbook(
    here: Here,
    name: Name,
    *,
    revision: Annotated[int | None, typer.Option(help="Number; unset: the newest.")] = None,
) -> None:
    """Print a playbook as YAML."""
    library = here.steward.playbooks.library
    card = library.get(here.access, name)
    text = library.text(here.access, card.id, revision)
    here.show({**asdict(card), "yaml": text}, lambda: text.rstrip("\n"))


@app.in_project("run")
def run_playbook(
    here: Here,
    name: Name,
    *,
    inputs: Annotated[str, typer.Option("--inputs", help="Inputs as one JSON object.")] = "{}",
    revision: Annotated[int | None, typer.Option(help="Number; unset: the deployed one.")] = None,
    branch: Annotated[str, typer.Option(help="Branch of the data to work on.")] = "main",
    drive: Annotated[
        bool, typer.Option("--drive", help="Drive it here and now, without a server.")
    ] = False,
) -> None:
    """Start a run of a playbook."""
    given = json_object(inputs, "--inputs")
    steward, access = here.steward, here.access
    run = steward.playbooks.running.start(access, name, given, revision=revision, branch=branch)
    if drive:
        steward.runs.drive_until_idle()
    run = steward.runs.get(access.scope, run.id)
    reason = f": {run.reason}" if run.reason else ""
    here.show(asdict(run), lambda: f"{run.id}  {run.status.value}{reason}")


@app.in_project("import")
def import_playbooks(
    here: Here,
    source: Annotated[
        Path, typer.Argument(help="A file, a folder of files, or a zip as the export makes it.")
    ],
    *,
    trial: Annotated[
        bool, typer.Option("--trial", help="Only tell what would become of each file.")
    ] = False,
    mine: Annotated[
        bool, typer.Option("--mine", help="Leave out owner and sharing; they become yours.")
    ] = False,
    deploy: Annotated[
        bool,
        typer.Option("--deploy", help="Deploy what the files of 'export --deployed' say."),
    ] = False,
) -> None:
    """Take playbooks in, all of them or none; a second time changes nothing."""
    exchange = here.steward.playbooks.exchange
    if source.is_dir():
        done = exchange.read_folder(here.access, source, mine=mine, trial=trial)
    else:
        content = read_bytes(source, LARGEST_ZIP)
        found = unpacked(content) if is_zip(content) else [read_source(source.parent, source)]
        done = exchange.bring_in_all(here.access, found, mine=mine, trial=trial)
    if deploy and source.is_dir() and not trial:
        done += here.steward.playbooks.deployment_files.read(here.access, source, done)
    rows = [(each.name, each.change.value, each.reason or "") for each in done]
    here.show_table(
        [{"name": name, "change": change, "reason": reason} for name, change, reason in rows],
        ["File", "What", "Why"],
        rows,
        empty="There are no YAML files.",
    )
    refused = sum(each.change is Change.refused for each in done)
    if refused:
        files = "a file is" if refused == 1 else f"{refused} files are"
        typer.echo(f"Nothing was imported: {files} refused.", err=True)
        raise typer.Exit(1)


@app.in_project("export")
def export_playbooks(
    here: Here,
    folder: Annotated[
        Path, typer.Argument(help="Where to; made when it is missing. A name with .zip: one zip.")
    ],
    *,
    deployed: Annotated[
        bool,
        typer.Option("--deployed", help="Beside each, which version is deployed and what it pins."),
    ] = False,
) -> None:
    """Write every playbook the person sees as a file of its own, for Git."""
    if folder.suffix.lower() == ".zip" and not folder.is_dir():
        write_private(folder, packed(here.steward.playbooks.exchange.files(here.access)))
        here.show([str(folder)], lambda: str(folder))
        return
    playbooks = here.steward.playbooks
    written = playbooks.exchange.write_folder(here.access, folder)
    if deployed:
        written += playbooks.deployment_files.write(here.access, folder)
    names = [str(path) for path in written]
    here.show(names, lambda: "\n".join(names) or "No playbooks to write.")


@blueprints.on_machine("list")
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


@blueprints.in_project("fork")
def fork_blueprint(
    here: Here,
    blueprint: Annotated[str, typer.Argument(help="Id of the blueprint.")],
    *,
    sample: Annotated[
        bool, typer.Option("--sample", help="Load its sample data too, to try it on.")
    ] = False,
) -> None:
    """Make a draft playbook from a blueprint."""
    shelf = here.steward.playbooks.blueprints
    loaded = asyncio.run(shelf.load_sample(here.access, blueprint)) if sample else {}
    card = shelf.fork(here.access, blueprint)
    inputs = shelf.get(blueprint).sample.inputs
    given = f" --inputs '{json.dumps(inputs)}'" if sample and inputs else ""
    said = [
        *(f"Loaded {name}." for name, is_new in loaded.items() if is_new),
        *(f"{name} was there and is as it was." for name, is_new in loaded.items() if not is_new),
        f"{card.slug} is a draft now. Try it: steward playbooks run {card.slug}{given} --drive",
    ]
    here.show({**asdict(card), "sample": loaded}, lambda: "\n".join(said))
