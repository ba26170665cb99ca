"""Tools that a project brings itself: found by scope, pinned in plans, remembered when they are gone."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from steward.broker.declared import arguments_of
from steward.broker.plans import validated
from steward.broker.presets import PRESETS
from steward.broker.tool import Arguments, Effects, Outcome, Risk, Tool, ToolContext
from steward.core.errors import Invalid, NotFound
from steward.runs import Json
from steward.store import Scope
from tests.broker.conftest import Desk

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "times": {"type": "integer", "default": 2}},
    "required": ["text"],
}


class Echoes:
    """A provider whose one tool, `test.echo`, comes in versions and belongs to one project."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.versions = [1]
        self.risk = Risk.compute
        self.ran: list[tuple[int, Json]] = []

    def find(self, scope: Scope, name: str, pin: Json = None) -> Tool[Any]:
        if scope != self.scope or name != "test.echo" or not self.versions:
            raise NotFound(f"There is no tool {name!r} here.")
        return self._tool(pin["version"] if pin else self.versions[-1])

    def listed(self, scope: Scope) -> Iterable[Tool[Any]]:
        return [self.find(scope, "test.echo")] if scope == self.scope and self.versions else []

    def _tool(self, version: int) -> Tool[Any]:
        async def run(_: ToolContext, arguments: Arguments) -> Outcome:
            given = arguments.model_dump(mode="json")
            self.ran.append((version, given))
            return Outcome(f"{version}: {given['text'] * given['times']}", "Echoed")

        return Tool(
            name="test.echo",
            title="Echo",
            description="Says it again.",
            arguments=arguments_of(SCHEMA, "test.echo"),
            risk=self.risk,
            run=run,
            effects=Effects(reads=True),
            idempotent=True,
            pin={"version": version},
        )


@pytest.fixture
def echoes(desk: Desk) -> Echoes:
    made = Echoes(desk.access.scope)
    desk.steward.governing.broker.tools.provide("test", made)
    return made


def test_a_project_s_own_tool_is_called_with_defaults_and_replays_when_it_is_gone(
    desk: Desk, echoes: Echoes
) -> None:
    run = desk.call("test.echo", text="ha")
    desk.drive()
    assert desk.outcome(run)["output"] == "1: haha"
    echoes.versions = []
    assert desk.replays(run)
    assert echoes.ran == [(1, {"text": "ha", "times": 2})]


def test_another_project_has_no_such_tool(desk: Desk, echoes: Echoes) -> None:
    tools = desk.steward.governing.broker.tools
    other = replace(desk.access.scope, project_id="prj_other")
    with pytest.raises(NotFound):
        tools.get(other, "test.echo")
    assert "test.echo" in {tool.name for tool in tools.listed(desk.access.scope)}
    assert "test.echo" not in {tool.name for tool in tools.listed(other)}


def test_what_was_approved_runs_in_the_version_that_was_approved(
    desk: Desk, echoes: Echoes
) -> None:
    echoes.risk = Risk.destructive
    run = desk.start(
        {"id": "call", "type": "tool", "tool": "test.echo", "arguments": {"text": "x"}},
        highest_risk=Risk.destructive,
    )
    desk.drive()
    approval = desk.approval(run)
    assert approval.body["pin"] == {"version": 1}
    echoes.versions.append(2)
    desk.decide(approval)
    desk.drive()
    assert desk.outcome(run)["output"] == "1: xx"


def test_a_tool_that_became_riskier_since_the_plan_is_refused(desk: Desk, echoes: Echoes) -> None:
    echoes.risk = Risk.destructive
    run = desk.start(
        {"id": "call", "type": "tool", "tool": "test.echo", "arguments": {"text": "x"}},
        highest_risk=Risk.secret,
    )
    desk.drive()
    echoes.risk = Risk.admin
    desk.decide(desk.approval(run))
    desk.drive()
    assert desk.outcome(run)["error"]["code"] == "tool-changed"
    assert echoes.ran == []


def test_a_finished_call_is_recalled_though_its_tool_is_gone(desk: Desk, echoes: Echoes) -> None:
    run = desk.start(
        {"id": "first", "type": "tool", "tool": "test.echo", "arguments": {"text": "x"}},
        {
            "id": "second",
            "type": "tool",
            "tool": "test_send",
            "needs": ["first"],
            "arguments": {"text": "${nodes.first.output}"},
        },
    )
    desk.drive()
    echoes.versions = []
    desk.decide(desk.approval(run))
    desk.passed_window()
    assert desk.status(run) == "done"


def test_arguments_declared_by_a_schema_are_checked_by_place(desk: Desk, echoes: Echoes) -> None:
    tool = echoes.find(desk.access.scope, "test.echo")
    with pytest.raises(Invalid) as wrong:
        validated(tool, {"times": "many", "more": 1})
    assert {(each.pointer, each.message) for each in wrong.value.problems} == {
        ("", "'text' is missing"),
        ("", "'more' is not known here"),
        ("/times", "must be integer, not string"),
    }
    with pytest.raises(Invalid, match="must be of type object"):
        arguments_of({"type": "string"}, "x")


def test_a_policy_may_name_a_tool_that_a_project_brings(desk: Desk, echoes: Echoes) -> None:
    rule = '@id("no-echo") forbid (principal, action == Action::"test.echo", resource);'
    rulebook = desk.steward.governing.rulebook
    rulebook.save(desk.access, "project", PRESETS["trusted"] + rule, 0)
    run = desk.call("test.echo", text="x")
    desk.drive()
    assert desk.outcome(run)["error"]["code"] == "denied"
    with pytest.raises(Invalid):
        rulebook.save(desk.access, "project", rule.replace("test.echo", "no_such"), 1)
