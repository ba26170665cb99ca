"""With configured models: scripts are left aside, and what means nothing without its script is skipped."""

from pathlib import Path

from steward.app.evaluation_sites import Sites
from steward.core import load_settings
from steward.evaluation import Cast
from steward.evaluation.suite import read_suite
from steward.models import Role
from steward.testing.models import ScriptedLineup, ScriptedModel
from tests.agents.conftest import plan_text
from tests.evaluation.playing import Play

SUITE = """
format: 1
name: online
customers: 0
cases:
  - id: asked
    kind: plan
    say: Which data is there?
    script: {planner: [never said], operator: [never said]}
    made_by: model
    tools: [list_datasets]
  - {id: scripted-only, kind: plan, say: Hello, tools: [no_such_tool], online: false}
"""


def test_configured_models_take_the_place_of_scripts(tmp_path: Path) -> None:
    step = {"id": "look", "title": "Look", "agent": "data-analyst", "tools": ["list_datasets"]}
    model = ScriptedModel([plan_text(step)], name="real")
    lineup = ScriptedLineup()
    lineup.play(model, role=Role.planner)
    sites = Sites(load_settings(home=tmp_path / "none"), tmp_path, Cast(lineup))
    report = Play(sites.open).suite(read_suite(SUITE))
    assert [(case.outcome, case.problems) for case in report.cases] == [
        ("passed", []),
        ("skipped", []),
    ]
    assert (report.mode, report.models["planner"]) == ("online", ["scripted:real"])
    assert "Which data is there?" in str(model.requests[0].messages[-1])
