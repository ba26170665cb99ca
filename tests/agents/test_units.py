"""Amounts in several currencies: one figure for each, and nothing ranked across them."""

from steward.agents.asking.answering import Result, answer_text
from steward.agents.asking.asking import given
from steward.agents.asking.wording import Words
from steward.agents.explaining.written_values import Amount, Writing
from tests.agents.asking_kit import asked, query
from tests.agents.test_offers import known

AMOUNTS = {"total_gross": Amount("currency")}
GROSS = {"name": "total_gross", "type": "DOUBLE"}
CURRENCY = {"name": "currency", "type": "VARCHAR"}


def test_a_total_is_one_figure_per_currency() -> None:
    found = asked("total gross of open invoices", known())
    assert found.status == "fact"
    assert query(found, known())["group"] == ["currency"]
    words = Words(known().definitions, Writing("en-GB", AMOUNTS))
    chip = next(each for each in words.told(found).chips if each.kind == "group")
    assert (chip.text, chip.source) == ("by currency", "definition")
    assert chip.entry == "/tables/billing_invoices/columns/currency"
    told = answer_text(found, Result([CURRENCY, GROSS], [["EUR", 5.5], ["CHF", 2]]), words)
    assert told.startswith("The total gross of invoices with the status open is €5.50 and CHF")


def test_rows_of_all_currencies_are_counted_together() -> None:
    found = asked("number of invoices and total gross", known())
    assert found.status == "fact", found
    made = query(found, known())
    assert made["window"] == [{"name": "count of all", "function": "sum", "column": "count"}]
    count, every = {"name": "count", "type": "BIGINT"}, {"name": "count of all", "type": "BIGINT"}
    rows = [["EUR", 5.5, 3, 5], ["CHF", 2, 2, 5]]
    words = Words(known().definitions, Writing("en-GB", AMOUNTS))
    told = answer_text(found, Result([CURRENCY, GROSS, count, every], rows), words)
    assert told.startswith("The total gross is €5.50 and CHF")
    assert told.endswith("There are 5 invoices.")


def test_currencies_are_not_ranked_among_each_other() -> None:
    found = asked("top 3 customers by gross", known())
    assert found.status == "fact", found
    made = query(found, known())
    assert {"left": {"column": "currency"}, "compare": "=", "right": {"value": "EUR"}} in made[
        "filters"
    ]
    assert any("This is only EUR" in each for each in found.assumed)
    chips = Words(known().definitions).told(found).chips
    assert [each.text for each in chips if each.source == "assumed"] == ["only EUR"]


def test_one_currency_needs_no_group() -> None:
    found = asked("total gross in EUR", known())
    assert found.reading is not None
    assert found.reading.groups == []


def test_who_takes_the_currency_away_gets_one_figure() -> None:
    found = asked("total gross", known())
    assert found.reading is not None
    alone = found.reading.model_copy(update={"groups": []})
    assert given(alone, known()).reading == alone


def test_figures_of_groups_are_told_for_each_currency() -> None:
    found = asked("total gross by status", known())
    status = {"name": "status", "type": "VARCHAR"}
    rows = [["open", "EUR", 5], ["paid", "EUR", 9], ["open", "CHF", 2], ["paid", "CHF", 1]]
    words = Words(known().definitions, Writing("en-GB", AMOUNTS))
    told = answer_text(found, Result([status, CURRENCY, GROSS], rows), words)
    assert told.startswith(
        "EUR: paid has the highest total gross: €9.00, followed by open (€5.00)."
    )
    assert "CHF: open has the highest total gross" in told


def test_counts_have_no_currency() -> None:
    found = asked("number of invoices and total gross by status", known())
    assert found.status == "fact", found
    status, count = {"name": "status", "type": "VARCHAR"}, {"name": "count", "type": "BIGINT"}
    rows = [["open", "EUR", 5, 3], ["paid", "EUR", 9, 4]]
    words = Words(known().definitions, Writing("en-GB", AMOUNTS))
    told = answer_text(found, Result([status, CURRENCY, GROSS, count], rows), words)
    assert "€9.00" in told
    assert "€4" not in told
