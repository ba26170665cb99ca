"""Secrets that stay elsewhere: variables, files, and a server that speaks Vault's language."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from steward.app.diagnose import check_secrets
from steward.core import EnvironmentSource, FilesSource, VaultSource
from steward.core.errors import Invalid, Misconfigured, NotFound, Unavailable
from steward.core.settings import SecretsSettings
from steward.store import Scope, SecretSources
from steward.store.secrets import _FRESH_SECONDS
from steward.testing import Installation

SCOPE = Scope("org_1", "prj_1")
VALUE = "a very unusual value"


def source(settings: EnvironmentSource | FilesSource | VaultSource) -> SecretSources:
    return SecretSources({"here": settings})


@pytest.fixture
def variable(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TEAM_PASSWORD", VALUE)
    monkeypatch.setenv("OTHER_PASSWORD", "not for this source")
    return "TEAM_PASSWORD"


def test_a_variable_is_read_and_no_other(variable: str) -> None:
    sources = source(EnvironmentSource(kind="environment", prefix="TEAM_"))
    assert sources.read(SCOPE, "here", variable) == VALUE
    for act in (sources.check, sources.read):
        with pytest.raises(Invalid):
            act(SCOPE, "here", "OTHER_PASSWORD")
    with pytest.raises(NotFound):
        sources.read(SCOPE, "here", "TEAM_NOTHING")
    for prefix in ("STEWARD_", "STEWARD_HTTP", "ST", ""):
        with pytest.raises(ValidationError):
            EnvironmentSource(kind="environment", prefix=prefix)


def test_a_file_is_read_inside_its_folder_only(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    (folder / "..data").mkdir(parents=True)
    (folder / "..data/password").write_text(f"{VALUE}\n")
    (folder / "password").symlink_to("..data/password")
    (tmp_path / "outside").write_text("not for this source")
    (folder / "link").symlink_to(tmp_path / "outside")
    (folder / "binary").write_bytes(b"\xff\xfe")
    sources = source(FilesSource(kind="files", folder=folder))
    assert sources.read(SCOPE, "here", "password") == VALUE
    for reference in ("../outside", "/etc/passwd", ""):
        for act in (sources.check, sources.read):
            with pytest.raises(Invalid):
                act(SCOPE, "here", reference)
    for reference in ("link", "nothing", "..data"):
        with pytest.raises(NotFound):
            sources.read(SCOPE, "here", reference)
    with pytest.raises(Invalid, match="UTF-8"):
        sources.read(SCOPE, "here", "binary")


def test_a_source_serves_the_projects_that_it_names(variable: str) -> None:
    sources = source(
        EnvironmentSource(kind="environment", prefix="TEAM_", projects=[SCOPE.project_id])
    )
    other = Scope("org_1", "prj_2")
    assert sources.names(SCOPE) == {"here": "environment"}
    assert sources.names(other) == {}
    with pytest.raises(NotFound):
        sources.read(other, "here", variable)


@dataclass
class Vault:
    """What a Vault server says to the calls that Steward makes."""

    documents: dict[str, dict[str, Any]]
    tokens: set[str] = field(default_factory=set)
    lease: int = 3600
    is_sealed: bool = False
    logins: list[tuple[str, Any]] = field(default_factory=list)
    renewals: int = 0
    url: str = ""

    def answer(self, method: str, path: str, token: str | None, body: Any) -> tuple[int, Any]:
        if self.is_sealed:
            return 503, {"errors": ["Vault is sealed"]}
        if method == "POST" and path in ("/v1/auth/approle/login", "/v1/auth/kubernetes/login"):
            self.logins.append((path.split("/")[3], body))
            if "wrong" in body.values():
                return 400, {"errors": ["invalid role or secret ID"]}
            made = f"token-{len(self.logins)}"
            self.tokens.add(made)
            return 200, {"auth": {"client_token": made, "lease_duration": self.lease}}
        if token not in self.tokens:
            return 403, {"errors": ["permission denied"]}
        if path == "/v1/auth/token/renew-self":
            self.renewals += 1
            return 200, {"auth": {"client_token": token, "lease_duration": self.lease}}
        found = self.documents.get(path.removeprefix("/v1/secret/data/"))
        return (404, {"errors": []}) if found is None else (200, {"data": {"data": found}})


@pytest.fixture
def vault() -> Iterator[Vault]:
    made = Vault({"steward/prj_1/databases/warehouse": {"password": VALUE, "port": 5432}})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def _answer(self, method: str) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size) or b"{}")
            path = self.path.partition("?")[0]
            status, document = made.answer(method, path, self.headers.get("X-Vault-Token"), body)
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


REFERENCE = "databases/warehouse#password"


def approle(vault: Vault, credential: str = "secret-id") -> VaultSource:
    return VaultSource.model_validate(
        {
            "kind": "vault",
            "address": vault.url,
            "login": "approle",
            "role": "role-id",
            "credential": credential,
        }
    )


def test_vault_by_approle_keeps_its_token_and_fetches_another_when_it_is_revoked(
    vault: Vault,
) -> None:
    sources = source(approle(vault))
    assert [sources.read(SCOPE, "here", REFERENCE) for _ in range(3)] == [VALUE] * 3
    assert vault.logins == [("approle", {"role_id": "role-id", "secret_id": "secret-id"})]
    vault.tokens.clear()
    assert sources.read(SCOPE, "here", REFERENCE) == VALUE
    assert len(vault.logins) == 2


def test_vault_by_kubernetes_reads_its_token_again_at_each_login(
    vault: Vault, tmp_path: Path
) -> None:
    jwt = tmp_path / "token"
    jwt.write_text("first\n")
    sources = source(
        VaultSource(
            kind="vault", address=vault.url, login="kubernetes", role="app", credential_file=jwt
        )
    )
    assert sources.read(SCOPE, "here", REFERENCE) == VALUE
    jwt.write_text("second\n")
    vault.tokens.clear()
    assert sources.read(SCOPE, "here", REFERENCE) == VALUE
    assert [each[1]["jwt"] for each in vault.logins] == ["first", "second"]
    jwt.unlink()
    vault.tokens.clear()
    with pytest.raises(Misconfigured, match="cannot be read"):
        sources.read(SCOPE, "here", REFERENCE)


def test_a_token_of_vault_is_renewed_before_it_ends(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000.0
    monkeypatch.setattr("steward.store.secret_sources.time.monotonic", lambda: now)
    sources = source(approle(vault))
    sources.read(SCOPE, "here", REFERENCE)
    now += vault.lease * 0.6
    sources.read(SCOPE, "here", REFERENCE)
    assert (len(vault.logins), vault.renewals) == (1, 1)
    now += vault.lease * 2
    vault.tokens.clear()
    sources.read(SCOPE, "here", REFERENCE)
    assert (len(vault.logins), vault.renewals) == (2, 1)


def test_what_vault_does_not_give_is_told_without_a_value(vault: Vault) -> None:
    sources = source(approle(vault))
    for reference in ("databases/nothing#password", "databases/warehouse#user"):
        with pytest.raises(NotFound):
            sources.read(SCOPE, "here", reference)
    with pytest.raises(NotFound, match="no text called port"):
        sources.read(SCOPE, "here", "databases/warehouse#port")
    for reference in ("databases/warehouse", "#password", "../prj_2/x#y", "a//b#c"):
        with pytest.raises(Invalid):
            sources.read(SCOPE, "here", reference)
    # The path begins with the project: nobody reads what belongs to another one.
    with pytest.raises(NotFound):
        sources.read(Scope("org_1", "prj_2"), "here", REFERENCE)
    with pytest.raises(Misconfigured) as refused:
        source(approle(vault, "wrong")).read(SCOPE, "here", REFERENCE)
    assert "wrong" not in refused.value.message
    vault.is_sealed = True
    with pytest.raises(Unavailable):
        sources.read(SCOPE, "here", REFERENCE)


@pytest.mark.every_database
def test_a_secret_of_a_project_is_read_where_it_lives(
    installation: Installation, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, scope = installation.steward.secrets, installation.scope
    place = f"steward/{scope.project_id}/app"
    vault.documents[place] = {"key": VALUE}
    monkeypatch.setattr(store, "sources", source(approle(vault)))
    made = store.refer(scope, "KEY", "here", "app#key", author="usr_1")
    assert (made.source, made.reference) == ("here", "app#key")
    assert store.get(scope, "KEY") == VALUE
    assert store.page(scope) == [made]

    # What was read is taken out of what is written, like any other secret.
    assert VALUE not in str(installation.steward.database.conceal(scope, f"it is {VALUE}."))

    vault.documents[place] = {"key": "another unusual value"}
    assert store.get(scope, "KEY") == VALUE
    installation.clock.advance(seconds=_FRESH_SECONDS)
    assert store.get(scope, "KEY") == "another unusual value"
    vault.is_sealed = True
    installation.clock.advance(seconds=_FRESH_SECONDS)
    assert store.get(scope, "KEY") == "another unusual value"
    vault.is_sealed = False
    vault.documents.clear()
    installation.clock.advance(seconds=_FRESH_SECONDS)
    with pytest.raises(NotFound):
        store.get(scope, "KEY")

    with pytest.raises(NotFound):
        store.refer(scope, "NOTHING", "here", "other#key", author="usr_1")
    assert [each.name for each in store.page(scope)] == ["KEY"]
    store.set(scope, "KEY", "typed in", author="usr_1")
    assert store.get(scope, "KEY") == "typed in"


def test_the_doctor_reads_what_secrets_refer_to(
    installation: Installation, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, scope, settings = installation.steward.secrets, installation.scope, approle(vault)
    vault.documents[f"steward/{scope.project_id}/app"] = {"key": VALUE}
    monkeypatch.setattr(store, "sources", source(settings))
    store.refer(scope, "KEY", "here", "app#key", author="usr_1")
    known = installation.steward.settings
    looked = known.model_copy(update={"secrets": SecretsSettings(sources={"here": settings})})

    found = check_secrets(looked)
    assert (found.state, found.message) == ("ok", "1 read from here")
    vault.is_sealed = True
    found = check_secrets(looked)
    assert found.state == "failed"
    assert found.message.startswith("here: Vault does not answer")
    assert VALUE not in str(found)
