"""Secrets in AWS Secrets Manager (moto's server) and in Google Cloud Secret Manager (a double on loopback)."""

import asyncio
import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from pydantic import ValidationError

from steward.connections import Http, HttpLimits, SecretManagers
from steward.connections.catalogue.aws_calls import call_aws
from steward.core import AwsSource, Invalid, Misconfigured, NotFound, Unavailable
from steward.core.clock import SystemClock
from steward.core.settings import GcpSource
from steward.store import Scope, SecretSources

SCOPE = Scope("org_1", "prj_1")
OTHER = Scope("org_1", "prj_2")
VALUE = "a very unusual value"
KEYS = {"access_key_id": "AKIAEXAMPLE", "secret_access_key": "not-a-real-secret-access-key"}
DOCUMENT = json.dumps({"password": VALUE, "port": 5432})


def sources(settings: AwsSource | GcpSource) -> SecretSources:
    return SecretSources({"here": settings}, SecretManagers(Http(), SystemClock()).read)


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    for name, value in (("warehouse", DOCUMENT), ("plain", VALUE)):
        created = call_aws(
            Http(allow_private=["127.0.0.0/8"]),
            "secretsmanager",
            "CreateSecret",
            {"Name": f"steward/prj_1/{name}", "SecretString": value},
            region="eu-central-1",
            secrets=KEYS,
            base_url=url,
            limits=HttpLimits(),
        )
        assert asyncio.run(created)[0] == 200
    yield url
    server.stop()


def aws(url: str) -> AwsSource:
    return AwsSource.model_validate(
        {
            "kind": "aws",
            "region": "eu-central-1",
            "address": url,
            "access_key_id": KEYS["access_key_id"],
            "credential": KEYS["secret_access_key"],
        }
    )


def test_aws_gives_a_secret_and_a_field_of_one(moto: str) -> None:
    found = sources(aws(moto))
    assert found.names(SCOPE) == {"here": "aws"}
    assert found.read(SCOPE, "here", "warehouse#password") == VALUE
    assert found.read(SCOPE, "here", "plain") == VALUE

    async def inside() -> str:
        return found.read(SCOPE, "here", "plain")

    assert asyncio.run(inside()) == VALUE
    for reference in ("warehouse#user", "warehouse#port", "plain#password", "nothing"):
        with pytest.raises(NotFound) as missing:
            found.read(SCOPE, "here", reference)
        assert VALUE not in missing.value.message
    # The name begins with the project: nobody reads what belongs to another one.
    with pytest.raises(NotFound):
        found.read(OTHER, "here", "plain")
    for reference in ("", "#x", "a#", "../prj_2/x", "a//b", "a b", "x?versionId=1", "arn:aws:x"):
        with pytest.raises(Invalid):
            found.check(SCOPE, "here", reference)


def test_what_aws_refuses_is_told_without_keys(moto: str) -> None:
    httpx2.post(f"{moto}/moto-api/reset-auth", content=b"0").raise_for_status()
    try:
        with pytest.raises(Misconfigured, match="does not let Steward read") as refused:
            sources(aws(moto)).read(SCOPE, "here", "plain")
    finally:
        httpx2.post(f"{moto}/moto-api/reset-auth", content=b"Infinity").raise_for_status()
    assert not any(key in refused.value.message for key in KEYS.values())
    with pytest.raises(Unavailable):
        sources(aws("http://127.0.0.1:9")).read(SCOPE, "here", "plain")


@dataclass
class Google:
    """What Google says to a service account that asks for a token and then for a secret."""

    secrets: dict[str, bytes]
    key: rsa.RSAPrivateKey
    url: str = ""
    status: int = 200
    tokens: list[str] = field(default_factory=list)

    def account(self) -> str:
        private = self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        return json.dumps(
            {
                "client_email": "steward@example.iam.gserviceaccount.com",
                "private_key": private.decode(),
                "private_key_id": "k1",
                "token_uri": f"{self.url}/token",
            }
        )

    def grant(self, form: str) -> tuple[int, Any]:
        assertion = parse_qs(form)["assertion"][0]
        try:
            claims = jwt.decode(
                assertion, self.key.public_key(), ["RS256"], audience=f"{self.url}/token"
            )
        except jwt.PyJWTError:
            return 400, {"error": "invalid_grant"}
        assert claims["scope"] == "https://www.googleapis.com/auth/cloud-platform"
        self.tokens.append(f"token-{len(self.tokens) + 1}")
        return 200, {"access_token": self.tokens[-1], "expires_in": 3600}

    def access(self, path: str, authorization: str | None) -> tuple[int, Any]:
        if authorization not in {f"Bearer {each}" for each in self.tokens}:
            return 401, {"error": {"message": f"bad {authorization}"}}
        found = self.secrets.get(path.removeprefix("/v1/").removesuffix(":access"))
        if self.status != 200:
            return self.status, {"error": {"message": "no"}}
        if found is None:
            return 404, {"error": {"message": "none"}}
        return 200, {"payload": {"data": base64.b64encode(found).decode()}}


