"""Spans of other programs: sent by a real exporter, joined where they belong, and never trusted."""

import gzip
import json
from functools import partial
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from steward.connections import Http
from steward.identity import Role
from steward.observe import received_spans
from steward.runs import EntryType, Execution, Json, Run, RunRequest
from steward.testing import Installation
from steward.trace.context import traceparent, within_call

pytestmark = pytest.mark.every_database
PROTOBUF = "application/x-protobuf"


async def _calling(heard: list[str], execution: Execution) -> Json:
    """A run with one call, inside of which a service hears which span it belongs to."""

    async def call() -> Json:
        with within_call(execution.run.root_id, execution.run.id, "look"):
            heard.append(traceparent() or "")
        return {"value": None, "cost": {}}

    request: Json = {"tool": "http_request", "arguments": {}}
    await execution.step("look", request, call, type=EntryType.call_done)
    return None


def _called(installation: Installation, subject: str | None = None) -> tuple[Run, str]:
    runs, heard = installation.steward.runs, list[str]()
    runs.programs["calling"] = partial(_calling, heard)
    request = RunRequest("Call", "calling", {}, {}, subject=subject)
    run = runs.start(installation.scope, installation.owner.user.id, request)
    runs.drive_until_idle()
    return runs.get(installation.scope, run.id), heard[0]


def _remote(header: str) -> list[ReadableSpan]:
    """What a program records that was called with this header."""
    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.name": "crm"}))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    context = TraceContextTextMapPropagator().extract({"traceparent": header})
    tracer = provider.get_tracer("crm")
    with tracer.start_as_current_span("GET /customers", context=context) as span:
        span.set_attributes({"http.response.status_code": 500, "api_key": "k-123"})
        span.set_status(Status(StatusCode.ERROR, "no database"))
        with tracer.start_as_current_span("SELECT customers"):
            pass
    return list(kept.get_finished_spans())


def _send(installation: Installation, body: bytes, media_type: str = PROTOBUF, **more: Any) -> Any:
    address = f"/api/v1/projects/{installation.scope.project_id}/otlp/v1/traces"
    client = more.pop("client", installation.owner.client)
    headers = {"content-type": media_type, **more}
    return client.post(address, content=body, headers=headers)


def _trace(installation: Installation, run: Run, client: Any = None) -> list[dict[str, Any]]:
    address = f"/api/v1/projects/{installation.scope.project_id}/runs/{run.id}/trace"
    answer = (client or installation.owner.client).get(address)
    assert answer.status_code == 200, answer.text
    spans: list[dict[str, Any]] = answer.json()["spans"]
    return spans


@pytest.mark.parametrize("packed", [False, True])
def test_spans_of_a_service_stand_below_the_call(installation: Installation, packed: bool) -> None:
    run, header = _called(installation)
    before = _trace(installation, run)
    body = encode_spans(_remote(header)).SerializeToString()
    more = {"content-encoding": "gzip"} if packed else {}
    answer = _send(installation, gzip.compress(body) if packed else body, **more)
    assert (answer.status_code, answer.content) == (200, b"")
    spans = _trace(installation, run)
    names = [(each["depth"], each["name"]) for each in spans]
    # A trace that was looked at before is read again.
    assert len(spans) == len(before) + 2
    at = next(n for n, each in enumerate(spans) if each["name"] == "execute_tool http_request")
    depth = spans[at]["depth"]
    assert names[at + 1 : at + 3] == [
        (depth + 1, "GET /customers"),
        (depth + 2, "SELECT customers"),
    ]
    remote = spans[at + 1]
    assert (remote["operation"], remote["error"]) == ("remote", "no database")
    assert remote["attributes"]["service.name"] == "crm"
    assert remote["attributes"]["api_key"] == "[redacted]"
    # Sent again, as exporters do after a lost answer, they are there once.
    assert _send(installation, body).status_code == 200
    assert len(_trace(installation, run)) == len(spans)


def _as_json(spans: list[ReadableSpan], **changed: Any) -> bytes:
    items = [
        {
            "traceId": f"{span.context.trace_id:032x}",
            "spanId": f"{span.context.span_id:016x}",
            "parentSpanId": f"{span.parent.span_id:016x}" if span.parent else "",
            "name": span.name,
            "startTimeUnixNano": str(span.start_time),
            "endTimeUnixNano": str(span.end_time),
            "attributes": [{"key": "rows", "value": {"intValue": "7"}}],
            **changed,
        }
        for span in spans
    ]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": items}]}]}).encode()


def test_json_is_read_too_and_wrong_spans_are_counted(installation: Installation) -> None:
    run, header = _called(installation)
    spans = _remote(header)
    answer = _send(installation, _as_json(spans), "application/json")
    assert (answer.status_code, answer.json()) == (200, {})
    [one, *_] = [each for each in _trace(installation, run) if each["operation"] == "remote"]
    assert one["attributes"]["rows"] == 7
    for wrong in ({"traceId": "0" * 32}, {"spanId": "xyz"}, {"startTimeUnixNano": "-1"}):
        told = _send(installation, _as_json(spans, **wrong), "application/json").json()
        assert told["partialSuccess"]["rejectedSpans"] == "2"


