"""Tools that use connections by name: rows come and nothing changes there; messages go where the connection says."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlalchemy as sa

from steward.broker.tool import ToolContext
from steward.connections import Connection, Draft, Http, Mailer
from steward.connections.folders import Folders
from steward.core import reaching_for
from steward.core.errors import Conflict, Denied, Invalid, Misconfigured, NotFound, StewardError
from steward.identity import Access, Principal, Role, Via
from steward.ingest.foreign_sql import fenced
from steward.ingest.reach import INSIDE
from steward.testing import PostgresServer
from steward.testing.tools import Trial, check_call
from steward.tools import load_tools
from tests.connections.drafts import as_draft
from tests.connections.outside import Heard, certificates, ok, redirect, serving
from tests.connections.post import office
from tests.tools.conftest import room, sample_home
from tests.tools.room import Room, run

__all__ = ["room", "sample_home"]

HTTP = Http(allow_private=["127.0.0.1"])
PASSWORD = "hunter2-and-more"


def _access(room: Room) -> Access:
    principal = Principal(room.author, "owner@example.com", "Olga", Via.session)
    return Access(principal, room.scope, Role.owner)


def _connect(
    room: Room, name: str, kind: str, settings: dict[str, Any], **values: str
) -> Connection:
    draft = Draft(name, kind, settings, values=values)
    return room.steward.connections.documents.create(_access(room), draft)


def _context(room: Room, **services: Any) -> ToolContext:
    desk = room.steward.connections
    desk.around = desk.health.around = replace(desk.around, http=HTTP)
    known: dict[str, Any] = {"connections": desk, "http": HTTP}
    return room.context(ticket="call", **(known | services))


# Databases


@pytest.fixture
def files(room: Room, tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    desk = room.steward.connections
    desk.around = desk.health.around = replace(desk.around, folders=Folders.of([str(folder)]))
    with sqlite3.connect(folder / "shop.db") as made:
        made.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, who TEXT)")
        made.executemany("INSERT INTO orders (who) VALUES (?)", [(f"w{n}",) for n in range(30)])
    made.close()
    duck = duckdb.connect(str(folder / "shop.duckdb"))
    duck.execute(
        "CREATE TABLE orders AS SELECT range AS id, 1.50::DECIMAL(9,2) AS sum FROM range(3)"
    )
    duck.close()
    return folder


def test_files_are_asked_and_stay_as_they_are(room: Room, files: Path) -> None:
    for name, rows in (
        ("shop.db", [[30, "w29"], [29, "w28"]]),
        ("shop.duckdb", [[2, "1.50"], [1, "1.50"]]),
    ):
        before = (files / name).read_bytes()
        kind = name.partition(".")[2]
        _connect(room, f"the_{kind}", "database_file", {"path": str(files / name)})
        asked = {
            "connection": f"the_{kind}",
            "sql": "SELECT * FROM orders ORDER BY id DESC -- last",
            "limit": 2,
        }
        trial = Trial(_context(room), asked)
        outcome = run(check_call(load_tools().get("query_connection"), trial))
        assert (outcome.value["rows"], outcome.value["more"]) == (rows, True)
        assert (outcome.trusted, outcome.sources) == (False, (f"connection:the_{kind}",))
        with pytest.raises(Denied):
            room.call("query_connection", {**asked, "sql": "DELETE FROM orders"}, _context(room))
        assert (files / name).read_bytes() == before


def test_a_table_of_a_file_becomes_a_dataset(room: Room, files: Path) -> None:
    _connect(room, "shop", "database_file", {"path": str(files / "shop.db")})
    call = {"connection": "shop", "table": "orders", "dataset": "orders"}
    context = _context(room)
    outcome = run(check_call(load_tools().get("load_from_connection"), Trial(context, call)))
    assert outcome.value["counts"] == {"rows": 30, "rejected": 0}
    for wrong in ({"table": None}, {"object": "x"}):
        with pytest.raises(Invalid, match="say which table"):
            room.preview("load_from_connection", {**call, **wrong}, context)


@pytest.fixture(scope="module")
def server(postgres: PostgresServer) -> Iterator[dict[str, Any]]:
    """A database with something to read, something to break, and a function that writes."""
    with postgres.database(None) as url:
        engine = sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"))
        with engine.begin() as made:
            made.exec_driver_sql(
                "CREATE TABLE orders (id integer PRIMARY KEY, amount numeric(10,2));"
                "INSERT INTO orders VALUES (1, 1.10), (2, 2.20);"
                "CREATE FUNCTION evil() RETURNS integer LANGUAGE sql AS "
                "'INSERT INTO orders VALUES (9, 9) RETURNING id';"
            )
        parts = sa.make_url(url)
        yield {
            "host": parts.host or parts.query["host"],
            "database": parts.database,
            "user": parts.username,
            **({"port": parts.port} if parts.port else {}),
        }
        with engine.begin() as seen:
            assert seen.exec_driver_sql("SELECT count(*) FROM orders").scalar() == 2
        engine.dispose()


def test_a_server_is_asked_and_loaded_from(room: Room, server: dict[str, Any]) -> None:
    made = _connect(room, "warehouse", "postgresql", server, password=PASSWORD)
    asked = {"connection": "warehouse", "sql": "SELECT id, amount FROM orders ORDER BY id"}
    outcome = room.call("query_connection", asked, _context(room))
    assert outcome.value["rows"] == [[1, "1.10"], [2, "2.20"]]
    with pytest.raises(StewardError) as wrong:
        room.call(
            "query_connection", {**asked, "sql": "SELECT nothing FROM orders"}, _context(room)
        )
    assert "nothing" in wrong.value.message
    assert PASSWORD not in wrong.value.message
    with pytest.raises(Denied):
        room.call("query_connection", {**asked, "sql": "SELECT evil()"}, _context(room))
    call = {"connection": "warehouse", "table": "orders", "dataset": "orders"}
    context = _context(room)
    preview = room.preview("load_from_connection", call, context)
    # Changed between the preview and the call: refused.
    access = _access(room)
    changed = as_draft(made, scope_hint="another")
    documents = room.steward.connections.documents
    documents.change(access, made.id, made.revision, changed)
    with pytest.raises(Conflict, match="changed since the preview"):
        room.call("load_from_connection", call, room.after(context, preview))
    with reaching_for(room.scope):
        outcome = run(check_call(load_tools().get("load_from_connection"), Trial(context, call)))
    assert outcome.value["counts"]["rows"] == 2
    assert PASSWORD not in str(outcome)


def test_the_session_is_read_only_by_itself(
    room: Room, server: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the fence around statements the server still refuses to write."""
    from steward.connections import load_connectors
    from steward.ingest import querying, reading

    connector = load_connectors().get("postgresql")
    assert connector.database is not None
    place = connector.database(
        room.steward.connections.around, connector.settings(**server), {"password": "x"}
    )
    monkeypatch.setattr(querying, "fenced", lambda sql, _kind, _most: sql)
    with pytest.raises(StewardError, match="read-only transaction"):
        reading.query(place.url or "", "it", "SELECT evil()", 1, reach=INSIDE)


