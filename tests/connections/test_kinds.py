"""Every kind of connection keeps the contract, and its test really connects to something real."""

import sqlite3
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import duckdb
import pytest
import sqlalchemy as sa

from steward.app.connection_services import BenchDatabases
from steward.connections import Http, Mailer, Surroundings, load_connectors
from steward.connections.folders import Folders
from steward.connections.types.http_api import HttpApiSettings
from steward.core import reaching_for
from steward.core.errors import (
    Denied,
    Invalid,
    Misconfigured,
    NotFound,
    StewardError,
    Unavailable,
)
from steward.ingest.address import parse_address
from steward.testing import Installation, PostgresServer
from steward.testing.connections import check_connector, run_check, surroundings
from tests.connections.outside import Heard, certificates, ok, serving
from tests.connections.post import office
from tests.connections.postboxes import HOST, PASSWORD, SERVERS, missing
from tests.tools.room import run

SETTINGS: dict[str, dict[str, Any]] = {
    "postgresql": {"host": "127.0.0.1", "database": "shop", "user": "ada", "port": 1},
    "mysql": {"host": "127.0.0.1", "database": "shop", "user": "ada", "port": 1},
    "database_file": {"path": "/nowhere/shop.db"},
    "s3": {"bucket": "reports", "endpoint": "http://127.0.0.1:1"},
    "smtp": {"host": "127.0.0.1", "port": 1, "sender": "a@example.com", "username": "ada"},
    "sftp": {"host": "files.example.com", "username": "partner"},
    "imap": {"host": "127.0.0.1", "port": 1, "username": "ada"},
    "kafka": {"host": "127.0.0.1", "port": 1},
    "slack_webhook": {},
    "slack": {"channels": ["#finance"], "api_url": "http://127.0.0.1:1"},
    "http_api": {"base_url": "http://127.0.0.1:1/v1", "authentication": "bearer"},
    "mcp": {"transport": "http", "url": "http://127.0.0.1:1/mcp"},
    "service": {"service": "pets", "base_url": "http://127.0.0.1:1/v1", "way": "bearer"},
}


def test_these_are_the_kinds() -> None:
    assert {kind for kind, _ in load_connectors()} == SETTINGS.keys()


@pytest.mark.parametrize("kind", sorted(SETTINGS))
def test_a_kind_keeps_the_contract(kind: str) -> None:
    check_connector(load_connectors().get(kind), SETTINGS[kind])


# Databases


@pytest.fixture
def around(installation: Installation, tmp_path: Path) -> Surroundings:
    files = tmp_path / "files"
    files.mkdir()
    return surroundings(
        databases=BenchDatabases(installation.steward.workbench),
        folders=Folders.of([str(files)], installation.steward.settings.home),
    )


def _check(kind: str, settings: dict[str, Any], around: Surroundings, **secrets: str) -> str:
    return run_check(load_connectors().get(kind), settings, secrets, around)


def test_a_postgresql_server_is_signed_in_to(
    around: Surroundings, postgres: PostgresServer, database_kind: str, installation: Installation
) -> None:
    with postgres.database(None) as url, reaching_for(installation.scope):
        parts = sa.make_url(url)
        settings: dict[str, Any] = {
            "host": parts.host or parts.query["host"],
            "database": parts.database,
            "user": parts.username,
        }
        if parts.port:
            settings["port"] = parts.port
        words = _check("postgresql", settings, around, password="hunter2-and-more")
        assert words.startswith(f"Signed in to {parts.database}: PostgreSQL ")
        with pytest.raises(Unavailable, match="could not be read") as wrong:
            _check("postgresql", settings | {"database": "absent"}, around, password="hunter2-x")
        assert "hunter2" not in wrong.value.message


def test_addresses_are_built_so_that_no_part_becomes_another() -> None:
    odd = {"host": "db.example.com", "database": "a/b?c#d", "user": "ada@x:y/z", "port": 3307}
    for kind in ("mysql", "postgresql"):
        connector = load_connectors().get(kind)
        settings = connector.settings.model_validate({**odd, "tls": "verify-full"})
        assert connector.database is not None
        place = connector.database(surroundings(), settings, {"password": "p@ss/w:rd?#&"})
        found = parse_address(place.url or "")
        assert (found.kind, found.host, found.port) == (kind, "db.example.com", 3307)
        assert (found.user, found.password) == ("ada@x:y/z", "p@ss/w:rd?#&")
        assert (found.database, found.tls) == ("a/b?c#d", "verify-full")
        assert "p@ss" not in repr(place)
        assert "p@ss" not in connector.place(settings)


