"""Signing in to a real MCP server behind OAuth: PKCE, state and issuer, refresh, client credentials; tokens stay secret."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
import sqlalchemy as sa

from steward.app import Steward
from steward.connections import Connection, Draft, Http
from steward.core import MovableClock
from steward.core.errors import Denied, Invalid, Misconfigured, StewardError
from steward.identity import Access, Principal, Role, Via
from steward.store import EVERYWHERE
from steward.store.tables import metadata as tables
from tests.connections.drafts import as_draft
from tests.connections.outside import Heard, ok, serving
from tests.connections.test_using import _access
from tests.tools.room import Room, run

SERVER = Path(__file__).parent / "oauth_server.py"
CALLBACK = "http://127.0.0.1:8400/api/v1/oauth/callback"


HTTP = Http(allow_private=["127.0.0.1"])


@dataclass(frozen=True)
class Desk:
    steward: Steward
    access: Access
    clock: MovableClock


@pytest.fixture
def desk(room: Room, clock: MovableClock) -> Desk:
    connections = room.steward.connections
    connections.around = replace(connections.around, http=HTTP)
    connections.health.around = connections.around
    connections.sign_ins.http = HTTP
    return Desk(room.steward, _access(room), clock)


@dataclass(frozen=True)
class Guarded:
    base: str
    log: Path

    @property
    def did(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def count(self, what: str) -> int:
        return sum(each["did"] == what for each in self.did)

    @property
    def tokens(self) -> list[str]:
        given = [each for each in self.did if each["did"] == "give"]
        return [each[name] for each in given for name in ("access", "refresh")]


CLIENT_SECRET = "c1ient-s3cret"
SERVERS: dict[str, dict[str, Any]] = {
    "usual": {"mode": "person"},
    "forgetful": {"mode": "person", "seconds": 31},
    "closed": {"mode": "person", "registers": False},
    "client": {"mode": "client", "client_id": "steward", "client_secret": CLIENT_SECRET},
}


@pytest.fixture(scope="module")
def all_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Guarded]]:
    folder = tmp_path_factory.mktemp("guarded")
    with ExitStack() as stack:
        found, all_told, descriptors = {}, [], []
        for name, told in SERVERS.items():
            listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            descriptors.append(listening.fileno())
            log = folder / f"{name}.log"
            found[name] = Guarded(f"http://127.0.0.1:{listening.getsockname()[1]}", log)
            all_told.append({**told, "log": str(log), "descriptor": listening.fileno()})
        file = folder / "told.json"
        file.write_text(json.dumps(all_told))
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", str(SERVER), str(file)],
            stdout=subprocess.PIPE,
            pass_fds=descriptors,
        )
        stack.enter_context(process)
        stack.callback(process.kill)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield found


@pytest.fixture
def servers(all_servers: dict[str, Guarded]) -> dict[str, Guarded]:
    """The same for all tests, with what they did for earlier ones forgotten."""
    for each in all_servers.values():
        each.log.write_text("")
    return all_servers


@pytest.fixture
def server(servers: dict[str, Guarded]) -> Guarded:
    return servers["usual"]


def _made(desk: Desk, server: Guarded, **settings: Any) -> Connection:
    document = {"url": f"{server.base}/mcp", "sign_in": "person", **settings}
    values = {"client_secret": CLIENT_SECRET} if document["sign_in"] == "client" else {}
    draft = Draft("guarded", "mcp", document, values=values)
    return desk.steward.connections.documents.create(desk.access, draft)


def _started(desk: Desk, made: Connection) -> str:
    return run(desk.steward.connections.start_sign_in(desk.access, made.id, CALLBACK, None))


def _agreed(url: str) -> dict[str, str]:
    """What a person's browser brings back after they agreed."""
    answer = httpx2.get(url, follow_redirects=False, trust_env=False)
    assert answer.status_code == 302, answer.text
    place = answer.headers["location"]
    assert place.startswith(CALLBACK)
    return {name: each[0] for name, each in parse_qs(urlsplit(place).query).items()}


def _finish(desk: Desk, made: Connection, answer: dict[str, str], **changes: str) -> None:
    said = {**answer, **changes}
    state = said.pop("state")
    run(desk.steward.connections.finish_sign_in(desk.access, made.id, state, said))


