"""Things people ask every day: weekdays, spreads, averages per owner, one row by its number, what comes next."""

from datetime import date, timedelta
from typing import Any

import duckdb
import pytest

from steward.agents.asking.answering import Result, answer_text
from steward.agents.asking.reading import Asked
from steward.agents.asking.wording import Words
from steward.sandbox import QueryPlan, compile_plan
from tests.agents.asking_kit import (
    CUSTOMERS,
    DEFINITIONS,
    INVOICES,
    asked,
    query,
    table,
    world,
)

SHOP = world(INVOICES, CUSTOMERS)
DINERS = table("tips", 244, {"day": "VARCHAR", "tip": "DOUBLE"}, day=("Sun", "Sat", "Thur", "Fri"))


def fact(message: str) -> Asked:
    found = asked(message, SHOP)
    assert found.status == "fact", found
    return found


def line(found: Asked) -> str:
    assert found.reading is not None
    return Words(DEFINITIONS).line(found.reading)


def rows(found: Asked) -> list[tuple[Any, ...]]:
    """The answer over 28 invoices: one a day from a Monday on, as many of a customer as its number says."""
    plan = QueryPlan.model_validate(query(found, SHOP))
    names = {each.name: list(each.names) for each in (INVOICES, CUSTOMERS)}
    database = duckdb.connect()
    database.execute(
        "create table invoices (invoice_no varchar, customer_id varchar, issue_date date, due_date date, "
        "status varchar, country varchar, gross double, net double)"
    )
    database.execute(
        "create table customers (customer_id varchar, company varchar, segment varchar)"
    )
    monday = date(2024, 1, 1)
    for number in range(28):
        day = monday + timedelta(days=number)
        customer = "many" if number else "one"
        made = [f"A-{number}", customer, day, day, "open", "Germany", number % 7 + 1.0, 1.0]
        database.execute("insert into invoices values (?, ?, ?, ?, ?, ?, ?, ?)", made)
    database.execute("insert into customers values ('many', 'Acme', ''), ('one', 'Bolt', '')")
    return database.execute(compile_plan(plan, names)).fetchall()


def test_weekdays_have_names_and_stand_in_their_order() -> None:
    found = rows(fact("average gross by day of the week"))
    assert [row[0] for row in found[:3]] == ["Monday", "Tuesday", "Wednesday"]
    assert [row[1] for row in found] == [1, 2, 3, 4, 5, 6, 7]


def test_the_weekday_with_the_most_is_one_group() -> None:
    assert rows(fact("which weekday has the highest total gross?")) == [("Sunday", 28.0)]


def test_months_of_the_year_are_not_months() -> None:
    found = fact("total gross by month of the year")
    assert line(found) == "invoices · total of gross · by month of the year"
    assert rows(found) == [("January", 112.0)]


def test_an_hour_of_the_day_needs_a_time_of_day() -> None:
    assert asked("average gross by hour of the day", SHOP).status == "proposal"


def test_a_column_that_names_weekdays_is_grouped_by() -> None:
    found = asked("average tip by day of the week", world(DINERS))
    assert found.reading is not None
    assert [each.by.column for each in found.reading.groups] == ["day"]


def test_a_standard_deviation_is_computed() -> None:
    found = fact("standard deviation of gross per country")
    assert line(found) == "invoices · standard deviation of gross · by country"
    assert rows(found)[0][1] == pytest.approx(2.0367, abs=0.001)


def test_a_range_is_the_smallest_and_the_largest() -> None:
    assert rows(fact("range of gross")) == [(1.0, 7.0)]


@pytest.mark.parametrize(
    "message",
    [
        "average number of invoices per customer",
        "how many invoices does a customer have on average?",
        "how many invoices on average per customer",
    ],
)
def test_an_average_number_of_rows_per_owner_is_one_figure(message: str) -> None:
    found = fact(message)
    assert line(found) == "invoices · average number of invoices per customer"
    assert rows(found) == [(14.0,)]
    assert "Those without invoices are not counted." in found.assumed


def test_a_row_is_found_by_its_key() -> None:
    found = fact("what is the gross of invoice A-3?")
    assert line(found) == "invoices · total of gross · invoice no A-3"
    assert rows(found) == [(4.0,)]


@pytest.mark.parametrize("message", ["invoices 5", "invoice trends", "invoice"])
def test_a_word_without_a_digit_and_a_number_after_several_are_no_key(message: str) -> None:
    found = asked(message, SHOP)
    assert found.reading is None or not found.reading.filters


def test_what_comes_next_is_a_stretch_of_time_and_says_of_which_time() -> None:
    assert line(fact("invoices due next month")) == "invoices · December 2026 by due date"
    assert line(fact("invoices due tomorrow")) == "invoices · 2026-11-16 by due date"


def test_who_is_the_one_table_that_rows_belong_to() -> None:
    assert rows(fact("who has the most invoices?"))[0][:1] == ("Acme",)


def test_the_biggest_row_by_one_of_several_figures_is_asked_about() -> None:
    found = asked("the biggest overdue invoice", SHOP)
    assert found.status == "proposal"
    assert [
        line_of.order[0].column.column for line_of in found.nearest if line_of.order[0].column
    ] == [
        "gross",
        "net",
    ]


def test_an_average_number_is_told_as_one() -> None:
    found = fact("average number of invoices per customer")
    result = Result.of({"columns": [{"name": "average_count"}], "rows": [[5.92]]})
    told = answer_text(found, result, Words(DEFINITIONS))
    assert told.startswith("The average number of invoices per customer is 5.92.")
