"""What agents remember, over HTTP: told in the next run, listed with the run that wrote it, deleted, brought back."""

import asyncio
from typing import Any

import pytest
from starlette.testclient import TestClient

from steward.identity import Role
from steward.testing import Installation
from steward.testing.models import Item, ScriptedLineup, ScriptedModel, calls

DOCUMENT = {
    "name": "helper",
    "title": "Helper",
    "description": "Helps.",
    "instructions": "Help.",
}


class Scene:
    def __init__(self, installation: Installation, models: ScriptedLineup) -> None:
        self.installation, self.models = installation, models
        self.project = f"/api/v1/projects/{installation.scope.project_id}"
        self.notes = f"{self.project}/agents/helper/notes"
        self.model = ScriptedModel([])

    def save(self, **memory: Any) -> None:
        answer = self.installation.owner.client.put(
            f"{self.project}/agents/helper",
            json={"document": {**DOCUMENT, "memory": memory}},
            headers={"If-Match": '"0"'},
        )
        assert answer.is_success, answer.text

    def run(self, client: TestClient, *items: Item) -> str:
        self.model = ScriptedModel(list(items))
        self.models.play(self.model)
        tried = client.post(f"{self.project}/agents/helper/try", json={"task": "Go on."})
        assert tried.status_code == 201, tried.text
        self.installation.steward.runs.drive_until_idle()
        run_id: str = tried.json()["run_id"]
        return run_id

    def told(self) -> str:
        return "\n".join(str(each.to_json()) for each in self.model.requests[0].messages)

    def listed(self, client: TestClient) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = client.get(self.notes).json()["items"]
        return found

    def undo(self, client: TestClient, run_id: str) -> None:
        undone = client.post(f"{self.project}/runs/{run_id}/undo", json={"key": "call"})
        assert undone.is_success, undone.text


@pytest.fixture
def scene(installation: Installation, models: ScriptedLineup) -> Scene:
    return Scene(installation, models)


def test_an_agent_remembers_and_people_look_delete_and_bring_back(scene: Scene) -> None:
    scene.save()
    editor = scene.installation.person(Role.editor)
    client = editor.client
    wrote = scene.run(client, calls("remember", text="Ada is in Graz."), "Noted.")
    told = scene.run(client, "In Graz.")
    assert "Ada is in Graz." in scene.told()

    (note,) = scene.listed(client)
    assert (note["text"], note["number"], note["per"]) == ("Ada is in Graz.", 1, "project")
    assert (note["run_id"], note["author"]) == (wrote, editor.user.id)
    assert note["author_name"] == "The Editor"

    gone = client.delete(f"{scene.notes}/{note['id']}").json()
    assert (gone["deleted"], scene.listed(client)) == (1, [])
    scene.run(client, "I do not know.")
    assert "Graz" not in scene.told()
    # The run that was told it is told the same again, although the note is gone.
    scene.models.play()
    report = asyncio.run(scene.installation.steward.runs.replay(scene.installation.scope, told))
    assert report.is_same, report.divergences

    scene.undo(client, gone["run_id"])
    assert [each["text"] for each in scene.listed(client)] == ["Ada is in Graz."]
    scene.run(client, "In Graz.")
    assert "Ada is in Graz." in scene.told()


def test_all_notes_are_deleted_at_once_and_come_back(scene: Scene) -> None:
    scene.save()
    client = scene.installation.owner.client
    scene.run(client, calls("remember", text="a"), calls("remember", text="b"), "Noted.")

    gone = client.delete(scene.notes).json()

    assert (gone["deleted"], scene.listed(client)) == (2, [])
    assert client.delete(scene.notes).status_code == 404
    scene.undo(client, gone["run_id"])
    assert [each["text"] for each in scene.listed(client)] == ["b", "a"]


def test_the_notes_of_the_project_are_for_editors_to_delete(scene: Scene) -> None:
    scene.save()
    client = scene.installation.person(Role.operator).client
    scene.run(client, calls("remember", text="Shared."), "Noted.")
    (note,) = scene.listed(client)

    assert client.delete(f"{scene.notes}/{note['id']}").status_code == 403
    assert client.delete(scene.notes).status_code == 403
    assert len(scene.listed(client)) == 1


def test_a_persons_notes_are_theirs_to_see_and_to_delete(scene: Scene) -> None:
    scene.save(per="person")
    ann = scene.installation.person(Role.operator, "Ann").client
    ben = scene.installation.person(Role.admin, "Ben").client
    scene.run(ann, calls("remember", text="Ann likes coffee."), "Noted.")
    (note,) = scene.listed(ann)

    assert note["per"] == "person"
    assert scene.listed(ben) == []
    assert ben.delete(f"{scene.notes}/{note['id']}").status_code == 404
    assert ben.delete(scene.notes).status_code == 404
    scene.run(ben, "Nothing.")
    assert "coffee" not in scene.told()
    assert ann.delete(f"{scene.notes}/{note['id']}").is_success
    assert scene.listed(ann) == []


def test_notes_of_another_agent_or_project_are_not_there(scene: Scene) -> None:
    scene.save()
    owner = scene.installation.owner
    scene.run(owner.client, calls("remember", text="Ours."), "Noted.")
    (note,) = scene.listed(owner.client)
    elsewhere = scene.installation.project("Elsewhere")

    other = f"/api/v1/projects/{elsewhere}/agents/summariser/notes"
    assert owner.client.get(other).json()["items"] == []
    assert owner.client.delete(f"{other}/{note['id']}").status_code == 404
    assert owner.client.get(f"/api/v1/projects/{elsewhere}/agents/helper/notes").status_code == 404
    mine = f"{scene.project}/agents/summariser/notes"
    assert owner.client.delete(f"{mine}/{note['id']}").status_code == 404


@pytest.mark.parametrize(
    ("memory", "pointer"),
    [
        ({"keep": 0}, "/memory/keep"),
        ({"keep": 51}, "/memory/keep"),
        ({"per": "all"}, "/memory/per"),
    ],
)
def test_a_memory_out_of_bounds_is_refused_with_its_place(
    scene: Scene, memory: dict[str, Any], pointer: str
) -> None:
    document = {**DOCUMENT, "memory": memory}
    found = scene.installation.owner.client.post(
        f"{scene.project}/agents/check", json={"document": document}
    ).json()

    assert [each["pointer"] for each in found["problems"]] == [pointer]
