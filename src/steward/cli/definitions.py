"""`steward definitions`: what words mean in a project."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from steward.cli.direct import call
from steward.cli.projects import Group, Here
from steward.core import Invalid, read_yaml
from steward.definitions import confirmed_entry, planned_changes, to_entries
from steward.definitions.formats import Format, export_definitions, import_definitions
from steward.flows import DirectCall

app = Group()
Entries = Annotated[
    list[str], typer.Argument(help="Entries such as /metrics/revenue; none means all proposed.")
]


@app.in_project("show")
def show_definitions(
    here: Here,
    table_name: Annotated[
        str | None, typer.Argument(metavar="TABLE", help="Only this table.")
    ] = None,
    *,
    proposed: Annotated[bool, typer.Option("--proposed", help="Only what waits for you.")] = False,
) -> None:
    """List definitions with their states and the reasons for them."""
    merged = here.steward.definitions.merged(here.scope, here.access.user_id)
    entries = {
        name: value
        for name, value in to_entries(merged, every_table=True).items()
        if (table_name is None or name.startswith(f"/tables/{table_name}"))
        and not (proposed and "state" in value)
    }
    rows = [
        (name, _said(value), value.get("state", "proposed"), value.get("why", ""))
        for name, value in entries.items()
    ]
    here.show_table(
        {"entries": entries}, ["Entry", "Says", "State", "Why"], rows, empty="No definitions."
    )


def _said(value: dict[str, Any]) -> str:
    shown = ("role", "total", "unit", "row", "formula", "over", "where", "say")
    return ", ".join(f"{name} {value[name]}" for name in shown if value.get(name))


@app.in_project("confirm")
def confirm_definitions(here: Here, entries: Entries = []) -> None:  # noqa: B006
    """Confirm definitions as they are; without names, all that are proposed."""
    _decide(here, entries, "confirmed")


@app.in_project("reject")
def reject_definitions(here: Here, entries: Entries) -> None:
    """Reject definitions: questions are not read by them, and they are not proposed again."""
    _decide(here, entries, "rejected")


def _decide(here: Here, entries: list[str], state: Literal["confirmed", "rejected"]) -> None:
    decided = here.steward.definitions.decided(
        here.scope, here.access.user_id, state, entries or None
    )
    _change(here, [{"entry": name, "value": value} for name, value in decided], "")


@app.in_project("set")
def set_definition(
    here: Here,
    entry: Annotated[str, typer.Argument(help="Such as /metrics/revenue.")],
    value: Annotated[str, typer.Argument(help="The whole entry as YAML; `null` removes it.")],
    *,
    message: Annotated[str, typer.Option(help="Why it changes.")] = "",
) -> None:
    """Set one definition, as confirmed by you."""
    given = read_yaml(value)
    if given is not None and not isinstance(given, dict):
        raise Invalid('A definition is an object, such as "{role: measure, total: sum}".')
    document = None if given is None else confirmed_entry(given)
    _change(here, [{"entry": entry, "value": document}], message)


@app.in_project("history")
def definition_history(here: Here) -> None:
    """List revisions, newest first."""
    found = here.steward.definitions.history(here.scope)
    rows = [(each.revision, each.created_at, each.author, each.message) for each in found]
    here.show_table(
        {
            "items": [
                {
                    "revision": each.revision,
                    "created_at": each.created_at.isoformat() if each.created_at else None,
                    "author": each.author,
                    "message": each.message,
                }
                for each in found
            ]
        },
        ["Revision", "When", "Who", "Why"],
        rows,
        empty="Nothing changed yet.",
    )


@app.in_project("export")
def export_file(
    here: Here,
    file: Annotated[Path, typer.Argument(help="Where to write it.")],
    *,
    file_format: Annotated[
        str, typer.Option("--format", help="steward, ossie or dbt.")
    ] = "steward",
) -> None:
    """Write the definitions to a file and tell what its format cannot say."""
    kinds: dict[str, Format] = {"steward": "steward", "ossie": "ossie", "dbt": "dbt"}
    if file_format not in kinds:
        raise Invalid("The format is steward, ossie or dbt.")
    effective = here.steward.definitions.effective(here.scope, here.access.user_id)
    exported = export_definitions(effective, kinds[file_format])
    file.write_text(exported.text, encoding="utf-8")
    here.show(
        {"file": str(file), "losses": exported.losses},
        lambda: "\n".join([f"Wrote {file}.", *exported.losses]),
    )


@app.in_project("import")
def import_file(
    here: Here,
    file: Annotated[
        Path, typer.Argument(help="A file of Steward, Apache Ossie or dbt.", exists=True)
    ],
) -> None:
    """Take in definitions from a file, as confirmed by you; entries that it does not name stay."""
    found = import_definitions(file.read_text(encoding="utf-8"))
    current = here.steward.definitions.current(here.scope).definitions
    wanted = [(name, confirmed_entry(each)) for name, each in to_entries(found.definitions).items()]
    changes = planned_changes(current, wanted)
    _change(
        here,
        [{"entry": each.entry, "value": each.after} for each in changes],
        f"Imported from {file.name}",
        found.losses,
    )


def _change(
    here: Here, changes: list[dict[str, Any]], message: str, losses: list[str] | None = None
) -> None:
    if not changes:
        document = {"changed": 0, "losses": losses or []}
        here.show(document, lambda: "Nothing to change.")
        return
    arguments = {"changes": changes, "message": message[:400]}
    done = call(here, DirectCall("change_definitions", arguments, title="Change definitions"))
    said = [f"Revision {done.value['revision']}: {done.value['changed']} changed."]
    here.show(
        {**done.value, "run": done.run.id, "losses": losses or []},
        lambda: "\n".join([*said, *(losses or [])]),
    )
