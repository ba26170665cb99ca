"""Every route of the OpenAPI document, called by people who must not and people who may."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from starlette.testclient import TestClient

from steward.identity import Role
from steward.testing import Installation
from tests.api.routes import METHODS, openapi_document


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    access: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def call(self, client: TestClient, project_id: str, body: Any = None) -> int:
        filled = self.path.replace("{project_id}", project_id)
        filled = re.sub(r"\{(\w+)_id\}", _made_up_id, filled)
        filled = re.sub(r"\{\w+\}", "something", filled)
        json = (
            body if body is not None else ({} if self.method in {"post", "put", "patch"} else None)
        )
        with client.stream(self.method.upper(), filled, json=json) as answer:
            return int(answer.status_code)


def _made_up_id(match: re.Match[str]) -> str:
    prefix = {"user": "usr", "token": "tok", "invitation": "inv", "task": "tsk", "commit": "cmt"}
    prefix |= {"provider": "idp", "session": "ses", "grant": "cgr"}
    prefix |= {"upload": "upload", "trigger": "trg", "event": "tev", "link": "lnk"}
    return f"{prefix.get(match.group(1), match.group(1)[:3])}_{'0' * 26}"


def operations() -> Iterator[Operation]:
    for path, item in openapi_document()["paths"].items():
        for method in METHODS & item.keys():
            yield Operation(method, path, item[method]["x-steward-access"])


@pytest.fixture(autouse=True)
def one_loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All requests on one event loop, as on a server: a new one for each takes as long as many an answer."""
    with start_blocking_portal() as portal:
        monkeypatch.setattr(TestClient, "portal", portal)
        yield


GUARDED = [operation for operation in operations() if operation.access["kind"] != "public"]
IN_PROJECT = [operation for operation in GUARDED if operation.access["kind"] == "project"]


def test_the_document_names_the_guard_of_every_route() -> None:
    assert len(IN_PROJECT) > 20
    public = {str(op) for op in operations() if op.access["kind"] == "public"}
    assert public == {
        "get /healthz",
        "get /readyz",
        "get /metrics",
        "get /api/v1/about",
        "post /api/v1/session",
        # Passkeys: a challenge for this browser, and the answer to it.
        "post /api/v1/session/passkey/options",
        "post /api/v1/session/passkey",
        # Single sign-on: whoever signs in is not signed in yet. The way back is bound to the browser that began it.
        "get /api/v1/sign-on",
        "get /api/v1/sign-on/{provider_id}/start",
        "get /api/v1/sign-on/{provider_id}/callback",
        # Sign-out by the provider: what it sends is signed.
        "post /api/v1/sign-on/{provider_id}/logout",
        "post /api/v1/invitations/lookup",
        # What Steward is as an OAuth client: authorization servers read it without knowing anybody here.
        "get /api/v1/oauth/client.json",
        "post /api/v1/invitations/accept",
        # The public half: whoever checks a capsule elsewhere needs it, and it opens nothing.
        "get /api/v1/signing-key",
        # Webhooks: the address itself cannot be guessed, and what is sent there is signed.
        "post /api/v1/hooks/{token}",
        "post /api/v1/hooks/{token}/test",
        "post /api/v1/hooks/{token}/versions/{number}",
        # One file to fetch or to send, by a signed link.
        "get /api/v1/links/{token}",
        "put /api/v1/links/{token}/{name}",
        # Forms for people without an account, by a signed link.
        "post /api/v1/forms/lookup",
        "post /api/v1/forms/answers",
    }


def test_without_credentials_nothing_opens(installation: Installation) -> None:
    project_id = installation.scope.project_id
    client = installation.anonymous()
    bad_token = installation.anonymous()
    bad_token.headers["Authorization"] = "Bearer stw_" + "A" * 43
    for operation in GUARDED:
        assert operation.call(client, project_id) == 401, operation
        assert operation.call(bad_token, project_id) == 401, operation
        # Both come from one address, whose requests are counted: there are more routes than it may ask at once.
        installation.clock.advance(seconds=1)


def test_another_projects_credentials_open_nothing(installation: Installation) -> None:
    project_id = installation.scope.project_id
    elsewhere = installation.person(Role.owner, "elsewhere", installation.project("Second"))
    token = installation.by_token(elsewhere, Role.owner)
    for operation in IN_PROJECT:
        assert operation.call(elsewhere.client, project_id) == 404, operation
        assert operation.call(token, project_id) in {403, 404}, operation
        # There are more routes than anybody may ask at once.
        installation.clock.advance(seconds=1)


