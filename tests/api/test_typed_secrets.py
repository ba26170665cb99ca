"""A stored secret that somebody types is replaced before anything of it is written, wherever it was typed."""

import base64
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from steward.broker.approvals import Ask, Needs, Verdict
from steward.runs import Run, RunRequest, Runs
from steward.store import EVERYWHERE
from steward.store.backup import backup
from steward.store.tables import metadata
from steward.testing import Installation

SECRET = "tr0ub4dor&3/Ünd-no-more"
SPELLED = {
    "plain": SECRET,
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "hex": SECRET.encode().hex(),
    "url": quote(SECRET, safe=""),
}
HALF = 9
"""As many characters of a secret give it away, too."""


@pytest.fixture
def project(installation: Installation) -> str:
    installation.steward.secrets.set(installation.scope, "bank", SECRET, author="usr_test")
    return f"/api/v1/projects/{installation.scope.project_id}"


@pytest.fixture
def client(installation: Installation) -> TestClient:
    return installation.owner.client


@pytest.fixture
def runs(installation: Installation) -> Runs:
    return installation.steward.runs


def _sent(client: TestClient, method: str, path: str, body: Any, **more: Any) -> Any:
    answer = client.request(method, path, json=body, **more)
    assert answer.is_success, answer.text
    return answer.json()


