"""GraphQL APIs: introspected, installed, called through the whole product; hostile schemas are refused or bounded."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

import pytest
from graphql import introspection_from_schema

from steward.broker.schemas import problems_of, schema_problem
from steward.broker.tool import Risk
from steward.connections import Draft, Http
from steward.connections.catalogue.adapters import graphql
from steward.connections.catalogue.calls import ServiceCalls
from steward.connections.catalogue.conversion import convert_text
from steward.connections.catalogue.fetching import fetch_description
from steward.connections.catalogue.graphql_calls import write_graphql
from steward.connections.catalogue.installed import Record
from steward.connections.catalogue.record import Operation, Service
from steward.connections.catalogue.texts import MOST_DESCRIPTION_BYTES, read_text
from steward.core.errors import Denied, Invalid, TooLarge, Unavailable
from steward.identity import Access, Principal, Role, Via
from steward.tools._services import arguments_schema
from tests.connections.catalogue.graph import SCHEMA, SDL, Api
from tests.connections.outside import ok, serving
from tests.tools.room import Room

NEAR = Http(allow_private=["127.0.0.0/8"])


@cache
def _record(content: bytes = SDL.encode(), address: str = "") -> Record:
    """Through the process that reads descriptions."""
    return Record(convert_text(content, "zoo", address))


def _described(content: bytes) -> Service:
    if graphql.is_schema_language(content):
        return graphql.describe(graphql.read_schema_language(content), "")
    return graphql.describe(graphql.read_introspection(read_text(content)), "")


def _operation(name: str, record: Record | None = None) -> Operation:
    found = (record or _record()).find(name)
    assert found is not None
    return found


def _of(content: str, name: str) -> Operation:
    return next(each for each in _described(content.encode()).operations if each.name == name)


def _document(name: str, **arguments: Any) -> str:
    wire = write_graphql(_operation(name), arguments, "https://zoo.example/graphql")
    return str(json.loads(wire.body)["query"])


def test_both_ways_to_describe_an_api_give_the_same_operations() -> None:
    told = json.dumps({"data": introspection_from_schema(SCHEMA)}).encode()
    ours, theirs = _record(), _record(told, "https://zoo.example/graphql")
    assert ours.names() == theirs.names()
    assert ours.names() == [
        *("pet", "pets", "search", "count", "broken", "old", "create"),
        *("mutation.create", "deletePet", "petRemove"),
    ]
    for name in ours.names():
        assert _operation(name, ours).to_json() == _operation(name, theirs).to_json()
    assert (ours.service.base_url, theirs.service.base_url) == ("", "https://zoo.example/graphql")
    left = [(each.operation, each.reason) for each in ours.service.left_out]
    assert left == [("born", "it is a subscription, which never ends")]
    assert _operation("old").deprecated


def test_risk_comes_from_the_kind_of_operation_and_no_description_lowers_it() -> None:
    record = _record()
    risks = {name: _operation(name, record).risk for name in record.names()}
    assert risks["pets"] == risks["create"] == Risk.read
    assert risks["mutation.create"] == Risk.external_send
    assert risks["deletePet"] == risks["petRemove"] == Risk.destructive


def test_arguments_become_json_schema() -> None:
    made = _operation("mutation.create")
    assert schema_problem(made.arguments) is None
    fits = {"input": {"name": "Tom", "tags": ["a"], "notes": None}}
    assert not problems_of(made.arguments, fits)
    assert problems_of(made.arguments, {"input": {"kind": "CAT"}})
    assert problems_of(made.arguments, {"input": {"name": "Tom", "kind": "BIRD"}})
    assert problems_of(made.arguments, {})
    listed = _operation("pets").arguments
    # An input that contains itself is followed as deep as the value is.
    deep = {"filter": {"any": [{"any": [{"name": "x"}]}]}}
    assert not problems_of(listed, deep)
    assert problems_of(listed, {"filter": {"any": [{"name": 1}]}})
    assert "Without a value: CAT" in listed["properties"]["kind"]["description"]


def test_a_selection_has_plain_values_and_one_level_of_objects() -> None:
    chosen = _operation("pet").arguments["properties"]["steward_selection"]
    words = " ".join(chosen["default"].split())
    assert chosen["format"] == "multiline"
    assert words == "{ id name kind born owner { id name } friend { id name kind born } }"
    answer = _operation("pet").answer
    assert answer is not None
    assert answer["properties"]["owner"]["properties"] == {
        "id": {"type": "string"},
        "name": {"type": "string"},
    }
    # A plain value has no fields to choose from.
    assert "steward_selection" not in _operation("count").arguments["properties"]


def test_arguments_travel_as_variables_alone() -> None:
    evil = '1") { id } deletePet(id: "1'
    wire = write_graphql(_operation("pet"), {"id": evil, "steward_selection": "id"}, "https://x")
    sent = json.loads(wire.body)
    assert sent["variables"] == {"id": evil}
    assert "delete" not in sent["query"]
    assert "($id: ID!)" in sent["query"]


@pytest.mark.parametrize(
    ("selection", "why"),
    [
        ("{ id } mutation { deletePet(id: 1) }", "more than one"),
        ("{ id } } deletePet(id: 1) {", "Syntax"),
        ("{ ...Everything }", "fragment"),
        ("{ photo(size: $size) }", "variable"),
        ("{ owner { } }", "empty"),
        ("{" + "a {" * 11 + "b" + "}" * 12, "levels deep"),
        ("{" + "a " * 3_000 + "}", "tokens"),
        ("{" + "a {" * 900, "cannot be used"),
        ("", "empty"),
    ],
)
def test_a_selection_that_is_more_than_a_list_of_fields_is_refused(
    selection: str, why: str
) -> None:
    with pytest.raises(Invalid, match=why):
        _document("pet", id="1", steward_selection=selection)


def test_a_person_may_choose_other_fields() -> None:
    chosen = "id photo(size: 3) ... on Pet { born } first: name"
    assert "photo(size: 3)" in _document("pet", id="1", steward_selection=chosen)
    # Without it nobody would know whether there is a next page.
    assert "hasNextPage" in _document("pets", steward_selection="{ totalCount }")


# ---- through the whole product


def _access(room: Room) -> Access:
    return Access(Principal(room.author, "", "", Via.session), room.scope, Role.owner)


def _serving(room: Room, calls: Callable[[], Awaitable[Any]]) -> tuple[Any, Api]:
    """Installs the API from its address, connects to it and calls it."""
    api = Api()
    services = room.steward.connections.services

    async def main() -> Any:
        room.steward.connections.calls = ServiceCalls(NEAR, room.steward.clock)
        async with serving(api) as server:
            url = f"http://127.0.0.1:{server.port}/graphql"
            content = await fetch_description(NEAR, url)

            def prepare() -> None:
                services.install_text(_access(room), "zoo", content, url, url)
                settings = {"service": "zoo", "way": "bearer"}
                draft = Draft("zoo", "service", settings, values={"token": "s3cret-value-1"})
                room.steward.connections.documents.create(_access(room), draft)

            await asyncio.to_thread(prepare)
            found = await calls()
            tokens = {each.headers.get("authorization") for each in server.heard[2:]}
            assert tokens == {"Bearer s3cret-value-1"}
            return found

    return asyncio.run(main()), api


async def _called(room: Room, name: str, arguments: dict[str, Any]) -> Any:
    def tool() -> Any:
        return room.steward.governing.broker.tools.get(room.scope, f"api.zoo.{name}")

    found = await asyncio.to_thread(tool)
    checked = found.arguments.model_validate(arguments)
    return await found.run(room.context(ticket="a"), checked)


def test_an_api_is_installed_from_its_address_and_called(room: Room) -> None:
    async def calls() -> Any:
        made = await _called(room, "mutation.create", {"input": {"name": "Tom"}})
        seen = await _called(room, "pet", {"id": "1"})
        found = await _called(room, "search", {"text": "x"})
        plain = await _called(room, "count", {})
        return made, seen, found, plain

    (made, seen, found, plain), api = _serving(room, calls)
    assert "problems" not in made.value, made.value
    assert made.value["answer"]["name"] == "Tom"
    assert made.trusted is False
    # The API's own default counts where nobody said anything.
    assert api.root.made == [{"name": "Tom", "kind": "CAT"}]
    assert seen.value["answer"]["owner"] == {"id": "o1", "name": "Ada"}
    assert [each["__typename"] for each in found.value["answer"]] == ["Pet", "Place"]
    assert plain.value == {"status": 200, "failed": False, "pages": 1, "answer": 7}
    known = room.steward.connections.services.get(room.scope, "zoo")
    assert (known.adapter, known.state) == ("graphql", "tried")


def test_what_steward_adds_to_the_arguments_has_titles_for_people() -> None:
    fields = arguments_schema(_operation("pets"))["properties"]
    assert fields["steward_pages"]["title"] == "Pages at most"
    assert fields["steward_selection"]["title"] == "Fields of the answer"
    # What the service declares is as it was.
    assert "title" not in _operation("pets").arguments["properties"]["steward_selection"]


def test_pages_are_followed_by_their_cursors_to_the_last_one(room: Room) -> None:
    async def calls() -> Any:
        whole = await _called(room, "pets", {"first": 3, "steward_pages": 9})
        part = await _called(room, "pets", {"steward_selection": "{ totalCount }"})
        return whole, part

    (whole, part), api = _serving(room, calls)
    names = [
        edge["node"]["id"] for page in whole.value["answer"]["pages"] for edge in page["edges"]
    ]
    assert (names, whole.value["pages"]) == ([str(n) for n in range(7)], 3)
    # The server wants to know how many; nobody said.
    assert api.queries[-1]["variables"] == {"first": 20}
    assert part.value["answer"]["totalCount"] == 7


def test_errors_of_the_api_are_problems_of_the_call(room: Room) -> None:
    async def calls() -> Any:
        broken = await _called(room, "broken", {})
        unknown = await _called(room, "pet", {"id": "1", "steward_selection": "{ colour }"})
        return broken, unknown

    (broken, unknown), _ = _serving(room, calls)
    assert broken.value["failed"] is True
    assert broken.value["problems"] == ["The ‹b›store‹/b› is closed. (at broken)"]
    assert "reports errors" in broken.summary
    assert "Cannot query field" in unknown.value["problems"][0]
    # A call that failed says nothing about what answers look like.
    assert room.steward.connections.services.get(room.scope, "zoo").state == "converted"


def test_the_approval_card_shows_what_would_be_sent(room: Room) -> None:
    room.steward.connections.services.install_text(_access(room), "zoo", SDL.encode(), "file")
    settings = {"service": "zoo", "base_url": "https://zoo.example/graphql", "way": "none"}
    room.steward.connections.documents.create(_access(room), Draft("zoo", "service", settings))
    tool: Any = room.steward.governing.broker.tools.get(room.scope, "api.zoo.deletePet")
    assert tool.risk is Risk.destructive
    shown = asyncio.run(
        tool.dry_run(room.context(ticket="a"), tool.arguments.model_validate({"id": "1"}))
    )
    assert shown.details["request"] == "MUTATION deletePet"
    assert shown.details["place"] == "https://zoo.example/graphql"
    assert shown.irreversible


# ---- addresses


def _fetched(answer: Callable[[Any], bytes], http: Http = NEAR) -> bytes:
    async def main() -> bytes:
        async with serving(answer) as server:
            return await fetch_description(http, f"http://127.0.0.1:{server.port}/graphql")

    return asyncio.run(main())


def test_an_address_is_asked_for_a_document_first() -> None:
    def answer(heard: Any) -> bytes:
        assert heard.method == "GET"
        return ok(b'{"openapi": "3.0.0"}')

    assert _fetched(answer) == b'{"openapi": "3.0.0"}'


def test_an_address_that_describes_nothing_says_so() -> None:
    with pytest.raises(Unavailable, match="without a sign-in"):
        _fetched(lambda _: ok(b"", status="401 Unauthorized"))
    with pytest.raises(Unavailable, match="no description"):
        _fetched(lambda _: ok(b"<html>"))
    with pytest.raises(Unavailable, match="no description"):
        _fetched(lambda _: ok(b'{"errors": [{"message": "introspection is off"}]}'))
    with pytest.raises(Denied):
        _fetched(lambda _: ok(b"{}"), Http())


# ---- hostile schemas


def _many(count: int) -> bytes:
    types = [
        f"type T{n} {{ next: T{(n + 1) % count}, id: ID, f(a: I{n}): Int }}" for n in range(count)
    ]
    inputs = [f"input I{n} {{ next: I{(n + 1) % count}, id: ID }}" for n in range(count)]
    return "\n".join([*types, *inputs, "type Query { t: T0, f(a: I0): T1 }"]).encode()


def test_ten_thousand_types_in_a_ring_are_bounded() -> None:
    service = _described(_many(5_000))
    single, found = service.operations
    assert len(json.dumps(found.arguments)) < 64 << 10
    assert schema_problem(found.arguments) is None
    assert len(single.arguments["properties"]["steward_selection"]["default"]) < 99


def test_wide_types_are_selected_in_part() -> None:
    fields = " ".join(f"f{n}: O" for n in range(500))
    inner = " ".join(f"g{n}: Int" for n in range(500))
    found = _of(f"type Query {{ t: T }} type T {{ {fields} }} type O {{ {inner} }}", "t")
    chosen = found.arguments["properties"]["steward_selection"]["default"]
    assert chosen.count("g") <= 60


def test_names_that_collide_are_kept_apart_or_left_out() -> None:
    text = "type Query { a: Int _a: Int a_: Int } type Mutation { a: Int query_a: Int }"
    service = _described(text.encode())
    names = [each.name for each in service.operations]
    assert len(set(names)) == len(names)
    assert {each.risk for each in service.operations if each.verb == "MUTATION"} == {
        "external_send"
    }
    assert len(names) + len(service.left_out) == 5


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"type Query { a: " + b"[" * 50_000 + b"Int" + b"]" * 50_000 + b"}", Invalid),
        (b"type Query { a: Missing }", Invalid),
        (b"type Query { a: Int", Invalid),
        (b"type T {\n a: Int }", Invalid),
        (b'{"__schema": {}}', Invalid),
        (b'{"__schema": {"queryType": {"name": "Q"}, "types": 3, "directives": []}}', Invalid),
        (
            b'{"__schema": {"queryType": {"name": "Q"}, "directives": [], "types": [{"kind": "OBJECT", "name": "Q", "interfaces": [], "fields": [{"name": "a b", "args": [], "type": {"kind": "SCALAR", "name": "Int"}}]}, {"kind": "SCALAR", "name": "Int"}]}}',
            Invalid,
        ),
        (
            b"type Query {" + b" ".join(b"f%d: Int" % n for n in range(10_001)) + b"}",
            TooLarge,
        ),
    ],
)
def test_hostile_schemas_are_refused(content: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        _described(content)


def test_a_schema_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooLarge, match="50 MB"):
        _record(b"type Query {\n" + b"#" * MOST_DESCRIPTION_BYTES + b"\n}")
    monkeypatch.setattr(graphql, "_MOST_TOKENS", 1_000)
    with pytest.raises(TooLarge, match="1,000"):
        _described(b"type Query {\n" + b"a: Int " * 400 + b"}")


def test_an_openapi_text_that_quotes_a_schema_is_not_taken_for_one() -> None:
    assert not graphql.is_schema_language(
        b"openapi: 3.0.0\ninfo:\n  description: |\ntype Query {\n"
    )
    assert graphql.is_schema_language(b'"""Words."""\nextend type Query {\n a: Int }')
