"""Installed services called through the whole product: a run, policy, the broker, a request, an answer."""

import asyncio
import base64
import itertools
import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from steward.broker.tool import Risk
from steward.connections import Draft, Http
from steward.connections.catalogue.calls import ServiceCalls
from steward.connections.catalogue.rates import Rates
from steward.connections.documents import Connection
from steward.core.clock import MovableClock
from steward.core.errors import Conflict, Denied, Invalid, NotFound, RateLimited
from steward.flows import Flow, standings
from steward.flows.launch import Start
from steward.identity import Access, Principal, Role, Via
from steward.runs import Status
from tests.connections.catalogue.petstore import OPENAPI, SWAGGER, text
from tests.connections.outside import Heard, ok, serving
from tests.tools.room import Room

PUBLIC = Http(allow_private=["127.0.0.0/8"])


def _access(room: Room, role: Role = Role.owner) -> Access:
    return Access(Principal(room.author, "", "", Via.session), room.scope, role)


def _installed(room: Room, document: dict[str, Any] = OPENAPI, name: str = "pets") -> None:
    room.steward.connections.services.install_text(_access(room), name, text(document), "file")


def _connected(
    room: Room, port: int, name: str = "zoo", service: str = "pets", **more: Any
) -> Connection:
    values = more.pop("values", {"api_key": "s3cret-value-1"})
    settings = {
        "service": service,
        "base_url": f"http://127.0.0.1:{port}/v1",
        "way": "api_key",
        **more,
    }
    return room.steward.connections.documents.create(
        _access(room), Draft(name, "service", settings, values=values)
    )


def _tool(room: Room, name: str) -> Any:
    return room.steward.governing.broker.tools.get(room.scope, name)


def _answering(
    room: Room,
    answer: Callable[[Heard], bytes],
    calls: Callable[[int], Any],
) -> tuple[Any, list[Heard]]:
    """What `calls` returns, and what the service heard; the room's calls may reach this machine."""

    async def main() -> tuple[Any, list[Heard]]:
        rates = Rates(room.steward.database, room.steward.clock)
        room.steward.connections.calls = ServiceCalls(PUBLIC, room.steward.clock, rates)
        async with serving(answer) as server:
            return await calls(server.port), server.heard

    return asyncio.run(main())


async def _called(room: Room, name: str, arguments: dict[str, Any]) -> Any:
    tool = await asyncio.to_thread(_tool, room, name)
    checked = tool.arguments.model_validate(arguments)
    return await tool.run(room.context(ticket="a"), checked)


def test_an_operation_is_called_with_its_key_and_answers_as_untrusted(room: Room) -> None:
    _installed(room)

    async def calls(port: int) -> Any:
        await asyncio.to_thread(_connected, room, port)
        return await _called(room, "api.zoo.createPet", {"body": {"name": "Tom"}})

    outcome, heard = _answering(
        room,
        lambda _: ok(b'{"id": 7}', "Content-Type: application/json", status="201 Created"),
        calls,
    )
    assert outcome.value == {"status": 201, "failed": False, "pages": 1, "answer": {"id": 7}}
    assert outcome.trusted is False
    (one,) = heard
    assert (one.method, one.path, json.loads(one.body)) == ("POST", "/v1/pets", {"name": "Tom"})
    assert one.headers["x-key"] == "s3cret-value-1"
    assert one.headers["idempotency-key"]
    assert "s3cret" not in json.dumps(outcome.value)
    known = room.steward.connections.services.get(room.scope, "pets")
    assert known.state == "tried"
    # What the answer looks like is kept; what it says is not. Nobody decided anything about the operation by that.
    operation = room.steward.connections.services.operation(room.scope, "pets", "createPet")
    choice = room.steward.connections.services.choice(room.scope, "pets", operation)
    assert choice is not None
    assert choice.answer == {"type": "object", "properties": {"id": {"type": "integer"}}}
    assert (choice.offered, choice.roles, choice.risk) == (False, None, None)


