"""Sign-out by the provider: a signed word ends the sessions it means, once, and nothing else does."""

from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from steward.identity.sign_on import Provider
from steward.identity.sign_on.logouts import EVENT
from steward.testing import Installation
from tests.identity.sign_on.office import (
    Claims,
    Office,
    add_provider,
    open_offices,
    person,
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


@pytest.fixture
def provider(installation: Installation, office: Office) -> Provider:
    return add_provider(installation, office, rule(installation, "staff", "viewer"))


def browser(
    installation: Installation, provider: Provider, office: Office, sub: str, sid: str
) -> TestClient:
    client = installation.anonymous()
    assert sign_in(client, provider, office, person(sub, "staff", sid=sid)) == "/"
    return client


def claims_of(office: Office, **changed: Any) -> Claims:
    found = {
        "iss": office.issuer,
        "aud": office.client_id,
        "iat": office.now,
        "exp": office.now + 120,
        "jti": "one",
        "events": {EVENT: {}},
        **changed,
    }
    return {name: value for name, value in found.items() if value is not None}


def send(installation: Installation, provider: Provider, token: str) -> tuple[int, Any]:
    answer = installation.anonymous().post(
        f"/api/v1/sign-on/{provider.id}/logout", data={"logout_token": token}
    )
    return answer.status_code, answer.json()


def test_one_session_of_the_provider_ends(
    installation: Installation, office: Office, provider: Provider
) -> None:
    first = browser(installation, provider, office, "ada", "s1")
    second = browser(installation, provider, office, "ada", "s2")
    token = office.token(claims_of(office, sid="s1", sub="ada"))
    assert send(installation, provider, token) == (200, {"ended": 1})
    assert session_of(first) is None
    assert session_of(second) is not None
    kind, data = told(installation)[0]
    assert (kind, data["name"], data["provider"]) == ("sign_on.signed_out", "Ada", "Acme")


def test_without_a_session_named_all_of_the_person_end(
    installation: Installation, office: Office, provider: Provider
) -> None:
    mine = [browser(installation, provider, office, "ada", sid) for sid in ("s1", "s2")]
    other = browser(installation, provider, office, "bob", "s3")
    token = office.token(claims_of(office, sub="ada"))
    assert send(installation, provider, token) == (200, {"ended": 2})
    assert [session_of(each) for each in mine] == [None, None]
    assert session_of(other) is not None
    # A session that began with a password is not the provider's to end.
    assert session_of(installation.owner.client) is not None


def test_the_same_token_works_once(
    installation: Installation, office: Office, provider: Provider
) -> None:
    browser(installation, provider, office, "ada", "s1")
    token = office.token(claims_of(office, sid="s1"))
    assert send(installation, provider, token)[0] == 200
    again = browser(installation, provider, office, "ada", "s1")
    status, answer = send(installation, provider, token)
    assert (status, answer["code"]) == (400, "sign-on-failed")
    assert session_of(again) is not None
    fresh = office.token(claims_of(office, sid="s1", jti="two"))
    assert send(installation, provider, fresh)[0] == 200


SPOILED: dict[str, Callable[[Office], str]] = {
    "another audience": lambda office: office.token(claims_of(office, sid="s1", aud="other")),
    "another issuer": lambda office: office.token(claims_of(office, sid="s1", iss="https://x.y")),
    "expired": lambda office: office.token(claims_of(office, sid="s1", exp=office.now - 61)),
    "no event": lambda office: office.token(claims_of(office, sid="s1", events=None)),
    "another event": lambda office: office.token(claims_of(office, sid="s1", events={"x": {}})),
    "an ID token": lambda office: office.token(claims_of(office, sid="s1", nonce="n")),
    "no jti": lambda office: office.token(claims_of(office, sid="s1", jti=None)),
    "nobody meant": lambda office: office.token(claims_of(office)),
    "no token": lambda _: "",
    "nonsense": lambda _: "a.b.c",
    "another key": lambda office: Office(office.installation).token(claims_of(office, sid="s1")),
}


@pytest.mark.parametrize("forge", SPOILED.values(), ids=SPOILED.keys())
def test_nothing_else_signs_anybody_out(
    installation: Installation,
    office: Office,
    provider: Provider,
    forge: Callable[[Office], str],
) -> None:
    client = browser(installation, provider, office, "ada", "s1")
    assert send(installation, provider, forge(office))[0] == 400
    assert session_of(client) is not None


def test_a_provider_ends_only_what_it_began(installation: Installation) -> None:
    first, second = Office(installation), Office(installation, issuer="https://other.example")
    open_offices(installation, first, second)
    one = add_provider(installation, first, rule(installation, "staff", "viewer"))
    two = add_provider(installation, second, rule(installation, "staff", "viewer"))
    client = browser(installation, one, first, "ada", "s1")
    token = second.token(claims_of(second, sid="s1"))
    assert send(installation, two, token) == (200, {"ended": 0})
    assert send(installation, one, token)[0] == 400
    assert session_of(client) is not None


def test_a_person_sees_and_ends_their_sessions(
    installation: Installation, office: Office, provider: Provider
) -> None:
    first = browser(installation, provider, office, "ada", "s1")
    second = browser(installation, provider, office, "ada", "s2")
    third = browser(installation, provider, office, "ada", "s3")
    other = browser(installation, provider, office, "bob", "s4")
    found = first.get("/api/v1/me/sessions").json()
    assert len(found) == 3
    assert [each["provider"] for each in found] == ["Acme"] * 3
    assert all(each["agent"] == "testclient" for each in found)
    assert sum(each["current"] for each in found) == 1
    session = session_of(first)
    assert session is not None
    first.headers["X-CSRF-Token"] = session["csrf_token"]
    (mine,) = [each["id"] for each in second.get("/api/v1/me/sessions").json() if each["current"]]
    assert first.delete(f"/api/v1/me/sessions/{mine}").status_code == 204
    assert session_of(second) is None
    (his,) = [each["id"] for each in other.get("/api/v1/me/sessions").json()]
    assert first.delete(f"/api/v1/me/sessions/{his}").status_code == 404
    assert first.delete("/api/v1/me/sessions").status_code == 204
    assert [session_of(each) is None for each in (first, third, other)] == [False, True, False]
