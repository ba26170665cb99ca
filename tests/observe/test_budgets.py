"""Budgets at the API: admins keep them, others see what is open to them."""

from typing import Any

import pytest

from steward.identity import Role
from steward.testing import Installation, Person

pytestmark = pytest.mark.every_database


def _address(installation: Installation) -> str:
    return f"/api/v1/projects/{installation.scope.project_id}/budgets"


def _added(installation: Installation, **body: Any) -> dict[str, Any]:
    document = {"kind": "project", "period": "month", "usd": "50", **body}
    answer = installation.owner.client.post(_address(installation), json=document)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _seen(installation: Installation, person: Person) -> list[str]:
    items = person.client.get(_address(installation)).json()["items"]
    return [each["title"] for each in items]


def test_a_budget_is_added_changed_and_deleted(installation: Installation) -> None:
    made = _added(installation)
    assert (made["title"], made["usd"]["left"], made["tokens"]["limit"]) == (
        "The whole project",
        50.0,
        None,
    )
    one, client = f"{_address(installation)}/{made['id']}", installation.owner.client
    assert client.put(one, json={"usd": "80"}).status_code in {412, 428}
    changed = client.put(one, json={"usd": "80"}, headers={"if-match": '"1"'}).json()
    assert (changed["revision"], changed["usd"]["limit"]) == (2, 80.0)
    assert client.get(one).json() == changed
    assert client.delete(one, headers={"if-match": '"2"'}).status_code == 204
    assert client.get(one).status_code == 404


def test_wrong_budgets_are_refused_with_the_place(installation: Installation) -> None:
    client, address = installation.owner.client, _address(installation)
    for wrong in (
        {"kind": "project", "period": "month"},
        {"kind": "flow", "period": "month", "usd": 1},
        {"kind": "project", "name": "x", "period": "month", "usd": 1},
        {"kind": "flow", "name": "playbook:gone", "period": "month", "usd": 1},
        {"kind": "project", "period": "year", "usd": 1},
        {"kind": "project", "period": "day", "usd": -1},
    ):
        answer = client.post(address, json=wrong)
        assert answer.status_code == 422, (wrong, answer.text)
        assert answer.json()["errors"], wrong


def test_budgets_of_people_are_for_them_and_for_admins(installation: Installation) -> None:
    viewer, editor = installation.person(Role.viewer), installation.person(Role.editor)
    _added(installation, kind="person", name=viewer.access.user_id)
    _added(installation)
    names = [viewer.access.principal.name, "The whole project"]
    assert sorted(_seen(installation, viewer)) == sorted(names)
    assert _seen(installation, editor) == ["The whole project"]
    assert sorted(_seen(installation, installation.owner)) == sorted(names)


def test_budgets_of_another_project_do_not_exist(installation: Installation) -> None:
    made = _added(installation)
    project_id = installation.project("Another")
    stranger = installation.person(Role.admin, "stella", project_id)
    foreign = f"/api/v1/projects/{project_id}/budgets"
    assert stranger.client.get(f"{foreign}/{made['id']}").status_code == 404
    assert stranger.client.get(foreign).json()["items"] == []
    assert stranger.client.get(_address(installation)).status_code == 404
