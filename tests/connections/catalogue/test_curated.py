"""Sets of the most used operations: data that fits the descriptions, shown first, never lowering a risk."""

import pytest

from steward.broker.roles import Role, fields_of
from steward.connections.catalogue import packages
from steward.connections.catalogue.curated import (
    CuratedSet,
    curated_in,
    curated_services,
    curated_sets,
)
from steward.connections.catalogue.installed import RISKS
from steward.connections.catalogue.record import risk_of_verb
from tests.connections.catalogue.test_calling import _connected, _installed, _tool
from tests.tools.room import Room

GITHUB = {
    "openapi": "3.0.3",
    "info": {"title": "Code", "version": "1"},
    "servers": [{"url": "https://api.github.com"}],
    "paths": {
        "/a": {"get": {"operationId": "a", "responses": {}}},
        "/repos/{who}/{what}/issues": {
            "parameters": [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in ("who", "what")
            ],
            "get": {"operationId": "z1", "summary": "Z", "responses": {}},
        },
        "/repos/{who}/{what}/pulls/{n}/merge": {
            "parameters": [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in ("who", "what", "n")
            ],
            "put": {"operationId": "z2", "responses": {}},
        },
    },
}


@pytest.mark.parametrize("known", curated_sets(), ids=lambda each: each.name)
def test_risks_and_roles_are_such_and_no_risk_is_lowered(known: CuratedSet) -> None:
    for (verb, _), each in known.operations.items():
        assert {Role(role) for role in each.roles.values()} <= set(Role) - {Role.undeclared}
        if each.risk is not None:
            assert RISKS.index(each.risk) > RISKS.index(risk_of_verb(verb))


@pytest.mark.parametrize("name", [each.service for each in curated_sets() if each.service])
def test_every_operation_of_a_set_is_in_the_description_of_its_package(name: str) -> None:
    service = packages.describe(name)
    found = curated_in(service.base_url, [each.to_json() for each in service.operations])
    [known] = [each for each in curated_sets() if each.service == name]
    assert {each.title for each in found.values()} == {
        each.title for each in known.operations.values()
    }
    operations = {each.name: each for each in service.operations}
    for operation, each in found.items():
        assert set(each.roles) <= set(fields_of(dict(operations[operation].arguments)))


def test_they_come_first_with_their_names_and_higher_risks(room: Room) -> None:
    _installed(room, GITHUB, "code")
    _connected(room, 9, "hub", "code", base_url="", way="none", values={})
    record = room.steward.connections.services.record(room.scope, "code")
    assert [each.name for each in record.search("", 10)] == ["z1", "z2", "a"]
    # By the words of the set, which the description does not have.
    assert [each.name for each in record.search("merge pull request", 1)] == ["z2"]
    tool = _tool(room, "api.hub.z2")
    assert (tool.title, tool.risk) == ("Merge a pull request (hub)", "destructive")
    assert _tool(room, "api.hub.z1").title == "List issues of a repository (hub)"
    assert _tool(room, "api.hub.a").title == "A (hub)"
    # The catalogue begins with those that packages describe.
    shelf = room.steward.connections.services.shelf.search("", limit=4)
    assert {each.service.id for each in shelf} == curated_services()


def test_another_host_or_a_longer_path_is_not_taken_for_one() -> None:
    told = {"name": "x", "verb": "GET", "path": "/repos/{a}/{b}/issues", "base_url": ""}
    assert curated_in("https://api.github.com", [told])
    assert curated_in("https://api.github.com/api/v3/", [told])
    assert not curated_in("https://api.github.com.evil.example", [told])
    assert not curated_in("https://api.github.com", [{**told, "path": "/{x}/repos/{a}/{b}/issues"}])
    assert not curated_in("https://api.github.com", [{**told, "verb": "POST", "path": "/issues"}])
