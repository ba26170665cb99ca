"""Scripts of skills through the broker, behind the real walls: risk, versions, journal and replay."""

import asyncio
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from steward.app import Steward, open_steward
from steward.broker.approvals import Verdict
from steward.broker.tool import Risk
from steward.core import MovableClock, load_settings
from steward.core.errors import Invalid, NotFound
from steward.flows.launch import Start
from steward.identity import Access
from steward.runs import Run
from steward.testing import Installation, fast_passwords
from tests.agents.skills.folders import SCRIPT, SKILL, greeting

SALES = """\
month,product,region,units,revenue,email
2026-01,apples,north,100,200,a@example.com
2026-01,pears,north,50,150,b@example.com
2026-01,plums,south,10,30,c@example.com
2026-02,apples,north,120,264,a@example.com
2026-02,pears,south,40,120,b@example.com
2026-02,figs,south,5,25,
"""
ORDERS = """\
Month,Product,Region,Pieces,Turnover
2026-01,apples,north,1,2
2026-01,quinces,west,1,2
"""


@dataclass
class Lab:
    steward: Steward
    access: Access

    def start(self, tool: str, highest: Risk = Risk.external_send, **arguments: Any) -> Run:
        launcher = self.steward.governing.launcher
        start = Start(launcher.single(tool, arguments), highest_risk=highest)
        return launcher.start(self.access, start)

    def call(self, tool: str, **arguments: Any) -> Any:
        run = self.start(tool, **arguments)
        self.drive()
        return self.output(run)

    def drive(self) -> None:
        self.steward.runs.drive_until_idle()

    def output(self, run: Run) -> Any:
        outcome = self.steward.runs.outcome(self.access.scope, run.id)
        assert "output" in outcome, outcome
        return outcome["output"]

    def error(self, run: Run) -> Any:
        return self.steward.runs.outcome(self.access.scope, run.id)["error"]

    def replays(self, run: Run) -> bool:
        return asyncio.run(self.steward.runs.replay(self.access.scope, run.id)).is_same


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, home_template: Path) -> Iterator[Lab]:
    """One installation with a sandbox for all tests here: walls take a moment to raise."""
    home = tmp_path_factory.mktemp("skills") / "home"
    shutil.copytree(home_template, home)
    clock = MovableClock(datetime(2026, 3, 2, tzinfo=UTC))
    steward = open_steward(load_settings(home=home), clock=clock, passwords=fast_passwords())
    installation = Installation(steward, clock)
    access = installation.owner.access
    for name, text in (("sales", SALES), ("orders", ORDERS)):
        path = home / f"{name}.csv"
        path.write_text(text)
        steward.workbench.bringing.load(access.scope, access.user_id, path, path.name, name)
    yield Lab(steward, access)
    installation.close()


@pytest.fixture
def skill(lab: Lab) -> Iterator[str]:
    skills = lab.steward.skills
    skills.save(lab.access, "greeting", greeting())
    yield "skill.greeting.greet"
    if any(each.name == "greeting" for each in skills.listed(lab.access.scope)):
        skills.delete(lab.access, "greeting")


def changed(lab: Lab, **files: str) -> None:
    revision = lab.steward.skills.one(lab.access.scope, "greeting").revision
    lab.steward.skills.save(lab.access, "greeting", greeting(**files), revision)


def test_a_script_is_a_tool_with_its_risk_and_its_schema(lab: Lab, skill: str) -> None:
    tools = {
        each.name: each for each in lab.steward.governing.broker.tools.listed(lab.access.scope)
    }
    assert tools[skill].risk is Risk.compute
    assert tools[skill].schema()["required"] == ["name"]
    assert tools["skill.read"].risk is Risk.read
    assert lab.call(skill, name="Ada", times=2) == {"said": "hello AdaAda"}
    with pytest.raises(Invalid, match="name"):
        lab.start(skill, times=2)


def test_another_project_has_no_such_tool(lab: Lab, skill: str) -> None:
    projects = lab.steward.identity.projects
    other = projects.create(lab.access.scope.org_id, "Second", lab.access.user_id)
    access = projects.enter(lab.access.principal, other)
    tools = lab.steward.governing.broker.tools
    assert skill not in tools.names(access.scope)
    with pytest.raises(NotFound):
        tools.get(access.scope, skill)


