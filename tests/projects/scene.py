"""A project with one of everything that a folder can hold."""

from pathlib import Path
from typing import Any

from steward.app import Steward
from steward.broker import PeriodBudget
from steward.connections import Draft
from steward.core.documents import dump_yaml
from steward.identity import Access
from steward.projects import Plan, Values

HELPER = {
    "name": "helper",
    "title": "Helper",
    "description": "Helps.",
    "instructions": "Help.\nBe short.",
}
NIGHTLY = """format: 1
id: nightly
name: Nightly count
folder: Finance/Daily
# Monday is enough.
allowed: {everyone: true}
connections: [warehouse-dev]
agents: [helper]
budget: {usd: 1}
triggers:
  - {type: cron, cron: "0 6 * * 1", time_zone: Europe/Berlin}
steps:
  - id: count
    tool: query
    arguments: {sql: "SELECT 1 + 1 AS n"}
"""
WEEKLY = """format: 1
id: weekly
allowed: {everyone: true}
budget: {usd: 1}
steps:
  - {id: inner, type: subflow, ref: nightly}
"""
POLICY = '@id("look") @outcome("allow") permit (principal, action, resource);\n'
LAYOUT = {"places": {"count": {"x": 10, "y": 20}}}


def fill(steward: Steward, access: Access) -> None:
    """One of each kind, as people make them."""
    scope, by = access.scope, access.user_id
    steward.connections.documents.create(
        access,
        Draft(
            "warehouse-dev",
            "postgresql",
            {"host": "db.dev.example", "database": "sales", "user": "reader"},
            scope_hint="Sales",
            values={"password": "a very long passphrase"},
        ),
    )
    steward.agents.change(scope, by, "helper", HELPER, message="", call="", expected=0)
    library, deploying = steward.playbooks.library, steward.playbooks.deploying
    library.create(access, NIGHTLY, layout=LAYOUT)
    deploying.deploy(access, "nightly")
    library.create(access, WEEKLY)
    deploying.deploy(access, "weekly")
    rulebook = steward.governing.rulebook
    rulebook.save(access, "project", POLICY, 0)
    rulebook.save(access, "playbook", POLICY, 0, subject="nightly")
    rulebook.change_settings(access, 0, tools={"send_email": {"connection": "warehouse-dev"}})
    budgets, card = steward.governing.period_budgets, library.get(access, "nightly")
    budgets.add(access, PeriodBudget(kind="project", period="month", usd=50))
    budgets.add(
        access, PeriodBudget(kind="flow", name=f"playbook:{card.id}", period="day", usd="0.5")
    )
    bringing = steward.workbench.bringing
    bringing.load_text(scope, by, "people.csv", "name,city\nAnn,Wien\nBea,Graz\n", "people")
    store = steward.definitions
    changes = [
        ("/tables/people", {"row": "person", "state": "confirmed", "by": access.principal.name}),
        ("/tables/people/columns/city", {"role": "dimension", "state": "confirmed"}),
        ("/metrics/heads", {"over": "people", "formula": "count(name)", "state": "confirmed"}),
    ]
    from steward.definitions import planned_changes

    planned = planned_changes(store.current(scope).definitions, changes)
    store.save(scope, by, planned, message="", call="")


def plan(
    steward: Steward,
    access: Access,
    folder: Path,
    values: dict[str, Any] | None = None,
    **more: Any,
) -> Plan:
    code = steward.project_code
    return code.plan(access, code.read(folder), Values.model_validate(values or {}), **more)


def put(folder: Path, name: str, document: Any) -> None:
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(document if isinstance(document, str) else dump_yaml(document))


def texts(folder: Path) -> dict[str, str]:
    """Every file of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
