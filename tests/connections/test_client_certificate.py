"""Mutual TLS: Steward shows a certificate to servers that want one, to no other host, and tells nobody its key."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from steward.connections import Draft, Http, load_connectors
from steward.connections.catalogue.calls import ServiceCalls
from steward.connections.client_certificate import ClientCertificate
from steward.core.errors import Denied, Misconfigured, Unavailable
from steward.testing.connections import run_check, surroundings
from tests.connections.catalogue.petstore import OPENAPI, text
from tests.connections.catalogue.test_calling import _access, _called
from tests.connections.outside import Answer, Server, certificates, ok, redirect, run, serving
from tests.tools.room import Room

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Strict:
    """A server that answers only those who show the right certificate, and a way to it."""

    tls: ssl.SSLContext
    http: Http
    secrets: dict[str, str]
    other: dict[str, str]
    """A certificate that it does not know."""

    @asynccontextmanager
    async def serving(self, answer: Answer) -> AsyncIterator[Server]:
        async with serving(answer, self.tls) as server:
            yield server


@pytest.fixture
def strict(tmp_path: Path) -> Strict:
    pems = {}
    for name in ("server", "caller", "other"):
        (tmp_path / name).mkdir()
        made = certificates(tmp_path / name, HOST if name == "server" else f"{name}.example")
        pems[name] = (tmp_path / name / "server.pem").read_text()
        if name == "server":
            server, client = made.server, made.client
    server.verify_mode = ssl.CERT_REQUIRED
    server.load_verify_locations(cadata=pems["caller"])
    return Strict(
        server,
        Http(allow_private=[HOST], tls=client),
        _secrets(pems["caller"]),
        _secrets(pems["other"]),
    )


def _secrets(pem: str) -> dict[str, str]:
    key, _, certificate = pem.partition("-----BEGIN CERTIFICATE-----")
    return {
        "client_certificate": f"-----BEGIN CERTIFICATE-----{certificate}",
        "client_key": key,
    }


def test_a_certificate_is_shown_and_nothing_is_answered_without(strict: Strict) -> None:
    async def work() -> None:
        async with strict.serving(lambda _: ok(b"hello")) as server:
            url = f"https://{HOST}:{server.port}/"
            shown = ClientCertificate.of(strict.secrets)
            assert (await strict.http.request("GET", url, certificate=shown)).body == b"hello"
            for without in (None, ClientCertificate.of(strict.other)):
                with pytest.raises(Unavailable):
                    await strict.http.request("GET", url, certificate=without)
            assert len(server.heard) == 1

    run(work)


def test_a_redirect_to_another_host_does_not_see_it(strict: Strict) -> None:
    async def work() -> None:
        async with (
            strict.serving(lambda _: ok()) as elsewhere,
            strict.serving(lambda _: redirect(f"https://{HOST}:{elsewhere.port}/")) as server,
        ):
            shown = ClientCertificate.of(strict.secrets)
            with pytest.raises(Denied, match="does not show the client certificate there"):
                await strict.http.request(
                    "GET", f"https://{HOST}:{server.port}/", certificate=shown
                )
            assert elsewhere.heard == []

    run(work)


def test_line_ends_that_a_form_swallowed_do_no_harm(strict: Strict) -> None:
    flat = {name: value.replace("\n", "") for name, value in strict.secrets.items()}

    async def work() -> None:
        async with strict.serving(lambda _: ok(b"hello")) as server:
            url = f"https://{HOST}:{server.port}/"
            shown = ClientCertificate.of(flat)
            assert (await strict.http.request("GET", url, certificate=shown)).body == b"hello"

    run(work)


def test_what_cannot_be_used_is_said_without_showing_it(strict: Strict) -> None:
    good, other = strict.secrets, strict.other
    cases: list[tuple[dict[str, str], str]] = [
        ({"client_certificate": good["client_certificate"]}, "client_key"),
        ({"client_key": good["client_key"]}, "client_certificate"),
        ({**good, "client_certificate": "nonsense"}, "not a certificate in PEM"),
        ({**good, "client_key": "nonsense"}, "not a key in PEM"),
        ({**good, "client_key": other["client_key"]}, "do not belong together"),
        ({**good, "client_certificate": good["client_certificate"].replace("M", "A")}, "damaged"),
    ]

    async def tried(secrets: dict[str, str]) -> None:
        shown = ClientCertificate.of(secrets)
        await strict.http.request("GET", f"https://{HOST}:1/", certificate=shown)

    for secrets, said in cases:
        with pytest.raises(Misconfigured, match=said) as problem:
            asyncio.run(tried(secrets))
        inner = "".join(good["client_key"].split("\n")[1:-2])
        assert inner[:20] not in str(problem.value.message)
        assert inner[:20] not in repr(problem.value)
    assert good["client_key"] not in repr(ClientCertificate.of(good))


def test_an_api_that_wants_a_certificate_is_checked_with_it(strict: Strict) -> None:
    connector = load_connectors().get("http_api")

    async def work() -> None:
        async with strict.serving(lambda _: ok()) as server:
            settings = {"base_url": f"https://{HOST}:{server.port}"}
            around = surroundings(http=strict.http)

            def checked(secrets: dict[str, str]) -> str:
                return run_check(connector, settings, secrets, around)

            said = await asyncio.to_thread(checked, strict.secrets)
            assert said.endswith("answered 200.")
            with pytest.raises(Unavailable):
                await asyncio.to_thread(checked, {})

    run(work)


@pytest.mark.parametrize(
    ("way", "more"), [("certificate", {}), ("bearer", {"token": "s3cret-token-1"})]
)
def test_operations_of_a_service_are_called_with_it(
    room: Room, strict: Strict, way: str, more: dict[str, str]
) -> None:
    room.steward.connections.services.install_text(_access(room), "pets", text(OPENAPI), "file")
    room.steward.connections.calls = ServiceCalls(strict.http, room.steward.clock)

    async def main() -> tuple[Any, Server]:
        async with strict.serving(
            lambda _: ok(b'{"id": 7}', "Content-Type: application/json")
        ) as server:
            settings = {
                "service": "pets",
                "base_url": f"https://{HOST}:{server.port}/v1",
                "way": way,
            }
            draft = Draft("zoo", "service", settings, values={**strict.secrets, **more})
            create = room.steward.connections.documents.create
            await asyncio.to_thread(create, _access(room), draft)
            return await _called(room, "api.zoo.createPet", {"body": {"name": "Tom"}}), server

    outcome, server = asyncio.run(main())
    assert outcome.value["answer"] == {"id": 7}
    [heard] = server.heard
    assert ("authorization" in heard.headers) == (way == "bearer")


def test_a_service_without_its_certificate_says_which_secret_is_missing(
    room: Room, strict: Strict
) -> None:
    room.steward.connections.services.install_text(_access(room), "pets", text(OPENAPI), "file")
    settings = {"service": "pets", "base_url": f"https://{HOST}:1/v1", "way": "certificate"}
    draft = Draft("zoo", "service", settings)
    room.steward.connections.documents.create(_access(room), draft)
    with pytest.raises(Misconfigured, match="client_certificate"):
        asyncio.run(_called(room, "api.zoo.createPet", {"body": {"name": "Tom"}}))
