"""Tables of a real server become datasets through the doors; the password is nowhere afterwards."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from steward.identity import Role
from steward.store.secrets import secrets
from steward.testing import Installation, PostgresServer
from steward.tools import KEPT_ADDRESSES
from tests.cli.fixtures import filled, started_home, terminal
from tests.cli.terminal import Terminal

__all__ = ["filled", "started_home", "terminal"]

PASSWORD = "hunter2-and-more"
MADE = """
CREATE TABLE orders (id integer PRIMARY KEY, amount numeric(10,2), day date);
INSERT INTO orders VALUES (2, 2.50, '2026-01-02'), (1, 1.00, '2026-01-01'), (3, 'NaN', '2026-01-03');
"""


@pytest.fixture(scope="module")
def server(postgres: PostgresServer) -> Iterator[str]:
    """Its users need no password, so a wrong one shows where passwords go."""
    with postgres.database(None) as url:
        engine = sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"))
        with engine.begin() as connection:
            connection.exec_driver_sql(MADE)
        engine.dispose()
        parts = sa.make_url(url).set(drivername="postgresql", password=PASSWORD)
        yield parts.render_as_string(hide_password=False)


def _ask(person: Any, what: str, **body: Any) -> Any:
    address = f"/api/v1/projects/{person.access.scope.project_id}/servers/{what}"
    return person.client.post(address, json=body)


def _outcome(installation: Installation, started: Any) -> Any:
    """What became of a load that was started; nothing of its address is left."""
    runs = installation.steward.runs
    runs.drive_until_idle()
    with installation.steward.database.read(installation.scope) as tx:
        kept = tx.rows(sa.select(secrets.c.name).where(secrets.c.name.startswith(KEPT_ADDRESSES)))
    assert kept == []
    return runs.outcome(installation.scope, started.json()["id"])


def _everything_in(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_a_table_is_looked_at_and_loaded(installation: Installation, server: str) -> None:
    admin = installation.person(Role.admin)
    seen = _ask(admin, "inspect", url=server)
    assert seen.status_code == 200, seen.text
    assert [table["name"] for table in seen.json()["inspection"]["tables"]] == ["orders"]
    refused = _ask(admin, "ingest", url=server, dataset="orders", options={"table": "orders"})
    assert _outcome(installation, refused)["error"]["code"] == "many-rejects"
    options = {"table": "orders", "rejects_allowed": 1}
    started = _ask(admin, "ingest", url=server, dataset="orders", options=options)
    assert started.status_code == 202, started.text
    workbench = installation.steward.workbench
    found = _outcome(installation, started)["output"]["value"]
    assert (found["rows"], found["rejected"]) == (2, 1)
    card = workbench.datasets.get(installation.scope, admin.user.id, "orders")
    page = workbench.datasets.rows(installation.scope, card.version)
    assert page.rows == [["1", "1.00", "2026-01-01"], ["2", "2.50", "2026-01-02"]]
    (commit,) = workbench.datasets.history(installation.scope, admin.user.id, "orders")
    assert commit.message.startswith("Load orders from orders of postgresql://postgres@")
    assert PASSWORD not in seen.text + started.text + json.dumps(found) + str(commit)
    assert PASSWORD.encode() not in _everything_in(installation.steward.settings.home)


def test_an_address_may_come_from_a_secret(installation: Installation, server: str) -> None:
    owner = installation.owner
    installation.steward.secrets.set(installation.scope, "warehouse", server, author=owner.user.id)
    installation.steward.secrets.set(installation.scope, "other", PASSWORD, author=owner.user.id)
    assert _ask(owner, "inspect", secret="warehouse").status_code == 200
    wrong = _ask(owner, "inspect", secret="other")
    assert (wrong.status_code, wrong.json()["code"]) == (422, "bad-url")
    assert PASSWORD not in wrong.text
    assert _ask(owner, "inspect", secret="absent").status_code == 404
    for body in ({}, {"url": server, "secret": "warehouse"}):
        both = _ask(owner, "inspect", **body)
        assert both.status_code == 422
        assert PASSWORD not in both.text


def test_private_servers_are_for_admins(installation: Installation, server: str) -> None:
    installation.steward.secrets.set(
        installation.scope, "warehouse", server, author=installation.owner.user.id
    )
    editor = installation.person(Role.editor)
    for place in ({"url": server}, {"url": "mysql://a@127.0.0.1/x"}, {"secret": "warehouse"}):
        refused = _ask(editor, "inspect", **place)
        assert (refused.status_code, refused.json()["code"]) == (403, "private-address")
    started = _ask(editor, "ingest", url=server, dataset="orders", options={"table": "orders"})
    assert _outcome(installation, started)["error"]["code"] == "private-address"
    assert _ask(installation.person(Role.operator), "inspect", url=server).status_code == 403


def test_a_server_that_does_not_answer(installation: Installation) -> None:
    url = f"postgresql://ann:{PASSWORD}@127.0.0.1:1/x"
    gone = _ask(installation.owner, "inspect", url=url)
    assert (gone.status_code, gone.json()["code"]) == (503, "source-unavailable")
    assert PASSWORD not in gone.text


def test_the_terminal_loads_tables(filled: Terminal, server: str) -> None:
    bare = server.replace(f":{PASSWORD}@", "@")
    given = ("data", "add", bare, "--password-stdin", "--json")
    refused = filled.run(*given, stdin=f"{PASSWORD}\n", code=1)
    assert "1 of 3 records" in refused.out + refused.err
    done = filled.run(*given, "--read", "rejects_allowed=1", stdin=f"{PASSWORD}\n")
    assert done.json()["dataset"] == "orders"
    assert (done.json()["rows"], done.json()["rejected"]) == (2, 1)
    shown = filled.run("data", "show", "orders").out
    assert "2.50" in shown
    named = filled.run(
        *("data", "add", server, "--table", "orders", "--name", "again"),
        *("--read", "rejects_allowed=1"),
    )
    assert "Loaded 2 of 3 records as 'again'" in named.out
    missing = filled.run("data", "add", server, "--table", "absent", code=1)
    assert "orders" in missing.err
    unknown = filled.run("data", "add", "secret:absent", code=1)
    assert "no secret called 'absent'" in unknown.err
    for said in (done, named, missing):
        assert PASSWORD not in said.out + said.err
    assert PASSWORD.encode() not in _everything_in(filled.home)
