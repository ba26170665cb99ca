"""Branches that are done with go; a trial of entity resolution is applied only to the data it tried."""

from pathlib import Path
from typing import Any

import pytest

from steward.identity import Role
from steward.ingest import Options
from steward.testing import Installation
from steward.versions import VersionConflict

pytestmark = pytest.mark.every_database

DUPLICATES = "id,company,email\n" + "".join(
    f"{n},Company {n // 2} {'GmbH' if n % 2 else 'G.m.b.H.'},info@company{n // 2}.example\n"
    for n in range(60)
)


def _at(installation: Installation, what: str) -> str:
    return f"/api/v1/projects/{installation.scope.project_id}/{what}"


def _load(installation: Installation, text: str, name: str) -> None:
    path = Path(installation.steward.settings.home) / "incoming.csv"
    path.write_text(text)
    who = installation.owner.user.id
    installation.steward.workbench.bringing.load(
        installation.scope, who, path, f"{name}.csv", name, Options()
    )


def _names(installation: Installation, what: str) -> list[str]:
    answer = installation.owner.client.get(_at(installation, what))
    return [item["name"] for item in answer.json()["items"]]


def _done(installation: Installation, what: str, **body: Any) -> dict[str, Any]:
    """Starts a run and waits for what it found."""
    started = installation.owner.client.post(_at(installation, what), json=body)
    assert started.status_code == 202, started.text
    runs = installation.steward.runs
    runs.drive_until_idle()
    ended = runs.outcome(installation.scope, started.json()["id"])
    value: dict[str, Any] = ended["output"]["value"]
    return value


# The second as people write it into an address by hand, the others as programs escape them.
@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("plain", "plain"),
        ("trial/of/mine", "trial/of/mine"),
        ("trial/of/mine", "trial%2Fof%2Fmine"),
        ("50% off?", "50%25%20off%3F"),
    ],
)
def test_a_branch_is_deleted_by_its_name(
    installation: Installation, name: str, written: str
) -> None:
    client = installation.person(Role.editor).client
    made = client.post(_at(installation, "branches"), json={"name": name})
    assert made.status_code == 201, made.text
    assert _names(installation, "branches") == sorted(["main", name])
    assert client.delete(_at(installation, f"branches/{written}")).status_code == 204
    assert _names(installation, "branches") == ["main"]
    assert client.delete(_at(installation, f"branches/{written}")).status_code == 404


def test_main_and_protected_branches_stay(installation: Installation) -> None:
    owner = installation.owner
    workspace = installation.steward.workbench.datasets.workspace(installation.scope, owner.user.id)
    workspace.create_branch("release/1")
    workspace.protect_branch("release/1")
    for name in ("main", "release/1"):
        refused = owner.client.delete(_at(installation, f"branches/{name}"))
        assert refused.status_code == 403, refused.text
        assert "protected" in refused.json()["detail"]
    workspace.protect_branch("release/1", protected=False)
    assert owner.client.delete(_at(installation, "branches/release/1")).status_code == 204


def test_a_trial_is_applied_only_to_the_data_it_tried(installation: Installation) -> None:
    client = installation.owner.client
    _load(installation, DUPLICATES, "crm")
    rules = _done(installation, "resolve/propose", datasets=["crm"])["rules"]
    wanted = {"datasets": ["crm"], "rules": rules, "target": "customers"}
    client.post(_at(installation, "branches"), json={"name": "trial/1"})
    tried = _done(installation, "resolve", **wanted, branch="trial/1")
    assert client.delete(_at(installation, "branches/trial/1")).status_code == 204

    _load(installation, DUPLICATES.replace("Company 1 ", "Firm 1 "), "crm")
    refused = client.post(_at(installation, "resolve"), json={**wanted, "base": tried["base"]})
    assert (refused.status_code, refused.json()["code"]) == (409, "version-conflict")
    assert "crm changed" in refused.json()["detail"]
    assert _names(installation, "datasets") == ["crm"]

    # Back as it was tried, and with something else on the branch, it goes through.
    client.post(_at(installation, "undo"), json={})
    _load(installation, "id,word\n1,other\n", "unrelated")
    applied = _done(installation, "resolve", **wanted, base=tried["base"])
    assert (applied["rows"], applied["entities"]) == (tried["rows"], tried["entities"])
    assert "customers" in _names(installation, "datasets")

    again = client.post(_at(installation, "resolve"), json={**wanted, "base": tried["base"]})
    assert again.status_code == 409
    assert "customers" in again.json()["detail"]


def test_data_that_changes_while_a_trial_is_applied_is_a_conflict(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer at the start is a courtesy; the commit itself is held to the base."""
    _load(installation, DUPLICATES, "crm")
    rules = _done(installation, "resolve/propose", datasets=["crm"])["rules"]
    workbench, who = installation.steward.workbench, installation.owner.user.id
    base = workbench.datasets.workspace(installation.scope, who).branch("main").head
    _load(installation, DUPLICATES.replace("Company 1 ", "Firm 1 "), "crm")
    monkeypatch.setattr(workbench.resolving, "refuse_changed", lambda *_: None)
    with pytest.raises(VersionConflict):
        workbench.resolving.apply(installation.scope, who, rules, ["crm"], "customers", base=base)
    assert _names(installation, "datasets") == ["crm"]
