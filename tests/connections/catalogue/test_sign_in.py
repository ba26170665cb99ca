"""Signing in to services at a real authorization server: PKCE, refresh, other devices; tokens stay secret and in place."""

import asyncio
import re
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from steward.connections import Draft, Http
from steward.connections.catalogue.calls import ServiceCalls
from steward.connections.catalogue.sign_in import ServiceSignIns, providers
from steward.core import MovableClock
from steward.core.errors import Denied, Misconfigured
from tests.connections.catalogue.petstore import text
from tests.connections.drafts import as_draft
from tests.connections.outside import certificates
from tests.connections.postboxes import HOST, token_pymap
from tests.connections.test_using import _access
from tests.tools.room import Room

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "web" / "node_modules" / "oidc-provider"
NODE = Path(sysconfig.get_path("scripts")) / "node"
CALLBACK = "http://127.0.0.1:8400/api/v1/oauth/callback"
HTTP = Http(allow_private=["127.0.0.1"])
SECRET = "s3cret-of-steward"
PETS: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Pets", "version": "1"},
    "paths": {
        "/pets": {
            "get": {
                "operationId": "listPets",
                "security": [{"door": ["pets"]}],
                "responses": {"200": {"description": "All."}},
            }
        }
    },
}
pytestmark = pytest.mark.skipif(
    not LIBRARY.is_dir(), reason="the web packages are not installed: npm ci --prefix web"
)


@pytest.fixture(scope="module")
def office() -> Iterator[str]:
    program: list[Path | str] = [
        NODE,
        ROOT / "tests" / "connections" / "oidc_server.mjs",
        LIBRARY,
        CALLBACK,
    ]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.stdout.readline().decode().strip()
        process.stdin.close()


class Zoo:
    """A connection to the service behind the authorization server, and the person who signs in to it."""

    def __init__(self, room: Room, office: str, **more: Any) -> None:
        self.room, self.access, self.desk = room, _access(room), room.steward.connections
        desk = self.desk
        desk.service_sign_ins = ServiceSignIns(
            room.steward.database,
            room.steward.secrets,
            room.steward.events,
            room.steward.clock,
            HTTP,
            desk.services,
        )
        desk.health._service_signs = desk.service_sign_ins
        desk.calls = ServiceCalls(HTTP, room.steward.clock)
        described = {
            "type": "oauth2",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": f"{office}/auth",
                    "tokenUrl": f"{office}/token",
                    "scopes": {"pets": "All pets."},
                }
            },
        }
        document = {**PETS, "components": {"securitySchemes": {"door": described}}}
        desk.services.install_text(self.access, "pets", text(document), "file")
        settings = {
            "service": "pets",
            "base_url": f"{office}/api",
            "way": "person",
            "client_id": "steward",
            "client_authentication": "basic",
            "scopes": "pets offline_access",
            "sign_in_parameters": {"prompt": "consent"},
            "device_url": f"{office}/device/auth",
            **more,
        }
        self.connection = desk.documents.create(
            self.access, Draft("zoo", "service", settings, values={"client_secret": SECRET})
        )

    @property
    def secrets(self) -> dict[str, str]:
        return dict(self.desk.open(self.room.scope, self.connection).secrets)

    def store(self) -> Any:
        return self.desk.service_sign_ins.store(self.room.scope, self.connection.id)

    def state(self) -> str:
        found = self.desk.sign_in_status(self.room.scope, self.connection)
        assert found is not None
        return found.state

    async def start(self) -> str:
        return await self.desk.start_sign_in(self.access, self.connection.id, CALLBACK, None)

    async def finish(self, came_back: str, **other: str) -> None:
        answer = {name: values[0] for name, values in parse_qs(urlsplit(came_back).query).items()}
        answer |= other
        state = answer.pop("state")
        await self.desk.finish_sign_in(self.access, self.connection.id, state, answer)

    async def call(self) -> Any:
        tools = self.room.steward.governing.broker.tools
        tool = await asyncio.to_thread(tools.get, self.room.scope, "api.zoo.listPets")
        found = await tool.run(self.room.context(ticket="a"), tool.arguments.model_validate({}))
        return found.value


