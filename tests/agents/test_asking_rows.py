"""Figures and the rows behind them: what is counted, what each row is, and which row a figure is of."""

from dataclasses import replace
from typing import Any

import pytest

from steward.agents.asking.checking import objections
from steward.agents.asking.reading import Asked, Reading
from steward.agents.asking.world import World
from steward.definitions import Definitions
from tests.agents.asking_kit import DIMENSION, TIME, asked, number, query, table, world

MARRIAGES = table(
    "marriages",
    145,
    {"Year": "BIGINT", "Marriages": "BIGINT", "Divorces": "BIGINT", "per_1000": "DOUBLE"},
)
FIRMS = table(
    "holdings",
    220,
    {"firm": "VARCHAR", "year": "BIGINT", "invest": "DOUBLE", "worth": "DOUBLE"},
    firm=("General Motors", "US Steel", "IBM"),
)
PRICES = table("prices", 5_000, {"date": "DATE", "close": "DOUBLE", "volume": "BIGINT"})
PRESIDENTS = table(
    "presidents",
    11,
    {"name": "VARCHAR", "start": "DATE", "end": "DATE", "party": "VARCHAR"},
    party=("Republican", "Democratic"),
)
MTCARS = table("mtcars", 32, {"name": "VARCHAR", "hp": "BIGINT", "cyl": "BIGINT"})


def _with(facts: Any, key: tuple[str, ...], unique: tuple[str, ...] = (), **more: Any) -> Any:
    columns = tuple(
        replace(
            each,
            unique=each.name in unique,
            distinct=facts.rows - (each.name not in unique)
            if each.kind != "text"
            else each.distinct,
            low=0 if each.kind == "number" else None,
        )
        for each in facts.columns
    )
    return replace(facts, columns=columns, key=key, keys=(key,), **more)


KNOWN = Definitions.model_validate(
    {
        "tables": {
            "marriages": {
                "row": "marriage",
                "columns": {
                    "Year": {**TIME, "unit": "year"},
                    "Marriages": number("never"),
                    "Divorces": number("never"),
                    "per_1000": number("never"),
                },
            },
            "holdings": {
                "row": "holding",
                "columns": {
                    "firm": DIMENSION,
                    "year": {**TIME, "unit": "year"},
                    "invest": number("never"),
                    "worth": number("never"),
                },
            },
            "prices": {
                "row": "price",
                "columns": {"date": TIME, "close": number("never"), "volume": number()},
            },
            "presidents": {
                "row": "president",
                "name_column": "name",
                "default_time": "start",
                "columns": {"name": DIMENSION, "start": TIME, "end": TIME, "party": DIMENSION},
            },
            "mtcars": {
                "columns": {"name": DIMENSION, "hp": number("never"), "cyl": DIMENSION},
            },
        }
    }
)
YEARS = world(_with(MARRIAGES, ("Year",), ("Year",)), definitions=KNOWN)
INVESTED = world(_with(FIRMS, ("firm", "year")), definitions=KNOWN)
MARKET = world(_with(PRICES, ("date",), ("date",)), definitions=KNOWN)
OFFICE = world(_with(PRESIDENTS, ("start",), ("start", "end")), definitions=KNOWN)
MAGAZINE = world(_with(MTCARS, ("name",), ("name",)), definitions=KNOWN)


def fact(message: str, known: World, before: Asked | None = None) -> dict[str, Any]:
    found = asked(message, known, before)
    assert found.status == "fact", found
    return query(found, known)


def figures(made: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(each["function"], each.get("column")) for each in made["aggregate"]]


def test_a_column_of_whole_numbers_called_as_its_table_is_what_is_counted() -> None:
    assert figures(fact("How many marriages were there in 1946?", YEARS)) == [("sum", "Marriages")]
    made = fact("in which year were there the most marriages?", YEARS)
    assert (figures(made), made["limit"]) == ([("max", "Marriages")], 1)
    assert len(fact("line chart of marriages and divorces over the years", YEARS)["aggregate"]) == 2


def test_a_total_that_no_one_vouches_for_is_asked_about() -> None:
    assert asked("number of divorces", YEARS).status == "proposal"
    assert figures(fact("total number of divorces from 1900 to 1999", YEARS)) == [
        ("sum", "Divorces")
    ]


def test_years_joined_by_and_are_told_one_by_one() -> None:
    assert fact("divorces in 1900 and in 2000", YEARS)["group"] == ["Year"]


@pytest.mark.parametrize(
    "message", ["how many marriages for each divorces in 1980?", "number of rows by Year"]
)
def test_groups_of_one_row_are_no_answer(message: str) -> None:
    assert asked(message, YEARS).status == "proposal"


def test_a_figure_of_which_each_year_has_one_is_told_by_year() -> None:
    made = fact("invest of US Steel between 1940 and 1945", INVESTED)
    assert (made["group"], figures(made)) == (["year"], [("avg", "invest")])
    found = asked("invest of US Steel between 1940 and 1945", INVESTED)
    assert "This is one figure for each year." in found.assumed


