"""A real MariaDB server where one is installed: every type arrives, nothing is written; and servers that mean harm."""

import datetime as dt
import socket
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pytest

from steward import ingest
from steward.connections import Draft
from steward.core.errors import Denied, Invalid, StewardError, Unavailable
from steward.ingest import Limits, Options, mysql, querying, reading
from steward.ingest.address import Address, parse_address
from steward.ingest.reach import INSIDE
from tests.connections.mariadb import AVAILABLE, REASON, MariaServer, mariadb
from tests.connections.outside import certificates
from tests.connections.rogue_mysql import OK, Rogue, greeting, hear, packet, rogue
from tests.connections.test_using import _access, _context
from tests.tools.conftest import room, sample_home
from tests.tools.room import Room, run

__all__ = ["room", "sample_home"]

PASSWORD = "hunter2 \"q\\u'x ü"
live = pytest.mark.skipif(not AVAILABLE, reason=REASON)
MADE = r"""
CREATE DATABASE shop CHARACTER SET utf8mb4;
CREATE USER 'ada'@'%' IDENTIFIED BY 'hunter2 "q\\u''x ü';
GRANT ALL ON shop.* TO 'ada'@'%';
GRANT FILE ON *.* TO 'ada'@'%';
SET GLOBAL time_zone = '+05:00', GLOBAL sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES';
USE shop;
SET sql_mode = '', time_zone = '+00:00';
CREATE TABLE things (
  id BIGINT UNSIGNED PRIMARY KEY, price DECIMAL(20,4), huge DECIMAL(60,10), made DATETIME(6), seen TIMESTAMP(3) NULL,
  day DATE, tod TIME, flag TINYINT(1), small SMALLINT UNSIGNED, padded INT(7) ZEROFILL, n INT UNSIGNED, f FLOAT,
  d DOUBLE, doc JSON, kind ENUM('a','ü'), tags SET('x','y'), raw BLOB, bits BIT(5), yr YEAR, name VARCHAR(100), g POINT
);
INSERT INTO things VALUES
 (18446744073709551615, 1234567890123456.7891, 12345678901234567890123456789012345678901234567890.5,
  '2024-02-29 23:59:59.123456', '2024-01-01 00:00:00.5', '0001-01-01', '-838:59:59', 1, 65535, 42, 4294967295, 0.1,
  0.1, '{"a":[1,"ü"]}', 'ü', 'x,y', x'00ff27', b'10101', 2024, 'naïve 😀 日本 \\ '' "', POINT(1, 2)),
 (1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL),
 (2, 0, 0, '0000-00-00 00:00:00', '0000-00-00 00:00:00', '0000-00-00', '00:00:00', -128, 0, 0, 0, -1.5,
  1.7976931348623157e308, 'null', 'a', '', '', 0, 0, '', NULL),
 (3, -0.0001, -1, '2024-01-01', NULL, '2024-02-00', NULL, 2, 0, 0, 0, 0, 0, '[]', 'a', 'y', 'a', 0, 1901, 'x', NULL);
CREATE TABLE many AS SELECT seq AS id, CAST(seq / 8 AS DECIMAL(12,3)) AS amount, CONCAT('n', seq, ' 😀') AS name
  FROM seq_1_to_100000;
ALTER TABLE many ADD PRIMARY KEY (id);
CREATE VIEW few AS SELECT id FROM many WHERE id < 4;
CREATE TABLE `we``ird "t'` (`a b` INT, `select` INT);
INSERT INTO `we``ird "t'` VALUES (1, 2);
DELIMITER //
CREATE FUNCTION evil() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO many (id) VALUES (0); RETURN 1; END//
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaServer]:
    keys = tmp_path_factory.mktemp("keys")
    certificates(keys, "localhost")
    pem = keys / "server.pem"
    # The path of a socket must be short.
    with (
        TemporaryDirectory(prefix="mdb") as folder,
        mariadb(Path(folder), f"--ssl-cert={pem}", f"--ssl-key={pem}") as made,
    ):
        made.run(MADE)
        yield made


def _at(server: MariaServer, **changes: Any) -> dict[str, Any]:
    found = {"host": "127.0.0.1", "port": server.port, "database": "shop", "user": "ada"}
    return found | changes


def _url(server: MariaServer, tls: str = "prefer", host: str = "127.0.0.1") -> str:
    return f"mysql://ada:hunter2%20%22q%5Cu%27x%20%C3%BC@{host}:{server.port}/shop?sslmode={tls}"


def _rows(path: Path) -> list[tuple[Any, ...]]:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection.execute(f"SELECT * FROM read_parquet('{path}')").fetchall()


# A server that works


@live
def test_every_type_arrives(server: MariaServer, tmp_path: Path) -> None:
    loaded = ingest.load_server(_url(server), Options(table="things"), tmp_path, reach=INSIDE)
    assert (loaded.records, loaded.rows, loaded.rejected) == (4, 3, 1)
    assert {column.name: column.type for column in loaded.columns} == {
        "id": "UBIGINT", "price": "DECIMAL(20,4)", "huge": "VARCHAR", "made": "TIMESTAMP",
        "seen": "TIMESTAMP WITH TIME ZONE", "day": "DATE", "tod": "VARCHAR", "flag": "SMALLINT",
        "small": "BIGINT", "padded": "BIGINT", "n": "BIGINT", "f": "FLOAT", "d": "DOUBLE", "doc": "VARCHAR",
        "kind": "VARCHAR", "tags": "VARCHAR", "raw": "BLOB", "bits": "UBIGINT", "yr": "SMALLINT",
        "name": "VARCHAR", "g": "VARCHAR",
    }  # fmt: skip
    first, zeros, last = _rows(tmp_path / loaded.data)
    assert first == (1, *[None] * 20)
    assert last == (
        2**64 - 1, Decimal("1234567890123456.7891"),
        "12345678901234567890123456789012345678901234567890.5000000000",
        dt.datetime(2024, 2, 29, 23, 59, 59, 123456),  # noqa: DTZ001
        dt.datetime(2024, 1, 1, 0, 0, 0, 500000, tzinfo=dt.UTC), dt.date(1, 1, 1), "-838:59:59", 1, 65535, 42,
        2**32 - 1, pytest.approx(0.1, abs=1e-8), 0.1, '{"a":[1,"ü"]}', "ü", "x,y", b"\x00\xff'", 21, 2024,
        "naïve 😀 日本 \\ ' \"", "POINT(1 2)",
    )  # fmt: skip
    # A date of zeros is no date, and is told; what is no number of days is kept apart.
    assert zeros[3:6] == (None, None, None)
    assert (zeros[7], zeros[12], zeros[16], zeros[18]) == (-128, 1.7976931348623157e308, b"", 0)
    told = {note.column for note in loaded.warnings if note.code == "zero-dates"}
    assert told == {"made", "seen", "day"}
    assert [reject[:3] for reject in _rows(tmp_path / loaded.rejects)] == [(3, "day", "2024-02-00")]


@live
def test_tables_and_views_are_found_and_many_rows_come(server: MariaServer, tmp_path: Path) -> None:
    found = ingest.inspect_server(_url(server), reach=INSIDE)
    assert [each.name for each in found.tables] == ["few", "many", "things", "we`ird \"t'"]
    limits = Limits(memory_mb=512)
    url = _url(server)
    loaded = ingest.load_server(url, Options(table="many"), tmp_path / "a", limits, reach=INSIDE)
    rows = _rows(tmp_path / "a" / loaded.data)
    assert len(rows) == 100_000
    assert rows[0] == (1, Decimal("0.125"), "n1 😀")
    assert rows[-1] == (100_000, Decimal("12500.000"), "n100000 😀")
    odd = Options(table="we`ird \"t'")
    loaded = ingest.load_server(url, odd, tmp_path / "b", reach=INSIDE)
    assert _rows(tmp_path / "b" / loaded.data) == [(1, 2)]


@live
def test_nothing_is_written_even_past_the_fence(
    server: MariaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user may write; the session may not."""
    monkeypatch.setattr(querying, "fenced", lambda sql, _kind, _most: sql)
    for sql in (
        "SELECT evil()",
        "INSERT INTO many (id) VALUES (0)",
        "CREATE TABLE more (a INT)",
        "DROP TABLE many",
    ):
        with pytest.raises(Denied, match="read-only"):
            reading.query(_url(server), "it", sql, 1, reach=INSIDE)
    assert server.run("SELECT count(*) FROM shop.many").strip() == "100000"


