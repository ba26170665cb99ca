"""A small OpenID provider that keeps to the rules, or breaks one on request; reached through the checked HTTP client."""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.testclient import TestClient

from steward.app.sign_on import CheckedWay
from steward.connections import Http
from steward.identity.sign_on import Issuers, Provider, ProviderDocument
from steward.identity.sign_on.providers import RoleRule
from steward.testing import Installation

SECRET = "s3cret-of-steward"
Claims = dict[str, Any]


def new_key(kid: str) -> tuple[ec.EllipticCurvePrivateKey, dict[str, Any]]:
    private = ec.generate_private_key(ec.SECP256R1())
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(private.public_key()))
    return private, {**public, "kid": kid, "use": "sig", "alg": "ES256"}


@dataclass
class Office:
    """What stands at the address of an issuer."""

    installation: Installation
    issuer: str = "https://login.example"
    client_id: str = "steward"
    requests: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, Any]] = field(default_factory=dict)
    spoil: Callable[[Claims], Claims] = lambda claims: claims
    sign: Callable[[Claims], str] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    userinfo: Claims | None = None

    def __post_init__(self) -> None:
        self.private, self.public = new_key("first")

    def rotate(self, kid: str) -> None:
        self.private, self.public = new_key(kid)

    @property
    def now(self) -> int:
        return int(self.installation.clock.now().timestamp())

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        self.requests.append(path)
        if path == "/.well-known/openid-configuration":
            return httpx2.Response(200, json=self.described())
        if path == "/jwks":
            return httpx2.Response(200, json={"keys": [self.public]})
        if path == "/token":
            return self._tokens(request)
        if path == "/me" and self.userinfo is not None:
            return httpx2.Response(200, json=self.userinfo)
        return httpx2.Response(404, json={})

    def described(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/auth",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "userinfo_endpoint": f"{self.issuer}/me",
            "id_token_signing_alg_values_supported": ["ES256", "HS256", "none"],
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }

    def agree(self, url: str, claims: Claims) -> dict[str, str]:
        """What the browser brings back after the person has signed in there."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self.codes)}"
        self.codes[code] = {**asked, "claims": claims, "used": False}
        return {"state": asked["state"], "code": code, "iss": self.issuer}

    def token(self, claims: Claims) -> str:
        if self.sign is not None:
            return self.sign(claims)
        kid = {"kid": self.public["kid"]}
        return jwt.encode(claims, self.private, algorithm="ES256", headers=kid)

    def _tokens(self, request: httpx2.Request) -> httpx2.Response:
        form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        pair = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        client, _, secret = pair.partition(":")
        kept = self.codes.get(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            kept is None
            or kept["used"]
            or kept["code_challenge"] != challenge
            or kept["redirect_uri"] != form["redirect_uri"]
            or (unquote_plus(client), unquote_plus(secret)) != (self.client_id, SECRET)
        ):
            return httpx2.Response(400, json={"error": "invalid_grant"})
        kept["used"] = True
        claims = {
            "iss": self.issuer,
            "aud": self.client_id,
            "iat": self.now,
            "exp": self.now + 300,
            "nonce": kept["nonce"],
            **kept["claims"],
        }
        token = self.token(self.spoil(claims))
        return httpx2.Response(
            200, json={"id_token": token, "access_token": "at", "token_type": "Bearer"}
        )


class _Offices(httpx2.AsyncBaseTransport):
    def __init__(self, offices: Sequence[Office]) -> None:
        self._offices = {urlsplit(each.issuer).netloc: each for each in offices}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return self._offices[request.headers["host"]].answer(request)


async def _resolve(_host: str, _port: int) -> Sequence[str]:
    return ["93.184.216.34"]


def open_offices(installation: Installation, *offices: Office) -> None:
    """Puts the providers where the installation reaches them, behind the same checks as the real network."""
    http = Http(transport=_Offices(offices), resolve=_resolve)
    installation.steward.sign_on.issuers = Issuers(CheckedWay(http), installation.clock)


def add_provider(
    installation: Installation, office: Office, *rules: RoleRule, **settings: Any
) -> Provider:
    document = ProviderDocument(
        name="Acme",
        issuer=office.issuer,
        client_id=office.client_id,
        rules=list(rules),
        **settings,
    )
    providers = installation.steward.sign_on.providers
    return providers.create(installation.owner.access, document, SECRET)


def rule(installation: Installation, value: str, role: str, project: str | None = None) -> RoleRule:
    return RoleRule.model_validate(
        {
            "claim": "groups",
            "value": value,
            "project_id": project or installation.scope.project_id,
            "role": role,
        }
    )


def person(sub: str = "ada", *groups: str, **more: Any) -> Claims:
    return {
        "sub": sub,
        "email": f"{sub}@acme.example",
        "email_verified": True,
        "name": sub.title(),
        "groups": list(groups),
        **more,
    }


def begin(client: TestClient, provider: Provider | str, next_: str | None = None) -> str:
    """Where the browser is sent."""
    provider_id = provider if isinstance(provider, str) else provider.id
    answer = client.get(
        f"/api/v1/sign-on/{provider_id}/start",
        params={} if next_ is None else {"next": next_},
        follow_redirects=False,
    )
    assert answer.status_code == 303
    return str(answer.headers["location"])


def come_back(client: TestClient, provider: Provider | str, said: dict[str, str]) -> str:
    """Where the browser is sent after the callback, as a path."""
    provider_id = provider if isinstance(provider, str) else provider.id
    answer = client.get(
        f"/api/v1/sign-on/{provider_id}/callback", params=said, follow_redirects=False
    )
    assert answer.status_code == 303
    return str(answer.headers["location"]).removeprefix(str(client.base_url))


def sign_in(
    client: TestClient, provider: Provider, office: Office, claims: Claims, next_: str | None = None
) -> str:
    return come_back(client, provider, office.agree(begin(client, provider, next_), claims))


def session_of(client: TestClient) -> dict[str, Any] | None:
    answer = client.get("/api/v1/session")
    return answer.json() if answer.status_code == 200 else None


def roles_of(client: TestClient) -> dict[str, str]:
    found = session_of(client)
    return {each["name"]: each["role"] for each in found["projects"]} if found else {}


def problem(code: str) -> str:
    return f"/sign-in?problem={code}"


def told(installation: Installation, project_id: str | None = None) -> list[tuple[str, Any]]:
    """Kinds and data of the project's events, newest first."""
    scope = installation.scope
    if project_id is not None:
        scope = type(scope)(scope.org_id, project_id)
    found = installation.steward.events.before(scope, None, 50)
    return [(each.type.removeprefix("org.steward."), each.data) for each in found]
