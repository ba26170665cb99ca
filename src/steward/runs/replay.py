"""Replay: drives a journal again with no model, no network and no clock, and reports where it comes out differently."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from steward.core import Bug, StewardError, error_to_json
from steward.runs.canonical import Json, canonical
from steward.runs.driver import Program
from steward.runs.entries import Entry, is_reference
from steward.runs.entry_types import Kind, Mark
from steward.runs.execution import Execution, Memory
from steward.runs.model import (
    Cancelled,
    Diverged,
    Parked,
    Paused,
    Run,
    RunRequest,
    StepFailed,
)
from steward.store import Transaction

T = TypeVar("T")
_DETAILS = frozenset({"cause", "problems"})
ReadPayload = Callable[[str], Json]
"""The payload of a blob by its digest."""

_FINAL = {Kind.done, Kind.failed, Kind.cancelled}


@dataclass(frozen=True)
class Divergence:
    """One place where the replay and the record part, with both sides."""

    key: str
    what: str
    recorded: Json
    replayed: Json


@dataclass(frozen=True)
class ReplayReport:
    run_id: str
    entries: int
    steps: int
    ended: str
    divergences: tuple[Divergence, ...]

    @property
    def is_same(self) -> bool:
        return not self.divergences

    def without_secrets(self, scrub: Callable[[Json], Json]) -> "ReplayReport":
        """The record has masks where the program says secrets: that alone is no divergence, and it is not shown."""
        parted = []
        for each in self.divergences:
            sides = scrub([each.recorded, each.replayed])
            if sides != [each.recorded, each.replayed] and canonical(sides[0]) == canonical(
                sides[1]
            ):
                continue
            parted.append(Divergence(scrub(each.key), each.what, *sides))
        return replace(self, divergences=tuple(parted))


class _Reader:
    """Answers from the record alone; whatever would reach outside is a divergence."""

    def __init__(self, payload: ReadPayload) -> None:
        self._payload = payload

    async def append(
        self,
        kind: Kind,
        key: str,
        data: Json,
        mark: Mark,
        *,
        lazily: bool = False,  # noqa: ARG002 - the name is the protocol's
    ) -> Entry:
        raise Diverged(key, {"kind": kind.value, "type": mark.type, "data": data}, None)

    async def stored(self, value: Json) -> Json:
        return value

    async def loaded(self, value: Json) -> Json:
        if is_reference(value):
            return await asyncio.to_thread(self._payload, value["$blob"])
        return value

    async def start_child(self, key: str, request: RunRequest) -> str:
        raise Diverged(key, {"child": request.title}, None)

    async def share(self, work: Callable[[Transaction], T], order: str) -> T:
        raise Bug(f"A replay wanted to write about {order}: {work}.")

    def take_along(self, change: Callable[[Transaction], None], order: str) -> None:
        raise Bug(f"A replay wanted to write about {order}: {change}.")

    def refuse_unless_driving(self, tx: Transaction) -> None:
        raise Bug(f"A replay wanted to commit in {tx}.")

    async def show_progress(self, progress: dict[str, Any]) -> None:
        raise Bug(f"A replay reported progress: {progress}.")

    async def pause_for(self, seconds: float) -> None:
        raise Bug(f"A replay waited {seconds} seconds for something that is recorded.")

    def now(self) -> datetime:
        raise Bug("A replay looked at the clock.")


async def replay(
    run: Run, entries: Iterable[Entry], program: Program, payload: ReadPayload
) -> ReplayReport:
    """Runs the program over the recorded entries."""
    recorded = list(entries)
    request = RunRequest(**recorded[0].data["request"])
    reader = _Reader(payload)
    memory = Memory.of(recorded)
    execution = Execution(run, request, memory, reader, {}, replaying=True)
    ended, seen = await _end_of(execution, program)
    found = [
        Divergence(
            difference.key, "asked for something else", difference.recorded, difference.asked
        )
        for difference in execution.differences
    ]
    if isinstance(seen, Diverged) and _was_cancelled(recorded, seen):
        ended = "stopped"
    elif isinstance(seen, Diverged):
        found.append(Divergence(seen.key, "not in the journal", seen.recorded, seen.asked))
    else:
        found += await _compare_end(recorded, ended, seen, reader)
        found += _never_asked(execution, memory, ended)
    return ReplayReport(run.id, len(recorded), len(memory.outcomes), ended, tuple(found))


def _was_cancelled(recorded: list[Entry], seen: Diverged) -> bool:
    """Whether the replay came to where somebody ended the run: what would have followed is in no record."""
    last = next((entry for entry in reversed(recorded) if entry.kind in _FINAL), None)
    return last is not None and last.kind == Kind.cancelled and seen.recorded is None


async def _end_of(execution: Execution, program: Program) -> tuple[str, Any]:
    try:
        return "done", await program(execution)
    except Diverged as divergence:
        return "diverged", divergence
    except Parked:
        return "parked", None
    except (Paused, Cancelled):
        return "stopped", None
    except StepFailed as failure:
        return "failed", {**failure.to_json(), "at": failure.key}
    except StewardError as problem:
        return "failed", error_to_json(problem)


async def _compare_end(
    recorded: list[Entry], ended: str, seen: Json, reader: _Reader
) -> list[Divergence]:
    last = next((entry for entry in reversed(recorded) if entry.kind in _FINAL), None)
    if last is None or last.kind == Kind.cancelled:
        # Nothing was concluded, so there is nothing to conclude differently.
        if ended in {"parked", "stopped"} or last is not None:
            return []
        return [Divergence("run", "the record has no end, the replay has one", None, seen)]
    expected = "done" if last.kind == Kind.done else "failed"
    if last.kind == Kind.done:
        outcome = await reader.loaded(last.data["output"])
    else:
        outcome = last.data["error"]
        if ended == expected:
            # Records made before errors kept their cause say less.
            seen = {name: seen[name] for name in seen if name in outcome or name not in _DETAILS}
    if ended != expected or canonical(outcome) != canonical(seen):
        return [Divergence("run", f"ended {ended}, was {expected}", outcome, seen)]
    return []


def _never_asked(execution: Execution, memory: Memory, ended: str) -> list[Divergence]:
    """Recorded steps that the program did not come to; normal only where it stopped on the way."""
    if ended != "done":
        return []
    known = {**memory.outcomes, **memory.closed}
    return [
        Divergence(key, "recorded, but not asked for", known[key].get("request"), None)
        for key in known
        # What was asked about a lost outcome is answered by the outcome itself.
        if key.removesuffix("/uncertain") not in execution.used
    ]
