"""Agents change through their tool: shown before, recorded, taken back."""

from typing import Any

import pytest

from steward.core.errors import Invalid, NotFound, Stale
from steward.testing.tools import Trial, check_tool
from steward.tools import load_tools
from tests.tools.room import Room, run


def document(**more: Any) -> dict[str, Any]:
    return {
        "name": "helper",
        "title": "Helper",
        "description": "Helps.",
        "instructions": "Help.",
        **more,
    }


def arguments(**more: Any) -> dict[str, Any]:
    return {"name": "helper", "document": document(**more), "message": "Wanted"}


def context(room: Room, **more: Any) -> Any:
    return room.context(agents=room.steward.agents, **more)


def test_the_tool_keeps_the_contract_and_takes_its_change_back(room: Room) -> None:
    outcome = check_tool(load_tools().get("change_agent"), Trial(context(room), arguments()))

    assert outcome is not None
    assert outcome.value == {"name": "helper", "version": 1, "archived": False}
    with pytest.raises(NotFound, match="no agent called 'helper'"):
        room.steward.agents.find(room.scope, "helper")


def test_a_preview_shows_each_field_that_changes(room: Room) -> None:
    room.call("change_agent", arguments(), context(room, ticket="one"))

    shown = room.preview("change_agent", arguments(instructions="Help.\nBe short."), context(room))

    (change,) = shown.details["changes"]
    assert change["field"] == "instructions"
    assert "+Be short." in change["lines"]
    assert shown.summary == "Save the agent helper, version 2"


def test_a_change_from_or_to_a_default_shows_both_values(room: Room) -> None:
    room.call("change_agent", arguments(role="explainer"), context(room, ticket="one"))

    shown = room.preview("change_agent", arguments(memory={}), context(room))

    lines = {change["field"]: change["lines"] for change in shown.details["changes"]}
    assert [*lines["role"][1:]] == ["-explainer", "+operator"]
    assert [*lines["memory"][1:]] == ["+keep: 20", "+per: project"]


def test_undo_brings_the_version_before_back_unless_somebody_changed_it_since(room: Room) -> None:
    tool = load_tools().get("change_agent")
    room.call("change_agent", arguments(), context(room, ticket="one"))
    second = room.call("change_agent", arguments(title="Second"), context(room, ticket="two"))
    checked = tool.arguments.model_validate(arguments(title="Second"))
    assert tool.undo is not None

    run(tool.undo(context(room, ticket="three"), checked, second.inverse))

    assert room.steward.agents.find(room.scope, "helper").title == "Helper"
    assert [each.version for each in room.steward.agents.versions(room.scope, "helper")] == [
        *(3, 2, 1)
    ]
    with pytest.raises(Stale, match="has changed since"):
        run(tool.undo(context(room, ticket="four"), checked, second.inverse))


def test_an_archived_agent_is_gone_and_comes_back(room: Room) -> None:
    room.call("change_agent", arguments(), context(room, ticket="one"))
    room.call("change_agent", {"name": "helper"}, context(room, ticket="two"))

    assert [each.agent.name for each in room.steward.agents.archived(room.scope)] == ["helper"]
    with pytest.raises(NotFound):
        room.call("change_agent", {"name": "helper"}, context(room, ticket="three"))
    room.call("change_agent", arguments(), context(room, ticket="four"))
    assert room.steward.agents.find(room.scope, "helper").title == "Helper"


@pytest.mark.parametrize(
    ("change", "place", "reason"),
    [
        ({"tools": ["lost"]}, "/tools/0", "there is no tool 'lost'"),
        ({"tools": ["send_email"]}, "/tools/0", "raise `highest_risk`"),
        ({"tools": ["change_agent"], "highest_risk": "write"}, "/tools/0", "for people alone"),
        ({"tools": ["preview", "preview"]}, "/tools/1", "twice"),
        ({"skills": ["lost"]}, "/skills/0", "no skill 'lost'"),
        ({"model": "openai:lost"}, "/model", "is not set up"),
        ({"guardrails": ["lost"]}, "/guardrails/0", "no guardrail called 'lost'"),
        ({"guardrails": [{"use": "max-length", "characters": 0}]}, "/guardrails/0", "characters"),
        ({"output": {"type": "strange"}}, "/output", "not a JSON Schema"),
        ({"input": {"type": 3}}, "/input", "not a JSON Schema"),
        ({"handoffs": {"how": "choice", "to": ["lost"]}}, "/handoffs/to/0", "no agent 'lost'"),
        ({"handoffs": {"how": "choice", "to": ["helper"]}}, "/handoffs/to/0", "in a circle"),
        ({"name": "other"}, "/name", "not 'helper'"),
        ({"instructions": ""}, "/instructions", "at least 1"),
        ({"secret": 1}, "/secret", "not permitted"),
    ],
)
def test_what_leads_nowhere_is_refused_with_its_place(
    room: Room, change: dict[str, Any], place: str, reason: str
) -> None:
    with pytest.raises(Invalid, match=reason) as refused:
        room.call("change_agent", arguments(**change), context(room, ticket="one"))

    assert place in [problem.pointer for problem in refused.value.problems]


def test_a_circle_through_others_is_refused(room: Room) -> None:
    other = {**document(name="other"), "handoffs": {"how": "sequence", "to": ["helper"]}}
    room.call("change_agent", arguments(), context(room, ticket="one"))
    room.call("change_agent", {"name": "other", "document": other}, context(room, ticket="two"))

    with pytest.raises(Invalid, match="helper → other → helper"):
        room.call(
            "change_agent",
            arguments(handoffs={"how": "parallel", "to": ["other"]}),
            context(room, ticket="three"),
        )


def test_names_that_come_with_steward_are_taken(room: Room) -> None:
    taken = {"name": "summariser", "document": document(name="summariser")}
    with pytest.raises(Invalid, match="comes with Steward"):
        room.call("change_agent", taken, context(room, ticket="one"))


def test_a_change_made_from_an_old_version_is_refused(room: Room) -> None:
    room.call("change_agent", arguments(), context(room, ticket="one"))

    with pytest.raises(Stale):
        room.call(
            "change_agent",
            {**arguments(title="Late"), "version": 0},
            context(room, ticket="two"),
        )
