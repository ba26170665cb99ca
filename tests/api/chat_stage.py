"""A chat program that a test directs, word by word; it keeps its journal as the real one does."""

import asyncio
import json
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2 as httpx

from steward.app import Steward
from steward.broker.secrets_found import Scrubber
from steward.models import Delta
from steward.runs import EntryType, Execution, Json, Status
from steward.runs.worker import WorkerThread

END = ""
PLAN: dict[str, Any] = {
    "format": 1,
    "goal": "Know what is there",
    "steps": [
        {
            "id": "look",
            "title": "List the datasets",
            "agent": "data-analyst",
            "tools": ["list_datasets"],
            "fallback_tools": [],
            "arguments": {},
            "needs": [],
            "skill": None,
            "reason": "",
            "confidence": 0.5,
            "budget": {"usd": None, "tokens": None, "calls": 8},
        }
    ],
    "notes": "",
}
PLANNED: dict[str, Any] = {
    "plan": PLAN,
    "made_by": "rules",
    "model": None,
    "problems": [],
    "repaired": False,
    "said": "",
}


class Stage:
    """Registers as the program `chat`; `say` puts words in its mouth, `say(END)` lets it come to an end."""

    def __init__(self, steward: Steward) -> None:
        self._steward = steward
        self.words: queue.Queue[str] = queue.Queue()
        self.spoken = threading.Semaphore(0)
        self.asked = threading.Event()
        self.drives = 0
        steward.runs.programs["chat"] = self.program

    def say(self, *words: str) -> None:
        for word in words:
            self.words.put(word)

    async def program(self, execution: Execution) -> Json:
        self.drives += 1
        broker = self._steward.governing.broker
        await broker.begin(execution)

        async def plan() -> Json:
            return PLANNED

        await execution.step("plan/1", {"branch": 1}, plan, type=EntryType.plan_made)
        if "review" in execution.request.document["message"]:
            answer = await execution.wait(
                "plan/1/review",
                {"kind": "plan", "plan": PLAN, "reason": "Look at it."},
                status=Status.waiting_for_approval,
                reason="Look at the plan",
            )
            if answer["decision"] == "reject":
                return await self._answer(execution, "Nothing was done.")
        found = await broker.call(execution, "p1/look/call/1", "list_datasets", {})
        deviation = {"kind": "limit", "tool": None, "why": "It was enough."}
        key = "p1/look"
        await execution.note(f"{key}/deviation/1", deviation, type=EntryType.step_deviated, of=key)
        done = {"summary": found.summary}
        await execution.note(f"{key}/done", done, type=EntryType.step_finished, of=key)
        text = await execution.step(
            "answer/request", {}, lambda: self._speak(execution), interruptible=True
        )
        if "fail" in execution.request.document["message"]:
            raise ValueError("the stage broke down")
        return await self._answer(execution, text)

    async def _speak(self, execution: Execution) -> Json:
        live, said = self._steward.live, ""
        self.asked.set()
        secrets = self._steward.secrets.values(execution.run.scope)
        watch = live.writer(execution.run.id, "answer", Scrubber(secrets))
        await watch(Delta("restart"))
        while (word := await self._next()) != END:
            if word == "again":
                said = ""
                await watch(Delta("restart"))
            else:
                said += word
                await watch(Delta("text", word))
            self.spoken.release()
        await watch.finish()
        return said

    async def _next(self) -> str:
        try:
            return await asyncio.to_thread(self.words.get)
        except asyncio.CancelledError:
            # Whoever still listens in the other thread may go home.
            self.words.put(END)
            raise

    async def _answer(self, execution: Execution, text: str) -> Json:
        output = {"answer": text, "figures": [], "suggestions": [], "plans": 1}

        async def made() -> Json:
            return output

        return await execution.step("answer", {}, made, type=EntryType.answer_given)


@contextmanager
def working(steward: Steward) -> Iterator[None]:
    thread = WorkerThread(steward.runs.worker())
    thread.start()
    try:
        yield
    finally:
        thread.stop()


class Reader:
    """Reads server-sent events one by one."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.iter_lines()
        self.last_id: str | None = None

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return self

    def __next__(self) -> tuple[str, Any]:
        kind = "message"
        for line in self._lines:
            name, _, value = line.partition(": ")
            if name == "id":
                self.last_id = value
            elif name == "event":
                kind = value
            elif name == "data":
                return kind, json.loads(value)
        raise StopIteration

    def until(self, wanted: str) -> list[tuple[str, Any]]:
        """Everything up to the first event of a kind, with it."""
        told = []
        for kind, data in self:
            told.append((kind, data))
            if kind == wanted:
                return told
        raise AssertionError(f"the stream ended before {wanted!r}: {[kind for kind, _ in told]}")
