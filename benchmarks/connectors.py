"""How much of the catalogue works: every bundled description converted, a sample called against mocks of themselves, AWS against moto.

The mock answers by the same record that wrote the request, so `mock_pass` proves the conversion and not the vendor.
moto is the second opinion for AWS: other people's code that reads what botocore signed and our HTTP sent.
"""

import argparse
import asyncio
import json
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import httpx2

from steward.broker.schemas import problems_of, schema_problem
from steward.connections import Http, Opened
from steward.connections.catalogue import packages
from steward.connections.catalogue.calls import ServiceCalls
from steward.connections.catalogue.record import READ, Operation, Service
from steward.connections.catalogue.settings import ServiceSettings
from steward.connections.documents import Connection
from steward.core import SystemClock
from steward.core.errors import StewardError

_DEEPEST = 8
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def example(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Any:
    """The smallest value that fits a schema."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return "x"
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix("#/$defs/")
        return example(root.get("$defs", {}).get(name, {}), root, depth + 1)
    if "const" in schema or schema.get("enum"):
        return schema["const"] if "const" in schema else schema["enum"][0]
    if schema.get("allOf"):
        parts = [example(each, root, depth + 1) for each in schema["allOf"]]
        whole = {k: v for part in parts if isinstance(part, dict) for k, v in part.items()}
        return whole or parts[0]
    options = schema.get("anyOf") or schema.get("oneOf")
    return example(options[0], root, depth + 1) if options else _plain(schema, root, depth)


def _plain(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "string")
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            fields = schema.get("properties", {})
            return {
                name: example(fields.get(name, {}), root, depth + 1)
                for name in schema.get("required", ())
            }
        case "array":
            return [example(schema.get("items", {}), root, depth + 1)] * schema.get("minItems", 1)
        case "integer" | "number":
            return max(schema.get("minimum", 1), schema.get("exclusiveMinimum", 0) + 1)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return "x" * max(1, schema.get("minLength", 1))


def arguments_for(operation: Operation) -> dict[str, Any]:
    """Required arguments, and the body where there is one."""
    found: dict[str, Any] = example(operation.arguments, operation.arguments)
    for each in operation.parameters:
        if each.place == "body" and each.name not in found:
            fields = operation.arguments["properties"]
            found[each.name] = example(fields[each.name], operation.arguments)
    return found


class Mock:
    """Reads a request by the description and answers 200, or says what is wrong with it."""

    def __init__(self) -> None:
        self.operation: Operation | None = None
        self.given: dict[str, Any] = {}

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        operation = self.operation
        assert operation is not None
        wrong = self._wrong(operation, request)
        return httpx2.Response(400 if wrong else 200, json={"wrong": wrong})

    def _wrong(self, operation: Operation, request: httpx2.Request) -> str:
        if request.method != operation.verb:
            return "verb"
        path = urlsplit(str(request.url)).path
        pattern = re.sub(r"\\\{[^{}]*\\\}", "(.+)", re.escape(operation.path.partition("?")[0]))
        matched = re.search(pattern + "$", path)
        if matched is None:
            return f"path {path}"
        names = re.findall(r"\{([^{}]*)\}", operation.path)
        heard: dict[str, list[str]] = {
            name: [unquote(value)] for name, value in zip(names, matched.groups(), strict=False)
        }
        asked = parse_qs(urlsplit(str(request.url)).query, keep_blank_values=True)
        for each in operation.parameters:
            if each.name not in self.given:
                continue
            if each.place == "path" and each.sent_as not in heard:
                return f"path lacks {each.sent_as}"
            if each.place == "query" and each.sent_as not in asked:
                return f"query lacks {each.sent_as}"
            if each.place == "header" and each.sent_as not in request.headers:
                return f"headers lack {each.sent_as}"
            if each.place == "body":
                sent = json.loads(request.content or b"null")
                if sent != self.given[each.name]:
                    return "body"
        return ""


def converted() -> Iterator[Service]:
    for known in packages.packaged().values():
        yield packages.described(known)


def opened_for(settings: ServiceSettings, secrets: Mapping[str, str]) -> Opened:
    document = settings.model_dump(mode="json")
    connection = Connection(
        "con_bench", "bench", "service", document, {}, "", "unknown", None, "bench", _NOW, _NOW, 1
    )
    return Opened(connection, settings, secrets)


async def call_mocks(sample: list[tuple[Service, Operation]]) -> tuple[int, list[str]]:
    mock = Mock()

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["93.184.216.34"]

    http = Http(transport=httpx2.MockTransport(mock.answer), resolve=resolve)
    calls = ServiceCalls(http, SystemClock())
    passed, failures = 0, []
    for service, operation in sample:
        name = f"{service.id} {operation.name}"
        given = arguments_for(operation)
        wrong = problems_of(operation.arguments, given)
        if wrong:
            failures.append(f"{name}: no example fits ({wrong[0].pointer} {wrong[0].message})")
            continue
        mock.operation, mock.given = operation, given
        settings = ServiceSettings(service=service.id, way="bearer")
        try:
            answer = await calls.call(
                opened_for(settings, {"token": "t"}), service, operation, given
            )
        except StewardError as problem:
            failures.append(f"{name}: {problem.message}")
            continue
        if answer.status == 200:
            passed += 1
        else:
            failures.append(f"{name}: {answer.value['wrong']}")
    return passed, failures


async def call_moto(services: list[tuple[Service, Operation]], url: str) -> tuple[set[str], int]:
    """Services that answered an argument-free read, and how many calls were made."""
    calls = ServiceCalls(Http(allow_private=["127.0.0.0/8"]), SystemClock())
    secrets = {"access_key_id": "AKIAEXAMPLE", "secret_access_key": "secret"}
    answered: set[str] = set()
    made = 0
    for service, operation in services:
        if service.id in answered:
            continue
        made += 1
        settings = ServiceSettings(
            service=service.id, way="sigv4", base_url=url, fields={"region": "us-east-1"}
        )
        try:
            answer = await calls.call(opened_for(settings, secrets), service, operation, {})
        except StewardError:
            continue
        if answer.status == 200:
            answered.add(service.id)
    return answered, made


class Tally:
    """What the bundled descriptions hold, and what of it is called."""

    def __init__(self, reads_each: int) -> None:
        self.services = self.operations = self.converted = 0
        self.adapters: Counter[str] = Counter()
        self.vendors: set[str] = set()
        self.failures: list[str] = []
        self.over_http: list[tuple[Service, Operation]] = []
        self.reads: list[tuple[Service, Operation]] = []
        self._reads_each = reads_each

    def add(self, service: Service) -> None:
        self.services += 1
        self.operations += len(service.operations) + len(service.left_out)
        self.adapters[service.adapter] += 1
        self.vendors.add(service.vendor)
        self.failures += [f"{service.id} {o.operation}: {o.reason}" for o in service.left_out]
        fine = []
        for operation in service.operations:
            wrong = schema_problem(dict(operation.arguments))
            if wrong is None:
                fine.append((service, operation))
            else:
                self.failures.append(f"{service.id} {operation.name}: {wrong}")
        self.converted += len(fine)
        if service.adapter == "google_discovery":
            self.over_http += fine
        if service.adapter == "aws":
            simple = [
                each
                for each in fine
                if each[1].risk == READ and not each[1].arguments.get("required")
            ]
            self.reads += simple[: self._reads_each]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--sample", type=int, default=5_000, help="operations called on mocks")
    options.add_argument("--reads", type=int, default=3, help="reads tried per AWS service")
    options.add_argument("--without-moto", action="store_true")
    chosen = options.parse_args()
    logging.disable(logging.CRITICAL)
    tally = Tally(chosen.reads)
    for service in converted():
        tally.add(service)
    step = max(1, len(tally.over_http) // chosen.sample)
    sample = tally.over_http[::step][: chosen.sample]
    passed, wrong_calls = asyncio.run(call_mocks(sample))
    shown: dict[str, Any] = {
        "services": tally.services,
        "vendors": len(tally.vendors),
        "operations": tally.operations,
        "adapters": dict(tally.adapters),
        "converted_fraction": round(tally.converted / tally.operations, 4),
        "mock_called": len(sample),
        "mock_pass": round(passed / max(1, len(sample)), 4),
        "failures": (tally.failures + wrong_calls)[:50],
    }
    if not chosen.without_moto:
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        answered, made = asyncio.run(call_moto(tally.reads, f"http://{host}:{port}"))
        server.stop()
        shown |= {"moto_services_answered": len(answered), "moto_calls": made}
    print(json.dumps(shown, indent=2))


if __name__ == "__main__":
    main()