def test_a_call_is_in_the_journal_with_its_version_and_replays_without_the_skill(
    lab: Lab, skill: str
) -> None:
    run = lab.start(skill, name="Ada")
    lab.drive()
    version = lab.steward.skills.one(lab.access.scope, "greeting").version
    entries = list(lab.steward.runs.journal.entries(lab.access.scope, run.id))
    asked = [e.data["request"] for e in entries if e.key == "call" and "request" in e.data]
    assert asked[0]["pin"]["version"] == version
    assert asked[0]["pin"]["skill"] == "greeting"
    changed(lab, scripts__greet_dot_py=SCRIPT.replace("hello", "bye"))
    assert lab.replays(run)
    lab.steward.skills.delete(lab.access, "greeting")
    assert lab.replays(run)
    assert lab.output(run) == {"said": "hello Ada"}


def risky() -> str:
    return SKILL.replace("risk: compute", "risk: destructive")


def test_a_higher_risk_is_put_to_policy_and_what_was_approved_is_what_runs(
    lab: Lab, skill: str
) -> None:
    changed(lab, SKILL_dot_md=risky())
    run = lab.start(skill, Risk.destructive, name="Ada")
    lab.drive()
    governing = lab.steward.governing
    (approval,) = governing.approvals.listed(lab.access, run_id=run.id)
    assert approval.risk == "destructive"
    changed(lab, SKILL_dot_md=risky(), scripts__greet_dot_py=SCRIPT.replace("hello", "bye"))
    verdict = Verdict(True, approval.body_hash)
    asyncio.run(governing.deciding.decide(lab.access, approval.id, verdict))
    lab.drive()
    assert lab.output(run) == {"said": "hello Ada"}
    assert lab.replays(run)


def test_a_skill_that_is_switched_off_runs_no_more(lab: Lab, skill: str) -> None:
    changed(lab, SKILL_dot_md=risky())
    run = lab.start(skill, Risk.destructive, name="Ada")
    lab.drive()
    lab.steward.skills.switch(lab.access, "greeting", enabled=False)
    governing = lab.steward.governing
    (approval,) = governing.approvals.listed(lab.access, run_id=run.id)
    verdict = Verdict(True, approval.body_hash)
    asyncio.run(governing.deciding.decide(lab.access, approval.id, verdict))
    lab.drive()
    assert lab.error(run)["code"] == "skill-disabled"
    assert skill not in governing.broker.tools.names(lab.access.scope)
    lab.steward.skills.switch(lab.access, "greeting", enabled=True)


def test_a_script_sees_only_the_datasets_it_is_given(lab: Lab, skill: str) -> None:
    head = SKILL.replace("name: {type: string}", "name: {type: string, format: dataset}")
    code = (
        "def main(arguments, con):\n"
        "    found = con.execute('SELECT count(*) FROM ' + arguments['name']).fetchone()[0]\n"
        "    names = con.execute('SELECT table_name FROM duckdb_tables()').fetchall()\n"
        "    views = con.execute('SELECT view_name FROM duckdb_views() WHERE NOT internal').fetchall()\n"
        "    return [found, sorted(row[0] for row in names + views)]\n"
    )
    changed(lab, SKILL_dot_md=head, scripts__greet_dot_py=code)
    assert lab.call(skill, name="sales") == [6, ["sales"]]
    changed(
        lab,
        scripts__greet_dot_py="def main(a, con):\n    return con.execute('SELECT * FROM sales').fetchall()\n",
    )
    run = lab.start(skill, name="sales")
    lab.drive()
    assert "sales" in lab.error(run)["message"]


def test_a_script_that_fails_says_on_which_line(lab: Lab, skill: str) -> None:
    changed(lab, scripts__greet_dot_py="def main(a, con):\n    x = 1\n    return 1 / 0\n")
    run = lab.start(skill, name="x")
    lab.drive()
    error = lab.error(run)
    assert error["code"] == "python-failed"
    assert "division by zero" in error["message"]
    assert "line 3" in error["message"]


