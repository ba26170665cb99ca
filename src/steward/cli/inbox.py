"""What waits for a person, and their answers, without a browser."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.broker import QUESTION, Verdict, Waiting
from steward.cli.projects import Here, in_project
from steward.cli.values import json_or_text
from steward.cli.waits import code_of, described
from steward.core import Invalid, NotFound, Unreadable, read_yaml

_LARGEST = 1_000_000

Code = Annotated[
    str, typer.Argument(help="Its code in 'steward inbox', or the id of the run that waits.")
]
Reason = Annotated[str, typer.Option("--reason", help="Why; kept with the decision.")]
Edits = Annotated[
    Path | None,
    typer.Option("--file", help="A YAML or JSON file with what you changed.", exists=True),
]
Drive = Annotated[
    bool, typer.Option("--drive", help="Drive the run on here and now, without a server.")
]


@in_project
def inbox(
    here: Here,
    what: Annotated[
        str | None, typer.Argument(help="A code or the id of a run: show this one in full.")
    ] = None,
) -> None:
    """List what waits for your answer, what ends soonest first."""
    if what is not None:
        item = _found(here, what)
        here.show(_document(item), lambda: f"{described(item)}\n\n{_ways_on(item)}")
        return
    found = here.steward.governing.inbox.waiting(here.access)
    here.show_table(
        [_document(item) for item in found],
        ["Code", "Kind", "What", "Run", "Until"],
        [(code_of(item), item.kind, item.title, _run(item), item.expires_at) for item in found],
        empty="Nothing waits for you.",
    )


@in_project
def approve(
    here: Here, what: Code, *, file: Edits = None, reason: Reason = "", drive: Drive = False
) -> None:
    """Approve an action, a gate or a plan, with changes from a file where it can be edited."""
    item = _decide(here, what, True, reason, None if file is None else _read(file))
    _show_done(here, item, "approved", drive=drive)


@in_project
def reject(
    here: Here, what: Code, *, reason: Reason = "Not approved.", drive: Drive = False
) -> None:
    """Reject an action, a gate or a plan."""
    _show_done(here, _decide(here, what, False, reason, None), "rejected", drive=drive)


@in_project
def answer(
    here: Here,
    what: Code,
    text: Annotated[
        str | None, typer.Argument(help="The answer: JSON, or plain text; unset: from --file.")
    ] = None,
    *,
    file: Edits = None,
    drive: Drive = False,
) -> None:
    """Answer a question, a request for more budget or an effect in doubt."""
    if (text is None) == (file is None):
        raise Invalid("Give the answer as text or with --file, not both.")
    item = _found(here, what)
    given = json_or_text(text) if text is not None else _read(file or Path())
    if item.approval is not None:
        raise Invalid("This waits for an approval. Use 'steward approve' or 'steward reject'.")
    if item.kind == QUESTION and isinstance(given, str | int | float):
        given = _as_form(item, given)
    here.steward.governing.inbox.answer(here.access, item.run_id, item.key, given)
    _show_done(here, item, "answered", drive=drive)


def _as_form(item: Waiting, given: Any) -> Any:
    """A single value as the only field of a form that has one."""
    fields = list((item.request.get("form") or {}).get("properties", {}))
    return {fields[0]: given} if len(fields) == 1 else given


def _decide(here: Here, what: str, agreed: bool, reason: str, edits: Any) -> Waiting:
    item = _found(here, what)
    if item.approval is not None:
        verdict = Verdict(agreed, item.approval.body_hash, reason)
        deciding = here.steward.governing.deciding
        asyncio.run(deciding.decide(here.access, item.approval.id, verdict, edits))
    elif item.kind in {"gate", "plan"}:
        given = {"decision": "approve" if agreed else "reject", "reason": reason}
        if item.kind == "gate":
            given["body_hash"] = item.request["body_hash"]
        if edits is not None:
            given["payload"] = edits
        here.steward.governing.inbox.answer(here.access, item.run_id, item.key, given)
    else:
        raise Invalid(f"A {item.kind} is not approved or rejected. Use 'steward answer'.")
    return item


def _found(here: Here, what: str) -> Waiting:
    waiting = here.steward.governing.inbox.waiting(here.access)
    of_code = [item for item in waiting if code_of(item) == what]
    if len(of_code) == 1:
        return of_code[0]
    of_run = [item for item in waiting if item.run_id == what]
    if len(of_run) == 1:
        return of_run[0]
    if of_run:
        raise Invalid(f"{what} waits for {len(of_run)} answers. Say which by its code.")
    raise NotFound(
        f"Nothing waits under {what[:60]!r}, or it has changed. 'steward inbox' lists what waits."
    )


def _read(file: Path) -> Any:
    try:
        return read_yaml(file.read_text(encoding="utf-8"), largest=_LARGEST)
    except Unreadable as error:
        raise Invalid(f"{file} is not YAML or JSON: line {error.line}: {error.reason}.") from None


def _document(item: Waiting) -> dict[str, Any]:
    return {"code": code_of(item), **asdict(item)}


def _run(item: Waiting) -> str:
    return f"{item.run_title} ({item.run_id})"


def _ways_on(item: Waiting) -> str:
    code = code_of(item)
    if item.approval is not None or item.kind in {"gate", "plan"}:
        return f"steward approve {code}    steward reject {code} --reason …"
    return f"steward answer {code} …"


def _show_done(here: Here, item: Waiting, done: str, *, drive: bool) -> None:
    if drive:
        here.steward.runs.drive_until_idle()
    run = here.steward.runs.get(here.scope, item.run_id)
    document = {"run_id": run.id, "key": item.key, "done": done, "status": run.status.value}
    here.show(document, lambda: f"{item.title}: {done}. {run.id} is {run.status.value}.")
