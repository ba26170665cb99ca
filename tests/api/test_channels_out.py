"""What Steward sends by itself, as it arrives at real receivers: none of it shows a stored secret.

The channels are read from their tables: a kind of alert channel, a scheme or format of audit streams, or a form of
the spans that is added and has no receiver here fails a test.
"""

import asyncio
import gzip
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any, get_args

import httpx2 as httpx
import pytest
from websockets.sync.client import connect

from steward.app.tracing import watch_runs
from steward.broker.presets import PRESETS
from steward.connections import Http, Syslog
from steward.connections.documents import Draft
from steward.core.settings import AuditStream, TraceSettings
from steward.identity import Role
from steward.observe import AuditStreams
from steward.observe.alert_rules import Channel
from steward.observe.audit_lines import AuditFormat
from steward.observe.audit_streams import SCHEMES
from steward.runs import Run, RunRequest
from steward.testing import Installation
from steward.tools import HTTP
from steward.trace import genai
from tests.api.leaks import SECRET, leaky, lived_in, shown
from tests.api.live import LiveServer
from tests.connections.outside import certificates
from tests.connections.post import Office, post_office
from tests.observe.test_budget_alert import connect_mail, send_what_waits

pytestmark = pytest.mark.timeout(300)
LOCAL = "127.0.0.1"


