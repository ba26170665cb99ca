"""`steward skills`: what agents of a project know how to do; add, check, switch, export."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.agents.skills import Skills, check, read_folder
from steward.agents.skills.archives import skills_in, unpack
from steward.cli.output import AsJson, command, fail, installation, show, table
from steward.cli.projects import ProjectOption, UserOption, enter
from steward.core.errors import Invalid
from steward.identity import Access

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="Name of a skill.")]
Source = Annotated[
    Path, typer.Argument(help="A skill's folder, a folder of skills, or a zip.", exists=True)
]


@app.command("list")
@command
def list_skills(
    *, project: ProjectOption = None, user: UserOption = None, as_json: AsJson = False
) -> None:
    """List the skills of a project, built-in ones included."""
    with installation() as steward:
        access = enter(steward, user, project)
        found = steward.skills.listed(access.scope)
    show(
        [asdict(each) for each in found],
        as_json=as_json,
        text=lambda: table(
            ["Name", "From", "Version", "On", "When to use it"],
            [
                (
                    each.name,
                    each.origin.value + (" (instead of the built-in one)" if each.shadows else ""),
                    each.version or None,
                    each.enabled,
                    _short(each.description),
                )
                for each in found
            ],
            empty="There are no skills.",
        ),
    )


@app.command("show")
@command
def show_skill(
    name: Name,
    file: Annotated[str, typer.Argument(help="A file of it.")] = "SKILL.md",
    *,
    version: Annotated[int | None, typer.Option(help="An earlier version; 0: built-in.")] = None,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Print a skill's instructions, or another of its files."""
    with installation() as steward:
        access = enter(steward, user, project)
        skill = steward.skills.get(access.scope, name, version)
    content = skill.files.get(file)
    if content is None:
        raise Invalid(f"The skill has no file {file!r}. It has: {', '.join(skill.files)}.")
    document = {
        "name": name,
        "version": skill.version,
        "files": list(skill.files),
        "tools": list(skill.tool_names),
        "text": content.decode("utf-8", "replace"),
    }
    show(document, as_json=as_json, text=lambda: str(document["text"]).rstrip())


@app.command("add")
@command
def add(
    source: Source,
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Make new versions of skills that exist.")
    ] = False,
    message: Annotated[str, typer.Option(help="Why it changes.")] = "",
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Add skills from a folder, such as a Git checkout, or from a zip archive."""
    found = _read(source)
    with installation() as steward:
        access = enter(steward, user, project)
        said = message or f"Added from {source.name}"
        saved = steward.skills.bring_files(access, found, said, replace=replace)
    show(
        [asdict(each) for each in saved],
        as_json=as_json,
        text=lambda: "\n".join(f"{each.name}: version {each.version}" for each in saved),
    )


@app.command("enable")
@command
def enable(
    name: Name,
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Switch a skill on."""
    _switch(name, project, user, enabled=True, as_json=as_json)


@app.command("disable")
@command
def disable(
    name: Name,
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Switch a skill off: no agent sees it or its tools any more."""
    _switch(name, project, user, enabled=False, as_json=as_json)


@app.command("export")
@command
def export(
    name: Name,
    file: Annotated[Path, typer.Argument(help="Where to write the zip archive.")],
    *,
    version: Annotated[int | None, typer.Option(help="An earlier version; 0: built-in.")] = None,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Write a skill as a zip archive; the same version gives the same bytes."""
    with installation() as steward:
        access = enter(steward, user, project)
        content = steward.skills.export(access.scope, name, version)
    file.write_bytes(content)
    document = {"name": name, "file": str(file), "bytes": len(content)}
    show(document, as_json=as_json, text=lambda: f"{file}: {len(content):,} bytes")


@app.command("check")
@command
def check_source(source: Source, *, as_json: AsJson = False) -> None:
    """Check skills on disk without adding them; needs no project."""
    faults: list[str] = []
    warnings: list[str] = []
    for folder, files in _read(source):
        found = check(files, folder)
        where = f"{folder}/" if folder else ""
        faults += [where + str(fault) for fault in found.faults]
        warnings += [f"{where}{fault} (a warning)" for fault in found.warnings]
    if faults:
        fail("\n".join(["Not valid:", *faults, *warnings]), "skill", as_json=as_json)
    document = {"valid": True, "warnings": warnings}
    show(document, as_json=as_json, text=lambda: "\n".join(["Valid.", *warnings]))


def _read(source: Path) -> list[tuple[str | None, dict[str, bytes]]]:
    return read_folder(source) if source.is_dir() else skills_in(unpack(source.read_bytes()))


def _switch(
    name: str, project: str | None, user: str | None, *, enabled: bool, as_json: bool
) -> None:
    with installation() as steward:
        access: Access = enter(steward, user, project)
        skills: Skills = steward.skills
        changed = skills.switch(access, name, enabled=enabled)
    document: dict[str, Any] = asdict(changed)
    show(document, as_json=as_json, text=lambda: f"{name} is {'on' if enabled else 'off'}.")


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"
