"""Programs that sign in by OAuth: the official client does the whole way, and attacks on each step of it fail."""

import asyncio
import base64
import hashlib
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from steward.core import MovableClock
from steward.core.errors import Denied, Invalid
from steward.identity import Role
from steward.identity.client_documents import ClientDocuments
from steward.identity.client_grants import checked_addresses
from steward.testing import Installation
from tests.api.live import LiveServer
from tests.mcp.clients import load

BACK = "http://127.0.0.1:3334/callback"
VERIFIER = "v" * 64
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
)
ASKED = {
    "redirect_uri": BACK,
    "response_type": "code",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
    "state": "a state",
}


class Memory:
    """What a program keeps between starts."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def registered(installation: Installation, **more: Any) -> str:
    body = {"client_name": "Acme Agent", "redirect_uris": [BACK], **more}
    answer = installation.anonymous().post("/oauth/register", json=body)
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["client_id"]
    return found


def allowed(installation: Installation, client_id: str, role: str = "viewer") -> str:
    """The code that a program gets when the owner says yes."""
    body = {**ASKED, "client_id": client_id, "role": role}
    answer = installation.owner.client.post(programs(installation), json=body)
    assert answer.status_code == 201, answer.text
    query = parse_qs(urlsplit(answer.json()["redirect_to"]).query)
    assert query["state"] == ["a state"]
    assert query["iss"] == ["http://127.0.0.1:8400"]
    return str(query["code"][0])


def programs(installation: Installation) -> str:
    return f"/api/v1/projects/{installation.scope.project_id}/programs"


def exchanged(installation: Installation, **form: str) -> Any:
    return installation.anonymous().post("/oauth/token", data=form)


def by_code(installation: Installation, program: str, given: str, **more: str) -> Any:
    form = {
        "grant_type": "authorization_code",
        "client_id": program,
        "code": given,
        "redirect_uri": BACK,
        "code_verifier": VERIFIER,
        **more,
    }
    return exchanged(installation, **form)


def opens_door(installation: Installation, token: str) -> bool:
    """Whether the MCP door takes the token; a door that is being closed still looks at it first."""
    client, stopping = installation.anonymous(), installation.api.state.context.stopping
    stopping.set()
    answer = client.post("/mcp", headers={"Authorization": f"Bearer {token}"})
    stopping.clear()
    assert answer.status_code in {401, 503}, answer.text
    return answer.status_code == 503


def test_the_official_client_signs_in_without_a_token_and_works(
    installation: Installation,
) -> None:
    load(installation)
    memory, went = Memory(), list[str]()
    browser = installation.owner.client

    def say(address: str, body: dict[str, str]) -> httpx2.Response:
        headers = {"X-CSRF-Token": browser.headers["X-CSRF-Token"]}
        cookies = dict(browser.cookies)
        return httpx2.post(address, json=body, headers=headers, cookies=cookies, trust_env=False)

    async def approve(address: str) -> None:
        query = {name: found[0] for name, found in parse_qs(urlsplit(address).query).items()}
        place = f"{urlsplit(address).scheme}://{urlsplit(address).netloc}"
        asked = say(f"{place}/api/v1/oauth/requests", query)
        assert asked.status_code == 200, asked.text
        assert asked.json()["name"] == "Acme Agent"
        assert asked.json()["is_local"]
        body = {**query, "role": "operator"}
        answer = say(f"{place}{programs(installation)}", body)
        assert answer.status_code == 201, answer.text
        went.append(answer.json()["redirect_to"])

    async def came_back() -> AuthorizationCodeResult:
        query = parse_qs(urlsplit(went[-1]).query)
        return AuthorizationCodeResult(
            code=query["code"][0], state=query["state"][0], iss=query["iss"][0]
        )

    async def speak(address: str) -> list[str]:
        provider = OAuthClientProvider(
            f"{address}/mcp",
            OAuthClientMetadata(client_name="Acme Agent", redirect_uris=[BACK]),
            memory,
            approve,
            came_back,
        )
        async with (
            httpx2.AsyncClient(auth=provider, timeout=60, trust_env=False) as web,
            Client(streamable_http_client(f"{address}/mcp", http_client=web)) as client,
        ):
            changed = await client.call_tool("preview", {"dataset": "people"})
            assert not changed.is_error
            return [each.name for each in (await client.list_resources()).resources]

    with LiveServer(installation) as address:
        assert asyncio.run(speak(address)) == ["people"]
    listed = installation.owner.client.get(programs(installation)).json()["items"]
    assert [(each["name"], each["role"]) for each in listed] == [("Acme Agent", "operator")]
    # The list of API tokens shows what people made themselves.
    tokens = f"/api/v1/projects/{installation.scope.project_id}/tokens"
    assert installation.owner.client.get(tokens).json()["items"] == []


def test_a_token_of_a_program_opens_the_mcp_door_and_no_other(installation: Installation) -> None:
    client_id = registered(installation)
    found = by_code(installation, client_id, allowed(installation, client_id)).json()
    assert found["token_type"] == "Bearer"
    assert found["scope"] == "viewer"
    assert opens_door(installation, found["access_token"])
    other = installation.anonymous()
    other.headers["Authorization"] = f"Bearer {found['access_token']}"
    refused = other.get(f"/api/v1/projects/{installation.scope.project_id}")
    assert refused.status_code == 401
    assert refused.json()["code"] == "wrong-audience"


def test_a_code_that_comes_twice_ends_what_it_gave(installation: Installation) -> None:
    client_id = registered(installation)
    code = allowed(installation, client_id)
    first = by_code(installation, client_id, code)
    assert first.status_code == 200
    again = by_code(installation, client_id, code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert not opens_door(installation, first.json()["access_token"])
    renewed = exchanged(
        installation,
        grant_type="refresh_token",
        client_id=client_id,
        refresh_token=first.json()["refresh_token"],
    )
    assert renewed.json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    "wrong",
    [
        {"code_verifier": "w" * 64},
        {"code_verifier": CHALLENGE},
        {"client_id": "mcl_01kdgq3v0z8r5m2x7c4b9n6t1w"},
        {"redirect_uri": "http://127.0.0.1:9999/callback"},
        {"code": "stc_unknown"},
    ],
)
def test_who_did_not_ask_gets_nothing_for_a_code(
    installation: Installation, wrong: dict[str, str]
) -> None:
    client_id = registered(installation)
    code = allowed(installation, client_id)
    answer = by_code(installation, client_id, code, **wrong)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    # A wrong guess does not spend the code of who did ask.
    assert by_code(installation, client_id, code).status_code == 200


def test_tokens_for_another_server_are_refused(installation: Installation) -> None:
    client_id = registered(installation)
    code = allowed(installation, client_id)
    answer = by_code(installation, client_id, code, resource="https://elsewhere.example/mcp")
    assert answer.json()["error"] == "invalid_target"
    body = {**ASKED, "client_id": client_id, "resource": "https://elsewhere.example/mcp"}
    asked = installation.owner.client.post("/api/v1/oauth/requests", json=body)
    assert asked.status_code == 422


def test_codes_and_tokens_expire(installation: Installation, clock: MovableClock) -> None:
    client_id = registered(installation)
    late = allowed(installation, client_id)
    clock.advance(minutes=3)
    assert by_code(installation, client_id, late).json()["error"] == "invalid_grant"
    found = by_code(installation, client_id, allowed(installation, client_id)).json()
    clock.advance(hours=2)
    assert not opens_door(installation, found["access_token"])
    renewed = exchanged(
        installation,
        grant_type="refresh_token",
        client_id=client_id,
        refresh_token=found["refresh_token"],
    )
    assert renewed.status_code == 200
    assert opens_door(installation, renewed.json()["access_token"])
    clock.advance(days=31)
    idle = exchanged(
        installation,
        grant_type="refresh_token",
        client_id=client_id,
        refresh_token=renewed.json()["refresh_token"],
    )
    assert idle.json()["error"] == "invalid_grant"


def test_a_refresh_token_that_comes_twice_ends_the_program(installation: Installation) -> None:
    client_id = registered(installation)
    first = by_code(installation, client_id, allowed(installation, client_id)).json()
    form = {
        "grant_type": "refresh_token",
        "client_id": client_id,
        "refresh_token": first["refresh_token"],
    }
    stolen = exchanged(installation, **form)
    assert stolen.status_code == 200
    assert exchanged(installation, **{**form, "client_id": "mcl_other"}).status_code == 400
    assert not opens_door(installation, stolen.json()["access_token"])
    kinds = [each.type for each in installation.steward.events.after(installation.scope, 0)]
    assert kinds.count("org.steward.client.replayed") == 1


def test_a_disconnected_program_is_out_at_once(installation: Installation) -> None:
    client_id = registered(installation)
    found = by_code(installation, client_id, allowed(installation, client_id)).json()
    (listed,) = installation.owner.client.get(programs(installation)).json()["items"]
    stranger = installation.person(Role.admin).client
    place = f"{programs(installation)}/{listed['id']}"
    assert stranger.delete(place).status_code == 404
    assert installation.owner.client.delete(place).status_code == 204
    assert not opens_door(installation, found["access_token"])
    assert installation.owner.client.delete(place).status_code == 404


def test_a_program_revokes_its_own_token(installation: Installation) -> None:
    client_id = registered(installation)
    found = by_code(installation, client_id, allowed(installation, client_id)).json()
    asked = {"token": found["refresh_token"]}
    assert installation.anonymous().post("/oauth/revoke", data=asked).status_code == 200
    assert installation.anonymous().post("/oauth/revoke", data=asked).status_code == 200
    assert not opens_door(installation, found["access_token"])


def test_many_programs_of_a_stranger_keep_nobody_out(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.identity.client_grants._MOST_CLIENTS", 3)
    known = registered(installation)
    allowed(installation, known)
    first, *_, last = [registered(installation) for _ in range(5)]
    asked = "/api/v1/oauth/requests"
    for client_id, status in ((known, 200), (first, 422), (last, 200)):
        answer = installation.owner.client.post(asked, json={**ASKED, "client_id": client_id})
        assert answer.status_code == status, answer.text


def test_an_address_that_is_none_is_refused(installation: Installation) -> None:
    for address in ("http://[", "", "http://127.0.0.1:1/\ud800"):
        answer = installation.anonymous().post(
            "/oauth/register", content=json.dumps({"redirect_uris": [address]})
        )
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")


def test_a_removed_persons_programs_are_out(installation: Installation) -> None:
    person = installation.person(Role.operator)
    client_id = registered(installation)
    body = {**ASKED, "client_id": client_id, "role": "operator"}
    answer = person.client.post(programs(installation), json=body)
    code = parse_qs(urlsplit(answer.json()["redirect_to"]).query)["code"][0]
    found = by_code(installation, client_id, code).json()
    installation.steward.identity.members.remove(installation.owner.access, person.user.id)
    headers = {"Authorization": f"Bearer {found['access_token']}"}
    assert installation.anonymous().post("/mcp", headers=headers).status_code in {403, 404}


def test_a_program_never_gets_more_than_the_person_has(installation: Installation) -> None:
    viewer = installation.person(Role.viewer)
    body = {**ASKED, "client_id": registered(installation)}
    for client, role in ((viewer.client, "operator"), (installation.owner.client, "admin")):
        answer = client.post(programs(installation), json={**body, "role": role})
        assert answer.status_code in {403, 422}, answer.text
    token = installation.by_token(installation.owner, Role.operator)
    # A token must not make further tokens.
    refused = token.post(programs(installation), json={**body, "role": "viewer"})
    assert refused.status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [
        {"code_challenge_method": "plain"},
        {"code_challenge": ""},
        {"response_type": "token"},
        {"redirect_uri": "https://thief.example/callback"},
        {"redirect_uri": "http://127.0.0.1:3334/other"},
        {"client_id": "mcl_01kdgq3v0z8r5m2x7c4b9n6t1w"},
    ],
)
def test_what_a_program_must_not_ask_is_refused_before_anybody_decides(
    installation: Installation, wrong: dict[str, str]
) -> None:
    body = {**ASKED, "client_id": registered(installation), **wrong}
    asked = installation.owner.client.post("/api/v1/oauth/requests", json=body)
    assert asked.status_code == 422, asked.text
    made = installation.owner.client.post(programs(installation), json={**body, "role": "viewer"})
    assert made.status_code == 422


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "http://thief.example/cb",
        "https://user@thief.example/cb",
        "https://good.example/cb#part",
        "https://good.example/c b",
        "https:///none",
        "file:///etc/passwd",
        "https://" + "x" * 2000,
    ],
)
def test_addresses_that_no_program_listens_at_are_refused(
    installation: Installation, address: str
) -> None:
    body = {"client_name": "Bad", "redirect_uris": [address]}
    answer = installation.anonymous().post("/oauth/register", json=body)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")


def test_addresses_of_real_programs_are_taken() -> None:
    known = [
        "http://localhost:33418/",
        "https://claude.ai/api/mcp/auth_callback",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "http://[::1]:8000/cb",
    ]
    assert checked_addresses(known) == tuple(known)


def test_a_program_on_the_own_machine_may_listen_at_another_port(
    installation: Installation,
) -> None:
    body = {**ASKED, "client_id": registered(installation)}
    body["redirect_uri"] = "http://127.0.0.1:54321/callback"
    asked = installation.owner.client.post("/api/v1/oauth/requests", json=body)
    assert asked.status_code == 200


def test_clients_without_a_token_learn_where_to_sign_in(installation: Installation) -> None:
    client = installation.anonymous()
    refused = client.post("/mcp", json={})
    assert refused.status_code == 401
    told = refused.headers["www-authenticate"]
    place = told.partition('resource_metadata="')[2].rstrip('"')
    resource = client.get(urlsplit(place).path).json()
    assert resource["resource"] == "http://127.0.0.1:8400/mcp"
    server = client.get("/.well-known/oauth-authorization-server").json()
    assert server["issuer"] in resource["authorization_servers"]
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["client_id_metadata_document_supported"]


class Site:
    """A site that answers with one document."""

    def __init__(self, body: bytes, status: int = 200) -> None:
        self.body = body
        self.status = status

    async def ask(self, *_: Any, **__: Any) -> "Site":
        return self


ADDRESS = "https://agent.example/oauth/client.json"


@pytest.mark.parametrize(
    ("client_id", "body"),
    [
        (ADDRESS, b"no json"),
        (ADDRESS, b'{"client_id": "https://other.example/c", "redirect_uris": ["https://a.b/c"]}'),
        (ADDRESS, b'{"client_id": "%s", "redirect_uris": []}' % ADDRESS.encode()),
        (ADDRESS, b'{"client_id": "%s", "redirect_uris": ["http://x.y/"]}' % ADDRESS.encode()),
        (ADDRESS, b" " * 20_000 + b"{}"),
        ("https://agent.example/", b"{}"),
        ("https://agent.example/../c", b"{}"),
        ("https://a@agent.example/c", b"{}"),
    ],
)
def test_documents_that_do_not_fit_name_no_program(client_id: str, body: bytes) -> None:
    with pytest.raises(Invalid):
        asyncio.run(ClientDocuments(Site(body)).find(client_id))


def test_a_program_is_known_by_its_document() -> None:
    body = b'{"client_id": "%s", "client_name": "A\\u202eB", "redirect_uris": ["https://a.b/c"]}'
    found = asyncio.run(ClientDocuments(Site(body % ADDRESS.encode())).find(ADDRESS))
    assert found.name == "AB"
    assert found.redirects_to("https://a.b/c")
    assert not found.redirects_to("https://a.b/d")


def test_a_document_inside_the_own_network_is_not_asked_for(installation: Installation) -> None:
    with pytest.raises((Denied, Invalid)):
        asyncio.run(installation.steward.client_documents.find("https://127.0.0.1/client.json"))
