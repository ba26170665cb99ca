"""Budgets as somebody sees them: those of what is open to them, with names, use and where they will be at their reset."""

from collections.abc import Callable
from dataclasses import dataclass

from steward.app.figure_names import flow_titles, people_names
from steward.broker import BudgetLimits, KeptBudget, PeriodBudget, PeriodBudgets
from steward.core import Clock, Invalid, NotFound, Problem
from steward.identity import Access, Identity, Role
from steward.observe import BudgetOutlook, ExpectedUse, shows
from steward.playbooks import SUBJECT, Playbooks


@dataclass(frozen=True)
class SeenBudget:
    kept: KeptBudget
    title: str
    """Of whom or what it is."""
    expected: ExpectedUse | None
    """At the reset; None without a week of history."""


class BudgetDesk:
    """One caller at the budgets of a project."""

    def __init__(
        self,
        budgets: PeriodBudgets,
        outlook: BudgetOutlook,
        identity: Identity,
        playbooks: Playbooks,
        clock: Clock,
        access: Access,
    ) -> None:
        self._budgets = budgets
        self._outlook = outlook
        self._playbooks = playbooks
        self._clock = clock
        self._access = access
        self._flow_title: Callable[[str], str] = flow_titles(playbooks, access)
        self._person_name: Callable[[str], str] = people_names(identity)

    def listed(self) -> list[SeenBudget]:
        kept = [each for each in self._budgets.listed(self._access.scope) if self._is_open(each)]
        now = self._clock.now()
        expected = self._outlook.expected(self._access.scope, kept, now)
        return [
            SeenBudget(each, self._title(each.document), expected.get(each.id)) for each in kept
        ]

    def get(self, budget_id: str) -> SeenBudget:
        found = self._budgets.get(self._access.scope, budget_id)
        if not self._is_open(found):
            raise NotFound("There is no such budget in this project.")
        return self._seen(found)

    def add(self, document: PeriodBudget) -> SeenBudget:
        if document.kind == "flow" and document.name.startswith(SUBJECT):
            try:
                self._playbooks.library.get(self._access, document.name.removeprefix(SUBJECT))
            except NotFound:
                said = "there is no such playbook in this project"
                problem = Problem("/name", said)
                raise Invalid(f"The budget names a flow: {said}.", problems=[problem]) from None
        return self._seen(self._budgets.add(self._access, document))

    def change(self, budget_id: str, limits: BudgetLimits, expected: int) -> SeenBudget:
        return self._seen(self._budgets.change(self._access, budget_id, limits, expected))

    def delete(self, budget_id: str, expected: int) -> None:
        self._budgets.delete(self._access, budget_id, expected)

    def _seen(self, kept: KeptBudget) -> SeenBudget:
        expected = self._outlook.expected(self._access.scope, [kept], self._clock.now())
        return SeenBudget(kept, self._title(kept.document), expected.get(kept.id))

    def _is_open(self, kept: KeptBudget) -> bool:
        """Budgets of hidden playbooks are hidden; those of people are for them and for admins."""
        document = kept.document
        if document.kind == "flow":
            return shows(self._playbooks.people.sight(self._access).among, document.name)
        if document.kind == "person":
            return self._access.role >= Role.admin or document.name == self._access.user_id
        return True

    def _title(self, document: PeriodBudget) -> str:
        match document.kind:
            case "project":
                return "The whole project"
            case "flow":
                return self._flow_title(document.name)
            case "person":
                return self._person_name(document.name)
            case "agent":
                return document.name
