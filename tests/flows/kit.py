"""A room in which flows run: tools that count their calls, and runs to drive or to cut short."""

import asyncio
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from steward.core import Ids, MovableClock
from steward.core.errors import Invalid, Unavailable
from steward.flows import dump_flow, load_flow
from steward.flows.interpret import flow_program
from steward.flows.model import Flow
from steward.runs import Execution, HeadLog, Program, Run, RunRequest, Runs, Status
from steward.runs.canonical import canonical
from steward.runs.entries import Entry, Link, made
from steward.runs.entry_types import Kind, Mark
from steward.runs.execution import Memory
from steward.store import Bus, Database, EventLog, FileBlobs, Scope, Signer, Transaction

T = TypeVar("T")

SCOPE = Scope("org_test", "prj_test")


@dataclass(frozen=True)
class Marks:
    """Labels as the broker has them: where from, and whether trusted."""

    sources: tuple[str, ...] = ()
    trusted: bool = True

    def joined(self, other: "Marks") -> "Marks":
        sources = tuple(sorted({*self.sources, *other.sources}))
        return Marks(sources, self.trusted and other.trusted)


class Crash(BaseException):
    """The process is gone."""


@dataclass(frozen=True)
class Answer:
    value: Any
    labels: Marks | None


@dataclass
class Tools:
    """Stands in for the broker: every call is a step; `calls` counts how often one was really made."""

    calls: Counter[str] = field(default_factory=Counter)
    labels: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    shaky: int = 0
    """How many calls of the tool `shaky` fail before one succeeds."""
    crash_at: tuple[str, int] = ("", 0)
    """Where and at which call the process dies: before it, when it is done, or when that is recorded."""
    busy: int = 0
    busiest: int = 0

    async def call(
        self,
        execution: Execution,
        key: str,
        tool: str,
        arguments: Any,
        labels: Mapping[str, Any],
        _accept_failure: bool,
    ) -> Any:
        async def perform() -> Any:
            self.calls[key] += 1
            self.busy += 1
            self.busiest = max(self.busiest, self.busy)
            # Lets others in, so that what may run at the same time does.
            await asyncio.sleep(0)
            self.busy -= 1
            value = self._done(tool, arguments)
            self._may_die("done")
            return value

        self._may_die("before")
        self.labels[key] = labels
        value = await execution.step(key, {"tool": tool, "arguments": arguments}, perform)
        self._may_die("recorded")
        if tool == "read":
            return Answer(value, Marks((f"dataset:{arguments['name']}",), trusted=False))
        return value

    def _may_die(self, point: str) -> None:
        where, left = self.crash_at
        if point == where:
            self.crash_at = (where, left - 1)
            if left == 1:
                raise Crash

    def _done(self, tool: str, arguments: Any) -> Any:
        match tool:
            case "add":
                return {"n": sum(arguments.get("values", []), arguments.get("plus", 0))}
            case "echo":
                return arguments["value"]
            case "weigh":
                return {"n": zlib.crc32(canonical(arguments).encode()) % 97}
            case "read":
                return {"rows": [arguments["name"]]}
            case "count":
                return list(range(arguments["to"]))
            case "shaky":
                self.shaky -= 1
                if self.shaky >= 0:
                    raise Unavailable("The service is away.")
                return "at last"
            case "query" | "execute_python":
                return arguments
            case _:
                raise Invalid(f"The tool {tool} refuses.")


@dataclass
class Room:
    runs: Runs
    clock: MovableClock
    tools: Tools = field(default_factory=Tools)
    agent: Any = None
    started: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.use(Tools())

    def use(self, tools: Tools) -> None:
        """Replaces the tools: a new process, nothing remembered but the journal."""
        self.tools = tools
        self.runs.programs["flow"] = flow_program(
            tools.call, self.agent, child_labels=Marks(("run",), trusted=False)
        )

    def start(self, flow: Any, **inputs: Any) -> str:
        request = RunRequest("A flow", "flow", document(flow), inputs)
        self.started.append(self.runs.start(SCOPE, "usr_test", request).id)
        return self.started[-1]

    def replayed(self) -> None:
        """Every run comes out the same from its journal alone."""
        for run_id in self.started:
            report = asyncio.run(self.runs.replay(SCOPE, run_id))
            assert report.is_same, report

    def drive(self) -> None:
        self.runs.drive_until_idle()

    def run(self, flow: Any, **inputs: Any) -> Any:
        run_id = self.start(flow, **inputs)
        self.drive()
        return self.outcome(run_id)

    def outcome(self, run_id: str) -> Any:
        return self.runs.outcome(SCOPE, run_id)

    def get(self, run_id: str) -> Run:
        return self.runs.get(SCOPE, run_id)

    def entries(self, run_id: str) -> list[Entry]:
        return list(self.runs.journal.entries(SCOPE, run_id))

    def answer(self, run_id: str, key: str, data: Any) -> None:
        self.runs.records.signal(SCOPE, run_id, key, data)
        self.drive()