def test_a_skill_and_its_files_are_read_by_a_tool(lab: Lab, skill: str) -> None:
    opened = lab.call("skill.read", skill="greeting")
    assert skill in opened["text"]
    read = lab.call("skill.read", skill="greeting", path="references/words.md")
    assert read["text"] == "Hello, welcome.\n"
    run = lab.start("skill.read", skill="greeting", path="../../etc/passwd")
    lab.drive()
    assert lab.error(run)["code"] == "not-found"


# The built-in scripts, on data whose answers are known


def test_entity_resolution_counts_pairs(lab: Lab) -> None:
    found = lab.call(
        "skill.entity-resolution.blocking_size",
        dataset="sales",
        blocks=[["product"], ["email"], ["region", "month"]],
    )
    assert [block["pairs"] for block in found["blocks"]] == [2, 2, 2]
    assert found["blocks"][1]["rows_without_a_value"] == 1
    assert (found["rows"], found["rows_never_compared"]) == (6, 1)


def test_schema_normalisation_finds_partners(lab: Lab) -> None:
    found = lab.call("skill.schema-normalisation.compare_schemas", datasets=["sales", "orders"])
    (proposal,) = found["proposals"]
    pairs = {name: each["column"] for name, each in proposal["mapping"].items()}
    assert pairs == {"month": "Month", "product": "Product", "region": "Region"}
    assert proposal["without_a_partner_here"] == ["Pieces", "Turnover"]


def test_data_quality_counts_breaches(lab: Lab) -> None:
    rules = [
        {"rule": "filled", "columns": ["email"]},
        {"rule": "unique", "columns": ["product"]},
        {"rule": "between", "columns": ["units"], "least": 10, "most": 110},
        {"rule": "one_of", "columns": ["region"], "values": ["north"]},
        {"rule": "pattern", "columns": ["month"], "pattern": "2026-0[12]"},
        {"rule": "not_after", "columns": ["units", "revenue"]},
        {"rule": "refers_to", "columns": ["product"], "to": ["Product"]},
    ]
    found = lab.call(
        "skill.data-quality-profiling.check_rules", dataset="sales", reference="orders", rules=rules
    )
    assert [each["broken"] for each in found["rules"]] == [1, 4, 2, 3, 0, 0, 4]
    assert found["rules"][0]["example_rows"] == [6]
    assert found["holding"] == 2


def test_pii_redaction_counts_who_is_singled_out(lab: Lab) -> None:
    found = lab.call(
        "skill.pii-redaction.singling_out", dataset="sales", columns=["region", "product"], k=2
    )
    assert found["rows_below_k"] == 4
    assert found["is_k_anonymous"] is False
    assert found["leaving_out"][0] == {"column": "product", "rows_below_k_without_it": 0}


def test_variance_adds_up(lab: Lab) -> None:
    found = lab.call(
        "skill.variance-analysis.decompose",
        dataset="sales",
        items=["product"],
        value="revenue",
        quantity="units",
        period="month",
        before="2026-01",
        after="2026-02",
    )
    # Apples 2.00 -> 2.20 at 120 pieces; 150 -> 160 pieces at 350/150; plums went, figs came.
    assert found["change"] == 29
    assert found["effects"]["price"] == pytest.approx(24)
    assert found["effects"]["volume"] == pytest.approx(10 * 350 / 150)
    assert (found["effects"]["new"], found["effects"]["lost"]) == (25, -30)
    assert found["unexplained"] == 0
    assert found["items"][0]["item"] == ["apples"]


def test_report_figures_are_tied_out(lab: Lab) -> None:
    figures = [
        {"label": "revenue", "value": 789, "aggregate": "sum", "column": "revenue"},
        {"label": "rows", "value": 6, "aggregate": "count"},
        {"label": "north", "value": 3, "aggregate": "count", "where": {"region": "north"}},
        {"label": "mean", "value": 54, "aggregate": "mean", "column": "units", "tolerance": 0.5},
        {"label": "none", "value": 2, "aggregate": "count", "where": {"email": None}},
    ]
    found = lab.call("skill.report-writing.tie_out", dataset="sales", figures=figures)
    assert found["wrong"] == ["none"]
    assert found["holding"] == 4
