"""Passkeys: made after proving who one is, good at one address, each challenge once, and two steps in one."""

from typing import Any

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from steward.core import Conflict, Denied, NotFound
from steward.identity import Role, relying_party
from steward.identity._tables import sign_on_identities, users
from steward.store import EVERYWHERE
from steward.testing import Installation, Person
from tests.identity.authenticator import Authenticator
from tests.identity.test_second_step import require
from tests.identity.test_two_step import PASSWORD, code_of

_LOCAL = "http://localhost:8400"


def browser(installation: Installation, person: Person | None = None) -> TestClient:
    """At the name of the machine: browsers know no passkeys for numbers."""
    client = installation.anonymous()
    client.base_url = _LOCAL
    if person is not None:
        given = {"email": person.user.email, "password": PASSWORD}
        answer = client.post("/api/v1/session", json=given)
        client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
    return client


def begun(client: TestClient, password: str | None = PASSWORD) -> dict[str, Any]:
    answer = client.post("/api/v1/me/passkeys/options", json={"password": password})
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()["public_key"]
    return found


def added(client: TestClient, device: Authenticator, name: str = "Laptop") -> dict[str, Any]:
    body = {"name": name, "credential": device.made(begun(client))}
    answer = client.post("/api/v1/me/passkeys", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def asked(client: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = client.post("/api/v1/session/passkey/options").json()["public_key"]
    return found


def sign_in(client: TestClient, credential: dict[str, Any]) -> tuple[int, str]:
    answer = client.post("/api/v1/session/passkey", json={"credential": credential})
    if answer.status_code == 201:
        client.headers["X-CSRF-Token"] = answer.json()["csrf_token"]
    return answer.status_code, answer.json().get("code", "")


def told(installation: Installation) -> list[tuple[str, dict[str, Any]]]:
    found = installation.steward.events.after(installation.scope, 0)
    return [
        (event.type.rpartition(".")[2], event.data) for event in found if ".passkey." in event.type
    ]


@pytest.fixture
def ada(installation: Installation) -> Person:
    return installation.person(Role.viewer, "ada")


@pytest.fixture
def device(installation: Installation, ada: Person) -> Authenticator:
    """A security key that Ada has set up."""
    made = Authenticator()
    added(browser(installation, ada), made)
    return made


def test_a_passkey_signs_in_without_a_password(
    installation: Installation, ada: Person, device: Authenticator
) -> None:
    there = browser(installation)
    options = asked(there)
    assert (options["userVerification"], options["allowCredentials"]) == ("required", [])
    assert sign_in(there, device.signed(options)) == (201, "")
    assert there.get("/api/v1/session").json()["user"]["email"] == ada.user.email
    [kept] = there.get("/api/v1/me/passkeys").json()
    assert (kept["name"], kept["last_used_at"] is not None) == ("Laptop", True)
    by = {"passkey": "Laptop", "by": ada.user.id}
    assert told(installation) == [("added", by), ("signed_in", by)]


def test_a_challenge_is_good_once_for_one_browser_and_five_minutes(
    installation: Installation, device: Authenticator
) -> None:
    there, elsewhere = browser(installation), browser(installation)
    answer = device.signed(asked(there))
    asked(elsewhere)
    assert sign_in(elsewhere, answer) == (403, "passkey-expired")
    assert sign_in(there, answer)[0] == 201
    # With the cookie as it was: what was seen on the way cannot be sent again.
    again = browser(installation)
    options = asked(again)
    cookies = dict(again.cookies)
    assert sign_in(again, device.signed(options))[0] == 201
    again.cookies.update(cookies)
    assert sign_in(again, device.signed(options)) == (403, "passkey-expired")
    late = asked(there)
    installation.clock.advance(seconds=300)
    assert sign_in(there, device.signed(late)) == (403, "passkey-expired")


def test_a_wrong_answer_uses_up_its_challenge(
    installation: Installation, device: Authenticator
) -> None:
    there = browser(installation)
    options = asked(there)
    device.origin = "https://steward.example.net"
    assert sign_in(there, device.signed(options)) == (401, "passkey-refused")
    device.origin = _LOCAL
    assert sign_in(there, device.signed(options)) == (403, "passkey-expired")


def test_what_another_address_or_an_unattended_device_signed_is_refused(
    installation: Installation, ada: Person, device: Authenticator
) -> None:
    there = browser(installation)
    device.verifies = False
    assert sign_in(there, device.signed(asked(there))) == (401, "passkey-refused")
    device.verifies = True
    other_name = asked(there) | {"rpId": "steward.example.net"}
    assert sign_in(there, device.signed(other_name)) == (401, "passkey-refused")
    # Nor is one accepted that would be good for another address.
    here = browser(installation, ada)
    forged = Authenticator(origin="http://localhost:9999").made(begun(here))
    answer = here.post("/api/v1/me/passkeys", json={"name": "Forged", "credential": forged})
    assert (answer.status_code, answer.json()["code"]) == (422, "passkey-refused")
    unattended = Authenticator(verifies=False).made(begun(here))
    answer = here.post("/api/v1/me/passkeys", json={"name": "No PIN", "credential": unattended})
    assert (answer.status_code, answer.json()["code"]) == (422, "passkey-refused")


def test_nobody_signs_in_with_the_passkey_of_another(
    installation: Installation, ada: Person, device: Authenticator
) -> None:
    bo = installation.person(Role.viewer, "bo")
    own = Authenticator()
    added(browser(installation, bo), own)
    there = browser(installation)
    own.user = ada.user.id
    assert sign_in(there, own.signed(asked(there))) == (401, "passkey-unknown")
    own.user, own.id = ada.user.id, device.id
    assert sign_in(there, own.signed(asked(there))) == (401, "passkey-refused")
    # The challenge of another session sets nothing up, and a passkey belongs to one account.
    stolen = Authenticator().made(begun(browser(installation, ada)))
    here = browser(installation, bo)
    answer = here.post("/api/v1/me/passkeys", json={"name": "Stolen", "credential": stolen})
    assert (answer.status_code, answer.json()["code"]) == (403, "passkey-expired")
    answer = here.post(
        "/api/v1/me/passkeys", json={"name": "Again", "credential": device.made(begun(here))}
    )
    assert answer.status_code == 409
    mine = installation.steward.identity.passkeys.listed(ada.user.id)[0]
    with pytest.raises(NotFound):
        installation.steward.identity.passkeys.remove(bo.user.id, mine.id)


@pytest.mark.every_database
def test_a_copy_falls_behind(installation: Installation, device: Authenticator) -> None:
    there = browser(installation)
    assert sign_in(there, device.signed(asked(there)))[0] == 201
    device.count -= 1
    assert sign_in(there, device.signed(asked(there))) == (401, "passkey-copied")
    assert told(installation)[-1] == ("refused", {"passkey": "Laptop", "reason": "copied"})


def test_a_passkey_that_several_devices_share_does_not_count(
    installation: Installation, device: Authenticator
) -> None:
    for _ in range(2):
        device.count = -1
        there = browser(installation)
        assert sign_in(there, device.signed(asked(there)))[0] == 201


def test_a_disabled_person_and_a_removed_passkey_do_not_come_in(
    installation: Installation, ada: Person, device: Authenticator
) -> None:
    identity, there = installation.steward.identity, browser(installation)
    identity.users.disable(ada.user.id)
    assert sign_in(there, device.signed(asked(there))) == (401, "unauthenticated")
    identity.users.enable(ada.user.id)
    assert sign_in(there, device.signed(asked(there)))[0] == 201
    here = browser(installation, ada)
    [kept] = here.get("/api/v1/me/passkeys").json()
    assert here.delete(f"/api/v1/me/passkeys/{kept['id']}").status_code == 204
    assert there.get("/api/v1/session").status_code == 401, "it ends what it began"
    assert sign_in(there, device.signed(asked(there))) == (401, "passkey-unknown")
    assert told(installation)[-1][0] == "removed"


def test_making_one_needs_the_password_or_a_fresh_sign_in(
    installation: Installation, ada: Person
) -> None:
    here = browser(installation, ada)
    begun(here, password=None)
    installation.clock.advance(seconds=601)
    refused = here.post("/api/v1/me/passkeys/options", json={})
    assert (refused.status_code, refused.json()["code"]) == (403, "sign-in-again")
    refused = here.post("/api/v1/me/passkeys/options", json={"password": "not this one"})
    assert (refused.status_code, refused.json()["code"]) == (403, "wrong-password")
    device = Authenticator()
    added(here, device)
    options = begun(here)
    assert [each["id"] for each in options["excludeCredentials"]] == [device.made(options)["id"]]
    assert ada.user.email not in str(options["user"]["id"])


@pytest.mark.every_database
def test_it_counts_as_two_steps_where_they_are_required(
    installation: Installation, ada: Person, device: Authenticator
) -> None:
    require(installation)
    second_step = installation.steward.identity.second_step
    without = {each.email for each in second_step.rule(installation.owner.access).without}
    assert without == {"owner@example.com"}
    there = browser(installation)
    assert sign_in(there, device.signed(asked(there)))[0] == 201
    project = f"/api/v1/projects/{installation.scope.project_id}"
    assert there.get(project).status_code == 200
    # A password alone opens nothing, and sets up nothing beside the passkey.
    here = browser(installation, ada)
    assert here.get(project).json()["code"] == "second-step-required"
    for place in ("two-step", "passkeys/options"):
        refused = here.post(f"/api/v1/me/{place}", json={"password": PASSWORD})
        assert (refused.status_code, refused.json()["code"]) == (403, "passkey-needed"), place
    # Removed where one is signed in with it, the second step is due at once.
    [kept] = there.get("/api/v1/me/passkeys").json()
    assert there.delete(f"/api/v1/me/passkeys/{kept['id']}").status_code == 204
    assert there.get(project).json()["code"] == "second-step-required"


def test_the_first_passkey_may_be_the_second_step(installation: Installation, ada: Person) -> None:
    require(installation)
    here = browser(installation, ada)
    project = f"/api/v1/projects/{installation.scope.project_id}"
    assert here.get(project).status_code == 403
    added(here, Authenticator())
    assert here.get(project).status_code == 200
    # An app beside it leaves what the passkey began open.
    made = here.post("/api/v1/me/two-step", json={"password": PASSWORD}).json()
    code = code_of(made["secret"], installation)
    assert here.post("/api/v1/me/two-step/confirm", json={"code": code}).status_code == 200
    assert here.get(project).status_code == 200


def test_who_signs_in_with_a_provider_makes_none_here(
    installation: Installation, ada: Person
) -> None:
    steward = installation.steward
    with steward.database.write(EVERYWHERE) as tx:
        tx.execute(sa.update(users).where(users.c.id == ada.user.id).values(password_hash=None))
        account = {"issuer": "https://idp.example", "subject": "ada", "user_id": ada.user.id}
        now = installation.clock.now()
        tx.execute(
            sa.insert(sign_on_identities).values(**account, created_at=now, last_sign_in_at=now)
        )
        session = steward.identity.sessions.open_within(tx, ada.user.id)
    with pytest.raises(Denied) as refused:
        steward.identity.passkeys.begin(
            session.principal, relying_party(_LOCAL), None, address="192.0.2.7"
        )
    assert refused.value.specific_code == "signs-in-with-provider"


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://steward.example.com/", "https://steward.example.com"),
        ("https://steward.example.com:443", "https://steward.example.com"),
        ("https://steward.example.com:8443", "https://steward.example.com:8443"),
        ("http://localhost:8400", "http://localhost:8400"),
        ("http://steward.example.com", None),
        ("https://192.0.2.7", None),
        ("https://[::1]:8400", None),
        ("", None),
    ],
)
def test_the_address_that_people_use_decides(address: str, origin: str | None) -> None:
    if origin is None:
        with pytest.raises(Conflict):
            relying_party(address)
    else:
        assert relying_party(address).origin == origin


def test_nonsense_is_refused_and_not_an_error(installation: Installation, ada: Person) -> None:
    there, here = browser(installation), browser(installation, ada)
    device = Authenticator()
    for spoilt in ("clientDataJSON", "authenticatorData", "signature", "userHandle"):
        answer = device.signed(asked(there))
        answer["response"][spoilt] = "%%%"
        assert sign_in(there, answer)[0] in {401, 403}, spoilt
    values: list[dict[str, Any]] = [{}, {"id": 1}, {"response": []}]
    for value in [*values, {"response": {"clientDataJSON": 7}}]:
        assert sign_in(there, value) == (403, "passkey-expired")
    answer = device.made(begun(here))
    answer["response"]["attestationObject"] = "AAAA"
    body = {"name": "Nonsense", "credential": answer}
    assert here.post("/api/v1/me/passkeys", json=body).json()["code"] == "passkey-refused"
