"""`steward skills`: what agents of a project know how to do; add, check, switch, export."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from steward.agents.skills import check, read_folder, skills_in, unpack
from steward.cli.output import AsJson, fail, show
from steward.cli.projects import Group, Here
from steward.core import Invalid

app = Group()

Name = Annotated[str, typer.Argument(help="Name of a skill.")]
Source = Annotated[
    Path, typer.Argument(help="A skill's folder, a folder of skills, or a zip.", exists=True)
]


@app.in_project("list")
def list_skills(
    here: Here,
) -> None:
    """List the skills of a project, built-in ones included."""
    found = here.steward.skills.listed(here.scope)
    here.show_table(
        [asdict(each) for each in found],
        ["Name", "From", "Version", "On", "When to use it"],
        [
            (
                each.name,
                each.origin.value + (" (instead of the built-in one)" if each.shadows else ""),
                each.version or None,
                each.enabled,
                (each.description if len(each.description) <= 80 else each.description[:79] + "…"),
            )
            for each in found
        ],
        empty="There are no skills.",
    )


@app.in_project("show")
def show_skill(
    here: Here,
    name: Name,
    file: Annotated[str, typer.Argument(help="A file of it.")] = "SKILL.md",
    *,
    version: Annotated[int | None, typer.Option(help="An earlier version; 0: built-in.")] = None,
) -> None:
    """Print a skill's instructions, or another of its files."""
    skill = here.steward.skills.get(here.scope, name, version)
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
    here.show(document, lambda: str(document["text"]).rstrip())


@app.in_project("add")
def add(
    here: Here,
    source: Source,
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Make new versions of skills that exist.")
    ] = False,
    message: Annotated[str, typer.Option(help="Why it changes.")] = "",
) -> None:
    """Add skills from a folder, such as a Git checkout, or from a zip archive."""
    found = _read(source)
    said = message or f"Added from {source.name}"
    saved = here.steward.skills.bring_files(here.access, found, said, replace=replace)
    here.show(
        [asdict(each) for each in saved],
        lambda: "\n".join(f"{each.name}: version {each.version}" for each in saved),
    )


@app.in_project("enable")
def enable(
    here: Here,
    name: Name,
) -> None:
    """Switch a skill on."""
    _switch(here, name, enabled=True)


@app.in_project("disable")
def disable(
    here: Here,
    name: Name,
) -> None:
    """Switch a skill off: no agent sees it or its tools any more."""
    _switch(here, name, enabled=False)


@app.in_project("export")
def export(
    here: Here,
    name: Name,
    file: Annotated[Path, typer.Argument(help="Where to write the zip archive.")],
    *,
    version: Annotated[int | None, typer.Option(help="An earlier version; 0: built-in.")] = None,
) -> None:
    """Write a skill as a zip archive; the same version gives the same bytes."""
    content = here.steward.skills.export(here.scope, name, version)
    file.write_bytes(content)
    document = {"name": name, "file": str(file), "bytes": len(content)}
    here.show(document, lambda: f"{file}: {len(content):,} bytes")


@app.on_machine("check")
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


def _switch(here: Here, name: str, *, enabled: bool) -> None:
    changed = here.steward.skills.switch(here.access, name, enabled=enabled)
    here.show(asdict(changed), lambda: f"{name} is {'on' if enabled else 'off'}.")
