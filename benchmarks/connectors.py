"""How much of the catalogue works: every bundled description converted, a sample called against mocks of themselves, AWS against moto.

The mock answers by the same record that wrote the request, so `mock_pass` proves the conversion and not the vendor.
The calls go through the product: services are installed and connected, and the project's tools call them. Every tenth is
a whole run with policy, approval and journal (`governed_called`).
moto is the second opinion for AWS: other people's code that reads what botocore signed and our HTTP sent. Prism is one for
OpenAPI (`--prism FOLDER`: a folder with `node_modules/.bin/prism` and descriptions in `descriptions/`).

The whole takes long. `--state FILE --seconds 500` ends after about that time and keeps what was found; the same command
again goes on from there, and prints the figures when everything is done. `--quick` takes every tenth service.
"""

import argparse
import asyncio
import json
import logging
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.connector_mock import Mock, arguments_for
from benchmarks.prism import ask_prism
from steward.app import open_steward
from steward.broker.approvals import Verdict
from steward.broker.schemas import problems_of, schema_problem
from steward.broker.tool import Risk, ToolContext
from steward.connections import Draft, Http, Opened
from steward.connections.catalogue import packages, worker
from steward.connections.catalogue.calls import ServiceCalls
from steward.connections.catalogue.installed import PACKAGE
from steward.connections.catalogue.record import READ, Operation, Service
from steward.connections.catalogue.settings import ServiceSettings
from steward.connections.documents import Connection
from steward.core import MovableClock, SystemClock, load_settings
from steward.core.errors import StewardError
from steward.flows.launch import Start
from steward.identity import Access
from steward.runs import Status, Ticket, digest
from steward.testing import Installation, fast_passwords

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_CALL_BACK_SECONDS = 60
_GOVERNED = 10
"""Of so many calls one is a whole run."""


class OutOfTime(Exception):
    pass


class Progress:
    """What is done, service by service, in a file of JSON lines; a later run of the program goes on from there."""

    def __init__(self, path: Path | None, seconds: float | None) -> None:
        self._path = path
        self._deadline = time.monotonic() + seconds if seconds else None
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self._done: dict[str, Any] = dict(json.loads(line) for line in lines)

    def missing(self, keys: Iterable[str]) -> list[str]:
        return [key for key in keys if key not in self._done]

    def keep(self, key: str, result: Any) -> None:
        self._done[key] = result
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps([key, result]) + "\n")

    def do(self, key: str, work: Callable[[], Any]) -> Any:
        if key not in self._done:
            self.require_time()
            self.keep(key, work())
        return self._done[key]

    def require_time(self) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise OutOfTime

    def __len__(self) -> int:
        return len(self._done)


@dataclass
class Converted:
    """What one bundled description holds."""

    id: str
    adapter: str
    vendor: str
    operations: int
    failures: list[str] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    """Operations that can be called over HTTP."""
    reads: list[str] = field(default_factory=list)
    """Operations that read and need no arguments."""


def converted(service_id: str) -> Converted:
    service = packages.describe(service_id)
    count = len(service.operations) + len(service.left_out)
    found = Converted(service.id, service.adapter, service.vendor, count)
    found.failures += [f"{service.id} {o.operation}: {o.reason}" for o in service.left_out]
    for operation in service.operations:
        wrong = schema_problem(dict(operation.arguments))
        if wrong is not None:
            found.failures.append(f"{service.id} {operation.name}: {wrong}")
            continue
        found.called.append(operation.name)
        if operation.risk == READ and not operation.arguments.get("required"):
            found.reads.append(operation.name)
    return found


