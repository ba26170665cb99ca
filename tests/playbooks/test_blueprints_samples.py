"""Blueprints with sample data of their own: each runs to its end, with what it asks answered here."""

from collections.abc import Callable
from typing import Any

import pytest

from steward.runs import Run, Status
from tests.playbooks.conftest import Room

Answer = Callable[[dict[str, Any]], Any]


@pytest.fixture
def database_url() -> None:
    """SQLite alone: a story takes long, and its SQL is DuckDB's."""


def load(room: Room, name: str, csv: str) -> None:
    bringing, access = room.installation.steward.workbench.bringing, room.editor.access
    bringing.load_text(access.scope, access.user_id, f"{name}.csv", csv, name)


def run_through(room: Room, blueprint_id: str, answer: Answer | None = None, **change: str) -> Run:
    """Loads the sample, forks, runs with the sample's inputs, and answers what is asked."""
    blueprint = room.playbooks.blueprints.get(blueprint_id)
    for sample in blueprint.sample.datasets:
        load(room, sample.name, change.get(sample.name, sample.csv))
    card = room.playbooks.blueprints.fork(room.editor.access, blueprint.id)
    run = room.playbooks.running.start(room.editor.access, card.id, blueprint.sample.inputs)
    room.drive()
    while room.fresh(run).waits:
        request = (room.fresh(run).waits or [])[0]["request"]
        assert answer is not None, request
        room.answer(run, answer(request))
    return room.fresh(run)


def output(room: Room, run: Run) -> Any:
    assert run.status is Status.done, run.reason
    return room.runs.outcome(run.scope, run.id)["output"]


def approve(request: dict[str, Any]) -> Any:
    return {"decision": "approve", "body_hash": request["body_hash"]}


def test_two_systems_are_reconciled(room: Room) -> None:
    found = output(room, run_through(room, "reconcile-two-systems", approve))
    assert {row[0]: row[1] for row in found["summary"]} == {
        "agrees": 4,
        "another amount": 1,
        "another date": 1,
        "only in the bank": 1,
        "only in the ledger": 1,
        "twice in the ledger": 1,
    }
    assert sorted(name.rpartition(".")[2] for name in found["files"]) == ["html", "pdf", "xlsx"]


def test_a_process_is_mapped(room: Room) -> None:
    found = output(room, run_through(room, "pipeline-process-map"))
    assert (found["cases"], found["conforming"]) == (5, 2)
    assert found["bottleneck"] == "Order checked > Goods shipped"
    access = room.editor.access
    place = room.installation.steward.workbench.datasets.workspace(access.scope, access.user_id)
    drawn = b"".join(place.read_file("maps/process_map.svg")).decode()
    assert "Order changed" in drawn
    assert "times" in drawn
    version = place.dataset("process_conformance").version
    page = room.installation.steward.workbench.datasets.rows(access.scope, version)
    names = [column.name for column in page.columns]
    cases = {row[0]: dict(zip(names, row, strict=True)) for row in page.rows}
    assert cases["A3"]["left_out"] == "Order checked"
    assert "Order changed" in str(cases["A4"]["added"])
    assert str(cases["A5"]["out_of_order"]).lower() == "true"


def test_margins_that_fell_are_marked(room: Room) -> None:
    found = output(room, run_through(room, "weekly-margin-cockpit"))
    assert [row[0] for row in found["fell"]] == ["Alpha"]


def test_sales_without_costs_stop_the_cockpit(room: Room) -> None:
    costs = "product,unit_cost\nAlpha,15.00\nBeta,30.00\n"
    run = run_through(room, "weekly-margin-cockpit", unit_costs=costs)
    assert run.status is Status.failed
    assert "Gamma has no unit cost" in (run.reason or "")


def test_deductions_are_decided(room: Room) -> None:
    asked: list[str] = []

    def decide(request: dict[str, Any]) -> str:
        asked.append(request["question"])
        return "dispute"

    found = output(room, run_through(room, "cash-collection-and-deductions", decide))
    assert len(asked) == 1
    assert "Northwind deducted 30.00 from R-1" in asked[0]
    assert found["decisions"] == [{"payment": "P-1", "decision": "dispute"}]
    assert {row[0]: row[2] for row in found["ages"]} == {
        "1 to 30 days": "30.00",
        "31 to 60 days": "50.00",
        "not due": "800.00",
        "over 90 days": "250.00",
        "settled": "0.00",
    }


@pytest.mark.parametrize("blueprint", ["pipeline-process-map", "weekly-margin-cockpit"])
def test_a_second_run_on_the_same_data_ends_as_the_first(room: Room, blueprint: str) -> None:
    """Nothing differs, so no file does; they are the run's files all the same."""
    first = output(room, run_through(room, blueprint))
    again = room.playbooks.running.start(
        room.editor.access, blueprint, room.playbooks.blueprints.get(blueprint).sample.inputs
    )
    room.drive()
    assert output(room, room.fresh(again)) == first
