"""`steward playbooks deploy`, `rollback`, `canary`, `shadow`, `compare`, `retry`: versions of a playbook, and which of them runs."""

import json
from dataclasses import asdict
from typing import Annotated, Literal

import typer

from steward.cli.output import table
from steward.cli.projects import Group, Here
from steward.cli.values import json_object
from steward.core import Invalid
from steward.playbooks import Comparison, Wish

app = Group(no_args_is_help=False)
Name = Annotated[str, typer.Argument(help="Id of the playbook, as its document has it.")]
Message = Annotated[str, typer.Option("--message", "-m", help="Why, for the list.")]


@app.in_project("deploy")
def deploy_playbook(
    here: Here,
    name: Name,
    *,
    revision: Annotated[int | None, typer.Option(help="Number; unset: the newest.")] = None,
    message: Message = "",
    check: Annotated[
        bool, typer.Option("--check", help="Only run the checks and tell what would be pinned.")
    ] = False,
    despite_tests: Annotated[
        bool, typer.Option("--despite-tests", help="Also where tests have another result.")
    ] = False,
) -> None:
    """Make a revision the one that people and triggers run, with everything around it pinned."""
    deploying = here.steward.playbooks.deploying
    if check:
        found = deploying.prepare(here.access, name, revision)
        rows = [(each.check, each.state, each.message) for each in found.checks]
        pins = [(pin.kind, pin.name, pin.version, pin.hash[:12]) for pin in found.pins]
        here.show(
            asdict(found),
            lambda: "\n".join(
                [
                    table(["Check", "State", "What"], rows, empty="No checks."),
                    table(["Part", "Name", "Version", "Hash"], pins, empty="Nothing to pin."),
                ]
            ),
        )
        if not found.may_deploy:
            raise typer.Exit(1)
        return
    card = deploying.deploy(here.access, name, revision, message, despite_tests=despite_tests)
    here.show(asdict(card), lambda: f"Revision {card.deployed} is deployed.")


@app.in_project("rollback")
def roll_back_playbook(
    here: Here,
    name: Name,
    *,
    to: Annotated[
        int | None, typer.Option(help="Number of a deployment; unset: the one before.")
    ] = None,
    message: Message = "",
) -> None:
    """Deploy what was deployed before, with every part as it was pinned then."""
    deploying = here.steward.playbooks.deploying
    card = deploying.roll_back(here.access, name, to=to, message=message)
    here.show(asdict(card), lambda: f"Revision {card.deployed} is deployed again.")


@app.in_project("deployments")
def list_deployments(here: Here, name: Name) -> None:
    """List the deployments of a playbook, newest first."""
    found = here.steward.playbooks.deploying.listed(here.access, name, limit=1_000)
    rows = [
        (each.number, each.kind, each.revision, each.created_at.isoformat(), each.message)
        for each in found
    ]
    heads = ["Deployment", "How", "Revision", "When", "Message"]
    here.show_table([asdict(each) for each in found], heads, rows, empty="It was never deployed.")


@app.in_project("canary")
def try_playbook(
    here: Here,
    name: Name,
    *,
    revision: Annotated[int | None, typer.Option(help="Number; unset: the newest.")] = None,
    percent: Annotated[int, typer.Option(min=1, max=99, help="Its share of the runs.")] = 10,
    end: Annotated[bool, typer.Option("--end", help="End the trial.")] = False,
    message: Message = "",
) -> None:
    """Give a revision a share of the runs; the others stay with the deployed one."""
    deploying = here.steward.playbooks.deploying
    if end:
        card = deploying.end_trial(here.access, name)
        here.show(asdict(card), lambda: f"All runs are of revision {card.deployed} again.")
        return
    card = deploying.try_out(here.access, name, revision, percent=percent, message=message)
    tried = (card.canary or {}).get("revision")
    here.show(asdict(card), lambda: f"Revision {tried} gets {percent}% of the runs.")


@app.in_project("shadow")
def shadow_playbook(
    here: Here,
    name: Name,
    *,
    revision: Annotated[int | None, typer.Option(help="Number; unset: the newest.")] = None,
    percent: Annotated[
        int, typer.Option(min=1, max=100, help="The share of runs that get a shadow.")
    ] = 100,
    spend: Annotated[bool, typer.Option("--spend", help="Let its agents ask models.")] = False,
    end: Annotated[bool, typer.Option("--end", help="End it; comparisons stay.")] = False,
    message: Message = "",
) -> None:
    """Repeat runs of the deployed version with another one, without effects, and compare both."""
    shadows, access = here.steward.playbooks.shadows, here.access
    found = (
        shadows.end(access, name)
        if end
        else shadows.start(access, name, revision, percent=percent, spend=spend, message=message)
    )
    told = "has ended" if end else f"gets {percent}% of the runs as a shadow"
    here.show(asdict(found), lambda: f"Revision {found.revision} {told}.")


