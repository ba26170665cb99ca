"""`steward chat`: a message to Steward from the terminal; plans are looked at, calls approved and questions answered there."""

import asyncio
import json
import threading
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from steward.agents.turn_documents import turn_document
from steward.app import Steward
from steward.broker.approvals import Verdict
from steward.broker.inbox import Waiting
from steward.cli.output import progress
from steward.cli.projects import Here, in_project
from steward.core.errors import Invalid
from steward.flows.fast_path import query_request, question_in
from steward.identity import Access
from steward.models import NO_MODEL
from steward.runs import Run, Status

_PAUSE: Final = 0.2
_MAKERS: Final = {
    "model": "a model",
    "rules": "rules",
    "fallback": "rules, as a fallback",
    "person": "a person",
}


@in_project
def chat(
    here: Here,
    message: Annotated[
        str,
        typer.Argument(help="In your own words, or `SQL:`, `PLAN:` or `PYTHON:` and a query."),
    ],
    *,
    thread: Annotated[
        str | None, typer.Option(help="Go on in this conversation; unset: a new one.")
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="A dataset that it is about; may be given again.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Approve the plan and what it asks for.")
    ] = False,
) -> None:
    """Ask Steward something and print the answer; without a model, rules plan."""
    if not message.strip():
        raise Invalid("The message is empty.")
    talk = _Talk(here.steward, here.access, yes=yes, asks=not here.as_json)
    run, thread_id = talk.begin(message, thread, dataset or [])
    run, left = talk.through(run)
    turn = talk.told(run)
    waits = [{"kind": each.kind, "title": each.title} for each in left]
    here.show(
        {"thread_id": thread_id, "turn": turn, "waits": waits},
        lambda: _shown(turn, left, is_first=thread is None),
    )
    if not here.as_json:
        progress(f"Go on with: steward chat --thread {thread_id} …")
    if run.status is not Status.done:
        raise typer.Exit(1)


@dataclass
class _Talk:
    """One turn and the person at the terminal."""

    steward: Steward
    access: Access
    yes: bool
    asks: bool
    """Whether somebody is there to be asked."""

    def begin(self, message: str, thread: str | None, datasets: list[str]) -> tuple[Run, str]:
        question, query = question_in(message), None
        if question is not None:
            branch = (
                self.steward.threads.get(self.access.scope, thread).branch if thread else "main"
            )
            launcher = self.steward.governing.launcher
            query = query_request(launcher, question, branch=branch, scope=self.access.scope)
        found, run = self.steward.threads.begin(
            self.access,
            message,
            thread_id=thread,
            mentions=datasets,
            query=query,
            query_type=question.kind if question is not None else None,
        )
        return run, found.id

    def through(self, run: Run) -> tuple[Run, list[Waiting]]:
        """The run once it is over, or with what it waits for when nobody here answers that."""
        while True:
            self.steward.runs.drive_until_idle()
            run = self.steward.runs.get(run.scope, run.id)
            if run.status.is_final:
                return run, []
            waiting = [
                each
                for each in self.steward.governing.inbox.waiting(self.access)
                if each.run_id == run.id
            ]
            if not waiting:
                # Something else drives it, such as a server on the same home.
                threading.Event().wait(_PAUSE)
            elif not self._answered(waiting[0]):
                return run, waiting

    def told(self, run: Run) -> dict[str, Any]:
        found = self.steward.threads.turns.of_run(run.scope, run.id)
        assert found is not None  # noqa: S101
        entries = list(self.steward.runs.journal.entries(run.scope, run.id))
        document = turn_document(
            found, run, entries, self.steward.runs.payload, lambda name: (name, "")
        )
        shown: dict[str, Any] = json.loads(json.dumps(document, default=str))
        return shown

    def _answered(self, waiting: Waiting) -> bool:
        inbox = self.steward.governing.inbox
        if waiting.kind == "plan":
            progress(_plan(waiting.request["plan"]))
            decided = self._agrees(waiting.request["reason"], "Run this plan?")
            if decided is None:
                return False
            decision = {"decision": "approve" if decided else "reject"}
            inbox.answer(self.access, waiting.run_id, waiting.key, decision)
            return True
        if waiting.approval is not None:
            approval = waiting.approval
            summary = (approval.preview or {}).get("summary") or ""
            decided = self._agrees(f"{approval.title}. {summary}", "Approve?")
            if decided is None:
                return False
            verdict = Verdict(decided, approval.body_hash, "" if decided else "Not approved.")
            asyncio.run(self.steward.governing.deciding.decide(self.access, approval.id, verdict))
            return True
        return False

    def _agrees(self, about: str, question: str) -> bool | None:
        """None where nobody can be asked."""
        if self.yes:
            return True
        if not self.asks:
            return None
        progress(about)
        return typer.confirm(question, default=False, err=True)


def _plan(plan: dict[str, Any], made_by: str = "") -> str:
    maker = f" (by {_MAKERS.get(made_by, made_by)})" if made_by else ""
    steps = [
        f"    {number}. {step['title']} ({step['agent']}: {', '.join(step['tools']) or 'no tools'})"
        for number, step in enumerate(plan["steps"], 1)
    ]
    return "\n".join([f"Plan{maker}: {plan['goal']}", *steps])


def _shown(turn: dict[str, Any], left: list[Waiting], *, is_first: bool) -> str:
    lines: list[str] = []
    if turn["plans"]:
        latest = turn["plans"][-1]
        lines += [_plan(latest["plan"], latest["made_by"])]
        # That there is no model is said at the beginning of a conversation, not each time.
        said = latest["said"] if is_first else latest["said"].replace(NO_MODEL, "").strip()
        lines += [said] if said else []
        lines.append("")
    lines += [turn["answer"]] if turn["answer"] else []
    error = turn["error"]
    if error and error["message"] not in (turn["answer"] or ""):
        lines.append(f"It did not work: {error['message']}")
    unsourced = [each["text"] for each in turn["figures"] if each["source"] is None]
    if unsourced:
        lines += ["", f"In no result, check before you use it: {', '.join(unsourced)}."]
    for each in left:
        lines.append(
            f"It waits for an answer: {each.title} Answer in the inbox of the web app, or with --yes."
        )
    if turn["suggestions"]:
        next_messages = " · ".join(each["message"] for each in turn["suggestions"])
        lines += ["", f"You could say: {next_messages}"]
    return "\n".join([*lines, "", _cost(turn["cost"])])


def _cost(cost: dict[str, Any]) -> str:
    parts = [f"{cost['seconds']:.1f} s"]
    if cost["tokens"]:
        price = "price unknown" if cost["usd"] is None else f"${cost['usd']}"
        parts += [f"{cost['tokens']:,} tokens", price]
    return ", ".join(parts)
