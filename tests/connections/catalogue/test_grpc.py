"""gRPC services: described by reflection or descriptors, called through the whole product with JSON."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("grpc_reflection")

import grpc
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from steward.broker.schemas import problems_of, schema_problem
from steward.broker.tool import Risk
from steward.connections import Draft, Http
from steward.connections.catalogue import grpc_calls
from steward.connections.catalogue.adapters import grpc as adapter
from steward.connections.catalogue.calls import ServiceCalls
from steward.connections.catalogue.conversion import convert_text
from steward.connections.catalogue.credentials import Credentials
from steward.connections.catalogue.fetching import fetch_description
from steward.connections.catalogue.grpc_calls import call_grpc, check_grpc
from steward.connections.catalogue.installed import Record
from steward.connections.catalogue.record import Operation, Service
from steward.connections.catalogue.settings import ServiceSettings
from steward.core.errors import Denied, Invalid, Misconfigured, TooLarge, Unavailable
from steward.core.work import Work, doing
from steward.identity import Access, Principal, Role, Via
from tests.connections.catalogue.rpc import SET, ZOO, Zoo, zoo_server
from tests.connections.outside import certificates
from tests.tools.room import Room

NEAR = Http(allow_private=["127.0.0.0/8", "localhost"])


@cache
def _service() -> Service:
    return adapter.describe(adapter.read_descriptors(SET), "0" * 64, "", "zoo")


def _operation(name: str, service: Service | None = None) -> Operation:
    return next(each for each in (service or _service()).operations if each.name == name)


def test_descriptors_become_operations() -> None:
    record = Record(convert_text(SET, "zoo"))
    assert record.names() == [
        *("Zoo.GetPet", "Zoo.ListPets", "Zoo.CreatePet", "Zoo.DeletePet"),
        *("Zoo.Feed", "Zoo.WatchPets"),
    ]
    assert record.header["adapter"] == "grpc"
    left = [(each.operation, each.reason) for each in record.service.left_out]
    assert left == [("Zoo.Upload", "it takes a stream of messages")]
    risks = {each.name: each.risk for each in _service().operations}
    assert risks == {
        "Zoo.GetPet": "read",
        "Zoo.ListPets": "read",
        "Zoo.CreatePet": "external_send",
        "Zoo.DeletePet": "destructive",
        "Zoo.Feed": "read",
        "Zoo.WatchPets": "read",
    }


def test_messages_become_json_schema() -> None:
    schema = _operation("Zoo.CreatePet").arguments
    assert schema_problem(schema) is None
    fits = {
        "id": "9223372036854775807",
        "petName": "Tom",
        "kind": "CAT",
        "born": "2026-01-01T00:00:00Z",
        "parent": {"parent": {"id": "1"}},
        "tags": {"a": 1},
        "photo": "aGk=",
    }
    assert not problems_of(schema, fits)
    for wrong in ({"kind": "BIRD"}, {"id": "x"}, {"tags": {"a": "b"}}, {"parent": {"id": 1.5}}):
        assert problems_of(schema, wrong), wrong
    pages = _operation("Zoo.ListPets").pagination
    assert pages is not None
    assert (pages.parameter, pages.next, pages.items) == ("pageToken", "nextPageToken", "pets")


def test_what_changes_on_the_wire_changes_the_hash_of_the_operation() -> None:
    moved = FileDescriptorProto()
    moved.CopyFrom(ZOO)
    moved.message_type[0].field[1].number = 12
    content = FileDescriptorSet(file=[moved]).SerializeToString()
    other = adapter.describe(adapter.read_descriptors(content), "1" * 64, "", "zoo")
    before, after = _operation("Zoo.GetPet"), _operation("Zoo.GetPet", other)
    assert before.arguments == after.arguments
    assert before.hash != after.hash


# ---- through the whole product


def _access(room: Room) -> Access:
    return Access(Principal(room.author, "", "", Via.session), room.scope, Role.owner)


def _serving(room: Room, calls: Callable[[], Awaitable[Any]]) -> tuple[Any, Zoo]:
    """Installs the server from its address, connects to it and calls it."""
    with zoo_server() as (zoo, port):

        async def main() -> Any:
            room.steward.connections.calls = ServiceCalls(NEAR, room.steward.clock)
            url = f"grpc://127.0.0.1:{port}"
            content = await fetch_description(NEAR, url)

            def prepare() -> None:
                services = room.steward.connections.services
                services.install_text(_access(room), "zoo", content, url, url)
                settings = {"service": "zoo", "way": "bearer"}
                draft = Draft("zoo", "service", settings, values={"token": "s3cret-value-1"})
                room.steward.connections.documents.create(_access(room), draft)

            await asyncio.to_thread(prepare)
            return await calls()

        return asyncio.run(main()), zoo


async def _called(room: Room, name: str, arguments: dict[str, Any]) -> Any:
    def tool() -> Any:
        return room.steward.governing.broker.tools.get(room.scope, f"api.zoo.Zoo.{name}")

    found = await asyncio.to_thread(tool)
    checked = found.arguments.model_validate(arguments)
    return await found.run(room.context(ticket="a"), checked)


def test_a_server_is_installed_by_reflection_and_called(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grpc_calls, "_MOST_MESSAGES", 50)

    async def calls() -> Any:
        seen = await _called(room, "GetPet", {"id": "7"})
        none = await _called(room, "GetPet", {"id": "404"})
        made = await _called(room, "CreatePet", {"petName": "Tim", "tags": {"a": 1}})
        pages = await _called(room, "ListPets", {"pageSize": 1, "steward_pages": 9})
        stream = await _called(room, "WatchPets", {})
        return seen, none, made, pages, stream

    (seen, none, made, pages, stream), zoo = _serving(room, calls)
    assert seen.value == {
        "status": 200,
        "failed": False,
        "pages": 1,
        "answer": {"id": "7", "petName": "Tom", "kind": "CAT", "tags": {}, "photo": ""},
    }
    assert seen.trusted is False
    assert (none.value["status"], none.value["failed"]) == (404, True)
    assert none.value["problems"] == ["NOT_FOUND: No ‹b›such‹/b› pet."]
    assert made.value["answer"]["petName"] == "Tim"
    assert made.value["answer"]["tags"] == {"a": 1}
    assert made.value["answer"]["id"] == "0"
    asked = [each["pets"][0]["id"] for each in pages.value["answer"]["pages"]]
    assert asked == ["0", "2", "4"]
    # A stream without an end is cut.
    assert len(stream.value["answer"]["messages"]) == 50
    assert stream.value["answer"]["is_cut"] is True
    metadata = zoo.heard[0][2]
    assert metadata["authorization"] == "Bearer s3cret-value-1"
    known = room.steward.connections.services.get(room.scope, "zoo")
    assert (known.adapter, known.state, known.operations) == ("grpc", "tried", 6)


def test_the_approval_card_shows_what_would_be_called(room: Room) -> None:
    room.steward.connections.services.install_text(_access(room), "zoo", SET, "file")
    settings = {"service": "zoo", "base_url": "grpcs://zoo.example:8443", "way": "none"}
    room.steward.connections.documents.create(_access(room), Draft("zoo", "service", settings))
    tool: Any = room.steward.governing.broker.tools.get(room.scope, "api.zoo.Zoo.DeletePet")
    assert tool.risk is Risk.destructive
    shown = asyncio.run(
        tool.dry_run(room.context(ticket="a"), tool.arguments.model_validate({"id": "1"}))
    )
    assert shown.details["request"] == "CALL /zoo.Zoo/DeletePet"
    assert shown.details["place"] == "grpcs://zoo.example:8443"


# ---- the one door


async def _get(http: Http, url: str, who: Credentials | None = None) -> Any:
    operation = _operation("Zoo.GetPet")
    return await call_grpc(
        http, _service(), operation, {"id": "1"}, url=url, who=who or Credentials()
    )


def test_a_call_that_is_cancelled_ends() -> None:
    async def main(zoo: Zoo, port: int) -> None:
        arguments = {"id": "503"}
        with doing(Work()):
            call = call_grpc(
                NEAR,
                _service(),
                _operation("Zoo.GetPet"),
                arguments,
                url=f"grpc://127.0.0.1:{port}",
                who=Credentials(),
            )
            task = asyncio.ensure_future(call)
        assert await asyncio.to_thread(zoo.came.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(zoo.left.wait, 20)
        assert not zoo.let_go.is_set()

    with zoo_server() as (zoo, port):
        asyncio.run(main(zoo, port))


def test_addresses_are_checked_before_anything_connects() -> None:
    with zoo_server() as (zoo, port):
        for url in (
            f"grpc://127.0.0.1:{port}",
            f"grpc://localhost:{port}",
            "grpc://169.254.169.254:80",
        ):
            with pytest.raises(Denied):
                asyncio.run(_get(Http(), url))
            with pytest.raises(Denied):
                asyncio.run(fetch_description(Http(), url))
        assert zoo.heard == []

        # The name is looked up once; the connection goes to what was checked.
        async def names(_host: str, _port: int) -> list[str]:
            return ["127.0.0.1"]

        named = Http(allow_private=["zoo.example"], resolve=names)
        assert asyncio.run(_get(named, f"grpc://zoo.example:{port}")).status == 200


def test_the_environment_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with zoo_server() as (_, port):
        assert asyncio.run(_get(NEAR, f"grpc://127.0.0.1:{port}")).status == 200


@pytest.mark.parametrize("url", ["grpc://h:1/path", "grpc://a@h:1", "http://h:1", "grpc://h:1?x=1"])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(Invalid):
        asyncio.run(_get(NEAR, url))
    with pytest.raises(ValueError, match="address"):
        ServiceSettings(service="zoo", base_url=url if url.startswith("grpc") else "ftp://x")


def test_tls_is_checked_by_the_name_and_those_we_trust(tmp_path: Path) -> None:
    keys = certificates(tmp_path, "zoo.example")
    pem = (tmp_path / "server.pem").read_bytes()
    secret, chain = pem.split(b"-----BEGIN CERTIFICATE-----", 1)
    shown = grpc.ssl_server_credentials([(secret, b"-----BEGIN CERTIFICATE-----" + chain)])

    async def names(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    trusting = Http(allow_private=["127.0.0.0/8"], resolve=names, tls=keys.client)
    with zoo_server(credentials=shown) as (zoo, port):
        assert asyncio.run(_get(trusting, f"grpcs://zoo.example:{port}")).status == 200
        asyncio.run(check_grpc(trusting, f"grpcs://zoo.example:{port}", None))
        with pytest.raises(Unavailable):
            asyncio.run(_get(trusting, f"grpcs://other.example:{port}"))
        distrusting = Http(allow_private=["127.0.0.0/8"], resolve=names)
        with pytest.raises(Unavailable):
            asyncio.run(_get(distrusting, f"grpcs://zoo.example:{port}"))
        assert len(zoo.heard) == 1


def test_a_server_that_is_not_there_or_does_not_describe_itself_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        zoo_server(reflects=False) as (_, port),
        pytest.raises(Unavailable, match="does not describe itself"),
    ):
        asyncio.run(fetch_description(NEAR, f"grpc://127.0.0.1:{port}"))
    monkeypatch.setattr(grpc_calls, "_CONNECT_SECONDS", 0.5)
    with pytest.raises(Unavailable, match="No connection"):
        asyncio.run(_get(NEAR, f"grpc://127.0.0.1:{port}"))
    with pytest.raises(Unavailable, match="No gRPC server"):
        asyncio.run(check_grpc(NEAR, f"grpc://127.0.0.1:{port}", None))


def test_answers_and_messages_have_a_largest_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grpc_calls, "_LARGEST_MESSAGE", 3)
    with zoo_server() as (_, port):
        answer = asyncio.run(_get(NEAR, f"grpc://127.0.0.1:{port}"))
        assert (answer.status, answer.value) == (429, None)
        assert "RESOURCE_EXHAUSTED" in answer.problems[0]
    made = _operation("Zoo.CreatePet")
    long = call_grpc(
        NEAR,
        _service(),
        made,
        {"petName": "far too long"},
        url="grpc://127.0.0.1:1",
        who=Credentials(),
    )
    with pytest.raises(TooLarge):
        asyncio.run(long)


def test_a_credential_that_cannot_be_sent_is_not_repeated() -> None:
    for value in ("s3cret\nx", "s3crét"):
        with pytest.raises(Misconfigured) as raised:
            asyncio.run(_get(NEAR, "grpc://127.0.0.1:1", Credentials({"X-API-Key": value})))
        assert "s3cr" not in raised.value.message


# ---- hostile descriptors


def _files(*files: FileDescriptorProto) -> bytes:
    content: bytes = FileDescriptorSet(file=files).SerializeToString()
    return content


def _file(name: str, *needs: str) -> FileDescriptorProto:
    return FileDescriptorProto(name=name, dependency=needs, syntax="proto3")


@pytest.mark.parametrize(
    ("content", "error", "why"),
    [
        (_files(_file("a.proto", "b.proto"), _file("b.proto", "a.proto")), Invalid, "itself"),
        (_files(_file("a.proto", "../../etc/passwd")), Invalid, "is missing"),
        (_files(_file("a.proto", "google/protobuf/none.proto")), Invalid, "cannot be read"),
        (_files(*(_file(f"{n}.proto") for n in range(2_001))), TooLarge, "files"),
        (_files(_file("a.proto")), Invalid, "no method"),
        (b"\n\x05\x00\xff\xff\xff\xff", Invalid, "cannot be read"),
    ],
)
def test_hostile_descriptors_are_refused(content: bytes, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        adapter.describe(adapter.read_descriptors(content), "")


def test_ten_thousand_messages_in_a_ring_are_bounded() -> None:
    file = _file("ring.proto")
    for n in range(10_000):
        message = file.message_type.add(name=f"M{n}")
        message.field.add(
            name="next", number=1, type=11, label=1, type_name=f".M{(n + 1) % 10_000}"
        )
    service = file.service.add(name="S")
    service.method.add(name="Do", input_type=".M0", output_type=".M1")
    found = adapter.describe(adapter.read_descriptors(_files(file)), "")
    assert len(json.dumps(found.operations[0].arguments)) < 64 << 10
    assert schema_problem(found.operations[0].arguments) is None
