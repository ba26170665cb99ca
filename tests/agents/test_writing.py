"""Values in answers: dates, numbers, money and shares as the reader's language writes them."""

from typing import Any

import pytest

from steward.agents.explaining.amounts import amounts_of
from steward.agents.explaining.figures import figures_in, sourced
from steward.agents.explaining.written_values import Amount, Writing
from steward.agents.planning.plan import Plan
from tests.agents.planning_kit import catalogue, dataset


def _cells(writing: Writing, name: str, kind: str, *values: Any) -> list[str]:
    column = {"name": name, "type": kind}
    return [row[0] for row in writing.rows([column], [[value] for value in values])]


@pytest.mark.parametrize(
    ("tag", "number", "day", "month", "share"),
    [
        (None, "1,234,567.50", "2025-03-31", "2025-03", "12.5%"),
        ("en-GB", "1,234,567.50", "31/03/2025", "March 2025", "12.5%"),
        ("en-US", "1,234,567.50", "03/31/2025", "March 2025", "12.5%"),
        ("de-DE", "1.234.567,50", "31.03.2025", "März 2025", "12,5\u00a0%"),
        ("de-CH", "1’234’567.50", "31.03.2025", "März 2025", "12.5%"),
        ("xx-YY", "1,234,567.50", "2025-03-31", "2025-03", "12.5%"),
    ],
)
def test_values_are_written_as_the_reader_writes_them(
    tag: str | None, number: str, day: str, month: str, share: str
) -> None:
    writing = Writing(tag)
    assert _cells(writing, "net", "DECIMAL(18,2)", "1234567.50") == [number]
    assert _cells(writing, "issued", "DATE", "2025-03-31") == [day]
    assert _cells(writing, "issued", "TIMESTAMP", "2025-03-31T00:00:00") == [day]
    assert _cells(writing, "month", "TIMESTAMP", "2025-03-01T00:00:00") == [month]
    assert _cells(writing, "share_of_count", "DOUBLE", 0.125) == [share]


def test_what_counts_nothing_is_left_as_it_is() -> None:
    writing = Writing("en-GB")
    assert _cells(writing, "year", "BIGINT", 2025, 2026) == ["2025", "2026"]
    assert _cells(writing, "invoice_no", "BIGINT", 100200) == ["100200"]
    assert _cells(writing, "count", "BIGINT", 100200) == ["100,200"]
    assert _cells(writing, "code", "VARCHAR", "0123456") == ["0123456"]
    assert _cells(writing, "amount", "VARCHAR", "1234.5") == ["1234.5"], "text is text"
    assert _cells(writing, "average", "DOUBLE", 4.3333333333, 4.0) == ["4.33", "4.00"]
    assert _cells(writing, "rate", "DOUBLE", 0.00012) == ["0.000120"]
    assert _cells(writing, "issued", "DATE", None, "not a date") == ["", "not a date"]
    assert _cells(writing, "quarter", "DATE", "2025-04-01") == ["Q2 2025"]
    assert _cells(writing, "quarter", "DATE", "2025-04-02") == ["02/04/2025"], (
        "no quarter begins so"
    )
    assert _cells(writing, "at", "TIMESTAMP WITH TIME ZONE", "2025-04-02T10:30:00+02:00") == [
        "02/04/2025 08:30 UTC"
    ]


def test_money_has_the_currency_of_its_row_or_of_all_rows() -> None:
    columns = [{"name": "currency", "type": "VARCHAR"}, {"name": "total_net", "type": "DOUBLE"}]
    rows = [["EUR", 1234.5], ["SEK", 10.0], [None, 3.0]]
    own = Writing("en-GB", {"total_net": Amount("currency")})
    assert [row[1] for row in own.rows(columns, rows)] == ["€1,234.50", "SEK\u00a010.00", "3.00"]
    known = Writing("de-DE", {"total_net": Amount("currency", "EUR")})
    assert _cells(known, "total_net", "DOUBLE", 1234.5) == ["1.234,50\u00a0€"]
    assert _cells(known, "count", "BIGINT", 1234) == ["1.234"]


def _plan(document: dict[str, Any]) -> Plan:
    step = {
        "id": "query",
        "title": "Query",
        "agent": "data-analyst",
        "tools": ["execute_query_plan"],
        "arguments": {"plan": document},
    }
    return Plan.model_validate({"goal": "Look", "steps": [step]})


def test_amounts_are_known_by_the_dataset_and_the_filter() -> None:
    columns = {"amount": "DOUBLE", "currency": "VARCHAR", "pieces": "BIGINT"}
    known = catalogue(datasets={"sales": dataset("sales", columns, "pieces")})
    assert amounts_of(_plan({"source": "sales"}), known)["total_amount"] == Amount("currency")
    only = {"left": {"column": "currency"}, "compare": "=", "right": {"value": "eur"}}
    found = amounts_of(_plan({"source": "sales", "filters": [only]}), known)
    assert found["amount"] == Amount("currency", "EUR")
    assert "pieces" not in found
    assert "count_amount" not in found


def test_written_figures_keep_their_source() -> None:
    told = "März 2025: 40.737,57 und 1’234.50, davon 12,5\u00a0%"
    assert figures_in("1’234.50") == ["1’234.50"]
    results = [("call", [["2025-03-01T00:00:00", "40737.57", 1234.5, 12.5]])]
    assert [figure.source for figure in sourced(told, results)] == ["call"] * 4