@pytest.mark.parametrize("name", sorted(SERVERS))
def test_a_mailbox_is_signed_in_to(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = missing(name)
    if why is not None:
        pytest.skip(why)

    async def resolve(_name: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    around = surroundings(http=Http(resolve=resolve, allow_private=[HOST, "other.example"]))
    made = certificates(tmp_path, HOST)
    with SERVERS[name](tmp_path, made.client) as box:
        with pytest.raises(Misconfigured, match="is not trusted"):
            _check("imap", box.settings, around, password=PASSWORD)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))
        words = _check("imap", box.settings, around, password=PASSWORD)
        assert words.startswith("Signed in to mail.example over TLS. INBOX has ")
        assert words.endswith("The server tells Steward when mail arrives.")
        with pytest.raises(Misconfigured, match="refused the user name or password"):
            _check("imap", box.settings, around, password="wrong")
        with pytest.raises(Misconfigured, match="is not trusted"):
            _check("imap", {**box.settings, "host": "other.example"}, around, password=PASSWORD)


def test_files_open_only_inside_allowed_folders(around: Surroundings, tmp_path: Path) -> None:
    lite, duck = tmp_path / "files" / "a.db", tmp_path / "files" / "b.duckdb"
    with sqlite3.connect(lite) as made:
        made.execute("CREATE TABLE t (a)")
    made.close()
    duckdb.connect(str(duck)).close()
    assert _check("database_file", {"path": str(lite)}, around).startswith("The file opens: SQLite")
    assert _check("database_file", {"path": str(duck)}, around).startswith("The file opens: DuckDB")
    outside = tmp_path / "outside.db"
    outside.write_bytes(lite.read_bytes())
    link = tmp_path / "files" / "link.db"
    link.symlink_to(outside)
    winding = f"{tmp_path}/files/../outside.db"
    own = str(tmp_path / "home" / "steward.db")
    for path in (str(outside), str(link), winding, own, "files/a.db", "/etc/passwd"):
        with pytest.raises(Denied):
            _check("database_file", {"path": path}, around)
    with pytest.raises(NotFound):
        _check("database_file", {"path": str(tmp_path / "files" / "absent.db")}, around)
    text = tmp_path / "files" / "c.txt"
    text.write_text("not a database at all")
    with pytest.raises(Invalid, match="neither"):
        _check("database_file", {"path": str(text)}, around)


def test_steward_s_own_home_stays_closed_within_an_allowed_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "steward.db").write_bytes(b"x")
    with pytest.raises(Denied):
        Folders.of([str(tmp_path)], home).require(str(home / "steward.db"))


# Storage


