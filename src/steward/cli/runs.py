"""`steward runs`: what ran, replayed, forked, verified, exported, undone."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from steward.agents.dossier import as_markdown, dossier
from steward.app import Steward
from steward.broker.story import story
from steward.cli.output import AsJson, command, installation, show, table
from steward.cli.projects import ProjectOption, UserOption, enter
from steward.core.errors import Invalid
from steward.flows.launch import Start
from steward.identity import Access
from steward.runs import Run

app = typer.Typer(no_args_is_help=True)
T = TypeVar("T")
RunArgument = Annotated[str, typer.Argument(help="Id of the run.")]


def _inside(user: str | None, project: str | None, work: Callable[[Steward, Access], T]) -> T:
    with installation() as steward:
        return work(steward, enter(steward, user, project))


@app.command("ls")
@command
def list_runs(
    *,
    status: Annotated[
        list[str] | None, typer.Option("--status", help="Only runs with this status.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many at most.")] = 30,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """List runs, newest first."""

    def work(steward: Steward, access: Access) -> list[Run]:
        return steward.runs.records.listed(access.scope, statuses=status or (), limit=limit)

    runs = _inside(user, project, work)
    show(
        [asdict(run) for run in runs],
        as_json=as_json,
        text=lambda: table(
            ["Run", "Title", "Status", "Started", "Waits for"],
            [(r.id, r.title, r.status.value, r.created_at, r.reason) for r in runs],
            empty="No runs yet. Start one with 'steward runs start FLOW.yaml'.",
        ),
    )


@app.command("start")
@command
def start_run(
    flow: Annotated[Path, typer.Argument(help="A flow as YAML or JSON.", exists=True)],
    *,
    inputs: Annotated[str, typer.Option("--inputs", help="Inputs as one JSON object.")] = "{}",
    branch: Annotated[str, typer.Option(help="Branch of the data to work on.")] = "main",
    drive: Annotated[
        bool, typer.Option("--drive", help="Drive it here and now, without a server.")
    ] = False,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Check a flow and put it in the queue."""
    given = _json(inputs, "--inputs")

    def work(steward: Steward, access: Access) -> Run:
        start = Start(flow.read_text(encoding="utf-8"), given, branch=branch)
        run = steward.governing.launcher.start(access, start)
        if drive:
            steward.runs.drive_until_idle()
        return steward.runs.get(access.scope, run.id)

    run = _inside(user, project, work)
    show(asdict(run), as_json=as_json, text=lambda: f"{run.id}  {run.status.value}")


