"""The planner: asks once, has mistakes repaired once, falls back on rules, and says how its plan came about."""

import asyncio
import json
from typing import Any

import pytest

from steward.agents.planning.answers import found_in
from steward.agents.planning.examples import worked_examples
from steward.agents.planning.plan import Planned
from steward.agents.planning.planner import Exchange, Last, Planner, Recipe
from steward.agents.planning.task import Task
from steward.agents.rules.deciding import RulePlanner
from steward.models import NO_MODEL, Asking, Request
from steward.testing.models import ScriptedModel, fails, scripted_desk
from tests.agents.planning_kit import TODAY, Memory, catalogue, task

KNOWN = catalogue()
GOOD = {
    "goal": "Total amount by country",
    "steps": [
        {
            "id": "totals",
            "title": "Add up",
            "agent": "data-analyst",
            "tools": ["execute_query_plan"],
            "arguments": {
                "plan": {
                    "source": "orders",
                    "group": ["country"],
                    "aggregate": [{"name": "total", "function": "sum", "column": "amount"}],
                }
            },
        }
    ],
}
BAD = json.dumps(
    {"goal": "x", "steps": [{"id": "a", "title": "b", "agent": "wizard", "tools": ["magic"]}]}
)


def planned(
    model: ScriptedModel | None,
    asked: Task | None = None,
    memory: Memory | None = None,
    **recipe: Any,
) -> Planned:
    desk = scripted_desk(model) if model is not None else scripted_desk()
    planner = Planner(desk, RulePlanner(), Recipe(**recipe))
    return asyncio.run(
        planner.plan(memory or Memory(), "plan/1", asked or task("total amount by country"), KNOWN)
    )


def words(request: Request) -> str:
    return "\n".join(getattr(message, "text", "") for message in request.messages)


def test_a_valid_answer_is_the_plan() -> None:
    model = ScriptedModel([f"Here you are:\n```json\n{json.dumps(GOOD)}\n```"])
    memory = Memory()
    found = planned(model, memory=memory)
    assert (found.made_by, found.model, found.repaired) == ("model", "scripted:scripted", False)
    assert found.plan.steps[0].arguments == GOOD["steps"][0]["arguments"]  # type: ignore[index]
    assert list(memory.done) == ["plan/1/request"]


def test_mistakes_are_told_exactly_and_repaired_once() -> None:
    model = ScriptedModel([BAD, json.dumps(GOOD)])
    memory = Memory()
    found = planned(model, memory=memory)
    assert (found.made_by, found.repaired) == ("model", True)
    assert any("there is no agent 'wizard'" in each for each in found.problems)
    assert list(memory.done) == ["plan/1/request", "plan/1/repair"]
    told = words(model.requests[1])
    assert "/steps/0/agent: there is no agent 'wizard'" in told
    assert "/steps/0/tools/0: there is no tool 'magic'" in told


def test_a_second_mistake_leads_to_rules_and_that_is_said() -> None:
    found = planned(ScriptedModel([BAD, "I am sorry, I cannot do that."]))
    assert found.made_by == "fallback"
    assert found.plan.steps[0].tools == ["execute_query_plan"]
    assert "not valid twice" in found.said
    assert len(found.problems) >= 3


def test_a_model_that_does_not_answer_leads_to_rules() -> None:
    found = planned(ScriptedModel([fails("model-key-refused")]))
    assert found.made_by == "fallback"
    assert "did not answer" in found.said
    assert "model-key-refused" in found.said, "the cause stands where it is seen"
    assert found.problems


def test_a_model_with_little_room_gets_shorter_prompts() -> None:
    too_long = fails("model-context-exceeded")
    model = ScriptedModel([too_long, too_long, json.dumps(GOOD)])
    memory = Memory()
    found = planned(model, memory=memory)
    assert (found.made_by, found.repaired) == ("model", False)
    lengths = [len(words(request)) for request in model.requests]
    assert lengths[0] > 1.4 * lengths[1] > 1.4 * lengths[2]
    assert model.requests[0].asking.output_schema
    assert not model.requests[2].asking.output_schema, "its lists are tokens as well"
    assert words(model.requests[2]).endswith("total amount by country")
    tiny = ScriptedModel([too_long] * 3)
    assert planned(tiny).made_by == "fallback"
    tiny.assert_finished()


def test_without_a_model_rules_plan_and_say_how_to_add_one() -> None:
    found = planned(None)
    assert (found.made_by, found.model) == ("rules", None)
    assert NO_MODEL in found.said


