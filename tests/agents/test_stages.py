"""Planning in stages: a kind, then a narrow question; short, closed, repaired once, and the same contract as ever."""

import asyncio
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from steward.agents.planning.forms import FIELDS, FormRefused, form_of, form_schema, query_plan
from steward.agents.planning.plan import Planned
from steward.agents.planning.plan_checks import Catalogue, DatasetFacts, check_plan
from steward.agents.planning.plan_repair import mended
from steward.agents.planning.planner import Last, Planner
from steward.agents.planning.stages import form_examples, kind_messages, second_stage
from steward.agents.planning.task import Task
from steward.agents.rules.deciding import RulePlanner
from steward.definitions import ColumnFacts, Relation
from steward.definitions.facts import kind_of
from steward.models import Message
from steward.sandbox.query_plan import QueryPlan
from steward.testing.models import ScriptedModel, scripted_desk
from tests.agents.planning_kit import Memory, catalogue, task

KNOWN = catalogue(relations=(Relation("orders", "customer_no", "customers", "customer_no"),))
FORM = {
    "table": "orders",
    "show": "figures",
    "conditions": [{"column": "country", "is": "=", "value": "de"}],
    "figures": [{"function": "sum", "column": "amount"}],
    "per": [{"column": "ordered_on", "by": "month"}],
    "order": "none",
    "sort": "none",
    "limit": 0,
}
KIND = json.dumps({"kind": "question"})


def planned(*answers: str, asked: Task | None = None) -> tuple[Planned, Memory, ScriptedModel]:
    model, memory = ScriptedModel(list(answers)), Memory()
    given = replace(asked or task("amount per month in Germany"), stages=True)
    planner = Planner(scripted_desk(model), RulePlanner())
    return asyncio.run(planner.plan(memory, "plan/1", given, KNOWN)), memory, model


def tokens(messages: list[Message]) -> int:
    """More than tokenisers make of it: that of Qwen 2.5 takes 3.7 characters of these prompts for a token."""
    return sum(len(getattr(message, "text", "")) for message in messages) // 3


def text_of(message: Message) -> str:
    return str(getattr(message, "text", ""))


def test_a_form_becomes_the_plan() -> None:
    found, memory, model = planned(KIND, json.dumps(FORM))
    assert (found.made_by, found.repaired, found.problems) == ("model", False, [])
    assert list(memory.done) == ["plan/1/kind", "plan/1/request"]
    step = found.plan.steps[0]
    assert (step.agent, step.tools) == ("data-analyst", ["execute_query_plan"])
    plan = step.arguments["plan"]
    assert plan["filters"] == [
        {"left": {"column": "country"}, "compare": "=", "right": {"value": "DE"}}
    ]
    assert (plan["group"], plan["order"]) == (["month"], [{"column": "month"}])
    closed = model.requests[1].asking.output_schema["anyOf"]
    assert [each["properties"]["table"]["enum"] for each in closed] == [["orders"], ["customers"]]
    assert all(set(each["required"]) == set(each["properties"]) for each in closed)


def test_what_is_wrong_is_repaired_once() -> None:
    wrong = {**FORM, "figures": [{"function": "sum", "column": "turnover"}]}
    found, memory, model = planned(KIND, json.dumps(wrong), json.dumps(FORM))
    assert (found.made_by, found.repaired) == ("model", True)
    assert "orders has no column 'turnover'" in text_of(model.requests[2].messages[-1])
    assert list(memory.done)[-1] == "plan/1/repair"
    twice, _, _ = planned(KIND, json.dumps(wrong), json.dumps(wrong))
    assert twice.made_by == "fallback"
    assert "was not valid twice" in twice.said


def test_another_table_is_joined_along_its_relation() -> None:
    per = [{"column": "customers.city", "by": "value"}]
    plan = query_plan({**FORM, "per": per, "order": "largest", "limit": 3}, KNOWN)
    assert plan["joins"] == [
        {
            "dataset": "customers",
            "kind": "left",
            "on": [{"left": "customer_no", "right": "customer_no"}],
        }
    ]
    assert (plan["group"], plan["limit"]) == (["city"], 3)
    assert plan["order"] == [{"column": "sum_amount", "direction": "descending"}]
    apart = replace(KNOWN, relations=())
    with pytest.raises(FormRefused, match="no relation"):
        query_plan({**FORM, "per": per}, apart)


