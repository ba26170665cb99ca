"""What definitions add to questions: figures, named rows, words for values, flags; and what they must not break."""

from dataclasses import replace
from typing import Any

import pytest

from steward.agents.asking.reading import Asked
from steward.agents.asking.wording import Words
from steward.agents.asking.world import World
from steward.definitions import Definitions
from steward.definitions.entries import from_entries
from tests.agents.asking_kit import DIMENSION, IDENTIFIER, TIME, asked, number, query, table

TRIPS = table(
    "trips",
    900,
    {
        "trip": "BIGINT",
        "carrier": "VARCHAR",
        "mode": "BIGINT",
        "delay": "DOUBLE",
        "Total": "DOUBLE",
        "visits": "BIGINT",
        "ill": "BIGINT",
        "started": "DATE",
        "size": "VARCHAR",
    },
    carrier=("Blue", "Green"),
    size=("L", "M", "S"),
)
TRIPS = replace(
    TRIPS,
    columns=tuple(
        replace(each, distinct=2, low=0, high=1) if each.name == "ill" else each
        for each in TRIPS.columns
    ),
)
TICKETS = table("tickets", 4_000, {"ticket": "BIGINT", "trip": "BIGINT", "price": "DOUBLE"})
COLUMNS: dict[str, Any] = {
    "trip": IDENTIFIER,
    "carrier": DIMENSION,
    "mode": {**DIMENSION, "values": {"1": ["train"], "2": ["bus"]}},
    "delay": number("never", "avg"),
    "Total": number(),
    "visits": number(),
    "ill": {**DIMENSION, "synonyms": ["poor health"]},
    "started": TIME,
    "size": {**DIMENSION, "values": {"L": ["large"]}},
}
ENTRIES: dict[str, Any] = {
    "/tables/trips": {"row": "trip", "key": ["trip"], "default_time": "started"},
    **{f"/tables/trips/columns/{name}": value for name, value in COLUMNS.items()},
    "/tables/trips/segments/late": {"where": "delay > 15", "synonyms": ["arrived late"]},
    "/tables/tickets": {"row": "ticket", "key": ["ticket"]},
    "/tables/tickets/columns/ticket": IDENTIFIER,
    "/tables/tickets/columns/trip": IDENTIFIER,
    "/tables/tickets/columns/price": number("never", "avg"),
    "/metrics/bookings": {"formula": "count(distinct trip)", "over": "trips"},
    "/metrics/sales": {"formula": "sum(Total)", "over": "trips"},
    "/metrics/tickets sold": {"formula": "count(*)", "over": "tickets"},
    "/relationships/r": {
        "from_table": "tickets",
        "from_columns": ["trip"],
        "to_table": "trips",
        "to_columns": ["trip"],
    },
}
HERE = World({each.name: each for each in (TRIPS, TICKETS)}, from_entries(ENTRIES))
LATE = {"left": {"column": "delay"}, "compare": ">", "right": {"value": 15}}


def fact(message: str, known: World = HERE) -> dict[str, Any]:
    found = asked(message, known)
    assert found.status == "fact", found
    return query(found, known)


def test_how_many_of_a_figure_is_the_figure_alone() -> None:
    made = fact("How many bookings per carrier?")
    assert [each["function"] for each in made["aggregate"]] == ["count_distinct"]


def test_a_share_of_named_rows_is_of_each_group() -> None:
    made = fact("share of late trips per carrier")
    assert made["aggregate"] == [{"name": "share", "function": "avg", "column": "counts"}]
    assert made["derive"][0]["expression"]["case"][0]["when"] == LATE
    assert "filters" not in made
    whole = fact("What share of trips arrived late?")
    assert whole["aggregate"][0]["name"] == "share"
    ranked = fact("Which carrier has the highest share of late trips?")
    assert (ranked["group"], ranked["limit"]) == (["carrier"], 1)


def test_named_rows_are_counted_ranked_and_denied() -> None:
    assert fact("Which carrier has the most late trips?")["filters"] == [LATE]
    denied = asked("How many trips are not late?", HERE)
    assert denied.status == "fact"
    assert query(denied, HERE)["filters"] == [{"not": LATE}]
    chip = next(
        each for each in Words(HERE.definitions).told(denied).chips if each.kind == "filter"
    )
    assert (chip.text, chip.entry) == ("without late", "/tables/trips/segments/late")


def test_words_for_numbers_and_letters_are_values() -> None:
    assert fact("average delay of the bus")["filters"] == [
        {"left": {"column": "mode"}, "compare": "=", "right": {"value": 2}}
    ]
    assert "'L'" in str(fact("How many large trips?")["filters"])


def test_a_column_of_ones_and_zeros_is_a_condition() -> None:
    assert fact("How many trips in poor health?")["filters"] == [
        {"left": {"column": "ill"}, "compare": "=", "right": {"value": 1}}
    ]


def test_a_figure_is_named_with_small_words_in_between() -> None:
    made = fact("How many tickets were sold in 2024?")
    assert made["source"] == "tickets"
    assert made["joins"][0]["dataset"] == "trips"
    assert "2024" in str(made["filters"])


def test_a_function_is_one_although_a_column_is_called_so() -> None:
    assert fact("total sales")["aggregate"] == [
        {"name": "sales", "function": "sum", "column": "Total"}
    ]


def test_the_average_of_what_is_counted() -> None:
    made = fact("average number of visits by carrier")
    assert made["aggregate"] == [{"name": "average_visits", "function": "avg", "column": "visits"}]


def test_a_figure_of_rows_that_many_rows_lead_to_is_of_those_rows() -> None:
    assert fact("average trip delay by carrier")["source"] == "trips"
    multiplied = asked("average delay per ticket", HERE)
    assert multiplied.status != "fact"


@pytest.mark.parametrize(
    "message",
    [
        "trips with size L or carrier Blue",
        "Which carrier has the longest delay and where does it go?",
        "Who has 20 visits?",
        "total visits per trip",
        "trips whose only carrier is Blue",
        "How many trips have more than 50% visits?",
    ],
)
def test_what_a_reading_cannot_say_is_asked_back(message: str) -> None:
    found: Asked = asked(message, HERE)
    assert found.status != "fact", found


def test_without_definitions_nothing_is_a_figure() -> None:
    bare = World(HERE.datasets, Definitions())
    assert asked("How many bookings per carrier?", bare).status != "fact"
