"""Words that can mean two things, and names that stand in pieces: read by what the data says, or asked about."""

from dataclasses import replace

import pytest

from steward.agents.asking.answering import Result, answer_text
from steward.agents.asking.lexicon import abbreviates
from steward.agents.asking.reading import Asked, ColumnRef, Filtered, Grouped, Measured, Reading
from steward.agents.asking.wording import Words
from steward.agents.asking.world import World
from steward.definitions import Definitions
from steward.definitions.entries import from_entries
from tests.agents.asking_kit import asked, number, query, table

PLACES = table(
    "places",
    414,
    {
        "name": "VARCHAR",
        "type": "VARCHAR",
        "website": "VARCHAR",
        "population_1996": "BIGINT",
        "population_2021": "BIGINT",
        "height_cm": "DOUBLE",
    },
    name=("Toronto", "Ottawa"),
    type=("municipality", "town", "city", "village"),
)
WORLD = World(
    {"places": PLACES},
    from_entries(
        {
            "/tables/places": {"row": "place", "name_column": "name"},
            "/tables/places/columns/type": {"role": "dimension"},
            "/tables/places/columns/name": {"role": "dimension"},
            "/tables/places/columns/population_1996": number(),
            "/tables/places/columns/population_2021": number(),
            "/tables/places/columns/height_cm": number("never", "avg"),
        }
    ),
)


def reading(message: str, world: World = WORLD, last: Reading | None = None) -> Reading:
    found = asked(message, world, None if last is None else Asked(status="fact", reading=last))
    assert found.status == "fact", found
    assert found.reading is not None
    return found.reading


def test_no_row_has_two_values_so_each_is_answered() -> None:
    found = reading("how many are a town and how many a city")
    assert found.groups == [Grouped(by=ColumnRef(column="type"))]
    assert [each.values for each in found.filters] == [["town", "city"]]


def test_a_value_of_what_is_grouped_by_is_asked_about() -> None:
    found = asked("How many municipalities are there of each type?", WORLD)
    assert found.status == "proposal"
    assert found.problems == ["It is not clear which is meant: only “municipality”, or each type."]
    assert [bool(each.filters) for each in found.nearest] == [True, False]


def test_a_number_of_a_name_may_stand_elsewhere() -> None:
    found = reading("total population of Toronto in 2021")
    assert found.measures == [Measured(function="sum", column=ColumnRef(column="population_2021"))]
    assert not found.periods
    earlier = reading("and in 1996?", last=found)
    assert earlier.measures == [
        Measured(function="sum", column=ColumnRef(column="population_1996"))
    ]
    assert asked("total population of Toronto in 2005", WORLD).status == "proposal"


def test_a_slip_in_a_whole_name_is_read_before_the_start_of_another() -> None:
    found = asked("total populaton of Toronto in 2021", WORLD)
    assert found.status == "fact"
    assert found.assumed == ["I read “populaton” as “population”."]


def test_the_unit_in_a_name_may_be_said() -> None:
    assert reading("average height per type in cm").measures[0].function == "avg"
    assert asked("average height per type in kg", WORLD).status == "proposal"


def test_their_is_of_what_was_named_in_the_same_sentence() -> None:
    found = reading("list the villages with their website")
    assert (found.measures, found.columns) == ([], [ColumnRef(column="website")])
    assert found.filters[0].values == ["village"]


def test_both_ends_of_a_figure() -> None:
    found = reading("For each type, show the smallest and largest height")
    assert [each.function for each in found.measures] == ["min", "max"]


def test_things_are_ranked_by_a_figure() -> None:
    found = reading("rank the types by mean height")
    assert found.groups == [Grouped(by=ColumnRef(column="type"))]
    assert [each.function for each in found.measures] == ["avg"]
    assert [each.by for each in found.order] == ["measure"]


def test_another_figure_keeps_the_function_and_leaves_nothing_open() -> None:
    last = reading("average height by type")
    found = reading("the same for population 2021", last=last)
    assert found.measures == [Measured(function="avg", column=ColumnRef(column="population_2021"))]


