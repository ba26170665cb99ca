"""What is looked at before an answer is told as a fact: words of follow-ups, subjects, shares, joins, empty results."""

from dataclasses import replace

import pytest

from steward.agents.asking.answering import Result
from steward.agents.asking.asking import Before, ask
from steward.agents.asking.comparing import compare
from steward.agents.asking.examples import example_questions
from steward.agents.asking.lexicon import Lexicon
from steward.agents.asking.reading import (
    Asked,
    ColumnRef,
    Filtered,
    Grouped,
    Measured,
    Period,
    Reading,
)
from steward.agents.asking.results import checked_result
from steward.agents.asking.world import World
from steward.definitions import Definitions, propose_definitions
from steward.definitions.merging import merge_definitions
from tests.agents.asking_kit import (
    AIRLINES,
    CARS,
    CUSTOMERS,
    DIMENSION,
    FLIGHTS,
    INVOICES,
    TIME,
    TODAY,
    asked,
    number,
    query,
    table,
    world,
)

WEATHER = table(
    "weather",
    1_461,
    {"date": "DATE", "temp_max": "DOUBLE", "temp_min": "DOUBLE", "sky": "VARCHAR"},
    sky=("sun", "rain"),
)
WEATHER = replace(
    WEATHER,
    columns=tuple(
        replace(each, unique=True) if each.name == "date" else each for each in WEATHER.columns
    ),
)
DAILY = Definitions.model_validate(
    {
        "tables": {
            "weather": {
                "default_time": "date",
                "columns": {
                    "date": TIME,
                    "temp_max": number("never", "avg"),
                    "temp_min": number("never", "avg"),
                    "sky": DIMENSION,
                },
            }
        }
    }
)


def test_all_functions_of_a_list_are_computed() -> None:
    found = asked("mean, min and max of horsepower", world(CARS))
    assert found.status == "fact"
    functions = [each["function"] for each in query(found, world(CARS))["aggregate"]]
    assert functions == ["avg", "min", "max"]


def test_days_are_the_rows_of_a_table_with_one_row_per_day() -> None:
    known = world(WEATHER, definitions=DAILY)
    found = asked("how many sunny days in 2012", known)
    assert found.status == "fact"
    document = query(found, known)
    assert document["aggregate"] == [{"name": "count", "function": "count"}]
    assert "sun" in str(document["filters"])


def test_the_hottest_day_is_by_the_highest_of_two_temperatures() -> None:
    found = asked("hottest day", world(WEATHER, definitions=DAILY))
    assert found.status == "fact"
    assert found.reading is not None
    assert found.reading.order[0].column == ColumnRef(column="temp_max")
    assert found.reading.limit == 1


@pytest.mark.parametrize(
    "message",
    [
        # "Next" is of a page, and there is none.
        "cars next to Japan",
        # Which one is asked; a figure is no answer.
        "which car has the average horsepower",
        # Whether much is good, no one said.
        "worst horsepower",
        # An unknown word that restricts is not taken for a verb.
        "how many flights were cancelled in March",
    ],
)
def test_what_is_not_answered_is_asked_about(message: str) -> None:
    assert asked(message, world(CARS, FLIGHTS)).status != "fact"


def test_largest_of_rows_is_not_how_many_rows_there_are() -> None:
    found = asked("which origin has the largest car", world(CARS))
    assert found.status != "fact"


def test_a_verb_that_only_leads_to_a_condition_is_read() -> None:
    known = world(FLIGHTS, AIRLINES)
    found = asked("total distance flown by Delta Air Lines", known)
    assert found.status == "fact"
    assert query(found, known)["joins"][0]["dataset"] == "airlines"