def spread(found: list[Converted], count: int) -> dict[str, list[str]]:
    """Operations by service, evenly over all services that are called over HTTP."""
    names = [
        (each.id, name)
        for each in found
        if each.adapter == "google_discovery"
        for name in each.called
    ]
    chosen: dict[str, list[str]] = {}
    for number in range(min(count, len(names))):
        service, name = names[number * len(names) // min(count, len(names))]
        chosen.setdefault(service, []).append(name)
    return chosen


class Product:
    """An installation whose services are mocks of their own descriptions."""

    def __init__(self, home: Path) -> None:
        self.mock = Mock()

        async def resolve(_host: str, _port: int) -> list[str]:
            return ["93.184.216.34"]

        clock = MovableClock(datetime.now(UTC))
        steward = open_steward(load_settings(home=home), clock=clock, passwords=fast_passwords())
        self._installed = Installation(steward, clock)
        self.steward = steward
        self.access: Access = self._installed.owner.access
        http = Http(transport=httpx2.MockTransport(self.mock.answer), resolve=resolve)
        steward.connections.calls = ServiceCalls(http, clock)
        self._number = 0

    def close(self) -> None:
        self._installed.close()

    def connect(self, service_id: str) -> tuple[str, Service]:
        """Installs a service and connects to it; the connection's name."""
        services = self.steward.connections.services
        service = packages.describe(service_id)
        with tempfile.TemporaryDirectory() as folder:
            worker._write_record(Path(folder) / worker.RECORD, service)
            content = (Path(folder) / worker.RECORD).read_bytes()
        services._install(self.access, service_id, content, PACKAGE)
        self._number += 1
        name = f"mock-{self._number}"
        settings = {"service": service_id, "way": "bearer"}
        draft = Draft(name, "service", settings, values={"token": "not-a-secret-1"})
        self.steward.connections.documents.create(self.access, draft)
        return name, service

    async def by_tool(self, tool_name: str, given: Mapping[str, Any]) -> Any:
        tool = self.steward.governing.broker.tools.get(self.access.scope, tool_name)
        body = {"payload": None}
        context = ToolContext(
            scope=self.access.scope,
            run_id="run_00000000000000000000000001",
            author=self.access.user_id,
            branch="main",
            services=self.steward.services,
            settings={},
            ticket=Ticket(digest(tool_name), digest(body), body),
        )
        return (await tool.run(context, tool.arguments.model_validate(dict(given)))).value

    def by_run(self, tool_name: str, given: Mapping[str, Any]) -> Any:
        """A run with one call in it; a person approves it where the policy asks for that."""
        governing, runs = self.steward.governing, self.steward.runs
        document = governing.launcher.single(tool_name, dict(given))
        run = governing.launcher.start(
            self.access, Start(document=document, highest_risk=Risk.destructive)
        )
        runs.drive_until_idle()
        for approval in governing.approvals.listed(self.access, mine=True, run_id=run.id):
            verdict = Verdict(True, approval.body_hash)
            asyncio.run(governing.deciding.decide(self.access, approval.id, verdict, None))
            runs.drive_until_idle()
            # For some seconds it can still be called back.
            self._installed.clock.advance(seconds=_CALL_BACK_SECONDS)
            runs.drive_until_idle()
        ended = runs.records.get(self.access.scope, run.id)
        if ended.status is not Status.done:
            return {"status": 0, "failed": True, "answer": {"wrong": f"run is {ended.status}"}}
        return (runs.outcome(self.access.scope, run.id) or {})["output"]


def call_mocks(
    chosen: Mapping[str, list[str]], progress: Progress
) -> tuple[Counter[str], list[str]]:
    counts, failures, number = Counter[str](), list[str](), 0
    with tempfile.TemporaryDirectory(prefix="steward-bench-") as folder:
        product = Product(Path(folder) / "home")
        try:
            for service_id, names in chosen.items():
                found = progress.do(
                    f"mock {service_id} {len(names)}",
                    partial(_mocked, product, service_id, names, number),
                )
                number += len(names)
                counts.update(found["counts"])
                failures += found["failures"]
        finally:
            product.close()
    return counts, failures


def _mocked(product: Product, service_id: str, names: list[str], number: int) -> dict[str, Any]:
    counts, failures = Counter[str](), list[str]()
    connection, service = product.connect(service_id)
    known = {each.name: each for each in service.operations}
    for at, name in enumerate(names, number + 1):
        way = "governed" if at % _GOVERNED == 0 else "mock"
        wrong = _called(product, connection, known[name], way)
        counts[f"{way}_called"] += 1
        if wrong is None:
            counts[f"{way}_passed"] += 1
        else:
            failures.append(f"{service_id} {name} ({way}): {wrong}")
    return {"counts": counts, "failures": failures}


def _called(product: Product, connection: str, operation: Operation, way: str) -> str | None:
    """What went wrong."""
    given = arguments_for(operation)
    wrong = problems_of(operation.arguments, given)
    if wrong:
        return f"no example fits ({wrong[0].pointer} {wrong[0].message})"
    product.mock.operation, product.mock.given = operation, given
    tool = f"api.{connection}.{operation.name}"
    try:
        if way == "governed":
            answer = product.by_run(tool, given)
        else:
            answer = asyncio.run(product.by_tool(tool, given))
    except (StewardError, ValueError) as problem:
        return getattr(problem, "message", str(problem))[:300]
    return None if answer["status"] == 200 else str(answer.get("answer"))[:300]


def opened_for(settings: ServiceSettings, secrets: Mapping[str, str]) -> Opened:
    document = settings.model_dump(mode="json")
    connection = Connection(
        "con_bench", "bench", "service", document, {}, "", "unknown", None, "bench", _NOW, _NOW, 1
    )
    return Opened(connection, settings, secrets)


async def call_moto(each: Converted, most: int, url: str) -> dict[str, Any]:
    """Whether a service answered an argument-free read, and how many calls were made."""
    calls = ServiceCalls(Http(allow_private=["127.0.0.0/8"]), SystemClock())
    secrets = {"access_key_id": "AKIAEXAMPLE", "secret_access_key": "secret"}
    service = packages.describe(each.id)
    known = {operation.name: operation for operation in service.operations}
    settings = ServiceSettings(
        service=each.id, way="sigv4", base_url=url, fields={"region": "us-east-1"}
    )
    made = 0
    for name in each.reads[:most]:
        made += 1
        try:
            answer = await calls.call(opened_for(settings, secrets), service, known[name], {})
        except StewardError:
            continue
        if answer.status == 200:
            return {"answered": True, "made": made}
    return {"answered": False, "made": made}


def _asked(each: Converted, most: int, url: str) -> dict[str, Any]:
    return asyncio.run(call_moto(each, most, url))


def ask_moto(found: list[Converted], most: int, progress: Progress) -> dict[str, int]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    try:
        told = [
            progress.do(f"moto {each.id}", partial(_asked, each, most, url))
            for each in found
            if each.adapter == "aws"
        ]
    finally:
        server.stop()
    return {
        "moto_services_answered": sum(each["answered"] for each in told),
        "moto_calls": sum(each["made"] for each in told),
    }


def all_converted(services: list[str], progress: Progress) -> list[Converted]:
    keys = {f"converted {each}": each for each in services}
    missing = progress.missing(keys)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for key, found in zip(
            missing, pool.map(converted, [keys[key] for key in missing], chunksize=2), strict=True
        ):
            progress.keep(key, asdict(found))
            try:
                progress.require_time()
            except OutOfTime:
                pool.shutdown(cancel_futures=True)
                raise
    return [Converted(**progress.do(key, dict)) for key in keys]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--sample", type=int, default=5_500, help="operations called on mocks")
    options.add_argument("--reads", type=int, default=3, help="reads tried per AWS service")
    options.add_argument("--without-moto", action="store_true")
    options.add_argument("--prism", type=Path, help="folder with Prism and OpenAPI descriptions")
    options.add_argument("--quick", action="store_true", help="every tenth service, 300 calls")
    options.add_argument("--state", type=Path, help="file that keeps what is done")
    options.add_argument("--seconds", type=float, help="end after this time; go on later")
    chosen = options.parse_args()
    logging.disable(logging.CRITICAL)
    progress = Progress(chosen.state, chosen.seconds)
    try:
        print(json.dumps(figures(chosen, progress), indent=2))
    except OutOfTime:
        print(f"{len(progress):,} parts are done. Run the same command again to go on.")


def figures(chosen: argparse.Namespace, progress: Progress) -> dict[str, Any]:
    services = list(packages.packaged())[:: 10 if chosen.quick else 1]
    found = all_converted(services, progress)
    operations = sum(each.operations for each in found)
    failed = [text for each in found for text in each.failures]
    sample = min(chosen.sample, 300) if chosen.quick else chosen.sample
    counts, wrong_calls = call_mocks(spread(found, sample), progress)
    called = counts["mock_called"] + counts["governed_called"]
    passed = counts["mock_passed"] + counts["governed_passed"]
    shown: dict[str, Any] = {
        "services": len(found),
        "vendors": len({each.vendor for each in found}),
        "operations": operations,
        "adapters": dict(Counter(each.adapter for each in found)),
        "converted_fraction": round(1 - len(failed) / operations, 4),
        "mock_called": called,
        "mock_pass": round(passed / max(1, called), 4),
        "governed_called": counts["governed_called"],
        "governed_pass": round(counts["governed_passed"] / max(1, counts["governed_called"]), 4),
        "failures": failed + wrong_calls,
    }
    if not chosen.without_moto:
        shown |= ask_moto(found, chosen.reads, progress)
    if chosen.prism is not None:
        shown["prism"] = ask_prism(chosen.prism)
    return shown


if __name__ == "__main__":
    main()
