"""One client cannot hold the server: slow headers and bodies, deep bodies, many streams."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx2 as httpx
import pytest

from steward.api.bodies import MOST_VALUES
from steward.app import open_steward
from steward.core import MovableClock, load_settings
from steward.core.errors import Invalid
from steward.identity import Role
from steward.sandbox.query_plan import QueryPlan
from steward.testing import Installation, fast_passwords
from steward.versions import Draft, checked_dataset_name
from tests.api.live import LiveServer

HTTP = {"header_seconds": 0.3, "body_seconds": 0.3, "streams_per_person": 2}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    settings = load_settings(home=tmp_path_factory.mktemp("limits"), http=HTTP)
    clock = MovableClock(datetime.now(UTC))
    opened = Installation(open_steward(settings, clock=clock, passwords=fast_passwords()), clock)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def address(installation: Installation) -> Iterator[str]:
    with LiveServer(installation) as address:
        yield address


@pytest.fixture
def headers(installation: Installation) -> dict[str, str]:
    client = installation.by_token(installation.owner, Role.owner)
    return {"Authorization": client.headers["Authorization"]}


def _answer(address: str, sent: bytes, then: bytes = b"") -> bytes:
    """Everything the server says until it closes the connection; `then` goes out after its first words."""
    url = httpx.URL(address)
    with socket.create_connection((url.host, url.port), timeout=10) as connection:
        connection.sendall(sent)
        said = connection.recv(65536)
        if then:
            connection.sendall(then)
        while part := connection.recv(65536):
            said += part
        return said


@pytest.mark.parametrize("sent", [b"GET /api/v1/about HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A", b"G"])
def test_half_sent_headers_are_closed(address: str, sent: bytes) -> None:
    assert _answer(address, sent).startswith(b"HTTP/1.1 408 ")


def test_a_connection_on_which_nothing_is_asked_is_closed(address: str) -> None:
    assert _answer(address, b"") == b""


def test_half_sent_headers_of_a_second_request_are_closed(address: str) -> None:
    whole = b"GET /api/v1/about HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    said = _answer(address, whole, b"GET /api/v1/about HTTP/1.1\r\nHo")
    assert said.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 " in said


def test_endless_headers_are_refused(address: str) -> None:
    lines = b"".join(b"X-%d: %s\r\n" % (number, b"y" * 1000) for number in range(100))
    said = _answer(address, b"GET /api/v1/about HTTP/1.1\r\nHost: 127.0.0.1\r\n" + lines)
    assert b" 431 " in said or b" 400 " in said


@pytest.mark.parametrize("sent", [b"", b'{"name": "a'])
def test_a_half_sent_body_is_refused(address: str, headers: dict[str, str], sent: bytes) -> None:
    head = (
        "POST /api/v1/projects HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: 5000\r\nAuthorization: {headers['Authorization']}\r\n\r\n"
    )
    said = _answer(address, head.encode() + sent)
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b'"code":"too-slow"' in said


def test_a_body_that_nobody_reads_is_closed(address: str) -> None:
    head = b"DELETE /api/v1/nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50\r\n\r\n{"
    assert _answer(address, head, b" ").startswith(b"HTTP/1.1 40")


def _nested(depth: int) -> str:
    return '{"name": "x", "a": ' + "[" * depth + "]" * depth + "}"


@pytest.mark.parametrize("depth", [150, 900, 5_000, 90_000])
def test_a_deep_body_is_a_problem_of_the_request(installation: Installation, depth: int) -> None:
    project = f"/api/v1/projects/{installation.scope.project_id}"
    for path in ("/api/v1/projects", f"{project}/runs", f"{project}/policy/check"):
        answer = installation.owner.client.post(
            path, content=_nested(depth), headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 422, answer.text
        said = answer.json()["detail"]
        assert "nested more than 100 deep" in said or "at most 20,000 values" in said


@pytest.mark.parametrize("kind", ["application/JSON", "application/vnd.any+Json"])
def test_a_deep_body_is_found_however_its_kind_is_spelled(
    installation: Installation, kind: str
) -> None:
    answer = installation.owner.client.post(
        "/api/v1/projects", content=_nested(900), headers={"Content-Type": kind}
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "unreadable")


MANY = {
    "values": ("[" + "{}," * MOST_VALUES + "{}]", "at most 20,000 values"),
    "keys": (json.dumps({str(n): n for n in range(MOST_VALUES + 1)}), "at most 20,000 values"),
    "digits": ("[" + ("9" * 4_000 + ",") * 400 + "1]", "at most 300 digits"),
}


@pytest.mark.parametrize("name", MANY)
def test_a_body_that_keeps_the_loop_busy_is_refused_before_anybody_signs_in(
    installation: Installation, name: str
) -> None:
    content, said = MANY[name]
    for path in ("/api/v1/session", "/api/v1/projects"):
        answer = installation.anonymous().post(
            path, content=content, headers={"Content-Type": "application/json"}
        )
        assert (answer.status_code, answer.json()["code"]) == (422, "unreadable")
        assert said in answer.json()["detail"]


def test_an_answer_lists_only_the_first_mistakes(installation: Installation) -> None:
    wrong = {f"unknown {number}": 1 for number in range(1_000)}
    answer = installation.anonymous().post("/api/v1/session", json=wrong)
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 100
    assert "more)" in answer.json()["detail"]


@pytest.mark.parametrize("text", ["[" * 90_000, "{a: " * 20_000, "- " * 40_000])
def test_a_deep_plan_is_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(Invalid, match="nested more than 100 deep"):
        QueryPlan.parse(text)
    assert time.process_time() - began < 1


def test_a_commit_that_was_undone_is_a_conflict_that_the_document_names(
    installation: Installation,
) -> None:
    scope, author = installation.scope, installation.owner.user.id
    versions = installation.steward.workbench.versions
    place = versions.workspace(scope, author=author)
    place.create_branch("undone")
    file = versions.put_file(scope, "a.txt", [b"a"])
    made = place.commit(Draft("Add a file", files={file.path: file.digest}), "undone")
    place.undo(made.id, branch="undone")
    address = f"/api/v1/projects/{scope.project_id}/commits/{made.id}/undo?branch=undone"
    answer = installation.owner.client.get(address)
    assert (answer.status_code, answer.json()["code"]) == (409, "already-undone")


def test_one_person_follows_only_so_many_streams(
    installation: Installation, address: str, headers: dict[str, str]
) -> None:
    project = f"{address}/api/v1/projects/{installation.scope.project_id}"
    events = f"{project}/events/stream"
    chat = {"message": "SQL: SELECT 1"}
    with httpx.Client(headers=headers, timeout=30) as client:
        with client.stream("GET", events) as one, client.stream("GET", events) as two:
            lines = [one.iter_lines(), two.iter_lines()]
            assert [next(each) for each in lines] == [": connected"] * 2
            refused = client.get(events)
            assert (refused.status_code, refused.json()["code"]) == (429, "too-many-streams")
            assert refused.headers["retry-after"]
            assert client.post(f"{project}/chat/stream", json=chat).status_code == 429
            assert client.get(f"{project}/runs").json()["items"] == []
            viewer = installation.person(Role.viewer)
            token = installation.by_token(viewer, Role.viewer).headers["Authorization"]
            other = {"Authorization": token}
            with httpx.stream("GET", events, headers=other, timeout=30) as three:
                assert three.status_code == 200
        installation.steward.bus.wake_all()
        _until_open(client, events)


def _until_open(client: httpx.Client, events: str) -> None:
    """A place is free again once the server has seen that the reader went."""
    seen = threading.Event()
    for _ in range(100):
        with client.stream("GET", events) as stream:
            if stream.status_code == 200:
                return
        seen.wait(0.05)
    raise AssertionError("the places of streams that ended are not given back")


@pytest.mark.parametrize(
    "name", [".", "..", "a\x07b", "a/b", "a\u2028b", "\u202egnp.a", "a\u200bb"]
)
def test_a_dataset_is_called_something_plain(installation: Installation, name: str) -> None:
    upload = "uploads/upload_01kdgq3v0z8r5m2x7c4b9n6t1w"
    address = f"/api/v1/projects/{installation.scope.project_id}/{upload}/ingest"
    answer = installation.owner.client.post(address, json={"dataset": name})
    assert answer.status_code == 422, answer.text
    with pytest.raises(Invalid):
        checked_dataset_name(name)
    with pytest.raises(Invalid):
        Draft("x", datasets={name: "ver_1"}).wanted()
    # What has such a name from before can still be removed.
    assert Draft("x", datasets={name: None}).wanted() == {("dataset", name): None}


def test_a_body_that_names_a_key_twice_is_refused(installation: Installation) -> None:
    answer = installation.owner.client.post(
        "/api/v1/projects",
        content=b'{"name": "One", "name": "Two"}',
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 422, answer.text
    assert "'name' is there twice" in answer.json()["detail"]
