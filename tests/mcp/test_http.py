"""Steward as an MCP server over HTTP, spoken to by the official client."""

import asyncio
import base64
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp_types import (
    BlobResourceContents,
    PromptReference,
    ResourceLink,
    ResourceTemplateReference,
    TextResourceContents,
)

from steward.api.routes import mcp as door
from steward.api.routes.mcp import SESSIONS_PER_PERSON
from steward.broker.tool import Risk
from steward.flows.client_sessions import CALL, SESSION
from steward.identity import Role
from steward.mcp.tools import Tools
from steward.runs import Status
from steward.testing import Installation
from tests.api.live import LiveServer
from tests.mcp.clients import about, load, over_http, set_safe_mode, text_of, token_of

NEWEST, BEFORE = "auto", "legacy"
TRIM = {"dataset": "people", "operation": "trim", "arguments": {"columns": ["name"]}}


def talk(
    installation: Installation,
    say: Callable[[Client], Coroutine[Any, Any, None]],
    role: Role = Role.operator,
    **options: Any,
) -> None:
    token = token_of(installation, role)

    async def speak(address: str) -> None:
        async with over_http(address, token, **options) as client:
            await say(client)

    with LiveServer(installation) as address:
        asyncio.run(speak(address))


def names(installation: Installation) -> list[Any]:
    access = installation.owner.access
    page = installation.steward.workbench.datasets
    version = page.get(access.scope, access.user_id, "people").version
    return [row[0] for row in page.rows(access.scope, version, limit=10).rows]


@pytest.mark.parametrize("mode", [NEWEST, BEFORE])
def test_a_client_reads_changes_and_undoes_in_one_journaled_session(
    installation: Installation, mode: Any
) -> None:
    load(installation)
    before = names(installation)

    async def say(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"clean", "preview", "undo_call", "check_run"} <= tools.keys()
        assert tools["preview"].annotations is not None
        assert tools["preview"].annotations.read_only_hint
        rows = await client.call_tool("preview", {"dataset": "people"})
        # What a stranger wrote is marked as data, and cannot end its own marks.
        assert "<<untrusted " in text_of(rows)
        assert "<<end 0>>" not in text_of(rows)
        changed = await client.call_tool("clean", TRIM)
        assert not changed.is_error
        assert about(changed)["changed"]
        assert names(installation) != before
        undone = await client.call_tool("undo_call", {"run_id": about(changed)["run_id"]})
        assert not undone.is_error, text_of(undone)
        assert names(installation) == before
        again = await client.call_tool("redo_call", {"run_id": about(changed)["run_id"]})
        assert not again.is_error, text_of(again)
        assert names(installation) != before

    talk(installation, say, mode=mode)
    records, scope = installation.steward.runs.records, installation.scope
    sessions = records.listed(scope, program=SESSION)
    assert [run.title for run in sessions] == ["MCP session of Test agent 1.0"]
    calls = records.listed(scope, program=CALL)
    assert {run.parent_id for run in calls} == {sessions[0].id}
    assert len(calls) == 4
    installation.steward.runs.drive_until_idle()
    entries = installation.steward.runs.entries(scope, sessions[0].id, 0, 100)
    told = [entry.data["answer"]["tool"] for entry in entries if "answer" in entry.data]
    assert told == ["preview", "clean", "undo_action", "redo_action"]
    for run in [*sessions, *calls]:
        assert installation.steward.runs.verify(scope, run.id).is_intact
        report = asyncio.run(installation.steward.runs.replay(scope, run.id))
        assert report.is_same, report


