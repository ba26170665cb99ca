"""Tables from a real PostgreSQL arrive exactly; addresses are parsed strictly; secrets stay secret."""

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pytest
import sqlalchemy as sa

from steward import ingest
from steward.core.errors import Denied, Invalid, Misconfigured, NotFound, StewardError, Unavailable
from steward.ingest import Limits, Options, isolation, opening, reach, servers
from steward.ingest.address import driver_text, parse_address
from steward.ingest.reach import INSIDE, PUBLIC
from steward.testing.servers import PostgresServer

MADE = """
CREATE TABLE things (
  id integer PRIMARY KEY, small smallint, big bigint, yes boolean, plain numeric, money numeric(10,2),
  ratio double precision, day date, at timestamp, moment timestamptz, clock time, words text,
  code char(5), tag uuid, doc jsonb, raw bytea, list integer[], span interval
);
INSERT INTO things VALUES
 (2, 1, 9223372036854775807, true, 12345678901234567890123456789.5, 1.50, 0.1, '2024-02-29',
  '2024-01-02 03:04:05.678901', '2024-01-02 03:04:05+02', '10:30', 'a''b "c" \\ é', 'ab',
  '0b6f7b8e-9a47-4a6b-8a44-1f0f6c7f9b11', '{"a": [1, 2.50]}', '\\x00ff', '{1,2}', '1 day 02:00'),
 (1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (3, -1, 0, false, 0, 2.25, 'Infinity', '1999-12-31', '1999-12-31', '1999-12-31 00:00+00', '23:59:59.5',
  '', '', '00000000-0000-0000-0000-000000000000', '1', '', '{}', '1 month'),
 (4, 1, 1, true, 1, 'NaN', 1, '2024-01-01', '2024-01-01', '2024-01-01', '00:00', 'x', 'x', NULL, NULL, NULL, NULL, NULL),
 (5, 1, 1, true, 1, 1, 1, 'infinity', '2024-01-01', '2024-01-01', '00:00', 'x', 'x', NULL, NULL, NULL, NULL, NULL);
CREATE SCHEMA "odd one";
CREATE TABLE "odd one"."ta""ble" ("co""l" integer, "Co""l" text);
INSERT INTO "odd one"."ta""ble" VALUES (1, 'x');
"""


@pytest.fixture(scope="module")
def server(postgres: PostgresServer) -> Iterator[str]:
    with postgres.database(None) as url:
        engine = sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"))
        with engine.begin() as connection:
            connection.exec_driver_sql(MADE)
        engine.dispose()
        yield url


def rows_of(path: Path) -> list[tuple[Any, ...]]:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection.execute(f"SELECT * FROM read_parquet('{path}')").fetchall()


def test_every_type_arrives_exactly(server: str, tmp_path: Path) -> None:
    loaded = ingest.load_server(server, Options(table="things"), tmp_path, reach=INSIDE)
    assert (loaded.records, loaded.rows, loaded.rejected) == (5, 3, 2)
    assert [(column.name, column.type) for column in loaded.columns] == [
        ("id", "INTEGER"), ("small", "SMALLINT"), ("big", "BIGINT"), ("yes", "BOOLEAN"),
        ("plain", "DECIMAL(38,1)"), ("money", "DECIMAL(10,2)"), ("ratio", "DOUBLE"), ("day", "DATE"),
        ("at", "TIMESTAMP"), ("moment", "TIMESTAMP WITH TIME ZONE"), ("clock", "TIME"),
        ("words", "VARCHAR"), ("code", "VARCHAR"), ("tag", "UUID"), ("doc", "JSON"), ("raw", "BLOB"),
        ("list", "VARCHAR"), ("span", "VARCHAR"),
    ]  # fmt: skip
    rows = rows_of(tmp_path / loaded.data)
    assert rows[0] == (1, *[None] * 17)
    assert rows[1] == (
        2, 1, 2**63 - 1, True, Decimal("12345678901234567890123456789.5"), Decimal("1.50"), 0.1,
        dt.date(2024, 2, 29), dt.datetime(2024, 1, 2, 3, 4, 5, 678901),  # noqa: DTZ001
        dt.datetime(2024, 1, 2, 1, 4, 5, tzinfo=dt.UTC), dt.time(10, 30), "a'b \"c\" \\ é", "ab",
        UUID("0b6f7b8e-9a47-4a6b-8a44-1f0f6c7f9b11"), '{"a": [1, 2.50]}', b"\x00\xff", "{1,2}",
        "1 day 02:00:00",
    )  # fmt: skip
    assert rows[2][6] == float("inf")
    assert rows[2][11] == ""
    assert rows[2][15] == b""
    rejects = rows_of(tmp_path / loaded.rejects)
    assert [(reject[0], reject[1], reject[2]) for reject in rejects] == [
        (4, "money", "NaN"),
        (5, "day", "infinity"),
    ]
    assert {note.column for note in loaded.warnings if note.code == "kept-as-text"} == {
        "list",
        "span",
    }


def test_odd_names_and_the_choice_of_a_table(server: str, tmp_path: Path) -> None:
    inspection = ingest.inspect_server(server, reach=INSIDE)
    assert [table.name for table in inspection.tables] == ['odd one.ta"ble', "things"]
    assert [column.name for column in inspection.columns] == ['co"l', 'Co"l_2']
    assert inspection.rows == (("1", "x"),)
    with pytest.raises(Invalid, match="several tables"):
        ingest.load_server(server, None, tmp_path, reach=INSIDE)
    with pytest.raises(NotFound):
        ingest.load_server(
            server, Options(table="absent'; DROP TABLE things"), tmp_path, reach=INSIDE
        )
    loaded = ingest.load_server(server, Options(table='odd one.ta"ble'), tmp_path, reach=INSIDE)
    assert rows_of(tmp_path / loaded.data) == [(1, "x")]


