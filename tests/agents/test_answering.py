"""Answers in sentences: from a reading and its rows, whatever was asked."""

from typing import Any

import pytest

from steward.agents.asking.answering import Result, answer_text, remarks
from steward.agents.asking.reading import Asked, Reading, Unused
from steward.agents.asking.wording import Words
from steward.agents.explaining.figures import sourced
from steward.agents.explaining.written_values import Amount, Writing
from steward.definitions import Definitions

DEFINITIONS = Definitions.model_validate(
    {
        "tables": {
            "cars": {
                "row": "car",
                "columns": {
                    "cylinders": {"role": "measure"},
                    "horsepower": {"role": "measure"},
                    "origin": {"role": "dimension"},
                    "year": {"role": "time"},
                },
                "default_time": "year",
            },
            "invoices": {
                "row": "invoice",
                "default_time": "issued",
                "default_filters": [{"where": "cancelled = false", "say": "without cancelled ones"}],
                "segments": {"unpaid": {"where": "status = 'open'"}},
                "columns": {
                    "issued": {"role": "time"},
                    "gross": {"role": "measure", "unit": "EUR"},
                    "customer_id": {"role": "identifier"},
                },
            },
            "customers": {"row": "customer", "columns": {"country": {"role": "dimension"}}},
            "flights": {"row": "flight", "columns": {"arr_delay": {"role": "measure", "unit": "min", "label": "arrival delay"}}},
        },
        "metrics": {"revenue": {"formula": "sum(a * b)", "over": "invoices", "unit": "EUR"}},
    }
)  # fmt: skip
GERMANY = {
    "column": {"column": "country", "table": "customers"},
    "test": "=",
    "values": ["Germany"],
}
GROSS = {"function": "sum", "column": {"column": "gross"}}
COUNT = {"function": "count"}
BIGINT, MONEY, TEXT, MOMENT = "BIGINT", "DECIMAL(18,2)", "VARCHAR", "TIMESTAMP"


def say(
    reading: dict[str, Any], columns: list[str], rows: list[list[Any]], locale: str = "en-GB"
) -> str:
    named = [{"name": f"c{index}", "type": kind} for index, kind in enumerate(columns)]
    asked = Asked(status="fact", reading=Reading.model_validate(reading))
    return answer_text(asked, Result(named, rows), Words(DEFINITIONS, Writing(locale)))  # fmt: skip


def cars(**more: Any) -> dict[str, Any]:
    return {"table": "cars", "measures": [COUNT], **more}


def invoices(**more: Any) -> dict[str, Any]:
    return {"table": "invoices", "measures": [GROSS], **more}


def only(column: str, test: str, *values: Any) -> dict[str, Any]:
    return {"column": {"column": column}, "test": test, "values": list(values)}


@pytest.mark.parametrize(
    ("reading", "value", "sentence"),
    [
        (cars(), 406, "There are 406 cars."),
        (cars(filters=[only("cylinders", "=", 8)]), 108, "108 cars have 8 cylinders."),
        (cars(filters=[only("cylinders", "=", 8)]), 1, "1 car has 8 cylinders."),
        (cars(filters=[only("cylinders", "=", 12)]), 0, "No cars have 12 cylinders."),
        (
            cars(filters=[only("cylinders", "=", 8), only("origin", "=", "Japan")]),
            5,
            "5 cars have 8 cylinders and the origin Japan.",
        ),
        (
            cars(filters=[only("horsepower", ">", 200), only("origin", "!=", "USA")]),
            3,
            "There are 3 cars with more than 200 horsepower and without the origin USA.",
        ),
        (
            cars(filters=[only("horsepower", "empty")]),
            6,
            "6 cars have no horsepower.",
        ),
        (
            invoices(measures=[COUNT], segments=["unpaid"]),
            272,
            "There are 272 unpaid invoices, without cancelled ones.",
        ),
        (
            {"table": "flights", "measures": [{"function": "avg", "column": {"column": "arr_delay"}}]},
            6.895,
            "The average arrival delay is 6.90\u00a0min.",
        ),
        (
            cars(measures=[{**COUNT, "share": True, "where": [only("origin", "=", "Japan")]}]),
            0.1945,
            "The share of cars with the origin Japan is 19.5%.",
        ),
        (
            {"table": "rest_of_it", "measures": [COUNT]},
            3,
            "There are 3 rows of rest of it.",
        ),
    ],
)  # fmt: skip
def test_one_figure_is_the_answer(reading: dict[str, Any], value: Any, sentence: str) -> None:
    kind = "DOUBLE" if isinstance(value, float) else BIGINT
    assert say(reading, [kind], [[value]]) == sentence


