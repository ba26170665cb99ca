"""Real queues for tests: Redis, RabbitMQ and mosquitto where this machine has them, Kafka's broker within the test."""

import asyncio
import os
import shutil
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

from steward.testing import NatsServer

_PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
_SECONDS = 90
PASSWORD = "s3cret/of:queues@"
ESCAPED = "s3cret%2Fof%3Aqueues%40"


def program(*names: str) -> str | None:
    found = (shutil.which(name, path=_PLACES) for name in names)
    return next((each for each in found if each), None)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


class Broker(ABC):
    """A running server with one queue in it."""

    trigger: str
    """A trigger for it, as YAML; its secret is `queue`."""

    def __init__(self, url: str, signed_out: str | None) -> None:
        self.url = url
        self.wrong_url = signed_out
        """The same with a wrong password, where it checks one."""

    @abstractmethod
    def empty(self) -> None:
        """A queue with nothing in it, as new."""

    @abstractmethod
    def publish(self, bodies: Sequence[bytes]) -> None:
        """Puts messages in the queue; they are there when this returns."""


class RedisBroker(Broker):
    trigger = "{type: redis_stream, url_secret: queue, stream: orders, start: all}"

    def _client(self) -> Any:
        from redis import Redis

        return Redis.from_url(self.url)

    def empty(self) -> None:
        with self._client() as client:
            client.flushall()

    def publish(self, bodies: Sequence[bytes]) -> None:
        with self._client() as client:
            for body in bodies:
                client.xadd("orders", {"body": body})


class RabbitBroker(Broker):
    trigger = "{type: rabbitmq, url_secret: queue, queue: orders}"

    def empty(self) -> None:
        asyncio.run(self._with_channel(()))

    def publish(self, bodies: Sequence[bytes]) -> None:
        asyncio.run(self._with_channel(bodies))

    async def _with_channel(self, bodies: Sequence[bytes]) -> None:
        import aiormq

        connection = aiormq.Connection(self.url)
        await connection.connect()
        channel = await connection.channel()
        if not bodies:
            await channel.queue_delete("orders")
        await channel.queue_declare("orders", durable=True)
        for body in bodies:
            await channel.basic_publish(body, routing_key="orders", properties=_anonymous())
        await connection.close()


def _anonymous() -> Any:
    """Properties without an id: this client gives one to each message, which not every sender does."""
    from pamqp.commands import Basic

    class Anonymous(Basic.Properties):
        def marshal(self) -> bytes:
            self.message_id = None
            return super().marshal()

    return Anonymous()


class MqttBroker(Broker):
    trigger = "{type: mqtt, url_secret: queue, topic: 'orders/#'}"

    def empty(self) -> None:
        """Sessions are of one trigger each, and triggers of one test."""

    def publish(self, bodies: Sequence[bytes], *, retain: bool = False) -> None:
        from paho.mqtt.client import Client
        from paho.mqtt.enums import CallbackAPIVersion

        client = Client(CallbackAPIVersion.VERSION2)
        host, _, port = self.url.rpartition("@")[2].partition(":")
        client.username_pw_set("steward", PASSWORD)
        client.connect(host, int(port))
        client.loop_start()
        for body in bodies:
            client.publish("orders/new", body, 1, retain).wait_for_publish(_SECONDS)
        client.disconnect()
        client.loop_stop()


class KafkaBroker(Broker):
    trigger = "{type: kafka, url_secret: queue, topic: TOPIC, start: all}"

    def __init__(self, producer: Any, url: str) -> None:
        super().__init__(url, None)
        self._producer = producer
        self._number = 0

    def empty(self) -> None:
        self._number += 1
        topic = f"orders-{self._number}"
        self.trigger = KafkaBroker.trigger.replace("TOPIC", topic)
        self._producer.list_topics(topic, timeout=_SECONDS)

    def publish(self, bodies: Sequence[bytes]) -> None:
        for body in bodies:
            # One partition, so that the order can be compared.
            self._producer.produce(f"orders-{self._number}", body, partition=0)
        assert self._producer.flush(_SECONDS) == 0


class NatsBroker(Broker):
    trigger = "{type: nats, url_secret: queue, stream: ORDERS}"

    def empty(self) -> None:
        asyncio.run(self._with_stream(()))

    def publish(self, bodies: Sequence[bytes]) -> None:
        asyncio.run(self._with_stream(bodies))

    async def _with_stream(self, bodies: Sequence[bytes]) -> None:
        import nats
        from nats.js.errors import NotFoundError

        client = await nats.connect(self.url)
        stream = client.jetstream()
        if not bodies:
            with suppress(NotFoundError):
                await stream.delete_stream("ORDERS")
            await stream.add_stream(name="ORDERS", subjects=["orders.>"])
        for body in bodies:
            await stream.publish("orders.new", body)
        await client.close()