def test_what_is_not_said_to_be_a_sum_is_added_up_only_when_asked_to_and_told() -> None:
    gauges = table("gauges", 50, {"site": "VARCHAR", "flux": "DOUBLE", "price": "DOUBLE"})
    world = World({"gauges": gauges}, Definitions())
    found = asked("total flux by site", world)
    assert found.status == "fact"
    assert any("Nothing says yet that flux can be added up." in each for each in found.assumed)
    assert asked("total price by site", world).status == "proposal"
    said = {"/tables/gauges/columns/flux": {**number("never"), "state": "confirmed"}}
    assert asked("total flux by site", World(world.datasets, from_entries(said))).status == (
        "proposal"
    )


@pytest.mark.parametrize(("distinct", "status"), [(320, "proposal"), (437, "fact"), (5, "fact")])
def test_names_that_some_rows_share_are_counted_only_when_it_is_clear_how(
    distinct: int, status: str
) -> None:
    counties = table("midwest", 437, {"county": "VARCHAR", "area": "DOUBLE"})
    county = replace(counties.columns[0], distinct=distinct)
    world = World(
        {"midwest": replace(counties, columns=(county, *counties.columns[1:]))}, Definitions()
    )
    found = asked("how many counties have an area above 5?", world)
    assert found.status == status
    assert asked("how many different counties are there?", world).status == "fact"
    if status == "proposal":
        functions = [each.measures[0].function for each in found.nearest]
        assert functions == ["count_distinct", "count"]


@pytest.mark.parametrize(
    ("short", "word", "is_one"),
    [
        ("mfr", "manufacturer", True),
        ("bdy", "body", True),
        ("ctry", "country", True),
        ("trq", "torque", True),
        ("hp", "horsepower", False),
        ("mfr", "mixer", False),
        ("car", "cooler", False),
        ("mfr", "mfr", False),
    ],
)
def test_a_word_without_its_vowels(short: str, word: str, is_one: bool) -> None:
    assert abbreviates(short, word) is is_one


def test_two_letters_are_a_word_only_without_any_vowel() -> None:
    assert abbreviates("wt", "weight", least=2)
    assert not abbreviates("id", "instead", least=2)


def test_a_shortened_name_is_read_and_told() -> None:
    cars = table("gtcars", 47, {"mfr": "VARCHAR", "ctry_origin": "VARCHAR", "brainwt": "DOUBLE"})
    world = World({"gtcars": cars}, Definitions())
    for said, column in (("manufacturer", "mfr"), ("country of origin", "ctry_origin")):
        found = asked(f"number of gtcars per {said}", world)
        assert found.status == "fact"
        assert query(found, world)["group"] == [column]
        assert len(found.assumed) == 1
    assert reading("average brain weight", world).measures[0].column == ColumnRef(column="brainwt")


def test_what_a_negation_leaves_is_named() -> None:
    found = asked("How many places are not a town?", WORLD)
    assert found.status == "fact"
    assert found.assumed == ["That leaves the type municipality, city and village."]


def test_a_tie_at_the_edge_of_a_ranking_is_told() -> None:
    found = asked("top 2 types by number of places", WORLD)
    assert found.status == "fact"
    columns = [{"name": "type"}, {"name": "count"}]
    result = Result.of({"columns": columns, "rows": [["town", 9], ["city", 8]], "ties": 1})
    told = answer_text(found, result, Words(WORLD.definitions))
    assert "1 more has the same value as the last one shown." in told
    many = Result.of({"columns": columns, "rows": [["a", 9]], "ties": 20, "more_ties": True})
    assert "At least 20 more have the same value" in answer_text(
        found, many, Words(WORLD.definitions)
    )


def test_a_share_of_what_nearly_names_rows_is_of_rows() -> None:
    counties = table("midwest", 437, {"county": "VARCHAR", "area": "DOUBLE"})
    county = replace(counties.columns[0], distinct=320)
    world = World(
        {"midwest": replace(counties, columns=(county, *counties.columns[1:]))}, Definitions()
    )
    found = reading("share of counties that have an area above 5", world)
    area = Filtered(column=ColumnRef(column="area"), test=">", values=[5])
    assert found.measures == [Measured(function="count", share=True, where=[area])]


