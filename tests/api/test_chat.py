"""Chat without a model: queries run at once, streams tell what happens, and hanging up ends the work."""

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx2 as httpx
import pytest
from starlette.testclient import TestClient

from steward.identity import Role
from steward.runs.worker import WorkerThread
from steward.sandbox import Request, Response
from steward.testing import Installation
from tests.api.live import LiveServer

CSV = b"city,people\nRoma,3\nLille,5\nBonn,8\n"


@pytest.fixture
def project(installation: Installation) -> str:
    steward, scope = installation.steward, installation.scope
    if asyncio.run(steward.sandbox.walls()).tier == "none":
        pytest.skip("no walls stand on this machine")
    steward.workbench.bringing.load_text(
        scope, installation.owner.user.id, "cities.csv", CSV.decode(), "cities"
    )
    return f"/api/v1/projects/{scope.project_id}"


@pytest.fixture
def worker(installation: Installation) -> Iterator[None]:
    thread = WorkerThread(installation.steward.runs.worker())
    thread.start()
    yield
    thread.stop()


@pytest.fixture
def client(installation: Installation) -> TestClient:
    return installation.owner.client


def _ask(client: TestClient, project: str, message: str, **more: Any) -> dict[str, Any]:
    answer = client.post(f"{project}/chat", json={"message": message, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.usefixtures("worker")
def test_queries_are_answered_at_once_and_kept_in_their_thread(
    client: TestClient, project: str
) -> None:
    sql = _ask(
        client,
        project,
        "SQL: SELECT city FROM cities WHERE people > $n ORDER BY 1",
        parameters={"n": 4},
    )
    assert (sql["status"], sql["message"]["result"]["rows"]) == ("done", [["Bonn"], ["Lille"]])
    thread = sql["thread_id"]
    plan = "plan:\nsource: cities\norder: [{column: people}]\nlimit: 1"
    planned = _ask(client, project, plan, thread_id=thread)["message"]
    assert planned["result"]["rows"][0][0] == "Roma"
    assert '"cities"' in planned["sql"]
    code = "PYTHON: result = {'${n}': con.sql('SELECT sum(people) FROM cities').fetchone()[0]}"
    ran = _ask(client, project, code, thread_id=thread)["message"]
    assert ran["result"]["result"] == {"${n}": 16}
    wrong = _ask(client, project, "SQL: SELECT nothing FROM cities", thread_id=thread)
    assert (wrong["status"], wrong["message"]["error"]["code"]) == ("failed", "sql-failed")
    assert "nothing" in wrong["answer"]
    page = client.get(f"{project}/threads/{thread}/messages").json()
    assert [(m["query_type"], m["status"]) for m in page["items"]] == [
        ("sql", "failed"),
        ("python", "done"),
        ("plan", "done"),
        ("sql", "done"),
    ]
    newest = page["items"][1]
    assert (newest["question"], newest["code"]) == (code, code.removeprefix("PYTHON: "))
    assert newest["run_id"] == ran["run_id"]
    assert newest["seconds"] is not None
    capsule = client.get(f"{project}/runs/{ran['run_id']}/capsule")
    assert capsule.headers["content-type"] == "application/zip"


@pytest.mark.usefixtures("worker")
def test_without_a_model_nothing_is_pretended(client: TestClient, project: str) -> None:
    said = _ask(client, project, "How many people live in Roma?")
    assert (said["status"], said["turn"]["plans"][0]["made_by"]) == ("done", "rules")
    assert "No language model is set up" in said["turn"]["plans"][0]["said"]
    empty = client.post(f"{project}/chat", json={"message": "SQL:  \n "})
    assert empty.status_code == 422
    nowhere = client.get(f"{project}/threads/thr_{'0' * 26}/messages")
    assert nowhere.status_code == 404
    asked = {"message": "Hello", "thread_id": f"thr_{'0' * 26}"}
    assert client.post(f"{project}/chat", json=asked).status_code == 404


def test_patience_ends_with_the_runs_id(
    client: TestClient, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.api.routes.chat.PATIENCE_SECONDS", 0.05)
    answer = client.post(f"{project}/chat", json={"message": "SQL: SELECT 1"})
    assert answer.status_code == 202
    assert (answer.json()["status"], answer.json()["message"]["query"]) == ("queued", "SELECT 1")


def test_a_viewer_reads_threads_and_asks_nothing(
    installation: Installation, client: TestClient, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.api.routes.chat.PATIENCE_SECONDS", 0.0)
    viewer = installation.person(Role.viewer).client
    thread = client.post(f"{project}/chat", json={"message": "SQL: SELECT 1"}).json()["thread_id"]
    assert len(viewer.get(f"{project}/threads/{thread}/messages").json()["items"]) == 1
    assert viewer.post(f"{project}/chat", json={"message": "SQL: SELECT 1"}).status_code == 403


def test_a_run_is_started_by_a_query(
    installation: Installation, client: TestClient, project: str
) -> None:
    body = {"query_type": "sql", "query": "SELECT sum(people) AS n FROM cities"}
    run = client.post(f"{project}/runs", json=body).json()
    installation.steward.runs.drive_until_idle()
    found = client.get(f"{project}/runs/{run['id']}").json()
    assert (found["status"], found["title"]) == ("done", f"SQL: {body['query']}")
    [call] = client.get(f"{project}/runs/{run['id']}/calls").json()["items"]
    assert [int(value) for value in call["value"]["rows"][0]] == [16]
    assert client.post(f"{project}/runs", json={"query": "SELECT 1"}).status_code == 422


@pytest.fixture
def live(installation: Installation, project: str) -> Iterator[tuple[str, dict[str, str]]]:
    token = installation.by_token(installation.owner, Role.operator).headers["Authorization"]
    with LiveServer(installation) as address:
        yield f"{address}{project}", {"Authorization": token}


def _events(lines: Iterator[str]) -> Iterator[tuple[str, Any]]:
    kind = ""
    for line in lines:
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))


@pytest.mark.usefixtures("worker")
def test_a_stream_tells_what_happens(live: tuple[str, dict[str, str]]) -> None:
    address, headers = live

    def told(message: str) -> list[tuple[str, Any]]:
        with httpx.stream(
            "POST", f"{address}/chat/stream", json={"message": message}, headers=headers, timeout=60
        ) as stream:
            return list(_events(stream.iter_lines()))

    events = told("SQL: SELECT count(*) AS n FROM cities")
    kinds = [kind for kind, _ in events if kind != "status"]
    assert kinds == ["tool_call", "tool_result", "result", "done"]
    assert events[0][0] == "status"
    found = dict(events)
    assert found["tool_call"]["tool"] == "execute_sql"
    assert found["tool_result"]["summary"] == "1 row from 1 dataset"
    assert found["result"]["message"]["result"]["rows"] == [[3]]
    assert found["done"]["status"] == "done"
    failed = told("SQL: DROP TABLE cities")
    assert [kind for kind, _ in failed if kind != "status"] == [
        "tool_call",
        "tool_result",
        "error",
        "result",
        "done",
    ]
    assert dict(failed)["error"]["code"] == "sql-refused"
    planned = [kind for kind, _ in told("How many cities are there?")]
    assert planned[0] == "status"
    assert planned[-2:] == ["result", "done"]
    assert "plan" in planned


@pytest.mark.usefixtures("worker")
def test_hanging_up_ends_the_execution(
    installation: Installation,
    live: tuple[str, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, headers = live
    steward = installation.steward
    begun, ended, over = threading.Event(), threading.Event(), threading.Event()
    execute = steward.sandbox.execute

    async def watched(request: Request) -> Response:
        begun.set()
        try:
            return await execute(request)
        finally:
            ended.set()

    monkeypatch.setattr(steward.sandbox, "execute", watched)
    body = {"message": "PYTHON: while True:\n    pass"}
    stack: Any = httpx.stream(
        "POST", f"{address}/chat/stream", json=body, headers=headers, timeout=60
    )
    with stack as stream:
        events = _events(stream.iter_lines())
        _, first = next(events)
        assert begun.wait(30)
    run_id, scope = first["run_id"], installation.scope

    def look() -> None:
        if steward.runs.get(scope, run_id).status.is_final:
            over.set()

    with steward.runs.listening(run_id, look):
        look()
        assert ended.wait(20), "the execution went on"
        assert over.wait(20), "the run went on"
    assert steward.runs.get(scope, run_id).status.value == "cancelled"
