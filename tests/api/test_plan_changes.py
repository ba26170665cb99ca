"""A plan under review is changed by a person: what it may name, what is wrong with it and where, what was changed; and what a thread produced."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from steward.identity import Role
from steward.testing import Installation
from tests.api.chat_stage import working

pytestmark = pytest.mark.every_database

CSV = b"city,people\nRoma,3\nLille,5\n=Bonn,8\n"


@pytest.fixture
def project(installation: Installation) -> Iterator[str]:
    steward, scope = installation.steward, installation.scope
    steward.workbench.bringing.load_text(
        scope, installation.owner.user.id, "places.csv", CSV.decode(), "places"
    )
    with working(steward):
        yield f"/api/v1/projects/{scope.project_id}"


@pytest.fixture
def client(installation: Installation) -> TestClient:
    return installation.owner.client


def _asked(client: TestClient, project: str, message: str, review: str = "always") -> str:
    """A turn whose plan waits; its address."""
    made = client.post(f"{project}/threads", json={"settings": {"review": review}}).json()
    told = client.post(f"{project}/chat", json={"message": message, "thread_id": made["id"]})
    return f"{project}/threads/{made['id']}/turns/{told.json()['run_id']}"


def _over(client: TestClient, turn: str) -> dict[str, Any]:
    assert "event: done" in client.get(f"{turn}/stream").text
    found: dict[str, Any] = client.get(turn).json()
    return found


def _changed(client: TestClient, turn: str, plan: dict[str, Any]) -> Any:
    return client.post(f"{turn}/review", json={"decision": "change", "plan": plan})


def test_a_changed_plan_runs_and_shows_what_was_planned_at_first(
    client: TestClient, project: str, installation: Installation
) -> None:
    turn = _asked(client, project, "Show 2 rows of places")
    shown = client.get(turn).json()["plans"][0]
    assert shown["review"]["state"] == "waiting"
    assert shown["proposed"] is None
    plan = shown["plan"]
    first = {**plan["steps"][0], "title": "One row is enough"}
    first["arguments"] = {**first["arguments"], "limit": 1}
    look = {"id": "look", "title": "List all", "agent": "data-analyst", "tools": ["list_datasets"]}

    answer = _changed(client, turn, {**plan, "steps": [look, first]})

    assert answer.status_code == 204, answer.text
    over = _over(client, turn)
    changed = over["plans"][0]
    assert changed["review"] == {
        "state": "changed",
        "by": installation.owner.user.id,
        "skip": [],
    }
    assert changed["proposed"] == plan
    assert [step["title"] for step in over["steps"]] == ["List all", "One row is enough"]
    assert [step["status"] for step in over["steps"]] == ["done", "done"]
    assert len(over["steps"][1]["calls"][0]["value"]["rows"]) == 1


def test_mistakes_in_a_changed_plan_are_told_at_their_place_and_change_nothing(
    client: TestClient, project: str
) -> None:
    turn = _asked(client, project, "Show 2 rows of places")
    plan = client.get(turn).json()["plans"][0]["plan"]
    (step,) = plan["steps"]
    wrong = [
        {**step, "arguments": {**step["arguments"], "limit": -4}},
        {**step, "id": "other", "tools": ["no_such_tool"], "arguments": {}},
        {**step, "id": "third", "arguments": {**step["arguments"], "dataset": "towns"}},
        {**step, "id": "last", "title": ""},
    ]

    answer = _changed(client, turn, {**plan, "steps": wrong})

    assert answer.status_code == 422
    assert answer.json()["code"] == "plan-refused"
    places = {each["pointer"] for each in answer.json()["errors"]}
    assert {
        "/plan/steps/0/arguments/limit",
        "/plan/steps/1/tools/0",
        "/plan/steps/2/arguments/dataset",
        "/plan/steps/3/title",
    } <= places
    assert client.get(turn).json()["plans"][0]["review"]["state"] == "waiting"


def test_options_name_what_each_agent_may_be_given(
    client: TestClient, project: str, installation: Installation
) -> None:
    turn = _asked(client, project, "Show 2 rows of places")

    options = client.get(f"{turn}/plan-options").json()

    tools = {tool["name"]: tool for tool in options["tools"]}
    assert tools["preview"]["arguments"]["properties"]["limit"]
    agents = {agent["name"]: agent["tools"] for agent in options["agents"]}
    assert "clean" in agents["data-engineer"]
    assert "clean" not in agents["data-analyst"]
    assert set().union(*agents.values()) <= set(tools)
    viewer = installation.person(Role.viewer).client
    plan = client.get(turn).json()["plans"][0]["plan"]
    assert _changed(viewer, turn, plan).status_code == 403


def _step(name: str, agent: str, tool: str, arguments: dict[str, Any], *needs: str) -> Any:
    return {
        "id": name,
        "title": f"Do {name}",
        "agent": agent,
        "tools": [tool],
        "arguments": arguments,
        "needs": needs,
    }


TRIM = {"dataset": "places", "operation": "trim", "arguments": {"columns": ["city"]}}
STEPS = [
    _step("look", "data-analyst", "preview", {"dataset": "places", "limit": 1}),
    _step("trim", "data-engineer", "clean", TRIM, "look"),
    _step("draw", "data-analyst", "preview", {"dataset": "places"}, "trim"),
]


def test_a_step_that_was_left_out_is_applied_later(
    client: TestClient, project: str, installation: Installation
) -> None:
    thread, run = installation.steward.threads.begin(
        installation.owner.access,
        "Three steps",
        extra={"plan": {"goal": "Three steps", "steps": STEPS}, "review": "always"},
    )
    turn = f"{project}/threads/{thread.id}/turns/{run.id}"
    early = client.post(f"{turn}/steps/trim/apply")
    assert early.status_code in {404, 409}
    # It waits before it can be decided: the stream tells so.
    with client.stream("GET", f"{turn}/stream") as events:
        next(line for line in events.iter_lines() if "waiting_for_approval" in line)
    skipped = {"decision": "approve", "skip": ["trim", "draw"]}
    assert client.post(f"{turn}/review", json=skipped).status_code == 204
    assert [step["status"] for step in _over(client, turn)["steps"]] == [
        "done",
        "skipped",
        "skipped",
    ]

    done = client.post(f"{turn}/steps/look/apply")
    assert (done.status_code, done.json()["code"]) == (409, "step-done")
    later = client.post(f"{turn}/steps/draw/apply")
    assert (later.status_code, later.json()["code"]) == (409, "step-needs-another")
    assert "Do trim" in later.json()["detail"]
    assert client.post(f"{turn}/steps/none/apply").status_code == 404
    viewer = installation.person(Role.viewer).client
    assert viewer.post(f"{turn}/steps/trim/apply").status_code == 403

    begun = client.post(f"{turn}/steps/trim/apply")

    assert begun.status_code == 201, begun.text
    again = f"{project}/threads/{thread.id}/turns/{begun.json()['run_id']}"
    with client.stream("GET", f"{again}/stream") as events:
        next(line for line in events.iter_lines() if "waiting_for_approval" in line)
    shown = client.get(again).json()
    assert (shown["message"], shown["parent"]) == ("Do trim", run.id)
    assert [step["id"] for step in shown["steps"]] == ["look", "trim"]
    assert client.post(f"{again}/review", json={"decision": "approve"}).status_code == 204
    assert [step["status"] for step in _over(client, again)["steps"]] == ["done", "done"]


def test_a_thread_lists_what_its_turns_produced_page_by_page(
    client: TestClient, project: str, installation: Installation
) -> None:
    turn = _asked(client, project, "Show 3 rows of places", review="never")
    _over(client, turn)
    thread = turn.partition("/turns/")[0]
    again = client.post(
        f"{project}/chat",
        json={"message": "Histogram of people in places", "thread_id": thread.rpartition("/")[2]},
    ).json()
    _over(client, f"{thread}/turns/{again['run_id']}")

    whole = client.get(f"{thread}/artifacts").json()
    kinds = [item["kind"] for item in whole["items"]]
    assert kinds[-1] == "table"
    assert "chart" in kinds
    assert whole["next_cursor"] is None
    table = whole["items"][-1]
    assert table["columns"] == ["city", "people"]
    assert table["rows_in_all"] == 3
    assert table["step_title"]

    pages, cursor = [], None
    while True:
        params = {"limit": 1} | ({"cursor": cursor} if cursor else {})
        page = client.get(f"{thread}/artifacts", params=params).json()
        pages += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        assert len(page["items"]) == 1
    assert pages == whole["items"]
    charts = client.get(f"{thread}/artifacts", params={"kind": "chart"}).json()["items"]
    assert {item["kind"] for item in charts} == {"chart"}
    assert client.get(f"{thread}/artifacts", params={"kind": "song"}).status_code == 422

    rows = client.get(f"{turn}/table", params={"key": table["key"]})
    assert rows.headers["content-type"].startswith("text/csv")
    assert rows.text.splitlines()[0] == "city,people"
    assert "'=Bonn,8" in rows.text.splitlines()
    assert client.get(f"{turn}/table", params={"key": "p1/none/call/1"}).status_code == 404
    elsewhere = thread.replace(installation.scope.project_id, installation.project("Second"))
    assert client.get(f"{elsewhere}/artifacts").status_code == 404
