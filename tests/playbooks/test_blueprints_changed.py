"""Every blueprint as the canvas leaves it after changes: saved with its drawing, it is the graph that was drawn, and runs.

`web/tests/flows/blueprints.test.ts` makes the changes with the canvas's own functions and writes them down: another id
for every step, one more step before the first, a title, a place and a note.
"""

import asyncio
import json
from pathlib import Path
from typing import Any, Final

import pytest

from scripts.samples import generate
from steward.broker.approvals import State, Verdict
from steward.broker.samples import sample
from steward.flows import load_yaml
from steward.flows.drawing import drawing
from steward.flows.model import Flow
from steward.flows.node_states import standings
from steward.playbooks.compiling import compiled
from steward.playbooks.documents import read
from steward.runs import Run, Status
from tests.flows.test_examples import FLOWS
from tests.playbooks.conftest import Room
from tests.playbooks.services import services
from tests.playbooks.test_blueprints_samples import load
from tests.playbooks.test_blueprints_services import INVOICE

ROOT: Final = Path(__file__).parents[2]
CHANGED: Final = {
    each["name"]: each for each in json.loads((ROOT / "web/tests/flows/changed.json").read_text())
}
EXAMPLES: Final = frozenset(path.stem for path in FLOWS)
BLUEPRINTS: Final = frozenset(
    path.stem for path in (ROOT / "src/steward/playbooks/blueprints").glob("*.yaml")
)
_MOST_ROUNDS: Final = 12


@pytest.fixture
def database_url() -> None:
    """SQLite alone: a story takes long, and its SQL is DuckDB's."""


def flow_of(name: str, text: str) -> Flow:
    return load_yaml(text) if name in EXAMPLES else compiled(read(text)[0])


def test_none_is_left_out() -> None:
    assert frozenset(CHANGED) == BLUEPRINTS | EXAMPLES


@pytest.mark.parametrize("name", sorted(CHANGED))
def test_what_is_drawn_after_the_changes_is_what_runs(name: str) -> None:
    types, edges = drawing(flow_of(name, CHANGED[name]["text"]))
    assert types == CHANGED[name]["nodes"]
    assert types["look_again"] == "code"
    assert sorted(f"{e.before}.{e.port}>{e.after}" for e in edges) == CHANGED[name]["edges"]


def load_sample(room: Room, blueprint_id: str) -> None:
    shipped = room.playbooks.blueprints.get(blueprint_id).sample
    for each in shipped.datasets:
        load(room, each.name, each.csv)
    if shipped.demo:
        bringing, access = room.installation.steward.workbench.bringing, room.editor.access
        for dataset in generate(customers=15).datasets:
            path = room.installation.steward.settings.home / dataset.filename
            path.write_bytes(dataset.content)
            bringing.load(access.scope, access.user_id, path, dataset.filename, dataset.name)


def answer_to(request: dict[str, Any]) -> Any:
    """Yes to what may be approved; an answer that the question allows."""
    if "body_hash" in request:
        return {"decision": "approve", "body_hash": request["body_hash"]}
    form = request["form"]
    return INVOICE if "invoice_number" in form.get("properties", {}) else sample(form)


def run_to_its_end(room: Room, run: Run) -> Run:
    governing, access = room.installation.steward.governing, room.editor.access
    for _ in range(_MOST_ROUNDS):
        room.drive()
        if room.fresh(run).status.is_final:
            break
        for item in governing.inbox.waiting(access):
            if item.request is not None:
                governing.inbox.answer(access, item.run_id, item.key, answer_to(item.request))
        for asked in governing.approvals.listed(access, status=State.pending, run_id=run.id):
            verdict = Verdict(approve=True, body_hash=asked.body_hash)
            asyncio.run(governing.deciding.decide(access, asked.id, verdict))
        # What is sent can be stopped for some seconds.
        room.installation.clock.advance(seconds=6)
    return room.fresh(run)


@pytest.mark.parametrize("name", sorted(BLUEPRINTS))
def test_a_blueprint_changed_on_the_canvas_is_saved_and_runs(room: Room, name: str) -> None:
    access, library = room.editor.access, room.playbooks.library
    load_sample(room, name)
    card = room.playbooks.blueprints.fork(access, name)
    changed = CHANGED[name]
    saved = library.save(access, card.id, card.version, changed["text"], layout=changed["layout"])
    revision = library.revision(access, card.id)
    assert (revision.number, revision.written) == (2, changed["text"])
    assert revision.layout == changed["layout"]
    inputs = room.playbooks.blueprints.get(name).sample.inputs
    with services(room, inputs.get("connection", "finance-slack")):
        started = room.playbooks.running.start(access, saved.id, inputs)
        run = run_to_its_end(room, started)
    assert run.status is Status.done, run.reason
    entries = room.runs.journal.entries(run.scope, run.id)
    ran = {
        each.node for each in standings(flow_of(name, changed["text"]), entries, room.runs.payload)
    }
    assert "look_again" in ran
    assert ran <= changed["nodes"].keys()
