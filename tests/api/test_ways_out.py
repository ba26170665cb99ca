"""Every way out of a project: none shows a stored secret, and none answers for the ids of another project.

The routes are those of the application itself. The ids that fill their addresses are read from its own lists: a route
that is added is called without anybody listing it here.
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from urllib.parse import quote

import httpx2 as httpx
import pytest
from starlette.testclient import TestClient
from websockets.sync.client import connect

from steward.core.errors import Invalid
from steward.identity import Role
from steward.observe import spans_of
from steward.runs import EntryType, Execution, Json, Run, RunRequest, StepFailed
from steward.testing import Installation
from steward.trace.context import traceparent, within_call
from tests.api.live import LiveServer
from tests.api.routes import openapi_document

pytestmark = pytest.mark.timeout(300)
SECRET = 'tr0ub4dor&3/Ünd"no-more'
SPELLED = {
    "plain": SECRET,
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "hex": SECRET.encode().hex(),
    "url": quote(SECRET, safe=""),
    "json": json.dumps(SECRET)[1:-1],
}
HALF = 9
"""As many characters of a secret give it away, too."""
NEEDLES = {text[:HALF].encode() for text in SPELLED.values()}
PROJECT = "/api/v1/projects/{project_id}"
ENDLESS = "/stream"
"""So end the addresses of streams, which are followed over real connections instead."""
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
PLAYBOOK = """\
format: 1
id: daily-count
name: Daily count
budget: {usd: 1}
graph:
  nodes:
    - {id: first, type: code, title: First, language: sql, code: SELECT 1 AS n}
