"""What can be read in two ways is asked about, and not answered as a fact."""

from dataclasses import replace
from typing import Any

import pytest

from steward.agents.asking.world import World
from steward.definitions import ColumnFacts, DatasetFacts, Definitions
from tests.agents.asking_kit import DIMENSION, TIME, asked, number, table

FACTS: dict[str, dict[str, Any]] = {
    "temperature": {"low": 0, "high": 40, "nulls": 12},
    "cut": {"unique": False},
    "nuclide": {"unique": True},
    "industry": {"unique": False},
    "source": {"unique": False},
    "started": {"first": "1953-01-20", "last": "2009-01-20"},
    "date": {"first": "2009-06-01", "last": "2009-07-31", "unique": True},
    "hour": {"first": "2013-02-11", "last": "2013-10-03", "unique": True},
}


def known(
    name: str,
    columns: dict[str, str],
    roles: dict[str, Any],
    key: tuple[str, ...] = (),
    **values: tuple[str, ...],
) -> World:
    """One table, profiled, with what is known of its columns."""
    plain = table(name, 900, columns, **values)
    found: list[ColumnFacts] = [replace(each, **FACTS.get(each.name, {})) for each in plain.columns]
    facts: DatasetFacts = replace(plain, columns=tuple(found), key=key)
    time = next((each for each in columns if roles.get(each) == TIME), None)
    definitions = {"tables": {name: {"key": list(key), "columns": roles, "default_time": time}}}
    return World({name: facts}, Definitions.model_validate(definitions))


TIPS = known(
    "tips",
    {"tip": "DOUBLE", "total_bill": "DOUBLE", "day": "VARCHAR"},
    {"tip": number(), "total_bill": number(), "day": DIMENSION},
    day=("Fri", "Sat", "Sun"),
)
DIAMONDS = known(
    "diamonds",
    {"price": "BIGINT", "carat": "DOUBLE", "cut": "VARCHAR"},
    {"price": number("never", "avg"), "carat": DIMENSION, "cut": DIMENSION},
    cut=("Ideal", "Premium", "Fair"),
)
NUCLIDES = known(
    "nuclides",
    {"nuclide": "VARCHAR", "abundance": "DOUBLE", "is_stable": "BOOLEAN", "element": "VARCHAR"},
    {"nuclide": DIMENSION, "abundance": number("never", "avg"), "is_stable": DIMENSION},
    key=("nuclide",),
    element=("Sn", "C"),
)
INDUSTRIES = known(
    "industries",
    {"industry": "VARCHAR", "unemployed": "BIGINT"},
    {"industry": DIMENSION, "unemployed": number("never", "avg")},
    industry=("Construction", "Mining"),
)
POWER = known(
    "power",
    {"source": "VARCHAR", "year": "BIGINT", "generated": "BIGINT"},
    {"source": DIMENSION, "year": TIME, "generated": number()},
    key=("source", "year"),
    source=("Nuclear", "Wind"),
)
PRESIDENTS = known(
    "presidents",
    {"name": "VARCHAR", "started": "DATE", "ended": "DATE"},
    {"name": DIMENSION, "started": TIME, "ended": TIME},
)
PRICES = known(
    "prices",
    {"date": "DATE", "high": "DOUBLE", "signal": "VARCHAR"},
    {"date": TIME, "high": number("never", "avg"), "signal": DIMENSION},
    signal=("short", "long"),
)
VISITS = known(
    "visits",
    {"hour": "TIMESTAMP", "pageviews": "DOUBLE"},
    {"hour": TIME, "pageviews": number("never", "avg")},
    key=("hour",),
)
ELEMENTS = known(
    "elements",
    {"name": "VARCHAR", "metal": "VARCHAR"},
    {"name": DIMENSION, "metal": DIMENSION},
    metal=("alkali metal", "noble gas"),
)
ANIMALS = known(
    "animals",
    {"name": "VARCHAR", "order": "VARCHAR", "weight": "DOUBLE"},
    {"name": DIMENSION, "order": DIMENSION, "weight": number("never", "avg")},
    order=("Carnivora", "Rodentia"),
)


@pytest.mark.parametrize(
    ("message", "world"),
    [
        pytest.param("tip percentage by day", TIPS, id="a table or its figure"),
        pytest.param("price per carat", DIAMONDS, id="divided or grouped"),
        pytest.param("share of nuclear in 2015", POWER, id="as many rows of each source"),
        pytest.param("presidents in 1970", PRESIDENTS, id="began or lasted"),
        pytest.param("average high yesterday", PRICES, id="after the data ends"),
        pytest.param("which day had the most pageviews", VISITS, id="days of hourly figures"),
        pytest.param("how many metals", ELEMENTS, id="kinds of metal or metals"),
        pytest.param("how many animals are carnivores", ANIMALS, id="another form of a value"),
        pytest.param("number of animals by order of each", ANIMALS, id="each of nothing"),
    ],
)
def test_a_question_that_can_mean_two_things_is_no_fact(message: str, world: World) -> None:
    assert asked(message, world).status != "fact"


@pytest.mark.parametrize(
    ("message", "world", "expected"),
    [
        (
            "list the stable nuclides of Sn",
            NUCLIDES,
            {"filters": [("element", ["Sn"]), ("is_stable", [True])]},
        ),
        ("the most abundance nuclide", NUCLIDES, {"limit": 1, "measures": []}),
        ("how many industries are there", INDUSTRIES, {"measures": ["count_distinct"]}),
        ("how often was the signal short", PRICES, {"measures": ["count"]}),
        ("average price of ideal and premium diamonds", DIAMONDS, {"groups": ["cut"]}),
    ],
)
def test_words_are_read_by_the_place_where_they_stand(
    message: str, world: World, expected: dict[str, Any]
) -> None:
    found = asked(message, world)
    assert found.status == "fact", (found.unused, found.problems)
    assert found.reading is not None
    told: dict[str, Any] = {
        "filters": sorted((each.column.column, each.values) for each in found.reading.filters),
        "limit": found.reading.limit,
        "measures": [each.function for each in found.reading.measures],
        "groups": [each.by.column for each in found.reading.groups],
    }
    assert {name: told[name] for name in expected} == expected
