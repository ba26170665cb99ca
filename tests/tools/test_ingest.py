"""Files become datasets: uploaded ones, and those of allowed addresses."""

from dataclasses import fields
from typing import Any, get_args

import pytest

from steward.connections import Http
from steward.core.errors import Denied, Invalid, NotFound, TooLarge
from steward.ingest import ColumnOption, Options
from steward.tools import FileOptions
from tests.connections.outside import ok, redirect, serving
from tests.tools.room import Room, run

ROWS = b"id;amount\n1;1,50\n2;2,25\n3;x\n"


def _uploaded(room: Room, content: bytes = ROWS) -> str:
    bringing = room.steward.workbench.bringing
    upload = bringing.start(room.scope, "orders.csv", len(content))
    bringing.append(room.scope, upload.id, 0, [content])
    return upload.id


def test_an_upload_is_inspected_then_loaded_then_taken_back(room: Room) -> None:
    arguments: dict[str, Any] = {"dataset": "orders", "upload": _uploaded(room)}
    head = room.workspace.branch().head
    preview = room.preview("ingest", arguments)
    assert [each["name"] for each in preview.details["inspection"]["columns"]] == ["id", "amount"]
    assert preview.summary == "Make orders from orders.csv"
    assert room.workspace.branch().head == head
    outcome = room.call("ingest", arguments)
    assert outcome.value["counts"]["rows"] + outcome.value["counts"]["rejected"] == 3
    assert outcome.value["file"] == "orders.csv"
    assert not outcome.trusted
    assert room.workspace.dataset("orders").version == outcome.value["datasets"]["orders"]
    room.call("undo", {"commit": outcome.commits[0]})
    with pytest.raises(NotFound):
        room.workspace.dataset("orders")


def test_how_a_file_is_read_can_be_corrected(room: Room) -> None:
    arguments = {"dataset": "orders", "upload": _uploaded(room), "reading": {"header_row": 0}}
    outcome = room.call("ingest", arguments)
    assert outcome.value["counts"]["rows"] == 4


def test_a_file_that_cannot_be_read_changes_nothing(room: Room) -> None:
    head = room.workspace.branch().head
    upload = _uploaded(room, b"PAR1oops")
    with pytest.raises(Invalid):
        room.call(
            "ingest", {"dataset": "orders", "upload": upload, "reading": {"format": "parquet"}}
        )
    with pytest.raises(NotFound):
        room.call("ingest", {"dataset": "orders", "upload": "upload_00000000000000000000000000"})
    assert room.workspace.branch().head == head


def test_an_address_is_fetched_only_where_the_project_allows_it(room: Room) -> None:
    async def work() -> None:
        async with serving(
            lambda heard: ok(ROWS) if heard.path != "/r" else redirect("/o.csv")
        ) as server:
            place = f"http://127.0.0.1:{server.port}"
            http = Http(allow_private=["127.0.0.1"])
            call = {"dataset": "orders", "url": f"{place}/r"}
            closed = room.context(http=http)
            with pytest.raises(Denied, match=r"ingest\.allow_urls"):
                await room.calling("ingest", call, closed)
            assert server.heard == []
            allowed = room.context({"ingest": {"allow_urls": [place]}}, http=http)
            outcome = await room.calling("ingest", call, allowed)
            assert outcome.value["file"] == "o.csv"
            assert [heard.path for heard in server.heard] == ["/r", "/o.csv"]

    run(work())
    with pytest.raises(Denied, match=r"ingest\.allow_urls"):
        room.preview("ingest", {"dataset": "orders", "url": "https://a.example/o.csv"})


def test_an_address_that_has_no_file_is_told(room: Room) -> None:
    async def work() -> None:
        async with serving(lambda _: ok(b"", status="404 Not Found")) as server:
            place = f"http://127.0.0.1:{server.port}"
            context = room.context(
                {"ingest": {"allow_urls": [place]}}, http=Http(allow_private=["127.0.0.1"])
            )
            with pytest.raises(Invalid, match="404"):
                await room.calling("ingest", {"dataset": "orders", "url": place}, context)

    run(work())


def test_either_an_upload_or_an_address(room: Room) -> None:
    with pytest.raises(ValueError, match="either an upload or a url"):
        room.call("ingest", {"dataset": "orders"})
    with pytest.raises(ValueError, match="either an upload or a url"):
        room.call("ingest", {"dataset": "orders", "upload": "a", "url": "b"})


def test_a_download_is_bounded(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    from steward.connections import HttpLimits
    from steward.tools import ingest

    monkeypatch.setattr(ingest, "_FETCH", HttpLimits(response_bytes=10))

    async def work() -> None:
        async with serving(lambda _: ok(ROWS)) as server:
            place = f"http://127.0.0.1:{server.port}"
            context = room.context(
                {"ingest": {"allow_urls": [place]}}, http=Http(allow_private=["127.0.0.1"])
            )
            with pytest.raises(TooLarge):
                await room.calling("ingest", {"dataset": "orders", "url": place}, context)

    run(work())


def test_the_options_of_pages_tools_and_terminal_are_those_of_the_reader() -> None:
    assert set(FileOptions.model_fields) == {field.name for field in fields(Options)}
    column = FileOptions.model_fields["columns"].annotation
    assert set(get_args(column)[1].model_fields) == {field.name for field in fields(ColumnOption)}
    assert FileOptions().options() == Options()