def test_money_periods_and_filters_of_other_tables_are_said_in_the_readers_format() -> None:
    period = {"column": {"column": "issued"}, "start": "2021-03-01", "end": "2026-10-01"}
    reading = invoices(filters=[GERMANY], periods=[period], without_defaults=True)
    told = say(reading, [MONEY], [["14200000.50"]], "de-DE")
    assert told == (
        "The total gross of invoices with the customer country Germany from March 2021 to September 2026 "
        "is 14.200.000,50\u00a0€."
    )
    found = sourced(told, [("p1/sum", {"rows": [["14200000.50"]]})])
    assert {each.text: each.source for each in found}["14.200.000,50"] == "p1/sum"


def test_several_figures_are_told_one_after_the_other() -> None:
    reading = invoices(measures=[COUNT, GROSS], segments=["unpaid"], without_defaults=True)
    assert say(reading, [BIGINT, MONEY], [[272, "1234.50"]]) == (
        "There are 272 unpaid invoices. The total gross is €1,234.50."
    )


def test_no_value_is_no_zero() -> None:
    reading = invoices(filters=[GERMANY], without_defaults=True)
    assert say(reading, [MONEY], [[None]]) == (
        "There is no total gross of invoices with the customer country Germany: no row has a value for it."
    )


def test_groups_tell_the_first_ones_and_how_many_there_are() -> None:
    by_country = {"by": {"column": "country", "table": "customers"}}
    reading = invoices(groups=[by_country], without_defaults=True)
    rows: list[list[Any]] = [
        ["France", "9.00"],
        ["Germany", "14.20"],
        [None, "3.10"],
        ["Italy", "8.00"],
    ]
    assert say(reading, [TEXT, MONEY], rows) == (
        "Germany has the highest total gross: €14.20, followed by France (€9.00) and Italy (€8.00). "
        "The result has 4 customer countries."
    )
    ranked = {**reading, "order": [{"by": "measure", "descending": False}], "limit": 2}
    assert say(ranked, [TEXT, MONEY], [[None, "3.10"], ["Italy", "8.00"]]) == (
        "(empty) has the lowest total gross: €3.10, followed by Italy (€8.00)."
    )
    most = cars(groups=[{"by": {"column": "origin"}}], order=[{"by": "measure"}], limit=1)
    assert say(most, [TEXT, BIGINT], [["USA", 254]]) == "USA has the most cars: 254."
    tied = cars(groups=[{"by": {"column": "origin"}}])
    assert say(tied, [TEXT, BIGINT], [["USA", 2], ["Japan", 2], ["Europe", 1]]) == (
        "USA and Japan have the most cars: 2 each, followed by Europe (1)."
    )


def test_shares_are_percentages_of_the_whole() -> None:
    share = {"function": "count", "share": True}
    reading = cars(measures=[share], groups=[{"by": {"column": "origin"}}])
    told = say(reading, [TEXT, "DOUBLE"], [["USA", 0.625], ["Japan", 0.2], ["Europe", 0.175]])
    assert told == (
        "USA has the highest share of the number of cars: 62.5%, followed by Japan (20.0%) and Europe (17.5%)."
    )


def test_figures_over_time_tell_their_ends_and_extremes() -> None:
    months = {"by": {"column": "issued"}, "unit": "month"}
    reading = invoices(groups=[months], measures=[{"metric": "revenue"}], without_defaults=True)
    rows = [["2025-03-01T00:00:00", "5.00"], ["2025-01-01T00:00:00", "7.00"], ["2025-02-01T00:00:00", "6.00"]]  # fmt: skip
    assert say(reading, [MOMENT, MONEY], rows) == (
        "By month, the revenue is between €5.00 (March 2025) and €7.00 (January 2025). "
        "The result has 3 months, from January 2025 to March 2025."
    )


def test_rows_say_how_many_match_and_when_there_are_more() -> None:
    shown = cars(measures=[], filters=[only("cylinders", "=", 8)])
    assert say(shown, [TEXT], [["a"], ["b"]]) == "2 cars have 8 cylinders."
    first = cars(measures=[], limit=2)
    assert say(first, [TEXT], [["a"], ["b"]]) == "These are the first 2 cars."
    best = cars(
        measures=[], limit=2, order=[{"by": "column", "column": {"column": "horsepower"}}]
    )  # fmt: skip
    assert say(best, [TEXT], [["a"], ["b"]]) == "These are the 2 cars with the highest horsepower."


