"""Dossiers, measures and shadow runs: what planning leaves to look at."""

import asyncio
import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from steward.agents.explaining.dossier import as_markdown, dossier
from steward.agents.planning.shadow_plans import ShadowReport
from steward.core.errors import StewardError
from steward.models import Patience
from steward.runs import Run
from steward.testing import Installation
from steward.testing.models import Item, ScriptedModel, calls, fails, scripted_desk
from tests.agents.conftest import Chat, plan_text

LIST = {
    "id": "look",
    "title": "List the datasets",
    "agent": "data-analyst",
    "tools": ["list_datasets"],
}
PREVIEW = {
    "id": "show",
    "title": "Show customers",
    "agent": "data-analyst",
    "tools": ["preview"],
    "fallback_tools": ["list_datasets"],
}


def _dossier(chat: Chat, run: Run) -> dict[str, Any]:
    return dossier(run, chat.entries(run), chat.steward.runs.payload)


def test_a_dossier_tells_what_was_planned_tried_and_found(chat: Chat) -> None:
    chat.models.play(
        ScriptedModel(
            [
                "no plan at all",
                plan_text(LIST, PREVIEW),
                calls("execute_sql", sql="SELECT 1"),
                calls("preview", dataset="crm_customers", limit=2),
                "Two customers.",
                "There are 999 datasets.",
            ]
        )
    )
    run = chat.say("What is there?")

    found = _dossier(chat, run)

    assert json.dumps(found) == json.dumps(_dossier(chat, run)), "the same bytes each time"
    (plan,) = found["plans"]
    assert plan["made_by"] == "model"
    assert plan["repaired"]
    assert plan["problems"]
    tried = found["tried"]
    assert [each["tool"] for each in tried] == ["list_datasets", "preview"]
    assert [each["kind"] for each in found["deviations"]] == ["outside-plan"]
    assert found["adherence"] == 1.0
    assert found["outcome"]["status"] == "done"
    text = as_markdown(found)
    assert "## What was tried" in text
    assert "its figures 999 are not in the results" in text
    assert "There are 999 datasets" not in text


def test_a_dossier_is_text_whatever_it_quotes(chat: Chat) -> None:
    run = chat.say("<img src=x onerror=alert(1)> [link](http://evil) `list` the datasets")
    text = as_markdown(_dossier(chat, run))
    assert "<img" not in text.replace("\\<", "")
    assert "](http" not in text.replace("\\]", "")


def test_measures_count_plans_and_deviations(chat: Chat) -> None:
    chat.models.play(
        ScriptedModel(
            [
                plan_text(PREVIEW),
                calls("transform", target="x", code="SELECT 1"),
                calls("preview", dataset="crm_customers"),
                "Done.",
                "nothing",
                "nothing either",
                "There are three datasets.",
            ]
        )
    )
    chat.say("Show customers")
    chat.say("Which datasets are there?")

    since = chat.clock.now() - timedelta(days=1)
    found = chat.steward.planning.measures.since(chat.access.scope, since)

    assert found.turns == 2
    assert found.deviations == {"outside-plan": 1}
    assert found.validation_failures == 1
    assert found.fallback_rate == 0.5
    assert found.adherence_rate == 1.0
    assert found.completion_rate == 1.0
    metrics = chat.steward.metrics.exposition().decode()
    assert 'steward_plans_total{made_by="fallback"} 1.0' in metrics
    assert 'steward_plan_deviations_total{kind="outside-plan"} 1.0' in metrics


def test_a_shadow_run_compares_and_changes_nothing(chat: Chat) -> None:
    chat.models.play(ScriptedModel([plan_text(LIST), "Listed."]))
    run = chat.say("Which datasets are there?")
    before = chat.keys(run)
    runs = chat.steward.planning.shadow.latest(chat.access.scope, 10)

    other = scripted_desk(ScriptedModel([plan_text(PREVIEW)]))
    report = asyncio.run(chat.steward.planning.shadow.against(chat.access.scope, runs, other))
    by_rules = asyncio.run(chat.steward.planning.shadow.against(chat.access.scope, runs, None))

    assert report.totals["tasks"] == 1
    assert report.totals["same_tools"] == 0.0
    assert report.tasks[0].differences == ["step 1: preview instead of list_datasets"]
    assert report.tasks[0].tokens > 0
    assert by_rules.totals["same_tools"] == 1.0
    assert by_rules.tasks[0].made_by == "rules"
    assert chat.keys(run) == before
    assert len(chat.steward.runs.records.listed(chat.access.scope, limit=50)) == 1


def test_a_model_that_gives_no_plan_agrees_with_nothing(chat: Chat) -> None:
    for _ in range(5):
        chat.say("Which datasets are there?")
    scope, shadow = chat.access.scope, chat.steward.planning.shadow
    runs = shadow.latest(scope, 10)

    def against(*script: Item, price: Decimal | None = None) -> ShadowReport:
        model = ScriptedModel(script, patience=Patience(attempts=1), price=price)
        return asyncio.run(shadow.against(scope, runs, scripted_desk(model)))

    nonsense = against(*["no plan"] * 10)
    assert {task.agreement for task in nonsense.tasks} == {"no valid plan"}
    assert (nonsense.totals["valid_plans"], nonsense.totals["same_tools"]) == (0, 0.0)
    assert nonsense.totals["usd"] is None, "nobody knows the price"

    silent = against(plan_text(LIST), *[fails("model-stalled")] * 3, price=Decimal(1))
    assert [task.agreement for task in silent.tasks] == ["same", *["no answer"] * 3]
    assert "3 tasks in a row" in silent.stopped
    assert "model-stalled" in silent.stopped
    assert (silent.totals["answered"], silent.totals["valid_plans"]) == (1, 1)
    assert silent.totals["usd"] is not None

    cut_off = against(plan_text(LIST), fails("model-unreachable"))
    assert len(cut_off.tasks) == 1
    assert "after 1 task." in cut_off.stopped
    for hopeless in ("model-unreachable", "model-key-refused"):
        with pytest.raises(StewardError, match=hopeless):
            against(fails(hopeless))


def test_dossiers_and_measures_are_read_over_http(installation: Installation) -> None:
    access, steward = installation.owner.access, installation.steward
    _, run = steward.threads.begin(access, "Which data is there?")
    steward.runs.drive_until_idle()
    client, at = installation.owner.client, f"/api/v1/projects/{access.scope.project_id}"
    found = client.get(f"{at}/runs/{run.id}/dossier").json()
    assert (found["asked"], found["outcome"]["status"]) == ("Which data is there?", "done")
    told = client.get(f"{at}/runs/{run.id}/dossier", headers={"Accept": "text/markdown"})
    assert told.text.startswith("# Dossier of Which data is there?")
    assert client.get(f"{at}/planner/measures").json()["turns"] == 1
    other = f"/api/v1/projects/{installation.project('Other')}"
    assert client.get(f"{other}/runs/{run.id}/dossier").status_code == 404
