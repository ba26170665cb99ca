"""Metrics: each installation counts for itself."""

from steward.testing import Installation
from steward.trace import Metrics


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