def test_resources_and_prompts_are_those_of_the_project(installation: Installation) -> None:
    load(installation)

    async def say(client: Client) -> None:
        listed = (await client.list_resources()).resources
        assert [each.uri for each in listed] == ["steward://datasets/people"]
        read = await client.read_resource("steward://datasets/people")
        content = read.contents[0]
        assert isinstance(content, TextResourceContents)
        assert "Berlin" in content.text
        made = await client.call_tool("render_xlsx", {"dataset": "people"})
        assert not made.is_error, text_of(made)
        file = about(made)["files"][0]
        shown = (await client.read_resource(file["uri"])).contents[0]
        assert isinstance(shown, BlobResourceContents)
        assert len(base64.b64decode(shown.blob)) == file["size"]
        assert file["uri"] in [each.uri for each in (await client.list_resources()).resources]
        prompts = [each.name for each in (await client.list_prompts()).prompts]
        skill = next(name for name in prompts if name.startswith("skill:"))
        assert (await client.get_prompt(skill)).messages
        for wrong in ("steward://datasets/none", "steward://other", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await client.read_resource(wrong)

    talk(installation, say)
    calls = installation.steward.runs.records.listed(installation.scope, program=CALL)
    assert {run.title for run in calls} >= {"Look at rows"}


def test_a_token_calls_no_more_than_its_role(installation: Installation) -> None:
    load(installation)
    before = names(installation)

    async def say(client: Client) -> None:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert "clean" not in listed
        assert "undo_call" not in listed
        refused = await client.call_tool("clean", TRIM)
        assert refused.is_error
        assert "viewer" in text_of(refused)
        for hidden in ("undo_action", "change_definitions", "no_such_tool", "ask_human"):
            with pytest.raises(MCPError, match="There is no"):
                await client.call_tool(hidden, {})

    talk(installation, say, Role.viewer)
    assert names(installation) == before


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.runner])
def test_each_role_is_offered_what_it_may_call(installation: Installation, role: Role) -> None:
    access = replace(installation.owner.access, role=role)
    offered = Tools(installation.steward).listed(access)
    known = {
        tool.name: tool for tool in installation.steward.governing.broker.tools.listed(access.scope)
    }
    for tool in known.values():
        harmless = tool.risk.at_most(Risk.compute)
        closed = tool.direct_only or tool.name == "ask_human" or not (role.acts or harmless)
        assert (tool.name in {each.name for each in offered}) is not closed, tool.name
    turns = {each.name for each in offered} - known.keys()
    assert turns == ({"check_run", "undo_call", "redo_call"} if role.acts else {"check_run"})


@pytest.mark.parametrize("mode", [NEWEST, BEFORE])
def test_a_client_that_cannot_ask_finds_its_call_in_the_inbox(
    installation: Installation, mode: Any
) -> None:
    load(installation)
    set_safe_mode(installation)
    before = names(installation)

    async def say(client: Client) -> None:
        waits = await client.call_tool("clean", TRIM)
        assert not waits.is_error
        assert about(waits)["status"] == "waiting_for_approval"
        assert "inbox" in text_of(waits)
        assert names(installation) == before
        # The session goes on while one of its calls waits.
        assert not (await client.call_tool("preview", {"dataset": "people"})).is_error
        await asyncio.to_thread(approve, installation)
        done = await client.call_tool("check_run", {"run_id": about(waits)["run_id"]})
        assert about(done)["status"] == "done", text_of(done)
        assert names(installation) != before

    talk(installation, say, mode=mode)


def approve(installation: Installation) -> None:
    client = installation.owner.client
    base = f"/api/v1/projects/{installation.scope.project_id}"
    waiting = client.get(f"{base}/inbox").json()["items"]
    approval = next(each["approval"] for each in waiting if each["approval"])
    body = {"approve": True, "body_hash": approval["body_hash"]}
    answer = client.post(f"{base}/approvals/{approval['id']}/decision", json=body)
    assert answer.status_code == 200, answer.text


def test_runs_of_others_are_closed_to_a_client(installation: Installation) -> None:
    load(installation)
    base = f"/api/v1/projects/{installation.scope.project_id}"
    body = {"operation": "trim", "datasets": ["people"], "arguments": {"columns": ["name"]}}
    answer = installation.owner.client.post(f"{base}/changes", json=body)
    assert answer.is_success, answer.text
    by_hand = installation.steward.runs.records.listed(installation.scope, limit=1)[0]

    async def say(client: Client) -> None:
        for tool in ("undo_call", "redo_call", "check_run"):
            refused = await client.call_tool(tool, {"run_id": by_hand.id})
            assert refused.is_error
            assert "There is no run" in text_of(refused)

    talk(installation, say)
    assert installation.steward.runs.get(installation.scope, by_hand.id).status is Status.done


def test_wrong_arguments_are_told_with_their_place(installation: Installation) -> None:
    load(installation)

    async def say(client: Client) -> None:
        wrong = await client.call_tool("preview", {"dataset": "people", "limit": -1, "more": 1})
        assert wrong.is_error
        assert "limit" in text_of(wrong)
        deep: Any = []
        for _ in range(200):
            deep = [deep]
        with pytest.raises(MCPError):
            await client.call_tool("preview", {"dataset": deep})
        with pytest.raises(MCPError):
            await client.list_tools(cursor="made up")

    talk(installation, say)


