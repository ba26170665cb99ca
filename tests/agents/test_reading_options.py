"""What a click on a chip offers: measures that definitions allow, columns of other tables, values, periods, ranks, charts."""

from datetime import date
from typing import Any

from steward.agents.asking.options import Option, Options
from steward.agents.asking.reading import ColumnRef, Reading
from steward.agents.asking.wording import Words
from steward.definitions import ColumnFacts, DatasetFacts, Definitions

DEFINITIONS = Definitions.model_validate(
    {
        "tables": {
            "invoices": {
                "row": "invoice",
                "default_time": "issued",
                "segments": {"unpaid": {"where": "status = 'open'"}},
                "default_filters": [{"where": "cancelled = false", "say": "without cancelled ones"}],
                "columns": {
                    "id": {"role": "identifier"},
                    "issued": {"role": "time"},
                    "gross": {"role": "measure", "unit": "EUR"},
                    "rate": {"role": "measure", "additive": "never", "total": "avg"},
                    "customer_id": {"role": "identifier"},
                    "note": {"role": "text"},
                },
            },
            "customers": {
                "row": "customer",
                "columns": {"id": {"role": "identifier"}, "country": {"role": "dimension"}},
            },
        },
        "metrics": {"revenue": {"formula": "sum(gross)", "over": "invoices"}},
        "relationships": [
            {
                "from_table": "invoices",
                "from_columns": ["customer_id"],
                "to_table": "customers",
                "to_columns": ["id"],
            }
        ],
    }
)  # fmt: skip
INVOICES = DatasetFacts(
    "invoices",
    5227,
    (
        ColumnFacts("id", "BIGINT", "number"),
        ColumnFacts("issued", "DATE", "date", first="2021-03-01", last="2023-09-30"),
        ColumnFacts("gross", "DECIMAL(18,2)", "number"),
        ColumnFacts("rate", "DOUBLE", "number"),
        ColumnFacts("customer_id", "BIGINT", "number"),
        ColumnFacts("note", "VARCHAR", "text"),
    ),
)
CUSTOMERS = DatasetFacts(
    "customers", 64, (ColumnFacts("id", "BIGINT", "number"), ColumnFacts("country", "VARCHAR", "text"))
)  # fmt: skip
COUNTRY = ColumnRef(column="country", table="customers", via=["customer_id"])
TOTAL = Reading.model_validate(
    {"table": "invoices", "measures": [{"function": "sum", "column": {"column": "gross"}}]}
)


def _values(table: str, column: str, text: str) -> list[tuple[str, int]]:
    known = {("customers", "country"): [("Germany", 20), ("France", 9)]}.get((table, column), [])
    return [each for each in known if text.casefold() in each[0].casefold()]


OPTIONS = Options(
    Words(DEFINITIONS),
    {"invoices": INVOICES, "customers": CUSTOMERS},
    _values,
    date(2026, 3, 2),
)


def offered(reading: Reading | None, pointer: str, **more: Any) -> dict[str, Option]:
    return {option.text: option for option in OPTIONS.at(reading, pointer, **more)}


def test_a_new_reading_begins_with_a_table() -> None:
    found = offered(None, "")
    assert list(found) == ["customers", "invoices"]
    assert found["invoices"].detail == "5,227 rows"
    assert found["invoices"].reading == Reading.model_validate(
        {"table": "invoices", "measures": [{"function": "count"}]}
    )


def test_figures_are_those_that_definitions_allow() -> None:
    found = offered(TOTAL, "/measures/0")
    assert {"Remove", "number of invoices", "revenue", "total of gross"} <= found.keys()
    assert "average of rate" in found
    assert "total of rate" not in found, "a rate adds up to nothing"
    assert not any(text.endswith("of id") for text in found), "identifiers are counted"
    assert "number of different customer ids" in found
    changed = found["average of gross"].reading
    assert changed is not None
    assert [each.function for each in changed.measures] == ["avg"]
    added = offered(TOTAL, "/measures/-")["number of invoices"].reading
    assert added is not None
    assert [each.function for each in added.measures] == ["sum", "count"]


def test_groups_reach_into_other_tables_and_times_have_units() -> None:
    found = offered(TOTAL, "/groups/-")
    assert "by month" in found
    assert "by hour" not in found, "a day has none"
    assert "by note" not in found
    reading = found["by customer country"].reading
    assert reading is not None
    assert reading.groups[0].by == COUNTRY
    assert list(offered(TOTAL, "/groups/-", search="country")) == ["by customer country"]


def test_a_condition_is_a_segment_or_a_column_and_then_a_value() -> None:
    found = offered(TOTAL, "/filters/-")
    unpaid = found["only unpaid"].reading
    assert unpaid is not None
    assert unpaid.segments == ["unpaid"]
    assert found["customer country"].reading is None
    values = offered(TOTAL, "/filters/-", column=found["customer country"].column)
    assert list(values) == ["only Germany", "only France", "no customer country", "a customer country"]  # fmt: skip
    germany = values["only Germany"].reading
    assert germany is not None
    assert germany.filters[0].values == ["Germany"]
    both = offered(germany, "/filters/0", search="fra")
    assert {"only France", "only Germany or France"} <= both.keys()
    assert both["Remove"].reading == TOTAL


def test_numbers_are_compared_with_what_was_typed() -> None:
    found = offered(TOTAL, "/filters/-", column=ColumnRef(column="gross"), search="1,000")
    assert list(found)[:3] == ["1000 gross", "more than 1000 gross", "at least 1000 gross"]


def test_periods_are_years_of_the_column_usual_ones_and_typed_ones() -> None:
    found = offered(TOTAL, "/periods/-")
    assert list(found)[:4] == ["2023", "2022", "2021", "this year"]
    reading = found["last month"].reading
    assert reading is not None
    assert (reading.periods[0].start, reading.periods[0].end) == ("2026-02-01", "2026-03-01")
    for typed in ("March 2021", "2021-03", "mar 2021"):
        assert list(offered(TOTAL, "/periods/-", search=typed)) == ["March 2021"]
    assert list(offered(TOTAL, "/periods/-", search="Q2 2022")) == ["Q2 2022"]
    assert len(offered(TOTAL, "/periods/-", search="2022")) == 13


def test_ranks_and_charts_replace_each_other_and_go_away() -> None:
    ranked = offered(TOTAL, "/limit", search="7")["largest 7"].reading
    assert ranked is not None
    assert (ranked.limit, ranked.order[0].descending) == (7, True)
    assert offered(ranked, "/order/0")["Remove"].reading == TOTAL
    drawn = offered(TOTAL, "/chart")["pie chart"].reading
    assert drawn is not None
    assert drawn.chart == "pie"
    assert offered(drawn, "/chart")["Remove"].reading == TOTAL


def test_default_filters_can_be_left_out() -> None:
    reading = offered(TOTAL, "/without_defaults")["Remove"].reading
    assert reading is not None
    assert reading.without_defaults


def test_what_can_be_added_follows_from_the_reading() -> None:
    assert [text for _, text in OPTIONS.additions(TOTAL)] == [
        *("figure", "group", "condition", "period", "ranking")
    ]
