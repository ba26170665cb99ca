"""Definitions proposed from facts, and merged with what people said."""

import time
from dataclasses import replace

import duckdb
import pytest

from steward.analysis.profile import profile
from steward.definitions import (
    ColumnDefinition,
    DatasetFacts,
    Definitions,
    Relation,
    Relationship,
    TableDefinition,
    effective,
    propose_definitions,
)
from steward.definitions.facts import plain_facts, with_profile
from steward.definitions.merging import merge_definitions
from steward.tables.table import Column, Table


def facts_of(name: str, sql: str) -> DatasetFacts:
    """The facts of a query's rows, profiled as a dataset would be."""
    with duckdb.connect() as connection:
        connection.execute(f'CREATE TABLE "{name}" AS {sql}')
        shown = connection.execute(f'DESCRIBE "{name}"').fetchall()
        columns = tuple(Column(each[0], each[1]) for each in shown)
        counted = connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()
        rows = int(counted[0]) if counted else 0
        found = profile(connection, Table(name, f'"{name}"', columns, rows)).as_dict()
    plain = plain_facts(name, rows, [(each.name, each.type) for each in columns])
    return with_profile(plain, found)


def proposed_of(*facts: DatasetFacts, relations: tuple[Relation, ...] = ()) -> Definitions:
    return propose_definitions({each.name: each for each in facts}, relations)


LINES = facts_of(
    "order_lines",
    """SELECT 1000 + i AS v1, i % 40 + 1 AS buyer, 10000 + hash(i) % 90000 AS w,
         (i * 7 % 13) + 0.99 AS unit_price, i % 5 + 1 AS quantity,
         (DATE '2024-01-01' + INTERVAL (i % 300) DAY)::DATE AS sold_on, 'P' || lpad((i*17%9973)::VARCHAR, 5, '0') AS part,
         ['red', 'green', 'blue'][i % 3 + 1] AS colour, i % 4 + 3 AS doors
       FROM range(600) r(i)""",
)


def test_whole_numbers_made_to_identify_are_identifiers_whatever_their_name() -> None:
    columns = proposed_of(LINES).tables["order_lines"].columns

    assert {name for name, each in columns.items() if each.role == "identifier"} == {
        "v1",
        "w",
        "part",
    }


def test_a_column_that_a_relation_points_with_is_an_identifier() -> None:
    relation = Relation("order_lines", "buyer", "buyers", "id")
    buyers = facts_of(
        "buyers",
        "SELECT i + 1 AS id, 'Name ' || chr((97 + i % 26)::INT) || i AS name FROM range(40) r(i)",
    )

    found = proposed_of(LINES, buyers, relations=(relation,))

    assert found.tables["order_lines"].columns["buyer"].role == "identifier"
    assert found.tables["buyers"].name_column == "name"
    assert found.tables["buyers"].row == "buyer"
    assert [(each.from_table, each.to_table) for each in found.relationships] == [
        ("order_lines", "buyers")
    ]


def test_a_relation_whose_other_side_repeats_is_not_joined_along() -> None:
    relation = Relation("order_lines", "buyer", "order_lines", "doors", unique=False)

    assert proposed_of(LINES, relations=(relation,)).relationships == []


def test_prices_are_averaged_counts_are_added_up_and_few_whole_numbers_group() -> None:
    columns = proposed_of(LINES).tables["order_lines"].columns

    assert (columns["unit_price"].total, columns["unit_price"].additive) == ("avg", "never")
    assert (columns["quantity"].total, columns["quantity"].additive) == ("sum", "always")
    assert columns["doors"].role == "dimension"
    assert columns["colour"].role == "dimension"


def test_price_times_quantity_is_proposed_as_revenue() -> None:
    found = proposed_of(LINES).metrics["revenue"]

    assert (found.formula, found.over, found.state) == (
        "sum(unit_price * quantity)",
        "order_lines",
        "proposed",
    )


def test_a_number_that_nothing_tells_about_is_never_added_up() -> None:
    table = facts_of("t", "SELECT i AS a, 50 + sin(i) * 20 AS q FROM range(200) r(i)")

    column = proposed_of(table).tables["t"].columns["q"]

    assert (column.role, column.additive, column.total) == ("measure", "never", "avg")


def test_a_population_per_country_and_year_is_not_added_up_over_time() -> None:
    table = facts_of(
        "countries",
        """SELECT 'Land ' || chr((65 + i)::INT) AS land, 1950 + y AS y, 100000 * (i + 1) + 911 * y AS population
           FROM range(20) a(i), range(40) b(y)""",
    )

    found = proposed_of(table).tables["countries"]

    assert found.columns["y"].role == "time"
    assert found.columns["y"].unit == "year"
    assert found.columns["population"].additive == "not over time"
    assert found.default_time == "y"


def test_the_time_that_rows_have_and_that_begins_first_is_the_default() -> None:
    table = facts_of(
        "invoices",
        """SELECT i AS id, CASE WHEN i % 3 = 0 THEN DATE '2024-01-05' + i::INT END AS paid,
             DATE '2024-02-01' + i::INT AS due, DATE '2024-01-02' + i::INT AS issued
           FROM range(90) r(i)""",
    )

    assert proposed_of(table).tables["invoices"].default_time == "issued"


