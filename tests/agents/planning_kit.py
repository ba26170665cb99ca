"""A small catalogue without an installation, and a run that only remembers: for tests of planning."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from steward.agents.operating.roster import builtin_roster
from steward.agents.planning.plan_checks import Catalogue, DatasetFacts, ToolFacts
from steward.agents.planning.task import Task
from steward.broker.tool import Risk
from steward.core.errors import StewardError
from steward.definitions import ColumnFacts
from steward.definitions.facts import kind_of
from steward.runs import StepFailed
from steward.store import Scope
from steward.tools import load_tools

TODAY = date(2026, 11, 15)
TABLES: dict[str, dict[str, str]] = {
    "orders": {
        "order_no": "VARCHAR",
        "customer_no": "VARCHAR",
        "ordered_on": "DATE",
        "amount": "DOUBLE",
        "country": "VARCHAR",
        "product": "VARCHAR",
    },
    "customers": {
        "customer_no": "VARCHAR",
        "name": "VARCHAR",
        "email": "VARCHAR",
        "city": "VARCHAR",
    },
}
MEANINGS = {"country": ("country",), "email": ("email",), "product": ("category",)}
VALUES = {
    "country": ("DE", "FR", "NL"),
    "product": ("Desk", "Chair", "Lamp"),
    "city": ("Berlin", "Paris"),
}


def dataset(name: str, columns: dict[str, str], key: str, rows: int = 1_000) -> DatasetFacts:
    found = tuple(
        ColumnFacts(
            column,
            kind,
            kind_of(kind),
            MEANINGS.get(column, ()),
            distinct=len(VALUES.get(column, ())) or 900,
            values=VALUES.get(column, ()),
            personal=column == "email",
        )
        for column, kind in columns.items()
    )
    return DatasetFacts(name, rows, found, f"ver_{name}", True, (key,), 0)


def catalogue(**more: Any) -> Catalogue:
    facts = {
        "orders": dataset("orders", TABLES["orders"], "order_no"),
        "customers": dataset("customers", TABLES["customers"], "customer_no"),
    }
    tools = {name: ToolFacts.of(tool) for name, tool in load_tools()}
    known: dict[str, Any] = {
        "tools": tools,
        "agents": builtin_roster(),
        "datasets": facts,
        "skills": {"report-writing": "How to write reports."},
        "forbidden": frozenset({"http_request", "restore"}),
        "highest_risk": Risk.external_send,
    }
    return Catalogue(**{**known, **more})


def task(message: str, **more: Any) -> Task:
    return Task(message, TODAY, "0123456789abcdef0123", **more)


@dataclass
class Memory:
    """A run as a desk needs it: steps are done once and remembered."""

    scope: Scope = field(default_factory=lambda: Scope("org_1", "prj_1"))
    done: dict[str, Any] = field(default_factory=dict)

    @property
    def run(self) -> "Memory":
        return self

    async def step(
        self,
        key: str,
        request: Any,
        perform: Callable[[], Awaitable[Any]],
        *,
        type: str = "",  # noqa: A002
        interruptible: bool = False,
    ) -> Any:
        if key not in self.done:
            try:
                self.done[key] = await perform()
            except StewardError as error:
                raise StepFailed(key, error.specific_code, error.message) from None
        return self.done[key]
