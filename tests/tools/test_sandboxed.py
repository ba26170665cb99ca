"""SQL, plans, Python and transforms through the broker, on sample data and behind real walls."""

import asyncio
import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from steward.app import Steward, open_steward
from steward.broker.tool import ToolContext
from steward.core import MovableClock, Services, load_settings
from steward.core.errors import Invalid
from steward.core.services import Offer
from steward.flows.launch import Start
from steward.identity import Access, Principal, Via
from steward.runs import Run
from steward.runs.projection import Call, calls_of
from steward.runs.worker import WorkerThread
from steward.sandbox import Request, Response
from steward.testing import fast_passwords
from steward.testing.tools import Trial, check_tool
from steward.tools import execute_query_plan, load_tools
from tests.tools.room import Room

PATIENCE = 60.0


@dataclass
class Lab:
    """Runs of single calls in an installation with the samples."""

    steward: Steward
    access: Access

    @property
    def room(self) -> Room:
        return Room(self.steward, self.access.scope, self.access.user_id)

    @property
    def context(self) -> ToolContext:
        return self.room.context(sandbox=self.steward.sandbox)

    def start(self, tool: str, **arguments: Any) -> Run:
        launcher = self.steward.governing.launcher
        start = Start(launcher.single(tool, arguments))
        return launcher.start(self.access, start)

    def call(self, tool: str, **arguments: Any) -> Call:
        run = self.start(tool, **arguments)
        self.steward.runs.drive_until_idle()
        return self.told(run)

    def told(self, run: Run) -> Call:
        runs = self.steward.runs
        return calls_of(runs.journal.entries(self.access.scope, run.id), runs.payload)[0]

    def labels(self, run: Run) -> Any:
        entries = self.steward.runs.journal.entries(self.access.scope, run.id)
        [step] = [each for each in entries if each.key == "call" and "result" in each.data]
        return self.steward.runs.payload(step.data["result"])["labels"]

    def replays(self, run: Run) -> bool:
        report = asyncio.run(self.steward.runs.replay(self.access.scope, run.id))
        return report.is_same

    def version(self, name: str) -> str:
        return self.room.workspace.dataset(name).version

    def rows(self, sql: str) -> list[list[Any]]:
        found: list[list[Any]] = self.call("execute_sql", sql=sql).value["rows"]
        return found