def _signed_in(desk: Desk, made: Connection) -> None:
    _finish(desk, made, _agreed(_started(desk, made)))


def _status(desk: Desk, made: Connection) -> Any:
    return desk.steward.connections.sign_ins.status(desk.access.scope, made)


def _check(desk: Desk, made: Connection) -> Any:
    return run(desk.steward.connections.health.check(desk.access.scope, made.id, "usr"))


def _everything_written(desk: Desk) -> str:
    """All rows of the database except the sealed secrets, as text."""
    with desk.steward.database.read(EVERYWHERE) as tx:
        return "".join(str(tx.rows(sa.select(table))) for table in tables.sorted_tables)


def test_a_person_signs_in_and_tools_are_called(desk: Desk, server: Guarded) -> None:
    connections = desk.steward.connections
    made = _made(desk, server)
    assert _status(desk, made).state == "signed_out"
    refused = _check(desk, made)
    assert (refused.worked, refused.code) == (False, "sign-in-needed")
    assert server.did == []

    url = _started(desk, made)
    asked = {name: each[0] for name, each in parse_qs(urlsplit(url).query).items()}
    assert (asked["code_challenge_method"], asked["response_type"]) == ("S256", "code")
    assert asked["resource"] == f"{server.base}/mcp"
    _finish(desk, made, _agreed(url))
    found = _status(desk, made)
    assert (found.state, found.by, found.scope) == ("signed_in", desk.access.user_id, "user")
    assert found.issuer.rstrip("/") == server.base
    assert connections.documents.get(desk.access.scope, made.id).state == "working"

    seen = run(connections.look_at_tools(desk.access, made.id))
    accepted = {each.name: each.shown.hash for each in seen}
    answer = run(
        connections.call_tool(desk.access.scope, made, "add", {"a": 2, "b": 3}, accepted["add"], 20)
    )
    assert answer.value == {"result": 5}
    assert server.count("register") == 1
    # Tokens are in the secret store, sealed, and in nothing else that is written; nobody lists or names them.
    written = _everything_written(desk)
    assert server.tokens
    assert not [token for token in server.tokens if token in written]
    assert desk.steward.secrets.page(desk.access.scope) == []
    name = f"steward.oauth.{made.id}.access_token"
    thief = Draft("thief", "http_api", {"base_url": "http://127.0.0.1:1"}, {"token": name})
    with pytest.raises(Invalid, match="may use"):
        connections.documents.create(desk.access, thief)
    events = [each.type for each in desk.steward.events.after(desk.access.scope, 0)]
    assert "org.steward.connection.signed_in" in events


def test_a_token_that_ended_is_renewed_once_for_all_who_wait(
    desk: Desk, servers: dict[str, Guarded]
) -> None:
    server = servers["forgetful"]
    made = _made(desk, server)
    _signed_in(desk, made)
    before = server.count("refresh")
    desk.clock.advance(minutes=1)

    async def together() -> list[Any]:
        check = desk.steward.connections.health.check
        scope = desk.access.scope
        return await asyncio.gather(*(check(scope, made.id, "usr") for _ in range(3)))

    assert [each.worked for each in run(together())] == [True] * 3
    assert server.count("refresh") == before + 1


def test_what_comes_back_must_fit_what_was_asked(desk: Desk, server: Guarded) -> None:
    made = _made(desk, server)
    answer = _agreed(_started(desk, made))
    for changes, code in (
        ({"state": answer["state"][:-1] + "x"}, "wrong-state"),
        ({"state": ""}, "wrong-state"),
    ):
        with pytest.raises(Denied) as wrong:
            _finish(desk, made, answer, **changes)
        assert wrong.value.specific_code == code
    # Another admin, lured to the callback, does not finish somebody else's sign-in.
    principal = Principal("usr_other", "other@example.com", "Otto", Via.session)
    other = Access(principal, desk.access.scope, Role.admin)
    said = dict(answer)
    with pytest.raises(Denied, match="Somebody else"):
        run(desk.steward.connections.finish_sign_in(other, made.id, said.pop("state"), said))
    # A mix-up of authorization servers: nothing is kept, and the code cannot be tried again.
    with pytest.raises(Denied, match="another authorization server"):
        _finish(desk, made, answer, iss="https://evil.example.com")
    with pytest.raises(Denied, match="expired or was already used"):
        _finish(desk, made, answer)
    assert server.tokens == []
    assert _status(desk, made).state == "signed_out"
    # Refused by the person.
    state = _agreed(_started(desk, made))["state"]
    with pytest.raises(Denied, match="did not agree: no thanks"):
        _finish(
            desk, made, {"state": state, "error": "access_denied", "error_description": "no thanks"}
        )
    # Too late.
    answer = _agreed(_started(desk, made))
    desk.clock.advance(seconds=601)
    with pytest.raises(Denied, match="ten minutes"):
        _finish(desk, made, answer)