@pytest.fixture(scope="module")
def storage() -> Iterator[str]:
    """A real S3 protocol server, moto's, with a bucket that has one object."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
    host, port = server.get_host_and_port()
    for path, body in (("reports", None), ("reports/out/a b.csv", b"x,y\n1,2\n"), ("bare", None)):
        address = f"http://{host}:{port}/{path.replace(' ', '%20')}"
        plain = {"Content-Type": "text/csv"}
        with urlopen(Request(address, data=body, headers=plain, method="PUT")) as answer:
            assert answer.status == 200
    yield f"http://{host}:{port}"
    server.stop()


KEYS = {"access_key_id": "key-0123456789", "secret_access_key": "not-told-0123456789"}


def test_a_bucket_is_listed(storage: str) -> None:
    settings = {"bucket": "reports", "endpoint": storage}
    assert "has objects" in _check("s3", settings, surroundings(), **KEYS)
    assert "is empty" in _check("s3", settings | {"bucket": "bare"}, surroundings(), **KEYS)
    with pytest.raises(Misconfigured, match="no bucket 'absent'"):
        _check("s3", settings | {"bucket": "absent"}, surroundings(), **KEYS)
    with pytest.raises(Denied, match="loopback"):
        _check("s3", settings, surroundings(allow_private=()), **KEYS)


def test_an_object_is_fetched_below_the_prefix_only(storage: str) -> None:
    from steward.connections.types.s3 import S3Settings, fetch

    http = surroundings().http
    settings = S3Settings(bucket="reports", endpoint=storage, prefix="out/")
    assert run(fetch(http, settings, KEYS, "out/a b.csv")) == b"x,y\n1,2\n"
    for key, error in (("out/absent", NotFound), ("elsewhere/a.csv", Invalid)):
        with pytest.raises(error):
            run(fetch(http, settings, KEYS, key))


def test_signatures_are_those_of_the_published_example() -> None:
    """AWS documents this request: GET /test.txt of examplebucket; here without its Range header."""
    from datetime import UTC, datetime

    from steward.connections.signing import S3Key, sign_get

    key = S3Key("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    moment = datetime(2013, 5, 24, tzinfo=UTC)
    query = {"max-keys": "2", "prefix": "J"}
    signed = sign_get(key, "https", "examplebucket.s3.amazonaws.com", "/", query, moment)
    assert signed.url == "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J"
    assert signed.headers["Authorization"].endswith(
        "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    )
    assert "wJalr" not in repr(key)


# Messages


def test_a_mail_server_is_greeted_and_nothing_is_sent(tmp_path: Path) -> None:
    made = certificates(tmp_path, "127.0.0.1")
    around = surroundings(mail=Mailer(allow_private=["127.0.0.1"], tls=made.client))
    connector = load_connectors().get("smtp")

    async def work() -> None:
        async with office(made.server, login=True) as post:
            settings = connector.settings(
                host="127.0.0.1", port=post.port, sender="a@example.com", username="ada"
            )
            words = await connector.check(around, settings, {"password": "right"})
            assert words.endswith("accepts the user name and password. Nothing was sent.")
            with pytest.raises(Misconfigured, match="refused the user name"):
                await connector.check(around, settings, {"password": "wrong"})
            with pytest.raises(Misconfigured, match="“ada” but no password"):
                await connector.check(around, settings, {})
            assert post.letters == []

    run(work())


def test_a_slack_webhook_is_known_without_a_message() -> None:
    connector = load_connectors().get("slack_webhook")
    answers = {
        "/services/good": ok(b"no_text", status="400 Bad Request"),
        "/services/gone": ok(b"no_service", status="404 Not Found"),
        "/services/odd": ok(b"hello"),
    }

    async def work() -> None:
        async with serving(lambda heard: answers[heard.path]) as slack:
            place = f"http://127.0.0.1:{slack.port}"
            settings = connector.settings(webhook_hosts=[place])
            good = {"url": f"{place}/services/good"}
            assert "Nothing was written" in await connector.check(surroundings(), settings, good)
            assert slack.heard[0].body == b"{}"
            for path, error in (("gone", Misconfigured), ("odd", Invalid)):
                wrong = {"url": f"{place}/services/{path}"}
                with pytest.raises(error) as said:
                    await connector.check(surroundings(), settings, wrong)
                assert f"services/{path}" not in str(said.value)
            elsewhere = {"url": "https://evil.example.com/services/good"}
            with pytest.raises(Misconfigured) as said:
                await connector.check(surroundings(), settings, elsewhere)
            assert "evil" not in str(said.value)

    run(work())


def test_a_slack_bot_says_who_it_is() -> None:
    connector = load_connectors().get("slack")

    def answer(heard: Heard) -> bytes:
        good = heard.headers.get("authorization") == "Bearer xoxb-right"
        said = b'{"ok":true,"team":"Acme","user":"steward"}'
        return ok(said if good else b'{"ok":false,"error":"invalid_auth"}')

    async def work() -> None:
        async with serving(answer) as slack:
            settings = connector.settings(api_url=f"http://127.0.0.1:{slack.port}/api")
            words = await connector.check(surroundings(), settings, {"token": "xoxb-right"})
            assert words == "Signed in to Acme as steward."
            with pytest.raises(Misconfigured, match="invalid_auth"):
                await connector.check(surroundings(), settings, {"token": "xoxb-wrong"})
            assert {heard.path for heard in slack.heard} == {"/api/auth.test"}

    run(work())


def test_an_api_is_asked_with_its_credentials() -> None:
    connector = load_connectors().get("http_api")

    def answer(heard: Heard) -> bytes:
        good = heard.headers.get("x-key") == "k3y"
        return ok() if good else ok(b"", status="401 Unauthorized")

    async def work() -> None:
        async with serving(answer) as api:
            base = f"http://127.0.0.1:{api.port}/v1"
            settings = HttpApiSettings(
                base_url=base, authentication="header", header="X-Key", check_path="/health"
            )
            words = await connector.check(surroundings(), settings, {"token": "k3y"})
            assert words == f"127.0.0.1:{api.port} answered 200."
            assert api.heard[0].path == "/v1/health"
            for secrets, error in (({"token": "no"}, "does not accept"), ({}, "no token")):
                with pytest.raises(Misconfigured, match=error):
                    await connector.check(surroundings(), settings, secrets)

    run(work())


@pytest.mark.parametrize(
    "path",
    ["../admin", "x/../../admin", "%2e%2e/admin", "x/%2E%2E/admin", "..\\admin", "/../admin"],
)
def test_a_path_does_not_lead_out_of_an_api(path: str) -> None:
    settings = HttpApiSettings(base_url="https://api.example.com/v1")
    with pytest.raises(StewardError):
        settings.url(path)


def test_a_path_stays_on_the_host_of_its_api() -> None:
    settings = HttpApiSettings(base_url="https://api.example.com/v1")
    assert settings.url("/a?b=../c") == "https://api.example.com/v1/a?b=../c"
    for path in ("//evil.example.com/x", "@evil.example.com", "https://evil.example.com"):
        assert settings.url(path).startswith("https://api.example.com/v1/")
