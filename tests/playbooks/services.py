"""The services that blueprints work with, as doubles: Slack, a CRM, GitHub, and the database of a warehouse."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from steward.connections import Draft, Folders, Http
from steward.tools import HTTP
from tests.playbooks.conftest import Room
from tests.playbooks.receiver import Receiver, receiving

ISSUES = [
    {
        "number": number,
        "title": title,
        "user": {"login": "grace"},
        "comments": comments,
        "created_at": f"{day}T09:00:00Z",
        "labels": [{"name": "bug"}, {"name": "help wanted"}],
    }
    for number, title, comments, day in (
        (12, "It does not start", 0, "2026-02-01"),
        (9, "Explain the settings", 4, "2026-01-10"),
        (3, "Support another format", 0, "2025-11-02"),
    )
] + [
    {
        "number": 13,
        "title": "A change, not an issue",
        "user": {"login": "ada"},
        "comments": 0,
        "created_at": "2026-02-01T10:00:00Z",
        "labels": [],
        "pull_request": {"url": "https://api.github.example/pulls/13"},
    }
]


@dataclass
class Services:
    slack: Receiver
    warehouse: Path
    status: int = 201
    """What the CRM answers."""
    contacts: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def messages(self) -> list[str]:
        return [str(each["text"]) for each in self.slack.heard]


@contextmanager
def services(room: Room, slack_name: str = "team-slack") -> Iterator[Services]:
    """Doubles with a connection to each: `team-slack`, `crm`, `github` and `warehouse`."""
    steward, owner = room.installation.steward, room.installation.owner.access
    folder = steward.settings.home / "warehouse"
    folder.mkdir()
    with receiving() as slack:
        found = Services(slack, folder / "stock.db")
        stock(found, [("A-1", "Bolts", 5, 10), ("A-2", "Nuts", 50, 20), ("A-3", "Nails", 7, 8)])
        with _web(found) as origin:
            http = Http(allow_private=["127.0.0.1"])
            steward.services.add(HTTP.of(http))
            desk = steward.connections
            folders = Folders.of([str(folder)])
            desk.around = desk.health.around = replace(desk.around, http=http, folders=folders)
            hook = {"channel": "#team", "webhook_hosts": [slack.origin]}
            for draft in (
                Draft(slack_name, "slack_webhook", hook, values={"url": slack.url}),
                Draft("crm", "http_api", {"base_url": origin}),
                Draft("github", "http_api", {"base_url": origin}),
                Draft("warehouse", "database_file", {"path": str(found.warehouse)}),
            ):
                desk.documents.create(owner, draft)
            yield found


def stock(found: Services, rows: list[tuple[str, str, int, int]]) -> None:
    """What the warehouse has from now on."""
    with closing(sqlite3.connect(found.warehouse)) as database, database:
        database.execute("DROP TABLE IF EXISTS stock")
        database.execute(
            "CREATE TABLE stock (article TEXT, name TEXT, on_hand INTEGER, reorder_level INTEGER)"
        )
        database.executemany("INSERT INTO stock VALUES (?, ?, ?, ?)", rows)


@contextmanager
def _web(found: Services) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if found.status < 300:
                found.contacts.append(json.loads(body))
            self._answer(found.status, {"id": len(found.contacts)})

        def do_GET(self) -> None:
            found.asked.append(self.path)
            is_known = self.path.startswith("/repos/example/engine/issues?")
            self._answer(200 if is_known else 404, ISSUES if is_known else {"message": "Not Found"})

        def _answer(self, status: int, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