def test_a_code_of_another_verifier_gives_no_token(desk: Desk, server: Guarded) -> None:
    made = _made(desk, server)
    answer = _agreed(_started(desk, made))
    store = desk.steward.connections.sign_ins._store(desk.access.scope, made.id)
    pending = store.pending()
    assert pending is not None
    store.keep_pending(replace(pending, verifier="x" * 60))
    with pytest.raises(Denied, match="gave no token"):
        _finish(desk, made, answer)
    assert _status(desk, made).state == "signed_out"


def test_a_token_is_never_sent_to_another_address(desk: Desk, server: Guarded) -> None:
    connections = desk.steward.connections
    made = _made(desk, server)
    _signed_in(desk, made)

    async def work() -> None:
        async with serving(lambda _heard: ok(b"{}")) as other:
            settings = {**made.settings, "url": f"http://127.0.0.1:{other.port}/mcp"}
            now = connections.documents.get(desk.access.scope, made.id)
            moved = connections.documents.change(
                desk.access, made.id, now.revision, as_draft(now, settings=settings)
            )
            found = connections.sign_ins.status(desk.access.scope, moved)
            assert found is not None
            assert found.state == "elsewhere"
            check = await connections.health.check(desk.access.scope, made.id, "usr")
            assert (check.worked, check.code) == (False, "sign-in-needed")
            assert other.heard == []

    run(work())


def test_signing_out_forgets_and_withdraws(desk: Desk, server: Guarded) -> None:
    connections = desk.steward.connections
    made = _made(desk, server)
    _signed_in(desk, made)
    run(connections.sign_out(desk.access, made.id))
    assert _status(desk, made).state == "signed_out"
    assert server.count("revoke") == 1
    assert _check(desk, made).code == "sign-in-needed"
    # Signing in again works.
    _signed_in(desk, made)
    assert _check(desk, made).worked


def test_a_token_withdrawn_by_the_server_says_to_sign_in_again(desk: Desk, server: Guarded) -> None:
    made = _made(desk, server)
    _signed_in(desk, made)
    registered = server.count("register")
    store = desk.steward.connections.sign_ins._store(desk.access.scope, made.id)
    session = store.session()
    assert session is not None
    store.keep_tokens(session, "at-forged", "", 3600, "usr")
    check = _check(desk, made)
    assert (check.worked, check.code) == (False, "sign-in-needed")
    assert "sign in again" in check.words
    # Nobody is registered in the middle of a call.
    assert server.count("register") == registered


def test_where_nobody_may_register_a_client_id_is_needed(
    desk: Desk, servers: dict[str, Guarded]
) -> None:
    server = servers["closed"]
    made = _made(desk, server)
    with pytest.raises(Misconfigured, match="Register Steward there by hand"):
        _started(desk, made)


def test_a_client_signs_in_by_itself(desk: Desk, servers: dict[str, Guarded]) -> None:
    server = servers["client"]
    settings = {"sign_in": "client", "client_id": "steward", "issuer": f"{server.base}/as"}
    made = _made(desk, server, **settings)
    assert _check(desk, made).worked
    assert _check(desk, made).worked
    # The token is kept for the next call.
    assert server.count("token") == 1
    assert _status(desk, made).state == "signed_in"
    with pytest.raises(Invalid, match="not one that a person"):
        _started(desk, made)
    assert not [token for token in server.tokens if token in _everything_written(desk)]


