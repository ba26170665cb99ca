"""The flows we ship as examples hold together and run on the sample data."""

from pathlib import Path

import pytest

from scripts.samples import generate
from steward.core.clock import MovableClock
from steward.flows.launch import Start
from steward.testing.installation import Installation

FLOWS = sorted((Path(__file__).parents[2] / "examples/flows").glob("*.yaml"))


@pytest.fixture
def demo(installation: Installation, tmp_path: Path, database_kind: str) -> Installation:
    if database_kind != "sqlite":
        pytest.skip("the examples do not depend on the database")
    bringing = installation.steward.workbench.bringing
    for sample in generate(customers=40).datasets:
        path = tmp_path / sample.filename
        path.write_bytes(sample.content)
        author = installation.owner.user.id
        bringing.load(installation.scope, author, path, sample.filename, sample.name)
    return installation


@pytest.mark.parametrize("path", FLOWS, ids=lambda path: path.stem)
def test_an_example_runs_to_its_end(path: Path, demo: Installation, clock: MovableClock) -> None:
    steward, access = demo.steward, demo.owner.access
    run = steward.governing.launcher.start(access, Start(path.read_text()))
    answers = {"question": "title", "gate": None}
    for _ in range(6):
        steward.runs.drive_until_idle()
        for item in steward.governing.inbox.waiting(access):
            answer = answers[item.kind] or {
                "decision": "approve",
                "body_hash": item.request["body_hash"],
            }
            steward.governing.inbox.answer(access, item.run_id, item.key, answer)
        clock.advance(seconds=1)
    outcome = steward.runs.outcome(access.scope, run.id)
    assert outcome is not None
    assert "output" in outcome, outcome


def test_there_are_examples() -> None:
    assert len(FLOWS) >= 3