@live
def test_a_question_that_takes_too_long_is_stopped_by_the_server(
    server: MariaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(querying, "fenced", lambda sql, _kind, _most: sql)
    sql = "SELECT count(*) FROM many a, many b WHERE a.id * b.id = -1"
    with pytest.raises(Unavailable, match="took too long"):
        reading.query(_url(server), "it", sql, 1, reach=INSIDE, limits=Limits(wall_seconds=1))


@live
def test_connections_are_tried_asked_and_loaded_from(room: Room, server: MariaServer) -> None:
    desk = room.steward.connections
    draft = Draft("shop", "mysql", _at(server), values={"password": PASSWORD})
    made = desk.documents.create(_access(room), draft)
    check = run(desk.health.check(room.scope, made.id, "usr"))
    assert (check.worked, check.code) == (True, "")
    assert check.words.startswith("Signed in to shop: MariaDB 1")
    asked = {"connection": "shop", "sql": "SELECT id, amount FROM many ORDER BY id DESC LIMIT 2"}
    outcome = room.call("query_connection", asked, _context(room))
    assert outcome.value["rows"] == [[100_000, "12500.000"], [99_999, "12499.875"]]
    assert [each["type"] for each in outcome.value["columns"]] == ["BIGINT", "DECIMAL"]
    with pytest.raises(Invalid, match="nothing") as wrong:
        room.call("query_connection", {**asked, "sql": "SELECT nothing FROM many"}, _context(room))
    assert "hunter2" not in wrong.value.message
    for sql in ("SELECT evil()", "SELECT LOAD_FILE('/etc/passwd')", "SELECT * FROM mysql.user"):
        with pytest.raises(Denied):
            room.call("query_connection", {**asked, "sql": sql}, _context(room))
    load = {"connection": "shop", "table": "many", "dataset": "many"}
    context = _context(room)
    preview = room.preview("load_from_connection", load, context)
    outcome = room.call("load_from_connection", load, room.after(context, preview))
    assert outcome.value["counts"] == {"rows": 100_000, "rejected": 0}


@live
@pytest.mark.parametrize(
    ("changes", "words", "code"),
    [
        ({"user": "bob"}, "refuses the user or the password", "source-refused"),
        ({"database": "absent"}, "no database 'absent'", "source-refused"),
        ({"host": "nowhere.invalid"}, "cannot be found", "source-unavailable"),
        ({"port": 1}, "Connection refused", "source-unavailable"),
        ({"tls": "verify-ca"}, "certificate", "source-unavailable"),
        ({"tls": "verify-full"}, "certificate", "source-unavailable"),
    ],
)
def test_what_is_wrong_is_said_and_no_secret(
    room: Room, server: MariaServer, changes: dict[str, Any], words: str, code: str
) -> None:
    desk = room.steward.connections
    draft = Draft("shop", "mysql", _at(server, **changes), values={"password": PASSWORD})
    made = desk.documents.create(_access(room), draft)
    check = run(desk.health.check(room.scope, made.id, "usr"))
    assert (check.worked, check.code) == (False, code)
    assert words in check.words
    assert "hunter2" not in check.words
    assert desk.documents.get(room.scope, made.id).state == "failing"


@live
def test_a_wrong_password_is_refused_and_not_told(room: Room, server: MariaServer) -> None:
    desk = room.steward.connections
    draft = Draft("shop", "mysql", _at(server), values={"password": "hunter3"})
    made = desk.documents.create(_access(room), draft)
    check = run(desk.health.check(room.scope, made.id, "usr"))
    assert (check.worked, check.code) == (False, "source-refused")
    assert "hunter3" not in check.words


@live
def test_encryption_is_as_it_was_asked_for(
    server: MariaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cipher(address: Address) -> str:
        with mysql.mysql_session(address, 10) as session:
            sql = "SELECT variable_value FROM information_schema.session_status WHERE variable_name = 'ssl_cipher'"
            return str(session.ask(sql)[0][0])

    def address(tls: str, host: str = "127.0.0.1") -> Address:
        return replace(parse_address(_url(server, tls, host)), place="127.0.0.1")

    assert cipher(address("disable")) == ""
    assert cipher(address("prefer")) != ""
    assert cipher(address("require")) != ""
    with pytest.raises(Unavailable, match="certificate"):
        cipher(address("verify-full", "localhost"))
    trusted = certificates(tmp_path, "unused").client
    pem = Path(server.run("SELECT @@ssl_cert").strip()).read_text()
    trusted.load_verify_locations(cadata=pem[pem.index("-----BEGIN CERTIFICATE") :])
    monkeypatch.setattr("ssl.create_default_context", lambda: trusted)
    # The certificate is for the name, which the address that is called stands behind.
    assert cipher(address("verify-full", "localhost")) != ""
    trusted.check_hostname = True
    with pytest.raises(Unavailable, match="certificate"):
        cipher(address("verify-full", "127.0.0.1"))


# Servers that mean harm


def _ask(server: Rogue, tls: str = "prefer") -> None:
    url = f"mysql://ada:hunter2@127.0.0.1:{server.port}/shop?sslmode={tls}"
    reading.query(url, "it", "SELECT 1", 1, reach=INSIDE)


def test_no_file_of_this_machine_is_sent(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("do not tell")

    def behave(one: socket.socket, server: Rogue) -> None:
        one.sendall(packet(greeting(), 0))
        hear(one, server)
        one.sendall(packet(OK, 2))
        while hear(one, server):
            one.sendall(packet(b"\xfb" + str(secret).encode(), 1))

    with rogue(behave) as server:
        with pytest.raises(Unavailable):
            _ask(server)
        assert server.heard
        assert not any(b"do not tell" in body for body in server.heard)


@pytest.mark.parametrize("plugin", [b"mysql_clear_password", b"dialog", b"mysql_old_password"])
def test_the_password_is_not_sent_in_the_clear(plugin: bytes) -> None:
    def behave(one: socket.socket, server: Rogue) -> None:
        one.sendall(packet(greeting(), 0))
        hear(one, server)
        one.sendall(packet(b"\xfe" + plugin + b"\x00\x04Password: ", 2))
        hear(one, server)

    with rogue(behave) as server:
        with pytest.raises(Denied, match="in the clear"):
            _ask(server)
        assert not any(b"hunter2" in body for body in server.heard)


def test_a_server_without_encryption_learns_nothing_where_it_is_required() -> None:
    def behave(one: socket.socket, server: Rogue) -> None:
        one.sendall(packet(greeting(), 0))
        hear(one, server)

    with rogue(behave) as server:
        with pytest.raises(Unavailable, match="SSL is required"):
            _ask(server, "require")
        assert server.heard == []


@pytest.mark.parametrize(
    "sent",
    [b"", b"HTTP/1.1 200 OK\r\n\r\n", packet(b"\x0a", 0), packet(b"\xff" * 40, 0), b"\xff" * 5],
)
def test_what_is_no_mysql_server_is_said_to_be_none(sent: bytes) -> None:
    def behave(one: socket.socket, _server: Rogue) -> None:
        one.sendall(sent)

    with rogue(behave) as server, pytest.raises(Unavailable) as found:
        _ask(server)
    assert "hunter2" not in found.value.message


def test_a_server_that_says_nothing_is_left_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mysql, "_CONNECT_SECONDS", 0.2)

    def behave(one: socket.socket, server: Rogue) -> None:
        hear(one, server)

    with rogue(behave) as server, pytest.raises(Unavailable):
        _ask(server)


def test_an_error_that_repeats_the_password_is_told_without_it() -> None:
    def behave(one: socket.socket, server: Rogue) -> None:
        one.sendall(packet(b"\xff\x15\x05#28000you said hunter2, \x1b[31mada", 0))
        hear(one, server)

    with rogue(behave) as server, pytest.raises(StewardError) as found:
        _ask(server)
    assert "hunter2" not in found.value.message
    assert "\x1b" not in found.value.message
