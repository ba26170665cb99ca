"""Models over HTTP: set up, tested, chosen, taken back; keys never come back, and the settings win."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from steward.core.settings import ModelChoice, ModelsSettings
from steward.identity import Role
from steward.models import ConfiguredModels
from steward.models import Role as Asked
from steward.models.local.weights import set_unconfirmed
from steward.models.providers import PROVIDERS, load_providers
from steward.models.setups import KEYS
from steward.testing import Installation
from tests.models.openai_server import KEY, OpenAiServer, Reply

pytestmark = pytest.mark.every_database

HOSTED = {"provider": "anthropic", "name": "clever"}


@pytest.fixture
def server() -> Iterator[OpenAiServer]:
    with OpenAiServer(lambda _: Reply(["ready"])) as running:
        yield running


@pytest.fixture
def client(installation: Installation) -> TestClient:
    return installation.owner.client


@pytest.fixture
def at(installation: Installation) -> str:
    return f"/api/v1/projects/{installation.scope.project_id}/models"


def first(revision: int = 0) -> dict[str, str]:
    return {"If-Match": f'"{revision}"'}


def test_the_first_model_is_asked_for_everything_and_its_key_is_a_secret(
    client: TestClient, at: str, installation: Installation, server: OpenAiServer
) -> None:
    body = {"provider": "compatible", "name": "small", "base_url": server.url, "key": KEY}
    made = client.put(f"{at}/project/named/local", json=body, headers=first())
    assert made.status_code == 200, made.text
    assert KEY not in made.text
    assert [each["models"] for each in made.json()["asked"]] == [["local"]] * 3
    models = installation.steward.models
    [backend] = models.backends(installation.scope, Asked.planner)
    assert backend.model == "compatible:small"
    tested = client.post(f"{at}/project/named/local/test").json()
    assert tested["worked"], tested
    assert server.asked[-1].headers["authorization"] == f"Bearer {KEY}"
    listed = client.get(at)
    assert KEY not in listed.text
    assert listed.json()["setups"][0]["models"][0]["has_key"] is True
    secrets = client.get(f"{at[:-7]}/secrets").json()["items"]
    assert secrets == []


def test_a_key_stays_with_the_server_it_was_given_for(
    client: TestClient, at: str, installation: Installation
) -> None:
    setups, scope = installation.steward.setups, installation.scope
    client.put(f"{at}/project/named/a", json={**HOSTED, "key": "one"}, headers=first())
    client.put(f"{at}/project/named/a", json={**HOSTED, "allow_rows": False}, headers=first(1))
    kept = setups.model(scope, "project", "a").key
    assert kept is not None
    assert installation.steward.secrets.get(scope, kept) == "one"
    moved = {**HOSTED, "base_url": "https://203.0.113.9"}
    assert client.put(f"{at}/project/named/a", json=moved, headers=first(2)).status_code == 200
    assert setups.model(scope, "project", "a").key is None


def test_a_change_is_undone_with_its_key_and_older_keys_are_gone(
    client: TestClient, at: str, installation: Installation
) -> None:
    scope = installation.scope
    client.put(f"{at}/project/named/a", json={**HOSTED, "key": "one"}, headers=first())
    gone = client.delete(f"{at}/project/named/a", headers=first(1))
    assert [each["models"] for each in gone.json()["asked"]] == [[]] * 3
    back = client.post(f"{at}/project/revisions/1/restore").json()
    assert back["setups"][0]["models"][0]["label"] == "a"
    client.put(f"{at}/project/named/a", json={**HOSTED, "key": "two"}, headers=first(3))
    client.put(f"{at}/project/named/a", json={**HOSTED, "allow_rows": False}, headers=first(4))
    held = installation.steward.secrets.values(scope)
    assert [value for name, value in held.items() if name.startswith(KEYS)] == ["two"]
    said = [each["message"] for each in client.get(f"{at}/project/revisions").json()["items"]]
    assert said == ["Changed a", "Changed a", "Went back to revision 1", "Removed a", "Added a"]


def test_roles_are_chosen_apart_and_nobody_overwrites_unseen(client: TestClient, at: str) -> None:
    client.put(f"{at}/project/named/a", json=HOSTED, headers=first())
    client.put(f"{at}/project/named/b", json={**HOSTED, "name": "cheap"}, headers=first(1))
    uses = {"default": ["a"], "explainer": ["b", "a"]}
    assert client.put(f"{at}/project/uses", json=uses, headers=first(1)).status_code == 412
    assert client.put(f"{at}/project/uses", json=uses).status_code == 428
    chosen = client.put(f"{at}/project/uses", json=uses, headers=first(2)).json()
    assert [each["models"] for each in chosen["asked"]] == [["a"], ["a"], ["b", "a"]]
    wrong = client.put(f"{at}/project/uses", json={"planner": ["c"]}, headers=first(3))
    assert wrong.status_code == 422


def test_the_project_wins_over_the_organisation_and_the_settings_over_both(
    client: TestClient, at: str, installation: Installation
) -> None:
    client.put(f"{at}/organisation/named/wide", json={**HOSTED, "key": "org"}, headers=first())
    assert client.get(at).json()["asked"][0] == {
        "role": "planner",
        "source": "organisation",
        "models": ["wide"],
    }
    other = installation.steward.identity.projects.create(
        installation.scope.org_id, "Second", installation.owner.user.id
    )
    elsewhere = client.get(f"/api/v1/projects/{other}/models").json()
    assert elsewhere["asked"][0]["models"] == ["wide"]
    client.put(f"{at}/project/named/own", json=HOSTED, headers=first())
    assert client.get(at).json()["asked"][0]["models"] == ["own"]
    steward = installation.steward
    fixed = ModelChoice(provider="ollama", name="fixed")
    settled = ConfiguredModels(
        ModelsSettings(planner=fixed), steward.secrets, setups=steward.setups
    )
    assert settled.names(installation.scope, Asked.planner) == ["ollama:fixed"]
    assert settled.names(installation.scope, Asked.operator) == ["anthropic:clever"]


def test_who_may_do_what(client: TestClient, at: str, installation: Installation) -> None:
    viewer = installation.person(Role.viewer).client
    assert viewer.get(at).status_code == 200
    for level, person in (("project", Role.editor), ("organisation", Role.admin)):
        somebody = installation.person(person, f"{person.name}-of-{level}").client
        answer = somebody.put(f"{at}/{level}/named/a", json=HOSTED, headers=first())
        assert answer.status_code == 403, answer.text


def test_only_keepers_reach_this_machine(at: str, installation: Installation) -> None:
    admin = installation.person(Role.admin).client
    for address in ("http://127.0.0.1:11434/v1", "http://10.0.0.8/v1", "http://169.254.169.254/v1"):
        body = {"provider": "compatible", "name": "m", "base_url": address}
        refused = admin.put(f"{at}/project/named/a", json=body, headers=first())
        assert refused.status_code == 403, refused.text
        assert "owner of the organisation that runs this installation" in refused.json()["detail"]
    assert json.dumps(admin.get(at).json()["setups"][0]["models"]) == "[]"


@pytest.mark.parametrize(
    "given",
    [
        {"provider": "ollama", "name": "small"},
        {"provider": "local", "name": "small"},
        {"provider": "bedrock", "name": "small", "region": "eu-west-1"},
    ],
    ids=lambda given: given["provider"],
)
def test_only_keepers_set_up_what_uses_the_machine_itself(
    at: str, installation: Installation, given: dict[str, str]
) -> None:
    keeper, admin = installation.owner.client, installation.person(Role.admin).client
    refused = admin.put(f"{at}/project/named/a", json=given, headers=first())
    assert refused.status_code == 403, refused.text
    assert keeper.put(f"{at}/project/named/a", json=given, headers=first()).status_code == 200
    assert admin.delete(f"{at}/project/named/a", headers=first(1)).status_code == 200
    back = f"{at}/project/revisions/1/restore"
    assert admin.post(back).status_code == 403, "a removed address is not brought back, either"
    assert keeper.post(back).status_code == 200


def test_weights_say_what_to_know_before_a_fetch_and_wait_for_a_confirmation(
    client: TestClient, at: str, installation: Installation
) -> None:
    place = at.replace("/models", "/local-models")
    found = client.get(place).json()
    small = next(each for each in found["weights"] if each["name"] == "smollm2-135m")
    assert (small["state"], small["bytes"], small["licence"]) == ("absent", 98362432, "Apache-2.0")
    assert found["memory_bytes"] > 0
    servers = installation.steward.models.servers
    assert servers is not None
    content = b"GGUF and more"
    digest = hashlib.sha256(content).hexdigest()
    path = servers.shelf.path("own")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    set_unconfirmed(path, digest)
    own = next(each for each in client.get(place).json()["weights"] if each["name"] == "own")
    assert (own["state"], own["sha256"]) == ("unconfirmed", digest)
    started = client.post(f"{place}/own/pull", json={"sha256": digest})
    assert started.status_code == 202
    own = next(each for each in client.get(place).json()["weights"] if each["name"] == "own")
    assert own["run_id"] == started.json()["run_id"], "it is found again after a reload"


def test_a_provider_of_a_package_is_offered_asked_and_missed_when_it_is_gone(
    client: TestClient, at: str, server: OpenAiServer
) -> None:
    acme = replace(load_providers().get("compatible"), title="Acme", hint="Ask Acme for a key.")
    PROVIDERS.add("acme", acme, origin="acme_models")
    try:
        offered = {each["provider"]: each for each in client.get(at).json()["providers"]}
        assert offered["acme"]["title"] == "Acme"
        body = {"provider": "acme", "name": "small", "key": KEY}
        refused = client.put(f"{at}/project/named/a", json=body, headers=first())
        assert refused.status_code == 422
        assert "base_url is needed" in refused.json()["detail"]
        body["base_url"] = server.url
        made = client.put(f"{at}/project/named/a", json=body, headers=first())
        assert made.status_code == 200, made.text
        assert client.post(f"{at}/project/named/a/test").json()["worked"]
    finally:
        PROVIDERS.remove("acme")
    [left] = client.get(at).json()["setups"][0]["models"]
    assert left["provider"] == "acme"
    tested = client.post(f"{at}/project/named/a/test").json()
    assert not tested["worked"]
    assert "No provider of models is called 'acme'" in tested["words"]
    again = client.put(f"{at}/project/named/b", json=body, headers=first(1))
    assert again.status_code == 422
    assert "Known: anthropic, azure" in again.json()["detail"]