def test_many_rows_come_in_the_order_of_the_key(server: str, tmp_path: Path) -> None:
    engine = sa.create_engine(sa.make_url(server).set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE many AS SELECT i AS id, 'n' || i AS name FROM generate_series(50000, 1, -1) i;"
            "ALTER TABLE many ADD PRIMARY KEY (id)"
        )
    engine.dispose()
    limits = Limits(memory_mb=512)
    loaded = ingest.load_server(server, Options(table="many"), tmp_path, limits, reach=INSIDE)
    rows = rows_of(tmp_path / loaded.data)
    assert rows[0] == (1, "n1")
    assert rows[-1] == (50_000, "n50000")
    assert [row[0] for row in rows] == list(range(1, 50_001))


@pytest.mark.parametrize("kind", ["postgresql", "mysql"])
def test_a_failure_does_not_show_the_password(kind: str) -> None:
    with pytest.raises(Unavailable) as error:
        ingest.inspect_server(f"{kind}://ann:s3cr3t@127.0.0.1:1/x", reach=INSIDE)
    assert error.value.specific_code == "source-unavailable"
    assert "s3cr3t" not in error.value.message
    assert "ann@127.0.0.1:1/x" in error.value.message


def test_a_missing_scanner_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_spec", lambda _name: None)
    with pytest.raises(Misconfigured, match=r"duckdb-extension-postgres-scanner==1\.5\.5"):
        ingest.inspect_server("postgresql://ann@127.0.0.1/x", reach=INSIDE)


@pytest.mark.parametrize(
    "place",
    [
        "127.0.0.1", "localhost", "10.1.2.3", "192.168.0.1", "172.16.0.1", "169.254.169.254", "100.64.0.1",
        "168.63.129.16", "0.0.0.0", "224.0.0.1", "[::1]", "[fe80::1]", "[fd00::1]", "[::ffff:10.0.0.1]",
        "[64:ff9b::a00:1]", "[2002:a00:1::]", "2130706433", "127.1",
    ],
)  # fmt: skip
def test_private_servers_are_refused(place: str) -> None:
    with pytest.raises(Denied) as error:
        isolation.inspect_server(f"postgresql://ann@{place}/x")
    assert error.value.specific_code == "private-address"


def test_a_socket_of_this_machine_is_private(server: str, tmp_path: Path) -> None:
    assert parse_address(server).host.startswith("/")
    with pytest.raises(Denied, match="only an admin"):
        ingest.load_server(server, Options(table="things"), tmp_path)
    loaded = isolation.load_server(server, Options(table="things"), tmp_path, private=True)
    assert loaded.rows == 3


def test_a_name_is_looked_up_once_and_all_its_addresses_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = {
        "mixed.example": ["2606:4700::1", "10.0.0.1"],
        "good.example": ["2606:4700::1", "1.1.1.1"],
    }
    asked: list[str] = []

    def resolve(host: str, port: int, **rest: object) -> list[tuple[object, ...]]:
        asked.append(host)
        return [(0, 0, 0, "", (place, port)) for place in answers[host]]

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    with pytest.raises(Denied):
        reach.reachable(parse_address("mysql://ann@mixed.example/x"), PUBLIC)
    found = reach.reachable(parse_address("postgresql://ann@good.example/x"), PUBLIC)
    assert "hostaddr='1.1.1.1'" in driver_text(found)
    assert "host='good.example'" in driver_text(found)
    found = reach.reachable(parse_address("mysql://ann@good.example/x"), PUBLIC)
    assert found.place == "1.1.1.1"
    assert len(asked) == 3


def test_a_name_without_an_address_is_said_to_be_so() -> None:
    with pytest.raises(Unavailable, match="cannot be found"):
        ingest.inspect_server("postgresql://ann:s3cr3t@nowhere.invalid/x")


@pytest.mark.parametrize(
    "url",
    [
        "http://host/x",
        "postgresql://host",
        "postgresql:///x",
        "postgresql://host:port/x",
        "postgresql://host/x?passfile=/etc/passwd",
        "postgresql://host/x?sslmode=none",
        "postgresql://host/x%00y",
        "sqlite:///etc/x",
    ],
)
def test_bad_addresses_are_refused(url: str) -> None:
    with pytest.raises(StewardError) as error:
        parse_address(url)
    assert error.value.specific_code == "bad-url"


def test_what_reaches_the_driver_is_quoted() -> None:
    address = parse_address(
        "postgresql://ann:p%27%20host%3Devil%5C@db.example.org/x%20y?sslmode=require"
    )
    assert address.password == "p' host=evil\\"
    text = driver_text(address)
    assert "password='p\\' host=evil\\\\'" in text
    assert "host='db.example.org'" in text
    assert "dbname='x y'" in text


def test_a_mysql_query_reads_everything_as_text() -> None:
    column = servers._ServerColumn
    table = servers._Table(
        "t", "db", "t`x", (column("a`b", "date", "DATE"), column("c", "blob", "BLOB"), column("f", "float", "FLOAT")), ("a`b",),
        ingest.names.unique_names(["a`b", "c", "f"]), (), "mysql",
    )  # fmt: skip
    assert servers._select(table, 5) == (
        "SELECT CAST(`a``b` AS CHAR) AS c0, HEX(`c`) AS c1, CAST(`f` + 0e0 AS CHAR) AS c2 FROM `db`.`t``x` ORDER BY `a``b` LIMIT 5"
    )