@app.command("show")
@command
def show_run(
    run_id: RunArgument,
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a run did, call by call."""

    def work(steward: Steward, access: Access) -> dict[str, Any]:
        run = steward.runs.get(access.scope, run_id)
        calls = story(steward.runs.journal.entries(access.scope, run_id), steward.runs.payload)
        outcome = steward.runs.outcome(access.scope, run_id)
        return {"run": asdict(run), "calls": [asdict(c) for c in calls], "outcome": outcome}

    found = _inside(user, project, work)

    def text() -> str:
        run = found["run"]
        head = f"{run['title']} ({run['id']}): {run['status']}"
        rows = [
            (
                c["key"],
                c["tool"] or "–",
                c["state"],
                c["summary"] or (c["error"] or {}).get("message", ""),
            )
            for c in found["calls"]
        ]
        return head + "\n\n" + table(["Step", "Tool", "State", "What"], rows, empty="No calls.")

    show(found, as_json=as_json, text=text)


@app.command("replay")
@command
def replay_run(
    run_id: RunArgument,
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Drive the record again without model, network or clock; print every difference."""

    def work(steward: Steward, access: Access) -> Any:
        return asyncio.run(steward.runs.replay(access.scope, run_id))

    report = _inside(user, project, work)

    def text() -> str:
        if report.is_same:
            return f"No difference in {report.entries} entries and {report.steps} steps."
        return table(
            ["Step", "Difference", "Recorded", "Replayed"],
            [(d.key, d.what, d.recorded, d.replayed) for d in report.divergences],
            empty="",
        )

    show(asdict(report), as_json=as_json, text=text)
    if not report.is_same:
        raise typer.Exit(1)


@app.command("fork")
@command
def fork_run(
    run_id: RunArgument,
    *,
    at: Annotated[
        str | None, typer.Option("--at", help="Step to fork before; unset: at the end.")
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="A change, as in /inputs/limit=5; the value is JSON or text."),
    ] = None,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Start a run that shares the history before a step and goes on with changes, on a branch of its own."""
    wanted = dict(_change(item) for item in changes or ())

    def work(steward: Steward, access: Access) -> Run:
        return steward.governing.forking.fork(access, run_id, at=at, changes=wanted)

    run = _inside(user, project, work)
    show(asdict(run), as_json=as_json, text=lambda: f"{run.id}  {run.status.value}")


@app.command("diff")
@command
def diff_runs(
    left: RunArgument,
    right: Annotated[str, typer.Argument(help="Id of the other run.")],
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Show two runs side by side."""

    def work(steward: Steward, access: Access) -> Any:
        return steward.runs.diff(access.scope, left, right)

    found = _inside(user, project, work)
    show(
        [asdict(item) for item in found],
        as_json=as_json,
        text=lambda: table(
            ["Step", "Same", "Left", "Right"],
            [(d.key, d.same, _short(d.left), _short(d.right)) for d in found],
            empty="Neither run has steps.",
        ),
    )


@app.command("verify")
@command
def verify_runs(
    run_id: Annotated[str | None, typer.Argument(help="Id of the run; unset: all runs.")] = None,
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Check that journals are as they were written; name the first altered entry."""

    def work(steward: Steward, access: Access) -> list[dict[str, Any]]:
        ids = [run_id] if run_id else [r.id for r in _every_run(steward, access)]
        found = []
        for each in ids:
            damage = steward.runs.verify(access.scope, each)
            found.append({"run_id": each, "damage": asdict(damage) if damage else None})
        return found

    found = _inside(user, project, work)
    bad = [item for item in found if item["damage"]]

    def text() -> str:
        if not bad:
            return f"{len(found)} journals are as they were written."
        return "\n".join(
            f"{i['run_id']}: entry {i['damage']['seq']}: {i['damage']['reason']}" for i in bad
        )

    show(found, as_json=as_json, text=text)
    if bad:
        raise typer.Exit(1)


@app.command("undo")
@command
def undo_action(
    run_id: RunArgument,
    key: Annotated[
        str | None, typer.Argument(help="The action to take back; unset: the last one.")
    ] = None,
    *,
    redo: Annotated[bool, typer.Option("--redo", help="Put an undone action back.")] = False,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Take back what a run did."""

    def work(steward: Steward, access: Access) -> Any:
        undoing = steward.governing.undoing
        chosen = key
        if chosen is None:
            actions = [a for a in undoing.actions(access.scope, run_id) if a.undone == redo]
            if not actions:
                raise Invalid("The run has nothing left to take back.")
            chosen = actions[-1].key
        turn = undoing.redo if redo else undoing.undo
        return asyncio.run(turn(access, run_id, chosen))

    action = _inside(user, project, work)
    verb = "Redone" if redo else "Undone"
    show(asdict(action), as_json=as_json, text=lambda: f"{verb}: {action.summary}")


@app.command("dossier")
@command
def show_dossier(
    run_id: RunArgument,
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Show what was planned, tried, approved and found in a run, from its journal alone."""

    def work(steward: Steward, access: Access) -> dict[str, Any]:
        entries = list(steward.runs.journal.entries(access.scope, run_id))
        return dossier(steward.runs.get(access.scope, run_id), entries, steward.runs.payload)

    found = _inside(user, project, work)
    show(found, as_json=as_json, text=lambda: as_markdown(found))


@app.command("export")
@command
def export_run(
    run_id: RunArgument,
    file: Annotated[Path, typer.Argument(help="Where to write the capsule.")],
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Write a run into one file: journal, payloads, artifacts."""
    content = _inside(user, project, lambda s, a: s.runs.export(a.scope, run_id))
    file.write_bytes(content)
    document = {"file": str(file), "bytes": len(content)}
    show(document, as_json=as_json, text=lambda: f"Wrote {file} ({len(content):,} bytes).")


@app.command("import")
@command
def import_run(
    file: Annotated[Path, typer.Argument(help="A capsule.", exists=True)],
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Take in a run from a capsule, after checking every entry of it."""
    content = file.read_bytes()
    run = _inside(user, project, lambda s, a: s.runs.bring_in(a.scope, content))
    show(asdict(run), as_json=as_json, text=lambda: f"{run.id}  {run.title}")


def _control(action: str, run_id: str, project: str | None, user: str | None) -> Run:
    def work(steward: Steward, access: Access) -> Run:
        return steward.runs.records.control(access.scope, run_id, action, access.user_id)

    return _inside(user, project, work)


@app.command("pause")
@command
def pause_run(
    run_id: RunArgument,
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Stop a run before its next step."""
    run = _control("pause", run_id, project, user)
    show(asdict(run), as_json=as_json, text=lambda: f"{run.id} pauses before its next step.")


@app.command("resume")
@command
def resume_run(
    run_id: RunArgument,
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Let a paused run go on."""
    run = _control("resume", run_id, project, user)
    show(asdict(run), as_json=as_json, text=lambda: f"{run.id} goes on.")


@app.command("cancel")
@command
def cancel_run(
    run_id: RunArgument,
    *,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """End a run, and the runs it started, before their next step."""
    run = _control("cancel", run_id, project, user)
    show(asdict(run), as_json=as_json, text=lambda: f"{run.id} ends before its next step.")


def _every_run(steward: Steward, access: Access) -> list[Run]:
    found: list[Run] = []
    before: str | None = None
    while page := steward.runs.records.listed(access.scope, before=before, limit=200):
        found += page
        before = page[-1].id
    return found


def _change(text: str) -> tuple[str, Any]:
    pointer, equals, value = text.partition("=")
    if not equals:
        raise Invalid(f"{text!r} is not a change; write /inputs/name=value.")
    try:
        return pointer, json.loads(value)
    except ValueError:
        return pointer, value


def _json(text: str, option: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise Invalid(f"{option} is not JSON: {error}.") from None
    if not isinstance(found, dict):
        raise Invalid(f"{option} must be one JSON object.")
    return found


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
