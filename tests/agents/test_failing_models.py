"""Turns whose models fail: rules take over where they can, the cause is told, and nothing is claimed that was not done."""

from decimal import Decimal

import pytest

from steward.agents.chat.turn_documents import turn_document
from steward.models import Patience
from steward.testing.models import ScriptedModel, calls, fails
from tests.agents.conftest import Chat, plan_text

OPEN = {
    "id": "total",
    "title": "Add up",
    "agent": "data-analyst",
    "tools": ["execute_sql"],
}
FIRST = {
    "id": "first",
    "title": "List the datasets",
    "agent": "data-analyst",
    "tools": ["list_datasets"],
}
ONCE = Patience(attempts=1)
QUESTION = "How many customers are there?"


def test_an_operator_that_does_not_answer_is_replaced_by_rules(chat: Chat) -> None:
    model = ScriptedModel(
        [plan_text(OPEN), fails("model-context-exceeded"), "There are 64 customers."], patience=ONCE
    )
    chat.models.play(model)

    run = chat.say(QUESTION)

    output = chat.output(run)
    assert run.status.value == "done"
    assert (output["plans"], output["plan"]["made_by"]) == (2, "fallback")
    assert output["plan"]["said"].startswith("The script says model-context-exceeded. So this plan")
    assert output["answer"].endswith("There are 64 customers.")
    model.assert_finished()
    chat.replays(run)


def test_the_same_plan_is_not_tried_twice(chat: Chat) -> None:
    model = ScriptedModel(
        [plan_text(OPEN), "I'd rather not.", "No.", plan_text(OPEN), "There are 60 customers."]
    )
    chat.models.play(model)

    run = chat.say(QUESTION)

    assert run.status.value == "done"
    assert chat.output(run)["plan"]["made_by"] == "fallback"
    assert "the plan that had just failed" in chat.output(run)["plan"]["said"]
    chat.replays(run)


def test_what_rules_do_not_understand_stays_with_the_model(chat: Chat) -> None:
    model = ScriptedModel(
        [plan_text(OPEN), fails("model-refused"), plan_text(FIRST), "Three."], patience=ONCE
    )
    chat.models.play(model)

    run = chat.say("Wie wunderlich ist das alles?")

    assert chat.output(run)["plan"]["made_by"] == "model"
    model.assert_finished()


def test_after_a_step_that_was_done_the_model_plans_the_rest(chat: Chat) -> None:
    model = ScriptedModel(
        [
            plan_text(FIRST, {**OPEN, "needs": ["first"]}),
            fails("model-refused"),
            plan_text({**FIRST, "title": "Only list"}),
            "Three.",
        ],
        patience=ONCE,
    )
    chat.models.play(model)

    run = chat.say(QUESTION)

    assert chat.output(run)["plan"]["made_by"] == "model"
    model.assert_finished()


def test_nothing_is_told_of_results_that_are_not_there(chat: Chat) -> None:
    """The explainer is not asked; its script would fail the test."""
    unclear = "Wie wunderlich ist das alles?"
    model = ScriptedModel([plan_text(OPEN), "No.", "No.", plan_text(OPEN), "No.", "No."])
    chat.models.play(model)

    run = chat.say(unclear)

    assert run.status.value == "failed"
    assert chat.output(run)["answer"].startswith("Nothing was done: None of execute_sql worked.")
    assert not chat.output(run)["by_model"]
    model.assert_finished()


def test_an_explainer_that_does_not_answer_is_named(chat: Chat) -> None:
    rows = chat.rows_of("crm_customers")
    count = {**OPEN, "arguments": {"sql": "SELECT count(*) AS customers FROM crm_customers"}}
    chat.models.play(ScriptedModel([plan_text(count), fails("model-quota-exceeded")]))

    run = chat.say(QUESTION)

    output = chat.output(run)
    assert output["answer"].startswith(f"Customers: **{rows}**")
    assert output["answer"].endswith(
        "The script says model-quota-exceeded. Steward shows the results without an explanation."
    )
    assert [figure["text"] for figure in output["figures"]] == [f"{rows}"]


@pytest.mark.parametrize("price", [None, Decimal(0)])
def test_a_price_that_nobody_knows_is_not_nothing(chat: Chat, price: Decimal | None) -> None:
    model = ScriptedModel(
        [plan_text(OPEN), calls("execute_sql", sql="SELECT 1 AS one"), "One."], price=price
    )
    chat.models.play(model)

    run = chat.say(QUESTION)

    turn = chat.steward.threads.turns.of_run(chat.access.scope, run.id)
    assert turn is not None
    told = turn_document(
        turn, run, chat.entries(run), chat.steward.runs.payload, lambda name: (name, "read")
    )
    assert told["cost"]["tokens"] > 0
    assert told["cost"]["usd"] == (None if price is None else "0")
    assert told["cost"]["is_priced"] is (price is not None)
