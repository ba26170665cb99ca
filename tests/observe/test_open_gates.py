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
    answer = {"decision": "approve", "body_hash": wait["request"]["body_hash"]}
    said = client.post(f"{project}/runs/{run_id}/answers", json={"key": "ok", "answer": answer})
    assert said.is_success, said.text
    steward.runs.drive_until_idle()
    assert _overview(installation) == {"waiting": 0, "oldest_at": None}
