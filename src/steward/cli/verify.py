"""`steward verify`: whether runs are what was written and signed, here or from a file with the public key alone."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.broker import approval_claim
from steward.cli.output import AsJson, command, installation, say, show
from steward.cli.projects import ProjectOption, enter
from steward.core import Invalid
from steward.runs import (
    KeptHead,
    ProjectVerification,
    Signing,
    Verification,
    payloads_in,
    unpack,
    verify_backup,
    verify_capsule,
)
from steward.store import PublicKeys, opened

_ZIP = b"PK"


@command
def verify(
    run_id: Annotated[str | None, typer.Argument(help="Id of a run; unset: all runs.")] = None,
    *,
    project: ProjectOption = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", help="Check this capsule or backup instead; needs --key.", exists=True
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", help="Public key of the installation that signed.", exists=True),
    ] = None,
    kept: Annotated[
        list[str] | None,
        typer.Option(
            "--kept",
            metavar="LINE:HASH",
            help="A signed head printed by an earlier check. Fails if the log no longer contains it.",
        ),
    ] = None,
    show_key: Annotated[
        bool, typer.Option("--show-key", help="Print the public key of this installation.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check entries, files, approvals, titles, authors and status of runs against their signatures."""
    if show_key:
        _show_key(as_json=as_json)
        return
    heads = frozenset(_kept_head(each) for each in kept or ())
    if file is not None:
        projects, runs = _offline(file, key, heads)
    else:
        projects, runs = _here(run_id, project, key, heads)
    if heads and runs:
        raise Invalid("--kept belongs to a check of a whole project. Leave out the run or capsule.")
    gone = sorted(
        f"{each.position}:{each.hash}"
        for each in heads.difference(*(project.log.kept for project in projects))
    )
    _report(projects, runs, gone, as_json=as_json)
    intact = [*(run.is_intact for run in runs), *(each.is_intact for each in projects)]
    if gone or not all(intact):
        raise typer.Exit(1)


def _kept_head(text: str) -> KeptHead:
    line, _, hash_ = text.partition(":")
    if not line.isdecimal() or not re.fullmatch("[0-9a-f]{64}", hash_):
        raise Invalid(
            f"--kept {text!r} is not a signed head. Copy it as 'steward verify' prints it: a line "
            "number, a colon and 64 characters."
        )
    return KeptHead(int(line), hash_)


def _show_key(*, as_json: bool) -> None:
    with installation() as steward:
        keys = steward.runs.heads.keys
    document = {"fingerprints": keys.fingerprints, "pem": keys.to_pem()}
    show(document, as_json=as_json, text=lambda: keys.to_pem().rstrip())


def _offline(
    file: Path, key: Path | None, kept: frozenset[KeptHead]
) -> tuple[list[ProjectVerification], list[Verification]]:
    if key is None:
        raise Invalid(
            "Say with --key which public key to check with. 'steward verify --show-key' prints it "
            "where the runs were made."
        )
    keys = PublicKeys.from_pem(key.read_text(errors="replace"))
    with file.open("rb") as content:
        is_capsule = content.read(2) == _ZIP
    if is_capsule:
        return [], [verify_capsule(unpack(file.read_bytes()), keys)]
    with opened(file, payloads_in) as contents:
        return verify_backup(contents, keys, approval_claim, kept), []


def _here(
    run_id: str | None, project: str | None, key: Path | None, kept: frozenset[KeptHead]
) -> tuple[list[ProjectVerification], list[Verification]]:
    if key is not None:
        raise Invalid("--key belongs to --file. Here the key of this installation is used.")
    with installation() as steward:
        runs = steward.runs
        if run_id is not None:
            return [], [runs.verify(enter(steward, None, project).scope, run_id)]
        if project is not None:
            return [runs.verify_project(enter(steward, None, project).scope, kept)], []
        return [runs.verify_project(scope, kept) for scope in runs.records.scopes()], []


def _report(
    projects: Sequence[ProjectVerification],
    runs: Sequence[Verification],
    gone: Sequence[str],
    *,
    as_json: bool,
) -> None:
    found = [*runs, *(run for project in projects for run in project.runs)]
    document: dict[str, Any] = {
        "runs": [{**asdict(run), "intact": run.is_intact} for run in found],
        "logs": [
            {"project_id": each.project_id, **asdict(replace(each.log, kept=frozenset()))}
            | {"kept": sorted(f"{head.position}:{head.hash}" for head in each.log.kept)}
            for each in projects
        ],
        "missing": list(gone),
    }
    if as_json:
        show(document, as_json=True, text=str)
        return
    for run in found:
        for fault in run.faults:
            where = f"entry {fault.seq}: " if fault.seq is not None else ""
            say(f"{run.run_id} ({run.title}): {where}{fault.reason}.")
    for each in projects:
        for fault in each.log.faults:
            say(f"{each.project_id}: {fault.reason}.")
    for head in gone:
        say(
            f"No log contains the signed head {head}. A log was cut or rewritten after you kept it."
        )
    say(_summary(found))
    for each in projects:
        count = f"{each.log.lines:,} signed heads"
        say(f"{each.project_id}: {count}, the last one is {each.log.lines}:{each.log.hash}.")


def _summary(runs: Sequence[Verification]) -> str:
    counts = Counter(run.signing for run in runs if run.is_intact)
    bad = sum(not run.is_intact for run in runs)
    parts = [
        f"{counts[Signing.signed]:,} verified",
        f"{counts[Signing.not_yet]:,} intact and not signed yet",
        f"{counts[Signing.before_signing]:,} intact and not signed (written before signing)",
        f"{bad:,} not verified",
    ]
    numbers = (*(counts[each] for each in Signing), bad)
    shown = [part for part, number in zip(parts, numbers, strict=True) if number]
    return f"{len(runs):,} runs: {', '.join(shown) or 'nothing to check'}."
