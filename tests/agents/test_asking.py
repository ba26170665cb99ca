"""Questions as they are read: every word is used, or nothing is claimed."""

from typing import Any

import pytest

from steward.agents.asking.asking import Before, ask
from steward.agents.asking.lexicon import Lexicon
from steward.agents.asking.reading import Asked, Reading
from steward.agents.asking.world import World
from tests.agents.asking_kit import (
    AIRLINES,
    CARS,
    CUSTOMERS,
    FLIGHTS,
    INVOICES,
    LINES,
    TODAY,
    asked,
    query,
    world,
)

SHOP = world(INVOICES, CUSTOMERS)
SKY = world(FLIGHTS, AIRLINES)
GARAGE = world(CARS)
TILL = world(LINES)


def fact(message: str, known: World, before: Asked | None = None) -> dict[str, Any]:
    found = asked(message, known, before)
    assert found.status == "fact", found
    return query(found, known)


def words(found: Asked) -> list[str]:
    return [each.word for each in found.unused]


def test_a_number_beside_a_column_is_a_condition_on_it() -> None:
    made = fact("How many cars have 8 cylinders?", GARAGE)
    assert made["aggregate"] == [{"name": "count", "function": "count"}]
    assert made["filters"] == [
        {"left": {"column": "Cylinders"}, "compare": "=", "right": {"value": 8}}
    ]


def test_a_share_of_rows_per_group_counts_rows() -> None:
    made = fact("Share of flights per origin", SKY)
    assert (made["group"], made["aggregate"][0]["function"]) == (["origin"], "count")
    assert made["window"][0]["function"] == "share"


def test_a_metric_is_found_by_its_name_and_by_its_synonym() -> None:
    for message in ("Monthly revenue", "turnover by month"):
        made = fact(message, TILL)
        assert made["group"] == ["month"]
        assert {each["name"] for each in made["derive"]} >= {"month"}
        assert "line_id" not in str(made["aggregate"])


def test_default_filters_of_definitions_hold() -> None:
    assert "cancelled" in str(fact("total quantity", TILL)["filters"])


def test_the_column_that_is_named_is_taken_and_no_other() -> None:
    made = fact("average arrival delay", SKY)
    assert made["aggregate"][0]["column"] == "arr_delay"
    made = fact("average departure delay by carrier", SKY)
    assert (made["aggregate"][0]["column"], made["group"]) == ("dep_delay", ["carrier"])


def test_a_name_that_fits_two_columns_is_asked_about() -> None:
    found = asked("average delay by origin", SKY)
    assert found.status == "proposal"
    columns = {each.measures[0].column.column for each in found.nearest if each.measures[0].column}
    assert columns == {"arr_delay", "dep_delay"}


def test_a_segment_of_definitions_is_a_condition() -> None:
    made = fact("How many invoices are unpaid?", SHOP)
    assert "overdue" in str(made["filters"])


def test_what_is_not_said_is_asked_for() -> None:
    found = asked("How many invoices are unpaid, and how much?", SHOP)
    assert (found.status, words(found)) == ("proposal", ["how", "much"])


def test_words_that_nothing_is_called_by_are_told_and_nothing_is_claimed() -> None:
    plain = world(INVOICES, CUSTOMERS, definitions=SHOP.definitions.model_copy(
        update={"tables": {
            name: each.model_copy(update={"segments": {}})
            for name, each in SHOP.definitions.tables.items()
        }}
    ))  # fmt: skip
    found = asked("Which customers have the highest unpaid invoices?", plain)
    assert found.status != "fact"
    assert "unpaid" in words(found)


def test_the_largest_of_another_table_are_grouped_by_its_name() -> None:
    made = fact("top 5 customers by invoiced", SHOP)
    assert made["group"] == ["company", "customer_id"]
    assert made["joins"][0]["dataset"] == "customers"
    assert (made["limit"], made["order"][0]["direction"]) == (5, "descending")


def test_a_value_of_another_table_is_found_along_the_relationship() -> None:
    found = asked("total distance of Delta Air Lines", SKY)
    assert found.status == "fact"
    assert any("Delta Air Lines Inc." in each for each in found.assumed)
    assert query(found, SKY)["joins"][0]["dataset"] == "airlines"


def test_a_value_that_two_columns_have_is_asked_about_unless_the_column_is_named() -> None:
    assert asked("how many flights JFK", SKY).status == "proposal"
    made = fact("how many flights with origin JFK", SKY)
    assert made["filters"][0]["left"] == {"column": "origin"}


def test_an_identifier_is_not_added_up() -> None:
    found = asked("total line id by month", TILL)
    assert found.status == "proposal"
    assert "names rows" in found.problems[0]
    counted = fact("total flights by origin", SKY)
    assert counted["aggregate"] == [{"name": "count", "function": "count"}]


def test_a_price_is_not_added_up() -> None:
    found = asked("total unit price", TILL)
    assert found.status == "proposal"
    assert "means nothing" in found.problems[0]


@pytest.mark.parametrize(
    ("message", "start", "end"),
    [
        ("total gross in 2024", "2024-01-01", "2025-01-01"),
        ("total gross in March 2024", "2024-03-01", "2024-04-01"),
        ("total gross last month", "2026-10-01", "2026-11-01"),
        ("total gross between 2022 and 2024", "2022-01-01", "2025-01-01"),
        ("total gross since 2024", "2024-01-01", None),
        ("total gross in Q2 2024", "2024-04-01", "2024-07-01"),
    ],
)
def test_stretches_of_time(message: str, start: str, end: str | None) -> None:
    found = asked(message, SHOP)
    assert found.status == "fact", found
    assert found.reading is not None
    period = found.reading.periods[0]
    assert (period.column.column, period.start, period.end) == ("issue_date", start, end)
    assert "issue date" in " ".join(found.assumed) or "issue_date" in " ".join(found.assumed)


