"""Against a certified provider: discovery, code with PKCE, keys, user information, groups."""

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from steward.api import create_api
from steward.app import open_steward
from steward.core import load_settings
from steward.identity import Principal, Via
from steward.identity.sign_on import ProviderDocument
from steward.testing import fast_passwords
from steward.testing.walls import SharedSandbox
from tests.identity.sign_on.office import begin, come_back, roles_of
from tests.identity.sign_on.openid_provider import (
    LIBRARY,
    SECRET,
    OpenIdProvider,
    running_provider,
)

BASE = "http://127.0.0.1:8400"
pytestmark = pytest.mark.skipif(
    not LIBRARY.is_dir(), reason="the web packages are not installed: npm ci --prefix web"
)


@pytest.fixture(scope="module")
def openid() -> Iterator[OpenIdProvider]:
    with running_provider() as provider:
        yield provider


def signed_in_there(url: str, login: str) -> dict[str, str]:
    """What a person does at the provider: signs in and agrees; what the browser then brings back."""
    with httpx2.Client(follow_redirects=False) as web:
        answer = web.get(url)
        for _ in range(20):
            while answer.is_redirect:
                place = str(answer.headers["location"])
                if place.startswith(BASE):
                    return dict(httpx2.URL(place).params.items())
                answer = web.get(answer.url.join(place))
            form = re.search(r'<form[^>]*action="([^"]+)"', answer.text)
            assert form is not None, answer.text
            fields = dict(re.findall(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', answer.text))
            said = {**fields, "login": login, "password": "any"}
            answer = web.post(answer.url.join(form[1]), data=said)
    raise AssertionError("nobody was sent back")


def test_a_person_signs_in_with_a_certified_provider(
    tmp_path: Path, shared_sandbox: SharedSandbox, openid: OpenIdProvider
) -> None:
    # Both read the clock of this machine: tokens are signed for now.
    settings = load_settings(home=tmp_path, network={"allow_private": ["127.0.0.1"]})
    with closing(
        open_steward(settings, passwords=fast_passwords(), provider=shared_sandbox)
    ) as steward:
        identity = steward.identity
        owner = identity.users.create("owner@example.com", "Olga Owner")
        org = identity.projects.create_organisation("Example", owner.id)
        project = identity.projects.create(org.id, "First", owner.id)
        access = identity.projects.enter(
            Principal(owner.id, owner.email, owner.name, Via.session), project
        )
        document = ProviderDocument.model_validate(
            {
                "name": "Acme",
                "issuer": openid.issuer,
                "client_id": "steward",
                "scopes": ["openid", "profile", "email", "groups"],
                "rules": [
                    {
                        "claim": "groups",
                        "value": "finance",
                        "project_id": project,
                        "role": "operator",
                    }
                ],
            }
        )
        provider = steward.sign_on.providers.create(access, document, SECRET)
        openid.register([f"{BASE}/api/v1/sign-on/{provider.id}/callback"])
        openid.tell(groups={"ada": ["finance"], "bob": ["sales"]})
        with TestClient(create_api(steward), base_url=BASE) as client:
            said = signed_in_there(begin(client, provider), "ada")
            assert said["iss"] == openid.issuer
            assert come_back(client, provider, said) == "/"
            assert roles_of(client) == {"First": "operator"}
        with TestClient(create_api(steward), base_url=BASE) as client:
            said = signed_in_there(begin(client, provider), "bob")
            assert come_back(client, provider, said) == "/sign-in?problem=sign-on-no-access"