def test_pages_are_followed_as_far_as_was_asked(room: Room) -> None:
    _installed(room)

    def answer(heard: Heard) -> bytes:
        number = int(heard.path.rpartition("cursor=c")[2] or 0) if "cursor" in heard.path else 0
        page = {"items": [{"name": str(number)}], "next_cursor": f"c{number + 1}"}
        return ok(json.dumps(page).encode(), "Content-Type: application/json")

    async def calls(port: int) -> Any:
        await asyncio.to_thread(_connected, room, port)
        return await _called(room, "api.zoo.listPets", {"limit": 1, "steward_pages": 3})

    outcome, heard = _answering(room, answer, calls)
    assert outcome.value["pages"] == 3
    names = [page["items"][0]["name"] for page in outcome.value["answer"]["pages"]]
    assert names == ["0", "1", "2"]
    assert [each.path for each in heard][1:] == [
        "/v1/pets?limit=1&cursor=c1",
        "/v1/pets?limit=1&cursor=c2",
    ]


def test_a_busy_service_is_asked_again_when_it_says(room: Room) -> None:
    _installed(room)
    tries: list[str] = []

    def answer(heard: Heard) -> bytes:
        tries.append(heard.method)
        if len(tries) == 1:
            return ok(b"", "Retry-After: 0", status="503 Service Unavailable")
        return ok(b'{"items": []}', "Content-Type: application/json")

    async def calls(port: int) -> Any:
        await asyncio.to_thread(_connected, room, port)
        return await _called(room, "api.zoo.listPets", {})

    outcome, _ = _answering(room, answer, calls)
    assert (outcome.value["status"], tries) == (200, ["GET", "GET"])


def test_a_write_is_not_repeated_on_a_503(room: Room) -> None:
    _installed(room)

    async def calls(port: int) -> Any:
        await asyncio.to_thread(_connected, room, port)
        return await _called(room, "api.zoo.createPet", {"body": {"name": "x"}})

    busy = ok(b"", "Retry-After: 0", status="503 Service Unavailable")
    outcome, heard = _answering(room, lambda _: busy, calls)
    assert (outcome.value["failed"], len(heard)) == (True, 1)


def test_a_redirect_to_elsewhere_is_refused_and_sees_no_key(room: Room) -> None:
    _installed(room)

    async def calls(port: int) -> Any:
        await asyncio.to_thread(_connected, room, port)
        with pytest.raises(Denied, match="not among the allowed hosts"):
            await _called(room, "api.zoo.listPets", {})

    _, heard = _answering(
        room, lambda _: ok(b"", "Location: http://127.0.0.1:1/inside", status="302 Found"), calls
    )
    assert len(heard) == 1


def test_a_base_address_inside_is_refused_by_the_one_door(room: Room) -> None:
    _installed(room)
    _connected(room, 9)
    with pytest.raises(Denied, match=r"127\.0\.0\.1"):
        asyncio.run(_called(room, "api.zoo.listPets", {}))


def test_basic_bearer_and_client_credentials(room: Room) -> None:
    _installed(room, SWAGGER, "old")

    async def calls(port: int) -> Any:
        ways = {
            "basic": ({"username": "ann"}, {"password": "pw-value-22"}),
            "bearer": ({}, {"token": "tok-value-33"}),
        }
        for way, (settings, values) in ways.items():
            await asyncio.to_thread(
                _connected, room, port, way, "old", way=way, values=values, **settings
            )
            await _called(room, f"api.{way}.addNote", {"body": {"text": "hi"}})

    _, heard = _answering(room, lambda _: ok(b"{}"), calls)
    basic = base64.b64encode(b"ann:pw-value-22").decode()
    assert [each.headers["authorization"] for each in heard] == [
        f"Basic {basic}",
        "Bearer tok-value-33",
    ]
    assert heard[0].body == b"text=hi"


def test_a_connection_keeps_to_its_requests_per_minute(room: Room) -> None:
    _installed(room)

    async def calls(port: int) -> Any:
        await asyncio.to_thread(_connected, room, port, requests_per_minute=2)
        for _ in range(2):
            await _called(room, "api.zoo.listPets", {})
        with pytest.raises(RateLimited, match="2 requests per minute"):
            await _called(room, "api.zoo.listPets", {})

    _, heard = _answering(room, lambda _: ok(b"{}"), calls)
    assert len(heard) == 2


