"""Long work is a run: how far it is can be seen, a cancel ends it within two seconds, and what happened is on record."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from steward.broker.presets import preset
from steward.core.work import Stopped
from steward.flows.direct_calls import DirectCall
from steward.identity import Role
from steward.ingest import isolation
from steward.output import xlsx
from steward.runs import Kind, Run, Status
from steward.runs.worker import WorkerThread
from steward.tables.scratch import Scratch
from steward.testing import Installation
from steward.tools import _commits, ingest

PATIENCE = 20.0
"""A cancel takes less than two seconds; tests that run beside this one may slow it down."""

ROWS = 400_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "large.csv"
    row = "{0},Customer {0},{0}.25,2026-01-02,customer{0}@example.org\n".format
    path.write_text("id,name,amount,day,email\n" + "".join(map(row, range(ROWS))))
    return path


@pytest.fixture
def worker(installation: Installation) -> Iterator[None]:
    thread = WorkerThread(installation.steward.runs.worker())
    thread.start()
    yield
    thread.stop()


def taken(installation: Installation, path: Path) -> str:
    with path.open("rb") as file:
        chunks = iter(partial(file.read, 1 << 20), b"")
        bringing = installation.steward.workbench.bringing
        return bringing.take(installation.scope, path.name, chunks).id


def started(installation: Installation, tool: str, **arguments: Any) -> Run:
    calls = installation.steward.governing.direct_calls
    return calls.start(installation.owner.access, DirectCall(tool, arguments, seen=True))


def until(installation: Installation, run: Run, is_so: Callable[[Run], bool]) -> Run:
    """The run as soon as it is so; looked at whenever something happens to it."""
    runs, rung = installation.steward.runs, threading.Event()
    end = time.monotonic() + 60
    with runs.listening(run.id, rung.set):
        while True:
            rung.clear()
            found = runs.get(run.scope, run.id)
            if is_so(found):
                return found
            assert time.monotonic() < end, found
            rung.wait(1)


def is_over(run: Run) -> bool:
    return run.status.is_final


def intended(installation: Installation) -> Callable[[Run], bool]:
    journal = installation.steward.runs.journal
    return lambda run: any(e.kind == Kind.intent for e in journal.entries(run.scope, run.id))


def is_told(run: Run) -> bool:
    return is_over(run) or "call" in (run.progress or {})


def cancelled(installation: Installation, run: Run) -> tuple[Run, float]:
    began = time.monotonic()
    installation.steward.runs.records.control(run.scope, run.id, "cancel", "usr_x")
    return until(installation, run, is_over), time.monotonic() - began


def readers() -> list[psutil.Process]:
    stem = isolation.stem.process
    if stem is None:
        return []
    forked = psutil.Process(stem.pid).children(recursive=True)
    return [each for each in forked if each.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("moment", ["begun", "told"])
def test_a_cancelled_load_ends_at_once_and_changes_nothing(
    installation: Installation, large: Path, moment: str
) -> None:
    steward, scope = installation.steward, installation.scope
    upload = taken(installation, large)
    run = started(installation, "ingest", dataset="large", upload=upload)
    there = until(installation, run, is_told if moment == "told" else intended(installation))
    assert not is_over(there), "it was too quick to be cancelled"
    if moment == "told":
        call = (there.progress or {})["call"]
        assert call["doing"]
        assert call["key"] == "call"
    ended, seconds = cancelled(installation, run)
    assert ended.status is Status.cancelled
    assert seconds < PATIENCE
    assert readers() == []
    assert ended.progress is None
    assert steward.workbench.datasets.page(scope, installation.owner.user.id) == []
    # The file is still there, to be loaded another time.
    assert steward.workbench.bringing.get(scope, upload).offset == large.stat().st_size
    outcomes = [e for e in steward.runs.journal.entries(scope, run.id) if e.kind == Kind.outcome]
    assert [e.data["error"]["message"] for e in outcomes] == ["Cancelled. Nothing was changed."]
    assert asyncio.run(steward.runs.replay(scope, run.id)).is_same


@pytest.mark.usefixtures("worker")
def test_what_happened_at_the_last_moment_is_not_called_cancelled(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = iter([Stopped()])

    def stopped_once(*given: Any) -> Any:
        for problem in described:
            raise problem
        return _commits.load_outcome(*given)

    # The cancel comes after the commit, while its outcome is put into words.
    monkeypatch.setattr(ingest, "load_outcome", stopped_once)
    bringing = installation.steward.workbench.bringing
    upload = bringing.take(installation.scope, "a.csv", [b"a,b\n1,2\n"])
    run = started(installation, "ingest", dataset="a", upload=upload.id)
    ended = until(installation, run, is_over)
    assert ended.status is Status.done
    found = installation.steward.runs.outcome(run.scope, run.id)["output"]
    assert found["value"]["rows"] == 1
    assert len(found["commits"]) == 1


@pytest.mark.usefixtures("worker")
def test_an_export_can_be_followed_cancelled_and_leaves_no_files(
    installation: Installation, large: Path
) -> None:
    who = installation.owner.user.id
    installation.steward.workbench.bringing.load(
        installation.scope, who, large, "large.csv", "large"
    )
    run = started(installation, "export_dataset", dataset="large", format="xlsx")
    there = until(installation, run, is_told)
    assert not is_over(there)
    ended, seconds = cancelled(installation, run)
    assert ended.status is Status.cancelled
    assert seconds < PATIENCE
    left = (installation.steward.settings.home / "work/scratch").rglob("*")
    assert [path for path in left if path.is_file() and path.suffix != ".lock"] == []


@pytest.mark.usefixtures("worker")
def test_excel_says_its_limit_before_anything_is_begun(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsx, "MAX_ROWS", 3)
    owner = installation.owner
    installation.steward.workbench.bringing.load_text(
        installation.scope, owner.user.id, "a.csv", "a\n1\n2\n3\n", "a"
    )
    viewer = installation.person(Role.viewer)
    place = f"/api/v1/projects/{installation.scope.project_id}/datasets/a/exports"
    refused = viewer.client.post(place, json={"format": "xlsx"})
    assert (refused.status_code, refused.json()["code"]) == (413, "excel-limit")
    assert "workbook with 2 sheets" in refused.json()["detail"]
    monkeypatch.undo()
    begun = viewer.client.post(place, json={"format": "xlsx", "several_sheets": True})
    assert begun.status_code == 202, begun.text
    run = installation.steward.runs.get(installation.scope, begun.json()["id"])
    assert until(installation, run, is_over).status is Status.done
    file = viewer.client.get(f"{place}/{run.id}")
    assert file.content.startswith(b"PK")
    assert "a.xlsx" in file.headers["content-disposition"]
    # A day later the file is gone, and the answer says what to do.
    installation.clock.advance(days=2)
    for _ in range(2):
        installation.steward.workbench.tidy()
        installation.clock.advance(hours=1)
    gone = owner.client.get(f"{place}/{run.id}")
    assert gone.status_code == 404
    assert "Export it again" in gone.json()["detail"]


def test_files_of_a_killed_process_go_and_those_of_a_living_one_stay(tmp_path: Path) -> None:
    living, next_one = Scratch(tmp_path), Scratch(tmp_path)
    kept = living.folder() / "kept"
    kept.write_text("in use")
    dead = tmp_path / "process-dead"
    dead.mkdir()
    (dead / "export").write_text("left behind")
    dead.with_suffix(".lock").touch()
    assert next_one.clear_left_behind() == 1
    assert not dead.exists()
    assert kept.exists()
    living.close()
    assert not kept.exists()
    assert next_one.clear_left_behind() == 0


def ruled(installation: Installation, text: str) -> None:
    rulebook, access = installation.steward.governing.rulebook, installation.owner.access
    rulebook.save(access, "project", text, rulebook.current(access.scope, "project").revision)


def safe(installation: Installation) -> None:
    rulebook, access = installation.steward.governing.rulebook, installation.owner.access
    rulebook.change_settings(access, rulebook.settings(access.scope).revision, safe_mode=True)


@pytest.mark.parametrize("rule", ["read-only", "safe mode"])
def test_policy_binds_whoever_loads_or_writes_a_report(
    installation: Installation, rule: str
) -> None:
    steward, scope, owner = installation.steward, installation.scope, installation.owner
    bringing = steward.workbench.bringing
    bringing.load_text(scope, owner.user.id, "a.csv", "a\n1\n", "a")
    upload = bringing.take(scope, "b.csv", [b"b\n1\n"]).id
    editor = installation.person(Role.editor)
    clients = (owner.client, editor.client, installation.by_token(editor, Role.editor))
    if rule == "safe mode":
        safe(installation)
    else:
        ruled(installation, preset(rule))
    place = steward.workbench.datasets.workspace(scope, owner.user.id)
    before = place.branch("main").head
    server = {"url": "postgresql://ann:pw@192.0.2.1/x", "dataset": "c"}
    for path, body in (
        (f"uploads/{upload}/ingest", {"dataset": "b"}),
        ("servers/ingest", server),
        ("reports", {"title": "About a", "datasets": ["a"]}),
    ):
        for client in clients:
            begun = client.post(f"/api/v1/projects/{scope.project_id}/{path}", json=body)
            assert begun.status_code == 202, begun.text
            steward.runs.drive_until_idle()
            run = steward.runs.get(scope, begun.json()["id"])
            if rule == "safe mode":
                assert run.status is Status.waiting_for_approval, path
            else:
                assert steward.runs.outcome(scope, run.id)["error"]["code"] == "denied", path
    assert place.branch("main").head == before
