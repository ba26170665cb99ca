"""An explanation says no more of a figure than the plan asked and the rows show."""

import pytest

from steward.agents.explaining.qualifiers import unsupported
from steward.definitions import ColumnFacts, DatasetFacts
from steward.definitions.facts import kind_of

CARS = DatasetFacts(
    "cars",
    406,
    (
        ColumnFacts("Name", "VARCHAR", kind_of("VARCHAR")),
        ColumnFacts("Cylinders", "BIGINT", kind_of("BIGINT"), values=("4", "8")),
        ColumnFacts("Miles_per_Gallon", "DOUBLE", kind_of("DOUBLE")),
        ColumnFacts("Origin", "VARCHAR", kind_of("VARCHAR"), values=("USA", "Europe", "Japan")),
    ),
)
COUNT = {"plan": {"source": "cars", "aggregate": [{"name": "count", "function": "count"}]}}
ALL = {"columns": [{"name": "count"}], "rows": [[406]]}


def only(column: str, value: object) -> dict[str, object]:
    condition = {"left": {"column": column}, "compare": "=", "right": {"value": value}}
    return {"plan": {**COUNT["plan"], "filters": [condition]}}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("There are 406 cars with 8 cylinders.", ["Cylinders"]),
        ("406 cars have cylinders = 8.", ["Cylinders"]),
        ("406 cars come from Japan.", ["Japan"]),
        ("In all, 406 cars reach 20 miles per gallon.", ["Miles_per_Gallon"]),
    ],
)
def test_a_filter_that_was_never_there_is_refused(text: str, what: list[str]) -> None:
    assert unsupported(text, [COUNT], [ALL], [CARS]) == what


@pytest.mark.parametrize(
    "text", ["There are 406 cars.", "The table cars has 406 rows.", "I counted all cars: 406."]
)
def test_what_the_plan_did_may_be_said(text: str) -> None:
    assert unsupported(text, [COUNT], [ALL], [CARS]) == []


def test_the_plans_own_filter_may_be_said_and_another_value_may_not() -> None:
    found = {"columns": [{"name": "count"}], "rows": [[108]]}
    plan = only("Cylinders", 8)
    assert unsupported("108 cars have 8 cylinders.", [plan], [found], [CARS]) == []
    assert unsupported("108 cars have 6 cylinders.", [plan], [found], [CARS]) == ["Cylinders"]
    europe = only("Origin", "Europe")
    assert unsupported("73 cars are from Europe.", [europe], [found], [CARS]) == []
    assert unsupported("73 cars are from the USA.", [europe], [found], [CARS]) == ["USA"]


def test_values_of_the_rows_that_were_found_may_be_said() -> None:
    plan = {"plan": {**COUNT["plan"], "group": ["Origin"]}}
    rows = {
        "columns": [{"name": "Origin"}, {"name": "count"}],
        "rows": [["USA", 254], ["Japan", 79]],
    }
    assert unsupported("The USA has 254 cars and Japan 79.", [plan], [rows], [CARS]) == []
    assert unsupported("The USA has 254 cars, Europe 73.", [plan], [rows], [CARS]) == ["Europe"]
