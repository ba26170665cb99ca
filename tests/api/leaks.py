"""A project in which runs say a stored secret wherever they can, and what reads every way out of it."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import quote

import httpx2 as httpx
from starlette.testclient import TestClient

from steward.core.errors import Invalid
from steward.runs import EntryType, Execution, Json, Run, RunRequest, StepFailed
from steward.testing import Installation
from steward.trace.context import traceparent, within_call
from tests.api.routes import METHODS, openapi_document

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
PLAYBOOK = """\
format: 1
id: daily-count
name: Daily count
budget: {usd: 1}
graph:
  nodes:
    - {id: first, type: code, title: First, language: sql, code: SELECT 1 AS n}
"""


async def leaky(heard: list[str], execution: Execution) -> Json:
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


def lived_in(installation: Installation) -> Run:
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
    steward.runs.programs["leaky"] = partial(leaky, heard)
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
        for path in routes():
            if path.endswith(ENDLESS) or path.replace("{project_id}", "").count("{"):
                continue
            answer = self.get(path.replace("{project_id}", self._installation.scope.project_id))
            items = answer.json().get("items", []) if _is_page(answer) else []
            for other in routes():
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
        for path, parameters in routes().items():
            if path.endswith(ENDLESS):
                continue
            query = {name: self.known.get(f"{{{name}}}", ["1"])[0] for name in parameters}
            if path.startswith("/api/executions"):
                query["project_id"] = project_id
            for filled in self.filled(path.replace("{project_id}", project_id)):
                yield path, self.get(filled, query)

    def filled(self, path: str) -> Iterator[str]:
        found = re.search(r"\{(\w+)\}", path)
        if found is None:
            yield path
            return
        for value in self.known.get(found[1], []):
            yield from self.filled(path.replace(found[0], quote(value, safe=""), 1))


def routes() -> dict[str, list[str]]:
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


def changes() -> list[tuple[str, str, dict[str, Any]]]:
    """Operations of projects that change something; what removes or ends something comes last."""
    found = [
        (method.upper(), path, item[method])
        for path, item in openapi_document()["paths"].items()
        for method in METHODS & item.keys() - {"get"}
    ]
    within = [
        (method, path, operation)
        for method, path, operation in found
        if operation["x-steward-access"]["kind"] == "project"
        # A stream ends with the run that it follows, and nobody drives runs here.
        and "text/event-stream" not in operation["responses"].get("200", {}).get("content", {})
    ]
    return sorted(
        within, key=lambda each: (each[1].endswith("leave"), each[0] == "DELETE", each[1])
    )


def _is_page(answer: httpx.Response) -> bool:
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    return answer.status_code == 200 and is_json and isinstance(answer.json(), dict)


def shown(content: bytes) -> set[bytes]:
    return {needle for needle in NEEDLES if needle in content}


class Bodies:
    """Bodies of requests as the OpenAPI document asks for them, with ids that are known."""

    def __init__(self, known: Mapping[str, list[str]]) -> None:
        self._known = known

    def of(self, operation: Mapping[str, Any]) -> dict[str, Any]:
        """What to pass to a client: JSON, or anything else as bytes."""
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            return {"json": self._value(content["application/json"]["schema"], "")}
        for media_type in content:
            return {"content": b"x", "headers": {"Content-Type": media_type}}
        return {}

    def _value(self, schema: Mapping[str, Any], name: str) -> Any:
        if "$ref" in schema:
            return self._value(_part_of(openapi_document(), schema["$ref"]), name)
        for several in ("anyOf", "oneOf", "allOf"):
            if several in schema:
                return self._value(schema[several][0], name)
        if "const" in schema or "enum" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        match schema.get("type"):
            case "object":
                of = schema.get("properties", {})
                return {each: self._value(of[each], each) for each in schema.get("required", [])}
            case "array":
                return [self._value(schema["items"], name)] * schema.get("minItems", 0)
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return True
            case "string":
                return self._text(schema, name)
            case _:
                return {}

    def _text(self, schema: Mapping[str, Any], name: str) -> str:
        if schema.get("format") == "date-time":
            return "2031-01-01T00:00:00Z"
        known = self._known.get(f"{{{name}}}") or self._known.get(name)
        return known[0] if known else "x" * max(1, schema.get("minLength", 1))


def _part_of(document: Mapping[str, Any], pointer: str) -> Any:
    found: Any = document
    for name in pointer.removeprefix("#/").split("/"):
        found = found[name]
    return found
