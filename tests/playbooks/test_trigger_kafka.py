"""Kafka through a connection: encrypted, signed in, with the certificate of the connection; against Kafka's broker behind a door."""

import gc
import ssl
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from steward.connections import Draft, Http, kafka_options, load_connectors
from steward.core import Misconfigured, Unavailable
from steward.testing.connections import run_check, surroundings
from steward.tools import HTTP
from tests.connections.outside import certificates
from tests.playbooks.brokers import kafka_broker
from tests.playbooks.conftest import Room
from tests.playbooks.kafka_door import door
from tests.playbooks.test_trigger_queues import bodies, taken
from tests.playbooks.test_trigger_sources import deploy, fresh

HOST, CLIENT, USER, PASSWORD = "kafka.example", "client.example", "steward", "s3cret-of-kafka"


async def _here(_name: str, _port: int) -> list[str]:
    return ["127.0.0.1"]


def _pair(folder: Path, *names: str) -> tuple[str, str]:
    """A key and its certificate."""
    folder.mkdir()
    certificates(folder, *names)
    begin = "-----BEGIN CERTIFICATE-----"
    key, _, rest = (folder / "server.pem").read_text().partition(begin)
    return key, begin + rest


def _web() -> Http:
    return Http(resolve=_here, allow_private=[HOST, "other.example", "127.0.0.1"])


# Where a sign-in over TLS is refused, the library leaves its line to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_records_come_through_an_encrypted_signed_in_connection(room: Room, tmp_path: Path) -> None:
    _, trusted = _pair(tmp_path / "server", HOST, "127.0.0.1")
    key, certificate = _pair(tmp_path / "client", CLIENT)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(tmp_path / "server" / "server.pem")
    # Only who shows a certificate that it knows gets in.
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_verify_locations(cadata=certificate)
    steward = room.installation.steward
    steward.services.add(HTTP.of(_web()))
    with kafka_broker(tmp_path) as broker:
        broker.empty()
        behind = int(broker.url.rpartition(":")[2])
        with door(tls, behind, USER, PASSWORD) as opened:
            settings: dict[str, Any] = {
                "host": HOST,
                "port": opened.port,
                "root_certificate": trusted,
                "sign_in": "PLAIN",
                "username": USER,
            }
            secrets = {"client_certificate": certificate, "client_key": key, "password": PASSWORD}
            kind, around = load_connectors().get("kafka"), surroundings(http=_web())
            said = run_check(kind, settings, secrets, around)
            assert said == f"Connected to {HOST} over TLS. Brokers: 1."
            with pytest.raises(Misconfigured, match="refused the user name or password"):
                run_check(kind, settings, {**secrets, "password": "wrong"}, around)
            with pytest.raises(Misconfigured, match="does not accept SCRAM-SHA-256"):
                run_check(kind, {**settings, "sign_in": "SCRAM-SHA-256"}, secrets, around)
            with pytest.raises(Misconfigured, match="is not trusted"):
                run_check(kind, {**settings, "host": "other.example"}, secrets, around)
            for less in ({"root_certificate": ""}, {"security": "none", "root_certificate": ""}):
                with pytest.raises((Misconfigured, Unavailable)):
                    run_check(kind, {**settings, **less}, secrets, around)
            with pytest.raises(Unavailable):
                run_check(kind, settings, {"password": PASSWORD}, around)
            draft = Draft("orders", "kafka", settings, values=secrets)
            steward.connections.documents.create(room.installation.owner.access, draft)
            topic = broker.trigger.partition("topic: ")[2].partition(",")[0]
            shown = deploy(room, f"{{type: kafka, connection: orders, topic: {topic}, start: all}}")
            room.go_round()
            assert fresh(room, shown).failing_why is None
            broker.publish([b'{"n": 1}', b'{"n": 2}'])
            assert bodies(taken(room, shown, 2)) == [{"n": 1}, {"n": 2}]
            assert set(opened.ways) == {"PLAIN", "SCRAM-SHA-256"}
            assert set(opened.certificates) == {CLIENT}
    gc.collect()


def test_scram_reaches_the_client_library() -> None:
    """No broker for tests speaks it; this is what the library is given."""
    given = kafka_options(None, "SCRAM-SHA-512", USER, PASSWORD)
    assert given == {
        "security_protocol": "SASL_PLAINTEXT",
        "ssl_context": None,
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": USER,
        "sasl_plain_password": PASSWORD,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"sign_in": "PLAIN"},
        {"username": "ada"},
        {"root_certificate": "no certificate"},
        {"security": "none", "root_certificate": "-----BEGIN CERTIFICATE-----"},
    ],
    ids=str,
)
def test_settings_that_do_not_go_together_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        load_connectors().get("kafka").settings.model_validate({"host": HOST, **wrong})
