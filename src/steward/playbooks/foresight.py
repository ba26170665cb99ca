"""What the steps of a playbook cost in past runs, and what a list of items will cost by that."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any, Final

from steward.broker import Cost, Foresight, Rehearsal
from steward.runs import EntryType, Run, Runs
from steward.store import Scope

_LEARNT_FROM: Final = 5
"""Journals of so many runs are read before a list begins."""
_MOST_SUB_RUNS: Final = 1_000
_COUNTS: Final = r"(?:\[\d+\]|#\d+|~\d+)*"
_MICRO: Final = Decimal("0.000001")


@dataclass(frozen=True)
class Used:
    """What an entry of a journal used."""

    key: str
    cost: Mapping[str, Any]
    agent: str = ""
    """Who used it; empty for no agent."""


@dataclass
class _Sum:
    usd: Decimal = Decimal(0)
    tokens: int = 0

    def add(self, cost: Mapping[str, Any]) -> None:
        self.usd += Decimal(str(cost.get("usd") or 0))
        self.tokens += int(cost.get("tokens") or 0)

    def times(self, each: Decimal) -> Cost:
        return Cost(
            usd=(self.usd * each).quantize(_MICRO, ROUND_CEILING),
            tokens=int((self.tokens * each).to_integral_value(ROUND_CEILING)),
        )


class PastCosts:
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def runs_of(self, scope: Scope, subject: str, limit: int) -> list[Run]:
        """Runs that ended well, newest first; tests cost something else."""
        done = self._runs.records.listed(scope, subject=subject, statuses=["done"], limit=limit)
        return [run for run in done if not self._is_test(run)]

    def of(self, run: Run) -> Iterator["Used"]:
        """What each entry says that it used: calls in their outcome, requests to models when they are settled."""
        agents: dict[str, str] = {}
        for entry in self._runs.journal.entries(run.scope, run.id):
            cost: Mapping[str, Any] = {}
            asked, result = entry.data.get("request"), entry.data.get("result")
            if entry.type == EntryType.step_started:
                told = self._runs.payload(asked)
                agents[entry.of] = str(told.get("agent") or "") if isinstance(told, dict) else ""
            if entry.type == "budget.settled" and isinstance(asked, dict):
                cost = asked.get("cost") or {}
            elif entry.type == "call.done":
                outcome = self._runs.payload(result)
                cost = (outcome.get("cost") or {}) if isinstance(outcome, dict) else {}
            yield Used(entry.key, cost, _agent_at(agents, entry.key) if cost else "")

    def foreseen(self, run: Run, path: str, parts: int) -> Foresight | None:
        """What so many items below a path will cost; None where they ran in no past run."""
        below = re.compile("/".join(re.escape(each) + _COUNTS for each in path.split("/")))
        total, runs = _Sum(), 0
        by_agent: dict[str, _Sum] = {}
        seen: set[tuple[str, str]] = set()
        for past in self.runs_of(run.scope, run.subject or "", _LEARNT_FROM):
            before = len(seen)
            for used in self.with_sub_runs(past):
                found = below.match(used.key)
                # What is held for the items is no item.
                if found is None or not used.key[found.end() :].startswith("/"):
                    continue
                seen.add((past.id, found.group()))
                total.add(used.cost)
                if used.agent:
                    by_agent.setdefault(used.agent, _Sum()).add(used.cost)
            runs += len(seen) > before
        if not seen:
            return None
        # Branches side by side are counted as one, the items of a list one by one.
        items = sum(name.endswith("]") for _, name in seen)
        each = Decimal(parts) / items if items else Decimal(1) / len(seen)
        agents = {name: used.times(each) for name, used in by_agent.items()}
        return Foresight(total.times(each), parts, runs, agents)

    def with_sub_runs(self, run: Run) -> Iterator["Used"]:
        """What sub-runs used counts at the step that started them."""
        yield from self.of(run)
        children = self._runs.records.listed(run.scope, parent=run.id, limit=_MOST_SUB_RUNS)
        for child in children:
            for used in self.with_sub_runs(child):
                # Their time passes while the step waits.
                cost = {**used.cost, "seconds": 0} if used.cost else used.cost
                yield Used(child.parent_key or "", cost, used.agent)

    def _is_test(self, run: Run) -> bool:
        return Rehearsal.of(self._runs.request(run.scope, run.id).grant) is not None


def _agent_at(agents: Mapping[str, str], key: str) -> str:
    """The agent in whose step a key lies, as a run knows it while it goes on."""
    parts = key.split("/")
    above = ("/".join(parts[:size]) for size in range(len(parts), 0, -1))
    return next((agents[each] for each in above if each in agents), "")
