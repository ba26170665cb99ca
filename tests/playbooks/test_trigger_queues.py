"""Queues as sources of triggers, each against a real server: stored first, acknowledged then, every message one event."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.connections import Http
from steward.core.faults import install
from steward.playbooks import EventState, Shown, TriggerEvent
from steward.tools import HTTP
from tests.connections.outside import certificates
from tests.playbooks.brokers import (
    BROKERS,
    PASSWORD,
    TLS_BROKERS,
    Broker,
    MqttBroker,
    program,
)
from tests.playbooks.conftest import Room
from tests.playbooks.test_trigger_sources import deploy, events, fresh

_ROUNDS = 60


class Crash(BaseException):
    pass


@pytest.fixture(scope="module", params=sorted(BROKERS))
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    start, needed = BROKERS[request.param]
    missing = [name for name in needed if program(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)} on this machine")
    with start(tmp_path_factory.mktemp(request.param)) as broker:
        yield broker


@pytest.fixture
def broker(room: Room, running: Broker) -> Broker:
    """Its address is a secret of the project, and may be called."""
    services = room.installation.steward.services
    services.add(HTTP.of(Http(allow_private=["127.0.0.1"])))
    running.empty()
    tell(room, running.url)
    return running


def tell(room: Room, url: str) -> None:
    room.installation.steward.secrets.set(room.editor.access.scope, "queue", url, author="test")


def listening(room: Room, broker: Broker) -> Shown:
    """A deployed trigger that the server knows."""
    shown = deploy(room, broker.trigger)
    room.go_round()
    assert fresh(room, shown).failing_why is None
    return shown


def taken(room: Room, shown: Shown, count: int) -> list[TriggerEvent]:
    """The events, once there are so many and one more look has found nothing."""
    for _ in range(_ROUNDS):
        if len(events(room, shown)) >= count:
            break
        room.go_round()
        assert fresh(room, shown).failing_why is None
    room.go_round()
    return events(room, shown)


def bodies(found: list[TriggerEvent]) -> list[Any]:
    """What was sent; an entry of Redis has fields, here one."""
    data = [each.document["data"] for each in found]
    return [each["body"] if isinstance(each, dict) and "body" in each else each for each in data]


def test_each_message_is_one_event_in_order_and_acknowledged(room: Room, broker: Broker) -> None:
    shown = listening(room, broker)
    broker.publish([b'{"n": %d}' % number for number in range(30)])
    found = taken(room, shown, 30)
    assert bodies(found) == [{"n": number} for number in range(30)]
    assert {each.state for each in found} == {EventState.running}
    # Nothing was delivered a second time, so all of it was acknowledged.
    assert fresh(room, shown).duplicates == 0


@pytest.mark.parametrize("moment", ["triggers.taken", "triggers.stored"])
def test_a_crash_neither_loses_a_message_nor_runs_it_twice(
    room: Room, broker: Broker, moment: str
) -> None:
    shown = listening(room, broker)
    broker.publish([b'{"n": 1}', b'{"n": 2}', b'{"n": 2}'])
    met: list[str] = []

    def crash(name: str) -> None:
        # A look that found nothing moves the cursor too; this is about one that found something.
        if name == moment and (name == "triggers.taken" or events(room, shown)):
            met.append(name)
            raise Crash

    def look() -> None:
        for _ in range(_ROUNDS):
            room.go_round()

    install(crash)
    try:
        with pytest.raises(Crash):
            look()
    finally:
        install(None)
    assert met
    room.installation.clock.advance(seconds=30)
    assert sorted(each["n"] for each in bodies(taken(room, shown, 3))) == [1, 2, 2]
    broker.publish([b'{"n": 2}'])
    assert len(taken(room, shown, 4)) == 4


def test_messages_that_cannot_be_read_hold_up_no_others(room: Room, broker: Broker) -> None:
    shown = listening(room, broker)
    large = b"x" * ((1 << 20) - 2_000)
    strange = [b'{"a": "\\u0000"}', b"\xff\xfe\x00", b"[" * 5_000, b"", large, b'{"n": 1}']
    broker.publish(strange)
    found = bodies(taken(room, shown, len(strange)))
    assert len(found) == len(strange)
    assert found[-1] == {"n": 1}
    assert found[0] == '{"a": "\\u0000"}'


def test_a_message_that_is_too_large_waits_for_a_person(room: Room, broker: Broker) -> None:
    if broker.url.startswith("nats"):
        pytest.skip("a NATS server takes none of more than 1 MB itself")
    shown = listening(room, broker)
    broker.publish([b"y" * (3 << 20), b'{"n": 1}'])
    large, small = taken(room, shown, 2)
    assert large.state is EventState.held
    assert "3,145,7" in (large.reason or "")
    assert small.state is EventState.running


def test_a_wrong_password_is_named_and_not_shown(room: Room, broker: Broker) -> None:
    if broker.wrong_url is None:
        pytest.skip("checks no password")
    tell(room, broker.wrong_url)
    shown = deploy(room, broker.trigger)
    room.go_round()
    said = fresh(room, shown).failing_why or ""
    assert "refused" in said
    assert "wrong" not in said
    # With the right one it goes on by itself.
    tell(room, broker.url)
    room.installation.clock.advance(minutes=2)
    room.go_round()
    assert fresh(room, shown).failing_why is None


def test_a_server_that_is_gone_is_tried_again(room: Room, broker: Broker) -> None:
    place = broker.url.rpartition("@")[2] if "@" in broker.url else broker.url.rpartition("/")[2]
    gone = broker.url.replace(place, "127.0.0.1:1")
    tell(room, gone)
    shown = deploy(room, broker.trigger)
    room.go_round()
    found = fresh(room, shown)
    assert "did not answer" in found.failing_why
    assert PASSWORD not in found.failing_why
    assert found.next_at > room.installation.clock.now()


def test_a_server_inside_is_not_called(room: Room, broker: Broker) -> None:
    services = room.installation.steward.services
    services.add(HTTP.of(Http()))
    shown = deploy(room, broker.trigger)
    room.go_round()
    assert "Only public addresses" in (fresh(room, shown).failing_why or "")


@pytest.mark.parametrize("running", ["kafka", "redis"], indirect=True)
def test_a_new_trigger_leaves_old_messages_alone(room: Room, broker: Broker) -> None:
    broker.publish([b'{"n": 1}'])
    shown = deploy(room, broker.trigger.replace(", start: all", ""))
    room.go_round()
    broker.publish([b'{"n": 2}'])
    assert bodies(taken(room, shown, 1)) == [{"n": 2}]


@pytest.mark.parametrize("running", ["kafka"], indirect=True)
def test_a_broker_that_kafka_names_is_not_called_unless_its_address_may_be(
    room: Room, broker: Broker
) -> None:
    """The address in the secret is allowed by its name; the one that the broker tells is not."""

    async def resolve(_name: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    services = room.installation.steward.services
    services.add(HTTP.of(Http(resolve=resolve, allow_private=["kafka.example"])))
    tell(room, broker.url.replace("127.0.0.1", "kafka.example"))
    shown = deploy(room, broker.trigger)
    room.go_round()
    assert "'127.0.0.1' leads to 127.0.0.1, which is loopback" in fresh(room, shown).failing_why


@pytest.mark.parametrize("running", ["mqtt"], indirect=True)
def test_a_retained_message_is_one_event_however_often_steward_subscribes(
    room: Room, broker: Broker
) -> None:
    assert isinstance(broker, MqttBroker)
    broker.publish([b"on"], retain=True)
    shown = listening(room, broker)
    assert len(taken(room, shown, 1)) == 1
    assert len(taken(room, shown, 1)) == 1
    assert events(room, shown)[0].document["retained"] is True
    broker.publish([b""], retain=True)


@pytest.mark.parametrize("kind", ["mqtt", "redis"])
def test_certificates_are_checked_by_the_name_of_the_server(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    start, needed = TLS_BROKERS[kind]
    if any(program(name) is None for name in needed):
        pytest.skip(f"needs {', '.join(needed)} on this machine")

    async def resolve(_name: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    services = room.installation.steward.services
    allowed = ["queue.example", "other.example"]
    services.add(HTTP.of(Http(resolve=resolve, allow_private=allowed)))
    certificates(tmp_path, "queue.example")
    file = tmp_path / "server.pem"
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with start(tmp_path, file) as broker:
        tell(room, broker.url.replace("127.0.0.1", "other.example"))
        shown = deploy(room, broker.trigger)
        room.go_round()
        assert "certificate" in (fresh(room, shown).failing_why or "").lower()
        tell(room, broker.url.replace("127.0.0.1", "queue.example"))
        room.installation.clock.advance(minutes=2)
        room.go_round()
        assert fresh(room, shown).failing_why is None
