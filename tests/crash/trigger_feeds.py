"""Where events of each kind of trigger come from: real servers and folders, filled while Steward is killed."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2 as httpx

from tests.connections.outside import certificates
from tests.connections.postboxes import PASSWORD as MAIL_PASSWORD
from tests.connections.postboxes import USER as MAIL_USER
from tests.connections.postboxes import pymap
from tests.connections.sftp_server import PASSWORD, USER, sftp_server
from tests.playbooks.brokers import BROKERS, program
from tests.playbooks.outer_postgres import outer_postgres
from tests.playbooks.test_trigger_files import KEYS, Bucket, storage
from tests.playbooks.test_trigger_sftp import CLIENT_KEY

LOCAL: Mapping[str, str] = {
    "STEWARD_DEMO": "false",
    "STEWARD_LOG__LEVEL": "error",
    "STEWARD_NETWORK__ALLOW_PRIVATE": '["127.0.0.1", "localhost"]',
    # Killed forty times in some minutes, a run may lose its worker more often than one that ends its workers.
    "STEWARD_RUNS__MOST_LOST": "1000",
}


@dataclass
class Feed:
    """A source with a trigger that reads it."""

    trigger: str
    name_in: str
    """Where an event holds the name that it was published under."""
    publish: Callable[[Sequence[str]], None]
    """Puts events there; they are there when this returns."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    connection: Mapping[str, Any] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    keeps: bool = True
    """Whether it keeps events for a reader that is away."""

    def prepare(self, client: httpx.Client, place: str) -> None:
        for name, value in self.secrets.items():
            kept = client.put(f"{place}/secrets/{name}", json={"value": value})
            assert kept.status_code < 300, kept.text
        if self.connection is not None:
            made = client.post(f"{place}/connections", json=dict(self.connection))
            assert made.status_code == 201, made.text


@contextmanager
def _queue(kind: str, folder: Path) -> Iterator[Feed]:
    start, _ = BROKERS[kind]
    with start(folder) as broker:
        broker.empty()
        name_in = "event.data.body.n" if kind == "redis" else "event.data.n"

        def publish(names: Sequence[str]) -> None:
            broker.publish([json.dumps({"n": name}).encode() for name in names])

        yield Feed(broker.trigger, name_in, publish, secrets={"queue": broker.url})


@contextmanager
def _folder(folder: Path) -> Iterator[Feed]:
    place = folder / "incoming"
    place.mkdir()

    def publish(names: Sequence[str]) -> None:
        for name in names:
            (place / name).write_text("x")

    env = {"STEWARD_CONNECTIONS__FILE_FOLDERS": json.dumps([str(place)])}
    trigger = f"{{type: folder, path: {place}, seconds: 2}}"
    yield Feed(trigger, "event.data.name", publish, env=env)


@contextmanager
def _bucket(_folder: Path) -> Iterator[Feed]:
    with contextmanager(storage.__wrapped__)() as url:  # type: ignore[attr-defined]
        bucket = Bucket(url, "crash")

        def publish(names: Sequence[str]) -> None:
            for name in names:
                bucket.put(f"in/{name}", b"x")

        settings = {"bucket": "crash", "endpoint": url, "region": "us-east-1"}
        connection = {"name": "files", "kind": "s3", "settings": settings, "values": KEYS}
        trigger = "{type: bucket, connection: files, prefix: in/, start: all, seconds: 10}"
        yield Feed(trigger, "event.data.name", publish, connection=connection)


@contextmanager
def _sftp(folder: Path) -> Iterator[Feed]:
    place = folder / "out"
    place.mkdir()
    with sftp_server(folder, CLIENT_KEY) as running:

        def publish(names: Sequence[str]) -> None:
            for name in names:
                (place / name).write_text("x")

        settings = {
            "host": "127.0.0.1",
            "port": running.port,
            "username": USER,
            "host_key": running.fingerprint,
            "folder": "/out",
        }
        values = {"password": PASSWORD}
        connection = {"name": "partner", "kind": "sftp", "settings": settings, "values": values}
        trigger = "{type: sftp, connection: partner, start: all, seconds: 10}"
        yield Feed(trigger, "event.data.name", publish, connection=connection)


@contextmanager
def _mailbox(folder: Path) -> Iterator[Feed]:
    made = certificates(folder, "localhost")
    with pymap(folder, made.client) as box:
        box.empty()

        def publish(names: Sequence[str]) -> None:
            box.deliver(*(_letter(name) for name in names))

        settings = {**box.settings, "host": "localhost", "username": MAIL_USER}
        values = {"password": MAIL_PASSWORD}
        connection = {"name": "mailbox", "kind": "imap", "settings": settings, "values": values}
        env = {"SSL_CERT_FILE": str(folder / "server.pem")}
        trigger = "{type: email, connection: mailbox}"
        yield Feed(trigger, "event.data.subject", publish, connection=connection, env=env)


def _letter(name: str) -> bytes:
    made = EmailMessage()
    made["From"] = "grace@example.com"
    made["To"] = "ada@mail.example"
    made["Subject"] = name
    made.set_content("Hello")
    return made.as_bytes()


@contextmanager
def _rows(folder: Path) -> Iterator[Feed]:
    import psycopg

    with outer_postgres(folder) as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE orders (name text)")
        connection.execute("CREATE PUBLICATION orders FOR TABLE orders")

        def publish(names: Sequence[str]) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany("INSERT INTO orders VALUES (%s)", [(name,) for name in names])

        trigger = "{type: postgres_changes, url_secret: db, publication: orders, slot: steward}"
        yield Feed(trigger, "event.data.row.name", publish, secrets={"db": url})


@contextmanager
def _notices(folder: Path) -> Iterator[Feed]:
    import psycopg

    with outer_postgres(folder) as url, psycopg.connect(url, autocommit=True) as connection:

        def publish(names: Sequence[str]) -> None:
            with connection.cursor() as cursor:
                told = [(json.dumps({"n": name}),) for name in names]
                cursor.executemany("SELECT pg_notify('orders', %s)", told)

        trigger = "{type: postgres_notify, url_secret: db, channel: orders}"
        yield Feed(trigger, "event.data.n", publish, secrets={"db": url}, keeps=False)


@contextmanager
def _page(_folder: Path) -> Iterator[Feed]:
    """A list of the newest entries, as an API shows it."""
    entries: list[str] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with lock:
                shown = [{"id": name} for name in entries[-2_000:]]
            body = json.dumps({"items": shown}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def publish(names: Sequence[str]) -> None:
        with lock:
            entries.extend(names)

    url = f"http://127.0.0.1:{server.server_port}/orders"
    trigger = f"{{type: http_poll, url: '{url}', seconds: 30, items: items}}"
    yield Feed(trigger, "event.data.id", publish)
    server.shutdown()
    server.server_close()


Start = Callable[[Path], AbstractContextManager[Feed]]
FEEDS: dict[str, Start] = {
    **{kind: partial(_queue, kind) for kind in BROKERS},
    "bucket": _bucket,
    "email": _mailbox,
    "folder": _folder,
    "http_poll": _page,
    "postgres_changes": _rows,
    "postgres_notify": _notices,
    "sftp": _sftp,
}


def missing(kind: str) -> str | None:
    """Programs that this machine lacks for it."""
    needed = BROKERS[kind][1] if kind in BROKERS else ()
    return f"needs {', '.join(needed)}" if any(program(each) is None for each in needed) else None