def test_numbers_of_a_clock_are_not_a_quantity() -> None:
    table = facts_of(
        "flights",
        "SELECT i AS row, (i * 7 % 24) * 100 + i * 11 % 60 AS dep_time, i % 900 + 20 AS flight, "
        "100 + i % 77 AS air_time FROM range(2000) r(i)",
    )

    columns = proposed_of(table).tables["flights"].columns

    assert columns["dep_time"].role == "dimension"
    assert columns["flight"].role == "identifier"
    assert (columns["air_time"].role, columns["air_time"].additive) == ("measure", "always")


def test_datasets_without_a_profile_are_proposed_for_by_schema() -> None:
    table = plain_facts(
        "sales",
        10,
        [
            ("id", "BIGINT"),
            ("amount", "DOUBLE"),
            ("at", "TIMESTAMP"),
            ("year", "INTEGER"),
            ("x1", "BIGINT"),
        ],
    )

    found = proposed_of(table).tables["sales"]

    roles = {name: each.role for name, each in found.columns.items()}
    assert roles == {
        "id": "identifier",
        "amount": "measure",
        "at": "time",
        "year": "time",
        "x1": "measure",
    }
    assert found.columns["x1"].additive == "never"
    assert found.default_time == "at"


def test_a_thousand_columns_are_proposed_for_and_merged_quickly() -> None:
    columns = tuple(
        replace(LINES.columns[i % len(LINES.columns)], name=f"c{i} {LINES.columns[i % 9].name}")
        for i in range(1_000)
    )
    wide = {"wide": replace(LINES, name="wide", columns=columns)}

    def seconds() -> float:
        # The time of this process alone: other tests run on the same machine.
        started = time.process_time()
        effective(Definitions(), propose_definitions(wide, ()))
        return time.process_time() - started

    assert min(seconds() for _ in range(5)) < 0.05


def _stored(column: ColumnDefinition, name: str = "unit_price") -> Definitions:
    return Definitions(tables={"order_lines": TableDefinition(columns={name: column})})


def test_what_a_person_confirmed_wins_over_the_proposal_and_the_rest_is_still_proposed() -> None:
    said = ColumnDefinition(role="measure", total="sum", state="confirmed", by="ann")

    found = effective(_stored(said), proposed_of(LINES)).tables["order_lines"]

    assert found.columns["unit_price"] == said
    assert found.columns["quantity"].total == "sum"
    assert found.row == "order line"


def test_a_rejected_entry_is_seen_but_not_used_and_does_not_come_back() -> None:
    proposed = proposed_of(
        LINES, LINES, relations=(Relation("order_lines", "buyer", "order_lines", "v1"),)
    )
    relationship = proposed.relationships[0].model_copy(update={"state": "rejected"})
    metric = proposed.metrics["revenue"].model_copy(update={"state": "rejected"})
    column = proposed.tables["order_lines"].columns["w"].model_copy(update={"state": "rejected"})
    stored = _stored(column, "w").model_copy(
        update={"relationships": [relationship], "metrics": {"revenue": metric}}
    )

    used, seen = effective(stored, proposed), merge_definitions(stored, proposed)

    assert (used.relationships, used.metrics) == ([], {})
    assert "w" not in used.tables["order_lines"].columns
    assert seen.relationships == [relationship]
    assert seen.metrics["revenue"].state == "rejected"


@pytest.mark.parametrize("gone", ["table", "column"])
def test_what_the_data_no_longer_has_is_not_used(gone: str) -> None:
    said = ColumnDefinition(role="dimension", state="confirmed")
    stored = Definitions(
        tables={
            ("other" if gone == "table" else "order_lines"): TableDefinition(columns={"lost": said})
        },
        relationships=[
            Relationship(
                from_table="order_lines",
                from_columns=["lost"],
                to_table="order_lines",
                to_columns=["v1"],
            )
        ],
    )

    used = effective(stored, proposed_of(LINES))

    assert list(used.tables) == ["order_lines"]
    assert "lost" not in used.tables["order_lines"].columns
    assert used.relationships == []
    assert "lost" in str(merge_definitions(stored, proposed_of(LINES)))


def test_amounts_have_the_unit_that_a_column_of_currencies_says() -> None:
    several = "['EUR', 'CHF', 'SEK'][i % 3 + 1]"
    made = "SELECT i AS no, i * 1.37 AS gross, i % 7 AS pieces, {} AS currency FROM range(300) r(i)"
    bills = proposed_of(facts_of("bills", made.format(several))).tables["bills"].columns
    assert (bills["gross"].unit, bills["gross"].unit_column) == ("", "currency")
    assert bills["pieces"].unit_column is None
    euros = proposed_of(facts_of("bills", made.format("'EUR'"))).tables["bills"].columns
    assert (euros["gross"].unit, euros["gross"].unit_column) == ("EUR", None)
