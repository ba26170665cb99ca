"""Charts of answers: drawn from the rows that answer, with time axes, units, and no more marks than can be read."""

from typing import Any

import pytest
import vl_convert

from steward.agents.asking.answering import Result
from steward.agents.asking.charting import chart_of
from steward.agents.asking.reading import Reading
from steward.agents.asking.wording import Words
from steward.definitions import Definitions
from steward.output.validate import validate

WORDS = Words(
    Definitions.model_validate(
        {
            "tables": {
                "sales": {
                    "row": "sale",
                    "default_time": "sold_at",
                    "columns": {
                        "sold_at": {"role": "time", "zone": "Europe/Vienna"},
                        "net": {"role": "measure", "unit": "EUR"},
                    },
                }
            }
        }
    )
)
NET = {"function": "sum", "column": {"column": "net"}}
MONTHS = {"by": {"column": "sold_at"}, "unit": "month"}
CITY = {"by": {"column": "city"}}


def drawn(reading: dict[str, Any], rows: list[list[Any]]) -> Any:
    names = [{"name": f"c{index}", "type": ""} for index in range(len(rows[0]))]
    whole = Reading.model_validate({"table": "sales", "measures": [NET], **reading})
    chart = chart_of(whole, Result(names, rows), WORDS)
    if chart is not None:
        vl_convert.vegalite_to_svg(chart["spec"])
    return chart


@pytest.mark.parametrize("shape", [None, "bar", "line", "area"])
def test_time_is_drawn_along_a_time_axis_also_with_a_zone(shape: str | None) -> None:
    rows = [["2025-01-01T00:00:00+01:00", "7.50"], ["2025-02-01T00:00:00+01:00", "6.00"]]
    chart = drawn({"groups": [MONTHS], "chart": shape}, rows)
    encoding = chart["spec"]["encoding"]
    assert encoding["x"]["type"] == "temporal"
    assert encoding["y"]["title"] == "total net (EUR)"
    assert chart["spec"]["mark"]["type"] == (shape or "line")
    assert [each["x"] for each in chart["spec"]["data"]["values"]] == [
        "2025-01-01T00:00:00",
        "2025-02-01T00:00:00",
    ]


def test_more_bars_than_can_be_read_become_the_largest_and_the_rest() -> None:
    rows = [[f"City {index:02d}", index] for index in range(1, 48)]
    chart = drawn({"groups": [CITY]}, rows)
    values = chart["spec"]["data"]["values"]
    assert len(values) == 20
    assert values[-1] == {"x": "other", "value": float(sum(range(1, 29)))}
    assert chart["spec"]["title"]["subtitle"] == "Shows the 19 largest of 47 cities and the rest as “other”."  # fmt: skip
    average = {"function": "avg", "column": {"column": "net"}}
    chart = drawn({"groups": [CITY], "measures": [average]}, rows)
    assert len(chart["spec"]["data"]["values"]) == 20
    assert not any(each["x"] == "other" for each in chart["spec"]["data"]["values"])
    assert chart["spec"]["title"]["subtitle"] == "Shows the 20 largest of 47 cities."


def test_a_pie_of_what_is_no_part_of_a_whole_becomes_bars_and_says_so() -> None:
    average = {"function": "avg", "column": {"column": "net"}}
    chart = drawn({"groups": [CITY], "measures": [average], "chart": "pie"}, [["A", 1], ["B", 2]])
    assert chart["spec"]["mark"]["type"] == "bar"
    assert "a pie shows parts of one whole" in chart["description"]
    parts = drawn({"groups": [CITY], "chart": "pie"}, [["A", 1], [None, 2]])
    assert parts["spec"]["mark"]["type"] == "arc"
    assert parts["spec"]["data"]["values"][1]["x"] == "(empty)"


def test_a_second_group_is_a_colour() -> None:
    rows = [["2025-01-01", "A", 1], ["2025-01-01", "B", 2], ["2025-02-01", "A", 3]]
    chart = drawn({"groups": [MONTHS, CITY]}, rows)
    assert chart["spec"]["encoding"]["color"]["title"] == "city"


def test_one_figure_or_rows_need_no_chart() -> None:
    assert drawn({}, [[5]]) is None
    assert drawn({"groups": [CITY]}, [["A", 5]]) is None
    assert drawn({"groups": [CITY], "measures": []}, [["A", 5], ["B", 6]]) is None
    assert drawn({"groups": [CITY], "chart": "histogram"}, [["A", 5], ["B", 6]]) is None


def test_charts_pass_the_check_of_charts_from_elsewhere() -> None:
    chart = drawn({"groups": [CITY]}, [["A", 1], ["B", 2]])
    validate(chart["spec"])


def test_each_figure_that_was_asked_for_is_a_line() -> None:
    gross = {"function": "sum", "column": {"column": "gross"}}
    rows = [["2025-01-01", 7, 9], ["2025-02-01", 6, 8]]
    chart = drawn({"measures": [NET, gross], "groups": [MONTHS], "chart": "line"}, rows)
    values = chart["spec"]["data"]["values"]
    assert {each["series"]: each["value"] for each in values} == {"total net": 6, "total gross": 8}
    assert chart["spec"]["encoding"]["color"]["field"] == "series"


def test_amounts_in_several_currencies_are_not_drawn_side_by_side() -> None:
    unit = {"by": {"column": "currency"}, "is_unit": True}
    rows = [["Graz", "EUR", 7], ["Oslo", "NOK", 900], ["Linz", "EUR", 5], ["Bergen", "EUR", 1]]
    chart = drawn({"groups": [CITY, unit]}, rows)
    values = chart["spec"]["data"]["values"]
    assert [each["x"] for each in values] == ["Graz", "Linz", "Bergen"]
    assert chart["spec"]["encoding"]["x"]["title"] == "total net (EUR)"
    assert "Only EUR: amounts in several currencies cannot be compared." in chart["description"]
    assert drawn({"groups": [unit]}, [["EUR", 7], ["NOK", 900]]) is None
