"""Mail as a source of triggers, against real IMAP servers: each mail one event, attachments kept, bombs bounded."""

import asyncio
from collections.abc import Iterator
from email.message import EmailMessage
from email.utils import make_msgid

import pytest

from steward.connections import Draft, Http
from steward.core.faults import install
from steward.identity import Access
from steward.playbooks import EventState, Shown
from steward.tools import HTTP
from tests.cli.terminal import until
from tests.connections.outside import certificates
from tests.connections.postboxes import HOST, PASSWORD, SERVERS, PostBox, missing
from tests.playbooks.conftest import Room
from tests.playbooks.test_trigger_sources import deploy, events, fresh

TRIGGER = "{type: email, connection: mailbox}"


@pytest.fixture(scope="module", params=sorted(SERVERS))
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PostBox]:
    why = missing(request.param)
    if why is not None:
        pytest.skip(why)
    folder = tmp_path_factory.mktemp(request.param)
    made = certificates(folder, HOST)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(folder / "server.pem"))
        with SERVERS[request.param](folder, made.client) as box:
            yield box


@pytest.fixture
def box(room: Room, running: PostBox) -> PostBox:
    running.empty()

    async def resolve(_name: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    services = room.installation.steward.services
    services.add(HTTP.of(Http(resolve=resolve, allow_private=[HOST])))
    connect(room, running, PASSWORD)
    return running


def admin(room: Room) -> Access:
    return room.installation.owner.access


def connect(room: Room, box: PostBox, password: str) -> None:
    draft = Draft("mailbox", "imap", box.settings, values={"password": password})
    room.installation.steward.connections.documents.create(admin(room), draft)


def letter(subject: str, text: str = "Hello", **files: bytes) -> bytes:
    made = EmailMessage()
    made["From"] = "Grace Höpper <grace@example.com>"
    made["To"] = "ada@mail.example"
    made["Subject"] = subject
    made["Date"] = "Mon, 02 Mar 2026 09:00:00 +0100"
    made["Message-ID"] = make_msgid(domain="example.com")
    made.set_content(text)
    for name, content in files.items():
        made.add_attachment(
            content, maintype="text", subtype="csv", filename=name.replace("_", ".")
        )
    return made.as_bytes()


def listening(room: Room, trigger: str = TRIGGER) -> Shown:
    shown = deploy(room, trigger)
    look(room, shown)
    return shown


def look(room: Room, shown: Shown) -> int:
    room.installation.clock.advance(seconds=120)
    started = room.go_round()
    assert fresh(room, shown).failing_why is None
    return started


def test_each_mail_is_one_event_with_its_attachments(room: Room, box: PostBox) -> None:
    box.deliver(letter("old"))
    shown = listening(room)
    assert events(room, shown) == []
    box.deliver(letter("Größe", "Guten Tag", orders_csv=b"a,b\n1,2\n"), letter("two"))
    assert look(room, shown) == 2
    assert look(room, shown) == 0
    first, second = (each.document["data"] for each in events(room, shown))
    assert first["from"] == {"name": "Grace Höpper", "address": "grace@example.com"}
    assert (first["subject"], first["text"]) == ("Größe", "Guten Tag")
    assert first["sent_at"] == "2026-03-02T08:00:00+00:00"
    assert second["attachments"] == []
    [file] = first["attachments"]
    assert (file["name"], file["type"], file["bytes"]) == ("orders.csv", "text/csv", 8)
    found = room.installation.steward.workbench.bringing.inspect(
        room.editor.access.scope, file["upload"]
    )
    assert [column.name for column in found.columns] == ["a", "b"]
    # The mailbox is as it was.
    assert not any(b"Seen" in each for each in box.flags())


def test_mail_that_was_there_before_is_taken_if_asked(room: Room, box: PostBox) -> None:
    box.deliver(*(letter(f"n{number}") for number in range(25)))
    shown = deploy(room, "{type: email, connection: mailbox, start: all, then: mark_read}")
    for _ in range(3):
        look(room, shown)
    subjects = [each.document["data"]["subject"] for each in events(room, shown)]
    assert subjects == [f"n{number}" for number in range(25)]
    assert all(b"Seen" in each for each in box.flags())


@pytest.mark.parametrize("moment", ["triggers.taken", "triggers.stored"])
def test_a_crash_neither_loses_a_mail_nor_runs_it_twice(
    room: Room, box: PostBox, moment: str
) -> None:
    shown = listening(room)
    box.deliver(letter("one"), letter("two"))

    class Crash(BaseException):
        pass

    def crash(name: str) -> None:
        if name == moment:
            raise Crash

    install(crash)
    try:
        with pytest.raises(Crash):
            room.go_round()
    finally:
        install(None)
    look(room, shown)
    look(room, shown)
    subjects = [each.document["data"]["subject"] for each in events(room, shown)]
    assert subjects == ["one", "two"]


def test_a_mailbox_with_new_numbers_runs_nothing_again(room: Room, box: PostBox) -> None:
    if box.rebuild is None:
        pytest.skip("keeps its numbers")
    shown = listening(room)
    box.deliver(letter("one"))
    look(room, shown)
    before = fresh(room, shown).cursor["validity"]
    box.rebuild()
    box.deliver(letter("two"))
    look(room, shown)
    assert fresh(room, shown).cursor["validity"] != before
    subjects = [each.document["data"]["subject"] for each in events(room, shown)]
    assert subjects == ["one", "two"]


def test_bombs_are_held_and_stop_no_other_mail(room: Room, box: PostBox) -> None:
    if box.rebuild is None:
        pytest.skip("pymap breaks at them itself")
    shown = listening(room)
    deep = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (each, each)
        for each in range(2_000)
    )
    lines = b"Subject: lines\n\n" + b"\n" * 1_100_000
    wide = b"Subject: wide\nContent-Type: multipart/mixed; boundary=x\n\n" + (
        b"--x\nContent-Disposition: attachment; filename=a.txt\n\na\n" * 400
    )
    box.deliver(b"Subject: deep\nFrom: a@b.example\n" + deep, lines, wide, letter("well"))
    look(room, shown)
    look(room, shown)
    found = {each.document["data"]["subject"]: each for each in events(room, shown)}
    assert {name: each.state for name, each in found.items()} == {
        "deep": EventState.held,
        "lines": EventState.held,
        "wide": EventState.held,
        "well": EventState.running,
    }
    assert "nested" in (found["deep"].reason or "")
    assert found["wide"].document["data"]["attachments"] == []


