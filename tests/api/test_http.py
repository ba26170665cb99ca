"""What every answer has in common: problems, headers, ids, limits, revisions, pages."""

import asyncio
import json
import re
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from steward.api.middleware import RequestFrame
from steward.core import EnvironmentSource
from steward.identity import Role
from steward.store import SecretSources
from steward.testing import Installation

API = "/api/v1"


def test_every_error_is_a_problem_document(installation: Installation) -> None:
    client = installation.owner.client
    project = f"{API}/projects/{installation.scope.project_id}"
    answers = {
        401: installation.anonymous().get(f"{API}/session"),
        404: client.get(f"{API}/nothing/here"),
        405: client.put(f"{API}/session", json={}),
        422: client.post(f"{API}/projects", json={"name": "", "surprise": 1}),
        428: client.patch(project, json={"name": "New"}),
        412: client.patch(project, json={"name": "New"}, headers={"If-Match": '"99"'}),
        400: client.post(
            f"{API}/projects", content=b"{", headers={"Content-Type": "application/json"}
        ),
        413: client.post(f"{API}/projects", content=b"x" * 2_000_001),
    }
    for status, answer in answers.items():
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        body = answer.json()
        assert body["status"] == status
        assert body["instance"] == answer.headers["x-request-id"]
        assert body["detail"]
        assert re.fullmatch(r"[a-z-]+", body["code"])
    pointers = {item["pointer"] for item in answers[422].json()["errors"]}
    assert pointers == {"/name", "/surprise"}


def test_unknown_api_addresses_are_json_whatever_the_method(installation: Installation) -> None:
    for method in ("GET", "POST", "PUT", "DELETE"):
        answer = installation.owner.client.request(method, f"{API}/no/such/thing")
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


def test_answers_protect_the_browser(installation: Installation) -> None:
    headers = installation.anonymous().get(f"{API}/about").headers
    policy = headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe-eval" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


def test_the_session_cookie_is_out_of_reach_of_scripts(installation: Installation) -> None:
    owner = installation.owner
    link = installation.steward.identity.sessions.new_link(owner.user.id)
    answer = installation.anonymous().post(f"{API}/session", json={"link": link})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()
    again = installation.anonymous().post(f"{API}/session", json={"link": link})
    assert (again.status_code, again.json()["code"]) == (401, "link-expired")


