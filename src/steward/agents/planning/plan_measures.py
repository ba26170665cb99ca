"""How planning goes: how fast plans are made, how well they are kept, and how often they were wrong."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from steward.agents.chat.threads import CHAT_PROGRAM
from steward.agents.explaining.dossier import dossier
from steward.runs import Entry, EntryType, Run, Runs, is_within
from steward.store import Scope

_LATEST: Final = 500
_PAGE: Final = 100


@dataclass(frozen=True)
class Turned:
    """What one turn adds to the measures."""

    planner_seconds: tuple[float, ...] = ()
    plans: int = 0
    by_model: int = 0
    repaired: int = 0
    fallback: int = 0
    problems: int = 0
    deviations: tuple[str, ...] = ()
    adherence: float | None = None
    completed: bool = False
    figures: int = 0
    unsourced: int = 0


@dataclass(frozen=True)
class PlannerMeasured:
    """Rates are between 0 and 1; None where there is nothing to count yet."""

    since: datetime
    turns: int
    plans: int
    planner_latency_s: dict[str, float] | None
    adherence_rate: float | None
    deviations: dict[str, int] = field(default_factory=dict)
    validation_failures: int = 0
    repaired_rate: float | None = None
    fallback_rate: float | None = None
    completion_rate: float | None = None
    unsourced_figures: int = 0


class PlannerMeasures:
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def since(self, scope: Scope, since: datetime) -> PlannerMeasured:
        """Over the latest turns of the period, at most five hundred."""
        return summed(since, [self._turned(run) for run in self._ended(scope, since)])

    def _turned(self, run: Run) -> Turned:
        return turned(run, list(self._runs.journal.entries(run.scope, run.id)), self._runs.payload)

    def _ended(self, scope: Scope, since: datetime) -> list[Run]:
        found: list[Run] = []
        before: str | None = None
        while len(found) < _LATEST:
            page = self._runs.records.listed(scope, before=before, limit=_PAGE)
            found.extend(
                run
                for run in page
                if run.program == CHAT_PROGRAM and run.status.is_final and run.created_at >= since
            )
            if len(page) < _PAGE or page[-1].created_at < since:
                break
            before = page[-1].id
        return found[:_LATEST]


def turned(run: Run, entries: Sequence[Entry], payload: Any) -> Turned:
    document = dossier(run, entries, payload)
    plans = document["plans"]
    return Turned(
        planner_seconds=tuple(_planning(entries, plan["branch"]) for plan in plans),
        plans=len(plans),
        by_model=sum(plan["made_by"] == "model" for plan in plans),
        repaired=sum(plan["repaired"] for plan in plans),
        fallback=sum(plan["made_by"] == "fallback" for plan in plans),
        problems=sum(bool(plan["problems"]) for plan in plans),
        deviations=tuple(each["kind"] for each in document["deviations"]),
        adherence=document["adherence"],
        completed=document["outcome"]["status"] == "done",
        figures=len(document["figures"]),
        unsourced=sum(figure["source"] is None for figure in document["figures"]),
    )


def _planning(entries: Sequence[Entry], branch: int) -> float:
    """From the last thing before planning began to the plan."""
    place = next(
        number
        for number, entry in enumerate(entries)
        if entry.type == EntryType.plan_made and entry.data["request"]["branch"] == branch
    )
    before = place
    while before > 0 and is_within(entries[before].of, entries[place].key):
        before -= 1
    began = datetime.fromisoformat(entries[before].at)
    return (datetime.fromisoformat(entries[place].at) - began).total_seconds()


def summed(since: datetime, turns: Iterable[Turned]) -> PlannerMeasured:
    told = list(turns)
    plans = sum(each.plans for each in told)
    kept = [each.adherence for each in told if each.adherence is not None]
    kinds = Counter(kind for each in told for kind in each.deviations)
    return PlannerMeasured(
        since=since,
        turns=len(told),
        plans=plans,
        planner_latency_s=_spread([second for each in told for second in each.planner_seconds]),
        adherence_rate=_share(sum(kept), len(kept)),
        deviations=dict(sorted(kinds.items())),
        validation_failures=sum(each.problems for each in told),
        repaired_rate=_share(sum(each.repaired for each in told), plans),
        fallback_rate=_share(sum(each.fallback for each in told), plans),
        completion_rate=_share(sum(each.completed for each in told), len(told)),
        unsourced_figures=sum(each.unsourced for each in told),
    )


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _spread(seconds: Sequence[float]) -> dict[str, float] | None:
    if not seconds:
        return None
    ordered = sorted(seconds)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 4)

    return {"p50": at(0.5), "p95": at(0.95)}