def test_how_much_takes_the_figure_that_stands_further_on() -> None:
    assert figures(fact("How much did General Motors invest in 1950?", INVESTED)) == [
        ("avg", "invest")
    ]


def test_a_superlative_may_stand_behind_its_figure() -> None:
    made = fact("In what year was the worth of IBM the highest?", INVESTED)
    assert (made["group"], figures(made), made["limit"]) == (["year"], [("max", "worth")], 1)


def test_the_row_of_a_figure_is_asked_for_in_the_same_breath() -> None:
    made = fact("highest invest ever, which firm and year?", INVESTED)
    assert made["select"] == ["firm", "year", "invest"]
    assert (made["limit"], made["order"][0]["direction"]) == (1, "descending")


@pytest.mark.parametrize("then", ["on what date?", "when was that?"])
def test_the_row_of_a_figure_is_asked_for_afterwards(then: str) -> None:
    first = asked("highest close in 2015", MARKET)
    made = fact(then, MARKET, first)
    assert (made["limit"], made["order"][0]["column"]) == (1, "close")
    assert "2015" in str(made["filters"])


def test_one_day_of_daily_rows_is_one_figure() -> None:
    assert figures(fact("What was the close on October 19, 1987?", MARKET)) == [("avg", "close")]


def test_a_number_before_what_is_ranked_says_how_many() -> None:
    made = fact("five days with the highest volume", MARKET)
    assert (made["limit"], made["order"][0]["column"]) == (5, "volume")


def test_how_old_people_are_is_not_when_they_started() -> None:
    assert asked("who was the oldest president?", OFFICE).status == "proposal"
    assert fact("most recent president by start", OFFICE)["order"][0]["column"] == "start"
    assert fact("who was the first president", OFFICE)["order"][0]["direction"] == "ascending"


def test_when_is_answered_by_a_time_or_told_as_not_used() -> None:
    assert "start" in str(fact("When did the Republican start?", OFFICE)["select"])
    assert [each.word for each in asked("when did hp change in mtcars", MAGAZINE).unused][:1]


def test_a_word_that_a_table_is_called_by_in_part_names_its_rows() -> None:
    found = asked("Which car has the most hp?", MAGAZINE)
    assert (found.status, found.assumed[0]) == ("fact", "I read “car” as the rows of mtcars.")


def test_smallest_average_and_largest_are_figures_of_one_column() -> None:
    made = fact("smallest, average and largest hp", MAGAZINE)
    assert [each for each, _ in figures(made)] == ["min", "avg", "max"]


def test_a_bare_number_is_of_the_only_figure_and_that_is_told() -> None:
    one = world(
        _with(
            table("uses", 400, {"country": "VARCHAR", "amount": "DOUBLE"}),
            ("country",),
            ("country",),
        ),
        definitions=Definitions.model_validate(
            {"tables": {"uses": {"columns": {"country": DIMENSION, "amount": number("never")}}}}
        ),
    )
    found = asked("countries with more than 20", one)
    assert (found.status, found.assumed) == ("fact", ["I compared amount."])
    assert asked("countries with more than 20 smurfs", one).status != "fact"


def test_a_function_that_changes_nothing_is_told() -> None:
    first = asked("how many presidents per party", OFFICE)
    found = asked("the average by name instead", OFFICE, first)
    assert (found.status, [each.word for each in found.unused]) == ("proposal", ["average"])


SHAKEN = world(
    table(
        "quakes", 596, {"strength": "DOUBLE", "class": "VARCHAR"}, **{"class": ("Strong", "Light")}
    ),
    definitions=Definitions.model_validate(
        {
            "tables": {
                "quakes": {
                    "row": "quake",
                    "columns": {"strength": number("never"), "class": DIMENSION},
                }
            }
        }
    ),
)


def test_a_superlative_is_no_value_that_begins_so() -> None:
    assert "strongest" in [each.word for each in asked("the strongest quakes", SHAKEN).unused]
    assert fact("how many strong quakes", SHAKEN)["filters"]


def test_a_chart_that_cannot_be_drawn_is_told() -> None:
    found = asked("show quakes as a bar chart", SHAKEN)
    assert found.status == "proposal"
    assert found.problems[0].startswith("A bar chart needs groups")
    assert asked("number of quakes by class as a bar chart", SHAKEN).status == "fact"


def test_shares_of_what_is_grouped_by_say_nothing() -> None:
    strong = {"column": {"column": "class"}, "test": "=", "values": ["Strong"]}
    share = {"function": "count", "share": True, "where": [strong]}
    whole = Reading.model_validate({"table": "quakes", "measures": [share]})
    grouped = whole.model_copy(
        update={
            "groups": Reading.model_validate(
                {"table": "quakes", "groups": [{"by": {"column": "class"}}]}
            ).groups
        }
    )
    assert objections(whole, SHAKEN) == []
    assert objections(grouped, SHAKEN) == [
        "The groups are those that the share is of, so each share is all or nothing."
    ]
