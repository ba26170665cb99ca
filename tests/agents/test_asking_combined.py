"""Questions about two columns, about rows that no others lead to, and about rows that only the project's name calls so."""

from dataclasses import replace

import pytest

from steward.agents.asking.answering import Result, answer_text
from steward.agents.asking.lacking import read_lacking
from steward.agents.asking.reading import Asked, Reading
from steward.agents.asking.wording import Words
from tests.agents.asking_kit import (
    CARS,
    CUSTOMERS,
    DEFINITIONS,
    INVOICES,
    LINES,
    asked,
    query,
    world,
)

SHOP = world(INVOICES, CUSTOMERS)
GARAGE = world(CARS)
TILL = world(LINES)


def line(message: str, known: object = SHOP) -> str:
    found = asked(message, known)  # type: ignore[arg-type]
    assert found.status == "fact", found
    assert found.reading is not None
    return Words(DEFINITIONS).line(found.reading)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("which customers have no overdue invoices", "with the status overdue"),
        ("customers who don't have any invoices in 2024", "in 2024"),
        ("how many customers have no invoices?", "without invoices"),
        ("Enterprise customers without invoices", "only Enterprise"),
    ],
)
def test_rows_that_no_others_lead_to_are_found(message: str, said: str) -> None:
    found = asked(message, SHOP)
    assert found.status == "fact", found
    (join,) = query(found, SHOP)["joins"]
    assert (join["dataset"], join["kind"]) == ("invoices", "anti")
    assert said in line(message)


def test_what_lacks_is_of_rows_that_lead_here_and_nothing_else() -> None:
    for message in (
        "customers without invoices per country",
        "customers without overdue flights",
        "invoices without customers",
        "how many customers are there without invoices without gross",
    ):
        found = asked(message, SHOP)
        assert found.reading is None or not found.reading.lacking, message


def test_differences_and_ratios_of_columns() -> None:
    assert "average difference between gross and net" in line(
        "average difference between gross and net"
    )
    assert "largest difference" in line("largest difference between gross and net by country")
    assert "total difference between gross and net" in line("gross minus net in 2024")
    assert "ratio of gross to net" in line("what is the ratio of gross to net?")
    found = asked("which country has the largest difference between gross and net", SHOP)
    assert found.status != "fact"
    found = asked("difference between Horsepower and Miles_per_Gallon", GARAGE)
    assert (found.status, len(found.nearest)) == ("proposal", 2)


def test_a_ratio_is_of_totals_over_rows_that_have_both() -> None:
    made = query(asked("ratio of gross to net per country", SHOP), SHOP)
    assert [each["function"] for each in made["aggregate"]] == ["sum", "sum"]
    assert all(len(each["where"]["all"]) == 2 for each in made["aggregate"])
    assert made["group"] == ["country"]


def test_two_columns_of_a_row_are_compared() -> None:
    made = query(asked("how many invoices have a gross higher than the net?", SHOP), SHOP)
    assert made["filters"] == [
        {"left": {"column": "gross"}, "compare": ">", "right": {"column": "net"}}
    ]


def test_several_figures_in_a_list() -> None:
    made = query(asked("average gross, net by country", SHOP), SHOP)
    assert [each["column"] for each in made["aggregate"]] == ["gross", "net"]


def test_lowest_first_orders_rows_by_what_they_are_chosen_by() -> None:
    made = query(asked("list the cars with over 200 Horsepower, lowest first", GARAGE), GARAGE)
    assert made["order"] == [{"column": "Horsepower", "direction": "ascending"}]


def test_the_first_groups_of_a_count() -> None:
    made = query(asked("number of invoices per country, top 2", SHOP), SHOP)
    assert (made["limit"], made["order"][0]["direction"]) == (2, "descending")


@pytest.mark.parametrize(
    ("title", "is_read"),
    [
        ("Vehicles of the seventies", True),
        ("Old vehicles and their makers", True),
        ("Testing vehicles", True),
        ("A test of vehicles", False),
        ("Vehicle", False),
        ("", False),
    ],
)
def test_rows_are_called_as_the_project_is(title: str, is_read: bool) -> None:
    known = replace(GARAGE, title=title)
    found = asked("how many vehicles have 8 cylinders?", known)
    assert (found.status == "fact") is is_read
    assert any("vehicles" in each for each in found.assumed) is is_read


def test_the_name_of_a_project_with_several_tables_calls_no_rows() -> None:
    assert asked("how many bills are overdue?", replace(SHOP, title="Bills")).status != "fact"


def test_the_answer_says_how_many_rows_there_are() -> None:
    rows = {"columns": [{"name": "gross"}], "rows": [[1.0]] * 100, "in_all": 272}
    read = Asked(status="fact", reading=Reading(table="invoices"))
    told = answer_text(read, Result.of(rows), Words(DEFINITIONS))
    assert told == "There are 272 invoices. These are the first 100."


def test_a_message_with_two_negations_is_no_question_of_lacking() -> None:
    assert (
        read_lacking("customers without invoices without gross", lambda _: pytest.fail("read"))
        is None
    )
