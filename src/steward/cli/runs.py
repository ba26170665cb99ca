"""`steward runs`: what ran, replayed, forked, exported, undone."""

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.agents import as_markdown, dossier
from steward.cli.output import table
from steward.cli.projects import Group, Here
from steward.cli.values import json_object, json_or_text
from steward.core import Invalid
from steward.flows import Start
from steward.runs import Run, calls_of

app = Group()
RunArgument = Annotated[str, typer.Argument(help="Id of the run.")]


@app.in_project("ls")
def list_runs(
    here: Here,
    *,
    status: Annotated[
        list[str] | None, typer.Option("--status", help="Only runs with this status.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many at most.")] = 30,
) -> None:
    """List runs, newest first."""
    runs = here.steward.runs.records.listed(here.scope, statuses=status or (), limit=limit)
    here.show_table(
        [asdict(run) for run in runs],
        ["Run", "Title", "Status", "Started", "Waits for"],
        [(r.id, r.title, r.status.value, r.created_at, r.reason) for r in runs],
        empty="No runs yet. Start one with 'steward runs start FLOW.yaml'.",
    )


@app.in_project("start")
def start_run(
    here: Here,
    flow: Annotated[Path, typer.Argument(help="A flow as YAML or JSON.", exists=True)],
    *,
    inputs: Annotated[str, typer.Option("--inputs", help="Inputs as one JSON object.")] = "{}",
    branch: Annotated[str, typer.Option(help="Branch of the data to work on.")] = "main",
    drive: Annotated[
        bool, typer.Option("--drive", help="Drive it here and now, without a server.")
    ] = False,
) -> None:
    """Check a flow and put it in the queue."""
    start = Start(flow.read_text(encoding="utf-8"), json_object(inputs, "--inputs"), branch=branch)
    run = here.steward.governing.launcher.start(here.access, start)
    if drive:
        here.steward.runs.drive_until_idle()
    _show_state(here, here.steward.runs.get(here.scope, run.id))


@app.in_project("show")
def show_run(here: Here, run_id: RunArgument) -> None:
    """Tell what a run did, call by call."""
    runs = here.steward.runs
    run = runs.get(here.scope, run_id)
    calls = calls_of(runs.journal.entries(here.scope, run_id), runs.payload)
    outcome = runs.outcome(here.scope, run_id)

    def text() -> str:
        rows = [
            (c.key, c.tool or "–", c.state, c.summary or (c.error or {}).get("message", ""))
            for c in calls
        ]
        head = f"{run.title} ({run.id}): {run.status.value}"
        return head + "\n\n" + table(["Step", "Tool", "State", "What"], rows, empty="No calls.")

    document = {"run": asdict(run), "calls": [asdict(c) for c in calls], "outcome": outcome}
    here.show(document, text)


@app.in_project("replay")
def replay_run(here: Here, run_id: RunArgument) -> None:
    """Drive the record again without model, network or clock; print every difference."""
    report = asyncio.run(here.steward.runs.replay(here.scope, run_id))

    def text() -> str:
        if report.is_same:
            return f"No difference in {report.entries} entries and {report.steps} steps."
        return table(
            ["Step", "Difference", "Recorded", "Replayed"],
            [(d.key, d.what, d.recorded, d.replayed) for d in report.divergences],
            empty="",
        )

    here.show(asdict(report), text)
    if not report.is_same:
        raise typer.Exit(1)


@app.in_project("fork")
def fork_run(
    here: Here,
    run_id: RunArgument,
    *,
    at: Annotated[
        str | None, typer.Option("--at", help="Step to fork before; unset: at the end.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="A change, as in /inputs/limit=5; the value is JSON or text."),
    ] = None,
) -> None:
    """Start a run that shares the history before a step and goes on with changes, on a branch of its own."""
    wanted = dict(_change(item) for item in changes or ())
    forking = here.steward.governing.forking
    _show_state(here, forking.fork(here.access, run_id, at=at, changes=wanted))


@app.in_project("diff")
def diff_runs(
    here: Here,
    left: RunArgument,
    right: Annotated[str, typer.Argument(help="Id of the other run.")],
) -> None:
    """Show two runs side by side."""
    found = here.steward.runs.diff(here.scope, left, right)
    here.show_table(
        [asdict(item) for item in found],
        ["Step", "Same", "Left", "Right"],
        [(d.key, d.same, _short(d.left), _short(d.right)) for d in found],
        empty="Neither run has steps.",
    )


@app.in_project("undo")
def undo_action(
    here: Here,
    run_id: RunArgument,
    key: Annotated[
        str | None, typer.Argument(help="The action to take back; unset: the last one.")
    ] = None,
    *,
    redo: Annotated[bool, typer.Option("--redo", help="Put an undone action back.")] = False,
) -> None:
    """Take back what a run did."""
    undoing = here.steward.governing.undoing
    if key is None:
        actions = [a for a in undoing.actions(here.scope, run_id) if a.undone == redo]
        if not actions:
            raise Invalid(f"The run has nothing left to {'put' if redo else 'take'} back.")
        key = actions[-1].key
    turn = undoing.redo if redo else undoing.undo
    action = asyncio.run(turn(here.access, run_id, key))
    verb = "Redone" if redo else "Undone"
    here.show(asdict(action), lambda: f"{verb}: {action.summary}")


@app.in_project("dossier")
def show_dossier(here: Here, run_id: RunArgument) -> None:
    """Show what was planned, tried, approved and found in a run, from its journal alone."""
    runs = here.steward.runs
    entries = list(runs.journal.entries(here.scope, run_id))
    found = dossier(runs.get(here.scope, run_id), entries, runs.payload)
    here.show(found, lambda: as_markdown(found))


@app.in_project("export")
def export_run(
    here: Here,
    run_id: RunArgument,
    file: Annotated[Path, typer.Argument(help="Where to write the capsule.")],
) -> None:
    """Write a run into one file: journal, payloads, artifacts."""
    content = here.steward.runs.export(here.scope, run_id)
    file.write_bytes(content)
    document = {"file": str(file), "bytes": len(content)}
    here.show(document, lambda: f"Wrote {file} ({len(content):,} bytes).")


@app.in_project("import")
def import_run(
    here: Here, file: Annotated[Path, typer.Argument(help="A capsule.", exists=True)]
) -> None:
    """Take in a run from a capsule, after checking every entry of it."""
    run = here.steward.runs.bring_in(here.scope, file.read_bytes())
    here.show(asdict(run), lambda: f"{run.id}  {run.title}")


@app.in_project("pause")
def pause_run(here: Here, run_id: RunArgument) -> None:
    """Stop a run before its next step."""
    _control(here, "pause", run_id, "pauses before its next step")


@app.in_project("resume")
def resume_run(here: Here, run_id: RunArgument) -> None:
    """Let a paused run go on."""
    _control(here, "resume", run_id, "goes on")


@app.in_project("cancel")
def cancel_run(here: Here, run_id: RunArgument) -> None:
    """End a run, and the runs it started, before their next step."""
    _control(here, "cancel", run_id, "ends before its next step")


def _control(here: Here, action: str, run_id: str, said: str) -> None:
    run = here.steward.runs.records.control(here.scope, run_id, action, here.access.user_id)
    here.show(asdict(run), lambda: f"{run.id} {said}.")


def _show_state(here: Here, run: Run) -> None:
    here.show(asdict(run), lambda: f"{run.id}  {run.status.value}")


def _change(text: str) -> tuple[str, Any]:
    pointer, equals, value = text.partition("=")
    if not equals:
        raise Invalid(f"{text!r} is not a change; write /inputs/name=value.")
    return pointer, json_or_text(value)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
