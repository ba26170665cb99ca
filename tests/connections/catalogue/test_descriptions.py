"""Descriptions become records: right where they are right, refused or bounded where they are hostile."""

import copy
import hashlib
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from steward.broker.schemas import problems_of, schema_problem
from steward.connections.catalogue import packages
from steward.connections.catalogue.adapters import openapi
from steward.connections.catalogue.conversion import convert_text
from steward.connections.catalogue.installed import Record
from steward.connections.catalogue.record import Operation, Service
from steward.connections.catalogue.requests import completed, write_request
from steward.connections.catalogue.texts import MOST_DESCRIPTION_BYTES, read_text
from steward.core.errors import Invalid, TooLarge
from tests.connections.catalogue.petstore import OPENAPI, SWAGGER, text


def _described(document: Any) -> Service:
    content = text(document)
    return openapi.describe(read_text(content), hashlib.sha256(content).hexdigest())


def _operation(service: Service, name: str) -> Operation:
    return next(each for each in service.operations if each.name == name)


def _with(path: str, verb: str, operation: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "openapi": "3.1.0",
        "info": {"title": "t", "version": "1"},
        "servers": [{"url": "https://a.example"}],
        "paths": {path: {verb: operation}},
        **more,
    }


def test_an_openapi_description_becomes_a_record() -> None:
    service = _described(OPENAPI)
    assert [each.name for each in service.operations] == [
        "listPets",
        "createPet",
        "getPet",
        "deletePet",
    ]
    assert (service.licence, service.base_url) == ("MIT", "https://{region}.pets.example/v1")
    assert [(each.name, each.default) for each in service.fields] == [("region", "eu")]
    assert [(each.kind, each.place, each.name) for each in service.schemes] == [
        ("api_key", "header", "X-Key")
    ]
    listed = _operation(service, "listPets")
    assert listed.pagination is not None
    assert (listed.pagination.parameter, listed.pagination.next) == ("cursor", "next_cursor")
    assert listed.pagination.items == "items"
    # Text from outside is disarmed: no markup, nothing invisible.
    assert "<" not in service.title
    assert "\u200b" not in service.description


def test_the_risk_comes_from_the_verb_whatever_the_words_say() -> None:
    service = _described(OPENAPI)
    risks = {each.name: each.risk for each in service.operations}
    assert risks == {
        "listPets": "read",
        "createPet": "external_send",
        "getPet": "read",
        "deletePet": "destructive",
    }


def test_schemas_are_complete_in_themselves_and_check_what_is_given() -> None:
    arguments = _operation(_described(OPENAPI), "createPet").arguments
    assert schema_problem(dict(arguments)) is None
    # An id that only answers hold is not asked for; a pet may have a parent that is a pet.
    fine = {"body": {"name": None, "kind": "cat", "parent": {"name": "Tom"}}}
    assert problems_of(arguments, fine) == []
    assert problems_of(arguments, {"body": {"name": "x", "parent": {"name": 1}}}) != []
    assert problems_of(arguments, {"body": {"name": "x", "kind": "cow"}}) != []
    assert problems_of(arguments, {}) != []


def test_requests_are_written_as_the_description_says() -> None:
    service = _described(OPENAPI)
    base = completed(service.base_url, {"region": "us"})
    wire = write_request(
        _operation(service, "listPets"), {"limit": 5, "tags": ["a b", "c"], "cursor": None}, base
    )
    assert wire.url == "https://us.pets.example/v1/pets?limit=5&tags=a%20b&tags=c"
    wire = write_request(_operation(service, "getPet"), {"petId": "a/b ?"}, base)
    assert wire.url == "https://us.pets.example/v1/pets/a%2Fb%20%3F"
    wire = write_request(_operation(service, "createPet"), {"body": {"name": "Ü"}}, base)
    assert (wire.body.decode(), wire.headers["Content-Type"]) == (
        '{"name": "Ü"}',
        "application/json",
    )


def test_swagger_2_sends_forms_and_lists_with_commas() -> None:
    service = _described(SWAGGER)
    assert service.base_url == "https://old.example/api"
    operation = _operation(service, "addNote")
    given = {"body": {"text": "a&b"}, "ids": [1, 2]}
    assert problems_of(operation.arguments, given) == []
    wire = write_request(operation, given, service.base_url)
    assert wire.url == "https://old.example/api/notes?ids=1%2C2"
    assert (wire.body, wire.method) == (b"text=a%26b", "POST")
    assert service.schemes[0].kind == "basic"


@pytest.mark.parametrize("value", ["..", "a/../b", "."])
def test_a_path_cannot_lead_out_of_the_api(value: str) -> None:
    service = _described(OPENAPI)
    with pytest.raises(Invalid, match="lead out"):
        write_request(_operation(service, "getPet"), {"petId": value}, "https://a.example")


@pytest.mark.parametrize("value", ["evil.example/", "a@b", "", "x/..", "a#"])
def test_a_variable_of_the_address_cannot_change_the_host(value: str) -> None:
    with pytest.raises(Invalid, match="region"):
        completed("https://{region}.pets.example/v1", {"region": value})