def test_a_token_of_one_project_is_no_use_in_another_of_the_same_owner(
    installation: Installation,
) -> None:
    second = installation.project("Second")
    token = installation.by_token(installation.owner, Role.owner)
    for operation in IN_PROJECT:
        assert operation.call(token, second) in {403, 404}, operation
        installation.clock.advance(seconds=1)


KEEPERS_ONLY = {
    "/api/v1/projects/{project_id}/directories",
    "/api/v1/projects/{project_id}/directories/{directory_id}",
    "/api/v1/projects/{project_id}/directories/{directory_id}/rules",
    "/api/v1/projects/{project_id}/directories/{directory_id}/token",
    "/api/v1/projects/{project_id}/local-models/{name}/pull",
    "/api/v1/projects/{project_id}/plugins",
    "/api/v1/projects/{project_id}/plugins/inspect",
    "/api/v1/projects/{project_id}/plugins/{name}",
    "/api/v1/projects/{project_id}/plugins/{name}/disable",
    "/api/v1/projects/{project_id}/plugins/{name}/enable",
    "/api/v1/projects/{project_id}/second-step",
    "/api/v1/projects/{project_id}/sign-on/providers",
    "/api/v1/projects/{project_id}/sign-on/providers/{provider_id}",
    "/api/v1/projects/{project_id}/sign-on/providers/{provider_id}/check",
}
"""For people who keep the machine, whatever their role in a project."""


@pytest.mark.parametrize("role", list(Role), ids=lambda role: role.name)
def test_each_role_may_what_it_may(installation: Installation, role: Role) -> None:
    person = installation.person(role)
    token = installation.by_token(person, role)
    # The most harmful come last, so that they do not take the project away from the others.
    for operation in sorted(
        IN_PROJECT, key=lambda op: (op.path.endswith("leave"), op.method == "delete", op.path)
    ):
        closed = not _is_open(operation, role)
        status = operation.call(person.client, installation.scope.project_id)
        if closed:
            assert status == 403, operation
        elif operation.path in KEEPERS_ONLY:
            assert status == 403, (operation, status)
        else:
            assert status not in {401, 403, 405, 500, 503}, (operation, status)
        if closed or operation.access["session_only"]:
            status = operation.call(token, installation.scope.project_id)
            assert status in {403, 404}, (operation, status)
        installation.clock.advance(seconds=1)


def _is_open(operation: Operation, role: Role) -> bool:
    if role is Role.runner:
        return bool(operation.access["runner"])
    return role >= Role[operation.access["role"]]


def test_what_is_open_to_runners_is_listed_here() -> None:
    """Whatever is added is closed to them, until somebody opens it and says so here."""
    open_to_runners = {
        str(operation).replace("/api/v1/projects/{project_id}", "")
        for operation in IN_PROJECT
        if operation.access["runner"]
    }
    assert open_to_runners == {
        "get ",
        "post /leave",
        "get /search",
        "get /playbooks",
        "get /playbooks/{playbook_id}",
        "get /playbooks/{playbook_id}/needs",
        "get /playbooks/{playbook_id}/runs",
        "post /playbooks/{playbook_id}/runs",
        "get /runs",
        "get /runs/{run_id}",
        "get /runs/{run_id}/status",
        "get /runs/{run_id}/calls",
        "get /runs/{run_id}/stream",
        "get /runs/{run_id}/artifacts/{digest}",
        "post /runs/{run_id}/answers",
        "post /runs/{run_id}/cancel",
        "post /runs/{run_id}/take-back",
        "post /runs/{run_id}/weighings",
        "get /runs/{run_id}/weighings/{weighing_id}",
        "get /inbox",
        "get /approvals",
        "get /approvals/{approval_id}",
        "post /approvals/{approval_id}/decision",
        "get /events/stream",
        "get /notifications",
        "post /notifications/read",
    }


def test_a_token_never_does_more_than_its_role(installation: Installation) -> None:
    viewer = installation.by_token(installation.owner, Role.viewer)
    for operation in IN_PROJECT:
        if Role[operation.access["role"]] > Role.viewer:
            assert operation.call(viewer, installation.scope.project_id) == 403, operation
            installation.clock.advance(seconds=1)
