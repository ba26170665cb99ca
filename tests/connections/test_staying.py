"""Tables of PostgreSQL that become datasets without a copy: asked where they are, and nothing else."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from steward.core import reaching_for
from steward.core.errors import (
    Conflict,
    Denied,
    Invalid,
    NotFound,
    StewardError,
    TooLarge,
    Unavailable,
)
from steward.testing import PostgresServer
from steward.tools import load_tools
from tests.connections.test_using import PASSWORD, _connect, _context
from tests.tools.conftest import room, sample_home
from tests.tools.room import Room

__all__ = ["room", "sample_home"]

_KEYS = {"access_key_id": "AK", "secret_access_key": "not-a-key"}
_MADE = """
CREATE SCHEMA shop;
CREATE TABLE shop.orders (
    "Id" integer PRIMARY KEY, "Who ""is"" it" text, amount numeric(10,2), at timestamp, doc jsonb
);
INSERT INTO shop.orders SELECT i, CASE WHEN mod(i, 5) > 0 THEN 'n' || i END, i * 1.1,
    timestamp '2026-01-01' + i * interval '1 day', '{"a": 1}' FROM generate_series(1, 20) i;
CREATE TABLE public.salaries (id integer, amount integer);
INSERT INTO public.salaries VALUES (1, 1000000);
CREATE VIEW public.slow AS SELECT 1 AS id, count(*) AS n
    FROM generate_series(1, 100000) a, generate_series(1, 1000000) b;
