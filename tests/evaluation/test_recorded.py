"""Recorded runs: replayed as cases, and their models' answers played again against the present code."""

from pathlib import Path

from steward.testing import Installation
from steward.testing.models import ScriptedLineup, ScriptedModel
from tests.agents.conftest import plan_text
from tests.evaluation.playing import Play

LOOK = {
    "id": "look",
    "title": "Look",
    "agent": "data-analyst",
    "tools": ["list_datasets"],
    "arguments": {},
}
SUITE = """
format: 1
name: recorded
customers: 0
cases:
  - {id: again, kind: replay, file: run.zip}
  - {id: damaged, kind: replay, file: damaged.zip}
  - id: same-answers
    kind: trajectory
    say: Which data is there?
    script: {recorded: run.zip}
    calls: [list_datasets]
"""


def test_recorded_runs_are_cases_and_scripts(
    installation: Installation, models: ScriptedLineup, play: Play, tmp_path: Path
) -> None:
    access, steward = installation.owner.access, installation.steward
    models.play(ScriptedModel([plan_text(LOOK), "There is nothing yet."]))
    _, run = steward.threads.begin(access, "Which data is there?")
    steward.runs.drive_until_idle()
    content = steward.runs.record_test(access.scope, run.id)
    (tmp_path / "run.zip").write_bytes(content)
    (tmp_path / "damaged.zip").write_bytes(content[:-200])
    found = play.text(SUITE, tmp_path)
    assert found["again"].problems == []
    assert found["again"].facts["ended"] == "done"
    assert found["damaged"].outcome == "failed"
    assert found["same-answers"].problems == []