def test_a_period_of_a_column_that_is_named_is_of_that_column() -> None:
    found = asked("total gross by due date month", SHOP)
    assert found.reading is not None
    assert found.reading.groups[0].by.column == "due_date"


@pytest.mark.parametrize(
    ("message", "filters"),
    [
        ("cars with more than 4 cylinders", [("Cylinders", ">", [4])]),
        ("cars with at least 100 horsepower", [("Horsepower", ">=", [100])]),
        ("cars with horsepower between 100 and 150", [("Horsepower", "between", [100, 150])]),
        ("cars without horsepower", [("Horsepower", "empty", [])]),
        ("cars from Japan or Europe", [("Origin", "=", ["Japan", "Europe"])]),
        ("cars not from Japan", [("Origin", "!=", ["Japan"])]),
        ("Japanese cars", [("Origin", "=", ["Japan"])]),
    ],
)
def test_conditions(message: str, filters: list[tuple[str, str, list[Any]]]) -> None:
    found = asked(f"how many {message}", GARAGE)
    assert found.status == "fact", found
    assert found.reading is not None
    assert [(e.column.column, e.test, e.values) for e in found.reading.filters] == filters


def test_small_typing_mistakes_are_mended_and_told() -> None:
    found = asked("avrage horsepower by origin", GARAGE)
    assert found.status == "fact"
    assert any("avrage" in each for each in found.assumed)


def test_follow_ups_change_the_last_reading() -> None:
    first = asked("total gross by country", SHOP)
    by_year = asked("and by year?", SHOP, first)
    assert query(by_year, SHOP)["group"] == ["year"]
    only = asked("only for Germany", SHOP, first)
    assert (query(only, SHOP)["group"], "Germany" in str(query(only, SHOP)["filters"])) == (
        ["country"],
        True,
    )
    average = asked("now the average instead", SHOP, only)
    made = query(average, SHOP)
    assert made["aggregate"][0]["function"] == "avg"
    assert made["filters"] == query(only, SHOP)["filters"]
    assert query(asked("top 2", SHOP, first), SHOP)["limit"] == 2
    chart = asked("as a bar chart", SHOP, first)
    assert chart.reading is not None
    assert (chart.status, chart.reading.chart) == ("fact", "bar")


def test_a_number_without_a_figure_is_of_the_figure_that_was_spoken_of() -> None:
    ordered = asked("sort by gross", SHOP, asked("show overdue invoices", SHOP))
    over = asked("only over 5000", SHOP, ordered)
    assert (over.status, "gross" in str(query(over, SHOP)["filters"])) == ("fact", True)
    higher = asked("only over 7000", SHOP, over)
    assert "5000" not in str(query(higher, SHOP)["filters"])
    grouped = asked("only over 1000", SHOP, asked("total gross by country", SHOP))
    assert grouped.reading is not None
    assert (len(grouped.reading.having), grouped.reading.filters) == (1, [])


@pytest.mark.parametrize(
    ("reply", "column"), [("gross", "gross"), ("the net one", "net"), ("net over 5000", "net")]
)
def test_a_reply_picks_one_of_the_readings_that_were_offered(reply: str, column: str) -> None:
    first = asked("list invoices over 5000", SHOP)
    assert (first.status, len(first.nearest)) == ("proposal", 2)
    before = Before(first.reading, offered=tuple(first.nearest))
    picked = ask(reply, SHOP, Lexicon(SHOP), TODAY, before)
    assert picked.reading is not None
    assert picked.status == "fact"
    assert [each.column.column for each in picked.reading.filters] == [column]


def test_what_was_left_open_stays_open() -> None:
    first = asked("list invoices over 5000", SHOP)
    before = Before(first.reading, offered=tuple(first.nearest))
    found = ask("only Germany", SHOP, Lexicon(SHOP), TODAY, before)
    assert (found.status, len(found.nearest)) == ("proposal", 2)


def test_rows_behind_a_count_and_after_work_are_shown() -> None:
    counted = asked("how many invoices are overdue?", SHOP)
    who = asked("who are they?", SHOP, counted)
    assert who.reading is not None
    assert (who.status, who.reading.measures, len(who.reading.filters)) == ("fact", [], 1)
    worked = Asked(status="fact", reading=Reading(table="invoices"))
    for message in ("show me the rows", "show me the result"):
        assert asked(message, SHOP, worked).status == "fact", message


def test_those_that_rows_belong_to_are_listed_with_how_many_they_have() -> None:
    for message in ("which customers have overdue invoices", "customers with overdue invoices"):
        made = fact(message, SHOP)
        assert "company" in str(made["group"]), message
        assert (made["aggregate"][0]["function"], len(made["filters"])) == ("count", 1)
    for message in ("which customers have no overdue invoices", "customers without invoices"):
        assert fact(message, SHOP)["joins"][0]["kind"] == "anti", message


def test_an_average_of_rows_asks_for_the_figure() -> None:
    found = asked("average invoice per country", SHOP)
    assert found.status == "proposal"
    columns = [each.measures[0].column for each in found.nearest]
    assert [each.column for each in columns if each is not None] == ["gross", "net"]


def test_a_follow_up_without_anything_before_it_is_not_guessed() -> None:
    for message in ("by month", "only Germany", "as a bar chart", "how many of those are paid?"):
        assert asked(message, SHOP).status != "fact", message