def test_a_cookie_alone_changes_nothing(installation: Installation) -> None:
    client = installation.owner.client
    token = client.headers.pop("X-CSRF-Token")
    for wrong in (None, b"guess", "\u00e9".encode()):
        headers = {} if wrong is None else {b"X-CSRF-Token": wrong}
        answer = client.post(f"{API}/projects", json={"name": "Stolen"}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf")
    fine = client.post(f"{API}/projects", json={"name": "Mine"}, headers={"X-CSRF-Token": token})
    assert fine.status_code == 201


def test_other_sites_and_other_names_are_refused(installation: Installation) -> None:
    client = installation.anonymous()
    cross = client.post(
        f"{API}/session", json={"link": "x"}, headers={"Origin": "https://evil.example"}
    )
    assert (cross.status_code, cross.json()["code"]) == (403, "cross-site")
    rebound = client.get(f"{API}/about", headers={"Host": "evil.example:8400"})
    assert (rebound.status_code, rebound.json()["code"]) == (403, "unknown-host")
    for path, status in (("/healthz", 200), ("/readyz", 200), ("/metrics", 403)):
        probe = client.get(path, headers={"Host": "10.0.0.7:8400"})
        assert probe.status_code == status, path


def test_a_stale_write_is_refused_and_loses_nothing(installation: Installation) -> None:
    client = installation.owner.client
    project = f"{API}/projects/{installation.scope.project_id}"
    etag = client.get(project).headers["etag"]
    first = client.patch(project, json={"name": "One"}, headers={"If-Match": etag})
    second = client.patch(project, json={"name": "Two"}, headers={"If-Match": etag})
    assert (first.status_code, second.status_code) == (200, 412)
    assert client.get(project).json()["name"] == "One"
    third = client.patch(project, json={"name": "Two"}, headers={"If-Match": first.headers["etag"]})
    assert third.json()["name"] == "Two"


def test_pages_follow_one_another_without_gaps(installation: Installation) -> None:
    client = installation.owner.client
    base = f"{API}/projects/{installation.scope.project_id}"
    for number in range(7):
        answer = client.put(f"{base}/secrets/key_{number}", json={"value": "v"})
        assert answer.status_code == 200
    names, cursor, pages = [], None, 0
    while True:
        query = {"limit": 3, **({"cursor": cursor} if cursor else {})}
        answer = client.get(f"{base}/secrets", params=query).json()
        names += [item["name"] for item in answer["items"]]
        cursor, pages = answer["next_cursor"], pages + 1
        if cursor is None:
            break
    assert names == [f"key_{number}" for number in range(7)]
    assert pages == 3
    assert client.get(f"{base}/secrets", params={"cursor": "%%%"}).status_code == 422


def test_rate_limits_are_per_principal_and_pass(installation: Installation) -> None:
    first = installation.by_token(installation.owner, Role.viewer)
    second = installation.by_token(installation.owner, Role.viewer)
    burst = installation.steward.settings.http.request_burst
    statuses = [first.get(f"{API}/me").status_code for _ in range(burst + 1)]
    assert statuses[:burst] == [200] * burst
    assert statuses[-1] == 429
    assert second.get(f"{API}/me").status_code == 200
    refused = first.get(f"{API}/me")
    installation.clock.advance(seconds=int(refused.headers["retry-after"]))
    assert first.get(f"{API}/me").status_code == 200


def test_a_secret_may_live_elsewhere(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_PASSWORD", "a very unusual value")
    team = EnvironmentSource(kind="environment", prefix="TEAM_")
    monkeypatch.setattr(installation.steward.secrets, "sources", SecretSources({"team": team}))
    client = installation.owner.client
    base = f"{API}/projects/{installation.scope.project_id}/secrets"
    assert client.get(f"{base}/sources").json() == [{"name": "team", "kind": "environment"}]
    body = {"source": "team", "reference": "TEAM_PASSWORD"}
    made = client.put(f"{base}/db", json=body)
    assert (made.status_code, made.json()["reference"]) == (200, "TEAM_PASSWORD")
    assert "unusual" not in client.get(base).text
    for wrong in ({}, {**body, "value": "x"}, {"source": "team"}, {"value": "x", "reference": "y"}):
        assert client.put(f"{base}/db", json=wrong).status_code == 422
    assert client.put(f"{base}/db", json={**body, "source": "there"}).status_code == 404
    assert client.put(f"{base}/db", json={**body, "reference": "HOME"}).status_code == 422
    assert client.put(f"{base}/db", json={**body, "reference": "TEAM_NONE"}).status_code == 404


def test_values_of_secrets_never_come_back(installation: Installation) -> None:
    client = installation.owner.client
    base = f"{API}/projects/{installation.scope.project_id}/secrets"
    value = "hunter2-hunter2"
    answers = [
        client.put(f"{base}/db", json={"value": value}),
        client.get(base),
        client.delete(f"{base}/db"),
        client.post(f"{base}/db/restore"),
        client.get(f"{API}/projects/{installation.scope.project_id}/events"),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 204, 200, 200]
    assert all(value not in answer.text for answer in answers)
    assert installation.steward.secrets.get(installation.scope, "db") == value


@pytest.mark.parametrize("path", ["healthz", "readyz"])
def test_health(installation: Installation, path: str) -> None:
    assert installation.anonymous().get(f"/{path}").status_code == 200


def test_metrics_are_counted_by_route_not_by_address(installation: Installation) -> None:
    client = installation.owner.client
    client.get(f"{API}/projects/{installation.scope.project_id}")
    steward = installation.steward
    text = steward.metrics.exposition().decode()
    assert 'route="/api/v1/projects/{project_id}"' in text
    assert installation.scope.project_id not in text
    # The test client is no loopback address, so without a token this is refused.
    assert installation.anonymous().get("/metrics").status_code == 403


async def _cancelled_request(installation: Installation, *, stopping: bool) -> list[dict[str, Any]]:
    """What goes out when a request that does not end is cancelled."""
    started = asyncio.Event()

    async def endless(*_: Any) -> None:
        started.set()
        await asyncio.Event().wait()

    context = SimpleNamespace(stopping=threading.Event())
    if stopping:
        context.stopping.set()
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/v1/session",
        "headers": [(b"host", b"localhost")],
        "app": SimpleNamespace(state=SimpleNamespace(context=context)),
    }
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    frame = RequestFrame(endless, installation.steward)
    task = asyncio.create_task(frame(scope, receive, send))
    await started.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled() is not stopping
    return sent


def test_a_server_that_stops_says_so_to_requests_it_cancels(installation: Installation) -> None:
    start, body = asyncio.run(_cancelled_request(installation, stopping=True))
    assert start["status"] == 503
    assert json.loads(body["body"])["code"] == "stopping"


def test_a_request_cancelled_for_another_reason_stays_cancelled(installation: Installation) -> None:
    assert asyncio.run(_cancelled_request(installation, stopping=False)) == []
