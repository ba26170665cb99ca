"""`steward audit`: the event log taken out for other systems, and files of it checked."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from steward.cli.output import AsJson, installation, show
from steward.cli.projects import Group, Here
from steward.core import Denied
from steward.identity import Role
from steward.observe import AuditFormat, check_seal
from steward.store import PublicKeys

app = Group()


@app.in_project("export")
def export(
    here: Here,
    *,
    form: Annotated[
        AuditFormat, typer.Option("--format", help="jsonl: CloudEvents; cef: for a SIEM.")
    ] = AuditFormat.jsonl,
    after: Annotated[
        int, typer.Option(min=0, help="Cursor of the last event that you have; 0: all events.")
    ] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write; unset: standard output.")
    ] = None,
) -> None:
    """Write the event log of a project, with a signed seal as the last line."""
    if here.access.role < Role.admin:
        raise Denied("Only admins of the project may export its event log.")
    audit = here.steward.observations.audit
    lines = audit.lines(here.scope, form, by=here.access.user_id, after=after)
    if out is None:
        for line in lines:
            sys.stdout.write(line)
        return
    count = -1
    with out.open("w", encoding="utf-8", newline="") as file:
        for line in lines:
            file.write(line)
            count += 1
    here.show({"file": str(out), "events": count}, lambda: f"{count:,} events in {out}.")


@app.on_machine("verify")
def verify(
    file: Annotated[Path, typer.Argument(help="An exported file.", exists=True)],
    *,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key", help="Public key of the installation; unset: this one's.", exists=True
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that an exported file holds every line that was exported, unchanged."""
    if key is not None:
        keys = PublicKeys.from_pem(key.read_text())
    else:
        with installation() as steward:
            keys = steward.runs.heads.keys
    found = check_seal(file.read_text(encoding="utf-8").removesuffix("\n").split("\n"), keys)
    document = {
        "intact": found.is_intact,
        "project": found.project,
        "events": found.events,
        "last": found.last,
        "head": found.head,
        "reason": found.reason,
    }

    def text() -> str:
        if not found.is_intact:
            return f"The file is not what was exported: {found.reason}."
        head = f" The last signed head then: {found.head}." if found.head else ""
        return f"{found.events:,} events of {found.project}, all as exported.{head}"

    show(document, as_json=as_json, text=text)
    if not found.is_intact:
        raise typer.Exit(1)
