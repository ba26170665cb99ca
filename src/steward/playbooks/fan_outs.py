"""What is held before the first item of a list begins: as past runs cost, or an estimate where no item ran before."""

import asyncio

from steward.broker import Foresight, Rehearsal, plain_path
from steward.core import NotFound
from steward.flows import Node
from steward.identity import Access, Principal, Via
from steward.playbooks.foresight import PastCosts
from steward.playbooks.people import People, playbook_of
from steward.playbooks.prices import Prices
from steward.runs import Execution, Run


class FanOuts:
    def __init__(self, past: PastCosts, prices: Prices, people: People) -> None:
        self._past = past
        self._prices = prices
        self._people = people

    async def foresee(
        self, execution: Execution, key: str, parts: int, node: Node
    ) -> Foresight | None:
        """What so many items of a node will cost; None where nothing is known, or where it costs nothing."""
        is_test = Rehearsal.of(execution.request.grant) is not None
        if playbook_of(execution.run.subject) is None or is_test:
            return None
        return await asyncio.to_thread(self._foreseen, execution.run, key, parts, node)

    def _foreseen(self, run: Run, key: str, parts: int, node: Node) -> Foresight | None:
        found = self._past.foreseen(run, plain_path(key), parts)
        if found is None:
            return self._estimated(run, parts, node)
        return found if found.cost.usd or found.cost.tokens else None

    def _estimated(self, run: Run, parts: int, node: Node) -> Foresight | None:
        try:
            role = self._people.author(run.scope, run.created_by).role
        except NotFound:
            # Somebody who left; each call says so.
            return None
        access = Access(Principal(run.created_by, "", "", Via.session), run.scope, role)
        return self._prices.of_fan_out(access, node, parts)
