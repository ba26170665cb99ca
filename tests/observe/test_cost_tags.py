"""Costs by tag: tags of now, flows with several, flows without, and what is hidden."""

from typing import Any

import pytest

from steward.identity import Role
from steward.testing import Installation
from tests.observe.test_details import call

pytestmark = pytest.mark.every_database
API = "/api/v1"


def save_tagged(installation: Installation, slug: str, tags: list[str]) -> str:
    document = {
        "format": 1,
        "id": slug,
        "tags": tags,
        "budget": {"usd": 1},
        "steps": [{"id": "ask", "question": "Really?"}],
    }
    address = f"{API}/projects/{installation.scope.project_id}/playbooks"
    answer = installation.owner.client.post(address, json={"document": document})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    assert found["tags"] == tags
    return str(found["id"])


def _costs(installation: Installation, client: Any = None) -> dict[str, Any]:
    address = f"{API}/projects/{installation.scope.project_id}/costs"
    answer = (client or installation.owner.client).get(address, params={"by": "tag"})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_what_has_two_tags_counts_for_both_and_once_in_all(installation: Installation) -> None:
    both = save_tagged(installation, "both", ["sales", "finance"])
    one = save_tagged(installation, "one", ["sales"])
    for subject in (both, one, one):
        call(installation, 200, f"playbook:{subject}")
    call(installation, 200, "playbook:pbk_gone")
    found = _costs(installation)
    sums = {line["title"]: line["usd"] for line in found["lines"]}
    assert sums == {"sales": 1.5, "finance": 0.5, "None": 0.5}
    assert found["usd"] == 2.0
    # A viewer to whom the playbooks are not open sees nothing of them.
    viewer = installation.person(Role.viewer, "viewer")
    assert _costs(installation, viewer.client)["lines"] == []


def test_tags_are_found_and_a_wrong_one_is_refused(installation: Installation) -> None:
    save_tagged(installation, "tagged", ["quarter-end", "Prüfung"])
    address = f"{API}/projects/{installation.scope.project_id}/playbooks"
    client = installation.owner.client
    found = client.get(address, params={"q": "quarter-END"}).json()["items"]
    assert [each["slug"] for each in found] == ["tagged"]
    assert len(client.get(address, params={"q": "Prüf"}).json()["items"]) == 1
    for tags in (["a", "A"], [""], ["a\nb"], [" a"], ["x" * 41], [str(n) for n in range(11)]):
        document = {
            "format": 1,
            "id": "wrong",
            "tags": tags,
            "budget": {"usd": 1},
            "steps": [{"id": "ask", "question": "Really?"}],
        }
        refused = client.post(address, json={"document": document})
        assert refused.status_code == 422, tags
        assert "/tags" in refused.text
