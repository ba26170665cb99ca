"""`steward test`: runs as regression tests, replayed against what they must come out as."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.app import Steward
from steward.cli.output import AsJson, command, installation, show_table
from steward.cli.projects import Group, Here
from steward.core import StewardError
from steward.runs import unpack

app = Group(no_args_is_help=False, invoke_without_command=True)
ENDING = ".steward-test.zip"


@app.callback()
def run_tests(
    context: typer.Context,
    folder: Annotated[Path, typer.Option("--folder", help="Where the test files lie.")] = Path(
        "steward-tests"
    ),
    as_json: AsJson = False,
) -> None:
    """Replay every recorded test without model, network or clock."""
    if context.invoked_subcommand is None:
        _run_all(folder, as_json=as_json)


@command
def _run_all(folder: Path, *, as_json: bool) -> None:
    files = sorted(folder.glob(f"*{ENDING}"))
    with installation() as steward:
        results = [_result(steward, file) for file in files]
    failed = [item for item in results if item["problems"]]
    show_table(
        results,
        ["Test", "Steps", "Result"],
        [(r["file"], r["steps"], "; ".join(r["problems"]) or "passed") for r in results],
        empty=f"No tests in {folder}. Record one with 'steward test record RUN'.",
        as_json=as_json,
    )
    if failed:
        raise typer.Exit(1)


def _result(steward: Steward, file: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"file": file.name, "steps": 0, "problems": []}
    try:
        capsule = unpack(file.read_bytes())
        report = asyncio.run(steward.runs.replay_capsule(capsule))
    except StewardError as problem:
        found["problems"].append(problem.message)
        return found
    found["steps"] = report.steps
    found["problems"] += [f"{d.key}: {d.what}" for d in report.divergences]
    if capsule.expect is None:
        found["problems"].append("it is a capsule without expectations")
    elif report.ended != {"cancelled": "stopped"}.get(
        capsule.expect["status"], capsule.expect["status"]
    ):
        found["problems"].append(f"ended {report.ended}, expected {capsule.expect['status']}")
    return found


@app.in_project("record")
def record(
    here: Here,
    run_id: Annotated[str, typer.Argument(help="Id of a run that is over.")],
    *,
    folder: Annotated[Path, typer.Option("--folder", help="Where to write the test file.")] = Path(
        "steward-tests"
    ),
) -> None:
    """Turn a run into a regression test: one file with its journal and what it must come out as."""
    content = here.steward.runs.record_test(here.scope, run_id)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{run_id}{ENDING}"
    file.write_bytes(content)
    document = {"file": str(file), "bytes": len(content)}
    here.show(document, lambda: f"Wrote {file}. 'steward test' replays it.")