@pytest.mark.parametrize(
    ("changes", "secret"),
    [({}, "wr0ng-s3cret"), ({"issuer": "http://127.0.0.1:1/other"}, CLIENT_SECRET)],
)
def test_a_client_that_is_not_known_is_told_so(
    desk: Desk, servers: dict[str, Guarded], changes: dict[str, str], secret: str
) -> None:
    server = servers["client"]
    settings = {
        "url": f"{server.base}/mcp",
        "sign_in": "client",
        "client_id": "steward",
        "issuer": f"{server.base}/as",
        **changes,
    }
    draft = Draft("guarded", "mcp", settings, values={"client_secret": secret})
    made = desk.steward.connections.documents.create(desk.access, draft)
    check = _check(desk, made)
    assert (check.worked, check.code) == (False, "sign-in-needed")
    assert secret not in check.words
    # Where the server leads to another issuer, the secret goes nowhere.
    assert server.count("token") == (0 if changes else 1)


# Servers that mean harm


def _harm(
    desk: Desk, answers: dict[str, bytes], **settings: Any
) -> tuple[StewardError, list[Heard]]:
    async def work() -> tuple[StewardError, list[Heard]]:
        def answer(heard: Heard) -> bytes:
            base = f"http://127.0.0.1:{astray.port}"
            found = answers.get(heard.path, ok(b"", status="404 Not Found"))
            return found.replace(b"$BASE", base.encode())

        async with serving(answer) as astray:
            document = {"url": f"http://127.0.0.1:{astray.port}/mcp", "sign_in": "person"}
            draft = Draft("guarded", "mcp", {**document, **settings})
            made = desk.steward.connections.documents.create(desk.access, draft)
            with pytest.raises(StewardError) as wrong:
                await desk.steward.connections.start_sign_in(desk.access, made.id, CALLBACK, None)
            return wrong.value, astray.heard

    found: tuple[StewardError, list[Heard]] = run(work())
    return found


def _says(document: dict[str, Any]) -> bytes:
    # No length: what is put into the text later changes it.
    body = json.dumps(document).encode()
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n" + body


ASKS = ok(b"", status="401 Unauthorized")
PRM = "/.well-known/oauth-protected-resource/mcp"
ASM = "/.well-known/oauth-authorization-server"
METADATA = {
    "issuer": "$BASE",
    "authorization_endpoint": "$BASE/authorize",
    "token_endpoint": "$BASE/token",
    "registration_endpoint": "$BASE/register",
    "response_types_supported": ["code"],
}
RESOURCE = {"resource": "$BASE/mcp", "authorization_servers": ["$BASE"]}
CLIENT = {"client_id": "c", "redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"}


@pytest.mark.parametrize(
    ("resource", "metadata", "words"),
    [
        ({"resource": "https://bank.example.com/mcp"}, {}, "does not match"),
        ({}, {"issuer": "https://bank.example.com"}, "mismatch"),
        ({}, {}, "PKCE"),
        ({}, {"code_challenge_methods_supported": ["plain"]}, "PKCE"),
        ({}, {"registration_endpoint": "http://10.1.2.3/register"}, "not encrypted"),
        ({}, {"registration_endpoint": "https://169.254.169.254/register"}, "metadata"),
    ],
)
def test_a_server_that_leads_astray_is_not_followed(
    desk: Desk, resource: dict[str, Any], metadata: dict[str, Any], words: str
) -> None:
    answers = {
        "/mcp": ASKS,
        PRM: _says(RESOURCE | resource),
        ASM: _says(METADATA | metadata),
        "/register": _says(CLIENT),
    }
    problem, _ = _harm(desk, answers)
    assert words in problem.message


def test_a_server_that_asks_nobody_is_said_so(desk: Desk) -> None:
    problem, _ = _harm(desk, {"/mcp": ok(b"{}")})
    assert "does not ask anybody to sign in" in problem.message


def test_a_description_without_end_is_cut_off(desk: Desk) -> None:
    endless = ok(b"[" + b"1," * (1 << 20) + b"1]", "Content-Type: application/json")
    problem, heard = _harm(desk, {"/mcp": ASKS, PRM: endless})
    assert "bytes" in problem.message
    assert len(heard) < 6