"""


@pytest.fixture
def engine(postgres: PostgresServer) -> Iterator[sa.Engine]:
    with postgres.database(None) as url:
        made = sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"))
        with made.begin() as connection:
            connection.exec_driver_sql(_MADE)
        yield made
        made.dispose()


@pytest.fixture
def staying(room: Room, engine: sa.Engine) -> Room:
    parts = engine.url
    where: dict[str, Any] = {
        "host": parts.host or parts.query["host"],
        "database": parts.database,
        "user": parts.username,
        **({"port": parts.port} if parts.port else {}),
    }
    _connect(room, "warehouse", "postgresql", where, password=PASSWORD)
    call = {
        "connection": "warehouse",
        "table": "shop.orders",
        "dataset": "remote orders",
        "stay": True,
    }
    outcome = room.call("load_from_connection", call, _context(room))
    assert outcome.value["counts"] == {"rows": 20, "rejected": 0}
    return room


def asked(room: Room, sql: str, **more: Any) -> Any:
    return room.call("execute_sql", {"sql": sql, **more}, _context(room))


def test_it_is_listed_with_its_place_and_its_columns(staying: Room) -> None:
    listed = staying.call("list_datasets", {}, _context(staying)).value["datasets"]
    (found,) = [each for each in listed if each["name"] == "remote orders"]
    assert (found["rows"], found["bytes"], found["stays_at"]) == (20, 0, "warehouse")
    schema = staying.call(
        "get_dataset_schema", {"dataset": "remote orders"}, _context(staying)
    ).value
    assert [each["name"] for each in schema["columns"]][:2] == ["Id", 'Who "is" it']
    assert schema["stays_at"] == "warehouse"
    assert PASSWORD not in str(schema)


def test_a_query_runs_there_and_says_so(staying: Room) -> None:
    found = asked(
        staying,
        'WITH big AS (SELECT * FROM "remote orders" WHERE id > $least) '
        'SELECT count(*) AS Cases, sum(Amount) AS "Total", max("at") FROM big',
        parameters={"least": 10},
    )
    assert found.value["rows"][0][:2] == [10, 170.5]
    assert [each["name"] for each in found.value["columns"]][:2] == ["Cases", "Total"]
    assert '"shop"."orders"' in found.value["sql"]
    assert found.trusted is False
    assert found.sources[0] == "connection:warehouse"
    assert found.value["read"]["connection"] == "warehouse"
    assert len(found.value["read"]["query_sha256"]) == 64
    assert found.value["read"]["at"]


def test_rows_are_capped_and_it_is_told(staying: Room) -> None:
    found = asked(staying, 'SELECT Id FROM "remote orders" ORDER BY Id DESC', limit=3)
    assert found.value["rows"] == [[20], [19], [18]]
    assert found.value["columns"][0]["name"] == "Id"
    assert "there are more" in found.value["truncated"]


def test_plans_and_previews_run_there(staying: Room) -> None:
    plan = {
        "source": "remote orders",
        "aggregate": [{"name": "rows", "function": "count"}],
    }
    counted = staying.call("execute_query_plan", {"plan": plan}, _context(staying))
    assert counted.value["rows"] == [[20]]
    preview = staying.call(
        "preview",
        {
            "dataset": "remote orders",
            "filters": [
                {"column": 'Who "is" it', "operator": "starts", "value": "N1"},
                {"column": "Id", "operator": "gt", "value": "11"},
            ],
            "sort": [{"column": "Id", "descending": True}],
            "limit": 2,
        },
        _context(staying),
    )
    assert [row[:2] for row in preview.value["rows"]] == [["19", "n19"], ["18", "n18"]]
    assert preview.value["read"]["connection"] == "warehouse"


def test_a_profile_is_counted_there_without_texts(staying: Room) -> None:
    found = staying.call("profile", {"dataset": "remote orders"}, _context(staying)).value
    by_name = {each["name"]: each for each in found["columns"]}
    assert (found["rows"], found["missing"]["complete_rows"]) == (20, 16)
    assert (by_name["Id"]["minimum"], by_name["Id"]["maximum"]) == ("1", "20")
    assert (by_name['Who "is" it']["nulls"], by_name['Who "is" it']["minimum"]) == (4, None)
    assert by_name["amount"]["unique"] is True
    assert "warehouse" in found["notes"][0]


def test_what_changes_or_copies_it_is_refused_with_the_way_out(staying: Room) -> None:
    for tool, call in (
        ("correlate", {"dataset": "remote orders"}),
        ("export_dataset", {"dataset": "remote orders", "format": "csv"}),
        ("execute_python", {"code": "result = 1", "datasets": ["remote orders"]}),
    ):
        with pytest.raises(Conflict, match="load_from_connection") as refused:
            staying.call(tool, call, _context(staying, sandbox=object()))
        assert refused.value.specific_code == "stays-elsewhere"
    # What has nothing to do with it goes to the sandbox, as ever.
    with pytest.raises(Unavailable, match="sandbox"):
        asked(staying, "SELECT 1 AS one")


def test_it_joins_with_nothing_from_here(staying: Room) -> None:
    local = next(
        each["name"]
        for each in staying.call("list_datasets", {}, _context(staying)).value["datasets"]
        if each["name"] != "remote orders"
    )
    with pytest.raises(Invalid, match="Load a copy"):
        asked(staying, f'SELECT * FROM "remote orders" JOIN "{local}" ON true')


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT * FROM "remote orders", public.salaries',
        'WITH salaries AS (SELECT * FROM salaries) SELECT * FROM salaries, "remote orders"',
        'SELECT (SELECT max(amount) FROM salaries) FROM "remote orders"',
        "SELECT pg_read_file('/etc/passwd') FROM \"remote orders\"",
        'SELECT * FROM "remote orders"; DROP TABLE shop.orders',
        'SELECT pg_sleep(100) FROM "remote orders"',
        'SELECT * FROM "remote orders" WHERE id = $x',
    ],
)
def test_nothing_else_of_the_database_can_be_reached(staying: Room, sql: str) -> None:
    with pytest.raises(StewardError) as refused:
        asked(staying, sql)
    assert isinstance(refused.value, Invalid | Denied)


def test_a_name_for_a_part_of_the_query_hides_no_table(staying: Room) -> None:
    found = asked(
        staying,
        'WITH salaries AS (SELECT count(*) AS n FROM "remote orders") SELECT n FROM salaries',
    )
    assert found.value["rows"] == [[20]]
    hidden = 'WITH "remote orders" AS (SELECT 7 AS id) SELECT id FROM "remote orders"'
    with pytest.raises(Unavailable, match="sandbox"):
        asked(staying, hidden)


def test_values_cannot_become_sql(staying: Room) -> None:
    text = "x' OR true --"
    found = asked(
        staying,
        'SELECT count(*) FROM "remote orders" WHERE "Who ""is"" it" = $who',
        parameters={"who": text},
    )
    assert found.value["rows"] == [[0]]
    filters = [{"column": 'Id" = 1 OR true --', "operator": "eq", "value": text}]
    with pytest.raises(StewardError, match="does not exist"):
        staying.call("preview", {"dataset": "remote orders", "filters": filters}, _context(staying))


def test_a_table_that_changed_or_vanished_is_told(staying: Room, engine: sa.Engine) -> None:
    sql = 'SELECT sum(amount) FROM "remote orders"'
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE shop.orders RENAME COLUMN amount TO price")
    with pytest.raises(StewardError, match="register it again"):
        asked(staying, sql)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE shop.orders")
    with pytest.raises(StewardError, match="register it again") as gone:
        asked(staying, sql)
    assert PASSWORD not in gone.value.message


def test_a_slow_source_is_left(staying: Room) -> None:
    bringing = staying.steward.workbench.bringing
    with reaching_for(staying.scope), pytest.raises(TooLarge, match="longer than"):
        bringing.query_source(
            _url(staying), "warehouse", "SELECT n FROM slow", private=True, seconds=2
        )


def _url(room: Room) -> str:
    desk = room.steward.connections
    opened = desk.open(room.scope, desk.named(room.scope, "warehouse", "database"))
    place = opened.connection.connector.database
    assert place is not None
    url = place(desk.around, opened.settings, opened.secrets).url
    assert url is not None
    return url


def test_another_project_sees_nothing_of_it(staying: Room) -> None:
    other = replace(staying.scope, project_id="prj_00000000000000000000000009")
    version = staying.workspace.dataset("remote orders").version
    with pytest.raises(NotFound):
        staying.steward.workbench.versions.get(other, version)
    context = replace(_context(staying), scope=other)
    call = {"sql": 'SELECT * FROM "remote orders"', "datasets": ["remote orders"]}
    with pytest.raises(NotFound):
        staying.call("execute_sql", call, context)


def test_rules_about_connections_count_for_it(staying: Room) -> None:
    tool = load_tools().get("execute_sql")
    assert tool.acts_as is not None
    for sql, others in (
        ('SELECT * FROM "remote orders"', ("query_connection",)),
        ("SELECT 1", ()),
    ):
        assert tool.acts_as(_context(staying), tool.arguments(sql=sql)) == others


def test_registering_it_can_be_undone(staying: Room) -> None:
    place = staying.workspace
    (commit,) = place.history("remote orders")
    assert commit.operation == "register"
    place.undo(commit.id)
    with pytest.raises(NotFound):
        place.dataset("remote orders")


def test_other_places_say_that_tables_cannot_stay_there(staying: Room) -> None:
    _connect(staying, "bucket", "s3", {"bucket": "lake"}, **_KEYS)
    call = {"connection": "bucket", "object": "a", "dataset": "x", "stay": True}
    with pytest.raises(Invalid, match="Only tables of PostgreSQL"):
        staying.preview("load_from_connection", call, _context(staying))
