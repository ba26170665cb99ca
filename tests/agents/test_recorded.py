"""What a real small model said (1.5 billion parameters, 4 bits, behind llama-cpp-python's server), played again."""

from pathlib import Path

from steward.agents.explaining.qualifiers import unsupported
from steward.agents.planning.answers import document_in
from steward.agents.planning.forms import query_plan
from steward.agents.planning.plan_checks import check_plan
from steward.agents.planning.stages import kind_in
from steward.definitions import ColumnFacts, DatasetFacts
from steward.definitions.facts import kind_of
from steward.evaluation.script import recorded_answers
from steward.models import ModelAnswer, Role
from tests.agents.conftest import Chat
from tests.agents.planning_kit import catalogue

CONTENT = (Path(__file__).parent / "recorded/cars_with_8_cylinders.capsule.zip").read_bytes()
NAMES = ("Name", "Cylinders", "Displacement", "Horsepower", "Origin")
KINDS = {"Name": "VARCHAR", "Origin": "VARCHAR"}
CARS = DatasetFacts(
    "cars",
    406,
    tuple(
        ColumnFacts(name, KINDS.get(name, "DOUBLE"), kind_of(KINDS.get(name, "DOUBLE")))
        for name in NAMES
    ),
)


def said(role: Role) -> list[str]:
    return [each.text for each in recorded_answers(CONTENT)[role] if isinstance(each, ModelAnswer)]


def test_the_run_replays_without_the_model(chat: Chat) -> None:
    run = chat.steward.runs.bring_in(chat.access.scope, CONTENT)
    assert run.status.value == "done"
    outcome = chat.steward.runs.outcome(chat.access.scope, run.id)
    assert "108" in outcome["output"]["answer"]
    assert outcome["output"]["plan"]["made_by"] == "model"


def test_both_stages_are_read_as_the_model_wrote_them() -> None:
    kind, form = said(Role.planner)
    assert kind_in(document_in(kind)) == "question"
    known = catalogue(datasets={"cars": CARS})
    plan = query_plan(document_in(form), known)
    assert plan["source"] == "cars"
    assert plan["filters"][0]["left"] == {"column": "Cylinders"}
    step = {
        "id": "query",
        "title": "Ask cars",
        "agent": "data-analyst",
        "tools": ["execute_query_plan"],
        "arguments": {"plan": plan},
    }
    check_plan({"goal": "x", "steps": [step]}, known)


def test_its_explanation_is_supported_by_its_plan_and_not_by_a_plan_without_the_filter() -> None:
    known = catalogue(datasets={"cars": CARS})
    plan = query_plan(document_in(said(Role.planner)[1]), known)
    rows = {"columns": [{"name": "count"}], "rows": [[108]]}
    (text,) = said(Role.explainer)
    assert unsupported(text, [{"plan": plan}], [rows], [CARS]) == []
    bare = {"plan": {"source": "cars", "aggregate": plan["aggregate"]}}
    assert unsupported(text, [bare], [rows], [CARS]) == ["Cylinders"]
