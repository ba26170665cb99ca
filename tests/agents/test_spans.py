"""Runs as OpenTelemetry traces, taken by a real receiver of OTLP over HTTP."""

import gzip
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from steward.app import open_steward
from steward.core import MovableClock, load_settings
from steward.identity import Access
from steward.runs import Status
from steward.testing import fast_passwords
from steward.testing.models import ScriptedLineup, ScriptedModel
from tests.agents.conftest import Chat, plan_text
from tests.agents.test_turn import COUNT

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")


class Receiver:
    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.headers: list[str | None] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
                    ExportTraceServiceRequest,
                )

                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                request = ExportTraceServiceRequest.FromString(body)
                for resource in request.resource_spans:
                    for scope in resource.scope_spans:
                        receiver.spans.extend(scope.spans)
                receiver.headers.append(self.headers.get("x-key"))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1/traces"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


@pytest.fixture
def traced(
    sample_home: tuple[Path, Access],
    tmp_path: Path,
    clock: MovableClock,
    models: ScriptedLineup,
    receiver: Receiver,
) -> Chat:
    home = tmp_path / "home"
    shutil.copytree(sample_home[0], home)
    settings = load_settings(
        home=home, trace={"otlp_endpoint": receiver.url, "headers": {"x-key": "a key"}}
    )
    steward = open_steward(settings, clock=clock, passwords=fast_passwords(), models=models)
    return Chat(steward, sample_home[1], clock, models)


def _attributes(span: Any) -> dict[str, Any]:
    return {
        item.key: getattr(item.value, item.value.WhichOneof("value")) for item in span.attributes
    }


def test_a_fork_sends_only_what_it_did_itself(traced: Chat, receiver: Receiver) -> None:
    traced.models.play(ScriptedModel([plan_text(COUNT), "Counted.", "Counted again."]))
    run = traced.say("How many customers are there?")
    runs = traced.steward.runs
    fork = runs.fork(run.scope, run.created_by, run.id, at="answer/request", changes={})
    traced.clock.advance(minutes=1)
    runs.drive_until_idle()
    assert runs.get(run.scope, fork.id).status is Status.done
    traced.steward.close()
    traces: dict[bytes, list[str]] = {}
    for span in receiver.spans:
        traces.setdefault(span.trace_id, []).append(span.name)
    first, second = sorted(traces.values(), key=len, reverse=True)
    assert "execute_tool execute_sql" in first
    assert sorted(second) == ["chat scripted", "invoke_workflow chat"]


def test_a_turn_is_a_trace(traced: Chat, receiver: Receiver) -> None:
    traced.models.play(ScriptedModel([plan_text(COUNT), "Counted."]))
    run = traced.say("How many customers are there?")
    # Closing waits for what is to be sent.
    traced.steward.close()

    named = {span.name: span for span in receiver.spans}
    assert set(named) == {
        "invoke_workflow chat",
        "plan",
        "chat scripted",
        "invoke_agent data-analyst",
        "execute_tool execute_sql",
    }
    assert len({span.trace_id for span in receiver.spans}) == 1
    root, agent = named["invoke_workflow chat"], named["invoke_agent data-analyst"]
    assert not root.parent_span_id
    assert agent.parent_span_id == root.span_id
    assert named["execute_tool execute_sql"].parent_span_id == agent.span_id
    model = _attributes(named["chat scripted"])
    assert model["gen_ai.operation.name"] == "chat"
    assert model["openinference.span.kind"] == "LLM"
    assert model["gen_ai.usage.input_tokens"] > 0
    assert _attributes(root)["steward.run.id"] == run.id
    assert receiver.headers == ["a key"]
    sent = str(receiver.spans)
    assert "How many customers" not in sent, "content goes along only where it is asked for"
    assert "SELECT" not in sent


def test_a_collector_that_is_away_delays_nobody(
    traced: Chat, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = traced.steward.collector
    assert collector is not None

    def away(_: Any) -> Any:
        raise OSError("nobody there")

    monkeypatch.setattr(collector._sender, "export", away)
    run = traced.say("Which datasets are there?")
    assert run.status.value == "done"
    traced.steward.close()
