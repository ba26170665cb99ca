"""Connection documents: whole or not at all, secrets apart, deleted and brought back, unseen by other projects."""

from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

from steward.connections import Connection, Desk, Draft, load_connectors
from steward.connections.health import KEPT
from steward.core.errors import Conflict, Denied, Invalid, NotFound, Stale
from steward.identity import Role
from steward.store import Scope
from steward.testing import Installation
from tests.connections.drafts import as_draft
from tests.tools.room import run

pytestmark = pytest.mark.every_database

API = Draft("crm", "http_api", {"base_url": "https://api.example.com"}, scope_hint="Customers")


def _desk(installation: Installation) -> Desk:
    return installation.steward.connections


def _made(installation: Installation, draft: Draft = API, **changes: Any) -> Connection:
    return _desk(installation).documents.create(
        installation.owner.access, replace(draft, **changes)
    )


def _events(installation: Installation) -> list[str]:
    found = installation.steward.events.after(installation.scope, 0)
    return [each.type.rpartition("steward.")[2] for each in found if "connection" in each.type]


def test_a_document_is_made_changed_deleted_and_brought_back(installation: Installation) -> None:
    documents, access = _desk(installation).documents, installation.owner.access
    made = _made(installation)
    assert (made.name, made.state, made.revision) == ("crm", "unknown", 1)
    assert made.place == "https://api.example.com"
    draft = as_draft(made, settings={"base_url": "https://api.example.com/v2"})
    changed = documents.change(access, made.id, 1, draft)
    assert (changed.revision, changed.place) == (2, "https://api.example.com/v2")
    with pytest.raises(Stale):
        documents.change(access, made.id, 1, draft)
    documents.delete(access, made.id)
    with pytest.raises(NotFound):
        documents.get(access.scope, made.id)
    with pytest.raises(NotFound):
        documents.named(access.scope, "crm")
    assert documents.listed(access.scope) == []
    assert documents.restore(access, made.id).revision == 2
    assert [each.id for each in documents.listed(access.scope)] == [made.id]
    assert _events(installation) == [
        f"connection.{what}" for what in ("created", "changed", "deleted", "restored")
    ]


def test_names_are_taken_once_and_free_again(installation: Installation) -> None:
    documents, access = _desk(installation).documents, installation.owner.access
    first = _made(installation)
    with pytest.raises(Conflict, match="already"):
        _made(installation)
    documents.delete(access, first.id)
    second = _made(installation)
    with pytest.raises(Conflict):
        documents.restore(access, first.id)
    third = _made(installation, name="other")
    with pytest.raises(Conflict):
        documents.change(access, third.id, 1, as_draft(third, name="crm"))
    documents.delete(access, second.id)
    assert documents.restore(access, first.id).name == "crm"


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"name": "With Space"}, "/name"),
        ({"name": "a" * 41}, "/name"),
        ({"settings": {}}, "/settings/base_url"),
        ({"settings": {"base_url": "ftp://x"}}, "/settings"),
        ({"settings": {"base_url": "https://u:p@x"}}, "/settings"),
        ({"settings": {**API.settings, "extra": 1}}, "/settings/extra"),
        ({"secrets": {"password": "x"}}, "/secrets/password"),
        ({"secrets": {"token": "steward.redaction_key"}}, "/secrets/token"),
        ({"values": {"password": "x"}}, "/values/password"),
        ({"kind": "slack", "settings": {}}, "/values/token"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(
    installation: Installation, changes: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(Invalid) as wrong:
        _made(installation, **changes)
    assert pointer in [each.pointer for each in wrong.value.problems]
    assert _desk(installation).documents.listed(installation.scope) == []


def test_values_become_secrets_and_the_document_knows_their_names(
    installation: Installation,
) -> None:
    settings = {**API.settings, "authentication": "bearer"}
    made = _made(installation, settings=settings, values={"token": "t0p-secret"})
    assert made.secrets == {"token": "connection.crm.token"}
    secrets = installation.steward.secrets
    assert secrets.get(installation.scope, "connection.crm.token") == "t0p-secret"
    assert "t0p-secret" not in repr(made)
    opened = _desk(installation).open(installation.scope, made)
    assert opened.secrets == {"token": "t0p-secret"}
    assert "t0p-secret" not in repr(opened) + repr(replace(API, values={"token": "t0p-secret"}))
    found = installation.steward.events.after(installation.scope, 0)
    assert "t0p-secret" not in str(found)


def test_only_admins_write_and_other_projects_see_nothing(installation: Installation) -> None:
    documents = _desk(installation).documents
    made = _made(installation)
    editor = installation.person(Role.editor).access
    for act in (
        lambda: documents.create(editor, replace(API, name="mine")),
        lambda: documents.change(editor, made.id, 1, API),
        lambda: documents.delete(editor, made.id),
        lambda: documents.restore(editor, made.id),
    ):
        with pytest.raises(Denied):
            act()
    other = Scope(installation.scope.org_id, installation.project("Other"))
    assert documents.listed(other) == []
    for look in (
        lambda: documents.get(other, made.id),
        lambda: documents.named(other, "crm"),
        lambda: _desk(installation).health.history(other, made.id),
        lambda: _desk(installation).tools.listed(other, made.id),
    ):
        with pytest.raises(NotFound):
            look()


def test_checks_are_kept_for_a_while_and_changes_of_health_are_told(
    installation: Installation,
) -> None:
    desk = _desk(installation)
    made = _made(installation, settings={"base_url": "http://127.0.0.1:1"})
    user = installation.owner.user.id

    async def often() -> None:
        for _ in range(KEPT + 5):
            await desk.health.check(installation.scope, made.id, user)

    run(often())
    history = desk.health.history(installation.scope, made.id)
    assert len(history) == KEPT
    assert {each.code for each in history} == {"address-refused"}
    assert "Only public addresses" in history[0].words
    assert history[0].id > history[-1].id
    assert desk.documents.get(installation.scope, made.id).state == "failing"
    assert _events(installation).count("connection.health") == 1


def test_a_missing_secret_is_said_by_its_name(installation: Installation) -> None:
    desk = _desk(installation)
    settings = {**API.settings, "authentication": "bearer"}
    made = _made(installation, settings=settings, secrets={"token": "gone"})
    check = run(desk.health.check(installation.scope, made.id, installation.owner.user.id))
    assert (check.worked, check.code) == (False, "misconfigured")
    assert "'gone'" in check.words


def test_a_careless_check_does_not_tell_a_secret(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def careless(_around: Any, _settings: Any, secrets: Any) -> str:
        raise Invalid(f"Refused: {secrets['token']} and {quote(secrets['token'], safe='')}.")

    known = load_connectors()
    monkeypatch.setitem(known._items, "http_api", replace(known.get("http_api"), check=careless))
    made = _made(installation, values={"token": "t0p/secret value"})
    desk, user = _desk(installation), installation.owner.user.id
    check = run(desk.health.check(installation.scope, made.id, user))
    assert check.words == "Refused: … and …."
