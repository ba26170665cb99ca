"""Every registered tool keeps the contract of tools, on the sample data."""

from typing import Any

import pytest

from steward.broker.tool import Risk
from steward.testing.tools import Trial, check_tool
from steward.tools import load_tools
from tests.tools.room import Room

FIRST_SET = {
    "ask_human",
    "call_playbook",
    "chart",
    "clean",
    "correlate",
    "edit_file",
    "get_dataset_schema",
    "http_request",
    "ingest",
    "join",
    "list_changes",
    "list_datasets",
    "preview",
    "profile",
    "query",
    "read_artifact",
    "encrypt_columns",
    "redact",
    "relate",
    "render_xlsx",
    "report",
    "resolve_entities",
    "restore",
    "send_email",
    "send_slack",
    "send_webhook",
    "snapshot",
    "undo",
    "union",
}

CALLS = [
    ("list_datasets", {}),
    ("list_changes", {"dataset": "crm_customers"}),
    ("get_dataset_schema", {"dataset": "crm_customers"}),
    ("preview", {"dataset": "billing_invoices", "limit": 5}),
    ("profile", {"dataset": "support_tickets"}),
    ("correlate", {"dataset": "billing_invoices"}),
    ("relate", {}),
    ("clean", {"dataset": "crm_customers", "operation": "trim", "arguments": {}}),
    (
        "clean",
        {"dataset": "crm_customers", "operation": "collapse_spaces", "target": "tidy"},
    ),
    (
        "redact",
        {"dataset": "crm_customers", "columns": {"email": {"method": "hash"}}},
    ),
    (
        "join",
        {
            "datasets": ["billing_invoices", "crm_customers"],
            "target": "joined",
            "on": [{"left": "crm_id", "right": "customer_id"}],
        },
    ),
    (
        "union",
        {
            "datasets": ["crm_customers", "support_tickets"],
            "target": "everything",
            "provenance": "from",
        },
    ),
    pytest.param(
        "resolve_entities",
        {"datasets": ["crm_customers"], "target": "customers"},
    ),
    (
        "chart",
        {"dataset": "billing_invoices", "chart": {"kind": "bar", "x": "currency"}},
    ),
    pytest.param("report", {"title": "Customers", "datasets": ["crm_customers"]}),
    ("render_xlsx", {"dataset": "crm_customers"}),
    ("edit_file", {"path": "notes/plan.md", "old": "", "new": "# Plan\n"}),
    ("read_artifact", {"path": "originals/crm_customers.csv", "limit": 100}),
    ("snapshot", {"name": "before cleaning"}),
    ("snapshot", {"name": "try out", "kind": "branch"}),
]


def test_the_first_set_is_there() -> None:
    assert {name for name, _ in load_tools()} >= FIRST_SET


@pytest.mark.parametrize("name", [name for name, _ in load_tools()])
def test_what_a_tool_declares(name: str) -> None:
    tool = load_tools().get(name)
    assert tool.name == name
    check_tool(tool)


@pytest.mark.parametrize(("name", "arguments"), CALLS, ids=lambda value: str(value)[:40])
def test_what_a_call_does_and_leaves_undone(
    room: Room, name: str, arguments: dict[str, Any]
) -> None:
    tool = load_tools().get(name)
    outcome = check_tool(tool, Trial(room.context(), arguments))
    assert outcome is not None
    if tool.risk is Risk.write and name != "snapshot":
        assert len(outcome.commits) == 1


def test_loading_a_file_keeps_the_contract(room: Room) -> None:
    bringing = room.steward.workbench.bringing
    upload = bringing.start(room.scope, "orders.csv", 8)
    bringing.append(room.scope, upload.id, 0, [b"id,n\n1,2"])
    check_tool(
        load_tools().get("ingest"),
        Trial(room.context(), {"dataset": "orders", "upload": upload.id}),
    )


def test_going_back_keeps_the_contract(room: Room) -> None:
    loaded = room.workspace.branch().head
    made = room.call("clean", {"dataset": "crm_customers", "operation": "trim"})
    for name, arguments in (
        ("undo", {"commit": made.commits[0]}),
        ("restore", {"to": loaded}),
        ("restore", {"to": loaded, "datasets": ["crm_customers"]}),
    ):
        outcome = check_tool(load_tools().get(name), Trial(room.context(), arguments))
        assert outcome is not None
        assert outcome.value["counts"] == {"entries": 1}
