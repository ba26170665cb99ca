"""Every way out of a project: none shows a stored secret, and none answers for the ids of another project.

The routes are those of the application itself. The ids that fill their addresses are read from its own lists: a route
that is added is called without anybody listing it here.
"""

import asyncio
from pathlib import Path

import httpx2 as httpx
import pytest
from websockets.sync.client import connect

from steward.identity import Role
from steward.observe import spans_of
from steward.runs import Execution, Json, RunRequest
from steward.testing import Installation
from tests.api.leaks import PROJECT, SECRET, SPELLED, Bodies, Crawl, changes, lived_in, shown
from tests.api.live import LiveServer
from tests.connections.outside import certificates
from tests.connections.post import post_office
from tests.observe.test_audit_streams import Receiver, webhook_stream
from tests.observe.test_budget_alert import connect_mail, send_what_waits

pytestmark = pytest.mark.timeout(300)
SEEN_AT_LEAST = {
    "/api/executions/{run_id}/trace",
    f"{PROJECT}/overview",
    f"{PROJECT}/costs/export",
    f"{PROJECT}/events/export",
    f"{PROJECT}/alerts",
    f"{PROJECT}/notifications",
    f"{PROJECT}/runs/{{run_id}}/trace",
    f"{PROJECT}/runs/{{run_id}}/journal",
    f"{PROJECT}/runs/{{run_id}}/analysis",
    f"{PROJECT}/runs/{{run_id}}/span-content",
    f"{PROJECT}/runs/{{run_id}}/span-diff",
    f"{PROJECT}/runs/{{run_id}}/capsule",
}
MAILED = {
    "name": "Failures by mail",
    "figure": "failed_runs",
    "each_flow": True,
    "window_hours": 1,
    "condition": {"kind": "above", "threshold": 0},
    "channels": [{"kind": "mail", "to": ["ops@example.com"], "connection": "post"}],
}


def test_no_route_shows_a_secret(installation: Installation) -> None:
    run = lived_in(installation)
    crawl = Crawl(installation.owner.client, installation, run)
    crawl.learn()
    opened, leaks = set(), []
    for path, answer in crawl.answers(installation.scope.project_id):
        assert answer.status_code < 500, (path, answer.text)
        if answer.status_code == 200:
            opened.add(path)
        if found := shown(answer.content + repr(dict(answer.headers)).encode()):
            leaks.append((path, found))
    assert leaks == []
    assert opened >= SEEN_AT_LEAST, SEEN_AT_LEAST - opened
    assert len(opened) > 80