@pytest.fixture(scope="module")
def lab(sample_home: Room, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    home = tmp_path_factory.mktemp("lab") / "home"
    shutil.copytree(sample_home.steward.settings.home, home)
    clock = MovableClock(datetime(2026, 3, 1, tzinfo=UTC))
    steward = open_steward(load_settings(home=home), clock=clock, passwords=fast_passwords())
    if asyncio.run(steward.sandbox.walls()).tier == "none":
        steward.close()
        pytest.skip("no walls stand on this machine")
    who = Principal(sample_home.author, "owner@example.com", "Olga Owner", Via.session)
    access = steward.identity.projects.enter(who, sample_home.scope.project_id)
    yield Lab(steward, access)
    steward.close()


@pytest.mark.parametrize("tool", ["execute_sql", "query"])
def test_sql_gives_rows_with_their_sources(lab: Lab, tool: str) -> None:
    run = lab.start(tool, sql="SELECT count(*) AS n FROM crm_customers")
    lab.steward.runs.drive_until_idle()
    told = lab.told(run)
    assert told.value["rows"] == [[lab.room.workspace.dataset("crm_customers").rows]]
    assert told.value["columns"] == [{"name": "n", "type": "BIGINT"}]
    assert told.value["truncated"] is None
    version = lab.version("crm_customers")
    assert lab.labels(run) == {"sources": [f"dataset:crm_customers@{version}"], "trusted": False}


def test_parameters_are_bound_and_never_read_as_sql(lab: Lab) -> None:
    hostile = "x' OR '1' = '1' --"
    told = lab.call(
        "execute_sql",
        sql="SELECT $text AS t, $n + 1 AS n, $yes AS y, $none IS NULL AS z, "
        "DATE '2026-02-01' > $day AS later FROM crm_customers LIMIT $most",
        parameters={
            "text": hostile,
            "n": 1.5,
            "yes": True,
            "none": None,
            "day": "2026-01-01",
            "most": 1,
        },
    )
    assert told.value["rows"] == [[hostile, 2.5, True, True, True]]
    missing = lab.call("execute_sql", sql="SELECT $a", parameters={"b": 1})
    assert missing.error["code"] == "sql-refused"
    assert "$a" in missing.error["message"]
    unused = lab.call("execute_sql", sql="SELECT 1 AS one", parameters={"b": 1})
    assert unused.value["rows"] == [[1]]


def test_a_plan_is_run_as_the_same_sql_every_time(lab: Lab) -> None:
    plan = {
        "source": "billing_invoices",
        "group": ["currency"],
        "aggregate": [{"function": "count", "name": "n"}],
        "order": [{"column": "currency"}],
    }
    first = lab.call("execute_query_plan", plan=plan)
    assert first.error is None, first.error
    text = "source: billing_invoices\ngroup: [currency]\naggregate: [{function: count, name: n}]\norder: [{column: currency}]"
    second = lab.call("execute_query_plan", plan=text)
    assert first.value == second.value
    assert '"billing_invoices"' in first.value["compiled_sql"]
    by_hand = "SELECT currency, count(*) FROM billing_invoices GROUP BY 1 ORDER BY 1"
    assert first.value["rows"] == lab.rows(by_hand)
    wrong = lab.call("execute_query_plan", plan={"source": "nothing"})
    assert wrong.error["code"].startswith("plan"), wrong.error


def test_a_list_that_is_cut_off_says_how_many_rows_there_are(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = {
        "source": "billing_invoices",
        "filters": [{"compare": "=", "left": {"column": "currency"}, "right": {"value": "EUR"}}],
        "limit": 2,
    }
    wanted = lab.rows("SELECT count(*) FROM billing_invoices WHERE currency = 'EUR'")[0][0]
    first = lab.call("execute_query_plan", plan=plan)
    assert len(first.value["rows"]) == 2
    assert first.value["in_all"] == wanted
    whole = lab.call("execute_query_plan", plan={**plan, "limit": 10_000})
    assert "in_all" not in whole.value
    # Rows that could not be counted are still shown.
    monkeypatch.setattr(execute_query_plan, "_counting", lambda *_: "SELECT count(*) FROM nothing")
    uncounted = lab.call("execute_query_plan", plan=plan)
    assert uncounted.value["rows"] == first.value["rows"]
    assert "in_all" not in uncounted.value


def test_a_ranking_says_how_many_more_are_equal_to_its_last_row(lab: Lab) -> None:
    plan = {
        "source": "billing_invoices",
        "select": ["currency"],
        "order": [{"column": "currency"}],
        "limit": 2,
    }
    told = lab.call("execute_query_plan", plan=plan)
    assert told.error is None, told.error
    assert told.value["rows"] == lab.rows("SELECT min(currency) FROM billing_invoices") * 2
    [[alike]] = lab.rows(
        "SELECT count(*) FROM billing_invoices WHERE currency = (SELECT min(currency) FROM billing_invoices)"
    )
    assert 2 < alike < 22
    assert (told.value["ties"], told.value["more_ties"]) == (alike - 2, False)
    assert told.value["compiled_sql"].endswith("LIMIT 2")

    first = lab.call("execute_query_plan", plan={**plan, "limit": 1})
    assert first.summary.startswith("1 row from"), first.summary

    counted = [{"function": "count", "name": "n"}]
    alone = {**plan, "select": [], "group": ["currency"], "aggregate": counted}
    told = lab.call("execute_query_plan", plan=alone)
    assert len(told.value["rows"]) == 2
    assert "ties" not in told.value


def test_python_leaves_results_charts_and_files(lab: Lab) -> None:
    code = """
import altair as alt
import pandas as pd
frame = con.sql("SELECT currency, count(*) AS n FROM billing_invoices GROUP BY 1 ORDER BY 1").df()
print("rows", len(frame), "of", parameters["who"])
result = {"currencies": list(frame["currency"]), "names": sorted(datasets)}
result_df = frame
chart = alt.Chart(frame).mark_bar().encode(x="currency", y="n")
(scratch / "out.csv").write_text("a,b\\n1,2\\n")
"""
    run = lab.start("execute_python", code=code, parameters={"who": "Ann"})
    lab.steward.runs.drive_until_idle()
    told = lab.told(run)
    assert told.error is None, told.error
    value = told.value
    assert value["result"]["names"] == ["billing_invoices", "crm_customers", "support_tickets"]
    assert value["rows"] == lab.rows(
        "SELECT currency, count(*) FROM billing_invoices GROUP BY 1 ORDER BY 1"
    )
    assert value["stdout"] == f"rows {len(value['rows'])} of Ann\n"
    assert (value["charts"], value["files"]) == (["chart-1.vl.json"], ["out.csv"])
    chart, file = told.artifacts
    assert "mark" in json.loads(b"".join(lab.steward.blobs.read(chart["digest"])))
    assert b"".join(lab.steward.blobs.read(file["digest"])) == b"a,b\n1,2\n"
    assert file["media_type"] == "text/csv"
    labels = lab.labels(run)
    assert (len(labels["sources"]), labels["trusted"]) == (3, False)


def test_python_that_fails_or_floods_says_so(lab: Lab) -> None:
    failed = lab.call("execute_python", code="x = 1\nraise ValueError('no luck')")
    assert failed.error["code"] == "python-failed"
    assert "line 2" in failed.error["message"]
    refused = lab.call("execute_python", code="import socket")
    assert refused.error["code"] == "python-refused"
    loud = lab.call("execute_python", code="for i in range(200000):\n    print('x' * 100)")
    assert len(loud.value["stdout"]) == 20_000
    assert loud.value["dropped_output"] > 10_000_000


def test_an_answer_with_halves_of_characters_can_be_kept(lab: Lab) -> None:
    """The sandbox's own code writes none; a process that was taken over may."""

    class TakenOver:
        async def execute(self, _: Request) -> Response:
            return Response(status="done", result=["\ud800", {"\udfff": "ä"}], rows=[["\udc00"]])

    context = lab.room.context(sandbox=TakenOver())
    outcome = lab.room.call("execute_python", {"code": "result = 1"}, context)
    assert outcome.value["result"] == ["?", {"?": "ä"}]
    assert outcome.value["rows"] == [["?"]]


def test_a_call_asks_within_the_caps_of_the_project(lab: Lab) -> None:
    rulebook, scope = lab.steward.governing.rulebook, lab.access.scope
    before = rulebook.settings(scope)
    rulebook.change_settings(
        lab.access, before.revision, tools={"sandbox": {"seconds": 2, "rows": 10}}
    )
    try:
        told = lab.call("execute_sql", sql="SELECT 1", timeout_seconds=3, limit=11)
        assert told.error["code"] == "limits-exceeded"
        assert "timeout_seconds" in told.error["message"]
        assert "limit" in told.error["message"]
        slow = lab.call("execute_python", code="while True: pass", limit=5)
        assert slow.error["code"] == "python-timeout"
        assert "2 seconds" in slow.error["message"]
    finally:
        now = rulebook.settings(scope)
        rulebook.change_settings(lab.access, now.revision, tools=dict(before.tools))


TRIALS = [
    ("execute_sql", {"sql": "SELECT * FROM crm_customers", "limit": 3}),
    ("execute_query_plan", {"plan": {"source": "crm_customers", "limit": 3}}),
    ("execute_python", {"code": "result = 1"}),
    ("transform", {"target": "cities", "code": "SELECT DISTINCT city FROM crm_customers"}),
    (
        "transform",
        {
            "target": "crm_customers",
            "language": "python",
            "code": "f = con.sql('SELECT * FROM crm_customers').pl()\nresult_df = f.head(20)",
        },
    ),
    ("transform", {"target": "crm_customers", "code": "SELECT * FROM crm_customers"}),
]


@pytest.mark.parametrize(("name", "arguments"), TRIALS, ids=lambda value: str(value)[:40])
def test_the_tools_keep_the_contract(lab: Lab, name: str, arguments: dict[str, Any]) -> None:
    check_tool(load_tools().get(name), Trial(lab.context, arguments))


def test_a_transform_shows_the_diff_commits_it_and_can_be_undone(lab: Lab) -> None:
    before = lab.version("support_tickets")
    rows = lab.room.workspace.dataset("support_tickets").rows
    run = lab.start(
        "transform",
        target="support_tickets",
        key=["ticket_id"],
        code="SELECT * REPLACE (upper(priority) AS priority), 1 AS extra FROM support_tickets "
        "WHERE ticket_id <> (SELECT min(ticket_id) FROM support_tickets)",
    )
    lab.steward.runs.drive_until_idle()
    told = lab.told(run)
    assert told.error is None, told.error
    expected = {
        "rows": rows - 1,
        "added_rows": 0,
        "removed_rows": 1,
        "changed_rows": rows - 1,
        "changed_cells": rows - 1,
    }
    assert told.preview["details"]["counts"] == told.value["counts"] == expected
    [added] = told.preview["details"]["schema"]
    assert (added["name"], added["kind"]) == ("extra", "added")
    assert told.preview["details"]["diff"]["rows"]
    [commit] = told.commits
    made = lab.room.workspace.commit_at(commit)
    assert (made.operation, made.run_id) == ("transform", run.id)
    [change] = made.changes
    assert change.lineage["inputs"] == ["support_tickets"]
    assert lab.replays(run)
    asyncio.run(lab.steward.governing.undoing.undo(lab.access, run.id, "call"))
    assert lab.version("support_tickets") == before


def test_what_was_shown_is_what_is_committed(lab: Lab) -> None:
    arguments = {
        "target": "dice",
        "language": "python",
        "code": "import random\nresult_rows = [{'n': random.random()} for _ in range(5)]",
    }
    context = lab.room.context(ticket="dice", sandbox=lab.steward.sandbox)
    shown = lab.room.preview("transform", arguments, context)
    ran: list[Request] = []

    class Watched:
        async def execute(self, request: Request) -> Response:
            ran.append(request)
            return await lab.steward.sandbox.execute(request)

    committing = lab.room.after(context, shown)
    committing = replace(
        committing,
        services=Services(
            *(Offer(*each) for each in {**committing.services, "sandbox": Watched()}.items())
        ),
    )
    lab.room.call("transform", arguments, committing)
    assert lab.version("dice") == shown.payload["version"]
    assert ran == []


def test_types_survive_a_transform(lab: Lab) -> None:
    columns = {
        "whole": "170141183460469231731687303715884105727::HUGEINT",
        "tiny": "(-7)::TINYINT",
        "exact": "1234567890.12::DECIMAL(18,2)",
        "float": "0.1::FLOAT",
        "real": "'NaN'::DOUBLE",
        "flag": "true",
        "day": "DATE '2026-02-28'",
        "moment": "TIMESTAMP '2026-02-28 12:34:56.123456'",
        "zoned": "TIMESTAMPTZ '2026-02-28 12:34:56+02'",
        "clock": "TIME '12:34:56.5'",
        "span": "INTERVAL '-3 days -4.5 seconds'",
        "bytes": "'\\x00\\xFFa'::BLOB",
        "words": "'ä ''quoted'' \"too\"\n\U0001f600'",
        "list": "[1, NULL, 3]",
        "shape": "{'a b': 1.25::DECIMAL(5,2), 'c': [DATE '2026-01-01']}",
        "map": "MAP {'k': 1}",
        "nothing": "NULL::DATE",
        "id": "UUID '00000000-0000-0000-0000-000000000001'",
    }
    select = "SELECT " + ", ".join(f'{sql} AS "{name}"' for name, sql in columns.items())
    told = lab.call("transform", target="types", code=select)
    assert told.error is None, told.error
    names = ", ".join(f'"{name}"' for name in columns)
    kinds = ", ".join(f'typeof("{name}")' for name in columns)
    there = lab.rows(f"SELECT {names}, {kinds} FROM types")
    assert there == lab.rows(f"SELECT {names}, {kinds} FROM ({select})")


def test_records_with_decimals_lose_no_digit(lab: Lab) -> None:
    code = "from decimal import Decimal\nresult_rows = [{'d': Decimal('1.23456')}, {'d': Decimal('1000')}]"
    told = lab.call("transform", target="decimals", language="python", code=code)
    assert told.error is None, told.error
    assert lab.rows("SELECT d, typeof(d) FROM decimals") == [
        ["1.23456", "DECIMAL(9,5)"],
        ["1000.00000", "DECIMAL(9,5)"],
    ]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"code": "result = 1", "language": "python"}, "no-table"),
        ({"code": "result_rows = [{'a': 1, 'A': 2}]", "language": "python"}, "invalid"),
        ({"code": "DROP TABLE crm_customers"}, "sql-refused"),
        ({"code": "SELECT i FROM range(1000001) r(i)"}, "sql-too-large"),
    ],
)
def test_a_transform_that_cannot_be_whole_changes_nothing(
    lab: Lab, arguments: dict[str, Any], code: str
) -> None:
    head = lab.room.workspace.branch().head
    told = lab.call("transform", target="nothing", **arguments)
    assert told.error["code"] == code, told.error
    assert lab.room.workspace.branch().head == head


