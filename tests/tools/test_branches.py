"""Tools that work on a branch and bring it in: by the contract of tools, and refused where they must be."""

import asyncio
from typing import Any

import pytest

from steward.core.errors import Conflict, Denied, Invalid
from steward.testing.tools import Trial, check_tool
from steward.tools import load_tools
from tests.tools.room import Room

BRANCH = "main/try-out"


@pytest.fixture
def resolved(room: Room) -> Room:
    room.workspace.create_branch(BRANCH)
    arguments = {"datasets": ["crm_customers"], "target": "customers", "branch": BRANCH}
    room.call("resolve_entities", arguments, room.context(ticket="resolve"))
    return room


def call(room: Room, tool: str, **arguments: Any) -> Any:
    return asyncio.run(room.calling(tool, arguments, room.context())).value


def test_a_branch_is_checked_compared_and_promoted(resolved: Room) -> None:
    names = {each.name for each in resolved.workspace.datasets()}
    assert "customers" not in names
    checks = call(
        resolved, "check_resolution", datasets=["crm_customers"], target="customers", branch=BRANCH
    )["checks"]
    assert all(each["passed"] for each in checks)
    with pytest.raises(Conflict, match="does not tie out"):
        call(
            resolved,
            "check_resolution",
            datasets=["crm_customers", "support_tickets"],
            target="customers",
            branch=BRANCH,
        )
    compared = call(resolved, "compare_branch", source=BRANCH)
    assert {each["role"] for each in compared["entries"]} == {"added"}
    with pytest.raises(Conflict, match="changed since"):
        call(resolved, "promote", source=BRANCH, commit="cmt_of_yesterday")
    arguments = {"source": BRANCH, "commit": compared["commit"]}
    outcome = check_tool(load_tools().get("promote"), Trial(resolved.context(), arguments))
    assert outcome is not None
    assert outcome.value["counts"] == {"entries": 3}


@pytest.mark.parametrize("branch", ["other", "mainly/x", "main2"])
def test_a_run_reaches_its_own_branch_and_those_below(room: Room, branch: str) -> None:
    with pytest.raises(Denied):
        call(room, "compare_branch", source=branch)
    with pytest.raises(Denied):
        call(room, "resolve_entities", datasets=["crm_customers"], target="x", branch=branch)


def test_a_lineage_map_is_drawn(room: Room) -> None:
    tool = load_tools().get("lineage_map")
    outcome = check_tool(tool, Trial(room.context(), {"dataset": "crm_customers"}))
    assert outcome is not None
    assert outcome.value["files"] == ["lineage/crm_customers.json", "lineage/crm_customers.svg"]


def test_a_process_map_needs_its_columns(room: Room) -> None:
    columns = {"from_column": "currency", "to_column": "country", "count_column": "nothing"}
    with pytest.raises(Invalid, match="no column"):
        call(room, "process_map", dataset="billing_invoices", **columns)
