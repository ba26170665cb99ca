"""Runs that do random things at random times, and what their journals say of it, read without any of the room's code."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from random import Random
from typing import Any

import sqlalchemy as sa

from steward.core import MovableClock
from steward.core.errors import Invalid, Unavailable
from steward.runs import EntryType, Execution, Json, RunRequest, StepFailed
from steward.store import Scope
from steward.testing import Installation

TOOLS = ("execute_sql", "ingest", "api.crm.find", "api.crm.update", "mcp.desk.search")
MODELS = ("openai:small", "openai:large", "local:tiny")
AGENTS = ("sql-analyst", "summariser")
FLOWS = ("playbook:pbk_one", "playbook:pbk_two", None)


async def _anything(clock: MovableClock, execution: Execution) -> Json:  # noqa: C901 - it may do anything
    random = Random(execution.request.inputs["seed"])
    done = 0

    async def work(result: Json, error: Exception | None) -> Json:
        clock.advance(milliseconds=random.randrange(1, 200_000))
        if error is not None:
            raise error
        return result

    async def step(
        key: str, request: Json, result: Json, type_: str, of: str | None = None
    ) -> None:
        nonlocal done
        done += 1
        error = random.choice([None] * 6 + [Invalid("No."), Unavailable("Later.", code="busy")])
        may_fail = type_ in (EntryType.call_done, EntryType.model_asked)
        with suppress(StepFailed):
            perform = partial(work, result, error if may_fail else None)
            await execution.step(key, request, perform, type=type_, of=of)

    async def calls(above: str) -> None:
        for n in range(random.randrange(4)):
            if random.random() < 0.5:
                request: Json = {"role": "operator", "messages": []}
                await step(f"{above}model-{n}", request, _answer(random), EntryType.model_asked)
            else:
                tool = random.choice(TOOLS)
                request = {"tool": tool, "arguments": {}}
                await step(f"{above}call-{n}", request, _outcome(random, tool), EntryType.call_done)

    async def work_of_agent(of: str) -> None:
        agent = random.choice(AGENTS)
        await step(f"{of}/begin", {"agent": agent}, None, EntryType.step_started, of)
        await calls(f"{of}/")
        if random.random() < 0.2:
            violation = {"kind": "violation", "tool": None, "why": "Nothing worked."}
            await execution.note(
                f"{of}/deviation/1", violation, type=EntryType.step_deviated, of=of
            )
        if not _gives_up(random):
            clock.advance(milliseconds=random.randrange(1, 200_000))
            kept = {"adhered": random.choice([None, True, True, False])}
            await execution.note(f"{of}/end", kept, type=EntryType.step_finished, of=of)

    for n in range(random.randrange(3)):
        await work_of_agent(f"work-{n}")
    await calls("")
    if execution.request.inputs["levels"] and random.random() < 0.5:
        inputs = {"seed": random.randrange(10**9), "levels": 0}
        await execution.child("below", RunRequest("Below", "anything", {}, inputs))
    if random.random() < 0.25:
        raise Invalid("It did not work out.", code=random.choice(["no-luck", "bad-day"]))
    return None


def _gives_up(random: Random) -> bool:
    """Whether the work of an agent has no end: the run fails with it, or goes on without it."""
    if random.random() < 0.07:
        raise Invalid("The agent gave up.", code="gave-up")
    return random.random() < 0.07


def _answer(random: Random) -> Json:
    cost = random.choice([None, str(random.randrange(10**6) / 10**9)])
    usage = {
        "input_tokens": random.randrange(5_000),
        "output_tokens": random.randrange(900),
        "cost": cost,
    }
    return {"model": random.choice(MODELS), "parts": [], "usage": usage}


def _outcome(random: Random, tool: str) -> Json:
    value: Json = {}
    if tool.startswith("api."):
        status = random.choice([200, 200, 404, 503])
        value = {"status": status, "failed": status >= 400}
    return {
        "value": value,
        "commits": random.choice([[], [], ["com_1"]]),
        "inverse": None,
        "cost": {"usd": random.choice([0, 0.25, 0.000_000_5])},
    }


def play(
    installation: Installation,
    random: Random,
    runs: int,
    hours: int,
    flows: Sequence[str | None] = FLOWS,
    scope: Scope | None = None,
) -> None:
    """So many runs by two people, over so many hours."""
    steward = installation.steward
    steward.runs.programs["anything"] = partial(_anything, installation.clock)
    people = [installation.owner.user.id, "usr_other"]
    for _ in range(runs):
        grant: Json = {"tools": [], "revision": random.choice([None, 1, 2])}
        request = RunRequest(
            "Random",
            "anything",
            {},
            {"seed": random.randrange(10**9), "levels": 1},
            grant=grant,
            subject=random.choice(flows),
        )
        steward.runs.start(scope or installation.scope, random.choice(people), request)
        installation.clock.advance(minutes=random.randrange(hours * 120 // runs))
        steward.runs.drive_until_idle()


@dataclass(frozen=True)
class Noted:
    """One thing that a journal tells of."""

    run_id: str
    root_id: str
    is_root: bool
    kind: str
    at: datetime
    name: str
    agent: str
    error: str
    flow: str
    person: str
    revision: int
    nano_usd: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    milliseconds: int = 0
    changes: int = 0
    adhered: bool | None = None

    @property
    def hour(self) -> int:
        return int(self.at.timestamp()) // 3600

    @property
    def connector(self) -> str:
        return self.name.split(".")[1] if self.kind == "tool" and "." in self.name else ""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


def noted(installation: Installation, project_id: str = "") -> list[Noted]:
    """Everything that the journals of ended runs of the project tell."""
    with installation.steward.database.raw_writer() as connection:
        project = {"project": project_id or installation.scope.project_id}
        runs = connection.execute(
            sa.text("SELECT * FROM runs WHERE project_id = :project AND ended_at IS NOT NULL"),
            project,
        ).all()
        lines = connection.execute(
            sa.text("SELECT run_id, body FROM journal WHERE project_id = :project ORDER BY seq"),
            project,
        ).all()
    journals: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        journals.setdefault(line.run_id, []).append(json.loads(line.body))
    roots = {run.id: run for run in runs}
    return [each for run in runs for each in _told(run, roots[run.root_id], journals)]


def _told(run: Any, root: Any, journals: dict[str, list[dict[str, Any]]]) -> Iterator[Noted]:
    entries = journals[run.id]
    about: dict[str, Any] = {
        "run_id": run.id,
        "root_id": root.id,
        "is_root": run.parent_id is None,
        "flow": root.subject or root.program,
        "person": run.created_by,
        "revision": journals[root.id][0]["data"]["request"]["grant"].get("revision") or 0,
    }
    agents = {
        entry["of"]: entry["data"]["request"]["agent"]
        for entry in entries
        if entry["type"] == "step.started"
    }
    finished = {entry["of"] for entry in entries if entry["type"] == "step.finished"}
    failure = (entries[-1]["data"].get("error") or {}).get("code", "")
    began: dict[str, datetime] = {}
    before = _moment(entries[0])
    for entry in entries:
        at, data = _moment(entry), entry["data"]
        start = began.setdefault(entry["of"], before)
        before = at
        error = (data.get("error") or {}).get("code", "") if isinstance(data, dict) else ""
        spent: dict[str, Any] = {"milliseconds": round((at - start).total_seconds() * 1000)}
        agent = next((agents[of] for of in agents if entry["key"].startswith(f"{of}/")), "")
        result = data.get("result") or {}
        if entry["type"] == "step.finished":
            yield Noted(
                kind="agent",
                at=at,
                name=agent,
                agent="",
                error=error,
                adhered=data["adhered"],
                **about,
                **spent,
            )
        elif entry["type"] == "model.asked":
            usage = result.get("usage", {})
            yield Noted(
                kind="model",
                at=at,
                name=result["model"].split(":")[1] if result else "unknown",
                agent=agent,
                error=error,
                nano_usd=round(float(usage.get("cost") or 0) * 10**9),
                input_tokens=usage.get("input_tokens", 0),
                output_tokens=usage.get("output_tokens", 0),
                **about,
                **spent,
            )
        elif entry["type"] == "call.done":
            value = result.get("value", {})
            refused = f"http-{value['status']}" if value.get("failed") else ""
            yield Noted(
                kind="tool",
                at=at,
                name=data["request"]["tool"],
                agent=agent,
                error=error or refused,
                nano_usd=round(result.get("cost", {}).get("usd", 0) * 10**9),
                changes=len(result.get("commits", [])),
                **about,
                **spent,
            )
    for of in agents.keys() - finished:
        below = [entry for entry in entries if entry["key"].startswith(f"{of}/")]
        codes = [(entry["data"].get("error") or {}).get("code") for entry in below]
        took = _moment(below[-1]) - began[of]
        yield Noted(
            kind="agent",
            at=_moment(below[-1]),
            name=agents[of],
            agent="",
            error=next((code for code in reversed(codes) if code), failure),
            milliseconds=round(took.total_seconds() * 1000),
            adhered=False if any(entry["type"] == "step.deviated" for entry in below) else None,
            **about,
        )
    ended = datetime.fromtimestamp(run.ended_at / 10**6, _zone(entries))
    took = (run.ended_at - (run.started_at or run.created_at)) / 1000
    last = entries[-1]["data"].get("error") or {}
    yield Noted(
        kind="run",
        at=ended,
        name=run.status,
        agent="",
        error=last.get("code", "") if run.status == "failed" else "",
        milliseconds=round(took),
        **about,
    )


def _moment(entry: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(entry["at"])


def _zone(entries: list[dict[str, Any]]) -> Any:
    return _moment(entries[0]).tzinfo
