"""The clean-up from its fork to its undo, on demo data whose truth is known."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from scripts.samples import SampleSet, generate
from steward.core.errors import Invalid
from steward.runs import Run, Status
from steward.tables.engine import session
from steward.testing import Installation
from steward.tools.propose_rules import with_threshold
from tests.playbooks.conftest import Room, returned_to, with_data

CUSTOMERS = 80
Tree = dict[tuple[str, str], str]


@pytest.fixture
def database_url() -> None:
    """SQLite alone: a story takes long, and its SQL is DuckDB's."""


@pytest.fixture(scope="module")
def samples() -> SampleSet:
    return generate(customers=CUSTOMERS)


@pytest.fixture(scope="module")
def home_template(
    home_template: Path, samples: SampleSet, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """With the samples in it."""

    def load(room: Room) -> None:
        access, steward = room.editor.access, room.installation.steward
        for dataset in samples.datasets:
            path = steward.settings.home / dataset.filename
            path.write_bytes(dataset.content)
            steward.workbench.bringing.load(
                access.scope, access.user_id, path, dataset.filename, dataset.name
            )

    return with_data(home_template, tmp_path_factory.mktemp("samples") / "home", load)


@pytest.fixture
def room(installation: Installation) -> Room:
    return returned_to(installation)


def tree(room: Room) -> Tree:
    """Everything that main holds: versions of datasets and digests of files."""
    access = room.editor.access
    place = room.installation.steward.workbench.datasets.workspace(access.scope, access.user_id)
    datasets: Tree = {("dataset", each.name): each.version for each in place.datasets()}
    return datasets | {("file", each.path): each.digest for each in place.files()}


def started(room: Room, **inputs: Any) -> Run:
    blueprint = room.playbooks.blueprints.get("data-cleanup")
    card = room.playbooks.blueprints.fork(room.editor.access, blueprint.id)
    run = room.playbooks.running.start(
        room.editor.access, card.id, {**blueprint.sample.inputs, **inputs}
    )
    room.drive()
    return room.fresh(run)


def asked(run: Run) -> dict[str, Any]:
    assert run.status is Status.reviewing, run.reason
    found: dict[str, Any] = (run.waits or [])[0]["request"]
    return found


def approve(room: Room, run: Run, **further: Any) -> Run:
    body_hash = asked(run)["body_hash"]
    room.answer(run, {"decision": "approve", "body_hash": body_hash, **further})
    return room.fresh(run)


def pairs(groups: Iterable[object]) -> int:
    return sum(count * (count - 1) // 2 for count in Counter(groups).values())


def f1(room: Room, samples: SampleSet) -> float:
    """Of pairs of parties, by the mapping of every row."""
    access, bench = room.editor.access, room.installation.steward.workbench
    place = bench.datasets.workspace(access.scope, access.user_id)
    version = place.dataset("customers mapping").version
    table = bench.versions.table(access.scope, version, "mapping")
    with session() as connection:
        rows = connection.execute(
            f"SELECT source_table, row_key, party, entity_id FROM {table.source}"
        ).fetchall()
    truth = {(row.dataset, row.row_id): row.entity_id for row in samples.truth.rows}
    assert {(source, key) for source, key, _, _ in rows} == set(truth), "a row is lost"
    assert len(rows) == len(truth), "a row is there twice"
    both = list(
        {party: (entity, truth[source, key]) for source, key, party, entity in rows}.values()
    )
    right = pairs(both)
    precision = right / pairs(entity for entity, _ in both)
    recall = right / pairs(real for _, real in both)
    return 2 * precision * recall / (precision + recall)


def test_the_clean_up_as_proposed(room: Room, samples: SampleSet) -> None:
    before = tree(room)
    run = started(room)
    request = asked(run)
    assert request["view"] == "entity-rules"
    estimate = request["shown"]["estimate"]
    assert request["shown"]["borderline"], "nothing to look at"
    run = approve(room, run)
    assert ("dataset", "customers") not in tree(room), "it is on a branch until it is promoted"
    shown = asked(run)
    assert all(check["passed"] for check in shown["shown"]["checks"])
    changed = {each["name"] for each in shown["payload"]["entries"] if each["kind"] == "dataset"}
    assert changed == {"customers", "customers mapping", "customers pairs"}
    run = approve(room, run)
    assert run.status is Status.done, run.reason
    output = room.runs.outcome(run.scope, run.id)["output"]
    assert output["customers"] == estimate["entities"]
    assert output["rows"] == sum(dataset.rows for dataset in samples.datasets)
    assert {name.rpartition(".")[2] for name in output["files"]} >= {"html", "pdf", "xlsx", "svg"}
    assert f1(room, samples) >= 0.95
    _undone(room, run, before)


def _undone(room: Room, run: Run, before: Tree) -> None:
    """One click takes the promotion back; then the rest, until main is as it was."""
    undoing, access = room.installation.steward.governing.undoing, room.editor.access
    asyncio.run(undoing.undo(access, run.id, "promoted"))
    assert ("dataset", "customers") not in tree(room)
    for key in ("lineage", "workbook", "report", "quality"):
        asyncio.run(undoing.undo(access, run.id, key))
    assert tree(room) == before
    assert asyncio.run(room.runs.replay(run.scope, run.id)).is_same


def test_another_threshold_is_what_is_built(room: Room, samples: SampleSet) -> None:
    run = started(room, sources=[samples.datasets[0].name])
    request = asked(run)
    steps = request["shown"]["estimate"]["steps"]
    assert steps[0]["matches"] >= steps[-1]["matches"]
    for wrong in ({"rules": 1}, {"rules": "x", "more": 1}, None):
        with pytest.raises(Invalid):
            approve(room, run, payload=wrong)
    stricter = with_threshold(request["payload"]["rules"], 0.99)
    run = approve(room, run, payload={"rules": stricter})
    weighed = _output(room, run, "weighed")
    assert "match: 0.99" in weighed["rules"]
    assert weighed["estimate"]["matches"] < request["shown"]["estimate"]["matches"]
    with pytest.raises(Invalid, match="as it is"):
        approve(room, run, payload={})
    body_hash = asked(run)["body_hash"]
    room.answer(run, {"decision": "reject", "body_hash": body_hash, "reason": "Not now"})
    run = room.fresh(run)
    assert run.status is Status.failed
    assert "Not now" in (run.reason or "")
    assert ("dataset", "customers") not in tree(room)


def _output(room: Room, run: Run, key: str) -> Any:
    for entry in room.runs.journal.entries(run.scope, run.id):
        if entry.key == key and "result" in entry.data:
            found = room.runs.payload(entry.data["result"])
            if isinstance(found, dict) and "value" in found:
                return found["value"]
    raise AssertionError(f"{key} has no output")