async def agrees(url: str) -> str:
    """What a person does in the browser: signs in, agrees, and is sent back; the address they are sent to."""
    async with httpx2.AsyncClient(follow_redirects=False) as web:
        answer = await web.get(url)
        for _ in range(20):
            while answer.is_redirect:
                place = str(answer.headers["location"])
                if place.startswith(CALLBACK):
                    return place
                answer = await web.get(answer.url.join(place))
            form = re.search(r'<form[^>]*action="([^"]+)"', answer.text)
            if form is None:
                return answer.text
            fields = dict(re.findall(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', answer.text))
            said = {**fields, "login": "ann", "password": "any"}
            answer = await web.post(answer.url.join(form[1]), data=said)
    raise AssertionError("nobody was sent back")


def test_a_person_signs_in_and_the_service_is_called(room: Room, office: str) -> None:
    zoo = Zoo(room, office)
    assert zoo.state() == "signed_out"

    async def main() -> Any:
        with pytest.raises(Denied, match="Nobody has signed in"):
            await zoo.call()
        url = await zoo.start()
        asked = parse_qs(urlsplit(url).query)
        assert asked["code_challenge_method"] == ["S256"]
        assert asked["scope"] == ["pets offline_access"]
        await zoo.finish(await agrees(url))
        return await zoo.call()

    answer = asyncio.run(main())
    assert (answer["status"], answer["answer"]) == (200, {"pets": ["Rex"], "of": "ann"})
    assert zoo.state() == "signed_in"
    # What was given is a secret: in no event, and in no setting.
    events = str(room.steward.events.before(room.scope, None, 100))
    shown = str(zoo.desk.documents.get(room.scope, zoo.connection.id))
    for token in zoo.store().tokens():
        assert token
        assert token not in events + shown


def test_a_token_that_has_ended_is_renewed_once_for_all(
    room: Room, office: str, clock: MovableClock
) -> None:
    zoo = Zoo(room, office)

    async def main() -> list[Any]:
        await zoo.finish(await agrees(await zoo.start()))
        before = zoo.store().tokens()
        clock.advance(seconds=120)
        # A refresh token is good once here: two renewals would end the sign-in.
        answers = await asyncio.gather(*(zoo.call() for _ in range(4)))
        after = zoo.store().tokens()
        assert before[0] != after[0]
        assert before[1] != after[1]
        return answers

    assert {answer["status"] for answer in asyncio.run(main())} == {200}


def test_a_sign_in_that_cannot_be_renewed_says_so(
    room: Room, office: str, clock: MovableClock
) -> None:
    zoo = Zoo(room, office)

    async def main() -> None:
        await zoo.finish(await agrees(await zoo.start()))
        store = zoo.store()
        store.keep_tokens(store.session(), "old", "worthless", 1, zoo.access.user_id)
        clock.advance(seconds=120)
        with pytest.raises(Denied, match="could not be renewed"):
            await zoo.call()
        # Another worker was faster: its token counts.
        store.keep_tokens(store.session(), "newer", "another", 600, zoo.access.user_id)
        assert zoo.desk.service_sign_ins._renewed_elsewhere(store, "worthless") == "newer"

    asyncio.run(main())


def test_only_the_answer_that_is_waited_for_is_taken(room: Room, office: str) -> None:
    zoo = Zoo(room, office)

    async def main() -> None:
        came_back = await agrees(await zoo.start())
        with pytest.raises(Denied, match="expired or was already used"):
            await zoo.finish(came_back, state=f"{room.scope.project_id}.{zoo.connection.id}.guess")
        with pytest.raises(Denied, match="did not agree"):
            await zoo.finish(came_back, error="access_denied")
        # It was waited for once.
        with pytest.raises(Denied, match="expired or was already used"):
            await zoo.finish(came_back)

    asyncio.run(main())
    assert zoo.state() == "signed_out"


@pytest.mark.parametrize(
    "change",
    [
        {"grant_url": "https://elsewhere.example/token"},
        {"base_url": "https://elsewhere.example/api"},
        {"client_id": "another"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_tokens_go_nowhere_else_when_the_connection_changes(
    room: Room, office: str, change: dict[str, str]
) -> None:
    zoo = Zoo(room, office)

    async def main() -> None:
        await zoo.finish(await agrees(await zoo.start()))
        other = {**zoo.connection.settings, **change}
        zoo.connection = zoo.desk.documents.change(
            zoo.access,
            zoo.connection.id,
            zoo.connection.revision,
            replace(as_draft(zoo.connection), settings=other),
        )
        assert zoo.state() == "elsewhere"
        with pytest.raises(Denied, match="Nobody has signed in"):
            await zoo.call()

    asyncio.run(main())


def test_a_code_is_typed_on_another_device(room: Room, office: str) -> None:
    zoo = Zoo(room, office)
    signs = zoo.desk.service_sign_ins

    async def main() -> Any:
        device = await signs.start_on_device(zoo.access, zoo.connection, zoo.secrets)
        assert not await signs.finish_on_device(zoo.access, zoo.connection, zoo.secrets, device)
        told = await agrees(f"{device.address}?user_code={device.code}")
        assert "Sign-in Success" in told or "success" in told.lower()
        assert await signs.finish_on_device(zoo.access, zoo.connection, zoo.secrets, device)
        return await zoo.call()

    assert asyncio.run(main())["status"] == 200


def test_addresses_of_many_providers_are_known(room: Room, office: str) -> None:
    assert len(providers()) >= 190
    zoo = Zoo(room, office, provider="github", device_url="")
    url = asyncio.run(zoo.start())
    assert url.startswith("https://github.com/login/oauth/authorize?")
    unknown = {**zoo.connection.settings, "provider": "nobody-knows"}
    draft = Draft("other", "service", unknown, values={"client_secret": SECRET})
    other = zoo.desk.documents.create(zoo.access, draft)
    with pytest.raises(Misconfigured, match="not known"):
        zoo.desk.service_sign_ins.start(zoo.access, other, CALLBACK)


@pytest.mark.parametrize("mechanism", ["OAUTHBEARER", "XOAUTH2"])
def test_a_mailbox_is_opened_with_tokens(
    room: Room,
    office: str,
    clock: MovableClock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mechanism: str,
) -> None:
    async def resolve(_name: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    zoo = Zoo(room, office)
    health = zoo.desk.health
    health.around = replace(health.around, http=Http(resolve=resolve, allow_private=[HOST]))
    made = certificates(tmp_path, HOST)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))

    def check() -> tuple[bool, str]:
        found = asyncio.run(health.check(room.scope, zoo.connection.id, zoo.access.user_id))
        return found.worked, found.words

    with token_pymap(tmp_path, made.client, mechanism, f"{office}/api/pets") as box:
        settings = {
            **box.settings,
            "way": "person",
            "client_id": "steward",
            "client_authentication": "basic",
            "authorize_url": f"{office}/auth",
            "grant_url": f"{office}/token",
            "scopes": "pets offline_access",
            "sign_in_parameters": {"prompt": "consent"},
        }
        draft = Draft("mailbox", "imap", settings, values={"client_secret": SECRET})
        zoo.connection = zoo.desk.documents.create(zoo.access, draft)
        assert check() == (
            False,
            "Nobody has signed in to this service; somebody must sign in under Connections.",
        )

        async def sign_in() -> None:
            await zoo.finish(await agrees(await zoo.start()))

        asyncio.run(sign_in())
        assert zoo.state() == "signed_in"
        worked, words = check()
        assert worked, words
        assert words.startswith("Signed in to mail.example over TLS.")
        before = zoo.store().tokens()
        clock.advance(seconds=120)
        assert check()[0]
        assert zoo.store().tokens() != before
        # A token that the server refuses is told as such, without its text.
        store = zoo.store()
        store.keep_tokens(store.session(), "worthless-token", "", 600, zoo.access.user_id)
        assert check() == (False, "The mail server mail.example refused the user name or sign-in.")
        # With a password it is opened as before, and nobody signs in.
        changed = {**box.settings, "way": "password"}
        draft = Draft("by_password", "imap", changed, values={"password": "any"})
        zoo.connection = zoo.desk.documents.create(zoo.access, draft)
        assert zoo.desk.sign_in_status(room.scope, zoo.connection) is None
