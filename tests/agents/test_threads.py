"""Threads are trees of turns, and no turn is without its run."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from steward.agents.chat.threads import HEAD, Threads, position_of, subject_of
from steward.core.errors import Conflict, Denied, Invalid, NotFound, Stale
from steward.identity import Access, Role
from steward.runs import Execution, Json, Run, RunRequest
from steward.store import Scope
from steward.testing import Installation

pytestmark = pytest.mark.every_database

Begin = Callable[..., Run]


@pytest.fixture
def access(installation: Installation) -> Access:
    return installation.owner.access


@pytest.fixture
def threads(installation: Installation) -> Threads:
    async def chat(execution: Execution) -> Json:
        return {"answer": f"About {execution.request.document['message']}."}

    installation.steward.runs.programs["chat"] = chat
    return installation.steward.threads


@pytest.fixture
def said(installation: Installation, threads: Threads, access: Access) -> Begin:
    """Begins a turn and drives it to its end."""

    def say(message: str, thread_id: str | None = None, **more: object) -> Run:
        run = threads.begin(access, message, thread_id=thread_id, **more)[1]  # type: ignore[arg-type]
        installation.steward.runs.drive_until_idle()
        return run

    return say


def _thread_id(run: Run) -> str:
    return (run.subject or "").removeprefix("thread:")


def test_a_message_starts_a_thread_with_its_run(
    installation: Installation, threads: Threads, access: Access
) -> None:
    message = (
        "How many   customers\nare there per country, and which of them ordered most last year?"
    )
    thread, run = threads.begin(access, message)
    assert (
        thread.title
        == "How many customers are there per country, and which of them ordered most last…"
    )
    assert (thread.head, thread.turns, thread.branch) == (run.id, 1, "main")
    assert (run.program, run.subject, run.queue) == ("chat", subject_of(thread.id), "llm")
    request = installation.steward.runs.request(access.scope, run.id)
    assert request.document == {
        "format": 1,
        "message": message,
        "thread_id": thread.id,
        "parent": None,
        "mentions": [],
        "attachments": [],
        "rows": "all",
        "review": "changes",
    }
    assert request.grant["risk"] == "external_send"
    assert request.budget == {"usd": "5", "seconds": 3600}
    installation.steward.runs.drive_until_idle()
    assert installation.steward.runs.get(access.scope, run.id).status.value == "done"


def test_edits_and_new_tries_are_siblings_and_the_head_moves(
    threads: Threads, access: Access, said: Begin
) -> None:
    first = said("one")
    thread = _thread_id(first)
    second = said("two", thread)
    edited = said("two, but better", thread, parent=first.id)
    deeper = said("three", thread)
    path = threads.turns.path(access.scope, thread)
    assert [turn.message for turn in path.turns] == ["one", "two, but better", "three"]
    assert path.turns[1].siblings == (second.id, edited.id)
    assert path.turns[2].parent == edited.id
    other = threads.turns.path(access.scope, thread, leaf=second.id)
    assert [turn.message for turn in other.turns] == ["one", "two"]
    below = threads.turns.path(access.scope, thread, leaf=edited.id)
    assert below.turns[-1].run_id == deeper.id, "a leaf stands for what goes on below it"
    again = said("another beginning", thread, parent=None)
    assert threads.turns.path(access.scope, thread).turns[0].siblings == (first.id, again.id)
    now = threads.get(access.scope, thread)
    moved = threads.change(access, thread, now.revision, head=second.id)
    assert moved.head == second.id
    assert [t.message for t in threads.turns.history(access.scope, thread, second.id)] == [
        "one",
        "two",
    ]


def test_long_threads_are_read_from_their_end(
    threads: Threads, access: Access, said: Begin
) -> None:
    thread = _thread_id(said("0"))
    for number in range(1, 6):
        said(str(number), thread)
    last = threads.turns.path(access.scope, thread, limit=4)
    assert [turn.message for turn in last.turns] == ["2", "3", "4", "5"]
    earlier = threads.turns.path(access.scope, thread, before=last.before, limit=4)
    assert [turn.message for turn in earlier.turns] == ["0", "1"]
    assert earlier.before is None


def test_a_message_waits_for_the_one_before(threads: Threads, access: Access) -> None:
    thread, _ = threads.begin(access, "one")
    with pytest.raises(Conflict, match="still being answered"):
        threads.begin(access, "two", thread_id=thread.id)
    beside, _ = threads.begin(access, "two", thread_id=thread.id, parent=None)
    assert beside.turns == 2
    query = RunRequest(title="SQL", program="flow", document={})
    after, _ = threads.begin(
        access, "SQL: SELECT 1", thread_id=thread.id, query=query, query_type="sql"
    )
    assert threads.turns.path(access.scope, thread.id).turns[-1].query_type == "sql"
    assert after.turns == 3


def test_nothing_is_left_of_a_turn_whose_run_does_not_start(
    threads: Threads, access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread, run = threads.begin(access, "one")

    def broken(*_given: object, **_named: object) -> Run:
        return replace(run, id="run_unknown")

    monkeypatch.setattr(threads._runs.records, "start_within", broken)
    with pytest.raises(IntegrityError):
        threads.begin(access, "two", thread_id=thread.id, parent=None)
    assert threads.get(access.scope, thread.id) == thread


def test_mentions_attachments_branches_and_parents_must_be_there(
    installation: Installation, threads: Threads, access: Access, said: Begin
) -> None:
    bringing = installation.steward.workbench.bringing
    upload = bringing.start(access.scope, "cities.csv", 4)
    with pytest.raises(Invalid, match="not arrived whole"):
        threads.begin(access, "Load it", attachments=[upload.id])
    bringing.append(access.scope, upload.id, 0, [b"a\n1\n"])
    run = threads.begin(access, "Load it", attachments=[upload.id])[1]
    document = installation.steward.runs.request(access.scope, run.id).document
    assert document["attachments"] == [{"upload": upload.id, "name": "cities.csv", "size": 4}]
    elsewhere = bringing.start(Scope(access.scope.org_id, "prj_other"), "theirs.csv", None)
    with pytest.raises(Invalid, match="no upload"):
        threads.begin(access, "Load it", attachments=[elsewhere.id])
    with pytest.raises(Invalid, match="no dataset 'nothing'"):
        threads.begin(access, "What is in it?", mentions=["nothing"])
    with pytest.raises(NotFound, match="no branch"):
        threads.begin(access, "Hello", branch="trial")
    one, other = said("one"), said("two")
    with pytest.raises(NotFound, match="turn"):
        threads.begin(access, "three", thread_id=_thread_id(one), parent=other.id)


def test_threads_are_listed_found_changed_deleted_and_had_back(
    installation: Installation, threads: Threads, access: Access, said: Begin
) -> None:
    sales, stock = _thread_id(said("Sales by month")), _thread_id(said("Stock of bicycles"))
    installation.clock.advance(minutes=1)
    said("Only in Bonn", sales)
    scope = access.scope
    listed = threads.listed(scope)
    assert [thread.id for thread in listed] == [sales, stock]
    after = threads.listed(scope, before=position_of(listed[0]))
    assert [thread.id for thread in after] == [stock]
    assert [thread.id for thread in threads.listed(scope, text="BONN")] == [sales]
    read = threads.get(scope, stock)
    named = threads.change(
        access, stock, read.revision, title="Bicycles", settings={"rows": "schema-only"}
    )
    assert (named.title, named.settings) == (
        "Bicycles",
        {"rows": "schema-only", "review": "changes"},
    )
    with pytest.raises(Stale):
        threads.change(access, stock, read.revision, title="Other")
    threads.delete(access, stock)
    with pytest.raises(NotFound):
        threads.get(scope, stock)
    assert [thread.id for thread in threads.listed(scope)] == [sales]
    assert threads.restore(access, stock).title == "Bicycles"


def test_threads_stay_in_their_project_and_viewers_only_look(
    threads: Threads, access: Access, said: Begin
) -> None:
    run = said("one")
    thread = _thread_id(run)
    other = Scope(access.scope.org_id, "prj_other")
    for look in (
        lambda: threads.get(other, thread),
        lambda: threads.turns.path(other, thread),
        lambda: threads.turns.get(other, thread, run.id),
    ):
        with pytest.raises(NotFound):
            look()
    assert threads.listed(other) == []
    assert threads.turns.of_run(other, run.id) is None
    viewer = replace(access, role=Role.viewer)
    assert threads.get(viewer.scope, thread).turns == 1
    for change in (
        lambda: threads.begin(viewer, "two", thread_id=thread, parent=HEAD),
        lambda: threads.delete(viewer, thread),
        lambda: threads.change(viewer, thread, 2, title="x"),
    ):
        with pytest.raises(Denied):
            change()


def test_programs_bring_names_of_their_own(threads: Threads, access: Access) -> None:
    thread = threads.create(access, client_id="window 1")
    assert threads.named(access, "window 1") == thread
    threads.delete(access, thread.id)
    assert threads.named(access, "window 1") is None
    assert threads.create(access, client_id="window 1").id != thread.id
