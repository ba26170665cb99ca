"""Lineage: from changes and from SQL to a graph and to OpenLineage events."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from steward.analysis.clean import clean
from steward.analysis.consolidate import join
from steward.analysis.redact import Mask, redact
from steward.core.errors import Invalid, TooLarge
from steward.output.lineage import (
    LineageGraph,
    Step,
    graph,
    openlineage_events,
    sql_lineage,
    step_of,
    upstream,
)
from steward.tables.table import Column, Table
from tests.kits.shelf import Shelf

ORDERS = Table(
    "Orders",
    "orders",
    (Column("ID", "BIGINT"), Column("cid", "BIGINT"), Column("Amount", "DOUBLE")),
)
WEIRD = Table('we"ird', "w", (Column("ID", "BIGINT"), Column("Name", "VARCHAR")))


def edges(found: LineageGraph) -> set[tuple[str, str]]:
    return {(edge.source, edge.target) for edge in found.edges}


def test_columns_through_joins_stars_and_windows() -> None:
    sql = (
        'WITH x AS (SELECT o.*, c."Name" AS cn FROM orders o JOIN "we""ird" c ON o.cid = c.id) '
        "SELECT *, amount * 2 AS twice, count(*) OVER (PARTITION BY cn) AS n, 1 AS one FROM x"
    )
    found = {each.output: each for each in sql_lineage(sql, [ORDERS, WEIRD])}
    assert list(found) == ["ID", "cid", "Amount", "cn", "twice", "n", "one"]
    assert found["ID"].inputs == (("Orders", "ID"),)
    assert found["ID"].transformation == "unchanged"
    assert found["cn"].inputs == (('we"ird', "Name"),)
    assert found["twice"].inputs == (("Orders", "Amount"),)
    assert found["n"].inputs == (('we"ird', "Name"),)
    assert found["one"].inputs == ()


def test_unions_and_aggregates() -> None:
    sql = (
        "SELECT cid, sum(amount) AS total FROM orders GROUP BY cid "
        'UNION ALL SELECT id, length(name) FROM "we""ird"'
    )
    first, second = sql_lineage(sql, [ORDERS, WEIRD])
    assert first.inputs == (("Orders", "cid"), ('we"ird', "ID"))
    assert second.inputs == (("Orders", "Amount"), ('we"ird', "Name"))
    assert second.transformation.startswith("aggregated: SUM(")


def test_known_columns_give_the_spelling() -> None:
    named = [Column("Nr", "BIGINT")]
    (only,) = sql_lineage("SELECT id AS nr FROM orders", [ORDERS], named)
    assert (only.output, only.inputs) == ("Nr", (("Orders", "ID"),))
    with pytest.raises(Invalid, match="yields 2 columns"):
        sql_lineage("SELECT id, cid FROM orders", [ORDERS], named)


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE orders",
        "SELECT 1; SELECT 2",
        "SELECT nope FROM orders",
        "SELECT id, id FROM orders",
        "SELECT FROM WHERE",
        "",
        "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    ],
)
def test_what_cannot_be_read_is_refused(sql: str) -> None:
    with pytest.raises(Invalid):
        sql_lineage(sql, [ORDERS])


def test_endless_sql_is_refused() -> None:
    with pytest.raises(TooLarge):
        sql_lineage("SELECT 1" + " " * 300_000, [])


def steps(shelf: Shelf) -> list[Step]:
    people = shelf.put("people", {"id": [1, 2], "name": [" Ann ", "Bob"]})
    orders = shelf.put("orders", {"no": [1], "who": [1]})
    trimmed = clean(shelf.connection, people, "trim", {})
    joined = join(shelf.connection, [orders, people], [("who", "id")])
    masked = redact(shelf.connection, people, {"name": Mask()})
    return [
        step_of(trimmed, "people"),
        step_of(joined, "report"),
        step_of(masked, "public people"),
    ]


def test_a_graph_of_several_steps(shelf: Shelf) -> None:
    found = graph(steps(shelf))
    nodes = {node.id: node for node in found.nodes}
    assert {node.id for node in found.nodes if node.kind == "dataset"} == {
        "dataset:people:0",
        "dataset:people:1",
        "dataset:orders:0",
        "dataset:report:0",
        "dataset:public people:0",
    }
    assert nodes["operation:1"].label == "join"
    assert nodes["dataset:report:0:name"].dataset == "dataset:report:0"
    assert {
        ("dataset:people:0", "operation:0"),
        ("operation:0", "dataset:people:1"),
        ("dataset:people:0:name", "dataset:people:1:name"),
        ("dataset:people:1:name", "dataset:report:0:name"),
        ("dataset:orders:0:who", "dataset:report:0:who"),
    } <= edges(found)
    known = set(nodes)
    assert all(edge.source in known and edge.target in known for edge in found.edges)
    json.dumps(found.as_dict())


def test_upstream_of_a_column(shelf: Shelf) -> None:
    part = upstream(graph(steps(shelf)), "dataset:report:0:name")
    assert {node.id for node in part.nodes} == {
        "dataset:report:0:name",
        "dataset:people:1:name",
        "dataset:people:0:name",
    }
    with pytest.raises(Invalid, match="no 'nowhere'"):
        upstream(part, "nowhere")


def events(shelf: Shelf) -> tuple[dict[str, Any], dict[str, Any]]:
    return openlineage_events(
        steps(shelf)[2],
        namespace="steward",
        job="redact people",
        run="run_01",
        started=datetime(2026, 1, 1, tzinfo=UTC),
        finished=datetime(2026, 1, 1, 0, 0, 5, tzinfo=UTC),
        sql="SELECT 1",
    )


def check_facet(facet: dict[str, Any]) -> None:
    assert facet["_producer"].startswith("https://")
    assert facet["_schemaURL"].startswith("https://openlineage.io/spec/")


def test_events_have_the_shape_of_openlineage(shelf: Shelf) -> None:
    for event, kind in zip(events(shelf), ("START", "COMPLETE"), strict=True):
        assert set(event) == {
            *("eventType", "eventTime", "run", "job"),
            *("inputs", "outputs", "producer", "schemaURL"),
        }
        assert event["eventType"] == kind
        assert datetime.fromisoformat(event["eventTime"]).tzinfo is not None
        assert event["schemaURL"] == (
            "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
        )
        UUID(event["run"]["runId"])
        assert (event["job"]["namespace"], event["job"]["name"]) == ("steward", "redact people")
        for facet in event["job"]["facets"].values():
            check_facet(facet)
        for dataset in (*event["inputs"], *event["outputs"]):
            assert {"namespace", "name", "facets"} == set(dataset)
            for facet in dataset["facets"].values():
                check_facet(facet)
            for field in dataset["facets"]["schema"]["fields"]:
                assert {"name", "type"} == set(field)
        json.dumps(event)


def test_events_carry_column_lineage(shelf: Shelf) -> None:
    start, complete = events(shelf)
    assert start["run"] == complete["run"]
    fields = complete["outputs"][0]["facets"]["columnLineage"]["fields"]
    (source,) = fields["name"]["inputFields"]
    assert (source["name"], source["field"]) == ("people", "name")
    (done,) = source["transformations"]
    assert done == {
        "type": "DIRECT",
        "subtype": "TRANSFORMATION",
        "description": "masked",
        "masking": True,
    }
    assert fields["id"]["inputFields"][0]["transformations"][0]["subtype"] == "IDENTITY"


def test_a_uuid_stays_and_a_time_needs_a_zone(shelf: Shelf) -> None:
    step = steps(shelf)[0]
    run = "3d6f0c7e-6b1a-4c8e-9f62-0a4c8f0a1b2c"
    now = datetime(2026, 1, 1, tzinfo=UTC)
    start, _ = openlineage_events(step, namespace="n", job="j", run=run, started=now, finished=now)
    assert start["run"]["runId"] == run
    with pytest.raises(Invalid, match="time zone"):
        openlineage_events(
            step, namespace="n", job="j", run=run, started=now.replace(tzinfo=None), finished=now
        )
