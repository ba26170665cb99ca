"""Requests made from the OpenAPI document: no 5xx, no status, header or body that it does not name."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode, checks
from schemathesis.generation.meta import CoveragePhaseData
from schemathesis.schemas import APIOperation

from steward.api.guards import cookie_name
from steward.app import open_steward
from steward.core import MovableClock, load_settings
from steward.identity import NewSession
from steward.testing import Installation, PostgresServer, fast_passwords
from tests.api.live import LiveServer
from tests.api.routes import METHODS, openapi_document

SCHEMA = schemathesis.openapi.from_dict(openapi_document())
# A stream does not end by itself; tests/api/test_events.py and test_chat*.py follow them.
STREAMS = {"follow_events", "chat_stream", "chat_ag_ui"}
OPERATIONS = [
    (path, method)
    for path, item in openapi_document()["paths"].items()
    for method in item
    if method in METHODS and item[method]["operationId"] not in STREAMS
]


def noun(path: str) -> str:
    """What the operation is about: the first fixed word of its path, below the project."""
    words = path.removeprefix("/api/v1").replace("/projects/{project_id}", "", 1).split("/")
    return next((word for word in words if word and not word.startswith("{")), "")


def fuzzed() -> Iterator[Any]:
    """All operations; what comes after the first one of its method and noun is left to the soak."""
    seen = set()
    for path, method in OPERATIONS:
        about = method, noun(path)
        further = [pytest.mark.battery] if about in seen else []
        seen.add(about)
        yield pytest.param(path, method, id=f"{method.upper()} {path}", marks=further)


@schemathesis.serializer("application/zip", "application/x-protobuf")
def as_bytes(_: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
    checks.unsupported_method,
]


@dataclass(frozen=True)
class Target:
    address: str
    installation: Installation

    @cached_property
    def session(self) -> NewSession:
        return self.sign_in()

    @cached_property
    def project(self) -> str:
        return self.new_project()

    def sign_in(self) -> NewSession:
        sessions = self.installation.steward.identity.sessions
        return sessions.sign_in_by_link(sessions.new_link(self.installation.owner.user.id))

    def new_project(self) -> str:
        return self.installation.project("Fuzzed")

    def call(self, case: Case[Any]) -> None:
        """As the owner of a project of its own, so that nothing one case destroys hides another.

        What only reads destroys nothing, and nothing in a project ends the owner's session.
        """
        steward = self.installation.steward
        reads = case.method.upper() == "GET"
        in_project = "project_id" in case.path_parameters
        session = self.session if reads or in_project else self.sign_in()
        if in_project:
            case.path_parameters["project_id"] = self.project if reads else self.new_project()
        # The document allows a token instead; a random one would end every case at the door.
        case.headers.pop("Authorization", None)
        client = requests.Session()
        # Looking for proxies takes as long as many an answer.
        client.trust_env = False
        client.cookies.set(cookie_name(steward.settings.http), session.token)
        headers = {"X-CSRF-Token": session.principal.csrf_token}
        response = case.call(base_url=self.address, session=client, headers=headers)
        # A session that had ended would turn every later case away at the door.
        assert response.status_code != 401 or session is not self.session
        if case.method.upper() == "DELETE" and case.path == "/api/v1/me/sessions":
            # It ended the session that the others share.
            self.__dict__.pop("session", None)
        case.validate_response(response, checks=CHECKS)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """On PostgreSQL too when there is time: `make soak NAME=fuzz`."""
    if "fuzzed_database" in metafunc.fixturenames:
        full = metafunc.config.getoption("--full")
        kinds = ["sqlite", "postgres"] if full else ["sqlite"]
        metafunc.parametrize("fuzzed_database", kinds, scope="module")


@pytest.fixture(scope="module")
def target(
    fuzzed_database: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Target]:
    with ExitStack() as stack:
        url = None
        if fuzzed_database == "postgres":
            server: PostgresServer = request.getfixturevalue("postgres")
            url = stack.enter_context(server.database(None))
        opened = load_settings(
            home=tmp_path_factory.mktemp("fuzz"),
            database={"url": url},
            http={"requests_per_minute": 10**9, "request_burst": 10**9},
        )
        clock = MovableClock(datetime.now(UTC))
        steward = open_steward(opened, clock=clock, passwords=fast_passwords())
        installation = Installation(steward, clock)
        stack.callback(installation.close)
        # Nobody drives runs here: who asks is told at once that the run goes on.
        patience = pytest.MonkeyPatch()
        patience.setattr("steward.api.routes.chat.PATIENCE_SECONDS", 0.1)
        stack.callback(patience.undo)
        # Where no server ran before, reading all descriptions takes longer than a client waits.
        steward.connections.services.shelf.services()
        yield Target(stack.enter_context(LiveServer(installation)), installation)


def wrong_and_right(operation: APIOperation[Any, Any, Any, Any]) -> list[Case[Any]]:
    """Requests at and beyond every bound that the document names for the operation."""
    generation = SCHEMA.config.generation_for(operation=operation, phase="coverage")
    return list(
        SCHEMA.iter_coverage_cases(
            operation, generation_modes=generation.modes, generation_config=generation
        )
    )


def one_of_each_kind(cases: list[Case[Any]], turn: int) -> list[Case[Any]]:
    """One case of each way to be wrong or right; operations take turns in which field it is. The soak has all."""
    kinds: dict[tuple[Any, ...], list[Case[Any]]] = {}
    for case in cases:
        about = case.meta.phase.data if case.meta else None
        assert isinstance(about, CoveragePhaseData)
        kinds.setdefault((about.scenario, about.parameter_location), []).append(case)
    return [found[turn % len(found)] for found in kinds.values()]


@pytest.mark.soak
@pytest.mark.parametrize(("path", "method"), list(fuzzed()))
def test_fuzz(
    path: str,
    method: str,
    target: Target,
    request: pytest.FixtureRequest,
    effort: Callable[[int, int], int],
) -> None:
    operation = SCHEMA[path][method]
    cases = wrong_and_right(operation)
    if not request.config.getoption("--full"):
        cases = one_of_each_kind(cases, OPERATIONS.index((path, method)))
    for case in cases:
        target.call(case)

    @given(st.one_of([operation.as_strategy(mode) for mode in GenerationMode]))
    @settings(
        max_examples=effort(1, 83),
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def anything(case: Case[Any]) -> None:
        target.call(case)

    anything()