def test_what_was_assumed_is_part_of_the_answer() -> None:
    asked = Asked(
        status="fact",
        reading=Reading.model_validate(cars()),
        assumed=["I read *Grmany* as Germany."],
        problems=["The result adds two currencies."],
    )
    told = answer_text(asked, Result([{"name": "n"}], [[3]]), Words(DEFINITIONS))
    assert told == "With *Grmany* as Germany: There are 3 cars. The result adds two currencies."


def test_a_question_that_was_not_read_whole_gets_readings_to_choose_from_and_no_figure() -> None:
    unused = [Unused(word=word, start=0, end=1) for word in ("unpaid", "highest", "unpaid")]
    nearest = [Reading.model_validate(cars(filters=[only("origin", "=", "Japan")]))]
    asked = Asked(status="proposal", unused=unused, nearest=nearest)
    assert answer_text(asked, Result([{"name": "n"}], [[406]]), Words(DEFINITIONS)) == (
        "I did not use: *unpaid*, *highest*. Did you mean this?\n\n- cars · number of cars · only Japan"
    )
    refused = answer_text(Asked(status="refused"), None, Words())
    assert refused == "Say it in other words, or build the question by clicking."


def test_every_part_of_a_reading_is_a_chip() -> None:
    reading = Reading.model_validate(
        invoices(
            groups=[{"by": {"column": "country", "table": "customers"}}],
            filters=[GERMANY, only("gross", ">=", 100)],
            periods=[{"column": {"column": "issued"}, "start": "2024-01-01", "end": "2025-01-01"}],
            having=[{"column": {"column": "gross"}, "test": ">", "values": [5]}],
            order=[{"by": "measure"}],
            limit=10,
            chart="bar",
        )
    )
    chips = Words(DEFINITIONS).chips(reading, {"/filters/0": "assumed"})
    assert [(chip.kind, chip.text) for chip in chips] == [
        ("table", "invoices"),
        ("measure", "total of gross"),
        ("group", "by customer country"),
        ("filter", "only Germany"),
        ("filter", "at least 100 gross"),
        ("period", "in 2024"),
        ("having", "total gross more than 5"),
        ("rank", "largest 10"),
        ("chart", "bar chart"),
        ("filter", "without cancelled ones"),
    ]
    assert [chip.source for chip in chips if chip.source != "asked"] == ["assumed", "definition"]


def test_groups_with_several_spellings_say_what_to_do() -> None:
    reading = Reading.model_validate(cars(groups=[{"by": {"column": "origin"}}]))
    assert list(remarks(reading, None, {"origin": 3}, Words(DEFINITIONS))) == [
        (
            "3 values are another spelling of the same origin. "
            "Unify the spelling of origin before you compare groups."
        )
    ]
    assert list(remarks(reading, None, {}, Words(DEFINITIONS))) == []
    rows = Result([{"name": "origin"}, {"name": "count"}], [["USA", 3], ["usa ", 1], ["Japan", 2]])
    assert list(remarks(reading, rows, {}, Words(DEFINITIONS))) == [
        (
            "1 value is another spelling of the same origin. "
            "Unify the spelling of origin before you compare groups."
        )
    ]


def test_amounts_of_several_currencies_say_what_to_do() -> None:
    amounts = {"average_net": Amount("currency")}
    net = {"function": "avg", "column": {"column": "net"}}
    reading = Reading.model_validate({"table": "bills", "measures": [net]})
    rows = Result([{"name": "average_net"}], [["5.00"]])
    (told,) = remarks(reading, rows, {}, Words(None, Writing("en-GB", amounts)))
    assert told.startswith("The amounts can be in several currencies. Add “by currency”")
    only_euro = {**amounts, "average_net": Amount("currency", "EUR")}
    assert not list(remarks(reading, rows, {}, Words(None, Writing("en-GB", only_euro))))


def test_a_result_that_may_go_on_says_nothing_about_all_of_it() -> None:
    many: list[list[Any]] = [[f"row {index}"] for index in range(100)]
    assert say(cars(measures=[]), [TEXT], many) == "These are the first 100 cars."
    groups: list[list[Any]] = [[f"origin {index}", index] for index in range(200)]
    told = say(cars(groups=[{"by": {"column": "origin"}}]), [TEXT, BIGINT], groups)
    assert told.startswith(
        "These are the first 200 origins with the number of cars. There may be more"
    )