"""


async def _leaky(heard: list[str], execution: Execution) -> Json:
    """Says the secret in each shape, wherever a run can say something."""

    async def done(result: Json, error: Exception | None = None) -> Json:
        with within_call(execution.run.root_id, execution.run.id, "ask/plain"):
            heard.append(traceparent() or "")
        if error is not None:
            raise error
        return result

    for shape, text in SPELLED.items():
        step = partial(execution.step, of=f"work/{shape}")
        begun: Json = {"agent": f"agent {text}"}
        await step(f"begin/{shape}", begun, partial(done, None), type=EntryType.step_started)
        message = {"kind": "user", "text": f"Use {text}", text: text}
        answer: Json = {"model": f"m {text}", "parts": [{"kind": "text", "text": f"I use {text}"}]}
        answer["usage"] = {"input_tokens": 9, "output_tokens": 9, "cost": "0.5"}
        asked: Json = {"role": "operator", "system": text, "messages": [message]}
        await execution.step(
            f"ask/{shape}", asked, partial(done, answer), type=EntryType.model_asked
        )
        call: Json = {"tool": f"api.{text}.find", "arguments": {"key": text, text: 1}}
        outcome: Json = {
            "summary": f"Found {text}",
            "value": {"found": text},
            "artifacts": [],
            "cost": {},
        }
        outcome |= {"commits": [], "inverse": None}
        outcome["labels"] = {"trusted": False, "sources": [text]}
        await execution.step(
            f"call/{shape}", call, partial(done, outcome), type=EntryType.call_done
        )
        refused = Invalid(f"The service refused {text}.", code="refused")
        with suppress(StepFailed):
            await execution.step(
                f"bad/{shape}", call, partial(done, None, refused), type=EntryType.call_done
            )
        await step(f"end/{shape}", begun, partial(done, None), type=EntryType.step_finished)
    raise Invalid(" ".join(SPELLED.values()), code="all-of-them")


def _lived_in(installation: Installation) -> Run:
    """A project with a bit of everything, in which a run says the secret."""
    steward, scope, client = installation.steward, installation.scope, installation.owner.client
    project = f"/api/v1/projects/{scope.project_id}"
    steward.secrets.set(scope, "bank", SECRET, author="usr_test")
    rule: Json = {"name": "Failures", "figure": "failed_runs", "window_hours": 1}
    rule["condition"] = {"kind": "above", "threshold": 0}
    for path, body in (
        ("alert-rules", rule),
        ("playbooks", {"yaml": PLAYBOOK, "message": ""}),
        ("budgets", {"kind": "project", "usd": "5"}),
        ("runs", {"query_type": "sql", "query": f"SELECT '{SECRET}' AS n"}),
    ):
        answer = client.post(f"{project}/{path}", json=body)
        assert answer.status_code == 201 or path == "budgets", answer.text
    heard: list[str] = []
    steward.runs.programs["leaky"] = partial(_leaky, heard)
    for _ in range(2):
        request = RunRequest(f"Say {SECRET}", "leaky", {}, {"word": SECRET})
        run = steward.runs.start(scope, installation.owner.user.id, request)
        steward.runs.drive_until_idle()
    sent = client.post(f"{project}/otlp/v1/traces", json=_received(heard[-1]))
    assert sent.status_code == 200, sent.text
    installation.clock.advance(minutes=1)
    steward.observations.alert_rounds.round()
    return steward.runs.get(scope, run.id)


def _received(header: str) -> Json:
    """A span of another program, in the trace of the run, as OTLP writes it in JSON."""
    _, trace_id, parent, _ = header.split("-")
    attributes = [
        {"key": f"said.{shape}", "value": {"stringValue": text}} for shape, text in SPELLED.items()
    ]
    moment = "1790000000000000000"
    span = {
        "traceId": trace_id,
        "spanId": "00f067aa0ba902b7",
        "parentSpanId": parent,
        "name": f"GET {SECRET}",
        "startTimeUnixNano": moment,
        "endTimeUnixNano": moment,
        "attributes": attributes,
        "status": {"code": 2, "message": f"refused {SECRET}"},
    }
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": SECRET}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]}


class Crawl:
    """Calls every GET route with ids that other routes answered."""

    def __init__(self, client: TestClient, installation: Installation, run: Run) -> None:
        self._client = client
        self._installation = installation
        self.known: dict[str, list[str]] = {"run_id": [run.id], "{about}": ["call/plain"]}
        self.known["{other}"] = self.known["{before}"] = self.known["{after}"] = [run.id]
        self.known["{key}"] = ["call/plain"]

    def learn(self) -> None:
        """Ids of what the project has, by the parameter that takes them."""
        for path in _routes():
            if path.endswith(ENDLESS) or path.replace("{project_id}", "").count("{"):
                continue
            answer = self.get(path.replace("{project_id}", self._installation.scope.project_id))
            items = answer.json().get("items", []) if _is_page(answer) else []
            for other in _routes():
                if found := re.match(re.escape(path) + r"/\{(\w+)\}", other):
                    ids = [
                        each.get("id") or each["name"]
                        for each in items
                        if {"id", "name"} & each.keys()
                    ]
                    known = self.known.setdefault(found[1], [])
                    known += [each for each in ids[:1] if each not in known]

    def get(self, path: str, query: Mapping[str, str] | None = None) -> httpx.Response:
        self._installation.clock.advance(seconds=1)
        return self._client.get(path, params=query)

    def answers(self, project_id: str) -> Iterator[tuple[str, httpx.Response]]:
        for path, parameters in _routes().items():
            if path.endswith(ENDLESS):
                continue
            query = {name: self.known.get(f"{{{name}}}", ["1"])[0] for name in parameters}
            if path.startswith("/api/executions"):
                query["project_id"] = project_id
            for filled in self._filled(path.replace("{project_id}", project_id)):
                yield path, self.get(filled, query)

    def _filled(self, path: str) -> Iterator[str]:
        found = re.search(r"\{(\w+)\}", path)
        if found is None:
            yield path
            return
        for value in self.known.get(found[1], []):
            yield from self._filled(path.replace(found[0], quote(value, safe=""), 1))


def _routes() -> dict[str, list[str]]:
    """Those that answer GET, with the parameters that they must be given."""
    return {
        path: [
            each["name"]
            for each in item["get"].get("parameters", [])
            if each["in"] == "query" and each.get("required")
        ]
        for path, item in openapi_document()["paths"].items()
        if "get" in item
    }


def _is_page(answer: httpx.Response) -> bool:
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    return answer.status_code == 200 and is_json and isinstance(answer.json(), dict)


def _shown(content: bytes) -> set[bytes]:
    return {needle for needle in NEEDLES if needle in content}


def test_no_route_shows_a_secret(installation: Installation) -> None:
    run = _lived_in(installation)
    crawl = Crawl(installation.owner.client, installation, run)
    crawl.learn()
    opened, leaks = set(), []
    for path, answer in crawl.answers(installation.scope.project_id):
        assert answer.status_code < 500, (path, answer.text)
        if answer.status_code == 200:
            opened.add(path)
        if found := _shown(answer.content + repr(dict(answer.headers)).encode()):
            leaks.append((path, found))
    assert leaks == []
    assert opened >= SEEN_AT_LEAST, SEEN_AT_LEAST - opened
    assert len(opened) > 80


def test_searches_filters_and_forms_of_exports_show_no_secret(installation: Installation) -> None:
    run = _lived_in(installation)
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
        assert _shown(answer.content) == set(), path
        installation.clock.advance(seconds=1)
    for text in SPELLED.values():
        found = client.get(f"{base}/runs/{run.id}/trace", params={"q": text}).json()
        assert found["total"] == 0, text


def test_spans_that_are_sent_to_a_collector_show_no_secret(installation: Installation) -> None:
    run = _lived_in(installation)
    runs = installation.steward.runs
    entries = list(runs.journal.entries(run.scope, run.id))
    sent = spans_of(run, run.id, entries, runs.payload, content=True, detail=True)
    assert len(sent) > len(SPELLED) * 3
    assert _shown(repr(sent).encode()) == set()


def test_streams_show_no_secret(
    installation: Installation, capfd: pytest.CaptureFixture[str]
) -> None:
    run = _lived_in(installation)
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
        assert _shown(text.encode()) == set()


def test_the_ids_of_another_project_open_nothing(installation: Installation) -> None:
    run = _lived_in(installation)
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