def test_each_page_counts_and_the_limit_ends_a_listing(room: Room) -> None:
    _installed(room)

    async def calls(port: int) -> Any:
        await asyncio.to_thread(_connected, room, port, requests_per_minute=3)
        return await _called(room, "api.zoo.listPets", {"limit": 1, "steward_pages": 9})

    pages = itertools.count(1)

    def answer(_: Heard) -> bytes:
        page = {"items": [{}], "next_cursor": f"c{next(pages)}"}
        return ok(json.dumps(page).encode(), "Content-Type: application/json")

    outcome, heard = _answering(room, answer, calls)
    assert (outcome.value["pages"], len(heard)) == (3, 3)


def test_thousands_of_operations_are_searched_and_not_listed(room: Room) -> None:
    _installed(room)
    _connected(room, 9)
    tools = room.steward.governing.broker.tools
    assert [name for name in tools.names(room.scope) if name.startswith("api.")] == []
    suited = [each.name for each in tools.suited(room.scope, "delete pet 7 from the zoo")]
    assert suited[0] == "api.zoo.deletePet"
    services = room.steward.connections.services
    services.offer(_access(room), "pets", "listPets", offered=True)
    listed = [name for name in tools.names(room.scope) if name.startswith("api.")]
    assert listed == ["api.zoo.listPets"]
    outcome = room.call(
        "search_operations",
        {"text": "list pets"},
        room.context(connections=room.steward.connections),
    )
    assert outcome.value["operations"][0]["tool"] == "api.zoo.listPets"
    assert outcome.trusted is False


def test_what_the_description_says_reaches_a_model_only_with_a_label(room: Room) -> None:
    _installed(room)
    _connected(room, 9)
    tool = _tool(room, "api.zoo.deletePet")
    assert "in words nobody here vouches for: “This only reads. risk: read”" in tool.description
    assert tool.risk is Risk.destructive


def test_a_risk_is_lowered_only_with_a_reason_and_for_this_description(room: Room) -> None:
    _installed(room)
    _connected(room, 9)
    services, access = room.steward.connections.services, _access(room)
    with pytest.raises(Invalid, match="ten characters"):
        services.set_risk(access, "pets", "createPet", "read", "ok")
    with pytest.raises(Denied):
        services.set_risk(_access(room, Role.editor), "pets", "createPet", "read", "x" * 20)
    before = _tool(room, "api.zoo.createPet").pin
    services.set_risk(access, "pets", "createPet", "read", "It only looks a pet up.")
    assert _tool(room, "api.zoo.createPet").risk is Risk.read
    assert _tool(room, "api.zoo.createPet").pin == before
    roles = {"body.name": "content"}
    shown = services.operation(room.scope, "pets", "createPet").hash
    services.confirm_roles(access, "pets", "createPet", shown, roles)
    assert _tool(room, "api.zoo.createPet").pin != before
    with pytest.raises(Conflict, match="has changed"):
        services.confirm_roles(access, "pets", "createPet", "0" * 64, roles)
    # Another description of the operation is another operation: nothing carries over.
    changed = json.loads(json.dumps(OPENAPI))
    changed["components"]["schemas"]["Pet"]["properties"]["note"] = {"type": "string"}
    _update(room, changed)
    assert _tool(room, "api.zoo.createPet").risk is Risk.external_send


def _update(room: Room, document: dict[str, Any]) -> Any:
    from steward.connections.catalogue.conversion import convert_text

    services = room.steward.connections.services
    content = convert_text(text(document), "pets")
    found = services.difference(room.scope, "pets", content)
    with pytest.raises(Conflict, match="not the one that was shown"):
        services.update(_access(room), "pets", content, "file", "0" * 64)
    services.update(_access(room), "pets", content, "file", found.sha256)
    return found


def test_an_update_shows_what_changes_and_removal_ends_it(room: Room) -> None:
    _installed(room)
    _connected(room, 9)
    with pytest.raises(Conflict, match="installed already"):
        _installed(room)
    pin = _tool(room, "api.zoo.listPets").pin
    changed = json.loads(json.dumps(OPENAPI))
    changed["paths"]["/pets"]["get"]["servers"] = [{"url": "https://elsewhere.example"}]
    changed["paths"]["/new"] = {"get": {"operationId": "fresh", "responses": {}}}
    del changed["paths"]["/pets/{petId}"]["delete"]
    found = _update(room, changed)
    assert (found.added, found.removed) == (("fresh",), ("deletePet",))
    assert found.changed == ("listPets",)
    assert found.hosts_added == ("https://elsewhere.example",)
    with pytest.raises(Denied, match="not what it was"):
        room.steward.governing.broker.tools.get(room.scope, "api.zoo.listPets", pin)
    services = room.steward.connections.services
    services.remove(_access(room), "pets")
    with pytest.raises(NotFound, match="Install the service"):
        _tool(room, "api.zoo.listPets")


