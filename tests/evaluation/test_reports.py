"""Reports: counted, compared, written for people, kept by a project."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from steward.cli.main import app
from steward.core.errors import Invalid
from steward.evaluation import Report, as_html, as_markdown, compare, read_report
from steward.evaluation.kinds.merge import scores
from steward.evaluation.matching import follows, holds, is_told
from steward.identity import Role
from steward.testing import Installation
from tests.evaluation.playing import BEGAN

pytestmark = pytest.mark.every_database


def _report(**outcomes: Any) -> Report:
    cases = [
        {
            "suite": "mine",
            "id": name,
            "kind": "plan",
            "title": "<b>*bold*</b>",
            "outcome": outcome,
            "problems": ["it | <script>broke</script>"] if outcome == "failed" else [],
            "facts": facts,
            "seconds": 0.5,
        }
        for name, (outcome, facts) in outcomes.items()
    ]
    found = {"steward": "1", "began_at": BEGAN, "mode": "offline", "seconds": 1.0, "cases": cases}
    return Report.model_validate(found)


BEFORE = _report(
    a=("passed", {"f1": 0.9}), b=("failed", {}), c=("failed", {"n": True}), d=("passed", {})
)
AFTER = _report(
    a=("failed", {"f1": 0.7}), b=("passed", {}), c=("failed", {"n": False}), e=("skipped", {})
)


def test_two_reports_are_compared() -> None:
    found = compare(BEFORE, AFTER)
    assert (found.broken, found.mended, found.still_failing) == (["mine/a"], ["mine/b"], ["mine/c"])
    assert (found.new, found.gone) == (["mine/e"], ["mine/d"])
    assert [(m.case, m.fact, m.before, m.after) for m in found.moved] == [
        ("mine/a", "f1", 0.9, 0.7)
    ]


def test_reports_are_read_again_and_their_totals_counted() -> None:
    document = AFTER.to_json()
    assert document["totals"]["kinds"]["plan"] == {
        "cases": 4,
        "passed": 1,
        "failed": 2,
        "skipped": 1,
    }
    document["totals"]["passed"] = 400
    assert read_report(json.dumps(document)) == AFTER
    for wrong in ("[", "[]", "{}", json.dumps({**document, "mode": "sideways"})):
        with pytest.raises(Invalid, match="not a report"):
            read_report(wrong)


def test_reports_for_people_hold_no_markup_of_others() -> None:
    page, text = as_html(AFTER), as_markdown(AFTER)
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "<b>" not in text.replace("\\<b\\>", "")
    assert "- ✗ `a` plan" in text


def test_a_project_keeps_reports(installation: Installation) -> None:
    client, at = installation.owner.client, f"/api/v1/projects/{installation.scope.project_id}"
    url = f"{at}/evaluations"
    assert client.get(url).json() == {"items": [], "next_cursor": None}
    first = client.post(url, json={"report": BEFORE.to_json(), "title": "Before"}).json()
    second = client.post(url, json={"report": AFTER.to_json()}).json()
    assert (first["title"], second["title"], second["failed"]) == ("Before", "mine", 2)
    page = client.get(url, params={"limit": 1}).json()
    assert [each["id"] for each in page["items"]] == [second["id"]]
    rest = client.get(url, params={"cursor": page["next_cursor"]}).json()
    assert [each["id"] for each in rest["items"]] == [first["id"]]
    seen = client.get(f"{url}/{second['id']}").json()
    assert [each["outcome"] for each in seen["results"]] == [
        "failed",
        "passed",
        "failed",
        "skipped",
    ]
    compared = client.get(f"{url}/{second['id']}/comparison", params={"before": first["id"]}).json()
    assert (compared["broken"], compared["before"]["title"]) == (["mine/a"], "Before")
    assert client.post(url, json={"report": {"format": 2}}).status_code == 422
    viewer = installation.person(Role.viewer).client
    assert viewer.post(url, json={"report": AFTER.to_json()}).status_code == 403
    assert viewer.get(f"{url}/{second['id']}").status_code == 200
    other = f"/api/v1/projects/{installation.project('Other')}/evaluations/{second['id']}"
    assert client.get(other).status_code == 404
    assert client.delete(f"{url}/{second['id']}").status_code == 204
    assert client.get(f"{url}/{second['id']}").status_code == 404
    assert client.post(f"{url}/{second['id']}/restore").json()["id"] == second["id"]


SMALL = """
format: 1
name: small
customers: 0
cases:
  - {{id: sends, kind: policy, tool: send_email, verdict: {verdict}, role: viewer}}
"""


def test_the_command_says_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    suite, report = tmp_path / "small.yaml", tmp_path / "report.json"
    suite.write_text(SMALL.format(verdict="deny"))
    written = [
        f"--report={report}",
        f"--report={tmp_path / 'a.html'}",
        f"--report={tmp_path / 'a.md'}",
    ]
    passed = CliRunner().invoke(app, ["eval", str(suite), *written])
    assert (passed.exit_code, "1 of 1 passed" in passed.output) == (0, True), passed.output
    assert json.loads(report.read_text())["totals"]["passed"] == 1
    assert not (tmp_path / "home").exists(), "the real installation is left alone"
    suite.write_text(SMALL.format(verdict="allow"))
    failed = CliRunner().invoke(app, ["eval", str(suite), f"--against={report}", "--json"])
    assert failed.exit_code == 1
    found = json.loads(failed.stdout)
    assert found["comparison"]["broken"] == ["small/sends"]
    assert "verdict was deny" in found["cases"][0]["problems"][0]
    wrong = CliRunner().invoke(app, ["eval", str(suite), "--only=merge"])
    assert wrong.exit_code == 1


def test_what_is_expected_is_found_in_what_happened() -> None:
    assert holds({"a": {"b": [1]}}, {"a": {"b": [1], "c": 2}})
    assert not holds({"a": [1]}, {"a": [1, 2]})
    assert not holds({"a": 1}, {"a": True})
    assert follows([1, 2], [1, 2], "exact")
    assert not follows([1, 2], [1, 3, 2], "exact")
    assert follows([1, 2], [1, 3, 2], "in_order")
    assert not follows([2, 1], [1, 3, 2], "in_order")
    assert follows([2, 1], [1, 3, 2], "any_order")
    assert not follows([1, 1], [1, 2], "any_order")


def test_values_are_found_however_they_are_written() -> None:
    assert is_told(900958.91, "It is 900,958.91 EUR.")
    assert is_told("5483.316208333334", "about 5,483.32 on average")
    assert is_told(3, "3 rows")
    assert is_told("Route", "the ROUTE product")
    assert not is_told(64, "There are 64.4 or 640 of them")
    assert not is_told(3, "13 rows, 3.5 each")
    assert not is_told(240, "There are 241.")


def test_scores_are_of_pairs() -> None:
    truth = {("t", str(n)): "ab"[n // 2] for n in range(4)}
    assert scores(truth, truth)["f1"] == 1
    everything = dict.fromkeys(truth, "x")
    assert scores(truth, everything) == {"precision": 2 / 6, "recall": 1.0, "f1": 0.5}
    nothing = {row: row[1] for row in truth}
    assert scores(truth, nothing)["f1"] == 0
