"""`steward chat`: a message to Steward from the terminal; plans are looked at, calls approved and questions answered there."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from steward.agents import turn_document
from steward.app import Steward
from steward.broker import Waiting
from steward.cli.chat_answers import Answers
from steward.cli.chat_screen import Screen
from steward.cli.output import plain
from steward.cli.projects import Here, in_project
from steward.core import Conflict, Invalid, StewardError
from steward.flows import query_request, question_in
from steward.identity import Access
from steward.runs import Run, Status

_PAUSE: Final = 0.2
_PATIENCE: Final = 15.0
"""Seconds that a run gets to end after Ctrl-C."""
_INTERRUPTED: Final = 130


@in_project
def chat(
    here: Here,
    message: Annotated[
        str,
        typer.Argument(
            help="In your own words, or `SQL:`, `PLAN:` or `PYTHON:` and a query. None, with --thread: go on with what "
            "waits there."
        ),
    ] = "",
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
    screen = None if here.as_json else Screen(here.steward.runs.payload, is_first=thread is None)
    talk = _Talk(here.steward, here.access, screen, yes=yes)
    run, thread_id = talk.begun(message, thread, dataset or [])
    left: list[Waiting] = []
    interrupted = False
    try:
        run, left = talk.through(run)
    except KeyboardInterrupt:
        interrupted = True
        run = talk.cancelled(run)
    turn = talk.told(run)
    if screen is None:
        waits = [{"kind": each.kind, "title": each.title} for each in left]
        here.show({"thread_id": thread_id, "turn": turn, "waits": waits}, lambda: "")
    else:
        _end(screen, turn, left, thread_id)
    if interrupted:
        raise typer.Exit(_INTERRUPTED)
    if run.status is not Status.done:
        raise typer.Exit(1)


@dataclass
class _Talk:
    """One turn and the person at the terminal."""

    steward: Steward
    access: Access
    screen: Screen | None
    """None where a program reads along: it is shown the whole turn at the end, and asked nothing."""
    yes: bool
    _seen: int = 0

    def begun(self, message: str, thread: str | None, datasets: list[str]) -> tuple[Run, str]:
        if message.strip():
            return self._begin(message, thread, datasets)
        if thread is None:
            raise Invalid("The message is empty.")
        found = self.steward.threads.get(self.access.scope, thread)
        run = self.steward.runs.get(self.access.scope, found.head) if found.head else None
        if run is None or run.status.is_final:
            raise Invalid("Nothing waits in this conversation; give a message to go on with it.")
        return run, thread

    def _begin(self, message: str, thread: str | None, datasets: list[str]) -> tuple[Run, str]:
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
        tell = self.screen.line if self.screen is not None else lambda _: None
        answers = Answers(
            self.steward, self.access, tell, yes=self.yes, asks=self.screen is not None
        )
        while True:
            run = self._driven(run)
            if run.status.is_final:
                return run, []
            waiting = self._waiting(run)
            if not waiting:
                # Something else drives it, such as a server on the same home, or it waits for a moment to come.
                threading.Event().wait(_PAUSE)
            elif not answers.answered(waiting[0]):
                return run, waiting

    def cancelled(self, run: Run) -> Run:
        """After Ctrl-C: the run ends before its next step; what it did stays, and can be undone."""
        if self.screen is not None:
            self.screen.line("Stopping. What was done so far stays; Ctrl-C again leaves at once.")
        records = self.steward.runs.records
        try:
            records.control(run.scope, run.id, "cancel", self.access.user_id)
        except Conflict:
            return records.get(run.scope, run.id)
        ends = time.monotonic() + _PATIENCE
        while not run.status.is_final and time.monotonic() < ends:
            # Whoever drove it goes on; whether that was a thread here or a server, it is told.
            run = self._driven(run)
            threading.Event().wait(_PAUSE / 4)
        return run

    def told(self, run: Run) -> dict[str, Any]:
        found = self.steward.threads.turns.of_run(run.scope, run.id)
        assert found is not None  # noqa: S101
        entries = list(self.steward.runs.journal.entries(run.scope, run.id))
        document = turn_document(
            found, run, entries, self.steward.runs.payload, lambda name: (name, "")
        )
        shown: dict[str, Any] = json.loads(json.dumps(document, default=str))
        return shown

    def _driven(self, run: Run) -> Run:
        """Drives beside this thread, which shows what happens and hears Ctrl-C."""
        with self._watching(run) as happened:
            driving = _Driving(self.steward)
            while driving.is_under_way:
                self._show(run)
                happened.wait(_PAUSE)
                happened.clear()
            driving.check()
        self._show(run)
        return self.steward.runs.get(run.scope, run.id)

    @contextmanager
    def _watching(self, run: Run) -> Iterator[threading.Event]:
        happened = threading.Event()
        with (
            self.steward.runs.listening(run.id, happened.set),
            self.steward.live.listening(run.id, happened.set),
        ):
            yield happened

    def _show(self, run: Run) -> None:
        if self.screen is None:
            return
        while page := self.steward.runs.journal.page(run.scope, run.id, self._seen, 100):
            for entry in page:
                self.screen.take(entry)
            self._seen = page[-1].seq
        self.screen.live(self.steward.live.read(run.scope, run.id))
        self.screen.tick()

    def _waiting(self, run: Run) -> list[Waiting]:
        found = self.steward.governing.inbox.waiting(self.access)
        return [each for each in found if each.run_id == run.id]


class _Driving:
    """Whatever is due, driven by a thread of its own; one that hangs does not keep the program."""

    def __init__(self, steward: Steward) -> None:
        self._runs = steward.runs
        self._problem: StewardError | None = None
        self._thread = threading.Thread(target=self._drive, name="steward-chat", daemon=True)
        self._thread.start()

    @property
    def is_under_way(self) -> bool:
        return self._thread.is_alive()

    def check(self) -> None:
        """Says here what went wrong there."""
        if self._problem is not None:
            raise self._problem

    def _drive(self) -> None:
        try:
            self._runs.drive_until_idle()
        except StewardError as problem:
            self._problem = problem


def _end(screen: Screen, turn: dict[str, Any], left: list[Waiting], thread_id: str) -> None:
    """What remains to be said; the answer alone goes to the output."""
    chips = [chip["text"] for chip in (turn["reading"] or {}).get("chips", ())]
    if chips:
        screen.line(f"Read as: {' · '.join(chips)}")
    if turn["answer"]:
        screen.answer(turn["answer"])
    screen.rest()
    error = turn["error"]
    if error and error["message"] not in (turn["answer"] or ""):
        screen.line(f"It did not work: {error['message']}")
    if turn["status"] == Status.cancelled.value:
        undo = (
            f" Take back what was done: steward undo {turn['run_id']}" if turn["undoable"] else ""
        )
        screen.line(f"Cancelled.{undo}")
    unsourced = [each["text"] for each in turn["figures"] if each["source"] is None]
    if unsourced:
        screen.line(f"In no result, check before you use it: {', '.join(unsourced)}.")
    for each in left:
        screen.line(
            f"It waits for an answer: {each.title} Answer in the inbox of the web app, or with: "
            f"steward chat --thread {thread_id}"
        )
    if turn["suggestions"]:
        next_messages = " · ".join(plain(each["message"]) for each in turn["suggestions"])
        screen.line(f"You could say: {next_messages}")
    screen.line(_cost(turn["cost"]))
    screen.line(f"Go on with: steward chat --thread {thread_id} …")


def _cost(cost: dict[str, Any]) -> str:
    parts = [f"{cost['seconds']:.1f} s"]
    if cost["tokens"]:
        more = "" if cost["is_priced"] else "more than "
        price = "price unknown" if cost["usd"] is None else f"{more}${cost['usd']}"
        parts += [f"{cost['tokens']:,} tokens", price]
    return ", ".join(parts)
