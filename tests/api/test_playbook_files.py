"""Several files of playbooks taken in at once: all of them or none, and each told what became of it."""

from typing import Any

import pytest

from steward.identity import Role
from steward.testing import Installation
from tests.api.test_playbooks import Desk
from tests.playbooks.conftest import ASKING

OTHER = ASKING.replace("id: monthly-costs", "id: yearly-costs")
WRONG = ASKING.replace("budget: {usd: 2}\n", "").replace("id: monthly-costs", "id: no-budget")


@pytest.fixture
def engineer(installation: Installation) -> Desk:
    return Desk(installation.person(Role.editor, "engineer"))


def bring(desk: Desk, *files: tuple[str, str], **more: Any) -> Any:
    given = [{"name": name, "yaml": text} for name, text in files]
    return desk.ok("POST", "/playbooks/import/files", {"files": given, **more})


def changes(answer: Any) -> list[str]:
    return [each["change"] for each in answer["files"]]


def slugs(desk: Desk) -> list[str]:
    return sorted(each["slug"] for each in desk.ok("GET", "/playbooks")["items"])


def test_a_second_import_changes_nothing(engineer: Desk) -> None:
    tried = bring(engineer, ("a.yaml", ASKING), ("b.yaml", OTHER), trial=True)
    assert (changes(tried), tried["written"]) == (["created", "created"], False)
    assert [each["playbook"] for each in tried["files"]] == [None, None]
    assert slugs(engineer) == [], "a trial writes nothing"
    done = bring(engineer, ("a.yaml", ASKING), ("b.yaml", OTHER))
    assert (changes(done), done["written"]) == (["created", "created"], True)
    assert slugs(engineer) == ["monthly-costs", "yearly-costs"]
    text = engineer.call("GET", f"/playbooks/{done['files'][0]['playbook']['id']}/yaml").text
    again = bring(engineer, ("a.yaml", text), ("b.yaml", OTHER.replace("usd: 2", "usd: 3")))
    assert changes(again) == ["unchanged", "changed"]
    assert [each["playbook"]["head"] for each in again["files"]] == [1, 2]


def test_one_that_is_refused_holds_up_the_others(engineer: Desk) -> None:
    refused = bring(
        engineer,
        ("a.yaml", ASKING),
        ("b.yaml", WRONG),
        ("c.yaml", "format: 1\na: b: c\n"),
        ("d.yaml", ASKING),
    )
    assert (changes(refused), refused["written"]) == (
        ["created", "refused", "refused", "refused"],
        False,
    )
    _, missing, unreadable, twice = refused["files"]
    assert missing["problems"][0]["pointer"] == "/budget"
    assert "line 1" in missing["problems"][0]["message"]
    assert "line 2" in unreadable["reason"]
    assert "a.yaml has the same id" in twice["reason"]
    assert slugs(engineer) == []
    told = [each["type"] for each in engineer.ok("GET", "/events?limit=200")["items"]]
    assert not [each for each in told if "playbook" in each]


def test_what_is_archived_or_hidden_is_not_overwritten(
    installation: Installation, engineer: Desk
) -> None:
    made = bring(engineer, ("a.yaml", ASKING))["files"][0]["playbook"]["id"]
    engineer.ok("POST", f"/playbooks/{made}/archive")
    (found,) = bring(engineer, ("a.yaml", ASKING.replace("usd: 2", "usd: 3")))["files"]
    assert (found["change"], "archived" in found["reason"]) == ("refused", True)
    other = Desk(installation.person(Role.editor, "guesser"))
    (hidden,) = bring(other, ("a.yaml", ASKING))["files"]
    assert (hidden["change"], "is taken" in hidden["reason"]) == ("refused", True)
    assert hidden["playbook"] is None


def test_people_of_elsewhere_can_be_left_out(engineer: Desk) -> None:
    text = ASKING + "owner: nobody@elsewhere.example\nallowed:\n  users: [you@elsewhere.example]\n"
    (refused,) = bring(engineer, ("a.yaml", text))["files"]
    assert [each["pointer"] for each in refused["problems"]] == ["/owner", "/allowed/users/0"]
    assert "(line 18)" in refused["problems"][0]["message"]
    assert changes(bring(engineer, ("a.yaml", text), mine=True)) == ["created"]
    still = bring(engineer, ("a.yaml", text.replace("usd: 2", "usd: two")), mine=True)
    assert [each["pointer"] for each in still["files"][0]["problems"]] == ["/budget/usd"]


def test_only_editors_import(installation: Installation) -> None:
    for role in (Role.operator, Role.viewer, Role.runner):
        desk = Desk(installation.person(role, role.name))
        body = {"files": [{"name": "a.yaml", "yaml": ASKING}]}
        assert desk.call("POST", "/playbooks/import/files", body).status_code == 403


def test_the_export_is_taken_in_again(engineer: Desk) -> None:
    bring(engineer, ("a.yaml", ASKING), ("b.yaml", OTHER))
    whole = engineer.call("GET", "/playbooks/export").content
    unpack = f"{engineer.base}/playbooks/import/unpack"
    found = engineer.client.post(unpack, content=whole)
    assert found.status_code == 200, found.text
    files = [(each["name"], each["yaml"]) for each in found.json()["files"]]
    assert [name for name, _ in files] == [
        "Finance/Monthly/monthly-costs.yaml",
        "Finance/Monthly/yearly-costs.yaml",
    ]
    assert changes(bring(engineer, *files)) == ["unchanged", "unchanged"]
    refused = engineer.client.post(unpack, content=b"no zip at all")
    assert refused.status_code == 422
    assert "cannot be read" in refused.json()["detail"]


def test_viewers_unpack_nothing(installation: Installation) -> None:
    viewer = Desk(installation.person(Role.viewer, "viewer"))
    answer = viewer.client.post(f"{viewer.base}/playbooks/import/unpack", content=b"PK")
    assert answer.status_code == 403