def test_a_preview_of_data_that_changed_since_is_not_committed(lab: Lab) -> None:
    arguments = {"target": "copied", "code": "SELECT * FROM billing_invoices"}
    context = lab.room.context(ticket="copied", sandbox=lab.steward.sandbox)
    shown = lab.room.preview("transform", arguments, context)
    changed = lab.room.call("clean", {"dataset": "billing_invoices", "operation": "trim"})
    if changed.value["counts"].get("changed_rows") == 0:
        edit = {"target": "billing_invoices", "code": "SELECT * FROM billing_invoices LIMIT 5"}
        assert lab.call("transform", **edit).error is None
    with pytest.raises(Exception, match="changed since"):
        lab.room.call("transform", arguments, lab.room.after(context, shown))


def test_too_much_ends_in_time_and_is_told_for_what_it_was(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A condition that never ends it: only the time does.
    endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n > 0) FROM t SELECT max(n)"
    runs = {
        "rows": lab.start("execute_sql", sql="SELECT * FROM range(100000000)"),
        "sql": lab.start("execute_sql", sql=endless, timeout_seconds=1),
        "memory": lab.start("execute_python", code="x = bytearray(10 * 1024**3)\nresult = len(x)"),
        "loop": lab.start("execute_python", code="while True:\n    pass", timeout_seconds=1),
    }
    lab.steward.runs.drive_until_idle()
    told = {name: lab.told(run) for name, run in runs.items()}
    assert len(told["rows"].value["rows"]) == 200
    assert "more than 200 rows" in told["rows"].value["truncated"]
    codes = {name: call.error["code"] for name, call in told.items() if call.error}
    assert codes == {
        "sql": "sql-timeout",
        "memory": "python-out-of-memory",
        "loop": "python-timeout",
    }

    async def refuse(_: Request) -> Response:
        raise Invalid("A replay runs nothing.")

    monkeypatch.setattr(lab.steward.sandbox, "execute", refuse)
    assert all(lab.replays(run) for run in runs.values())


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (
            "execute_sql",
            {"sql": "SELECT count(*) FROM range(1000000000) a, range(1000000000) b"},
        ),
        ("execute_python", {"code": "while True:\n    pass"}),
        (
            "transform",
            {"target": "x", "language": "python", "code": "while True:\n    pass"},
        ),
    ],
)
def test_cancelling_a_run_kills_what_it_executes(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, tool: str, arguments: dict[str, Any]
) -> None:
    begun, ended, over = threading.Event(), threading.Event(), threading.Event()
    execute = lab.steward.sandbox.execute

    async def watched(request: Request) -> Response:
        begun.set()
        try:
            return await execute(request)
        finally:
            ended.set()

    monkeypatch.setattr(lab.steward.sandbox, "execute", watched)
    run = lab.start(tool, timeout_seconds=60, **arguments)
    runs, scope = lab.steward.runs, lab.access.scope

    def look() -> None:
        if runs.get(scope, run.id).status.is_final:
            over.set()

    worker = WorkerThread(runs.worker())
    with runs.listening(run.id, look):
        worker.start()
        try:
            assert begun.wait(PATIENCE)
            runs.records.control(scope, run.id, "cancel", lab.access.user_id)
            assert ended.wait(20), "the execution went on"
            assert over.wait(20), "the run went on"
        finally:
            worker.stop()
    assert runs.get(scope, run.id).status.value == "cancelled"
    kinds = [entry.key for entry in runs.journal.entries(scope, run.id)]
    assert "call" not in kinds, "a cancelled step records nothing"
    assert lab.replays(run)
