"""Definitions change through their tool: shown before, recorded, taken back."""

from typing import Any

import pytest

from steward.core.errors import Conflict, Invalid, Stale
from steward.definitions import Work, to_entries
from steward.testing.tools import Trial, check_tool
from steward.tools import load_tools
from tests.tools.room import Room, run

METRIC = "/metrics/turnover"
FORMULA = {"formula": "sum(gross) / count(*)", "over": "billing_invoices", "state": "confirmed"}


def arguments(**value: Any) -> dict[str, Any]:
    return {"changes": [{"entry": METRIC, "value": {**FORMULA, **value}}], "message": "Agreed"}


def work(_scope: Any, _user: str) -> list[Work]:
    plan = {"source": "billing_invoices", "aggregate": [{"name": "turnover", "function": "count"}]}
    return [
        Work("monthly", "Monthly figures", ({"with": {"plan": plan}},)),
        Work("sql", "By SQL", ({"with": {"sql": 'SELECT "gross" FROM billing_invoices'}},)),
        Work("other", "Other", ({"with": {"dataset": "crm_customers"}},)),
    ]


def context(room: Room, **more: Any) -> Any:
    return room.context(definitions=room.steward.definitions, work_on_data=work, **more)


def test_the_tool_keeps_the_contract_and_takes_its_change_back(room: Room) -> None:
    tool = load_tools().get("change_definitions")

    outcome = check_tool(tool, Trial(context(room), arguments()))

    assert outcome is not None
    assert outcome.value == {"revision": 1, "changed": 1}
    assert room.steward.definitions.current(room.scope).definitions.metrics == {}


def test_a_preview_tells_what_changes_and_what_uses_it(room: Room) -> None:
    shown = room.preview("change_definitions", arguments(), context(room))

    (change,) = shown.details["changes"]
    assert (change["entry"], change["before"]) == (METRIC, None)
    assert change["after"]["by"] == room.author
    room.call("change_definitions", arguments(), context(room, ticket="one"))
    again = room.preview("change_definitions", arguments(unit="EUR"), context(room))
    assert [use["name"] for use in again.details["used_by"]] == ["monthly"]
    column = {"entry": "/tables/billing_invoices/columns/gross", "value": {"role": "measure"}}
    uses = room.preview("change_definitions", {"changes": [column]}, context(room)).details[
        "used_by"
    ]
    assert [(use["kind"], use["name"]) for use in uses] == [
        ("playbook", "sql"),
        ("metric", "turnover"),
    ]


def test_undo_is_refused_where_somebody_changed_the_entry_since(room: Room) -> None:
    tool = load_tools().get("change_definitions")
    first = room.call("change_definitions", arguments(), context(room, ticket="one"))
    room.call("change_definitions", arguments(unit="EUR"), context(room, ticket="two"))
    assert tool.undo is not None
    checked = tool.arguments.model_validate(arguments())

    with pytest.raises(Conflict, match="changed meanwhile"):
        run(tool.undo(context(room, ticket="three"), checked, first.inverse))


@pytest.mark.parametrize(
    ("entry", "value", "reason"),
    [
        (METRIC, {**FORMULA, "formula": "sum(lost)"}, "there is no column 'lost'"),
        (METRIC, {**FORMULA, "over": "nothing"}, "which is no dataset"),
        (METRIC, {"formula": "count(*)"}, "over"),
        ("/tables/billing_invoices/segments/unpaid", {"where": "status ="}, "not written as SQL"),
        (
            "/tables/billing_invoices/columns/gross",
            {"role": "text", "total": "sum"},
            "only a measure",
        ),
        ("/tables/billing_invoices", {"columns": {}}, "one by one"),
        ("/nothing/at/all", {}, "no kind of entry"),
        ("metrics", {}, "does not name an entry"),
    ],
)
def test_what_cannot_be_computed_is_refused(
    room: Room, entry: str, value: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Invalid, match=reason):
        room.call(
            "change_definitions",
            {"changes": [{"entry": entry, "value": value}]},
            context(room, ticket="one"),
        )


def test_a_change_made_from_an_old_revision_is_refused(room: Room) -> None:
    room.call("change_definitions", arguments(), context(room, ticket="one"))

    with pytest.raises(Stale):
        room.call(
            "change_definitions",
            {**arguments(unit="EUR"), "revision": 0},
            context(room, ticket="two"),
        )


def test_an_edited_condition_moves_its_entry(room: Room) -> None:
    place = "/tables/billing_invoices/default_filters/"
    first = {"where": "gross > 0", "say": "without credits", "state": "confirmed"}
    change = {"changes": [{"entry": f"{place}new", "value": first}]}
    room.call("change_definitions", change, context(room, ticket="one"))
    edited = {
        "changes": [{"entry": f"{place}gross > 0", "value": {**first, "where": "gross >= 0"}}]
    }

    room.call("change_definitions", edited, context(room, ticket="two"))

    found = to_entries(room.steward.definitions.current(room.scope).definitions)
    assert list(found) == [f"{place}gross >= 0"]