def test_what_no_database_can_keep_is_made_fit(installation: Installation) -> None:
    run, header = _called(installation)
    values = {
        "zero\0": {"stringValue": "a\0b"},
        "half": {"stringValue": "\ud800"},
        "endless": {"doubleValue": float("inf")},
        "none": {"doubleValue": float("nan")},
        "huge": {"intValue": 10**300},
    }
    attributes = [{"key": key, "value": value} for key, value in values.items()]
    wrong = {"name": "\0\udfff", "status": {"code": [], "message": {}}, "attributes": attributes}
    body = gzip.compress(_as_json(_remote(header)[1:], **wrong))
    packed = {"content-encoding": "gzip"}
    answer = _send(installation, body, "application/json", **packed)
    assert answer.status_code == 200, answer.text
    failed = {"spanId": "3" * 16, "status": {"code": 2, "message": "\0no"}}
    body = gzip.compress(_as_json(_remote(header)[1:], **failed))
    assert _send(installation, body, "application/json", **packed).is_success
    errors = [each for each in _trace(installation, run) if each["operation"] == "remote"]
    assert {each["error"] for each in errors} == {None, "no"}
    [kept] = [each["attributes"] for each in errors if each["error"] is None]
    assert (kept["zero"], kept["half"], kept["endless"], kept["none"]) == ("ab", "?", "inf", "nan")
    assert "huge" not in kept


@pytest.mark.parametrize(
    ("body", "media_type", "encoding", "status"),
    [
        (b"{", "application/json", "", 422),
        (b"[" * 100_000, "application/json", "", 422),
        (b"\xff\xff", PROTOBUF, "", 422),
        (b"{}", "text/plain", "", 422),
        (b"no gzip", PROTOBUF, "gzip", 422),
        (b"{}", "application/json", "br", 422),
        (gzip.compress(b" " * (17 << 20)), "application/json", "gzip", 413),
    ],
)
def test_what_is_no_request_is_refused(
    installation: Installation, body: bytes, media_type: str, encoding: str, status: int
) -> None:
    answer = _send(installation, body, media_type, **{"content-encoding": encoding})
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_spans_of_another_project_and_of_strangers_stay_out(installation: Installation) -> None:
    run, header = _called(installation)
    body = encode_spans(_remote(header)).SerializeToString()
    viewer = installation.person(Role.viewer, "viewer")
    assert _send(installation, body, client=viewer.client).status_code == 403
    other = installation.project("Other")
    stranger = installation.person(Role.owner, "stranger", other)
    assert _send(installation, body, client=stranger.client).status_code == 404
    address = f"/api/v1/projects/{other}/otlp/v1/traces"
    kept = stranger.client.post(address, content=body, headers={"content-type": PROTOBUF})
    assert kept.status_code == 200
    assert all(each["operation"] != "remote" for each in _trace(installation, run))


@pytest.mark.parametrize("stored_from", [1, 1_000])
def test_what_names_no_known_parent_belongs_to_the_run_once_that_is_over(
    installation: Installation, monkeypatch: pytest.MonkeyPatch, stored_from: int
) -> None:
    observations = installation.steward.observations
    monkeypatch.setattr(observations.traces, "_stored_from", stored_from)
    run, header = _called(installation)
    below, above = _remote(header)
    _send(installation, _as_json([below]), "application/json")
    found = [each for each in _trace(installation, run) if each["operation"] == "remote"]
    assert [(each["depth"], each["name"]) for each in found] == [(1, "SELECT customers")]
    assert found[0]["attributes"]["steward.parent_missing"] is True
    spans = [
        (run.id, row.span)
        for row in observations.traces.trace(installation.scope, run.id, lambda _: True).rows
        if row.operation != "remote"
    ]
    # More may come, or the parent is hidden from the reader.
    assert observations.received.below(installation.scope, run.id, spans, is_whole=False) == []
    # What comes late takes it to its place.
    _send(installation, _as_json([above]), "application/json")
    found = [each for each in _trace(installation, run) if each["operation"] == "remote"]
    assert [(each["depth"], each["name"]) for each in found] == [
        (2, "GET /customers"),
        (3, "SELECT customers"),
    ]
    assert "steward.parent_missing" not in found[1]["attributes"]
    rootless = _as_json([above], parentSpanId="", spanId="2" * 16)
    _send(installation, rootless, "application/json")
    found = [each for each in _trace(installation, run) if each["operation"] == "remote"]
    assert (1, "GET /customers") in [(each["depth"], each["name"]) for each in found]


def test_one_trace_takes_so_many_and_old_ones_go(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(received_spans, "MOST_OF_TRACE", 1)
    run, header = _called(installation)
    told = _send(installation, _as_json(_remote(header)), "application/json").json()
    assert told["partialSuccess"]["rejectedSpans"] == "1"
    installation.clock.advance(days=31)
    observations = installation.steward.observations
    observations.received.tidy(installation.steward.settings.observe.received_spans)
    found = observations.traces.trace(installation.scope, run.id, lambda _: True)
    assert all(each.operation != "remote" for each in found.rows)


def test_services_hear_of_the_trace_only_where_it_is_wanted() -> None:
    with within_call("run_1", "run_1", "look"):
        assert Http().trace_headers() == {}
        [header] = Http(tells_trace=True).trace_headers().values()
    assert header.startswith("00-")
    assert Http(tells_trace=True).trace_headers() == {}
