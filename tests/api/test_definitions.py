"""The routes of definitions: read, confirm, change, compare, restore."""

from typing import Any

import pytest

from steward.identity import Role
from steward.testing import Installation

pytestmark = pytest.mark.every_database


class Definitions:
    """The routes of one project, as an editor calls them."""

    def __init__(self, installation: Installation) -> None:
        self._client = installation.owner.client
        self._base = f"/api/v1/projects/{installation.scope.project_id}/definitions"

    def get(self, path: str = "", **query: Any) -> Any:
        answer = self._client.get(self._base + path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any, revision: int | None = None) -> Any:
        headers = {} if revision is None else {"If-Match": f'"{revision}"'}
        return self._client.post(self._base + path, json=body, headers=headers)


@pytest.fixture
def definitions(installation: Installation) -> Definitions:
    access = installation.owner.access
    csv = "id,buyer,price,quantity\n" + "".join(
        f"{n},Buyer {n % 7},{n % 9}.5,{n % 4}\n" for n in range(1, 80)
    )
    installation.steward.workbench.bringing.load_text(
        access.scope, access.user_id, "lines.csv", csv, "lines"
    )
    return Definitions(installation)


def test_proposals_are_confirmed_rejected_and_undone(definitions: Definitions) -> None:
    first = definitions.get()
    assert first["revision"] == 0
    assert first["definitions"]["tables"]["lines"]["columns"]["id"]["role"] == "identifier"
    assert first["definitions"]["tables"]["lines"]["why"] == "From its profile."
    assert first["definitions"]["metrics"]["revenue"]["state"] == "proposed"

    confirmed = definitions.post("/confirm", {"entries": ["/metrics/revenue"]}, 0)
    assert confirmed.status_code == 201, confirmed.text
    rejected = definitions.post("/reject", {"entries": ["/tables/lines/columns/buyer"]}, 1)
    assert rejected.json()["revision"] == 2

    second = definitions.get()["definitions"]
    assert second["metrics"]["revenue"]["state"] == "confirmed"
    assert second["metrics"]["revenue"]["by"]
    assert second["tables"]["lines"]["columns"]["buyer"]["state"] == "rejected"
    assert [each["entry"] for each in definitions.get("/diff", left=1, right=2)] == [
        "/tables/lines/columns/buyer"
    ]
    assert definitions.post("/restore", {"revision": 1}, 2).json()["revision"] == 3
    restored = definitions.get()["definitions"]
    assert restored["tables"]["lines"]["columns"]["buyer"]["state"] == "proposed"
    history = definitions.get("/history")["items"]
    assert [(each["revision"], each["changes"]) for each in history] == [(3, 1), (2, 1), (1, 1)]
    assert history[0]["message"] == "Restored revision 1"
    assert history[0]["author_name"]


def test_everything_proposed_is_confirmed_at_once(definitions: Definitions) -> None:
    changed = definitions.post("/confirm", {}, 0).json()

    found = definitions.get()["definitions"]
    assert changed["changed"] == 6
    assert {each["state"] for each in found["tables"]["lines"]["columns"].values()} == {"confirmed"}
    assert found["tables"]["lines"]["state"] == "confirmed"
    assert definitions.post("/confirm", {}, 1).json() == {"revision": 1, "changed": 0, "run_id": ""}


def test_a_change_is_previewed_then_made_and_names_what_the_data_lacks(
    definitions: Definitions,
) -> None:
    value = {"role": "measure", "total": "sum", "unit": "EUR", "state": "confirmed"}
    body = {"changes": [{"entry": "/tables/lines/columns/price", "value": value}]}

    shown = definitions.post("/preview", body).json()
    assert shown["changes"][0]["after"]["unit"] == "EUR"
    assert shown["used_by"] == [{"kind": "metric", "name": "revenue", "title": "revenue"}]
    assert definitions.get()["revision"] == 0

    assert definitions.post("/changes", body, 0).status_code == 201
    lost = {"changes": [{"entry": "/tables/gone", "value": {"row": "thing", "state": "confirmed"}}]}
    assert definitions.post("/changes", lost, 1).status_code == 201
    assert definitions.get()["missing"] == ["/tables/gone"]
    assert definitions.get("/uses", entry="/tables/lines/columns/price") == shown["used_by"]


def test_a_change_needs_the_revision_it_was_made_from(definitions: Definitions) -> None:
    body = {"entries": ["/metrics/revenue"]}

    assert definitions.post("/confirm", body).status_code == 428
    assert definitions.post("/confirm", body, 7).json()["code"] == "stale"
    assert definitions.post("/confirm", {"entries": ["/metrics/lost"]}, 0).status_code == 404


def test_definitions_leave_and_come_back_as_a_file(definitions: Definitions) -> None:
    definitions.post("/confirm", {}, 0)
    exported = definitions.get("/export", format="ossie")
    assert exported["losses"]
    definitions.post("/restore", {"revision": 0}, 1)

    body = {"text": exported["text"]}
    trial = definitions.post("/import", {**body, "trial": True}, 2).json()
    assert (trial["revision"], len(trial["changes"])) == (2, 6)
    done = definitions.post("/import", body, 2)
    assert done.status_code == 201, done.text
    assert done.json()["revision"] == 3
    assert definitions.get("/diff", left=1, right=3) == []


def test_a_file_larger_than_an_ordinary_request_comes_in(definitions: Definitions) -> None:
    definitions.post("/confirm", {}, 0)
    exported = definitions.get("/export", format="ossie")["text"]
    remarks = "# remark\n" * 300_000
    trial = definitions.post("/import", {"text": remarks + exported, "trial": True}, 1)
    assert (trial.status_code, len(remarks) > 2_000_000) == (201, True), trial.text


def test_undoing_the_run_of_a_change_takes_it_back(
    installation: Installation, definitions: Definitions
) -> None:
    made = definitions.post("/confirm", {"entries": ["/metrics/revenue"]}, 0).json()
    base = f"/api/v1/projects/{installation.scope.project_id}/runs/{made['run_id']}"

    undone = installation.owner.client.post(f"{base}/undo", json={"key": "call"})

    assert undone.is_success, undone.text
    assert definitions.get()["definitions"]["metrics"]["revenue"]["state"] == "proposed"


def test_viewers_read_and_do_not_change(
    installation: Installation, definitions: Definitions
) -> None:
    viewer = installation.person(Role.viewer)
    base = f"/api/v1/projects/{installation.scope.project_id}/definitions"

    assert viewer.client.get(base).status_code == 200
    answer = viewer.client.post(f"{base}/confirm", json={}, headers={"If-Match": '"0"'})
    assert answer.status_code == 403
    assert definitions.get()["revision"] == 0