def test_without_a_token_of_its_own_nobody_speaks(installation: Installation) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"Accept": "application/json, text/event-stream"}
    runner = installation.person(Role.runner)
    with LiveServer(installation) as address, httpx2.Client(trust_env=False) as web:
        url = f"{address}/mcp"
        assert web.post(url, json=hello, headers=headers).status_code == 401
        bad = {**headers, "Authorization": "Bearer stw_none"}
        assert web.post(url, json=hello, headers=bad).status_code == 401
        little = {
            **headers,
            "Authorization": f"Bearer {token_of(installation, Role.runner, runner)}",
        }
        assert web.post(url, json=hello, headers=little).status_code == 403
        cookies = installation.owner.client.cookies.items()
        browser = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies)}
        signed = web.post(url, json=hello, headers={**headers, **browser})
        assert signed.status_code in {401, 403}


def test_one_tokens_session_is_no_use_to_another(installation: Installation) -> None:
    first, second = (token_of(installation, Role.viewer) for _ in range(2))
    start = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    }
    headers = {"Accept": "application/json, text/event-stream"}
    with LiveServer(installation) as address, httpx2.Client(trust_env=False) as web:
        url = f"{address}/mcp"
        opened = web.post(url, json=start, headers={**headers, "Authorization": f"Bearer {first}"})
        assert opened.status_code == 200, opened.text
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        stolen = {**headers, **session, "Authorization": f"Bearer {second}"}
        assert web.post(url, json=ping, headers=stolen).status_code == 404
        own = {**headers, **session, "Authorization": f"Bearer {first}"}
        assert web.post(url, json=ping, headers=own).status_code == 200


def test_one_person_cannot_take_all_sessions(installation: Installation) -> None:
    first = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "Many", "version": "1"},
        },
    }
    colleague = installation.person(Role.operator)

    def headers(token: str) -> dict[str, str]:
        said = "application/json, text/event-stream"
        return {"Authorization": f"Bearer {token}", "Accept": said}

    mine = headers(token_of(installation, Role.operator))
    theirs = headers(token_of(installation, Role.operator, colleague))
    with LiveServer(installation) as address, httpx2.Client(trust_env=False, timeout=60) as web:
        url = f"{address}/mcp"
        opened = [web.post(url, json=first, headers=mine) for _ in range(SESSIONS_PER_PERSON)]
        assert {each.status_code for each in opened} == {200}
        refused = web.post(url, json=first, headers=mine)
        assert refused.status_code == 429
        assert refused.json()["code"] == "too-many-sessions"
        assert web.post(url, json=first, headers=theirs).status_code == 200
        # One that is ended gives its place free.
        session = opened[0].headers["mcp-session-id"]
        assert web.delete(url, headers={**mine, "mcp-session-id": session}).status_code == 200
        assert web.post(url, json=first, headers=mine).status_code == 200


def test_requests_without_a_session_take_no_place_of_one(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "SESSIONS_PER_PERSON", 1)
    token = token_of(installation, Role.viewer)

    async def say(address: str) -> None:
        async with over_http(address, token, mode=BEFORE) as old:
            await old.list_tools()
            async with over_http(address, token, mode=NEWEST) as new:
                assert (await new.list_tools()).tools

    with LiveServer(installation) as address:
        asyncio.run(say(address))


def test_small_files_of_a_call_are_in_its_result_and_others_are_linked(
    installation: Installation,
) -> None:
    load(installation)

    async def say(client: Client) -> None:
        made = await client.call_tool("render_xlsx", {"dataset": "people"})
        linked = [each for each in made.content if isinstance(each, ResourceLink)]
        assert [each.uri for each in linked] == [about(made)["files"][0]["uri"]]

    talk(installation, say)


def test_names_of_datasets_are_completed_for_those_who_may_see_them(
    installation: Installation,
) -> None:
    load(installation)
    load(installation, name="pets")

    async def say(client: Client) -> None:
        template = ResourceTemplateReference(uri="steward://datasets/{name}")
        found = await client.complete(template, {"name": "name", "value": "PE"})
        assert found.completion.values == ["people", "pets"]
        unknown = PromptReference(name="playbook:none")
        assert not (await client.complete(unknown, {"name": "a", "value": ""})).completion.values

    talk(installation, say, Role.viewer)