def test_recorded_answers_are_not_asked_for_again() -> None:
    memory = Memory()
    first = planned(ScriptedModel([BAD, json.dumps(GOOD)]), memory=memory)
    again = planned(ScriptedModel([]), memory=memory)
    assert again == first


def test_the_prompt_holds_the_closed_lists_and_marks_what_others_wrote() -> None:
    model = ScriptedModel([json.dumps(GOOD)])
    planned(
        model,
        task(
            "those again but by product",
            history=(Exchange("total amount by country", "DE 5"),),
            last=Last("execute_query_plan", {"plan": {"source": "orders"}}),
            failed="step one timed out",
        ),
    )
    [request] = model.requests
    said = words(request)
    nonce = "0123456789abcdef0123"
    assert said.count(f"<<untrusted {nonce}>> source=") == said.count(f"<<end {nonce}>>") - 1 == 4
    for wanted in (
        "data-analyst",
        "execute_query_plan(",
        "orders (1,000 rows",
        "timed out",
        TODAY.isoformat(),
    ):
        assert wanted in said
    assert "http_request" not in said, "what policy denies is not offered"
    schema = request.asking.output_schema
    step = schema["properties"]["steps"]["items"]["properties"]
    assert "data-analyst" in step["agent"]["enum"]
    assert "http_request" not in step["tools"]["items"]["enum"]
    assert step["arguments"]["properties"]["plan"]["properties"]["source"] == {
        "enum": ["orders", "customers"]
    }


def test_no_value_of_a_row_reaches_a_model_in_schema_only_mode() -> None:
    model = ScriptedModel([json.dumps(GOOD)])
    planned(model, task("total", may_see_rows=False, history=(Exchange("a", "DE has 77"),)))
    said = words(model.requests[0])
    assert "Desk" not in said
    assert "DE has 77" not in said
    assert model.requests[0].asking.allow_rows is False
    open_model = ScriptedModel([json.dumps(GOOD)])
    planned(open_model, task("total"))
    assert "Desk" in words(open_model.requests[0])


def test_a_small_budget_makes_a_short_prompt() -> None:
    short, long = ScriptedModel([json.dumps(GOOD)]), ScriptedModel([json.dumps(GOOD)])
    planned(short, tokens=1_500, examples=2, constrained=False)
    planned(long, tokens=8_000)
    assert len(words(short.requests[0])) < 9_500 < len(words(long.requests[0]))
    assert "further tools: " in words(short.requests[0])
    assert short.requests[0].asking == Asking(temperature=0.0, max_tokens=4_000)


def test_examples_are_chosen_by_likeness_the_best_last() -> None:
    chosen = worked_examples("find duplicate vendors and merge them", 3)
    assert len(chosen) == 3
    assert chosen[-1].message == "find duplicate customers and merge them"
    assert worked_examples("top 7 shops by revenue", 1)[0].message.startswith("top 5 products")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD),
        f"```json\n{json.dumps(GOOD)}\n```",
        f"I think so. {json.dumps(GOOD)} Good luck!",
        json.dumps(GOOD).replace("}]}", "},]}"),
        json.dumps({"plan": GOOD}),
        json.dumps(GOOD["steps"]),
        f'{{"thought": "hm"}}\n{json.dumps(GOOD)}',
    ],
)
def test_a_plan_is_found_among_words(text: str) -> None:
    found = found_in(text, "Total amount by country")
    assert found["steps"][0]["tools"] == ["execute_query_plan"]
    assert found["goal"]


def test_a_task_is_made_from_a_run_and_its_context() -> None:
    made = Task.of(
        {
            "message": "hi",
            "mentions": ["orders"],
            "attachments": [{"upload": "u", "name": "f"}],
            "rows": "schema-only",
        },
        {
            "history": [{"message": "a", "answer": "b", "run_id": "run_1"}],
            "last": {
                "run_id": "r",
                "tool": "execute_sql",
                "arguments": {"sql": "x"},
                "sql": "x",
                "columns": ["a"],
            },
            "commits": ["com_1"],
        },
        today=TODAY,
        nonce="n",
    )
    assert made.history == (Exchange("a", "b"),)
    assert made.last == Last("execute_sql", {"sql": "x"}, ("a",), "x", "r")
    assert (made.mentions, made.attachments, made.commits) == (
        ("orders",),
        (("u", "f"),),
        ("com_1",),
    )
    assert made.may_see_rows is False