@contextmanager
def nats_broker(folder: Path) -> Iterator[Broker]:
    with NatsServer(folder) as server:
        yield NatsBroker(server.url, None)


@contextmanager
def redis_broker(folder: Path, tls: Path | None = None) -> Iterator[Broker]:
    port = free_port()
    command = [str(program("redis-server")), "--bind", "127.0.0.1", "--dir", str(folder)]
    command += ["--save", "", "--requirepass", PASSWORD]
    if tls is None:
        command += ["--port", str(port)]
    else:
        command += ["--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no"]
        command += ["--tls-cert-file", str(tls), "--tls-key-file", str(tls)]
        command += ["--tls-ca-cert-file", str(tls)]
    with _running(command, port, folder):
        place, scheme = f"127.0.0.1:{port}/0", "redis" if tls is None else "rediss"
        yield RedisBroker(f"{scheme}://:{ESCAPED}@{place}", f"{scheme}://:wrong@{place}")


@contextmanager
def mqtt_broker(folder: Path, tls: Path | None = None) -> Iterator[Broker]:
    port = free_port()
    passwords = folder / "passwords"
    made = [str(program("mosquitto_passwd")), "-c", "-b", str(passwords), "steward", PASSWORD]
    subprocess.run(made, check=True, capture_output=True)
    settings = folder / "mosquitto.conf"
    settings.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous false\npassword_file {passwords}\n"
        f"user root\nmax_queued_messages 0\n"
        + (f"certfile {tls}\nkeyfile {tls}\n" if tls is not None else "")
    )
    with _running([str(program("mosquitto")), "-c", str(settings)], port, folder):
        place, scheme = f"127.0.0.1:{port}", "mqtt" if tls is None else "mqtts"
        yield MqttBroker(
            f"{scheme}://steward:{ESCAPED}@{place}", f"{scheme}://steward:wrong@{place}"
        )


@contextmanager
def rabbit_broker(folder: Path) -> Iterator[Broker]:
    port, names, between = free_port(), free_port(), free_port()
    (folder / "plugins").write_text("[].\n")
    settings = folder / "rabbitmq.conf"
    # The settings file takes the password as it is, the address escaped.
    settings.write_text(
        f"listeners.tcp.1 = 127.0.0.1:{port}\ndefault_user = steward\ndefault_pass = {PASSWORD}\n"
    )
    environment = os.environ | {
        "HOME": str(folder),
        "ERL_EPMD_PORT": str(names),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": f"steward{port}@localhost",
        "RABBITMQ_DIST_PORT": str(between),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_CONFIG_FILE": str(settings),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_CONF_ENV_FILE": "/dev/null",
    }
    with (
        _running([str(program("epmd"))], names, folder, environment),
        _running([rabbitmq_server()], port, folder, environment),
    ):
        place = f"127.0.0.1:{port}"
        yield RabbitBroker(f"amqp://steward:{ESCAPED}@{place}/", f"amqp://steward:wrong@{place}/")


def rabbitmq_server() -> str:
    """The program itself: the one on the path of Debian changes to another user first."""
    found = sorted(Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*/sbin/rabbitmq-server"))
    return str(found[-1]) if found else program("rabbitmq-server") or ""


@contextmanager
def kafka_broker(_folder: Path) -> Iterator[Broker]:
    from confluent_kafka import Producer

    producer = Producer({"test.mock.num.brokers": 1, "log_level": 0, "message.max.bytes": 8 << 20})
    [found] = producer.list_topics(timeout=_SECONDS).brokers.values()
    yield KafkaBroker(producer, f"kafka://{found.host}:{found.port}")


@contextmanager
def _running(
    command: Sequence[str], port: int, folder: Path, environment: dict[str, str] | None = None
) -> Iterator[None]:
    """A program until it answers at its port, ended afterwards."""
    output = folder / f"{Path(command[0]).name}.log"
    with output.open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=environment, start_new_session=True
        )
    deadline = time.monotonic() + _SECONDS
    try:
        while not _answers(port):
            assert process.poll() is None, output.read_text()
            assert time.monotonic() < deadline, output.read_text()
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


Start = Callable[..., AbstractContextManager[Broker]]
BROKERS: dict[str, tuple[Start, tuple[str, ...]]] = {
    "kafka": (kafka_broker, ()),
    "mqtt": (mqtt_broker, ("mosquitto", "mosquitto_passwd")),
    "nats": (nats_broker, ()),
    "rabbitmq": (rabbit_broker, ("rabbitmq-server", "epmd")),
    "redis": (redis_broker, ("redis-server",)),
}
"""How to start each, and the programs that this takes."""
TLS_BROKERS = {name: BROKERS[name] for name in ("mqtt", "redis")}
"""The same that speak TLS, by a file with key and certificate: the library of one gets streams encrypted, that of the other sockets."""
