"""Recipes: filled in they are plans like any other, and say before they start whether the data is fit for them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from steward.agents.planning.plan_checks import (
    Catalogue,
    DatasetFacts,
    facts_from,
    is_complete,
    relations_from,
)
from steward.agents.planning.suggestions import MOST, suggestions
from steward.agents.recipes import Recipe, preflight
from steward.agents.recipes.compiling import compiled, filled
from steward.agents.recipes.model import recipe_from_yaml
from steward.agents.recipes.shelf import builtin_recipes
from steward.agents.rules.deciding import RulePlanner
from steward.core.errors import Invalid
from steward.identity import Access, Role
from steward.testing import Installation
from tests.agents.conftest import Chat
from tests.agents.planning_kit import TABLES, TODAY, catalogue, dataset, task

KNOWN = catalogue()
JOIN = {
    "dataset": "orders",
    "column": "customer_no",
    "other": "customers",
    "other_column": "customer_no",
    "target": "both",
}
UPLOAD = "upload_01kdgq3v0z8r5m2x7c4b9n6t1w"
PARAMETERS: dict[str, dict[str, Any]] = {
    "load-file": {"upload": UPLOAD, "dataset": "new"},
    "profile-data": {"datasets": ["orders", "customers"]},
    "clean-up": {"dataset": "customers", "date_columns": ["city"], "duplicates": True},
    "correlate-columns": {"dataset": "orders"},
    "find-keys": {"datasets": ["orders", "customers"]},
    "join-datasets": JOIN,
    "union-datasets": {"datasets": ["orders", "customers"], "target": "all"},
    "resolve-duplicates": {"datasets": ["customers"], "target": "golden"},
    "write-report": {"title": "Orders", "datasets": ["orders"], "workbooks": True},
    "file-to-report": {"upload": UPLOAD, "dataset": "new", "title": "New"},
    "consolidate-and-report": {**JOIN, "title": "Both"},
}


@pytest.fixture(scope="session")
def known_home(sample_home: tuple[Path, Access]) -> tuple[Path, Access]:
    """Data of which nothing is known yet: what is found here is found by a recipe."""
    return sample_home


@dataclass(frozen=True)
class Seen:
    sampled: int = 100
    filled: int = 100
    found: int = 100
    unique: bool = True


def recipe(name: str) -> Recipe:
    return next(each for each in builtin_recipes() if each.id == name)


ALL_FOUND = Seen()


def verdicts(
    name: str, known: Catalogue = KNOWN, seen: Seen | None = ALL_FOUND, **changed: Any
) -> list[tuple[str, str]]:
    """What is not go, after a look at whether the whole says the worst of it."""
    found = preflight(recipe(name), {**PARAMETERS[name], **changed}, known, lambda *_: seen)
    every = {each.verdict for each in found.findings}
    assert found.verdict == next(each for each in ("stop", "warn", "go") if each in every)
    return [(str(each.verdict), each.message) for each in found.findings if each.verdict != "go"]


def test_every_stage_has_a_recipe() -> None:
    stages = {each.stage for each in builtin_recipes()}
    assert stages == {"ingest", "profile", "correlate", "consolidate", "report", "whole"}
    assert {each.id for each in builtin_recipes()} == set(PARAMETERS)


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_recipe_becomes_a_plan_that_needs_no_model(name: str) -> None:
    made = compiled(recipe(name), PARAMETERS[name], KNOWN)
    assert all(is_complete(step, KNOWN) for step in made.plan)
    assert "{{" not in str(made.plan.to_json()) + made.message
    writes = any(KNOWN.tools[tool].risk.value == "write" for tool in made.plan.tools)
    assert made.review is writes, "what changes data is looked at first"


def test_steps_for_each_item_run_side_by_side_and_are_waited_for() -> None:
    plan = compiled(
        recipe("resolve-duplicates"), {"datasets": ["orders", "customers"], "target": "x"}, KNOWN
    ).plan
    assert [step.id for step in plan] == ["profile_1", "profile_2", "resolve"]
    assert plan.step("profile_2").needs == []
    assert plan.step("resolve").needs == ["profile_1", "profile_2"]


def test_steps_whose_parameter_is_not_given_are_left_out() -> None:
    plan = compiled(recipe("clean-up"), {"dataset": "customers", "spaces": False}, KNOWN).plan
    assert [step.id for step in plan] == ["markers", "profile"]
    assert plan.step("profile").needs == ["markers"]
    union = compiled(recipe("union-datasets"), PARAMETERS["union-datasets"], KNOWN).plan
    assert "provenance" not in union.steps[0].arguments


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"column": None}, "'column' is missing"),
        ({"how": "sideways"}, "/parameters/how"),
        ({"colour": "red"}, "'colour' is not known here"),
        ({"dataset": "nothing"}, "there is no dataset 'nothing'"),
        ({"column": "price"}, "there is no column 'price'"),
        ({"target": ["a"]}, "/parameters/target"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(Invalid) as refused:
        compiled(recipe("join-datasets"), {**JOIN, **changed}, KNOWN)
    told = [
        refused.value.message,
        *(f"{each.pointer}: {each.message}" for each in refused.value.problems),
    ]
    assert any(said in each for each in told), told
    assert verdicts("join-datasets", **changed)[0][0] == "stop"


def test_a_plan_does_not_get_too_long() -> None:
    many = {f"t{n}": dataset(f"t{n}", TABLES["orders"], "order_no") for n in range(10)}
    known = catalogue(datasets=many)
    compiled(recipe_with_two_each(), {"datasets": list(many)[:6]}, known)
    with pytest.raises(Invalid, match="at most 12"):
        compiled(recipe_with_two_each(), {"datasets": list(many)[:7]}, known)


def recipe_with_two_each() -> Recipe:
    steps = [
        step.model_copy(update={"id": name})
        for name in ("a", "b")
        for step in recipe("profile-data").steps
    ]
    return recipe("profile-data").model_copy(update={"steps": steps})


def sized(rows: int) -> Catalogue:
    facts: dict[str, DatasetFacts] = {
        name: replace(each, rows=rows) for name, each in KNOWN.datasets.items()
    }
    return catalogue(datasets=facts)


def test_preflight_looks_at_size() -> None:
    assert verdicts("correlate-columns") == []
    assert verdicts("correlate-columns", sized(6_000_000))[0][0] == "warn"
    assert verdicts("correlate-columns", sized(600_000_000))[0][0] == "stop"
    assert verdicts("correlate-columns", sized(0)) == [("stop", "orders has no rows.")]


def test_preflight_looks_at_schemas() -> None:
    [(verdict, said)] = verdicts("union-datasets")
    assert verdict == "stop"
    assert "share 1 of 9 columns" in said
    alike = {
        "orders": dataset("orders", TABLES["orders"], "order_no"),
        "customers": dataset("customers", {**TABLES["orders"], "amount": "VARCHAR"}, "order_no"),
    }
    assert [each[0] for each in verdicts("union-datasets", catalogue(datasets=alike))] == ["warn"]
    alike["customers"] = dataset("customers", TABLES["orders"], "order_no")
    assert verdicts("union-datasets", catalogue(datasets=alike)) == []


def test_preflight_looks_at_keys() -> None:
    assert verdicts("join-datasets") == []
    [(verdict, said)] = verdicts("join-datasets", seen=Seen(found=70))
    assert (verdict, "70% of 100 values" in said) == ("warn", True)
    assert verdicts("join-datasets", seen=Seen(found=1))[0][0] == "stop"
    assert verdicts("join-datasets", seen=Seen(filled=0, found=0))[0][0] == "stop"
    assert "multiplied" in verdicts("join-datasets", seen=Seen(unique=False))[0][1]
    assert "too large" in verdicts("join-datasets", seen=None)[0][1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"stage": "magic"}, "stage"),
        ({"approvals": ["nothing"]}, "'nothing' is no parameter or step"),
        ({"parameters": {"type": "string"}}, "schema of an object"),
        ({"steps": []}, "steps"),
        ({"preflight": [{"check": "weather"}]}, "preflight"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_recipe_that_is_wrong_says_where(change: dict[str, Any], said: str) -> None:
    import yaml  # type: ignore[import-untyped]

    document = {**recipe("find-keys").model_dump(mode="json"), **change}
    with pytest.raises(Invalid, match=r"mine\.yaml is not a recipe") as refused:
        recipe_from_yaml(yaml.safe_dump(document), "mine.yaml")
    assert said in refused.value.message


def test_yaml_that_is_none_names_the_line() -> None:
    with pytest.raises(Invalid, match=r"mine\.yaml is not YAML in line 2"):
        recipe_from_yaml("id: x\n  steps: [", "mine.yaml")


def test_places_are_filled_by_value_and_within_words() -> None:
    values = {"a": [1, 2], "b": "x"}
    assert filled(
        {"p": "{{a}}", "q": "{{ b }}!", "r": "{{c}}", "s": ["{{c}}", "{{b}}"]}, values
    ) == {
        "p": [1, 2],
        "q": "x!",
        "s": ["x"],
    }


@pytest.mark.parametrize(
    "name", [n for n in PARAMETERS if n not in {"load-file", "file-to-report"}]
)
def test_a_recipe_s_message_is_understood_by_rules_too(name: str) -> None:
    made = compiled(recipe(name), PARAMETERS[name], KNOWN)
    plan, said, _ = RulePlanner().plan(task(made.message), KNOWN)
    assert "could not tell" not in said
    assert set(plan.tools) & set(made.plan.tools), (made.message, plan.tools)


# Suggestions


def test_suggestions_are_understood_without_a_model_and_few(chat: Chat) -> None:
    scope, author = chat.access.scope, chat.access.user_id
    bench = chat.steward.workbench
    before = suggestions(catalogue(datasets=facts_from(bench, scope, author)), TODAY)
    assert [each.tool for each in before[:2]] == ["profile", "profile"]
    for each in bench.datasets.workspace(scope, author).datasets("main"):
        bench.insights.profile(scope, each.name, each.version)
    bench.insights.relations(scope, author)
    relations = relations_from(bench, scope, author)
    known = catalogue(datasets=facts_from(bench, scope, author), relations=relations)
    found = suggestions(known, TODAY)
    assert 4 <= len(found) <= MOST
    assert {"resolve_entities", "clean", "join"} <= {each.tool for each in found}
    for suggestion in found:
        plan, said, _ = RulePlanner().plan(task(suggestion.message), known)
        assert suggestion.tool in plan.steps[0].tools
        assert "could not tell" not in said
    only = suggestions(known, TODAY, dataset="support_tickets")
    assert only
    assert {each.dataset for each in only} == {"support_tickets"}


def test_keys_that_were_found_are_known_to_planning(chat: Chat) -> None:
    scope, author = chat.access.scope, chat.access.user_id
    bench = chat.steward.workbench
    assert relations_from(bench, scope, author) == ()
    bench.insights.relations(scope, author)
    found = {
        (each.dataset, each.column, each.other_dataset)
        for each in relations_from(bench, scope, author)
    }
    assert ("billing_invoices", "crm_id", "crm_customers") in found


def test_nothing_is_suggested_where_nothing_may_be_done() -> None:
    assert suggestions(catalogue(forbidden=frozenset(KNOWN.tools)), TODAY) == []


# Over HTTP


@pytest.fixture
def client(chat: Chat) -> Iterator[TestClient]:
    installation = Installation(chat.steward, chat.clock)
    found = installation.anonymous()
    tokens = chat.steward.identity.tokens
    _, text = tokens.create(chat.access, "test", Role.editor, 1)
    found.headers["Authorization"] = f"Bearer {text}"
    yield found
    found.close()


def test_a_recipe_runs_as_a_turn_after_its_plan_was_approved(
    chat: Chat, client: TestClient
) -> None:
    at = f"/api/v1/projects/{chat.access.scope.project_id}"
    listed = client.get(f"{at}/recipes").json()["items"]
    assert [each["id"] for each in listed] == [each.id for each in builtin_recipes()]
    parameters = {
        "dataset": "billing_invoices",
        "column": "crm_id",
        "other": "crm_customers",
        "other_column": "customer_id",
        "target": "invoices with customers",
    }
    checked = client.post(
        f"{at}/recipes/join-datasets/preflight", json={"parameters": parameters}
    ).json()
    assert checked["verdict"] in {"go", "warn"}
    assert any("values of billing_invoices.crm_id" in each["message"] for each in checked["checks"])
    assert len({each["name"] for each in checked["checks"]}) == len(checked["checks"])
    started = client.post(f"{at}/recipes/join-datasets/start", json={"parameters": parameters})
    assert started.status_code == 201, started.text
    run = chat.drive(chat.steward.runs.get(chat.access.scope, started.json()["run_id"]))
    assert run.status.value == "waiting_for_approval"
    run = chat.answer(run, "plan/1/review", {"decision": "approve", "by": chat.access.user_id})
    assert "plan/1/request" not in chat.keys(run), "no model is asked for a plan that was chosen"
    assert run.status.value in {"done", "waiting_for_approval"}


def test_what_the_checks_stop_does_not_start(chat: Chat, client: TestClient) -> None:
    at = f"/api/v1/projects/{chat.access.scope.project_id}/recipes"
    parameters = {"datasets": ["crm_customers", "support_tickets"], "target": "all"}
    refused = client.post(f"{at}/union-datasets/start", json={"parameters": parameters})
    assert (refused.status_code, refused.json()["code"]) == (422, "recipe-stopped")
    assert client.post(f"{at}/nothing/start", json={"parameters": {}}).status_code == 404


def test_questions_that_are_offered_are_answered(chat: Chat, client: TestClient) -> None:
    at = f"/api/v1/projects/{chat.access.scope.project_id}"
    offered = client.get(f"{at}/suggestions").json()["items"]
    questions = [each for each in offered if "words" in each["reason"]]
    assert len({each["dataset"] for each in questions}) > 1
    for each in questions:
        chat.thread = None
        told = chat.output(chat.say(each["message"]))["reading"]
        assert told["status"] == "fact", each["message"]


def test_suggestions_and_agents_are_listed(chat: Chat, client: TestClient) -> None:
    at = f"/api/v1/projects/{chat.access.scope.project_id}"
    found = client.get(f"{at}/suggestions", params={"dataset": "crm_customers"}).json()["items"]
    assert found[0]["message"] == "profile crm_customers"
    assert client.get(f"{at}/suggestions", params={"dataset": "nothing"}).status_code == 404
    agents = {each["name"]: each for each in client.get(f"{at}/agents").json()["items"]}
    assert agents["data-analyst"]["highest_risk"] == "compute"