def _kept(installation: Installation, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Everything that is written anywhere, by where it is."""
    steward, scope = installation.steward, installation.scope
    with steward.database.read(EVERYWHERE) as tx:
        for table in metadata.sorted_tables:
            for row in tx.rows(sa.select(table)):
                yield table.name, repr(tuple(row)).encode()
    for run in steward.runs.records.listed(scope):
        yield "capsule", repr(_members(steward.runs.export(scope, run.id))).encode()
    for file in (steward.settings.home / "blobs").rglob("*"):
        if file.is_file():
            yield f"blob {file.name}", file.read_bytes()
    for cursor, event in enumerate(steward.events.after(scope, 0)):
        yield f"event {cursor}", repr(event).encode()
    archive = folder / "backup.tar.gz"
    backup(
        steward.database,
        steward.blobs,
        steward.keyring,
        archive,
        version="1",
        now=installation.clock.now(),
        include_keys=False,
    )
    yield "backup", repr(_members(archive.read_bytes())).encode()


def _members(archive: bytes) -> list[bytes]:
    if zipfile.is_zipfile(io.BytesIO(archive)):
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return [opened.read(name) for name in opened.namelist()]
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        files = (packed.extractfile(member) for member in packed.getmembers())
        return [file.read() for file in files if file is not None]


def _places(installation: Installation, folder: Path) -> list[str]:
    needles = [text[:HALF].encode() for text in SPELLED.values()]
    return [
        where
        for where, content in _kept(installation, folder)
        if any(needle in content for needle in needles)
    ]


def test_a_secret_typed_into_a_chat_is_written_nowhere_however_it_is_spelled(
    client: TestClient, project: str, installation: Installation, tmp_path: Path
) -> None:
    steward, access = installation.steward, installation.owner.access
    for text in SPELLED.values():
        # The last one is cut in the middle of the secret when it becomes a title.
        for message in (f"How many customers pay with {text}?", f"{'please ' * 11}use {text}"):
            _, run = steward.threads.begin(access, message)
            assert text not in run.title
        asked = {"query_type": "sql", "query": f"SELECT '{'x' * 95}', '{text}'"}
        started = _sent(client, "POST", f"{project}/runs", asked)
        assert text[:HALF] not in started["title"]
    steward.runs.drive_until_idle()
    assert _places(installation, tmp_path) == []


def test_a_secret_typed_into_a_query_of_a_chat_is_replaced_in_all_that_is_shown(
    client: TestClient, project: str, installation: Installation, tmp_path: Path
) -> None:
    done = threading.Event()

    def drive() -> None:
        while not done.wait(0.01):
            installation.steward.runs.drive_until_idle()

    driving = threading.Thread(target=drive)
    driving.start()
    try:
        asked = {"message": f"PYTHON: {'#' * 100}\nprint('{SECRET}')"}
        answer = client.post(f"{project}/chat", json=asked)
    finally:
        done.set()
        driving.join()
    assert answer.status_code == 200, answer.text
    assert SECRET[:HALF] not in answer.text
    assert "[secret:bank]" in answer.text
    assert _places(installation, tmp_path) == []


def test_a_secret_typed_as_an_argument_a_title_or_an_answer_is_written_nowhere(
    client: TestClient, project: str, installation: Installation, runs: Runs, tmp_path: Path
) -> None:
    _sent(client, "POST", f"{project}/threads", {"title": f"About {SECRET}"})
    thread = _sent(client, "POST", f"{project}/threads", {"title": "About nothing"})
    change = {"title": f"Now {SECRET}"}
    headers = {"If-Match": '"1"'}
    _sent(client, "PATCH", f"{project}/threads/{thread['id']}", change, headers=headers)
    question = {"question": f"Is {SECRET} right?"}
    asked = {"tool": "ask_human", "arguments": question, "title": f"Ask for {SECRET}"}
    run_id = _sent(client, "POST", f"{project}/runs", asked)["id"]
    runs.drive_until_idle()
    scope = installation.scope
    wait = (runs.get(scope, run_id).waits or [{}])[0]
    runs.records.signal(scope, run_id, wait["key"], {"answer": f"No: {SECRET}"})
    runs.drive_until_idle()
    _decide_with_secrets(installation, runs.start(scope, "usr_test", RunRequest("A run", "x", {})))
    request = RunRequest(SECRET, "flow", {}, {"password": SECRET})
    made = runs.schedules.create(scope, "usr_test", SECRET, "0 6 * * *", "UTC", request)
    runs.schedules.change(scope, made.id, made.revision, {"name": f"Daily {SECRET}"})
    assert _places(installation, tmp_path) == []


def _decide_with_secrets(installation: Installation, run: Run) -> None:
    """An approval whose title and preview show the secret, approved with the secret in the edit and in the reason."""
    approvals = installation.steward.governing.approvals
    ask = Ask(
        run_id=run.id,
        wait_key="call/approval",
        tool="send_webhook",
        title=f"Send {SECRET}",
        risk="external_send",
        body={"url": "https://example.com"},
        preview={"summary": f"Sends {SECRET}"},
        provenance={},
        rules=[],
        needs=Needs(frozenset(), four_eyes=False, policy=""),
        reason="",
        requested_by="usr_test",
        askers=frozenset(),
    )
    asked = approvals.ask(run.scope, ask)
    edit = replace(ask, body={"url": f"https://{SECRET}"})
    edited = Verdict(True, asked.body_hash, f"Use {SECRET}", edit=edit)
    decided = approvals.decide(installation.owner.access, asked.id, edited)
    assert decided.body == {"url": "https://[secret:bank]"}


PLAYBOOK = """format: 1
id: leaky
name: Leaky
goal: Say SECRET.
budget: {usd: 2}
steps:
  - id: ask
    question: Is it closed?
    form: {type: boolean}
"""
SKILL = "---\nname: leaky\ndescription: Says SECRET\n---\nSay it.\n"
POLICY = '// SECRET\n@id("look") @outcome("allow") permit (principal, action, resource);'
TEXTS: dict[str, tuple[str, str, Callable[[str], dict[str, str]]]] = {
    "playbook": ("POST", "/playbooks", lambda text: {"yaml": PLAYBOOK.replace("SECRET", text)}),
    "comment": ("POST", "/playbooks", lambda text: {"yaml": f"# {text}\n{PLAYBOOK}"}),
    "skill": ("PUT", "/skills/leaky", lambda text: {"skill_md": SKILL.replace("SECRET", text)}),
    "policy": (
        "PUT",
        "/policy/texts/project",
        lambda text: {"text": POLICY.replace("SECRET", text)},
    ),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_that_is_kept_as_it_is_cannot_hold_a_secret(
    client: TestClient, project: str, installation: Installation, tmp_path: Path, kind: str
) -> None:
    method, path, body = TEXTS[kind]
    headers = {"If-Match": '"0"'} if method == "PUT" else {}
    answer = client.request(method, project + path, json=body(SECRET), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "holds-secret"), answer.text
    assert _places(installation, tmp_path) == []
    _sent(client, method, project + path, body("nothing"), headers=headers)


OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "servers": [{"url": "https://api.example.com"}],
    "paths": {"/a": {"get": {"operationId": "look", "summary": "SECRET", "responses": {}}}},
}
RULE = {"name": "SECRET", "figure": "runs", "condition": {"kind": "above", "threshold": 5}}
MAIL = {"host": "mail.example.com", "port": 25, "sender": "a@example.com", "username": "SECRET"}
AGENT = {
    "name": "leaky",
    "title": "Leaky",
    "description": "Helps SECRET.",
    "instructions": "Help.",
    "tools": ["list_datasets"],
}
ENTRY = {"entry": "/tables/people", "value": {"row": "SECRET", "state": "confirmed"}}
MODEL = {"provider": "compatible", "name": "SECRET", "base_url": "http://127.0.0.1:9/v1"}
SIGN_ON = {"name": "SECRET", "issuer": "https://issuer.example.com", "client_id": "steward"}
NAMES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "project": ("PATCH", "", {"name": "SECRET"}),
    "budget": ("POST", "/budgets", {"kind": "agent", "name": "SECRET", "period": "day", "usd": 5}),
    "token": ("POST", "/tokens", {"name": "SECRET", "role": "viewer"}),
    "group": ("PUT", "/approver-groups/SECRET", {"members": []}),
    "alert": ("POST", "/alert-rules", RULE),
    "agent": ("PUT", "/agents/leaky", {"document": AGENT}),
    "model": ("PUT", "/models/project/named/leaky", MODEL),
    "definition": ("POST", "/definitions/changes", {"changes": [ENTRY]}),
    "invitation": ("POST", "/invitations", {"role": "viewer", "email": "SECRET@example.com"}),
    "service": ("POST", "/catalogue/installed", {"name": "things", "text": json.dumps(OPENAPI)}),
    "connection": (
        "POST",
        "/connections",
        {
            "kind": "smtp",
            "name": "post",
            "scope_hint": "SECRET",
            "settings": {**MAIL, "username": "a"},
        },
    ),
    "settings": ("POST", "/connections", {"kind": "smtp", "name": "post", "settings": MAIL}),
    "tools": ("PATCH", "/policy/settings", {"tools": {"http_request": {"allow": ["SECRET.org"]}}}),
    "sign-on": ("POST", "/sign-on/providers", SIGN_ON),
}
SLUG = "zq8-hunter-77k"
REVISIONS = {"project": 1}
REPLACED = {"agent", "definition"}
"""What becomes a call of the broker: there the name of the secret takes its place."""


@pytest.mark.parametrize("kind", NAMES)
def test_no_name_or_description_holds_a_secret(
    client: TestClient, project: str, installation: Installation, tmp_path: Path, kind: str
) -> None:
    """Through whatever door it comes: what is written passes one place, and that refuses it."""
    method, path, body = NAMES[kind]
    installation.steward.secrets.set(installation.scope, "slug", SLUG, author="usr_test")
    headers = {"If-Match": f'"{REVISIONS.get(kind, 0)}"'}

    def send(word: str) -> Any:
        sent = json.loads(json.dumps(body).replace("SECRET", word))
        at = project + path.replace("SECRET", word)
        return client.request(method, at, json=sent, headers=headers)

    answer = send(SLUG)
    if kind in REPLACED:
        assert answer.is_success, answer.text
    else:
        assert (answer.status_code, answer.json()["code"]) == (422, "holds-secret"), answer.text
    assert SLUG not in answer.text
    assert [where for where, kept in _kept(installation, tmp_path) if SLUG.encode() in kept] == []
    if kind in REPLACED:
        return
    accepted = send("nothing")
    assert accepted.is_success, accepted.text


@pytest.mark.usefixtures("project")
def test_a_secret_that_equals_a_rule_does_not_take_the_rule_out(installation: Installation) -> None:
    grant = {"policies": [SECRET], "branch": SECRET, "test": {"mocks": {"a": SECRET}}}
    request = RunRequest("A run", "flow", {}, grant=grant)
    kept = installation.steward.runs.records.without_secrets(installation.scope, request).grant
    assert kept["policies"] == [SECRET]
    assert SECRET not in str([kept["branch"], kept["test"]])


def test_a_secret_typed_as_a_branch_or_as_the_name_of_a_file_is_written_nowhere(
    client: TestClient, project: str, installation: Installation, tmp_path: Path
) -> None:
    started = _sent(client, "POST", f"{project}/uploads", {"name": f"{SECRET}.csv"})
    assert SECRET[:HALF] not in str(started)
    assert _sent(client, "POST", f"{project}/branches", {"name": SECRET})["name"] == "[secret:bank]"
    change = {"operation": "trim", "datasets": ["people"], "branch": SECRET}
    for path, body in (
        ("/undo", {"branch": SECRET}),
        ("/changes", change),
        ("/runs", {"query_type": "sql", "query": "SELECT 1", "branch": SECRET}),
    ):
        client.post(project + path, json=body)
    installation.steward.runs.drive_until_idle()
    assert _places(installation, tmp_path) == []
