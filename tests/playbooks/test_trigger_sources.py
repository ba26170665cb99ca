"""Sources of triggers: the project's own log, web addresses, folders, queues. A cursor never moves before what was found is stored."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from steward.connections import Folders, Http
from steward.core.faults import install
from steward.playbooks import TRIGGERS, EventState, Shown, TriggerEvent
from steward.runs import Status
from steward.store.notices import Notices
from steward.testing import NatsServer
from steward.testing.triggers import check_trigger
from steward.tools import FOLDERS, HTTP
from tests.playbooks.conftest import Room
from tests.playbooks.test_blueprints_samples import load

PLAIN = """\
format: 1
id: plain
name: Plain
budget: {usd: 1}
steps: [{id: ask, question: Well, form: {type: boolean}}]
triggers: [TRIGGER]
"""
RSS = "<rss><channel>ITEMS</channel></rss>"


def deploy(room: Room, trigger: str, text: str = PLAIN) -> Shown:
    card = room.playbooks.library.create(room.editor.access, text.replace("TRIGGER", trigger))
    room.playbooks.deploying.deploy(room.editor.access, card.id)
    found = room.playbooks.triggers.listed(room.editor.access)
    return next(each for each in found if each.card.id == card.id)


def events(room: Room, shown: Shown) -> list[TriggerEvent]:
    page = room.playbooks.triggers.page(room.editor.access, shown.subscription.id)
    return page[::-1]


def fresh(room: Room, shown: Shown) -> Any:
    return room.playbooks.triggers.get(room.editor.access, shown.subscription.id).subscription


def look(room: Room, shown: Shown) -> None:
    """Looks as long as the source goes on at once, as a worker does."""
    watch = room.playbooks.triggers.watch
    for held in watch._claim():
        if held.id == shown.subscription.id:
            asyncio.run(watch._take(held))


@pytest.mark.parametrize("name", [name for name, _ in TRIGGERS])
def test_every_trigger_keeps_the_contract(name: str) -> None:
    check_trigger(name, TRIGGERS.get(name))


def test_a_dataset_that_changes_starts_it(room: Room) -> None:
    load(room, "before", "a\n1\n")
    shown = deploy(room, "{type: dataset_changed, dataset: sales}")
    assert room.go_round() == 0
    load(room, "other", "a\n1\n")
    assert room.go_round() == 0
    load(room, "sales", "a\n1\n")
    assert room.go_round() == 1
    assert room.go_round() == 0
    [event] = events(room, shown)
    assert event.document["data"]["dataset"] == "sales"


def test_a_run_that_ended_starts_the_next(room: Room) -> None:
    first = PLAIN.replace("plain", "first").replace("[TRIGGER]", "[]")
    card = room.playbooks.library.create(room.editor.access, first)
    room.playbooks.deploying.deploy(room.editor.access, card.id)
    shown = deploy(room, "{type: run_ended, playbook: first, status: [done]}")
    room.go_round()
    run = room.playbooks.running.start(room.editor.access, "first", {})
    room.drive()
    assert room.go_round() == 0
    room.answer(run, answer=True)
    assert room.fresh(run).status is Status.done
    assert room.go_round() == 1
    [event] = events(room, shown)
    assert event.document["data"]["run"] == run.id
    # Its own runs do not start it again.
    own = room.runs.get(room.editor.access.scope, event.run_id)
    room.drive()
    room.answer(own, answer=True)
    assert room.go_round() == 0


@pytest.fixture
def web(room: Room) -> Iterator[dict[str, Any]]:
    """A web server that answers as it is told."""
    said: dict[str, Any] = {"status": 200, "body": b"", "headers": {}, "asked": []}

    async def answer(request: httpx2.Request) -> httpx2.Response:
        said["asked"].append(dict(request.headers))
        return httpx2.Response(said["status"], content=said["body"], headers=said["headers"])

    async def resolve(_name: str, _port: int) -> list[str]:
        return ["93.184.215.14"]

    http = Http(resolve=resolve, transport=httpx2.MockTransport(answer))
    services = room.installation.steward.services
    before = services["http"]
    services.add(HTTP.of(http))
    yield said
    services.add(HTTP.of(before))


def feed(*ids: int) -> bytes:
    items = "".join(f"<item><guid>g{n}</guid><title>Entry {n}</title></item>" for n in ids)
    return RSS.replace("ITEMS", items).encode()


def test_new_entries_of_a_feed_each_start_it_once(room: Room, web: dict[str, Any]) -> None:
    shown = deploy(room, "{type: http_poll, url: 'https://example.com/feed', seconds: 60}")
    web |= {"body": feed(1, 2), "headers": {"etag": '"a"'}}
    assert room.go_round() == 0
    web["body"] = feed(4, 3, 2, 1)
    room.installation.clock.advance(seconds=61)
    assert room.go_round() == 2
    assert [each.document["data"]["title"] for each in events(room, shown)] == [
        "Entry 3",
        "Entry 4",
    ]
    assert web["asked"][-1]["if-none-match"] == '"a"'
    web["status"] = 304
    room.installation.clock.advance(seconds=61)
    assert room.go_round() == 0


def test_a_page_that_changes_starts_it(room: Room, web: dict[str, Any]) -> None:
    shown = deploy(room, "{type: http_poll, url: 'https://example.com/a', seconds: 60}")
    for body, expected in ((b"one", 0), (b"one", 0), (b"two", 1)):
        web["body"] = body
        assert room.go_round() == expected
        room.installation.clock.advance(seconds=61)
    assert events(room, shown)[0].document["data"]["content"] == "two"


def test_a_list_in_json_starts_it_for_each_new_entry(room: Room, web: dict[str, Any]) -> None:
    deploy(room, "{type: http_poll, url: 'https://example.com/a', seconds: 60, items: orders}")
    web["body"] = b'{"orders": [{"id": 1}]}'
    assert room.go_round() == 0
    web["body"] = b'{"orders": [{"id": 1, "late": true}, {"id": 2}, {"id": 3}]}'
    room.installation.clock.advance(seconds=61)
    assert room.go_round() == 2


def test_a_poll_that_fails_says_since_when_and_why_and_comes_back_later(
    room: Room, web: dict[str, Any]
) -> None:
    shown = deploy(room, "{type: http_poll, url: 'https://example.com/a', seconds: 60}")
    web["body"] = feed(1)
    room.go_round()
    web["status"] = 503
    clock = room.installation.clock
    waits = []
    for _ in range(4):
        clock.advance(minutes=2)
        room.go_round()
        found = fresh(room, shown)
        waits.append((found.next_at - clock.now()).total_seconds())
    assert waits == [5, 10, 20, 40]
    assert found.failing_why == "example.com answered with status 503."
    assert (clock.now() - found.failing_since).total_seconds() == 360
    notes = room.installation.steward.identity.notifications.page(room.editor.access)
    assert [each.title for each in notes] == ["Plain: trigger poll does not reach its source"]
    # Nothing was missed meanwhile: the cursor has not moved.
    web |= {"status": 200, "body": feed(2, 1)}
    clock.advance(minutes=2)
    assert room.go_round() == 1
    assert fresh(room, shown).failing_since is None


def test_bombs_in_feeds_are_not_unpacked(room: Room, web: dict[str, Any]) -> None:
    shown = deploy(room, "{type: http_poll, url: 'https://example.com/a', seconds: 60}")
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss><item>&b;</item></rss>'
    web["body"] = bomb
    assert room.go_round() == 0
    assert fresh(room, shown).failing_why is None
    web["body"] = b"x" * (3 << 20)
    room.installation.clock.advance(seconds=61)
    room.go_round()
    assert "more than 2,097,152 bytes" in fresh(room, shown).failing_why


def test_a_cursor_does_not_move_before_what_was_found_is_stored(
    room: Room, web: dict[str, Any]
) -> None:
    shown = deploy(room, "{type: http_poll, url: 'https://example.com/a', seconds: 60}")
    web["body"] = feed(1)
    room.go_round()
    web["body"] = feed(2, 1)
    room.installation.clock.advance(seconds=61)

    class Crash(BaseException):
        pass

    def crash(name: str) -> None:
        if name == "triggers.taken":
            raise Crash

    install(crash)
    try:
        with pytest.raises(Crash):
            room.go_round()
    finally:
        install(None)
    assert events(room, shown) == []
    room.installation.clock.advance(seconds=61)
    assert room.go_round() == 1


def test_files_of_a_folder_start_it_once_they_are_whole(room: Room, tmp_path: Path) -> None:
    services = room.installation.steward.services
    services.add(FOLDERS.of(Folders.of([str(tmp_path)])))
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    (incoming / "old.csv").write_text("a\n")
    shown = deploy(room, f"{{type: folder, path: '{incoming}', pattern: '*.csv', seconds: 10}}")

    def later() -> int:
        room.installation.clock.advance(seconds=11)
        return room.go_round()

    room.go_round()
    (incoming / "new.csv").write_text("a\n")
    (incoming / "new.txt").write_text("a\n")
    (incoming / "link.csv").symlink_to("/etc/passwd")
    assert later() == 0
    (incoming / "new.csv").write_text("a\n1\n")
    assert later() == 0
    assert later() == 1
    assert later() == 0
    assert events(room, shown)[0].document["data"]["name"] == "new.csv"


def test_a_file_with_a_name_that_is_no_text_starts_it_too(room: Room, tmp_path: Path) -> None:
    """Its name is half a character in Python, which neither journals nor databases take."""
    services = room.installation.steward.services
    services.add(FOLDERS.of(Folders.of([str(tmp_path)])))
    shown = deploy(room, f"{{type: folder, path: '{tmp_path}', pattern: '*.csv', seconds: 10}}")
    room.go_round()
    Path(os.fsdecode(bytes(tmp_path) + b"/bad-\xff.csv")).write_text("a\n")
    started = 0
    for _ in range(3):
        room.installation.clock.advance(seconds=11)
        started += room.go_round()
    assert started == 1
    assert events(room, shown)[0].document["data"]["name"] == "bad-\ufffd.csv"


def test_only_folders_that_are_open_are_looked_at(room: Room) -> None:
    shown = deploy(room, "{type: folder, path: /etc}")
    room.go_round()
    assert "is not in a folder that connections may read" in fresh(room, shown).failing_why


def test_messages_of_nats_are_acknowledged_once_they_are_stored(room: Room, tmp_path: Path) -> None:
    import nats

    services = room.installation.steward.services
    services.add(HTTP.of(Http(allow_private=["127.0.0.1"])))
    with NatsServer(tmp_path / "nats") as server:
        room.installation.steward.secrets.set(
            room.editor.access.scope, "nats_url", server.url, author="test"
        )

        async def publish(*bodies: bytes) -> None:
            client = await nats.connect(server.url)
            stream = client.jetstream()
            await stream.add_stream(name="ORDERS", subjects=["orders.>"])
            for number, body in enumerate(bodies):
                await stream.publish("orders.new", body, headers={"Nats-Msg-Id": f"m{number}"})
            await client.close()

        asyncio.run(publish(b'{"n": 1}', b'{"n": 2}'))
        shown = deploy(room, "{type: nats, url_secret: nats_url, stream: ORDERS}")
        assert room.go_round() == 2, fresh(room, shown).failing_why
        room.installation.clock.advance(seconds=30)
        assert room.go_round() == 0
    assert [each.document["data"] for each in events(room, shown)] == [{"n": 1}, {"n": 2}]
    assert all(each.state is EventState.running for each in events(room, shown))
    room.installation.clock.advance(seconds=30)
    room.go_round()
    assert "NATS did not answer" in (fresh(room, shown).failing_why or "")


def test_notices_of_postgresql_are_heard(room: Room) -> None:
    database = room.installation.steward.database
    if database.is_sqlite:
        pytest.skip("needs PostgreSQL")
    url = database.url.set(drivername="postgresql").render_as_string(hide_password=False)

    async def heard() -> list[str]:
        notices = Notices(url, None, "orders")
        waiting = asyncio.create_task(notices.next(20, 10))
        sender = await asyncio.to_thread(_notify, url, waiting)
        found = await waiting
        await notices.close()
        return [sender, *(each.payload for each in found)]

    sent, *payloads = asyncio.run(heard())
    assert payloads[:1] == [sent]


def _notify(url: str, waiting: "asyncio.Task[Any]") -> str:
    """Sends until somebody has heard it."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        while not waiting.done():
            connection.execute("NOTIFY orders, '{\"n\": 1}'")
    return '{"n": 1}'


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://127.0.0.1/x", "only public addresses"),
        ("postgresql:///x", "is not an address"),
        ("postgresql://a,b/x", "is not an address"),
        ("postgresql://example.com/x?hostaddr=127.0.0.1", "is not an address"),
        (None, "is not set"),
    ],
)
def test_a_database_inside_is_not_called(room: Room, address: str | None, said: str) -> None:
    if address is not None:
        room.installation.steward.secrets.set(
            room.editor.access.scope, "db", address, author="test"
        )
    shown = deploy(room, "{type: postgres_notify, url_secret: db, channel: orders}")
    room.go_round()
    assert said in fresh(room, shown).failing_why.lower()


def test_each_message_in_the_chat_that_fits_starts_it_once(room: Room) -> None:
    threads = room.installation.steward.threads
    threads.begin(room.editor.access, "before it was deployed")
    shown = deploy(room, "{type: chat_message, contains: '@Orders'}")
    assert room.go_round() == 0
    thread, run = threads.begin(room.editor.access, "Please tell @orders of it")
    threads.begin(room.editor.access, "Not for anyone")
    assert room.go_round() == 1
    assert room.go_round() == 0
    [event] = events(room, shown)
    assert event.document["data"] == {
        "text": "Please tell @orders of it",
        "thread": thread.id,
        "run": run.id,
        "by": room.editor.access.user_id,
        "attachments": [],
    }
    # Runs that it starts are no messages.
    room.drive()
    assert room.go_round() == 0