class Receiver:
    """Takes what is sent to it over HTTP, and keeps every byte of it, unpacked."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.packed = 0
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                    receiver.packed += 1
                receiver.taken.append(f"{self.path}\n{self.headers}".encode() + body)
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer((LOCAL, 0), Handler)
        self.url = f"http://{LOCAL}:{self.server.server_address[1]}"


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    with _served(receiver.server):
        yield receiver


@contextmanager
def _served(server: ThreadingHTTPServer | ThreadingTCPServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        # Waits until each connection is read to its end.
        server.server_close()
        thread.join()


def _say_it_again(installation: Installation) -> Run:
    """A further run that says the secret and fails."""
    steward = installation.steward
    steward.runs.programs["leaky"] = partial(leaky, [])
    request = RunRequest(f"Say {SECRET}", "leaky", {}, {"word": SECRET})
    run = steward.runs.start(installation.scope, installation.owner.user.id, request)
    steward.runs.drive_until_idle()
    return steward.runs.get(installation.scope, run.id)


@contextmanager
def _post_office(
    installation: Installation, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Office]:
    steward, access = installation.steward, installation.owner.access
    steward.governing.rulebook.save(access, "project", PRESETS["trusted"], 0)
    keys = certificates(folder, LOCAL)
    with post_office(keys.server) as post:
        connect_mail(installation, post, keys.client, monkeypatch)
        yield post


def _named_before(installation: Installation) -> None:
    """A playbook that fails, whose name is the value of what becomes a secret only later."""
    client = installation.owner.client
    project = f"/api/v1/projects/{installation.scope.project_id}"
    document = {
        "format": 1,
        "id": "bank",
        "name": SECRET,
        "tags": [SECRET],
        "budget": {"usd": 1},
        "graph": {
            "nodes": [{"id": "n", "type": "code", "language": "sql", "code": "SELECT * FROM no"}]
        },
    }
    made = client.post(f"{project}/playbooks", json={"yaml": json.dumps(document), "message": ""})
    assert made.status_code == 201, made.text
    started = client.post(f"{project}/playbooks/{made.json()['id']}/runs", json={})
    assert started.status_code == 201, started.text
    installation.steward.runs.drive_until_idle()


def test_figures_exports_and_events_show_no_name_that_became_a_secret(
    installation: Installation,
) -> None:
    """On pages, in CSV, as JSON patches over a web socket, and in events as they are followed and exported."""
    _named_before(installation)
    lived_in(installation)
    client = installation.owner.client
    project = f"/api/v1/projects/{installation.scope.project_id}"
    token = installation.by_token(installation.owner, Role.viewer).headers["authorization"]
    paths = [
        "overview",
        "metrics",
        *(f"costs{kind}?by={by}" for kind in ("", "/export") for by in ("flow", "tag")),
        "events?limit=200",
        *(f"events/export?format={each.value}" for each in AuditFormat),
    ]
    said = [client.get(f"{project}/{path}").content for path in paths]
    latest = installation.steward.events.latest(installation.scope)
    with LiveServer(installation) as address:
        url = f"{address.replace('http', 'ws')}{project}/metrics/stream"
        with connect(url, additional_headers={"Authorization": token}) as socket:
            said.append(str(socket.recv(60)).encode())
        stream = httpx.Client(base_url=address, headers={"Authorization": token}, timeout=60)
        with stream, stream.stream("GET", f"{project}/events/stream?after=0") as answer:
            heard = ""
            for line in answer.iter_lines():
                heard += line
                if line == f"id: {latest}":
                    break
        said.append(heard.encode())
    for path, text in zip([*paths, "socket", "stream"], said, strict=True):
        assert b"[secret:bank]" in text, (path, text[:500])
        assert shown(text) == set(), path


def test_alert_messages_show_no_secret(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _named_before(installation)
    lived_in(installation)
    steward, access = installation.steward, installation.owner.access
    channels: list[dict[str, Any]] = [
        {"kind": "mail", "to": ["ops@example.com"], "connection": "post"},
        {"kind": "slack", "channel": "#ops", "connection": "bot"},
        {"kind": "webhook", "endpoint": "pager"},
    ]
    union, _ = get_args(Channel)
    assert {each["kind"] for each in channels} == {
        kind.model_fields["kind"].default for kind in get_args(union)
    }
    steward.services.add(HTTP.of(Http(allow_private=[LOCAL])))
    with receiving() as receiver, _post_office(installation, tmp_path, monkeypatch) as post:
        settings = {"channels": ["#ops"], "api_url": f"{receiver.url}/api"}
        draft = Draft("bot", "slack", settings, values={"token": "xoxb-1-and-more"})
        steward.connections.documents.create(access, draft)
        steward.secrets.set(access.scope, "hook", "whsec_" + "c2VjcmV0" * 4, author="usr_a")
        endpoint = {"url": f"{receiver.url}/hook", "secret": "hook"}
        tools = {"send_webhook": {"endpoints": {"pager": endpoint}}}
        steward.governing.rulebook.change_settings(access, 0, tools=tools)
        rule = {
            "name": "Each flow",
            "figure": "failed_runs",
            "window_hours": 1,
            "condition": {"kind": "above", "threshold": 0},
            "each_flow": True,
            "channels": channels,
        }
        address = f"/api/v1/projects/{access.scope.project_id}/alert-rules"
        assert installation.owner.client.post(address, json=rule).status_code == 201
        _say_it_again(installation)
        installation.clock.advance(minutes=3)
        steward.observations.alert_rounds.round()
        send_what_waits(installation)
        letters = [letter.as_bytes() for letter in post.letters]
    assert len(letters) == 1
    assert {each.split(b"\n", 1)[0] for each in receiver.taken} == {
        b"/api/chat.postMessage",
        b"/hook",
    }
    for sent in (*letters, *receiver.taken):
        assert b"Each flow" in sent
        assert b"[secret:bank]" in sent
        assert shown(sent) == set()


def test_the_summary_of_a_week_shows_no_secret(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _named_before(installation)
    lived_in(installation)
    steward, access = installation.steward, installation.owner.access
    installation.clock.advance(days=1)
    with _post_office(installation, tmp_path, monkeypatch) as post:
        card = steward.playbooks.blueprints.fork(access, "weekly-summary")
        inputs = {"connection": "post", "recipients": ["ops@example.com"], "in_words": False}
        steward.playbooks.running.start(access, card.id, inputs)
        send_what_waits(installation)
        [letter] = post.letters
    assert "3 failed" in str(letter["Subject"])
    assert shown(letter.as_bytes() + letter.get_content().encode()) == set()
    assert "[secret:bank]" in letter.get_content()


def test_audit_streams_show_no_secret(installation: Installation, tmp_path: Path) -> None:
    lived_in(installation)
    keys = certificates(tmp_path, LOCAL)
    for scheme, is_encrypted in SCHEMES.items():
        for form in AuditFormat:
            taken: list[bytes] = []
            server = _listening(scheme, taken)
            if is_encrypted:
                server.socket = keys.server.wrap_socket(server.socket, server_side=True)
            url = f"{scheme}://{LOCAL}:{server.server_address[1]}"
            streams = _streams(installation, url, form, keys.client)
            with _served(server):
                assert asyncio.run(streams.round()) > 10
            assert set(streams.failing().values()) == {0}
            assert b"run.failed" in b"".join(taken)
            assert shown(b"".join(taken)) == set()


def _listening(scheme: str, taken: list[bytes]) -> ThreadingHTTPServer | ThreadingTCPServer:
    class Taking(StreamRequestHandler):
        def handle(self) -> None:
            taken.append(self.rfile.read())

    if not scheme.startswith("http"):
        return ThreadingTCPServer((LOCAL, 0), Taking)
    receiver = Receiver()
    receiver.taken = taken
    return receiver.server


def _streams(
    installation: Installation, url: str, form: AuditFormat, tls: ssl.SSLContext
) -> AuditStreams:
    steward = installation.steward
    scheme = url.partition(":")[0].replace("+", "-")
    stream = AuditStream.model_validate({"url": url, "format": form.value})
    return AuditStreams(
        steward.database,
        steward.events,
        steward.clock,
        steward.observations.audit,
        {f"{scheme}-{form.value}": stream},
        steward.identity.projects.scopes,
        Http(allow_private=[LOCAL], tls=tls),
        Syslog(allow_private=[LOCAL], tls=tls),
    )


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_spans_arrive_at_a_collector_without_a_secret(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, compression: str
) -> None:
    """The same spans have the names of OpenTelemetry, OpenInference (Phoenix) and what MLflow reads."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", compression)
    lived_in(installation)
    steward = installation.steward
    with receiving() as receiver:
        settings = TraceSettings(otlp_endpoint=f"{receiver.url}/v1/traces", content=True)
        collector = watch_runs(steward.runs, steward.metrics, steward.clock, settings)
        assert collector is not None
        _say_it_again(installation)
        collector.close(60)
    assert receiver.packed == (len(receiver.taken) if compression == "gzip" else 0)
    sent = b"".join(receiver.taken)
    for name in (genai.INPUT, genai.OUTPUT, genai.ARGUMENTS, genai.RESULT, genai.KIND):
        assert name.encode() in sent, name
    assert shown(sent) == set()
    body = receiver.taken[0].partition(b"\n\n")[2]
    assert ExportTraceServiceRequest.FromString(body).resource_spans