@app.in_project("comparisons")
def list_comparisons(here: Here, name: Name) -> None:
    """List the runs that a version repeated in shadow, and what differs."""
    shadows = here.steward.playbooks.shadows
    items = shadows.comparisons(here.access, name, limit=1_000)
    shadow = shadows.found(here.access, name)
    rows = [
        (
            each.live_id,
            each.shadow_id or "",
            each.state if each.equal is None else "equal" if each.equal else "different",
            each.problem or "; ".join(f"{one.kind} {one.at}" for one in each.differences[:5]),
        )
        for each in items
    ]
    told = f"{shadow.equal} of {shadow.compared} equal" if shadow else ""
    here.show(
        [asdict(each) for each in items],
        lambda: (
            table(["Live run", "Shadow", "Outcome", "What differs"], rows, empty="No runs yet.")
            + f"\n{told}"
        ),
    )


@app.in_project("test")
def rehearse_playbook(
    here: Here,
    name: Name,
    *,
    inputs: Annotated[
        str | None, typer.Option("--inputs", help="One JSON object; unset: made from the schema.")
    ] = None,
    revision: Annotated[int | None, typer.Option(help="Number; unset: the newest.")] = None,
    mocks: Annotated[
        str, typer.Option("--mocks", help="Outputs by step that stand in, as one JSON object.")
    ] = "{}",
    like: Annotated[
        str | None, typer.Option(help="A run whose outputs stand in for what is not done.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="The last step to run.")] = None,
    keep: Annotated[
        str, typer.Option(help="Keep it as a test under this name; deploying runs it.")
    ] = "",
) -> None:
    """Run a playbook without effects: on a branch of the data, nothing sent and nothing spent."""
    rehearsals, access = here.steward.playbooks.rehearsals, here.access
    given = (
        json_object(inputs, "--inputs")
        if inputs is not None
        else rehearsals.inputs(access, name)[0].value
    )
    wish = Wish(
        inputs=given,
        revision=revision,
        mocks=json_object(mocks, "--mocks"),
        like=like,
        until=until,
    )
    run = rehearsals.start(access, name, wish)
    here.steward.runs.drive_until_idle()
    found = rehearsals.results(access, name, run.id)
    if keep:
        rehearsals.keep(access, name, run.id, keep)
    rows = [
        (each.key, each.state, "changed" if each.differs else "", json.dumps(each.output)[:60])
        for each in found.nodes
    ]
    reason = f": {found.run.reason}" if found.run.reason else ""
    here.show(
        asdict(found),
        lambda: (
            table(
                ["Step", "State", "Since the last good run", "Output"], rows, empty="No step ran."
            )
            + f"\n{run.id}  {found.run.status.value}{reason}"
        ),
    )


@app.in_project("compare")
def compare_revisions(
    here: Here,
    name: Name,
    left: Annotated[int, typer.Argument(help="Number of a revision.")],
    right: Annotated[int, typer.Argument(help="Number of another one.")],
) -> None:
    """Show what differs between two revisions, node by node and field by field."""
    found = here.steward.playbooks.deploying.comparison(here.access, name, left, right)
    here.show(asdict(found), lambda: _comparison_text(found))


def _comparison_text(found: Comparison) -> str:
    lines = []
    for node in found.nodes:
        lines.append(f"{node.state} {node.key} ({node.type})")
        lines += [f"  {each.pointer}: {each.before!r} → {each.after!r}" for each in node.fields]
    lines += [f"{edge.state} {edge.before} → {edge.after}" for edge in found.edges]
    lines += [f"{each.pointer}: {each.before!r} → {each.after!r}" for each in found.settings]
    for part in found.parts:
        before, after = (
            "none" if pin is None else f"{pin.version} {pin.hash[:8]}".strip()
            for pin in (part.before, part.after)
        )
        lines.append(f"{part.kind} {part.name}: {before} → {after}")
    if found.placed:
        lines.append(f"drawn elsewhere: {', '.join(found.placed)}")
    return "\n".join(lines) or "They do the same."


@app.in_project("retry")
def retry_runs(
    here: Here,
    name: Name,
    runs: Annotated[list[str], typer.Argument(help="Ids of runs that are over.")],
    *,
    version: Annotated[
        str, typer.Option(help="'same', 'deployed', or the number of a revision.")
    ] = "same",
    at: Annotated[
        str | None, typer.Option("--from", help="A step: what was done before it is kept.")
    ] = None,
    from_failure: Annotated[
        bool, typer.Option("--from-failure", help="Go on at the step at which each one failed.")
    ] = False,
    drive: Annotated[
        bool, typer.Option("--drive", help="Drive them here and now, without a server.")
    ] = False,
) -> None:
    """Run again what has ended."""
    done = here.steward.playbooks.retries.retry(
        here.access, name, runs, version=_version(version), at=at, from_failure=from_failure
    )
    if drive:
        here.steward.runs.drive_until_idle()
    rows = [(each.source, each.run.id if each.run else "", each.problem or "") for each in done]
    here.show_table(
        [asdict(each) for each in done], ["Run", "Again as", "Why not"], rows, empty="No runs."
    )
    if any(each.run is None for each in done):
        raise typer.Exit(1)


def _version(text: str) -> Literal["same", "deployed"] | int:
    match text:
        case "same" | "deployed":
            return text
        case _ if text.isdigit():
            return int(text)
    raise Invalid(f"A version is 'same', 'deployed' or a number; {text[:40]!r} is none.")
