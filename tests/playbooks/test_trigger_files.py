"""Files that arrive in buckets and on servers start playbooks: each once, fetched as an upload, none passed over."""

import asyncio
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from steward.connections import Draft, Http, HttpAnswer
from steward.connections.types import s3
from steward.core.errors import TooLarge, Unavailable
from steward.core.faults import install
from steward.playbooks import EventState
from steward.playbooks.triggers import arriving_files
from steward.tools import HTTP
from tests.playbooks.conftest import Room
from tests.playbooks.test_trigger_sources import deploy, events, fresh, look

KEYS = {"access_key_id": "key-0123456789", "secret_access_key": "not-told-0123456789"}
TRIGGER = "{type: bucket, connection: files, prefix: in/, pattern: '*.csv', seconds: 60}"


class CountingHttp(Http):
    """Keeps the addresses that were asked for."""

    def __init__(self) -> None:
        super().__init__(allow_private=["127.0.0.1"])
        self.asked: list[str] = []

    async def request(self, method: str, url: str, **more: Any) -> HttpAnswer:
        self.asked.append(url)
        return await super().request(method, url, **more)

    def listings(self) -> int:
        """Since the last time this was asked."""
        count = sum("list-type" in each for each in self.asked)
        self.asked.clear()
        return count


@pytest.fixture(scope="module")
def storage() -> Iterator[str]:
    """A real S3 protocol server, moto's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


class Bucket:
    """Of one test alone."""

    def __init__(self, address: str, name: str) -> None:
        import botocore.session

        self.name = name
        self._client = botocore.session.Session().create_client(
            "s3",
            region_name="us-east-1",
            endpoint_url=address,
            aws_access_key_id=KEYS["access_key_id"],
            aws_secret_access_key=KEYS["secret_access_key"],
        )
        self._client.create_bucket(Bucket=name)

    def put(self, key: str, body: bytes) -> None:
        self._client.put_object(Bucket=self.name, Key=key, Body=body)


@pytest.fixture
def bucket(room: Room, storage: str, tmp_path: Path) -> Bucket:
    services = room.installation.steward.services
    services.add(HTTP.of(Http(allow_private=["127.0.0.1"])))
    name = f"drop-{abs(hash(str(tmp_path)))}"
    settings = {"bucket": name, "endpoint": storage}
    draft = Draft("files", "s3", settings, values=KEYS)
    room.installation.steward.connections.documents.create(room.installation.owner.access, draft)
    return Bucket(storage, name)


def _go_on(room: Room) -> int:
    room.installation.clock.advance(seconds=61)
    return room.go_round()


def _columns(room: Room, upload: str) -> list[str]:
    """Of the file, as it would be loaded."""
    bringing = room.installation.steward.workbench.bringing
    found = bringing.inspect(room.editor.access.scope, upload)
    return [each.name for each in found.columns]


def test_each_object_of_a_bucket_starts_it_once_with_the_file(room: Room, bucket: Bucket) -> None:
    bucket.put("in/old.csv", b"a\n0\n")
    shown = deploy(room, TRIGGER)
    assert room.go_round() == 0
    bucket.put("in/new.csv", b"a\n1\n")
    bucket.put("in/other.txt", b"no")
    bucket.put("elsewhere/new.csv", b"no")
    assert _go_on(room) == 1
    assert _go_on(room) == 0
    bucket.put("in/new.csv", b"c\n22\n")
    bucket.put("in/deeper/b.csv", b"b\n1\n")
    assert _go_on(room) == 2
    found = [each.document["data"] for each in events(room, shown)]
    assert [(each["path"], each["name"], each["bytes"]) for each in found] == [
        (f"s3://{bucket.name}/in/new.csv", "new.csv", 4),
        (f"s3://{bucket.name}/in/deeper/b.csv", "b.csv", 4),
        (f"s3://{bucket.name}/in/new.csv", "new.csv", 5),
    ]
    assert [_columns(room, each["upload"]) for each in found] == [["a"], ["b"], ["c"]]


def test_a_cursor_does_not_move_before_the_events_are_stored(room: Room, bucket: Bucket) -> None:
    shown = deploy(room, TRIGGER.replace("seconds", "start: all, seconds"))
    for number in range(3):
        bucket.put(f"in/{number}.csv", b"a\n")

    class Crash(BaseException):
        pass

    def crash(name: str) -> None:
        if name == "triggers.taken":
            raise Crash

    before = fresh(room, shown).cursor
    install(crash)
    try:
        with pytest.raises(Crash):
            room.go_round()
    finally:
        install(None)
    assert (events(room, shown), fresh(room, shown).cursor) == ([], before)
    assert _go_on(room) == 3
    assert _go_on(room) == 0


def test_more_files_than_one_look_takes_are_taken_in_turn(
    room: Room, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arriving_files, "_MOST_AT_ONCE", 2)
    shown = deploy(room, TRIGGER.replace("seconds", "start: all, seconds"))
    for number in range(5):
        bucket.put(f"in/{number}.csv", b"a\n")
    counts = [room.go_round() for _ in range(4)]
    assert sum(counts) == 5
    assert len({each.document["data"]["path"] for each in events(room, shown)}) == 5


def test_one_listing_serves_all_its_files(
    room: Room, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arriving_files, "_MOST_AT_ONCE", 5)
    http = _counting(room)
    shown = deploy(room, TRIGGER.replace("seconds", "start: all, seconds"))
    for number in range(23):
        bucket.put(f"in/{number}.csv", b"a\n")
    look(room, shown)
    assert len(http.asked) == 1 + 23
    assert http.listings() == 1
    assert len({each.document["data"]["path"] for each in events(room, shown)}) == 23
    room.installation.clock.advance(seconds=61)
    look(room, shown)
    assert len(http.asked) == http.listings() == 1


def test_files_that_were_fetched_are_stored_before_a_failure_is_told(
    room: Room, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        bucket.put(f"in/{number}.csv", b"a\n")
    fetch, broken = arriving_files.ArrivingFiles._arrival, ["in/2.csv"]

    async def arrival(self: Any, name: str, mark: str) -> Any:
        if name in broken:
            raise Unavailable("The line is down.")
        return await fetch(self, name, mark)

    monkeypatch.setattr(arriving_files.ArrivingFiles, "_arrival", arrival)
    shown = deploy(room, TRIGGER.replace("seconds", "start: all, seconds"))
    look(room, shown)
    assert [each.document["data"]["name"] for each in events(room, shown)] == ["0.csv", "1.csv"]
    assert fresh(room, shown).failing_why == "The line is down."
    broken.clear()
    room.installation.clock.advance(hours=1)
    look(room, shown)
    assert len(events(room, shown)) == 4


@pytest.mark.parametrize(
    ("start", "files", "asked"),
    [
        ("new", 12, 2),
        ("all", 12, 2),
        pytest.param("new", 1_050, 3, marks=pytest.mark.battery, id="pages"),
    ],
)
def test_a_bucket_with_ascending_names_is_asked_only_for_what_comes_after(
    room: Room, bucket: Bucket, start: str, files: int, asked: int
) -> None:
    for number in range(files):
        bucket.put(f"in/2026-01-{number:04}.csv", b"a\n")
    http = _counting(room)
    trigger = TRIGGER.replace("seconds", f"ascending: true, start: {start}, seconds")
    shown = deploy(room, trigger)
    look(room, shown)
    before = files if start == "all" else 0
    assert len(events(room, shown)) == before
    assert http.listings() == asked
    bucket.put("in/2026-02-0001.csv", b"a\n")
    bucket.put("in/2026-02-0002.txt", b"a\n")
    room.installation.clock.advance(seconds=61)
    look(room, shown)
    # One finds them, one finds that there are no more.
    assert http.listings() == 2
    assert events(room, shown)[-1].document["data"]["name"] == "2026-02-0001.csv"
    room.installation.clock.advance(seconds=61)
    look(room, shown)
    assert http.listings() == 1
    assert len(events(room, shown)) == before + 1


def _counting(room: Room) -> CountingHttp:
    http = CountingHttp()
    room.installation.steward.services.add(HTTP.of(http))
    return http


def test_a_file_that_is_too_large_waits_for_a_person(
    room: Room, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arriving_files, "MOST_BYTES", 3)
    shown = deploy(room, TRIGGER)
    room.go_round()
    bucket.put("in/large.csv", b"a\n1234\n")
    _go_on(room)
    [event] = events(room, shown)
    assert event.state is EventState.held
    assert event.document["data"]["upload"] is None


def test_too_many_files_and_wrong_keys_are_told(
    room: Room, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arriving_files, "MOST_FILES", 1)
    shown = deploy(room, TRIGGER)
    bucket.put("in/1.csv", b"a\n")
    bucket.put("in/2.csv", b"a\n")
    room.go_round()
    assert "Narrow the pattern" in str(fresh(room, shown).failing_why)


def test_a_listing_is_followed_page_by_page_and_bounded() -> None:
    pages = {
        "": "<R><Contents><Key>a/</Key></Contents><Contents><Key>a/b</Key><Size>2</Size></Contents>"
        "<NextContinuationToken>t</NextContinuationToken></R>",
        "t": '<R xmlns="x"><Contents><Key>a/c</Key><Size>3</Size><ETag>"e"</ETag></Contents></R>',
    }

    async def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, text=pages[request.url.params.get("continuation-token", "")])

    async def resolve(_name: str, _port: int) -> list[str]:
        return ["93.184.215.14"]

    http = Http(transport=httpx2.MockTransport(answer), resolve=resolve)
    settings = s3.S3Settings(bucket="drop")
    listed = s3.list_objects(http, settings, KEYS, "a/", most=5)
    assert asyncio.run(listed) == {"a/b": "2::", "a/c": "3::e"}
    with pytest.raises(TooLarge):
        asyncio.run(s3.list_objects(http, settings, KEYS, "a/", most=0))
