"""`steward export` and `steward apply`: a project as files that Git can hold, and the way back."""

import json
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from steward.cli.direct import call
from steward.cli.output import plain, say
from steward.cli.projects import Here, in_project
from steward.core import Invalid
from steward.flows import DirectCall
from steward.playbooks import decoded, read_bytes
from steward.projects import LARGEST_FILE, Values, read_values

DIFFERS: Final = 3
"""How `--check` ends when the project and the folder differ."""
_SIGNS: Final = {"create": "+", "change": "~", "remove": "-"}
_LONGEST: Final = 100
_MOST_FIELDS: Final = 12
Folder = Annotated[Path, typer.Argument(help="Folder of the project, such as a Git repository.")]


@in_project
def export(
    here: Here,
    folder: Folder,
    *,
    prune: Annotated[
        bool, typer.Option("--prune", help="Delete files of things that the project does not have.")
    ] = False,
) -> None:
    """Write the project as files for Git: no ids, no secrets; a second time changes nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    written, gone = here.steward.project_code.write(here.access, folder, prune=prune)
    what = "deleted" if prune else "not in the project; --prune deletes it"
    lines = [*written, *(f"{name}  ({what})" for name in gone)]
    here.show(
        {"written": written, "gone": gone, "pruned": prune},
        lambda: "\n".join(lines) or "Nothing to write: the folder has it all.",
    )


@in_project
def apply(
    here: Here,
    folder: Folder,
    *,
    plan: Annotated[bool, typer.Option("--plan", help="Only show what would be done.")] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help=f"Only compare; ends with {DIFFERS} when they differ."),
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Also remove what the folder does not have.")
    ] = False,
    values: Annotated[
        Path | None, typer.Option("--values", help="YAML with what differs in this environment.")
    ] = None,
) -> None:
    """Make the project what a folder says: all of it or nothing, as one action that can be undone."""
    code = here.steward.project_code
    chosen = Values() if values is None else _values(values)
    found = code.plan(here.access, code.read(folder), chosen, prune=prune)
    document = found.to_json()
    if plan or check:
        here.show(document, lambda: shown(document))
        if check and found.differs:
            raise typer.Exit(DIFFERS)
        return
    if not found.is_new:
        here.show({**document, "run": None}, lambda: shown(document))
        return
    if not here.as_json:
        # Before it is made: what waits for an approval is worth reading, too.
        say(shown(document))
    wanted = DirectCall(
        "apply_project",
        found.arguments(),
        title=f"Apply {folder.resolve().name}",
        subject=found.subject,
        once=True,
    )
    done = call(here, wanted)
    here.show(
        {**document, "run": done.run.id},
        lambda: _done(len(found.changes), done.run.id),
    )


def _values(path: Path) -> Values:
    text = decoded(read_bytes(path, LARGEST_FILE), "file of values")
    try:
        return read_values(text)
    except Invalid as problem:
        raise Invalid(f"{path}: {problem.message}") from None


def _done(count: int, run: str) -> str:
    if not count:
        return "Steward remembers this folder as applied."
    return f"Applied. To take it back: steward undo {run}"


def shown(plan: dict[str, Any]) -> str:
    """A plan for people to read."""
    lines = []
    for each in plan["changes"]:
        lines.append(f"{_SIGNS[each['action']]} {each['kind']} {each['name']}{_since(each)}")
        if each["action"] == "change":
            lines += _fields(each["fields"])
    lines += [
        f"? {each['kind']} {each['name']}: only in the project{_since(each)}; --prune removes it"
        for each in plan["only_here"]
    ]
    lines += [f"Note: {each}" for each in plan["notes"]]
    counts = {name: sum(each["action"] == name for each in plan["changes"]) for name in _SIGNS}
    if not plan["changes"]:
        lines.append(f"Nothing to change. {plan['unchanged']} parts are as the folder has them.")
    else:
        lines.append(
            f"{counts['create']} to create, {counts['change']} to change, {counts['remove']} to remove, "
            f"{plan['unchanged']} unchanged."
        )
    return plain("\n".join(lines))


def _since(each: dict[str, Any]) -> str:
    match each["since"]:
        case "project":
            return "  (changed by hand in the project since the last apply)"
        case "both":
            return "  (changed in the folder, and by hand in the project, since the last apply)"
        case _:
            return ""


def _fields(fields: list[dict[str, Any]]) -> list[str]:
    lines = []
    for each in fields[:_MOST_FIELDS]:
        if each["lines"]:
            lines += [f"    {each['field']}", *(f"      {line}" for line in each["lines"])]
        else:
            lines.append(f"    {each['field']}: {_value(each['before'])} → {_value(each['after'])}")
    if len(fields) > _MOST_FIELDS:
        lines.append(f"    and {len(fields) - _MOST_FIELDS} more")
    return lines


def _value(value: Any) -> str:
    if value is None:
        return "(nothing)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
