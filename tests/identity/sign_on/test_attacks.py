"""What must not let anybody in: spoiled tokens, strange browsers, mixed-up providers, borrowed addresses, made-up groups."""

import base64
import hmac
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from steward.identity import Role
from steward.identity.sign_on.attempts import local_path
from steward.testing import Installation
from tests.identity.sign_on.office import (
    Claims,
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

FAILED = problem("sign-on-failed")
EXPIRED = problem("sign-on-expired")
TAKEN = problem("sign-on-address-taken")


@pytest.fixture
def office(installation: Installation) -> Office:
    found = Office(installation)
    open_offices(installation, found)
    return found


def _with(**changed: Any) -> Callable[[Claims], Claims]:
    return lambda claims: {**claims, **changed}


def _shifted(name: str, seconds: int) -> Callable[[Claims], Claims]:
    return lambda claims: {**claims, name: claims["iat"] + seconds}


SPOILED: dict[str, Callable[[Claims], Claims]] = {
    "wrong nonce": _with(nonce="another"),
    "no nonce": lambda claims: {k: v for k, v in claims.items() if k != "nonce"},
    "wrong issuer": _with(iss="https://evil.example"),
    "issuer with a slash": _with(iss="https://login.example/"),
    "wrong audience": _with(aud="another-client"),
    "audience of many without azp": _with(aud=["steward", "another-client"]),
    "given to another": _with(aud=["steward", "other"], azp="other"),
    "expired": _shifted("exp", -61),
    "no expiry": lambda claims: {k: v for k, v in claims.items() if k != "exp"},
    "from the future": _shifted("iat", 3600),
    "not valid yet": _shifted("nbf", 3600),
    "nobody": _with(sub=""),
    "a number for a subject": _with(sub=7),
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED.keys())
def test_a_spoiled_token_lets_nobody_in(
    installation: Installation, office: Office, spoil: Callable[[Claims], Claims]
) -> None:
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    office.spoil = spoil
    client = installation.anonymous()
    assert sign_in(client, provider, office, person("ada", "staff")) == FAILED
    assert session_of(client) is None
    assert told(installation)[0][0] == "sign_on.refused"


def _unsigned(office: Office, claims: Claims) -> str:
    return jwt.encode(claims, "", algorithm="none", headers={"kid": office.public["kid"]})


def _with_public_key(office: Office, claims: Claims) -> str:
    """HS256 with the provider's public key for a secret; made by hand, as the library refuses to."""
    key = office.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    header = {"alg": "HS256", "typ": "JWT", "kid": office.public["kid"]}
    parts = [_part(header), _part(claims)]
    digest = hmac.new(key, ".".join(parts).encode(), "sha256").digest()
    return ".".join([*parts, base64.urlsafe_b64encode(digest).rstrip(b"=").decode()])


def _part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def _by_a_stranger(office: Office, claims: Claims) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    return jwt.encode(claims, key, algorithm="ES256", headers={"kid": office.public["kid"]})


def _with_a_key_of_its_own(_: Office, claims: Claims) -> str:
    """The token brings its key along in its header."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
    return jwt.encode(claims, key, algorithm="ES256", headers={"jwk": public})


@pytest.mark.parametrize(
    "forge", [_unsigned, _with_public_key, _by_a_stranger, _with_a_key_of_its_own]
)
def test_a_forged_signature_lets_nobody_in(
    installation: Installation, office: Office, forge: Callable[[Office, Claims], str]
) -> None:
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    office.sign = lambda claims: forge(office, claims)
    client = installation.anonymous()
    assert sign_in(client, provider, office, person("ada", "staff")) == FAILED
    assert session_of(client) is None


def test_unknown_keys_do_not_make_steward_ask_all_the_time(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    client = installation.anonymous()
    sign_in(client, provider, office, person("ada", "staff"))
    key = ec.generate_private_key(ec.SECP256R1())
    for turn in range(5):
        office.sign = lambda claims, kid=f"made-up-{turn}": jwt.encode(
            claims, key, algorithm="ES256", headers={"kid": kid}
        )
        assert sign_in(client, provider, office, person("ada", "staff")) == FAILED
    assert office.requests.count("/jwks") == 2
    installation.clock.advance(minutes=1)
    office.sign = None
    office.rotate("later")
    assert sign_in(client, provider, office, person("ada", "staff")) == "/"


def test_another_browser_cannot_finish_a_sign_in(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    attacker, victim = installation.anonymous(), installation.anonymous()
    said = office.agree(begin(attacker, provider), person("eve", "staff"))
    assert come_back(victim, provider, said) == EXPIRED
    assert session_of(victim) is None
    # Nor with a sign-in of its own under way.
    begin(victim, provider)
    assert come_back(victim, provider, said) == EXPIRED
    own = parse_qs(urlsplit(begin(victim, provider)).query)["state"][0]
    assert come_back(victim, provider, {**said, "state": own}) == FAILED


def test_a_code_and_an_answer_are_good_once(installation: Installation, office: Office) -> None:
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    client = installation.anonymous()
    said = office.agree(begin(client, provider), person("ada", "staff"))
    assert come_back(client, provider, said) == "/"
    assert come_back(client, provider, said) == EXPIRED
    again = parse_qs(urlsplit(begin(client, provider)).query)["state"][0]
    assert come_back(client, provider, {**said, "state": again}) == FAILED


def test_a_sign_in_that_took_too_long_is_over(installation: Installation, office: Office) -> None:
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    client = installation.anonymous()
    said = office.agree(begin(client, provider), person("ada", "staff"))
    jar = dict(client.cookies)
    installation.clock.advance(minutes=10)
    # A browser that keeps the cookie for longer than it was told to gains nothing.
    for name, value in jar.items():
        client.cookies.set(name, value)
    assert come_back(client, provider, said) == EXPIRED


def test_one_provider_cannot_pass_for_another(installation: Installation) -> None:
    honest, evil = Office(installation), Office(installation, issuer="https://evil.example")
    open_offices(installation, honest, evil)
    good = add_provider(installation, honest, rule(installation, "staff", "viewer"))
    bad = add_provider(installation, evil)
    client = installation.anonymous()
    # The evil provider sends the browser on to the honest one, which sends it back to its own address.
    asked = begin(client, bad)
    said = honest.agree(asked, person("ada", "staff"))
    assert come_back(client, good, said) == EXPIRED
    assert come_back(client, bad, said) == EXPIRED
    # At the address of the evil one the answer still says who gave it.
    said = honest.agree(begin(client, bad), person("ada", "staff"))
    assert come_back(client, bad, said) == FAILED
    assert "/token" not in evil.requests
    # An answer that leaves it out, of a provider that always says it.
    said = honest.agree(begin(client, good), person("ada", "staff"))
    said.pop("iss")
    assert come_back(client, good, said) == FAILED


def test_a_provider_that_calls_itself_otherwise_is_not_used(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(installation, office)
    office.metadata = {"issuer": "https://another.example"}
    assert begin(installation.anonymous(), provider).endswith("sign-on-wrong-issuer")
    office.metadata = {"token_endpoint": "http://login.example/token"}
    assert begin(installation.anonymous(), provider).endswith("sign-on-failed")
    office.metadata = {"id_token_signing_alg_values_supported": ["HS256", "none"]}
    assert begin(installation.anonymous(), provider).endswith("sign-on-failed")


def test_private_addresses_are_not_called(installation: Installation) -> None:
    office = Office(installation, issuer="https://127.0.0.1:9")
    provider = add_provider(installation, office)
    assert begin(installation.anonymous(), provider).endswith("address-refused")


@pytest.mark.parametrize("verified", [True, False])
@pytest.mark.parametrize("allowed", [True, False])
def test_an_address_is_joined_only_when_verified_and_allowed(
    installation: Installation, office: Office, verified: bool, allowed: bool
) -> None:
    provider = add_provider(
        installation, office, rule(installation, "staff", "viewer"), join_verified_email=allowed
    )
    installation.person(Role.editor, "bob")
    claims = person("eve", "staff", email="bob@example.com", email_verified=verified)
    client = installation.anonymous()
    came = sign_in(client, provider, office, claims)
    assert came == ("/" if verified and allowed else TAKEN)
    assert roles_of(client) == ({"First": "editor"} if verified and allowed else {})


def test_owners_and_people_of_other_organisations_are_never_joined(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(
        installation, office, rule(installation, "staff", "owner"), join_verified_email=True
    )
    identity = installation.steward.identity
    stranger = identity.users.create("stranger@example.com", "Stranger")
    org = identity.projects.create_organisation("Elsewhere", stranger.id)
    guest = installation.person(Role.viewer, "guest")
    identity.members.set_organisation_role(org.id, guest.user.id, Role.viewer)
    for email in ("owner@example.com", "stranger@example.com", "guest@example.com"):
        client = installation.anonymous()
        assert sign_in(client, provider, office, person("eve", "staff", email=email)) == TAKEN
        assert session_of(client) is None


def test_the_verified_word_belongs_to_the_address_it_came_with(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(
        installation, office, rule(installation, "staff", "viewer"), join_verified_email=True
    )
    installation.person(Role.editor, "bob")
    office.userinfo = person("eve", "staff", email="eve@acme.example", email_verified=True)
    said = {"sub": "eve", "email": "bob@example.com"}
    assert sign_in(installation.anonymous(), provider, office, said) == TAKEN


@pytest.mark.parametrize(
    "groups",
    [
        "staff,leads",
        ["Leads"],
        ["leads "],
        [["leads"]],
        {"leads": True},
        [{"name": "leads"}],
        ["staff\nleads"],
    ],
    ids=repr,
)
def test_a_group_counts_only_as_it_is_written(
    installation: Installation, office: Office, groups: Any
) -> None:
    provider = add_provider(installation, office, rule(installation, "leads", "owner"))
    claims = {**person("eve"), "groups": groups}
    refused = sign_in(installation.anonymous(), provider, office, claims)
    assert refused == problem("sign-on-no-access")


def test_a_rule_does_not_reach_into_another_organisation(
    installation: Installation, office: Office
) -> None:
    identity = installation.steward.identity
    stranger = identity.users.create("stranger@example.com", "Stranger")
    org = identity.projects.create_organisation("Elsewhere", stranger.id)
    foreign = identity.projects.create(org.id, "Foreign", stranger.id)
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    # Whatever is written into the table by other means: the provider's organisation bounds it.
    crafted = provider.document.model_copy(
        update={"rules": [*provider.document.rules, rule(installation, "staff", "owner", foreign)]}
    )
    providers = installation.steward.sign_on.providers
    providers._refuse_foreign_projects = lambda *_: None  # type: ignore[method-assign]
    providers.change(installation.owner.access, provider.id, 1, crafted, None)
    client = installation.anonymous()
    sign_in(client, provider, office, person("ada", "staff"))
    assert roles_of(client) == {"First": "viewer"}


@pytest.mark.parametrize(
    "wanted",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "javascript:alert(1)",
        "evil",
        "/api/v1/session",
        "/sign-in?link=x",
        "/" + "a" * 1000,
    ],
)
def test_the_way_back_stays_on_this_site(wanted: str) -> None:
    assert local_path(wanted) == "/"


def test_a_page_of_this_site_is_kept() -> None:
    assert local_path("/p/prj_1/runs?tab=mine#top") == "/p/prj_1/runs?tab=mine#top"


def test_a_sign_in_leads_to_no_other_site(installation: Installation, office: Office) -> None:
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    client = installation.anonymous()
    claims = person("ada", "staff")
    assert sign_in(client, provider, office, claims, "//evil.example/x") == "/"


def test_a_person_of_the_provider_makes_no_way_around_it(
    installation: Installation, office: Office
) -> None:
    provider = add_provider(installation, office, rule(installation, "staff", "viewer"))
    client = installation.anonymous()
    sign_in(client, provider, office, person("ada", "staff"))
    found = session_of(client)
    assert found is not None
    client.headers["X-CSRF-Token"] = found["csrf_token"]
    refused = client.put("/api/v1/me/password", json={"new_password": "a few good words"})
    assert (refused.status_code, refused.json()["code"]) == (403, "signs-in-with-provider")