@pytest.mark.parametrize("kind", ["postgresql", "mysql", "sqlite", "duckdb"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1; DROP TABLE t",
        "INSERT INTO t VALUES (1)",
        "UPDATE t SET a = 1",
        "CREATE TABLE x (a INT)",
        "SELECT * INTO x FROM t",
        "SELECT * FROM t FOR UPDATE",
        "SELECT lo_export(1, '/tmp/x')",
        "SELECT LOAD_FILE('/etc/passwd')",
        "SELECT SLEEP(9)",
        "SELECT BENCHMARK(1, 2)",
        "SELECT dblink('x', 'y')",
        'SELECT "pg_sleep"(1)',
        "SELECT pg_catalog.pg_read_file('x')",
        "SELECT * FROM mysql.user",
        "SELECT a FROM t WHERE b IN (SELECT pg_ls_dir('/'))",
        "SET x = 1",
        "CALL f()",
        "EXPLAIN ANALYZE SELECT 1",
        "",
        "SELECT FROM WHERE",
        "SELECT * FROM pg_shadow",
        "WITH x AS (INSERT INTO t VALUES (3) RETURNING *) SELECT * FROM x",
    ],
)
def test_the_fence_lets_nothing_through_but_reading(kind: str, sql: str) -> None:
    with pytest.raises(StewardError):
        fenced(sql, kind, 10)


def test_the_fence_writes_the_question_anew() -> None:
    assert fenced("SELECT /*!50000 SLEEP(5), */ a FROM t", "mysql", 5) == "SELECT a FROM t LIMIT 5"
    assert fenced("SELECT a FROM t LIMIT 3", "postgresql", 5) == "SELECT a FROM t LIMIT 3"
    assert fenced("SELECT a FROM t LIMIT 9", "postgresql", 5).endswith(") AS asked LIMIT 5")
    both = fenced("SELECT a FROM t UNION ALL SELECT b FROM u", "postgresql", 5)
    assert both == "SELECT a FROM t UNION ALL SELECT b FROM u LIMIT 5"


# Messages


def test_slack_is_written_to_through_a_webhook_s_connection(room: Room) -> None:
    async def work() -> None:
        async with serving(lambda _: ok(b"ok")) as slack:
            place = f"http://127.0.0.1:{slack.port}"
            made = _connect(
                room,
                "ops",
                "slack_webhook",
                {"channel": "#ops", "webhook_hosts": [place]},
                url=f"{place}/services/T0P",
            )
            tool = load_tools().get("send_slack")
            call = {"connection": "ops", "text": "<!channel> margins are in"}
            context = _context(room)
            outcome = await check_call(tool, Trial(context, call, undo=False))
            assert outcome.value == {"sent": True}
            (heard,) = slack.heard
            assert heard.path == "/services/T0P"
            assert json.loads(heard.body)["text"] == "&lt;!channel&gt; margins are in"
            arguments = tool.arguments.model_validate(call)
            assert tool.destination is not None
            assert tool.destination(arguments) == "slack:ops/webhook"
            assert tool.dry_run is not None
            preview = await tool.dry_run(context, arguments)
            assert preview.payload["connection"]["revision"] == made.revision
            assert "T0P" not in str(preview)
            room.steward.connections.documents.change(
                _access(room), made.id, made.revision, as_draft(made, scope_hint="x")
            )
            with pytest.raises(Conflict):
                await tool.run(room.after(context, preview), arguments)
            assert len(slack.heard) == 1

    run(work())


