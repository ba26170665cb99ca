"""Metrics: each installation counts for itself, and the dashboard asks for nothing that is not exported."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from steward.runs import Execution, RunRequest
from steward.testing import Installation
from steward.trace import Metrics

pytestmark = pytest.mark.every_database


def test_two_installations_do_not_count_together() -> None:
    one, two = Metrics(), Metrics()
    one.requests.labels("GET", "/x", "200").inc()
    assert b'steward_http_requests_total{method="GET",route="/x",status="200"} 1.0' in (
        one.exposition()
    )
    assert b'route="/x"' not in two.exposition()
    assert b"process_resident_memory_bytes" in two.exposition()


def test_requests_are_counted_by_template_not_by_value(installation: Installation) -> None:
    installation.owner.client.get(f"/api/v1/projects/{installation.scope.project_id}")
    installation.owner.client.get("/api/v1/projects/prj_unknown")
    shown = installation.steward.metrics.exposition().decode()
    assert 'route="/api/v1/projects/{project_id}",status="200"' in shown
    assert 'route="/api/v1/projects/{project_id}",status="404"' in shown
    assert "prj_" not in shown


def test_ended_runs_and_queues_are_exported(installation: Installation) -> None:
    steward = installation.steward

    async def nothing(execution: Execution) -> str:
        return "done"

    steward.runs.programs["nothing"] = nothing
    for _ in range(2):
        steward.runs.start(
            installation.scope, installation.owner.user.id, RunRequest("Nothing", "nothing", {})
        )
    installation.clock.advance(seconds=30)
    shown = steward.metrics.exposition().decode()
    assert 'steward_queue_waiting{queue="cpu"} 2.0' in shown
    assert 'steward_queue_longest_wait_seconds{queue="cpu"} 30.0' in shown
    [claimed] = steward.runs.records.claim("one", ["cpu"], 1, timedelta(minutes=1))
    shown = steward.metrics.exposition().decode()
    assert 'steward_queue_waiting{queue="cpu"} 1.0' in shown
    assert 'steward_queue_driven{queue="cpu"} 1.0' in shown
    assert "steward_workers_busy 1.0" in shown
    steward.runs.drive_until_idle()
    installation.clock.advance(minutes=2)
    # The one whose worker never came back waits again.
    assert 'steward_queue_waiting{queue="cpu"} 1.0' in steward.metrics.exposition().decode()
    steward.runs.drive_until_idle()
    shown = steward.metrics.exposition().decode()
    assert 'steward_runs_ended_total{program="nothing",status="done"} 2.0' in shown
    assert 'steward_run_seconds_count{program="nothing"} 2.0' in shown
    assert claimed.id not in shown


def test_the_dashboard_asks_only_for_what_is_exported(installation: Installation) -> None:
    dashboard = Path(__file__).parents[2] / "deploy/grafana/steward.json"
    panels = json.loads(dashboard.read_text())["panels"]
    asked = {
        name
        for panel in panels
        for target in panel["targets"]
        for name in re.findall(r"\b(?:steward|process)_[a-z_]+", target["expr"])
    }
    shown = installation.steward.metrics.exposition().decode()
    known = set(re.findall(r"^# TYPE (\S+)", shown, re.MULTILINE))
    assert len(asked) > 10
    assert {re.sub(r"_bucket$", "", name) for name in asked} - known == set()
