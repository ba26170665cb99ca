"""The analyst says what failed, what changed and where time and money went, and refers to spans that show it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from steward.agents.explaining.run_explainer import unsupported_by
from steward.identity import Role
from steward.observe.analysis.trace_rules import critical_path, retry_storms, time_spent
from steward.observe.trace_tree import ListedRows, Trace, TraceRow
from steward.runs import Status
from steward.testing import Installation
from steward.testing.models import ScriptedLineup, ScriptedModel
from steward.trace import genai
from steward.trace.spans import Span

pytestmark = pytest.mark.every_database

API = "/api/v1"
FLOW = """\
format: 1
id: daily-count
name: Daily count
inputs:
  type: object
  properties: {{most: {{type: integer}}}}
budget: {{usd: 1}}
steps:
  - id: numbers
    code: "SELECT 1 AS n"
    language: sql
  - id: total
    code: "{code}"
    language: sql
"""
BROKEN = "SELECT n FROM there_is_no_such_table"


def _address(installation: Installation) -> str:
    return f"{API}/projects/{installation.scope.project_id}"


def _started(installation: Installation, playbook: str, revision: int, **inputs: Any) -> str:
    answer = installation.owner.client.post(
        f"{_address(installation)}/playbooks/{playbook}/runs",
        json={"inputs": inputs, "revision": revision},
    )
    assert answer.status_code == 201, answer.text
    installation.steward.runs.drive_until_idle()
    return str(answer.json()["id"])


@pytest.fixture
def flow(installation: Installation) -> str:
    """A flow that ended well once and fails since its second step was changed."""
    answer = installation.owner.client.post(
        f"{_address(installation)}/playbooks",
        json={"yaml": FLOW.format(code="SELECT 2 AS n"), "message": ""},
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@pytest.fixture
def failed(installation: Installation, flow: str) -> tuple[str, str]:
    """The last good run, and the one that failed."""
    good = _started(installation, flow, 1, most=5)
    playbooks = installation.steward.playbooks
    playbooks.library.save(installation.owner.access, flow, None, FLOW.format(code=BROKEN))
    bad = _started(installation, flow, 2, most=7)
    runs = installation.steward.runs
    statuses = [runs.get(installation.scope, each).status for each in (good, bad)]
    assert statuses == [Status.done, Status.failed]
    return good, bad


def _analysis(installation: Installation, run_id: str) -> dict[str, Any]:
    answer = installation.owner.client.get(f"{_address(installation)}/runs/{run_id}/analysis")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_failure_is_traced_to_its_span_and_to_what_changed(
    installation: Installation, failed: tuple[str, str]
) -> None:
    good, bad = failed
    found = _analysis(installation, bad)
    assert found["verdict"] == "failed"
    assert found["compared_with"] == good
    assert not found["has_model"]
    first = found["findings"][0]
    assert (first["kind"], first["weight"]) == ("error", "cause")
    assert "there_is_no_such_table" in first["quote"]
    assert first["text"] in found["summary"]
    trace = installation.owner.client.get(f"{_address(installation)}/runs/{bad}/trace").json()
    for finding in found["findings"]:
        for span in finding["spans"]:
            assert trace["spans"][span["position"]]["key"] == span["key"]
    shown = trace["spans"][first["spans"][0]["position"]]
    assert shown["error"] is not None
    assert shown["about"].startswith("total")
    changes = {each["text"]: each for each in found["findings"] if each["kind"] == "change"}
    [step] = [text for text in changes if 'Step "total" changed' in text]
    assert '"code"' in step
    assert any("revision 2" in text and "revision 1" in text for text in changes)
    [inputs] = [text for text in changes if text.startswith("Inputs differ")]
    assert changes[inputs]["quote"] == "most: 5 → 7"


def test_a_good_run_has_nothing_to_explain(
    installation: Installation, failed: tuple[str, str]
) -> None:
    found = _analysis(installation, failed[0])
    assert found["verdict"] == "unremarkable"
    assert found["compared_with"] is None
    assert all(each["weight"] == "note" for each in found["findings"])


def test_analyses_of_other_projects_and_hidden_flows_are_not_there(
    installation: Installation, failed: tuple[str, str]
) -> None:
    _, bad = failed
    other = installation.project("Other")
    stranger = installation.person(Role.owner, "stranger", other)
    for project in (other, installation.scope.project_id):
        asked = f"{API}/projects/{project}/runs/{bad}/analysis"
        assert stranger.client.get(asked).status_code == 404
        assert stranger.client.post(asked).status_code == 404
        body = {"project_id": project, "run_id": bad}
        assert stranger.client.post("/api/analysis/run", json=body).status_code == 404
    viewer = installation.person(Role.operator, "operator")
    here = f"{_address(installation)}/runs/{bad}/analysis"
    body = {"project_id": installation.scope.project_id, "run_id": bad}
    # The flow is a draft that only its author and admins see.
    assert viewer.client.get(here).status_code == 404
    assert viewer.client.post(f"{API}/analysis/run", json=body).status_code == 404


def _explained(installation: Installation, run_id: str) -> dict[str, Any]:
    body = {"project_id": installation.scope.project_id, "run_id": run_id}
    answer = installation.owner.client.post("/api/analysis/run", json=body)
    assert answer.status_code == 201, answer.text
    installation.steward.runs.drive_until_idle()
    run = installation.owner.client.get(f"{_address(installation)}/runs/{answer.json()['id']}")
    assert run.json()["status"] == "done", run.text
    output: dict[str, Any] = run.json()["output"]
    return output


def test_without_a_model_the_summary_is_the_explanation(
    installation: Installation, failed: tuple[str, str]
) -> None:
    output = _explained(installation, failed[1])
    assert not output["by_model"]
    assert output["text"] == output["summary"]
    assert output["findings"]


def test_a_model_may_retell_what_was_found(
    installation: Installation, failed: tuple[str, str], models: ScriptedLineup
) -> None:
    words = 'The run failed because a table is missing [1]. Step "total" was changed since [3].'
    model = ScriptedModel([words])
    models.play(model)
    output = _explained(installation, failed[1])
    assert output["text"] == words, output["note"]
    assert output["by_model"]
    prompt = "\n".join(str(message.to_json()) for message in model.requests[0].messages)
    assert "<<untrusted" in prompt
    assert "there_is_no_such_table" in prompt


def test_a_model_that_adds_to_the_findings_is_not_shown(
    installation: Installation, failed: tuple[str, str], models: ScriptedLineup
) -> None:
    models.play(ScriptedModel(["It failed after 4711 rows were lost [1]."]))
    output = _explained(installation, failed[1])
    assert not output["by_model"]
    assert output["text"] == output["summary"]
    assert "4711" in output["note"]


FINDING = {
    "kind": "error",
    "weight": "cause",
    "text": 'The run failed at "execute_sql" after 120 rows.',
    "quote": "table orders is missing",
    "spans": [],
}


@pytest.mark.parametrize(
    "text",
    [
        "It failed.",
        "It failed [2].",
        "It failed after 130 rows [1].",
        'It failed at "load_orders" [1].',
        "It failed at 120 rows [1]. Everything else is fine.",
        "See [here](https://evil.example/?q=1) [1].",
        "",
    ],
)
def test_words_beyond_the_findings_are_refused(text: str) -> None:
    assert unsupported_by(text, [FINDING]) is not None


def test_words_of_the_findings_are_accepted() -> None:
    text = 'The run failed at "execute_sql" after 120 rows [1]. The table `orders` is missing [1].'
    assert unsupported_by(text, [FINDING]) is None


START = datetime(2026, 3, 2, tzinfo=UTC)


def _trace(*spans: tuple[int, str, str, int, int, int]) -> Trace:
    """Rows from depth, name, operation, start and end in seconds, and how many are below."""
    rows = []
    for position, (depth, name, operation, start, end, size) in enumerate(spans):
        began, ended = (START + timedelta(seconds=each) for each in (start, end))
        attributes = {genai.ABOUT: name, genai.OPERATION: operation}
        error = "broken" if operation == genai.ATTEMPT else None
        span = Span("run_1", f"run_1:{position}", name, began, ended, None, attributes, error)
        rows.append(TraceRow(position, depth, size, "run_1", str(position), operation, span))
    last = max(row.span.end for row in rows)
    return Trace(ListedRows(rows), START, last, True)


def test_the_critical_path_leaves_out_what_ran_beside_it() -> None:
    trace = _trace(
        (0, "run", genai.INVOKE_WORKFLOW, 0, 10, 3),
        (1, "quick", genai.STEP, 0, 4, 0),
        (1, "slow", genai.STEP, 0, 9, 1),
        (2, "inner", genai.STEP, 2, 8, 0),
    )
    assert critical_path(trace.rows) == {0: 1000.0, 2: 3000.0, 3: 6000.0}
    [finding] = time_spent(trace)
    assert [span.name for span in finding.spans] == ["inner", "slow"]
    assert '"inner" 6.0 s (60%)' in finding.text


def test_many_failed_attempts_are_a_storm() -> None:
    attempts = [(1, "send", genai.ATTEMPT, each, each + 1, 0) for each in range(4)]
    trace = _trace(
        (0, "run", genai.INVOKE_WORKFLOW, 0, 5, 5), *attempts, (1, "x", genai.ATTEMPT, 4, 5, 0)
    )
    [finding] = retry_storms(trace)
    assert '"send" failed 4 times' in finding.text
    assert [span.position for span in finding.spans] == [1, 2, 3, 4]
