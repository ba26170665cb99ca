"""Retention and legal holds: what goes when its time has come, and what a hold keeps from everybody and everything."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from steward.core.errors import Conflict, Denied, Stale
from steward.flows import DirectCall
from steward.identity import Level, Periods, Role
from steward.runs import RunRequest
from steward.store import EVERYWHERE, UNHELD, Prepared, Scope, events, legal_holds, metadata
from steward.testing import Installation

pytestmark = pytest.mark.every_database
CASE = "Smith v. Example"
ALL = Periods(runs=30, versions=30, events=30, audit=30)
RECORDS = [
    table
    for table in metadata.sorted_tables
    if ("project_id" in table.c or table.name == "projects") and not table.info.get("unheld")
]
ACCESS_AND_SCRATCH = {
    "alert_rounds",
    "analyses",
    "api_tokens",
    "audit_cursors",
    "catalogue_rates",
    "client_grants",
    "connection_dismissals",
    "data_pins",
    "data_seals",
    "invitations",
    "links",
    "live_texts",
    "observed_abouts",
    "observed_ended_hours",
    "observed_facts",
    "observed_outputs",
    "observed_people",
    "observed_projects",
    "observed_rollups",
    "observed_spans",
    "observed_tree_runs",
    "observed_trees",
    "playbook_drafts",
    "playbook_presence",
    "playbook_shadows",
    "project_members",
    "secrets",
    "sign_on_grants",
    "upload_parts",
    "uploads",
}


def hold(installation: Installation, name: str = CASE) -> str:
    retention = installation.steward.identity.retention
    return retention.place(installation.owner.access, name, "A claim was filed.").id


def load(installation: Installation, name: str = "orders", text: str = "id\n1\n2\n") -> None:
    steward = installation.steward
    upload = steward.workbench.bringing.take(installation.scope, "a.csv", [text.encode()])
    call = DirectCall("ingest", {"dataset": name, "upload": upload.id}, seen=True)
    asyncio.run(steward.governing.direct_calls.run(installation.owner.access, call))


def count(installation: Installation, table: str) -> int:
    statement = sa.select(sa.func.count()).select_from(metadata.tables[table])
    with installation.steward.database.read(installation.scope) as tx:
        return int(tx.execute(statement).scalar_one())


def test_data_is_loaded_while_a_hold_lasts(installation: Installation) -> None:
    hold(installation)
    load(installation)
    load(installation, text="id\n3\n")
    assert count(installation, "uploads") == 0
    place = installation.steward.workbench.datasets.workspace(installation.scope, "steward")
    assert [each.rows for each in place.datasets()] == [1]


def everything_old(installation: Installation, periods: Periods = ALL) -> None:
    """Something of each kind, periods for it, and the time gone by."""
    load(installation)
    load(installation, text="id\n1\n2\n3\n")
    access = installation.owner.access
    installation.steward.identity.retention.change(access, periods, 0)
    installation.clock.advance(days=31)


def test_tables_that_a_hold_does_not_keep_are_few_and_known() -> None:
    """A new table is a record unless it is named here, where a reviewer sees it."""
    assert {t.name for t in metadata.tables.values() if t.info == UNHELD} == ACCESS_AND_SCRATCH


def test_a_hold_stops_the_deletion_of_every_kind_of_record(installation: Installation) -> None:
    hold(installation)
    for table in RECORDS:
        _require_kept(installation, table)


def _require_kept(installation: Installation, table: sa.Table) -> None:
    database, scope = installation.steward.database, installation.scope
    for statement in (sa.delete(table), Prepared(sa.delete(table))):
        with pytest.raises(Conflict, match=CASE) as refusal, database.write(scope) as tx:
            tx.execute(statement)
        assert refusal.value.specific_code == "legal-hold"
    for mark in {"deleted_at", "expired_at"} & set(table.c.keys()):
        now = installation.clock.now()
        with pytest.raises(Conflict, match=CASE), database.write(scope) as tx:
            tx.execute(sa.update(table).values({mark: now}))
        with pytest.raises(Conflict, match=CASE), database.write(scope) as tx:
            tx.execute(sa.update(table), {mark: now})
        prepared = Prepared(sa.update(table).values({mark: sa.bindparam("then")}))
        with pytest.raises(Conflict, match=CASE), database.write(scope) as tx:
            tx.execute(prepared, {"then": now})
        with database.write(scope) as tx:
            tx.execute(sa.update(table).values({mark: None}))
    with database.write(scope) as tx:
        assert tx.purge(sa.delete(table)) == 0


def test_work_across_projects_leaves_out_those_with_a_hold(installation: Installation) -> None:
    free = Scope(installation.scope.org_id, installation.project("Free"))
    hold(installation)
    before = count(installation, "events")
    with installation.steward.database.write(EVERYWHERE) as tx:
        tx.execute(sa.delete(events))
        tx.execute(Prepared(sa.delete(events)))
        tx.execute_as_written(sa.delete(events))
    assert count(installation, "events") == before
    assert installation.steward.events.latest(free) == 0


def test_fixed_sql_deletes_nothing() -> None:
    """It passes by the door that asks for holds, so it must not delete."""
    from pathlib import Path

    import steward

    for path in Path(steward.__file__).parent.rglob("*.py"):
        text = path.read_text()
        if "execute_raw(" in text:
            assert "DELETE FROM" not in text.upper(), path


def test_retention_removes_what_is_past_its_time(installation: Installation) -> None:
    everything_old(installation)
    steward, scope = installation.steward, installation.scope
    load(installation, "fresh")
    runs, journal = count(installation, "runs"), count(installation, "journal")
    due = {each.kind: each for each in steward.removing.preview(scope, ALL)}
    assert due["runs"].count == 2
    assert due["audit"].count > 0
    assert due["events"].count > 0
    assert (count(installation, "runs"), count(installation, "journal")) == (runs, journal)

    removed = steward.removing.apply(scope)
    assert removed["runs"] == 2
    # The second load made a version of what the first one brought; its run held that one until it went.
    assert removed["versions"] >= 1
    assert count(installation, "runs") == runs - 2
    assert count(installation, "journal") < journal
    verified = steward.runs.verify_project(scope)
    assert verified.is_intact, verified.log.faults
    assert verified.log.removed == 2
    last = steward.events.before(scope, None, 1)[0]
    assert last.type.endswith("retention.applied")
    assert last.data["runs"] == 2
    assert steward.removing.apply(scope) == {}
    steward.workbench.tidy()
    datasets = steward.workbench.datasets.workspace(scope, installation.owner.user.id).datasets()
    assert {each.name for each in datasets} == {"orders", "fresh"}


def test_a_missing_run_that_retention_did_not_remove_is_a_fault(
    installation: Installation,
) -> None:
    everything_old(installation)
    steward = installation.steward
    removed = metadata.tables["runs"], metadata.tables["journal"]
    with steward.database.write(installation.scope) as tx:
        first = tx.first(sa.select(removed[0].c.id).order_by(removed[0].c.id))
        assert first is not None
        for table in reversed(metadata.sorted_tables):
            column = table.c.get("run_id")
            if column is not None and column.foreign_keys:
                tx.execute(sa.delete(table).where(column == first.id))
        tx.execute(sa.delete(removed[0]).where(removed[0].c.id == first.id))
    found = steward.runs.verify_project(installation.scope)
    assert "is not there any more" in found.log.faults[0].reason


def test_nothing_goes_on_the_first_day_after_a_change(installation: Installation) -> None:
    load(installation)
    installation.clock.advance(days=400)
    steward, access = installation.steward, installation.owner.access
    rule = steward.identity.retention.change(access, ALL, 0)
    assert steward.removing.apply(installation.scope) == {}
    installation.clock.advance(hours=25)
    assert rule.starts_at is not None
    assert rule.starts_at < installation.clock.now()
    assert steward.removing.apply(installation.scope)["runs"] == 1


def test_a_family_of_runs_goes_as_a_whole_and_a_run_under_way_stays(
    installation: Installation,
) -> None:
    steward, scope = installation.steward, installation.scope
    load(installation)
    request = RunRequest(program="flow", title="Waits", document={}, queue="cpu")
    waiting = steward.runs.start(scope, installation.owner.user.id, request)
    steward.identity.retention.change(installation.owner.access, ALL, 0)
    installation.clock.advance(days=31)
    assert steward.removing.apply(scope)["runs"] == 1
    assert steward.runs.get(scope, waiting.id).id == waiting.id


def test_each_kind_has_its_own_period(installation: Installation) -> None:
    everything_old(installation, Periods(events=30))
    steward = installation.steward
    audit = {e.type for e in steward.events.before(installation.scope, None, 500)}
    assert set(steward.removing.apply(installation.scope)) == {"events"}
    left = {e.type for e in steward.events.before(installation.scope, None, 500)}
    assert any(".run." in kind for kind in audit)
    assert not any(".run." in kind for kind in left)
    assert "org.steward.project.created" in left


def _retention(installation: Installation) -> Any:
    return installation.steward.removing.apply(installation.scope)


def _expiry(installation: Installation) -> Any:
    now = installation.clock.now()
    return installation.steward.workbench.versions.expire(installation.scope, now)


def _project(installation: Installation) -> Any:
    installation.project("Another")
    return installation.steward.identity.projects.delete(installation.owner.access)


def _thread(installation: Installation) -> Any:
    threads = installation.steward.threads
    thread = threads.create(installation.owner.access, title="Talk")
    return threads.delete(installation.owner.access, thread.id)


def _branch(installation: Installation) -> Any:
    direct = installation.steward.governing.direct_calls
    access = installation.owner.access
    call = DirectCall("snapshot", {"name": "mine", "kind": "branch"}, seen=True)
    asyncio.run(direct.run(access, call))
    gone = DirectCall("delete_branch", {"name": "mine"}, seen=True)
    return asyncio.run(direct.run(access, gone))


@pytest.mark.parametrize("delete", [_retention, _expiry, _project, _thread, _branch])
def test_a_hold_refuses_deletions_by_name(
    installation: Installation, delete: Callable[[Installation], Any]
) -> None:
    everything_old(installation)
    hold(installation)
    with pytest.raises(Conflict, match=f'legal hold "{CASE}"'):
        delete(installation)


def test_chores_pass_by_a_project_with_a_hold_and_go_on_once_it_is_lifted(
    installation: Installation,
) -> None:
    everything_old(installation)
    steward = installation.steward
    held = hold(installation)
    kept = ("runs", "journal", "data_versions", "data_trees", "data_commits")
    before = {name: count(installation, name) for name in kept}
    installation.clock.advance(days=200)
    for _ in range(2):
        for chore in steward.runs.parts.chores:
            chore()
        installation.clock.advance(days=10)
    assert {name: count(installation, name) for name in kept} == before
    steward.identity.retention.lift(installation.owner.access, held, "Settled.")
    for chore in steward.runs.parts.chores:
        chore()
    assert count(installation, "runs") == 0


def test_several_holds_must_all_be_lifted(installation: Installation) -> None:
    everything_old(installation)
    steward, access = installation.steward, installation.owner.access
    retention = steward.identity.retention
    first, second = hold(installation), hold(installation, "Tax audit")
    with pytest.raises(Conflict, match="already"):
        hold(installation)
    retention.lift(access, first, "Settled.")
    with pytest.raises(Conflict, match="Tax audit"):
        steward.removing.apply(installation.scope)
    with pytest.raises(Conflict, match="lifted already"):
        retention.lift(access, first, "Again.")
    retention.lift(access, second, "Closed.")
    assert steward.removing.apply(installation.scope)["runs"] == 2
    on_record = [(each.name, each.lift_reason) for each in retention.holds(installation.scope)]
    assert on_record == [("Tax audit", "Closed."), (CASE, "Settled.")]
    kinds = [e.type.rpartition("steward.")[2] for e in steward.events.before(access.scope, None, 9)]
    assert kinds.count("hold.placed") == 2
    assert kinds.count("hold.lifted") == 2


def test_erasing_a_person_reports_what_a_hold_keeps(installation: Installation) -> None:
    steward = installation.steward
    person = installation.person(Role.editor)
    notifications = steward.identity.notifications
    with steward.database.write(installation.scope) as tx:
        notifications.add_within(tx, person.user.id, Level.info, "Done", "A run is done.")
    hold(installation)
    before = steward.identity.eraser.preview(person.user.id)
    assert (before.held, before.holds) == ({"notifications": 1}, (CASE,))
    assert "notifications" not in before.removed
    assert before.removed["project_members"] == 1
    assert steward.identity.eraser.erase(person.user.id) == before
    assert count(installation, "notifications") == 1
    assert steward.identity.users.get(person.user.id).name == "Former member"


def test_access_ends_under_a_hold(installation: Installation) -> None:
    """A hold keeps records; it must never keep a door open."""
    hold(installation)
    steward, owner = installation.steward, installation.owner
    person = installation.person(Role.editor)
    token, _ = steward.identity.tokens.create(person.access, "t", Role.viewer, 1)
    steward.identity.tokens.revoke(person.access, token.id)
    steward.identity.members.remove(owner.access, person.user.id)
    steward.secrets.set(owner.access.scope, "key", "value", author=owner.user.id)
    steward.secrets.delete(owner.access.scope, "key", owner.user.id)


def test_only_owners_decide_and_nobody_overwrites_unread(installation: Installation) -> None:
    retention = installation.steward.identity.retention
    admin = installation.person(Role.admin).access
    for act in (
        lambda: retention.change(admin, ALL, 0),
        lambda: retention.place(admin, "x", "y"),
        lambda: retention.lift(admin, hold(installation), "y"),
    ):
        with pytest.raises(Denied):
            act()
    retention.change(installation.owner.access, ALL, 0)
    with pytest.raises(Stale):
        retention.change(installation.owner.access, Periods(), 0)


def test_a_hold_of_one_project_is_not_there_for_another(installation: Installation) -> None:
    other = Scope(installation.scope.org_id, installation.project("Other"))
    held = hold(installation)
    retention = installation.steward.identity.retention
    assert retention.hold(other) is None
    assert retention.holds(other) == []
    with installation.steward.database.read(other) as tx:
        assert tx.rows(sa.select(legal_holds)) == []
    assert retention.hold(installation.scope) is not None
    assert held.startswith("hold_")
    assert (
        timedelta(0) == installation.clock.now() - retention.holds(installation.scope)[0].placed_at
    )