def test_a_bot_s_connection_allows_its_channels_only(room: Room) -> None:
    async def work() -> None:
        async with serving(lambda _: ok(b'{"ok":true,"channel":"C1","ts":"1.2"}')) as slack:
            api = f"http://127.0.0.1:{slack.port}/api"
            settings = {"channels": ["#finance"], "api_url": api}
            _connect(room, "bot", "slack", settings, token="xoxb-1")
            call = {"connection": "bot", "text": "hi", "channel": "#finance"}
            outcome = await room.calling("send_slack", call, _context(room))
            assert outcome.inverse == {"channel": "C1", "ts": "1.2"}
            assert slack.heard[0].headers["authorization"] == "Bearer xoxb-1"
            with pytest.raises(Denied, match="not among those of bot"):
                await room.calling("send_slack", {**call, "channel": "#all"}, _context(room))
            for other in ("absent", "bot2"):
                with pytest.raises(NotFound):
                    await room.calling("send_slack", {**call, "connection": other}, _context(room))

    run(work())


def test_mail_goes_out_through_a_connection(room: Room, tmp_path: Path) -> None:
    made = certificates(tmp_path, "127.0.0.1")

    async def work() -> None:
        async with office(made.server, login=True) as post:
            settings = {
                "host": "127.0.0.1",
                "port": post.port,
                "sender": "steward@example.com",
                "username": "ada",
                "allow_domains": ["example.com"],
            }
            _connect(room, "post", "smtp", settings, password="right")
            mail = Mailer(allow_private=["127.0.0.1"], tls=made.client)
            call = {"connection": "post", "to": ["a@example.com"], "subject": "S", "text": "T"}
            context = _context(room, mail=mail)
            outcome = await check_call(
                load_tools().get("send_email"), Trial(context, call, undo=False)
            )
            assert outcome.value["accepted"] == ["a@example.com"]
            assert post.letters[0]["From"] == "steward@example.com"
            with pytest.raises(Denied, match="the connection post"):
                await room.calling("send_email", {**call, "to": ["a@evil.org"]}, context)

    run(work())


def test_requests_go_to_the_connected_api_and_no_further(room: Room) -> None:
    async def work() -> None:
        async with serving(lambda _: ok(b"inside")) as other:
            away = f"http://127.0.0.1:{other.port}/"

            def answer(heard: Heard) -> bytes:
                return redirect(away) if heard.path == "/v1/away" else ok(b"{}")

            async with serving(answer) as api:
                base = f"http://127.0.0.1:{api.port}/v1"
                settings = {"base_url": base, "authentication": "bearer"}
                _connect(room, "crm", "http_api", settings, token="t0ken")
                call = {"connection": "crm", "url": "/people?page=2"}
                outcome = await check_call(
                    load_tools().get("http_request"), Trial(_context(room), call)
                )
                assert outcome.value["status"] == 200
                assert api.heard[0].path == "/v1/people?page=2"
                assert api.heard[0].headers["authorization"] == "Bearer t0ken"
                assert "t0ken" not in str(outcome)
                for url, error in (("away", Denied), ("../admin", Invalid)):
                    with pytest.raises(error):
                        await room.calling("http_request", {**call, "url": url}, _context(room))
                with pytest.raises(Invalid, match="its own credentials"):
                    await room.calling("http_request", {**call, "bearer": "x"}, _context(room))
                assert other.heard == []

    run(work())


def test_a_connection_of_another_kind_is_no_use(room: Room) -> None:
    _connect(room, "crm", "http_api", {"base_url": "https://api.example.com"})
    calls: dict[str, dict[str, Any]] = {
        "query_connection": {"sql": "SELECT 1"},
        "send_slack": {"text": "x"},
        "send_email": {"to": ["a@example.com"], "subject": "S", "text": "T"},
    }
    for tool, arguments in calls.items():
        with pytest.raises(Invalid, match="cannot use"):
            room.call(tool, {**arguments, "connection": "crm"}, _context(room))


def test_a_connection_without_its_secret_says_so(room: Room) -> None:
    draft = Draft("bot", "slack", {"channels": ["#x"]}, secrets={"token": "absent"})
    room.steward.connections.documents.create(_access(room), draft)
    with pytest.raises((NotFound, Misconfigured), match="absent"):
        room.call("send_slack", {"connection": "bot", "text": "x", "channel": "#x"}, _context(room))