@pytest.fixture
def google() -> Iterator[Google]:
    place = "projects/acme/secrets/steward-prj_1-{}/versions/latest".format
    made = Google(
        {
            place("warehouse"): DOCUMENT.encode(),
            place("plain"): VALUE.encode(),
            place("plain").replace("latest", "3"): b"older",
            place("binary"): b"\xff\xfe",
        },
        rsa.generate_private_key(65537, 2048),
    )

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(*made.access(self.path, self.headers.get("Authorization")))

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            self._answer(*made.grant(self.rfile.read(size).decode()))

        def _answer(self, status: int, document: Any) -> None:
            content = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}"
    yield made
    server.shutdown()
    server.server_close()
    thread.join()


def gcp(google: Google, path: Path) -> GcpSource:
    path.write_text(google.account())
    return GcpSource(
        kind="gcp",
        address=google.url,
        path="projects/acme/secrets/steward-{project}-",
        credential_file=path,
    )


def test_google_gives_the_latest_version_or_the_one_that_is_named(
    google: Google, tmp_path: Path
) -> None:
    found = sources(gcp(google, tmp_path / "key.json"))
    assert found.read(SCOPE, "here", "plain") == VALUE
    assert found.read(SCOPE, "here", "warehouse#password") == VALUE
    assert found.read(SCOPE, "here", "plain/versions/3") == "older"
    # One token for all, until it is refused.
    assert len(google.tokens) == 1
    google.tokens[:] = ["another"]
    with pytest.raises(Misconfigured):
        found.read(SCOPE, "here", "plain")
    assert found.read(SCOPE, "here", "plain") == VALUE
    for reference in ("binary", "nothing", "warehouse#user"):
        with pytest.raises(NotFound):
            found.read(SCOPE, "here", reference)
    with pytest.raises(NotFound):
        found.read(OTHER, "here", "plain")
    for reference in ("../other", "plain:access", "plain/versions/../../x", "plain?alt=media"):
        with pytest.raises(Invalid):
            found.check(SCOPE, "here", reference)


@pytest.mark.parametrize(
    ("status", "error"), [(403, Misconfigured), (429, Unavailable), (503, Unavailable)]
)
def test_what_google_refuses_is_told(
    google: Google, tmp_path: Path, status: int, error: type[Exception]
) -> None:
    google.status = status
    with pytest.raises(error, match=str(status)):
        sources(gcp(google, tmp_path / "key.json")).read(SCOPE, "here", "plain")


def test_a_wrong_key_is_told_without_it(google: Google, tmp_path: Path) -> None:
    settings = gcp(google, tmp_path / "key.json")
    google.key = rsa.generate_private_key(65537, 2048)
    with pytest.raises(Exception, match="gave no token") as refused:
        sources(settings).read(SCOPE, "here", "plain")
    assert "PRIVATE" not in str(refused.value)
    (tmp_path / "key.json").write_text("not json")
    with pytest.raises(Misconfigured, match="service account"):
        sources(settings).read(SCOPE, "here", "plain")
    (tmp_path / "key.json").unlink()
    with pytest.raises(Misconfigured, match="cannot be read"):
        sources(settings).read(SCOPE, "here", "plain")


def test_a_source_needs_one_credential_and_known_names() -> None:
    told: dict[str, Any] = {"kind": "aws", "region": "eu-central-1", "access_key_id": "A"}
    for wrong in (
        {},
        {"credential": "x", "credential_file": "y"},
        {"credential": "x", "path": "{home}/"},
        {"credential": "x", "path": "{project.x}/"},
    ):
        with pytest.raises(ValidationError):
            AwsSource.model_validate({**told, **wrong})
