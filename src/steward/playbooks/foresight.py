"""What the steps of a playbook cost in past runs, and what a list of items will cost by that."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Any, Final

from steward.broker.limits import Foresight
from steward.broker.rehearsal import Rehearsal, plain_path
from steward.broker.tool import Cost
from steward.playbooks.people import playbook_of
from steward.runs import Execution, Run, Runs
from steward.store import Scope

_LEARNT_FROM: Final = 5
"""Journals of so many runs are read before a list begins."""
_MOST_SUB_RUNS: Final = 1_000
_COUNTS: Final = r"(?:\[\d+\]|#\d+|~\d+)*"
_MICRO: Final = Decimal("0.000001")


class PastCosts:
    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def runs_of(self, scope: Scope, subject: str, limit: int) -> list[Run]:
        """Runs that ended well, newest first; tests cost something else."""
        done = self._runs.records.listed(scope, subject=subject, statuses=["done"], limit=limit)
        return [run for run in done if not self._is_test(run)]

    def of(self, run: Run) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """What each entry says that it used: calls in their outcome, requests to models when they are settled."""
        for entry in self._runs.journal.entries(run.scope, run.id):
            cost: Mapping[str, Any] = {}
            asked, result = entry.data.get("request"), entry.data.get("result")
            if entry.type == "budget.settled" and isinstance(asked, dict):
                cost = asked.get("cost") or {}
            elif entry.type == "call.done":
                outcome = self._runs.payload(result)
                cost = (outcome.get("cost") or {}) if isinstance(outcome, dict) else {}
            yield entry.key, cost

    async def foresee(self, execution: Execution, key: str, parts: int) -> Foresight | None:
        """What so many items below a key will cost; None where no run of the playbook says so."""
        is_test = Rehearsal.of(execution.request.grant) is not None
        if playbook_of(execution.run.subject) is None or is_test:
            return None
        return await asyncio.to_thread(self._foreseen, execution.run, plain_path(key), parts)

    def _foreseen(self, run: Run, path: str, parts: int) -> Foresight | None:
        below = re.compile("/".join(re.escape(each) + _COUNTS for each in path.split("/")))
        usd, tokens, runs = Decimal(0), 0, 0
        seen: set[tuple[str, str]] = set()
        for past in self.runs_of(run.scope, run.subject or "", _LEARNT_FROM):
            before = len(seen)
            for key, cost in self.with_sub_runs(past):
                found = below.match(key)
                # What is held for the items is no item.
                if found is None or not key[found.end() :].startswith("/"):
                    continue
                seen.add((past.id, found.group()))
                usd += Decimal(str(cost.get("usd") or 0))
                tokens += int(cost.get("tokens") or 0)
            runs += len(seen) > before
        if not usd and not tokens:
            return None
        # Branches side by side are counted as one, the items of a list one by one.
        items = sum(name.endswith("]") for _, name in seen)
        each = Decimal(parts) / items if items else Decimal(1) / len(seen)
        expected = Cost(
            usd=(usd * each).quantize(_MICRO, ROUND_CEILING),
            tokens=int((tokens * each).to_integral_value(ROUND_CEILING)),
        )
        return Foresight(expected, parts, runs)

    def with_sub_runs(self, run: Run) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """What sub-runs used counts at the step that started them."""
        yield from self.of(run)
        children = self._runs.records.listed(run.scope, parent=run.id, limit=_MOST_SUB_RUNS)
        for child in children:
            for _, cost in self.with_sub_runs(child):
                # Their time passes while the step waits.
                yield child.parent_key or "", {**cost, "seconds": 0} if cost else cost

    def _is_test(self, run: Run) -> bool:
        return Rehearsal.of(self._runs.request(run.scope, run.id).grant) is not None