def test_a_question_takes_fewer_than_1500_tokens_in_both_stages_together() -> None:
    """Over as many tables and columns as are ever shown, with values and a question before."""
    wide = {
        f"table_{number}": DatasetFacts(
            f"table_{number}",
            10_000,
            tuple(
                ColumnFacts(
                    f"measured_column_{each}",
                    "VARCHAR",
                    kind_of("VARCHAR"),
                    distinct=5,
                    values=("first", "second", "third") if each < 6 else (),
                )
                for each in range(18)
            ),
        )
        for number in range(12)
    }
    before = Last("execute_query_plan", {"plan": query_plan(FORM, KNOWN)})
    asked = task(
        "how many of the rows in table_3 have a measured_column_2 of second, by measured_column_4, largest first",
        last=before,
    )
    known = replace(KNOWN, datasets=wide)
    first = tokens(kind_messages(asked, known))
    second = tokens(second_stage("question", asked, known).messages)
    assert first + second < 1_500, (first, second)


@pytest.mark.parametrize("kind", ["look", "change", "send"])
def test_other_kinds_get_a_narrow_prompt_with_their_own_tools(kind: str) -> None:
    stage = second_stage(kind, task("remove duplicates from customers"), KNOWN)
    assert not stage.is_form
    assert tokens(stage.messages) < 1_900
    if kind == "change":
        assert "send_email" not in stage.catalogue.tools
    if kind == "look":
        assert not any("write" in facts.risk for facts in stage.catalogue.tools.values())


def test_confirmed_questions_of_the_project_come_first() -> None:
    reading = {
        "table": "orders",
        "measures": [{"function": "sum", "column": {"column": "amount"}}],
        "groups": [{"by": {"column": "ordered_on"}, "unit": "year"}],
    }
    asked = task("turnover per year", confirmed=(("our turnover per year", reading),))
    shown = text_of(second_stage("question", asked, KNOWN).messages[0])
    assert shown.index("our turnover per year") > shown.index("Question:"), "the likest is last"
    assert shown.count("Question:") == 3
    assert '"per":[{"column":"ordered_on","by":"year"}]' in shown


def test_a_follow_up_sees_the_form_before() -> None:
    plan = query_plan(FORM, KNOWN)
    assert form_of(plan) == {
        **FORM,
        "conditions": [{"column": "country", "is": "=", "value": "DE"}],
    }
    asked = task("only for France", last=Last("execute_query_plan", {"plan": plan}))
    told = text_of(second_stage("question", asked, KNOWN).messages[-1])
    assert "The form of the question before" in told


def test_every_worked_example_makes_a_plan() -> None:
    for each in form_examples():
        tables = {}
        for text in each.tables.split("; "):
            name, _, listed = text.partition(": ")
            columns = re.findall(r"(\w+)(?: (text|date|time))?(?: \([^)]*\))?", listed)
            kinds = {"": "DOUBLE", "text": "VARCHAR", "date": "DATE", "time": "TIMESTAMP"}
            tables[name] = DatasetFacts(
                name, 1, tuple(ColumnFacts(c, kinds[k], kind_of(kinds[k])) for c, k in columns)
            )
        lines = [Relation("invoices", "customer_id", "customers", "id")]
        known = replace(KNOWN, datasets=tables, relations=tuple(lines))
        QueryPlan.model_validate(query_plan(each.plan, known))
        assert set(each.plan) == set(FIELDS), each.message


def step(tool: str, arguments: Any) -> dict[str, Any]:
    inner = {"id": "a", "title": "b", "agent": "data-analyst", "tools": [tool]}
    return {"goal": "x", "steps": [{**inner, "arguments": arguments}]}


def test_a_tool_with_the_arguments_of_another_is_put_right() -> None:
    """What the first real model wrote: `query` with the arguments of `execute_query_plan`."""
    arguments = {"plan": {"source": "orders", "aggregate": [{"name": "n", "function": "count"}]}}
    plan = check_plan(mended(step("query", arguments), KNOWN), KNOWN)
    assert plan.steps[0].tools == ["execute_query_plan"]
    same = step("preview", {"dataset": "orders"})
    assert mended(same, KNOWN) == same


def test_a_mended_step_can_do_no_more_than_the_one_that_was_named() -> None:
    sending = {"to": ["a@example.com"], "subject": "x", "body": "y"}
    assert mended(step("preview", sending), KNOWN) == step("preview", sending)


def test_a_form_can_name_only_columns_that_its_table_reaches() -> None:
    def named(known: Catalogue) -> list[str]:
        orders = form_schema(known)["anyOf"][0]["properties"]
        assert orders["table"]["enum"] == ["orders"]
        found: list[str] = orders["per"]["items"]["properties"]["column"]["enum"]
        return found

    assert "customers.city" in named(KNOWN)
    assert named(replace(KNOWN, relations=())) == list(KNOWN.datasets["orders"].names)