def test_a_change_of_a_proposal_keeps_it_and_stays_a_proposal() -> None:
    known = world(INVOICES)
    first = asked("how many dubious invoices", known)
    assert (first.status, [each.word for each in first.unused]) == ("proposal", ["dubious"])
    before = Before(first.reading, pending=("dubious",))
    second = ask("only Germany", known, Lexicon(known), TODAY, before)
    assert second.status == "proposal"
    assert [each.word for each in second.unused] == ["dubious"]
    assert second.reading is not None
    assert second.reading.filters[0].values == ["Germany"]


def _told(reading: Reading, columns: list[str], rows: list[list[object]], known: World) -> Asked:
    found = checked_result(Asked(status="fact", reading=reading), Result(columns, rows), known)
    assert found is not None
    return found


def test_parts_that_do_not_add_up_are_no_shares() -> None:
    reading = Reading(
        table="cars",
        measures=[Measured(function="count", share=True)],
        groups=[Grouped(by=ColumnRef(column="Origin"))],
    )
    names = ["Origin", "count", "share_of_count"]
    right = _told(reading, names, [["USA", 3, 0.75], ["Japan", 1, 0.25]], world(CARS))
    assert right.status == "fact"
    wrong = _told(reading, names, [["USA", 3, 0.75], ["Japan", 1, 0.75]], world(CARS))
    assert wrong.status == "proposal"
    assert "150.0%" in wrong.problems[0]


def test_averages_have_no_shares() -> None:
    found = asked("share of average horsepower by origin", world(CARS))
    assert found.status != "fact"


def test_a_condition_that_leaves_nothing_is_named_with_what_there_is() -> None:
    count = [Measured(function="count")]
    wanted = Filtered(column=ColumnRef(column="Origin"), test="=", values=["Italy"])
    found = _told(
        Reading(table="cars", measures=count, filters=[wanted]), ["count"], [[0]], world(CARS)
    )
    assert found.problems == ["No row has the Origin “Italy”. There is: USA, Europe and Japan."]
    year = next(each for each in CARS.columns if each.name == "Year")
    dated = replace(year, first="1970-01-01", last="1982-01-01")
    columns = tuple(dated if each.name == "Year" else each for each in CARS.columns)
    later = Period(column=ColumnRef(column="Year"), start="2020-01-01", end="2021-01-01")
    known = world(replace(CARS, columns=columns))
    found = _told(Reading(table="cars", measures=count, periods=[later]), ["count"], [[0]], known)
    assert found.problems == ["The data is from January 1970 to January 1982."]


def test_a_join_that_can_multiply_rows_stops_a_plan_of_a_model() -> None:
    known = world(INVOICES, CUSTOMERS)

    def plan(right: str) -> dict[str, object]:
        return {
            "source": "invoices",
            "joins": [{"dataset": "customers", "on": [{"left": "customer_id", "right": right}]}],
            "aggregate": [{"name": "total", "function": "sum", "column": "gross"}],
        }

    for right, is_fine in (("customer_id", True), ("segment", False)):
        found = compare("total gross", [plan(right)], known, Lexicon(known), TODAY)
        assert any("more than once" in each for each in found.problems) is not is_fine


def test_examples_are_questions_that_work() -> None:
    known = world(CARS, INVOICES)
    questions = example_questions(known, Lexicon(known), TODAY)
    assert len(questions) == 3
    assert all(asked(each, known).status == "fact" for each in questions)


def test_text_dates_are_times_and_confirming_a_key_keeps_the_proposed_time() -> None:
    found = table("tickets", 100, {"id": "BIGINT", "opened_at": "VARCHAR"})
    columns = tuple(
        replace(each, meanings=("date_text",)) if each.name == "opened_at" else each
        for each in found.columns
    )
    proposed = propose_definitions({"tickets": replace(found, columns=columns)}, ())
    assert proposed.tables["tickets"].columns["opened_at"].role == "time"
    assert proposed.tables["tickets"].default_time == "opened_at"
    stored = Definitions.model_validate(
        {"tables": {"tickets": {"key": ["id"], "state": "confirmed"}}}
    )
    assert merge_definitions(stored, proposed).tables["tickets"].default_time == "opened_at"