def test_a_share_of_a_total_is_of_the_rows_that_are_named() -> None:
    power = table(
        "power",
        51,
        {"year": "DATE", "source": "VARCHAR", "output": "BIGINT"},
        source=("Renewables", "Fossil Fuels"),
    )
    world = World(
        {"power": power},
        from_entries(
            {
                "/tables/power": {"default_time": "year"},
                "/tables/power/columns/output": number(),
                "/tables/power/columns/source": {"role": "dimension"},
            }
        ),
    )
    message = "what share of the output came from renewables in 2017?"
    found = asked(message, world)
    assert found.status == "fact", found
    made = query(found, world)
    assert [each.get("where") is not None for each in made["aggregate"]] == [True, False]
    assert made["select"] == ["share"]
    assert found.reading is not None
    assert len(found.reading.periods) == 1
    assert reading("and in 2001?", world, found.reading).measures == found.reading.measures


@pytest.mark.parametrize(("said", "descending"), [("lowest first", False), ("highest first", True)])
def test_which_end_comes_first_is_said(said: str, descending: bool) -> None:
    found = reading(f"average height per type, {said}")
    assert [(each.by, each.descending) for each in found.order] == [("measure", descending)]


def test_what_names_rows_is_listed_with_what_the_rows_were_chosen_by() -> None:
    cars = table("gtcars", 47, {"model": "VARCHAR", "msrp": "BIGINT"})
    model = replace(cars.columns[0], distinct=47, unique=True)
    world = World({"gtcars": replace(cars, columns=(model, cars.columns[1]))}, Definitions())
    found = reading("List all models with an msrp above 300,000", world)
    assert (found.measures, found.groups) == ([], [])
    assert [each.column for each in found.columns] == ["model", "msrp"]


def test_alphabetically_is_of_the_groups() -> None:
    found = reading("average height per type, alphabetically")
    assert [(each.by, each.descending) for each in found.order] == [("group", False)]


MONTHLY = table(
    "deaths",
    24,
    {
        "month_begun": "DATE",
        "wounds": "BIGINT",
        "disease": "BIGINT",
        "affiliation_at_appointment": "VARCHAR",
        "start_year": "BIGINT",
    },
    affiliation_at_appointment=("Whig", "Tory"),
)
DATED = replace(
    MONTHLY,
    key=("month_begun",),
    keys=(("month_begun",),),
    columns=tuple(
        replace(each, first="1854-04-01", last="1856-03-01", distinct=24, unique=True)
        if each.name == "month_begun"
        else replace(each, nulls=0)
        for each in MONTHLY.columns
    ),
)
ENTRIES_OF_DEATHS = {
    "/tables/deaths": {"row": "report", "key": ["month_begun"], "default_time": "month_begun"},
    "/tables/deaths/columns/wounds": number("not over time", "sum"),
    "/tables/deaths/columns/disease": number("not over time", "sum"),
    "/tables/deaths/columns/month_begun": {"role": "time"},
    "/tables/deaths/columns/affiliation_at_appointment": {"role": "dimension"},
    "/tables/deaths/columns/start_year": {"role": "dimension"},
}
DEATHS = World({"deaths": DATED}, from_entries(ENTRIES_OF_DEATHS))


@pytest.mark.parametrize(
    "message",
    [
        "number of appointments",
        "how many started",
        "average wounds with and without disease",
        "how many is that",
        "from when to when do the reports go",
    ],
)
def test_a_question_that_is_not_the_one_answered_is_asked_back(message: str) -> None:
    assert asked(message, DEATHS).status != "fact"


def test_figures_of_one_step_of_their_times_are_of_one_time() -> None:
    assert asked("total wounds in January 1855", DEATHS).status == "fact"
    assert asked("total wounds in 1855", DEATHS).status != "fact"


def test_a_unit_that_is_the_step_of_the_times_names_the_rows() -> None:
    found = asked("how many months have more wounds than disease", DEATHS)
    assert found.status == "fact"
    assert found.reading is not None
    wounds, disease = ColumnRef(column="wounds"), ColumnRef(column="disease")
    assert found.reading.filters == [Filtered(column=wounds, test=">", than=disease)]
    assert asked("how many weeks have more wounds than disease", DEATHS).status != "fact"


def test_no_figure_is_nought_where_every_row_has_one() -> None:
    found = asked("months with no wounds", DEATHS).reading
    assert found is not None
    assert found.filters == [Filtered(column=ColumnRef(column="wounds"), test="=", values=[0])]
