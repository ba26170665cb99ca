"""The network policy over HTTP: read, tried, changed, undone; by whom."""

from steward.identity import Role
from steward.testing import Installation

RULES = {"allow": ["*.example.com:443"], "deny": ["private"], "programs": False}


def test_a_policy_is_tried_saved_and_undone(installation: Installation) -> None:
    owner = installation.owner
    base = f"/api/v1/projects/{installation.scope.project_id}"
    place = f"{base}/network/project"
    first = owner.client.get(place)
    assert (first.json()["allow"], first.json()["revision"]) == (None, 0)
    tried = owner.client.post(
        f"{base}/network/project/try", json={**RULES, "host": "10.0.0.1"}
    ).json()
    assert not tried["allowed"]
    assert "'private'" in tried["reason"]
    saved = owner.client.put(place, json=RULES, headers={"If-Match": first.headers["etag"]})
    assert saved.status_code == 200, saved.text
    assert saved.json()["allow"] == RULES["allow"]
    stale = owner.client.put(place, json=RULES, headers={"If-Match": first.headers["etag"]})
    assert stale.status_code in {409, 412}
    undone = owner.client.post(
        f"{base}/runs/{saved.json()['run_id']}/undo", json={"key": "call", "merge_rows": False}
    )
    assert undone.status_code == 200, undone.text
    assert owner.client.get(place).json()["allow"] is None


def test_who_may_change_which_policy(installation: Installation) -> None:
    base = f"/api/v1/projects/{installation.scope.project_id}/network"
    editor = installation.person(Role.editor, "editor")
    assert editor.client.get(f"{base}/project").status_code == 403
    admin = installation.person(Role.admin, "admin")
    assert admin.client.get(f"{base}/organisation").json()["may_change"] is False
    found = admin.client.put(f"{base}/organisation", json=RULES, headers={"If-Match": '"0"'})
    assert (found.status_code, found.json()["code"]) == (403, "not-an-organisation-owner")
    by_token = installation.by_token(installation.owner, Role.owner)
    assert (
        by_token.put(f"{base}/organisation", json=RULES, headers={"If-Match": '"0"'}).status_code
        == 403
    )
    bad = admin.client.put(
        f"{base}/project", json={**RULES, "deny": ["10.0.0.1/8"]}, headers={"If-Match": '"0"'}
    )
    assert bad.status_code == 422
