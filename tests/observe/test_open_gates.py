"""Approvals that a step of a flow asks for count on the overview and for alerts, as long as they wait."""

from typing import Any

import pytest

from steward.observe.open_gates import open_gates
from steward.testing import Installation

pytestmark = pytest.mark.every_database
FLOW = """\
format: 1
id: gated
name: Gated
budget: {usd: 1}
graph:
  nodes:
    - {id: first, type: code, title: First, language: sql, code: SELECT 1 AS n}
    - {id: ok, type: approval, title: Go on, needs: [first], message: May it go on?}
"""


def _overview(installation: Installation) -> dict[str, Any]:
    path = f"/api/v1/projects/{installation.scope.project_id}/overview"
    found: dict[str, Any] = installation.owner.client.get(path).json()["approvals"]
    return found


def test_an_approval_of_a_flow_counts_while_it_waits(installation: Installation) -> None:
    client, steward = installation.owner.client, installation.steward
    project = f"/api/v1/projects/{installation.scope.project_id}"
    assert _overview(installation) == {"waiting": 0, "oldest_at": None}
    made = client.post(f"{project}/playbooks", json={"yaml": FLOW, "message": ""}).json()
    run_id = client.post(f"{project}/playbooks/{made['id']}/runs", json={}).json()["id"]
    installation.clock.advance(minutes=5)
    steward.runs.drive_until_idle()
    asked = installation.clock.now()
    installation.clock.advance(minutes=7)
    assert _overview(installation) == {
        "waiting": 1,
        "oldest_at": asked.isoformat().replace("+00:00", "Z"),
    }
    with steward.database.read(installation.scope) as tx:
        [gate] = open_gates(tx, installation.clock.now())
        assert (gate.subject, gate.asked_at) == (f"playbook:{made['id']}", asked)
        # Nobody can decide it any more.
        assert open_gates(tx, gate.expires_at) == []
    [wait] = client.get(f"{project}/inbox").json()["items"]
    assert wait["asked_at"] == asked.isoformat().replace("+00:00", "Z")
    # The trace of a run that waits lasts until now, though nothing is added to its journal.
    for minutes in (12, 22):
        trace = client.get(f"{project}/runs/{run_id}/trace").json()
        assert (trace["milliseconds"], trace["is_over"]) == (minutes * 60_000, False)
        assert len(trace["buckets"]) == 200
        assert trace["buckets"][-1]["spans"] == 1
        most = max(each["spans"] for each in trace["buckets"])
        assert most == 1 + len([each for each in trace["spans"] if each["depth"]])
        installation.clock.advance(minutes=10)
    answer = {"decision": "approve", "body_hash": wait["request"]["body_hash"]}
    said = client.post(f"{project}/runs/{run_id}/answers", json={"key": "ok", "answer": answer})
    assert said.is_success, said.text
    steward.runs.drive_until_idle()
    assert _overview(installation) == {"waiting": 0, "oldest_at": None}
