"""The event log sent on: every event arrives, in order, also after failures and when two workers send."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx2 as httpx
import pytest

from steward.connections import Http, Syslog, signing_key
from steward.connections.webhooks import verify
from steward.core.errors import Denied, Misconfigured
from steward.core.settings import AuditStream
from steward.observe import AuditStreams, check_seal
from steward.observe.audit_lines import seal_in
from steward.testing import Installation

SECRET = "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@dataclass
class Receiver(httpx.AsyncBaseTransport):
    """A webhook: takes what it is sent, or answers that it cannot."""

    answers: list[int] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        status = self.answers.pop(0) if self.answers else 204
        if status == 204:
            self.bodies.append(body)
            self.headers.append(dict(request.headers))
        return httpx.Response(status)


def _streams(installation: Installation, stream: AuditStream, http: Http) -> AuditStreams:
    steward = installation.steward
    return AuditStreams(
        steward.database,
        steward.events,
        steward.clock,
        steward.observations.audit,
        {"siem": stream},
        steward.identity.projects.scopes,
        http,
        Syslog(allow_private=["127.0.0.1"]),
    )


async def _public(_host: str, _port: int) -> Sequence[str]:
    return ["93.184.216.34"]


def webhook_stream(installation: Installation, receiver: Receiver) -> AuditStreams:
    stream = AuditStream.model_validate({"url": "https://siem.example/in", "secret": SECRET})
    return _streams(installation, stream, Http(resolve=_public, transport=receiver))


def _happen(installation: Installation, count: int) -> None:
    for number in range(count):
        installation.steward.secrets.set(installation.scope, f"s{number}", "x", author="usr_a")


def _ids(installation: Installation) -> list[str]:
    steward = installation.steward
    return [
        event.id
        for scope in steward.identity.projects.scopes()
        for event in steward.events.after(scope, 0, 1000)
    ]


def _lines(body: bytes) -> list[str]:
    return body.decode().removesuffix("\n").split("\n")


def _received(receiver: Receiver) -> list[str]:
    return [json.loads(line)["id"] for body in receiver.bodies for line in _lines(body)[:-1]]


@pytest.mark.every_database
def test_every_event_arrives_once_signed_and_sealed(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.observe.audit_streams._BATCH", 3)
    _happen(installation, 8)
    receiver = Receiver()
    streams = webhook_stream(installation, receiver)

    async def work() -> None:
        await streams.round()
        assert await streams.round() == 0
        _happen(installation, 1)
        assert await streams.round() == 1
        # Another process knows how far this one got.
        assert await webhook_stream(installation, receiver).round() == 0

    asyncio.run(work())
    assert _received(receiver) == _ids(installation)
    keys = installation.steward.runs.heads.keys
    for body, headers in zip(receiver.bodies, receiver.headers, strict=True):
        assert check_seal(_lines(body), keys).is_intact
        verify(signing_key(SECRET), headers, installation.clock.now(), body)


def test_what_is_not_taken_is_sent_again_later(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.observe.audit_streams._BATCH", 2)
    _happen(installation, 5)
    receiver = Receiver(answers=[204, 503])
    streams = webhook_stream(installation, receiver)

    async def work() -> None:
        assert await streams.round() == 2
        assert streams.failing() == {"siem": 1}
        # It waits before it tries again.
        assert await streams.round() == 0
        installation.clock.advance(seconds=10)
        await streams.round()

    asyncio.run(work())
    assert streams.failing() == {"siem": 0}
    assert _received(receiver) == _ids(installation)


def test_a_worker_that_died_is_replaced(installation: Installation) -> None:
    _happen(installation, 2)
    receiver = Receiver()
    dead, next_one = webhook_stream(installation, receiver), webhook_stream(installation, receiver)
    (turn,), _ = dead._due("siem")
    assert dead._claimed(turn) is not None
    assert next_one._claimed(turn) is None

    async def work() -> None:
        assert await next_one.round() == 0
        installation.clock.advance(seconds=180)
        await next_one.round()

    asyncio.run(work())
    assert _received(receiver) == _ids(installation)


def test_syslog_gets_framed_messages_and_the_seal(installation: Installation) -> None:
    _happen(installation, 3)
    taken = bytearray()

    async def work() -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            taken.extend(await reader.read())
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        stream = AuditStream.model_validate({"url": f"syslog://127.0.0.1:{port}", "format": "cef"})
        async with server:
            await _streams(installation, stream, Http()).round()

    asyncio.run(work())
    frames = []
    rest = bytes(taken)
    while rest:
        length, _, rest = rest.partition(b" ")
        frames.append(rest[: int(length)].decode())
        rest = rest[int(length) :]
    assert len(frames) == len(_ids(installation)) + 1
    assert all(frame.startswith("<1") and " steward - " in frame for frame in frames)
    texts = ["CEF:" + frame.partition("CEF:")[2] for frame in frames]
    assert seal_in(texts[-1]) is not None
    assert check_seal(texts, installation.steward.runs.heads.keys).is_intact


def test_private_places_are_refused_unless_they_are_named(installation: Installation) -> None:
    _happen(installation, 1)
    stream = AuditStream.model_validate({"url": "https://127.0.0.1/in"})
    streams = _streams(installation, stream, Http())
    assert asyncio.run(streams.round()) == 0
    assert streams.failing() == {"siem": 1}
    with pytest.raises(Denied):
        asyncio.run(Http().request("POST", stream.url))


@pytest.mark.parametrize("url", ["ftp://siem.example", "syslog+tls://", "siem.example:514"])
def test_addresses_that_cannot_work_are_refused_at_start(
    installation: Installation, url: str
) -> None:
    with pytest.raises(Misconfigured, match="siem"):
        _streams(installation, AuditStream.model_validate({"url": url}), Http())