def document(flow: Any) -> Any:
    return dump_flow(flow) if isinstance(flow, Flow) else flow


@contextmanager
def opened(home_template: Path, home: Path, clock: MovableClock) -> Iterator[Room]:
    """Runs on a SQLite database of their own."""
    shutil.copytree(home_template, home, dirs_exist_ok=True)
    database = Database(f"sqlite:///{home / 'steward.db'}")
    ids, bus = Ids(clock), Bus()
    events = EventLog(database, bus, clock, ids)
    heads = HeadLog(Signer([bytes(32)]))
    runs = Runs(database, FileBlobs(home / "blobs"), bus, events, clock, ids, heads)
    try:
        yield Room(runs, clock)
    finally:
        runs.close()
        database.close()


class Paper:
    """A scribe that keeps its entries in a list, for runs that are cut at every place."""

    def __init__(self, entries: list[Entry], clock: MovableClock) -> None:
        self.entries = list(entries)
        self._clock = clock

    async def append(
        self, kind: Kind, key: str, data: Any, mark: Mark, *, lazily: bool = False
    ) -> Entry:
        last = self.entries[-1] if self.entries else None
        link = Link(last.seq, last.hash) if last else Link()
        entry = made("run_paper", link, kind, key, self._clock.now(), data, mark)
        self.entries.append(entry)
        # A point at which another branch may go on, as after a real write.
        await asyncio.sleep(0)
        return entry

    async def stored(self, value: Any) -> Any:
        return value

    async def loaded(self, value: Any) -> Any:
        return value

    async def start_child(self, key: str, request: RunRequest) -> str:
        raise NotImplementedError(f"{key}: {request.title} needs a database")

    async def share(self, work: Callable[[Transaction], T], order: str) -> T:
        raise NotImplementedError(f"{order}: {work} needs a database")

    def take_along(self, change: Callable[[Transaction], None], order: str) -> None:
        raise NotImplementedError(f"{order}: {change} needs a database")

    async def show_progress(self, progress: dict[str, Any]) -> None:
        await asyncio.sleep(0)

    def refuse_unless_driving(self, tx: Transaction) -> None:
        raise NotImplementedError(tx)

    async def pause_for(self, seconds: float) -> None:
        self._clock.advance(seconds=seconds)

    def now(self) -> Any:
        return self._clock.now()


def on_paper(
    program: Program,
    flow: Any,
    inputs: dict[str, Any],
    entries: list[Entry],
    clock: MovableClock,
    signals: dict[str, Any] | None = None,
) -> tuple[Any, list[Entry]]:
    """Drives a run in memory that has these entries already; its result and all its entries."""
    request = RunRequest("A flow", "flow", document(flow), inputs)
    paper = Paper(entries, clock)
    memory = Memory.of(entries)
    execution = Execution(a_run(clock), request, memory, paper, {} if signals is None else signals)
    result = asyncio.run(_awaited(program, execution))
    return result, paper.entries


async def _awaited(program: Program, execution: Execution) -> Any:
    return await asyncio.wait_for(program(execution), timedelta(seconds=30).total_seconds())


def a_run(clock: MovableClock) -> Run:
    nothing: dict[str, Any] = {each.name: None for each in fields(Run)}
    known = {
        "id": "run_paper",
        "scope": SCOPE,
        "title": "A flow",
        "program": "flow",
        "status": Status.running,
        "created_by": "usr_test",
        "created_at": clock.now(),
        "epoch": 1,
    }
    return Run(**(nothing | known))


def flow_of(*nodes: dict[str, Any], **fields: Any) -> Flow:
    return load_flow({"format": 1, "id": "test", "nodes": list(nodes), **fields})


def tool(name: str, use: str = "echo", needs: Any = (), /, **fields: Any) -> dict[str, Any]:
    """A tool node; arguments may be given under `arguments`, or as `value` alone."""
    if "value" in fields:
        fields["arguments"] = {"value": fields.pop("value")}
    return {"id": name, "type": "tool", "tool": use, "needs": list(needs), **fields}


def output(
    value: Any, needs: Any = (), name: str | None = None, made_id: str = ""
) -> dict[str, Any]:
    made_id = made_id or (f"out_{name}" if name else "out")
    found = {"id": made_id, "type": "output", "value": value, "needs": list(needs)}
    return {**found, "name": name} if name else found
