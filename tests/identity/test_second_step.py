"""An organisation requires a second step: people without one can set it up, and reach nothing else before."""

import pytest

from steward.core import Denied
from steward.identity import Origin, Role
from steward.store import EVERYWHERE
from steward.testing import Installation
from tests.api.test_access import GUARDED, one_loop
from tests.identity.test_two_step import HERE, PASSWORD, code_of

__all__ = ["one_loop"]

SETTING_UP = {
    "get /api/v1/session",
    "delete /api/v1/session",
    "put /api/v1/me/password",
    "get /api/v1/me/passkeys",
    "post /api/v1/me/passkeys",
    "post /api/v1/me/passkeys/options",
    "get /api/v1/me/two-step",
    "post /api/v1/me/two-step",
    "post /api/v1/me/two-step/confirm",
}


def require(installation: Installation, *, required: bool = True) -> None:
    installation.steward.identity.second_step.change(installation.owner.access, required=required)


def changes(installation: Installation) -> list[bool]:
    found = installation.steward.events.after(installation.scope, 0)
    return [event.data["required"] for event in found if event.type.endswith("second_step.changed")]


def test_without_the_second_step_a_session_reaches_no_other_route(
    installation: Installation,
) -> None:
    """A session that begins afterwards, and one that is open already."""
    person = installation.person(Role.owner)
    early = person.client
    require(installation)
    late = installation._signed_in(person.user)
    assert {str(each) for each in GUARDED if each.access.get("setting_up")} == SETTING_UP
    for operation in GUARDED:
        if str(operation) in SETTING_UP:
            continue
        assert operation.call(late, installation.scope.project_id) == 403, operation
        # There are more routes than anybody may ask at once.
        installation.clock.advance(seconds=1)
    answer = early.get(f"/api/v1/projects/{installation.scope.project_id}")
    assert (answer.status_code, answer.json()["code"]) == (403, "second-step-required")
    found = late.get("/api/v1/session").json()
    assert (found["second_step_due"], found["projects"]) == (True, [])


def test_setting_it_up_opens_everything_and_ends_what_a_password_began(
    installation: Installation,
) -> None:
    person = installation.person(Role.viewer)
    elsewhere, here = person.client, installation._signed_in(person.user)
    require(installation)
    project = f"/api/v1/projects/{installation.scope.project_id}"
    made = here.post("/api/v1/me/two-step", json={"password": PASSWORD}).json()
    assert here.get(project).status_code == 403, "not before the first code"
    code = code_of(made["secret"], installation)
    assert here.post("/api/v1/me/two-step/confirm", json={"code": code}).status_code == 200
    assert here.get(project).status_code == 200
    assert here.get("/api/v1/session").json()["second_step_due"] is False
    assert elsewhere.get(project).status_code == 401
    # Turned off again, it is due again.
    installation.clock.advance(seconds=30)
    code = code_of(made["secret"], installation)
    assert here.post("/api/v1/me/two-step/off", json={"code": code}).status_code == 204
    assert here.get(project).status_code == 403


def test_an_open_stream_ends(installation: Installation) -> None:
    identity = installation.steward.identity
    person = installation.person(Role.viewer)
    session = identity.sessions.sign_in(person.user.email, PASSWORD, address=HERE)
    assert identity.is_signed_in(session.principal)
    require(installation)
    assert not identity.is_signed_in(session.principal)


def test_people_of_a_provider_and_api_tokens_go_on(installation: Installation) -> None:
    identity = installation.steward.identity
    person = installation.person(Role.viewer)
    token = installation.by_token(person, Role.viewer)
    require(installation)
    with installation.steward.database.write(EVERYWHERE) as tx:
        session = identity.sessions.open_within(tx, person.user.id, Origin(provider_id="idp_x"))
    assert not identity.sessions.resolve(session.token).owes_second_step
    assert token.get(f"/api/v1/projects/{installation.scope.project_id}").status_code == 200


def test_another_organisation_is_not_affected(installation: Installation) -> None:
    identity = installation.steward.identity
    other = identity.users.create("other@example.com", "Other", PASSWORD)
    identity.projects.create_organisation("Other", other.id)
    require(installation)
    assert not identity.sessions.sign_in(
        other.email, PASSWORD, address=HERE
    ).principal.owes_second_step


def test_only_owners_of_the_organisation_change_it_and_each_change_is_recorded_once(
    installation: Installation,
) -> None:
    identity = installation.steward.identity
    with pytest.raises(Denied):
        identity.second_step.change(installation.person(Role.owner).access, required=True)
    require(installation)
    require(installation)
    found = identity.second_step.rule(installation.owner.access)
    assert found.since == installation.clock.now()
    assert {each.email for each in found.without} == {"owner@example.com", "the-owner@example.com"}
    require(installation, required=False)
    assert changes(installation) == [True, False]


def test_who_requires_it_in_the_browser_has_one_first(installation: Installation) -> None:
    owner = installation.owner
    address = f"/api/v1/projects/{installation.scope.project_id}/second-step"
    refused = owner.client.put(address, json={"required": True})
    assert (refused.status_code, refused.json()["code"]) == (
        409,
        "own-second-step-first",
    )
    made = owner.client.post("/api/v1/me/two-step", json={"password": PASSWORD}).json()
    code = code_of(made["secret"], installation)
    owner.client.post("/api/v1/me/two-step/confirm", json={"code": code})
    answer = owner.client.put(address, json={"required": True})
    assert (answer.status_code, answer.json()["without"]) == (200, [])
