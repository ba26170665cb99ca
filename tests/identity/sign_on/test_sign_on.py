"""Signing in with a provider: accounts, roles by rules, invitations, what is recorded; secrets stay inside."""

from collections.abc import Callable
from typing import Any

import pytest

from steward.core.errors import Denied, Invalid, Stale
from steward.identity import Role
from steward.identity.sign_on import Provider, ProviderDocument
from steward.testing import Installation
from tests.identity.sign_on.office import (
    SECRET,
    Office,
    add_provider,
    begin,
    come_back,
    open_offices,
    person,
    problem,
    roles_of,
    rule,
    session_of,
    sign_in,
    told,
)

pytestmark = pytest.mark.every_database


@pytest.fixture
def office(installation: Installation) -> Office:
    found = Office(installation)
    open_offices(installation, found)
    return found


def test_a_group_gives_a_role_and_the_sign_in_is_recorded(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(installation, office, rule(installation, "finance", "operator"))
    client = installation.anonymous()
    assert client.get("/api/v1/sign-on").json() == [{"id": provider.id, "name": "Acme"}]
    wanted = f"/p/{installation.scope.project_id}/runs?tab=mine"
    assert sign_in(client, provider, office, person("ada", "finance"), wanted) == wanted
    assert roles_of(client) == {"First": "operator"}
    kinds = [kind for kind, _ in told(installation)]
    assert kinds[:3] == ["sign_on.signed_in", "member.changed", "sign_on.provider_saved"]
    _, data = told(installation)[1]
    assert data == {"role": "operator", "by": "sign-on", "provider": "Acme"}
    # The second time it is the same account, whatever it is called now.
    before = session_of(client)
    again = installation.anonymous()
    renamed = person("ada", "finance", email="ada.lovelace@acme.example")
    assert sign_in(again, provider, office, renamed) == "/"
    after = session_of(again)
    assert before is not None
    assert after is not None
    assert after["user"]["id"] == before["user"]["id"]
    assert after["user"]["email"] == "ada@acme.example"


def test_roles_follow_the_groups_at_each_sign_in(
    installation: Installation, office: Office
) -> None:
    second = installation.project("Second")
    provider = add_provider(
        installation,
        office,
        rule(installation, "staff", "viewer"),
        rule(installation, "leads", "admin"),
        rule(installation, "leads", "editor", second),
    )

    def groups(*names: str) -> dict[str, str]:
        client = installation.anonymous()
        sign_in(client, provider, office, person("ada", *names))
        return roles_of(client)

    assert groups("staff", "leads") == {"First": "admin", "Second": "editor"}
    assert groups("staff") == {"First": "viewer"}
    assert told(installation, second)[0][0] == "member.removed"
    # Without any group there is no way in, and nothing is left.
    client = installation.anonymous()
    assert sign_in(client, provider, office, person("ada")) == problem("sign-on-no-access")
    assert session_of(client) is None
    kinds = [kind for kind, _ in told(installation)]
    assert kinds[:2] == ["sign_on.refused", "member.removed"]
    assert groups("leads") == {"First": "admin", "Second": "editor"}


def test_the_rules_decide_again_about_what_the_provider_gave(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    client = installation.anonymous()
    sign_in(client, provider, office, person("ada", "staff"))
    found = session_of(client)
    assert found is not None
    members, owner = installation.steward.identity.members, installation.owner
    members.set_role(owner.access, found["user"]["id"], Role.editor)
    assert roles_of(client) == {"First": "editor"}
    again = installation.anonymous()
    sign_in(again, provider, office, person("ada", "staff"))
    assert roles_of(again) == {"First": "viewer"}


def test_membership_by_hand_outlives_the_group(installation: Installation, office: Office) -> None:
    provider = add_provider(
        installation, office, rule(installation, "leads", "admin"), join_verified_email=True
    )
    installation.person(Role.operator, "bob")
    claims = person("bob", "leads", email="bob@example.com")
    client = installation.anonymous()
    assert sign_in(client, provider, office, claims) == "/"
    assert roles_of(client) == {"First": "admin"}
    assert "sign_on.account_joined" in [kind for kind, _ in told(installation)]
    later = installation.anonymous()
    assert sign_in(later, provider, office, {**claims, "groups": []}) == "/"
    assert roles_of(later) == {"First": "operator"}


def test_two_providers_do_not_take_each_others_roles(installation: Installation) -> None:
    first, second = Office(installation), Office(installation, issuer="https://other.example")
    open_offices(installation, first, second)
    one = add_provider(installation, first, rule(installation, "staff", "viewer"))
    two = add_provider(
        installation, second, rule(installation, "leads", "admin"), join_verified_email=True
    )
    sign_in(installation.anonymous(), one, first, person("ada", "staff"))
    client = installation.anonymous()
    assert sign_in(client, two, second, person("ada", "leads")) == "/"
    assert roles_of(client) == {"First": "admin"}
    sign_in(installation.anonymous(), one, first, person("ada"))
    assert roles_of(client) == {"First": "admin"}
    sign_in(installation.anonymous(), two, second, person("ada"))
    assert roles_of(client) == {}


def test_the_last_owner_stays(installation: Installation, office: Office) -> None:
    provider = add_provider(installation, office, rule(installation, "boss", "owner"))
    client = installation.anonymous()
    sign_in(client, provider, office, person("ada", "boss"))
    assert roles_of(client) == {"First": "owner"}
    found = session_of(client)
    assert found is not None
    steward, owner = installation.steward, installation.owner
    # The organisation gets another owner and this one loses both roles: Ada is the only owner of the project.
    other = steward.identity.users.create("other@example.com", "Other")
    org = steward.identity.projects.create_organisation("Elsewhere", other.id)
    steward.identity.members.set_organisation_role(org.id, other.id, Role.owner)
    steward.identity.members.set_organisation_role(
        owner.access.scope.org_id, owner.user.id, Role.viewer
    )
    steward.identity.members.remove(owner.access, owner.user.id)
    again = installation.anonymous()
    assert sign_in(again, provider, office, person("ada")) == "/"
    assert roles_of(again) == {"First": "owner"}
    assert ("sign_on.refused", "last-owner") in [
        (kind, data.get("reason")) for kind, data in told(installation)
    ]


def test_without_just_in_time_only_an_invitation_lets_in(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(
        installation, office, rule(installation, "staff", "viewer"), just_in_time=False
    )
    claims = person("ada", "staff")
    refused = problem("sign-on-no-access")
    assert sign_in(installation.anonymous(), provider, office, claims) == refused
    assert installation.steward.identity.users.find("ada@acme.example") is None
    invitations = installation.steward.identity.invitations
    invitations.create(installation.owner.access, Role.editor, "ada@acme.example", 7)
    # An address that nobody has verified is nobody's.
    unverified = {**claims, "email_verified": False}
    assert sign_in(installation.anonymous(), provider, office, unverified) == refused
    client = installation.anonymous()
    assert sign_in(client, provider, office, claims) == "/"
    assert roles_of(client) == {"First": "editor"}


def test_claims_that_the_token_leaves_out_are_asked_for(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    office.userinfo = person("ada", "staff")
    client = installation.anonymous()
    assert sign_in(client, provider, office, {"sub": "ada"}) == "/"
    assert roles_of(client) == {"First": "viewer"}
    office.userinfo = person("eve", "staff")
    failed = problem("sign-on-failed")
    assert sign_in(installation.anonymous(), provider, office, {"sub": "bob"}) == failed


def test_a_session_ends_after_the_providers_hours_however_much_it_is_used(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(
        installation, office, rule(installation, "staff", "viewer"), session_hours=2
    )
    client = installation.anonymous()
    sign_in(client, provider, office, person("ada", "staff"))
    installation.clock.advance(minutes=90)
    assert session_of(client) is not None
    installation.clock.advance(minutes=31)
    assert session_of(client) is None


def test_new_keys_of_the_provider_are_fetched_once(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    claims = person("ada", "staff")
    assert sign_in(installation.anonymous(), provider, office, claims) == "/"
    office.rotate("second")
    assert sign_in(installation.anonymous(), provider, office, claims) == "/"
    assert office.requests.count("/jwks") == 2


def test_a_disabled_account_and_a_switched_off_provider_let_nobody_in(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    client = installation.anonymous()
    sign_in(client, provider, office, person("ada", "staff"))
    users = installation.steward.identity.users
    found = users.find("ada@acme.example")
    assert found is not None
    users.disable(found.id)
    refused = sign_in(installation.anonymous(), provider, office, person("ada", "staff"))
    assert refused == problem("sign-on-disabled")
    users.enable(found.id)
    sign_in(client, provider, office, person("ada", "staff"))
    said = office.agree(begin(client, provider), person("ada", "staff"))
    off = provider.document.model_copy(update={"enabled": False})
    providers = installation.steward.sign_on.providers
    providers.change(installation.owner.access, provider.id, 1, off, None)
    assert session_of(client) is None
    assert come_back(client, provider, said) == problem("sign-on-gone")
    assert client.get("/api/v1/sign-on").json() == []


def test_the_owner_signs_in_with_a_password_whatever_the_provider_does(
    installation: Installation, office: Office
) -> None:
    add_provider(installation, office)
    office.metadata = {"issuer": "https://nobody.example"}
    assert session_of(installation.owner.client) is not None


def test_providers_over_the_api(installation: Installation, office: Office) -> None:
    client, project = installation.owner.client, installation.scope.project_id
    place = f"/api/v1/projects/{project}/sign-on/providers"
    given = {"claim": "groups", "value": "staff", "project_id": project, "role": "viewer"}
    body: dict[str, Any] = {
        "name": "Acme",
        "issuer": office.issuer,
        "client_id": office.client_id,
        "client_secret": SECRET,
        "rules": [given],
    }
    created = client.post(place, json=body)
    assert created.status_code == 201
    assert created.json()["has_secret"] is True
    assert created.json()["redirect_uri"].endswith(f"/{created.json()['id']}/callback")
    one = f"{place}/{created.json()['id']}"
    assert client.post(f"{one}/check").json()["algorithms"] == ["ES256"]
    body.pop("client_secret")
    changed = client.put(one, json={**body, "name": "Acme 2"}, headers={"If-Match": '"1"'})
    assert changed.json()["has_secret"] is True
    assert client.put(one, json=body, headers={"If-Match": '"1"'}).status_code == 412
    # A secret is for the provider it was given for.
    elsewhere = {**body, "issuer": "https://other.example"}
    moved = client.put(one, json=elsewhere, headers={"If-Match": '"2"'})
    assert moved.json()["has_secret"] is False
    everything = client.get(place).text + str(told(installation))
    assert SECRET not in everything
    assert client.delete(one).status_code == 204
    assert client.get(place).json()["items"] == []
    for wrong, where in (
        ({"issuer": "http://login.example"}, "/issuer"),
        ({"issuer": "https://login.example?x=1"}, "/issuer"),
        ({"rules": [{**given, "project_id": f"prj_{'0' * 26}"}]}, "/rules/0/project_id"),
    ):
        refused = client.post(place, json={**body, **wrong})
        assert refused.status_code == 422
        assert [each["pointer"] for each in refused.json()["errors"]] == [where]


def test_only_owners_of_the_organisation_set_it_up(
    installation: Installation, office: Office
) -> None:
    providers = installation.steward.sign_on.providers
    document = ProviderDocument(name="Mine", issuer=office.issuer, client_id="x")
    with pytest.raises(Denied, match="owners of the organisation"):
        providers.create(installation.person(Role.owner, "tom").access, document, None)
    created = add_provider(installation, office)
    with pytest.raises(Stale):
        providers.change(installation.owner.access, created.id, 7, document, None)
    foreign = rule(installation, "staff", "viewer", f"prj_{'0' * 26}")
    with pytest.raises(Invalid, match="not there"):
        add_provider(installation, office, foreign)


@pytest.fixture
def with_settings(installation: Installation) -> Callable[[Office], Provider]:
    from steward.core.settings import SignOnSettings

    def provide(office: Office) -> Provider:
        given = {
            "name": "Of the file",
            "issuer": office.issuer,
            "client_id": office.client_id,
            "client_secret": SECRET,
            "rules": [
                {"claim": "groups", "value": "staff", "project": "First", "role": "viewer"},
                {"claim": "groups", "value": "staff", "project": "Not there", "role": "owner"},
            ],
        }
        settings = SignOnSettings.model_validate({"providers": {"acme": given}})
        assert installation.owner.access.role is Role.owner
        providers = installation.steward.sign_on.providers
        providers._settings = settings
        return providers.find("acme")

    return provide


def test_a_provider_of_the_settings_file(
    installation: Installation, office: Office, with_settings: Callable[[Office], Provider]
) -> None:
    provider = with_settings(office)
    client = installation.anonymous()
    assert client.get("/api/v1/sign-on").json() == [{"id": "acme", "name": "Of the file"}]
    assert "/api/v1/sign-on/acme/callback" in begin(client, provider).replace("%2F", "/")
    assert sign_in(client, provider, office, person("ada", "staff")) == "/"
    assert roles_of(client) == {"First": "viewer"}
    place = f"/api/v1/projects/{installation.scope.project_id}/sign-on/providers"
    owner = installation.owner.client
    assert owner.get(place).json()["items"][0]["source"] == "settings"
    assert owner.delete(f"{place}/acme").status_code == 409