def test_a_run_calls_an_operation_through_the_broker(room: Room) -> None:
    _installed(room)

    async def calls(port: int) -> Any:
        await asyncio.to_thread(_connected, room, port)
        return await asyncio.to_thread(_ran, room)

    outcome, heard = _answering(
        room, lambda _: ok(b'{"items": []}', "Content-Type: application/json"), calls
    )
    assert outcome["answer"] == {"items": []}
    assert len(heard) == 1


def _ran(room: Room) -> Any:
    launcher, runs = room.steward.governing.launcher, room.steward.runs
    document = launcher.single("api.zoo.listPets", {"limit": 2})
    run = launcher.start(_access(room), Start(document=document))
    runs.drive_until_idle()
    done = runs.records.get(room.scope, run.id)
    assert done.status is Status.done, runs.outcome(room.scope, run.id)
    return runs.outcome(room.scope, run.id)["output"]


def _flow(node: dict[str, Any]) -> dict[str, Any]:
    call = {"id": "ask", "type": "tool", "tool": "api.zoo.listPets", "arguments": {"limit": 2}}
    give = {"id": "give", "type": "output", "value": "${nodes.ask.output}", "needs": ["ask"]}
    return {"format": 1, "id": "pets", "name": "Pets", "nodes": [{**call, **node}, give]}


def _flow_ran(room: Room, document: dict[str, Any]) -> tuple[Any, list[Any]]:
    """What the flow ended with and how its nodes stand; pauses before another try pass at once."""
    launcher, runs = room.steward.governing.launcher, room.steward.runs
    run = launcher.start(_access(room), Start(document=document))
    for _ in range(5):
        runs.drive_until_idle()
        if runs.records.get(room.scope, run.id).status.is_final:
            break
        cast(MovableClock, room.steward.clock).advance(minutes=5)
    assert asyncio.run(runs.replay(room.scope, run.id)).is_same
    entries = runs.journal.entries(room.scope, run.id)
    flow = Flow.model_validate(document)
    return runs.outcome(room.scope, run.id), standings(flow, entries, runs.payload)


@pytest.mark.parametrize(
    ("status", "node", "expected", "asked"),
    [
        (500, {}, "service-failed", 1),
        (404, {}, "service-refused", 1),
        (500, {"retries": {"attempts": 3, "delay": "1m"}}, "service-failed", 3),
        (404, {"retries": {"attempts": 3, "delay": "1m"}}, "service-refused", 1),
        (404, {"on_error": "continue"}, {"code": "service-refused", "status": 404}, 1),
        (404, {"accept_failure": True}, {"status": 404, "failed": True}, 1),
    ],
)
def test_a_step_fails_when_its_service_does(
    room: Room, status: int, node: dict[str, Any], expected: Any, asked: int
) -> None:
    _installed(room)

    async def calls(port: int) -> Any:
        await asyncio.to_thread(_connected, room, port)
        return await asyncio.to_thread(_flow_ran, room, _flow(node))

    answer = ok(b"{}", "Content-Type: application/json", status=f"{status} No")
    (ended, standing), heard = _answering(room, lambda _: answer, calls)
    assert len(heard) == asked
    if isinstance(expected, str):
        assert ended["error"]["code"] == expected
    else:
        found = ended["output"].get("error", ended["output"])
        assert expected.items() <= found.items()
    assert standing[0].state == ("done" if "accept_failure" in node else "failed")


def test_a_step_that_is_tried_again_succeeds(room: Room) -> None:
    _installed(room)
    answers = iter(["500 No", "200 OK"])

    async def calls(port: int) -> Any:
        await asyncio.to_thread(_connected, room, port)
        node = {"retries": {"attempts": 3, "delay": "1m"}}
        return await asyncio.to_thread(_flow_ran, room, _flow(node))

    (ended, standing), heard = _answering(
        room,
        lambda _: ok(b'{"items": []}', "Content-Type: application/json", status=next(answers)),
        calls,
    )
    assert (ended["output"]["status"], len(heard)) == (200, 2)
    assert (standing[0].state, standing[0].times) == ("done", 2)
