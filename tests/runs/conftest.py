"""Programs to drive, and a room of runs to drive them in."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from steward.core.errors import Invalid, Unavailable
from steward.runs import Effect, Execution, Found, Reconciled, Retries, RunRequest, Runs, Ticket
from steward.store import Scope
from steward.testing.installation import Installation


@dataclass
class World:
    """What lies outside a run: counts what was done to it."""

    done: Counter[str] = field(default_factory=Counter)
    broken: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)

    async def look(self, name: str) -> dict[str, Any]:
        self.done[name] += 1
        if name in self.broken:
            raise Unavailable(f"{name} is away.")
        return {"name": name, "seen": self.done[name]}

    async def send(self, ticket: Ticket) -> dict[str, Any]:
        if ticket.idempotency_key not in self.keys:
            self.done[ticket.request["to"]] += 1
        self.keys.add(ticket.idempotency_key)
        return {"sent": ticket.request["to"]}

    async def find(self, ticket: Ticket) -> Reconciled:
        sent = ticket.idempotency_key in self.keys
        return Reconciled(Found.happened if sent else Found.not_happened, {"sent": "found"})


@dataclass
class Room:
    runs: Runs
    scope: Scope
    world: World

    def start(self, program: str, title: str = "A run", **inputs: Any) -> str:
        return self.start_as("usr_test", program, title, **inputs)

    def start_as(self, author: str, program: str, title: str = "A run", **inputs: Any) -> str:
        return self.runs.start(self.scope, author, RunRequest(title, program, {}, inputs)).id

    def drive(self) -> int:
        return self.runs.drive_until_idle()

    def status(self, run_id: str) -> str:
        return self.runs.get(self.scope, run_id).status.value

    def outcome(self, run_id: str) -> Any:
        return self.runs.outcome(self.scope, run_id)

    def kinds(self, run_id: str) -> list[str]:
        return [entry.kind for entry in self.runs.journal.entries(self.scope, run_id)]


@pytest.fixture
def room(installation: Installation) -> Room:
    world = World()
    runs = installation.steward.runs
    runs.programs.update(programs(world))
    return Room(runs, installation.scope, world)


def programs(world: World) -> dict[str, Any]:  # noqa: C901
    async def steps(execution: Execution) -> Any:
        """As many steps as asked for, one after another."""
        seen = []
        for n in range(execution.request.inputs.get("n", 3)):
            look = partial(world.look, f"look {n}")
            seen.append(await execution.step(f"look/{n}", {"n": n}, look))
        return {"seen": [item["name"] for item in seen]}

    async def branches(execution: Execution) -> Any:
        """Two questions and a step side by side, then a message."""

        async def ask(name: str) -> Any:
            return await execution.wait(
                f"ask/{name}", {"question": name}, reason=f"question {name}"
            )

        async def look() -> Any:
            return await execution.step("look", {}, lambda: world.look("look"))

        answers = await execution.together([ask("a"), ask("b"), look()])
        request = {"to": "world", "text": answers[0]}
        sent = await execution.effect("send", request, Effect(world.send, idempotent=True))
        return [*answers[:2], sent]

    async def retried(execution: Execution) -> Any:
        return await execution.step("try", {}, lambda: world.look("shaky"), Retries(attempts=3))

    async def slow(execution: Execution) -> Any:
        async def hang() -> Any:
            await asyncio.Event().wait()

        limit = Retries(timeout=timedelta(milliseconds=20))
        return await execution.step("hang", {}, hang, limit)

    async def held(execution: Execution) -> Any:
        """Goes on until its worker stops."""
        return await execution.step("held", {}, asyncio.Event().wait)

    async def parent(execution: Execution) -> Any:
        request = RunRequest(
            "The child", execution.request.inputs.get("child", "steps"), {}, {"n": 2}
        )
        return await execution.child("child", request)

    async def wrong(_: Execution) -> Any:
        raise Invalid("The document makes no sense.")

    async def bug(_: Execution) -> Any:
        raise ZeroDivisionError

    async def large(execution: Execution) -> Any:
        async def text() -> Any:
            return {"text": "ä" * 30_000}

        found = await execution.step("large", {}, text)
        return {"again": found["text"]}

    async def endless(execution: Execution) -> Any:
        n = 0
        while True:
            n += 1
            await execution.step(f"look/{n}", {}, lambda: world.look("look"))

    return {
        "steps": steps,
        "branches": branches,
        "retried": retried,
        "slow": slow,
        "held": held,
        "parent": parent,
        "wrong": wrong,
        "bug": bug,
        "large": large,
        "endless": endless,
    }
