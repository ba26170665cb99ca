"""Skills over HTTP: write, check, switch, compare, export and import; nobody sees another project's."""

import io
import zipfile

import pytest
from starlette.testclient import TestClient

from steward.agents.skills.archives import MOST_ARCHIVE_BYTES, pack
from steward.identity import Role
from steward.testing import Installation
from tests.agents.skills.folders import SCRIPT, SKILL, greeting

FILES = {"references/words.md": "Hello.\n", "scripts/greet.py": SCRIPT}


@pytest.fixture
def client(installation: Installation) -> TestClient:
    return installation.owner.client


@pytest.fixture
def at(installation: Installation) -> str:
    return f"/api/v1/projects/{installation.scope.project_id}/skills"


def test_a_skill_is_written_read_changed_and_compared(client: TestClient, at: str) -> None:
    body = {"skill_md": SKILL, "files": FILES, "message": "Begun"}
    made = client.put(f"{at}/greeting", json=body)
    assert made.status_code == 200, made.text
    assert (made.json()["version"], made.headers["etag"]) == (1, '"1"')
    seen = client.get(f"{at}/greeting").json()
    assert seen["skill_md"] == SKILL
    assert [each["path"] for each in seen["files"]] == ["SKILL.md", *FILES]
    assert [each["tool"] for each in seen["scripts"]] == ["skill.greeting.greet"]
    again = {"skill_md": SKILL.replace("Be kind", "Be brief"), "message": "Shorter"}
    assert client.put(f"{at}/greeting", json=again).status_code == 428
    stale = client.put(f"{at}/greeting", json=again, headers={"If-Match": '"9"'})
    assert stale.status_code == 412
    saved = client.put(f"{at}/greeting", json=again, headers={"If-Match": '"1"'})
    assert saved.json()["version"] == 2
    versions = client.get(f"{at}/greeting/versions").json()["items"]
    assert [(each["version"], each["message"]) for each in versions] == [
        (2, "Shorter"),
        (1, "Begun"),
    ]
    diff = client.get(f"{at}/greeting/diff", params={"before": 1, "after": 2}).json()["items"]
    assert [each["path"] for each in diff] == ["SKILL.md"]
    back = client.post(f"{at}/greeting/versions/1/restore", headers={"If-Match": '"2"'})
    assert back.json()["version"] == 3
    listed = client.get(f"{at[:-7]}/tools").json()["items"]
    assert "skill.greeting.greet" in [each["name"] for each in listed]


def test_files_are_previewed_and_nothing_else(client: TestClient, at: str) -> None:
    url = f"{at}/entity-resolution/file"
    seen = client.get(url, params={"path": "references/rules.md"}).json()
    assert seen["text"].startswith("# The rules document")
    for path in ("../chart-choice/SKILL.md", "/etc/passwd", "references"):
        assert client.get(url, params={"path": path}).status_code == 404


def test_what_is_wrong_is_told_by_file_and_line(client: TestClient, at: str) -> None:
    wrong = {"skill_md": SKILL.replace("risk: compute", "risk: grave"), "files": FILES}
    answer = client.put(f"{at}/greeting", json=wrong)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/SKILL.md"
    checked = client.post(f"{at}/check", json={"name": "greeting", **wrong}).json()
    assert checked["valid"] is False
    assert (checked["faults"][0]["path"], checked["faults"][0]["line"]) == ("SKILL.md", 9)


def test_switching_deleting_and_restoring(client: TestClient, at: str) -> None:
    off = client.patch(f"{at}/chart-choice", json={"enabled": False}).json()
    assert (off["enabled"], off["origin"]) == (False, "builtin")
    assert client.delete(f"{at}/chart-choice").status_code == 409
    client.put(f"{at}/greeting", json={"skill_md": SKILL, "files": FILES})
    assert client.delete(f"{at}/greeting").status_code == 204
    assert client.get(f"{at}/greeting").status_code == 404
    gone = client.get(at, params={"deleted": True}).json()["items"]
    assert [each["name"] for each in gone] == ["greeting"]
    assert client.post(f"{at}/greeting/restore").json()["enabled"] is True


def test_archives_out_and_in(client: TestClient, at: str) -> None:
    content = pack(greeting(), "greeting")
    made = client.post(f"{at}/import", content=content)
    assert made.status_code == 201, made.text
    assert client.post(f"{at}/import", content=content).status_code == 409
    assert client.post(f"{at}/import?replace=true", content=content).status_code == 201
    out = client.get(f"{at}/greeting/export")
    assert (out.content, out.headers["content-type"]) == (content, "application/zip")
    evil = io.BytesIO()
    with zipfile.ZipFile(evil, "w") as archive:
        archive.writestr("../../SKILL.md", SKILL)
    assert client.post(f"{at}/import", content=evil.getvalue()).status_code == 422
    assert client.post(f"{at}/import", content=b"no zip").status_code == 422
    assert client.post(f"{at}/import", content=b"x" * (MOST_ARCHIVE_BYTES + 1)).status_code == 413


def test_viewers_look_and_strangers_see_nothing(installation: Installation, at: str) -> None:
    installation.owner.client.put(f"{at}/greeting", json={"skill_md": SKILL, "files": FILES})
    viewer = installation.person(Role.viewer).client
    assert viewer.get(f"{at}/greeting").status_code == 200
    assert viewer.put(f"{at}/other", json={"skill_md": SKILL}).status_code == 403
    assert viewer.patch(f"{at}/greeting", json={"enabled": False}).status_code == 403
    second = installation.project("Second")
    stranger = installation.person(Role.editor, "stranger", second).client
    for path in ("", "/greeting", "/greeting/versions", "/greeting/export"):
        assert stranger.get(at + path).status_code == 404
    own = f"/api/v1/projects/{second}/skills"
    assert stranger.get(f"{own}/greeting").status_code == 404
    assert "greeting" not in [each["name"] for each in stranger.get(own).json()["items"]]
