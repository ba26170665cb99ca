"""One search over everything of a project: what people know a word of is found, and nothing that is hidden from them."""

import pytest

from steward.identity import Role
from steward.testing import Installation
from tests.api.test_playbooks import Desk
from tests.api.test_runner import Office, office

__all__ = ["office"]
pytestmark = pytest.mark.every_database


def _found(desk: Desk, words: str) -> list[tuple[str, str]]:
    items = desk.ok("GET", f"/search?q={words}")["items"]
    return [(each["kind"], each["title"]) for each in items]


def test_datasets_columns_playbooks_runs_people_and_connections(office: Office) -> None:
    found = _found(office.engineer, "salar")
    assert ("dataset", "salaries") in found
    assert ("column", "salary") in found
    assert ("playbook", "Secret salaries") in found
    assert ("run", "Secret salaries") in found
    assert _found(office.engineer, "HUSH") == [("connection", "hush")]
    assert ("person", "Controller") in _found(office.engineer, "controller")
    assert ("agent", "Translator") in _found(office.engineer, "translat")


def test_all_words_must_be_there_in_any_order(office: Office) -> None:
    assert ("playbook", "Secret salaries") in _found(office.engineer, "salaries secret")
    assert _found(office.engineer, "salaries nonsense") == []
    # A column by its dataset and itself; by its dataset alone only the dataset.
    assert ("column", "who") in _found(office.engineer, "salaries who")
    assert ("column", "who") not in _found(office.engineer, "salaries")


def test_conversations_are_found_by_what_was_said(installation: Installation) -> None:
    person = installation.person(Role.editor, "asker")
    installation.steward.threads.create(person.access, title="Overdue in March", branch="main")
    assert _found(Desk(person), "overdue") == [("conversation", "Overdue in March")]


def test_a_runner_finds_what_is_shared_and_nothing_else(office: Office) -> None:
    assert _found(office.runner, "salar") == []
    assert _found(office.runner, "controller") == []
    name = office.engineer.ok("GET", f"/playbooks/{office.shared}")["name"]
    assert _found(office.runner, name) == [("playbook", name)]


def test_another_project_is_not_searched(office: Office) -> None:
    second = office.installation.project("Second")
    other = office.installation.person(Role.editor, "stranger", second)
    assert _found(Desk(other), "salar") == []


@pytest.mark.parametrize("words", ["", " ", "a", "%25", "_", "x" * 200])
def test_too_little_or_odd_text_finds_nothing(office: Office, words: str) -> None:
    assert _found(office.engineer, words) == []


def test_a_character_that_is_no_text_is_refused(office: Office) -> None:
    for path in ("/search", "/playbooks", "/runs"):
        answer = office.engineer.call("GET", f"{path}?q=%00x")
        assert answer.status_code == 422
        assert "character 0" in answer.json()["detail"]
