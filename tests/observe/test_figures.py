"""Figures equal what the runs themselves say, can be rebuilt, and stay within their project and what a person sees."""

from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa

from steward.identity import Role
from steward.observe._tables import facts
from steward.observe.trace_tree import ListedRows, Trace, TraceFilter, TraceRow
from steward.store import Scope
from steward.testing import Installation
from steward.trace.spans import Span

pytestmark = pytest.mark.every_database

API = "/api/v1"
FAILING = "SELECT * FROM there_is_no_such_table"


def _project(installation: Installation) -> str:
    return f"{API}/projects/{installation.scope.project_id}"


def _query(installation: Installation, sql: str) -> None:
    answer = installation.owner.client.post(
        f"{_project(installation)}/runs", json={"query_type": "sql", "query": sql}
    )
    assert answer.status_code == 201, answer.text
    installation.steward.runs.drive_until_idle()


def _overview(installation: Installation, **query: Any) -> dict[str, Any]:
    answer = installation.owner.client.get(f"{_project(installation)}/overview", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _stored(installation: Installation, scope: Scope) -> list[tuple[Any, ...]]:
    with installation.steward.database.read(scope) as tx:
        return sorted(tuple(row) for row in tx.rows(sa.select(facts)))


@pytest.fixture
def busy(installation: Installation) -> Installation:
    for message in ("SELECT 1 AS one", "SELECT 2 AS two", FAILING):
        _query(installation, message)
    return installation


def test_an_empty_project_has_figures_of_nothing(installation: Installation) -> None:
    found = _overview(installation)
    assert found["now"]["runs"] == found["before"]["runs"] == 0
    assert found["heat"] == found["ranked"] == found["failing"] == []
    assert found["is_complete"]


def test_the_overview_counts_what_the_list_of_runs_shows(busy: Installation) -> None:
    runs = busy.owner.client.get(f"{_project(busy)}/runs").json()["items"]
    found = _overview(busy)
    assert found["now"]["runs"] == len(runs) == 3
    assert found["now"]["failed"] == sum(run["status"] == "failed" for run in runs) == 1
    assert found["now"]["calls"] == 3
    [failing] = found["failing"]
    assert failing["last_run_id"] == next(run["id"] for run in runs if run["status"] == "failed")
    tools = [each for each in found["ranked"] if each["kind"] == "tool"]
    assert [(each["name"], each["count"], each["errors"]) for each in tools] == [
        ("execute_sql", 3, 1)
    ]
    assert sum(each["runs"] for each in found["heat"]) == 3


def test_figures_follow_runs_that_end_later(busy: Installation) -> None:
    assert _overview(busy)["now"]["runs"] == 3
    _query(busy, "SELECT 3 AS three")
    assert _overview(busy)["now"]["runs"] == 4


def test_an_earlier_period_is_compared(busy: Installation) -> None:
    _overview(busy)
    busy.clock.advance(hours=24)
    found = _overview(busy)
    assert (found["now"]["runs"], found["before"]["runs"]) == (0, 3)


def test_facts_rebuilt_from_journals_are_the_same(busy: Installation) -> None:
    projector = busy.steward.observations.projector
    # In two parts, as they come while people work.
    projector.catch_up(busy.scope)
    _query(busy, "SELECT 3 AS three")
    projector.catch_up(busy.scope)
    before = _stored(busy, busy.scope)
    assert len(before) == 8
    assert projector.rebuild(busy.scope) == 4
    assert _stored(busy, busy.scope) == before
    # What is counted is not counted again.
    projector.catch_up(busy.scope)
    assert _stored(busy, busy.scope) == before


def test_another_project_sees_nothing_of_it(busy: Installation) -> None:
    _overview(busy)
    other = busy.project("Other")
    stranger = busy.person(Role.owner, "stranger", other)
    found = stranger.client.get(f"{API}/projects/{other}/overview").json()
    assert found["now"]["runs"] == 0
    assert stranger.client.get(f"{_project(busy)}/overview").status_code == 404
    [run, *_] = busy.owner.client.get(f"{_project(busy)}/runs").json()["items"]
    here = stranger.client.get(f"{API}/projects/{other}/runs/{run['id']}/trace")
    assert here.status_code == 404


def test_spending_is_listed_by_day_and_exported(busy: Installation) -> None:
    client = busy.owner.client
    for by in ("flow", "agent", "model", "tool", "person"):
        answer = client.get(f"{_project(busy)}/costs", params={"by": by, "days": 7})
        assert answer.status_code == 200, answer.text
        assert answer.json()["forecasts"] == []
    [line] = client.get(f"{_project(busy)}/costs", params={"by": "person"}).json()["lines"]
    assert (line["title"], line["count"]) == ("Olga Owner", 3)
    file = client.get(f"{_project(busy)}/costs/export", params={"by": "tool"})
    assert file.headers["content-type"].startswith("text/csv")
    assert file.text.splitlines()[0] == "day,tool,usd,input_tokens,output_tokens,count"
    assert ",execute_sql," in file.text
    refused = client.get(f"{_project(busy)}/costs", params={"by": "colour"})
    assert refused.status_code == 422


def test_projects_are_compared_as_far_as_they_are_open(busy: Installation) -> None:
    owner = busy.owner
    other = busy.project("Other")
    made = owner.client.post(
        f"{API}/projects/{other}/runs", json={"query_type": "sql", "query": "SELECT 1 AS one"}
    )
    assert made.status_code == 201, made.text
    busy.steward.runs.drive_until_idle()
    elsewhere = busy.steward.identity.projects.create_organisation("Elsewhere", owner.user.id)
    busy.steward.identity.projects.create(elsewhere.id, "Far", owner.user.id)

    def told(client: Any) -> dict[str, int]:
        answer = client.get(f"{_project(busy)}/costs", params={"by": "project"})
        assert answer.status_code == 200, answer.text
        return {line["title"]: line["count"] for line in answer.json()["lines"]}

    assert told(owner.client) == {"First": 3, "Other": 1}
    # Others see the projects that they are in, and a token has its own.
    assert told(busy.person(Role.viewer).client) == {"First": 3}
    assert told(busy.by_token(owner, Role.viewer)) == {"First": 3}
    both = busy.person(Role.viewer, "both")
    with busy.steward.database.write(Scope(busy.scope.org_id, other)) as tx:
        busy.steward.identity.members.add_within(tx, both.user.id, Role.runner)
    assert told(both.client) == {"First": 3}
    file = owner.client.get(f"{_project(busy)}/costs/export", params={"by": "project"})
    lines = file.text.splitlines()
    assert lines[0] == "day,project,usd,input_tokens,output_tokens,count"
    assert [line.split(",")[1] for line in lines[1:]] == ["First", "Other"]


def test_a_trace_is_a_tree_in_order(busy: Installation) -> None:
    [failed] = [
        run
        for run in busy.owner.client.get(f"{_project(busy)}/runs").json()["items"]
        if run["status"] == "failed"
    ]
    address = f"{_project(busy)}/runs/{failed['id']}/trace"
    found = busy.owner.client.get(address).json()
    spans = found["spans"]
    assert found["total"] == len(spans) > 1
    assert found["is_over"]
    assert len(found["buckets"]) == 200
    assert sum(bucket["errors"] for bucket in found["buckets"]) > 0
    assert all(bucket["position"] < found["total"] for bucket in found["buckets"])
    without = busy.owner.client.get(address, params={"buckets": False}).json()
    assert without == {**found, "buckets": []}
    about = next(span["about"] for span in spans if span["operation"] == "execute_tool")
    journal = f"{_project(busy)}/runs/{failed['id']}/journal"
    entries = busy.owner.client.get(journal, params={"about": about, "limit": 1}).json()
    assert [each["of"] for each in entries["items"]] == [about]
    rest = {"about": about, "cursor": entries["next_cursor"]}
    following = busy.owner.client.get(journal, params=rest).json()["items"]
    assert following
    assert {each["of"] for each in following} == {about}
    assert [span["position"] for span in spans] == list(range(len(spans)))
    assert (spans[0]["depth"], spans[0]["size"]) == (0, len(spans) - 1)
    assert all(span["depth"] > 0 for span in spans[1:])
    errors = busy.owner.client.get(address, params={"errors": True}).json()
    assert errors["total"] > 0
    assert all(span["error"] for span in errors["spans"])
    named = busy.owner.client.get(address, params={"q": "EXECUTE_SQL"}).json()
    assert [span["operation"] for span in named["spans"]] == ["execute_tool"]
    slow = busy.owner.client.get(address, params={"slower_than_ms": 1e9}).json()
    assert slow["total"] == 0
    window = busy.owner.client.get(address, params={"offset": 1, "limit": 1}).json()
    assert window["spans"] == spans[1:2]
    assert window["total"] == found["total"]


def test_a_run_that_cannot_be_read_is_counted_and_holds_up_no_other(busy: Installation) -> None:
    [run, *_] = busy.owner.client.get(f"{_project(busy)}/runs").json()["items"]
    damaged = "UPDATE journal SET kind = 'no.such.kind', body = '{' WHERE run_id = :run"
    with busy.steward.database.raw_writer() as connection:
        connection.execute(sa.text(damaged), {"run": run["id"]})
        connection.commit()
    found = _overview(busy)
    assert found["is_complete"]
    assert found["now"]["runs"] == 3
    assert found["now"]["calls"] == 2


def test_rows_below_a_fold_are_skipped_by_its_size(busy: Installation) -> None:
    [run, *_] = busy.owner.client.get(f"{_project(busy)}/runs").json()["items"]
    address = f"{_project(busy)}/runs/{run['id']}/trace"
    whole = busy.owner.client.get(address).json()["spans"]
    folded = busy.owner.client.get(address, params={"folded": [0]}).json()
    assert folded["total"] == 1
    assert folded["spans"] == whole[:1]
    # Positions that are no longer there fold nothing.
    unknown = busy.owner.client.get(address, params={"folded": [9_999]}).json()
    assert unknown["spans"] == whole


@pytest.mark.parametrize("offset", range(8))
def test_a_window_over_folds_is_what_a_reader_sees(offset: int) -> None:
    # 0 has everything below it, 1 has 2 and 3, 4 has 5, and 6 is alone.
    sizes = [6, 2, 0, 0, 1, 0, 0]
    moment = datetime(2026, 3, 2, tzinfo=UTC)
    span = Span("run_1", "run_1:run", "run", moment, moment, None, {}, None)
    rows = [TraceRow(at, 0, size, "run_1", "", "", span) for at, size in enumerate(sizes)]
    trace = Trace(ListedRows(rows), moment, moment, True)
    total, found = trace.window(offset, 2, TraceFilter(), [4, 1, 2])
    assert total == 4
    assert [row.position for row in found] == [0, 1, 4, 6][offset : offset + 2]


def test_the_overview_reads_sums_and_goes_through_no_list_of_runs_spans_or_facts(
    installation: Installation,
) -> None:
    """So it takes as long for ten million spans as for the sums that they add up to."""
    with installation.steward.database.read(installation.scope) as tx:
        is_sqlite = tx.dialect == "sqlite"
    if not is_sqlite:
        pytest.skip("PostgreSQL plans by the sizes of tables, which are small here.")
    _query(installation, "SELECT 1 AS one")
    _overview(installation)
    asked: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, given: Any, *_: Any) -> None:
        asked.append((statement, given))

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        _overview(installation)
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    assert any("FROM observed_rollups" in statement for statement, _ in asked)
    with installation.steward.database.raw_writer() as connection:
        plans = [
            (row[3], statement)
            for statement, given in asked
            if statement.startswith("SELECT")
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given)
        ]
    long = ("runs", "journal", "observed_facts", "observed_spans")
    assert [each for each in plans if each[0].split()[:2] in [["SCAN", name] for name in long]] == []