def test_no_answer_to_a_change_shows_a_secret(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each route that changes something, with a body as the document asks for it; what removes comes last."""
    # Nobody drives runs here: who asks is told at once that the run goes on.
    monkeypatch.setattr("steward.api.routes.chat.PATIENCE_SECONDS", 0.01)
    run = lived_in(installation)
    client = installation.owner.client
    crawl = Crawl(client, installation, run)
    crawl.learn()
    bodies, taken, leaks = Bodies(crawl.known), set(), []
    for method, path, operation in changes():
        for filled in crawl.filled(path.replace("{project_id}", installation.scope.project_id)):
            installation.clock.advance(seconds=1)
            answer = client.request(method, filled, **bodies.of(operation))
            assert answer.status_code < 500 or answer.status_code == 503, (path, answer.text)
            if answer.is_success:
                taken.add(path)
            if found := shown(answer.content + repr(dict(answer.headers)).encode()):
                leaks.append((method, path, found))
    assert leaks == []
    assert len(taken) > 30, sorted(taken)


@pytest.mark.parametrize("text", SPELLED.values(), ids=SPELLED)
def test_a_step_named_like_a_secret_stops_the_run(installation: Installation, text: str) -> None:
    steward, scope = installation.steward, installation.scope
    steward.secrets.set(scope, "bank", SECRET, author="usr_test")
    steward.secrets.set(scope, "short", "look", author="usr_test")

    async def named(execution: Execution) -> Json:
        async def done() -> Json:
            return None

        await execution.step("look", {}, done)
        return await execution.step(f"look/{text}", {}, done)

    steward.runs.programs["named"] = named
    run = steward.runs.start(scope, "usr_test", RunRequest("Named", "named", {}))
    steward.runs.drive_until_idle()
    entries = list(steward.runs.journal.entries(scope, run.id))
    assert [entry.key for entry in entries] == ["run", "look", "run"]
    assert entries[-1].data["error"]["code"] == "holds-secret"
    assert shown(repr(entries).encode()) == set()


def test_searches_filters_and_forms_of_exports_show_no_secret(installation: Installation) -> None:
    run = lived_in(installation)
    client, project = installation.owner.client, installation.scope.project_id
    base = f"/api/v1/projects/{project}"
    paths = [f"{base}/events/export?format={each}" for each in ("jsonl", "cef")]
    paths += [f"{base}/runs/{run.id}/trace?errors=true", f"{base}/runs?q=Say"]
    paths += [
        f"{base}/costs{kind}?by={by}"
        for kind in ("", "/export")
        for by in ("flow", "agent", "model", "tool", "connector", "person", "tag")
    ]
    for shape in SPELLED:
        for kind in ("ask", "call", "bad"):
            paths.append(f"{base}/runs/{run.id}/span-content?about={kind}/{shape}")
            paths.append(f"{base}/runs/{run.id}/span-diff?about={kind}/{shape}")
    for path in paths:
        answer = client.get(path)
        assert answer.status_code < 500, (path, answer.text)
        assert shown(answer.content) == set(), path
        installation.clock.advance(seconds=1)
    for text in SPELLED.values():
        found = client.get(f"{base}/runs/{run.id}/trace", params={"q": text}).json()
        assert found["total"] == 0, text


def test_spans_that_are_sent_to_a_collector_show_no_secret(installation: Installation) -> None:
    run = lived_in(installation)
    runs = installation.steward.runs
    entries = list(runs.journal.entries(run.scope, run.id))
    sent = spans_of(run, run.id, entries, runs.payload, content=True, detail=True)
    assert len(sent) > len(SPELLED) * 3
    assert shown(repr(sent).encode()) == set()


def test_messages_summaries_and_audit_streams_show_no_secret(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they leave: mail of alerts, the summary of a week, and events sent on."""
    steward, access = installation.steward, installation.owner.access
    keys, receiver = certificates(tmp_path, "127.0.0.1"), Receiver()
    with post_office(keys.server) as post:
        connect_mail(installation, post, keys.client, monkeypatch)
        lived_in(installation)
        answer = installation.owner.client.post(
            f"/api/v1/projects/{installation.scope.project_id}/alert-rules", json=MAILED
        )
        assert answer.status_code == 201, answer.text
        installation.clock.advance(minutes=1)
        steward.observations.alert_rounds.round()
        send_what_waits(installation)
        [letter] = post.letters
    installation.clock.advance(days=1)
    asyncio.run(webhook_stream(installation, receiver).round())
    summary = steward.activity.of_days(access, 7).text(steward.activity.titles(access))
    mail = str(letter["Subject"]) + letter.get_content()
    events = b"".join(receiver.bodies)
    assert "Failed runs of “leaky”" in mail
    assert "leaky: 2 of 2 runs" in summary
    assert b"alert.opened" in events
    for text in (mail.encode(), summary.encode(), events):
        assert shown(text) == set()


def test_streams_show_no_secret(
    installation: Installation, capfd: pytest.CaptureFixture[str]
) -> None:
    run = lived_in(installation)
    headers = dict(installation.by_token(installation.owner, Role.viewer).headers)
    headers = {"Authorization": headers["authorization"]}
    project = f"/api/v1/projects/{installation.scope.project_id}"
    latest = installation.steward.events.latest(installation.scope)
    with (
        LiveServer(installation) as address,
        httpx.Client(base_url=address, headers=headers, timeout=60) as client,
    ):
        with client.stream("GET", f"{project}/events/stream?after=0") as answer:
            heard = ""
            for line in answer.iter_lines():
                heard += line
                if line == f"id: {latest}":
                    break
        entries = client.get(f"{project}/runs/{run.id}/stream").text
        # Answered on this machine only.
        counted = client.get("/metrics").text
        with connect(
            f"{address.replace('http', 'ws')}{project}/metrics/stream", additional_headers=headers
        ) as socket:
            figures = str(socket.recv(60))
    assert "id: " in heard
    assert "all-of-them" in entries
    assert '"agent' in figures
    assert "steward_runs" in counted
    for text in (heard, entries, figures, counted, "".join(capfd.readouterr())):
        assert shown(text.encode()) == set()


def test_the_ids_of_another_project_open_nothing(installation: Installation) -> None:
    run = lived_in(installation)
    crawl = Crawl(installation.owner.client, installation, run)
    crawl.learn()
    second = installation.project("Second")
    elsewhere = installation.person(Role.owner, "elsewhere", second)
    own = {key: crawl.known[key] for key in ("run_id", "playbook_id", "rule_id")}
    assert all(own.values())
    theirs = Crawl(elsewhere.client, installation, run)
    theirs.known |= crawl.known
    asked = 0
    for path, answer in theirs.answers(second):
        assert answer.status_code < 500, (path, answer.text)
        if any(f"{{{key}}}" in path for key in own):
            asked += 1
            assert answer.status_code == 404, (path, answer.status_code, answer.text)
        elif answer.status_code == 200:
            assert run.id.encode() not in answer.content, path
    assert asked > 25
    named = f"/api/executions/{run.id}/trace"
    for project_id in (second, installation.scope.project_id):
        assert elsewhere.client.get(named, params={"project_id": project_id}).status_code == 404
