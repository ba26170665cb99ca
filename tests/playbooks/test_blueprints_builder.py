"""The builder of playbooks: from a form without a model, from words with one, and never from what does not fit."""

import json
from typing import Any

import pytest

from steward.core.errors import Invalid
from steward.playbooks.playbook_builder import chosen, playbook_of
from steward.runs import Run, Status
from steward.testing.models import ScriptedLineup, ScriptedModel, says
from tests.playbooks.conftest import Room
from tests.playbooks.test_blueprints_samples import load

WORDS = "Every week, profile the deliveries and give me a report. Let me look before it is written."


@pytest.fixture
def database_url() -> None:
    """SQLite alone: a story takes long."""


def built(room: Room, inputs: dict[str, Any]) -> Run:
    blueprint = room.playbooks.blueprints.get("playbook-builder")
    (sample,) = blueprint.sample.datasets
    load(room, sample.name, sample.csv)
    card = room.playbooks.blueprints.fork(room.editor.access, blueprint.id)
    run = room.playbooks.running.start(room.editor.access, card.id, inputs)
    room.drive()
    return room.fresh(run)


def drafted(room: Room, run: Run) -> Any:
    assert run.status is Status.done, run.reason
    slug = room.runs.outcome(run.scope, run.id)["output"]["playbook"]
    return room.playbooks.library.revision(room.editor.access, slug).playbook


def test_the_form_alone_gives_a_draft_that_runs(room: Room) -> None:
    inputs = room.playbooks.blueprints.get("playbook-builder").sample.inputs
    run = built(room, inputs)
    playbook = drafted(room, run)
    assert playbook.name == "Look at deliveries"
    assert [step["id"] for step in playbook.steps] == ["profile", "workbook"]
    card = room.playbooks.library.get(room.editor.access, playbook.id)
    assert card.owner == room.editor.user.id
    made = room.playbooks.running.start(room.editor.access, card.id, {"sources": ["deliveries"]})
    room.drive()
    assert room.fresh(made).status is Status.done, room.fresh(made).reason


def test_a_model_fills_what_the_form_leaves_open(room: Room, models: ScriptedLineup) -> None:
    wrong = {"name": "Weekly look", "steps": ["dance"]}
    right = {"name": "Weekly look", "steps": ["profile"], "results": ["report"], "ask": True}
    model = ScriptedModel([says(json.dumps(wrong)), says(json.dumps(right))])
    models.play(model)
    run = built(room, {"description": WORDS, "sources": ["deliveries"]})
    playbook = drafted(room, run)
    model.assert_finished()
    assert playbook.name == "Weekly look"
    assert playbook.goal == WORDS
    assert [step["id"] for step in playbook.steps] == ["profile", "look", "report"]


def test_words_without_a_model_say_what_is_missing(room: Room) -> None:
    run = built(room, {"description": WORDS})
    assert run.status is Status.failed
    assert "A playbook needs a name, sources, steps or results" in (run.reason or "")


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(Invalid, match="steps"):
        chosen({"name": "X", "steps": ["dance"]}, None)
    found = chosen({"name": "Ein Name 1"}, {"error": "no model"})
    assert found.name == "Ein Name 1"
    with pytest.raises(Invalid, match="sources"):
        playbook_of(found)
    mine = {"name": "9 lives", "sources": ["a"], "results": ["lineage"]}
    assert playbook_of(chosen(mine, {"name": "Other"}))["id"] == "playbook-9-lives"