def test_references_in_circles_do_not_run_away() -> None:
    circle = {
        "A": {"$ref": "#/components/schemas/B"},
        "B": {"allOf": [{"$ref": "#/components/schemas/C"}]},
        "C": {"anyOf": [{"$ref": "#/components/schemas/A"}, {"type": "string"}]},
    }
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}}
    service = _described(_with("/x", "post", {"requestBody": body}, components={"schemas": circle}))
    arguments = service.operations[0].arguments
    Draft202012Validator.check_schema(arguments)
    assert problems_of(arguments, {"body": {"anything": [1]}}) == []


def test_references_to_files_and_addresses_are_never_opened() -> None:
    outside = ["file:///etc/passwd", "https://evil.example/x.json#/a", "../x.yaml", "#/nowhere"]
    for ref in outside:
        parameters = [{"$ref": ref}]
        service = _described(_with("/x", "get", {"parameters": parameters}))
        assert (len(service.operations), len(service.left_out)) == (0, 1)
        assert "outside this document" in service.left_out[0].reason
        body = {"content": {"application/json": {"schema": {"$ref": ref}}}}
        service = _described(_with("/x", "post", {"requestBody": body}))
        assert service.operations[0].arguments["properties"]["body"] == {}


def test_colliding_names_never_stand_for_two_operations() -> None:
    paths: dict[str, Any] = {f"/{n}": {"get": {"operationId": "same"}} for n in range(3)}
    paths["/same"] = {"get": {"operationId": "get /1"}}
    document = {**_with("/x", "get", {}), "paths": paths}
    service = _described(document)
    names = [each.name for each in service.operations]
    assert len(names) == len(set(names))
    assert len(names) + len(service.left_out) == 4
    assert names[0] == "same"


def test_too_much_is_refused_with_a_reason() -> None:
    paths: dict[str, Any] = {f"/{n}": {"get": {}} for n in range(10_001)}
    with pytest.raises(TooLarge, match="10,000 operations"):
        _described({**_with("/x", "get", {}), "paths": paths})
    with pytest.raises(TooLarge, match="50 MB"):
        read_text(b"{" + b" " * MOST_DESCRIPTION_BYTES)
    with pytest.raises(TooLarge, match="levels deep"):
        read_text(b'{"a":' + b"[" * 500 + b"]" * 500 + b"}")
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(8)
    )
    with pytest.raises(TooLarge, match="unfolds"):
        read_text(bomb.encode())
    with pytest.raises(TooLarge, match="contains itself"):
        read_text(b"a: &a\n  b: *a\n")
    with pytest.raises(Invalid, match="not JSON"):
        read_text(b"{nope")


def test_a_huge_schema_is_cut_at_its_depth_and_stays_valid() -> None:
    wide = {
        f"S{n}": {
            "type": "object",
            "properties": {
                "next": {"$ref": f"#/components/schemas/S{n + 1}"},
                **{
                    f"field_{n}_{i}": {"type": "string", "description": "x" * 200}
                    for i in range(20)
                },
            },
        }
        for n in range(60)
    }
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}
    service = _described(_with("/x", "post", {"requestBody": body}, components={"schemas": wide}))
    arguments = service.operations[0].arguments
    assert len(text(arguments)) < 64 << 10
    assert schema_problem(dict(arguments)) is None
    deep: Any = {"anything": 1}
    for _ in range(59):
        deep = {"next": deep}
    assert problems_of(arguments, {"body": deep}) == []


def test_the_process_that_reads_descriptions_says_what_is_wrong() -> None:
    record = Record(convert_text(text(OPENAPI), "pets"))
    assert (record.service.id, len(record)) == ("pets", 4)
    assert record.find("getPet") == _operation(_described(OPENAPI), "getPet")
    with pytest.raises(Invalid, match="no field `openapi`"):
        convert_text(b'{"a": 1}', "x")
    with pytest.raises(Invalid, match="no operation"):
        convert_text(text(_with("/x", "trace", {})), "x")


def test_a_changed_operation_has_another_hash() -> None:
    other = copy.deepcopy(OPENAPI)
    other["paths"]["/pets/{petId}"]["get"]["operationId"] = "getPet"
    other["paths"]["/pets"]["get"]["parameters"][0]["schema"]["maximum"] = 1000
    before, after = (_described(each).operations for each in (OPENAPI, other))
    changed = [a.name for a, b in zip(before, after, strict=True) if a.hash != b.hash]
    assert changed == ["listPets"]


@pytest.mark.parametrize(
    ("service_id", "operation", "risk"),
    [
        ("aws-s3", "PutObject", "external_send"),
        ("aws-s3", "DeleteObject", "destructive"),
        ("aws-ec2", "DescribeInstances", "read"),
        ("google-drive", "files.list", "read"),
        ("google-gmail", "users.messages.send", "external_send"),
        ("notify-slack", "send", "external_send"),
    ],
)
def test_services_of_packages_are_described(service_id: str, operation: str, risk: str) -> None:
    service = packages.describe(service_id)
    found = _operation(service, operation)
    assert found.risk == risk
    assert schema_problem(dict(found.arguments)) is None
    assert len(service.sha256) == 64


def test_google_asks_for_the_narrowest_scope_first() -> None:
    found = _operation(packages.describe("google-drive"), "files.list")
    assert found.scopes[0].endswith("readonly")
    assert found.pagination is not None
    assert found.pagination.next == "nextPageToken"


def test_every_package_brings_its_services() -> None:
    known = packages.packaged()
    by_adapter = {each.adapter for each in known.values()}
    assert by_adapter == {"aws", "google_discovery", "notify"}
    assert len(known) > 900
