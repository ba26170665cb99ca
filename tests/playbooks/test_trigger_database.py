"""Triggers on the rows of somebody else's PostgreSQL: every change once, whatever breaks in between."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from steward.connections import Http
from steward.core.faults import install
from steward.playbooks import EventState, Shown
from steward.playbooks.triggers import postgres_changes
from steward.tools import HTTP
from tests.playbooks.conftest import Room
from tests.playbooks.outer_postgres import outer_postgres
from tests.playbooks.test_trigger_sources import deploy, events, fresh

TRIGGER = "{type: postgres_changes, url_secret: db, publication: watched, slot: steward_test}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with outer_postgres(tmp_path_factory.mktemp("postgres")) as url:
        yield url


@pytest.fixture
def orders(server: str) -> Iterator[Any]:
    """A connection to a database with a published table."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP PUBLICATION IF EXISTS watched")
        connection.execute("DROP TABLE IF EXISTS orders, quiet")
        connection.execute(
            "CREATE TABLE orders (id int PRIMARY KEY, paid bool, total numeric, note text, more jsonb, share float8)"
        )
        connection.execute("CREATE TABLE quiet (id int)")
        connection.execute("CREATE PUBLICATION watched FOR TABLE orders")
        yield connection
        connection.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = 'steward_test'"
        )


@pytest.fixture
def listening(room: Room, server: str, orders: Any) -> Shown:
    assert orders is not None
    services = room.installation.steward.services
    services.add(HTTP.of(Http(allow_private=["127.0.0.1"])))
    room.installation.steward.secrets.set(room.editor.access.scope, "db", server, author="test")
    shown = deploy(room, TRIGGER)
    room.go_round()
    assert fresh(room, shown).failing_why is None
    return shown


def _data(room: Room, shown: Shown) -> list[Any]:
    return [each.document["data"] for each in events(room, shown)]


def test_rows_that_change_are_told_with_their_values(
    room: Room, listening: Shown, orders: Any
) -> None:
    orders.execute("INSERT INTO orders VALUES (1, true, 12.50, 'a\u00e9', '{\"x\": [1]}', 'NaN')")
    orders.execute("INSERT INTO quiet VALUES (1)")
    orders.execute("UPDATE orders SET id = 2, note = NULL WHERE id = 1")
    orders.execute("DELETE FROM orders")
    orders.execute("TRUNCATE orders")
    assert room.go_round() == 3
    inserted, updated, deleted = _data(room, listening)
    row = {
        "id": 1,
        "paid": True,
        "total": "12.50",
        "note": "aé",
        "more": {"x": [1]},
        "share": "NaN",
    }
    assert inserted == {
        "operation": "insert", "schema": "public", "table": "orders", "row": row, "old": None,
    }  # fmt: skip
    assert (updated["operation"], updated["old"]) == ("update", {"id": 1})
    assert updated["row"] == {**row, "id": 2, "note": None}
    assert (deleted["operation"], deleted["row"], deleted["old"]) == ("delete", None, {"id": 2})
    assert room.go_round() == 0


def test_a_long_transaction_is_taken_in_pieces_and_one_that_is_rolled_back_is_not(
    room: Room, listening: Shown, orders: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_changes, "_MOST", 4)
    with orders.transaction():
        orders.execute("INSERT INTO orders (id) SELECT generate_series(1, 10)")
    with orders.transaction(force_rollback=True):
        orders.execute("INSERT INTO orders (id) VALUES (99)")
    orders.execute("INSERT INTO orders (id) VALUES (11)")
    while room.go_round():
        pass
    assert [each["row"]["id"] for each in _data(room, listening)] == list(range(1, 12))


@pytest.mark.parametrize("at", ["triggers.taken", "triggers.stored"])
def test_a_crash_neither_loses_a_row_nor_tells_it_twice(
    room: Room, listening: Shown, orders: Any, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_changes, "_MOST", 2)
    orders.execute("INSERT INTO orders (id) SELECT generate_series(1, 5)")

    def crash(name: str) -> None:
        if name == at:
            raise RuntimeError("killed")

    for _ in range(2):
        install(crash)
        try:
            room.go_round()
        finally:
            install(None)
        room.installation.clock.advance(seconds=120)
    while room.go_round():
        pass
    assert [each["row"]["id"] for each in _data(room, listening)] == [1, 2, 3, 4, 5]


def test_the_server_keeps_nothing_that_does_not_concern_the_trigger(
    room: Room, listening: Shown, orders: Any
) -> None:
    def place() -> int:
        [(found,)] = orders.execute(
            "SELECT (confirmed_flush_lsn - '0/0')::bigint FROM pg_replication_slots WHERE slot_name = 'steward_test'"
        ).fetchall()
        return int(found)

    before = place()
    orders.execute("INSERT INTO quiet SELECT generate_series(1, 1000)")
    assert room.go_round() == 0
    assert place() > before
    assert fresh(room, listening).failing_why is None


def test_a_slot_that_was_dropped_is_told(room: Room, listening: Shown, orders: Any) -> None:
    orders.execute("SELECT pg_drop_replication_slot('steward_test')")
    room.go_round()
    [event] = events(room, listening)
    assert event.state is EventState.held
    assert "was gone" in str(event.reason)
    orders.execute("INSERT INTO orders (id) VALUES (1)")
    assert room.go_round() == 1


def test_a_publication_that_is_missing_is_named(room: Room, server: str, orders: Any) -> None:
    orders.execute("DROP PUBLICATION watched")
    services = room.installation.steward.services
    services.add(HTTP.of(Http(allow_private=["127.0.0.1"])))
    room.installation.steward.secrets.set(room.editor.access.scope, "db", server, author="test")
    shown = deploy(room, TRIGGER)
    room.go_round()
    assert "CREATE PUBLICATION watched" in fresh(room, shown).failing_why


def test_what_stays_on_the_server_is_told_when_nobody_looks_any_more(
    room: Room, listening: Shown
) -> None:
    notifications = room.installation.steward.identity.notifications
    assert not notifications.page(room.editor.access)
    scope = room.editor.access.scope
    subscriptions = room.playbooks.triggers.subscriptions
    subscriptions.switch(scope, listening.subscription.id, enabled=False, by="test")
    [note] = notifications.page(room.editor.access)
    assert "keeps events" in note.title
    assert "pg_drop_replication_slot('steward_test')" in note.body