def test_a_mail_that_is_too_large_is_not_fetched(
    room: Room, box: PostBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.connections.mailbox.MOST_MAIL_BYTES", 20_000)
    shown = listening(room)
    box.deliver(letter("large", "x" * 30_000), letter("small"))
    look(room, shown)
    large, small = events(room, shown)
    assert (large.document["data"]["subject"], large.state) == ("large", EventState.held)
    assert large.document["data"]["text"] == ""
    assert small.state is EventState.running


def test_attachments_leave_room_for_uploads_of_people(
    room: Room, box: PostBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    bringing = room.installation.steward.workbench.bringing
    limits = bringing._uploads._limits
    monkeypatch.setattr(bringing._uploads, "_limits", type(limits)(sessions=4))
    shown = listening(room)
    box.deliver(letter("two", a_csv=b"a\n", b_csv=b"a\n"), letter("one", c_csv=b"a\n"))
    room.installation.clock.advance(seconds=120)
    room.go_round()
    assert "Too many attachments" in fresh(room, shown).failing_why
    bringing.take(room.editor.access.scope, "mine.csv", [b"a\n"])
    # Nothing was lost: it goes on when there is room.
    room.installation.clock.advance(days=3)
    bringing.expire_uploads()
    monkeypatch.setattr(bringing._uploads, "_limits", limits)
    look(room, shown)
    assert len(events(room, shown)) == 2


def test_a_wrong_password_is_named_and_not_shown(room: Room, box: PostBox) -> None:
    documents = room.installation.steward.connections.documents
    found = documents.named(admin(room).scope, "mailbox")
    documents.delete(admin(room), found.id)
    connect(room, box, "wrong-password")
    shown = deploy(room, TRIGGER)
    room.go_round()
    said = fresh(room, shown).failing_why
    assert "refused the user name or password" in said
    assert "wrong-password" not in said


def test_folders_and_connections_that_are_not_there_are_named(room: Room, box: PostBox) -> None:
    shown = deploy(room, "{type: email, connection: mailbox, folder: Nowhere}")
    room.go_round()
    assert "no folder 'Nowhere'" in fresh(room, shown).failing_why


def test_a_mail_wakes_a_trigger_that_waits(room: Room, box: PostBox) -> None:
    """The server says that it arrived; nobody looks at intervals."""
    shown = listening(room)

    async def watched() -> None:
        serving = asyncio.create_task(room.playbooks.triggers.watch.serve())
        try:
            await asyncio.to_thread(box.deliver, letter("now"))
            await asyncio.to_thread(until, lambda: events(room, shown), what="the event")
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)

    asyncio.run(watched())
    assert [each.document["data"]["subject"] for each in events(room, shown)] == ["now"]


def test_a_server_inside_is_not_called(room: Room, box: PostBox) -> None:
    services = room.installation.steward.services
    services.add(HTTP.of(Http(resolve=services["http"]._resolve)))
    shown = deploy(room, TRIGGER)
    room.go_round()
    assert "Only public addresses" in fresh(room, shown).failing_why
