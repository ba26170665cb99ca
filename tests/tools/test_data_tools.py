"""The data tools' values: rows, schemas, insights, changes, and what a stale preview leads to."""

from dataclasses import replace
from typing import Any

import pytest

from scripts.samples import generate
from steward.broker.tool import TOOLS, Outcome
from steward.core.errors import Bug, Conflict, Invalid, NotFound, Unavailable
from steward.runs import Found
from tests.tools.conftest import CUSTOMERS
from tests.tools.room import Room

SAMPLES = generate(customers=CUSTOMERS)
CRM = SAMPLES.dataset("crm_customers")
TRIM = {"dataset": "crm_customers", "operation": "trim", "arguments": {}}


def test_datasets_are_listed_and_described(room: Room) -> None:
    listed = room.call("list_datasets", {})
    assert {each["name"]: each["rows"] for each in listed.value["datasets"]} == {
        dataset.name: dataset.rows for dataset in SAMPLES.datasets
    }
    assert listed.trusted
    described = room.call("get_dataset_schema", {"dataset": "crm_customers"})
    assert [column["name"] for column in described.value["columns"]] == list(CRM.columns)
    assert described.value["commits"][0]["operation"] == "ingest"
    assert described.sources == (f"dataset:crm_customers@{described.value['version']}",)
    assert not described.trusted
    with pytest.raises(NotFound, match="nothing"):
        room.call("get_dataset_schema", {"dataset": "nothing"})


def test_rows_are_filtered_sorted_and_marked_as_foreign(room: Room) -> None:
    page = room.call(
        "preview",
        {
            "dataset": "crm_customers",
            "limit": 3,
            "filters": [{"column": "customer_id", "operator": "filled"}],
            "sort": [{"column": "customer_id", "descending": True}],
        },
    )
    ids = [row[0] for row in page.value["rows"]]
    assert ids == sorted(ids, reverse=True)
    assert (len(ids), page.value["total"], page.trusted) == (3, CRM.rows, False)
    assert page.cost.rows == 3
    estimate = TOOLS.get("preview").estimate
    assert estimate is not None
    with pytest.raises(Invalid, match="no column"):
        room.call("preview", {"dataset": "crm_customers", "sort": [{"column": "x"}]})


def test_insights_are_found_and_their_failures_told(room: Room) -> None:
    profile = room.call("profile", {"dataset": "crm_customers"})
    assert profile.value["rows"] == CRM.rows
    assert len(profile.value["columns"]) == len(CRM.columns)
    again = room.call("profile", {"dataset": "crm_customers"})
    assert again.value == profile.value
    related = room.call("relate", {"datasets": ["crm_customers", "billing_invoices"]})
    assert "crm_id" in str(related.value)
    assert len(related.sources) == 2
    with pytest.raises(NotFound):
        room.call("correlate", {"dataset": "nothing"})
    with pytest.raises(NotFound):
        room.call("relate", {"datasets": ["crm_customers", "nothing"]})


def test_a_change_is_committed_in_the_name_of_the_run(room: Room) -> None:
    preview = room.preview("clean", TRIM)
    cells = preview.details["counts"]["changed_cells"]
    assert cells > 0
    assert all(cell["new"] == cell["old"].strip() for cell in preview.details["cells"])
    outcome = room.call("clean", TRIM)
    assert outcome.value["counts"]["changed_cells"] == cells
    assert outcome.value["counts"]["rows"] == CRM.rows
    commit = room.workspace.commit_at(outcome.commits[0])
    assert (commit.run_id, commit.operation) == (room.context().run_id, "trim")
    assert outcome.sources == (f"dataset:crm_customers@{outcome.value['version']}",)


def test_what_changed_since_the_preview_is_not_carried_out(room: Room) -> None:
    context = room.context(ticket="first")
    preview = room.preview("clean", TRIM, context)
    agreed = room.after(context, preview)
    room.call("clean", TRIM | {"operation": "collapse_spaces"})
    with pytest.raises(Conflict, match="since the preview"):
        room.call("clean", TRIM, agreed)
    assert room.reconcile("clean", TRIM, agreed).found is Found.not_happened
    # A change of something else does not matter.
    context = room.context(ticket="second")
    agreed = room.after(context, room.preview("clean", TRIM, context))
    room.call("edit_file", {"path": "a.txt", "old": "", "new": "a"})
    assert room.call("clean", TRIM, agreed).commits


def test_a_target_that_appeared_since_the_preview_is_not_overwritten(room: Room) -> None:
    arguments = TRIM | {"target": "tidy"}
    context = room.context(ticket="third")
    agreed = room.after(context, room.preview("clean", arguments, context))
    room.call("clean", arguments)
    with pytest.raises(Conflict, match="tidy"):
        room.call("clean", arguments, agreed)


def test_a_lost_outcome_is_found_again_by_the_ticket(room: Room) -> None:
    context = room.context(ticket="lost")
    assert room.reconcile("clean", TRIM, context).found is Found.not_happened
    outcome = room.call("clean", TRIM, context)
    found = room.reconcile("clean", TRIM, context)
    assert found.found is Found.happened
    assert found.result["value"] == outcome.value
    assert found.result["labels"] == {"sources": list(outcome.sources), "trusted": False}
    other = room.context(ticket="other")
    assert room.reconcile("clean", TRIM, other).found is Found.not_happened


def test_wrong_operations_and_arguments_are_explained(room: Room) -> None:
    with pytest.raises(NotFound, match="trim"):
        room.preview("clean", TRIM | {"operation": "polish"})
    with pytest.raises(Invalid, match="columns"):
        room.preview("clean", TRIM | {"arguments": {"columns": 7}})
    schema = TOOLS.get("clean").schema()
    assert {"trim", "retype"} <= set(schema["properties"]["operation"]["enum"])


def test_redaction_says_what_stays_and_shows_no_old_value(room: Room) -> None:
    arguments = {
        "dataset": "crm_customers",
        "columns": {"email": {"method": "mask"}, "customer_id": {"method": "drop"}},
        "target": "safe",
    }
    preview = room.preview("redact", arguments)
    assert "Earlier versions" in preview.details["warnings"][-1]
    assert all(cell["old"] is None for cell in preview.details["cells"])
    outcome = room.call("redact", arguments)
    shown = room.call("preview", {"dataset": "safe", "limit": 50})
    assert "customer_id" not in [column["name"] for column in shown.value["columns"]]
    assert outcome.value["dataset"] == "safe"


def test_joins_and_unions_count_what_they_promise(room: Room) -> None:
    join = {
        "datasets": ["billing_invoices", "crm_customers"],
        "target": "joined",
        "on": [{"left": "crm_id", "right": "customer_id"}],
        "how": "inner",
    }
    promised = room.preview("join", join).details["counts"]["rows"]
    assert room.call("join", join).value["counts"] == {"rows": promised}
    union = {"datasets": ["crm_customers", "crm_customers"], "target": "twice"}
    with pytest.raises(Invalid):
        room.preview("union", union | {"datasets": ["crm_customers", "crm_customers"]})
    estimate = TOOLS.get("join").estimate
    assert estimate is not None
    checked = TOOLS.get("join").arguments.model_validate(join)
    assert (
        estimate(room.context(), checked).rows
        == CRM.rows + SAMPLES.dataset("billing_invoices").rows
    )


def test_rules_that_were_approved_are_the_rules_that_run(room: Room) -> None:
    arguments = {"datasets": ["crm_customers"], "target": "customers"}
    context = room.context(ticket="entities")
    preview = room.preview("resolve_entities", arguments, context)
    stricter = preview.payload["rules"].replace("match: ", "match: 0.99 # ")
    assert stricter != preview.payload["rules"]
    asked = replace(preview, payload=preview.payload | {"rules": stricter})
    outcome = room.call("resolve_entities", arguments, room.after(context, asked))
    commit = room.workspace.commit_at(outcome.commits[0])
    assert commit.arguments["rules"] == stricter
    assert outcome.value["counts"]["rows"] == CRM.rows
    assert set(outcome.value["datasets"]) == {
        "customers",
        "customers mapping",
        "customers pairs",
    }


def test_a_chart_is_a_specification_with_a_file(room: Room) -> None:
    outcome = room.call(
        "chart", {"dataset": "billing_invoices", "chart": {"kind": "bar", "x": "currency"}}
    )
    assert "$schema" in outcome.value["spec"]
    [artifact] = outcome.artifacts
    assert room.steward.blobs.size(artifact.digest) == artifact.size
    with pytest.raises(Invalid, match="no column"):
        room.call("chart", {"dataset": "billing_invoices", "chart": {"kind": "bar", "x": "no"}})


def test_documents_are_files_of_the_branch(room: Room) -> None:
    preview = room.preview("render_xlsx", {"dataset": "crm_customers"})
    assert preview.details["files"] == ["exports/crm_customers.xlsx"]
    outcome = room.call("render_xlsx", {"dataset": "crm_customers"})
    content = b"".join(room.workspace.read_file("exports/crm_customers.xlsx"))
    assert content.startswith(b"PK")
    assert outcome.artifacts[0].size == len(content)
    again = room.preview("render_xlsx", {"dataset": "crm_customers", "name": "crm_customers"})
    assert again.details["replaces"] == ["exports/crm_customers.xlsx"]


def test_services_that_are_not_there_are_named(room: Room) -> None:
    with pytest.raises(Unavailable, match="sandbox"):
        room.call("query", {"sql": "SELECT 1"})
    with pytest.raises(Unavailable, match="playbooks"):
        room.call("call_playbook", {"playbook": "monthly"})
    with pytest.raises(Bug, match="broker"):
        room.call("ask_human", {"question": "Why?"})


def test_a_playbook_is_called_through_its_service(room: Room) -> None:
    class Playbooks:
        async def call(self, context: Any, playbook: str, inputs: Any) -> Outcome:
            return Outcome({"playbook": playbook, "inputs": inputs}, "done")

    context = room.context(playbooks=Playbooks())
    outcome = room.call("call_playbook", {"playbook": "p", "inputs": {"a": 1}}, context)
    assert outcome.value == {"playbook": "p", "inputs": {"a": 1}}
