"""Words without a definition: what the data suggests is offered, and once confirmed it answers."""

from typing import Any

import pytest

from steward.agents.asking.answering import answer_text
from steward.agents.asking.reading import Asked
from steward.agents.asking.wording import Words
from steward.agents.asking.world import World
from steward.agents.rules.rhythm import rhythm_in
from steward.definitions import ColumnFacts, DatasetFacts, Definitions
from steward.definitions.entries import from_entries
from steward.definitions.facts import kind_of
from tests.agents.asking_kit import asked, query, table

BILLS = table(
    "billing_invoices",
    500,
    {
        "invoice_no": "VARCHAR",
        "customer_id": "VARCHAR",
        "issued": "DATE",
        "net": "DOUBLE",
        "gross": "DOUBLE",
        "currency": "VARCHAR",
        "status": "VARCHAR",
    },
    status=("paid", "PAID", "open", "overdue", "cancelled"),
    currency=("EUR", "CHF", "SEK"),
)
BUYERS = table("customers", 40, {"customer_id": "VARCHAR", "company": "VARCHAR"})
MONEY = {"role": "measure", "unit_column": "currency"}
ENTRIES: dict[str, Any] = {
    "/tables/billing_invoices": {
        "row": "invoice",
        "key": ["invoice_no"],
        "default_time": "issued",
    },
    "/tables/billing_invoices/columns/invoice_no": {"role": "identifier"},
    "/tables/billing_invoices/columns/issued": {"role": "time"},
    "/tables/billing_invoices/columns/net": MONEY,
    "/tables/billing_invoices/columns/gross": MONEY,
    "/tables/billing_invoices/columns/currency": {"role": "dimension"},
    "/tables/billing_invoices/columns/status": {"role": "dimension"},
    "/tables/customers": {"row": "customer", "key": ["customer_id"], "name_column": "company"},
    "/relationships/r": {
        "from_table": "billing_invoices",
        "from_columns": ["customer_id"],
        "to_table": "customers",
        "to_columns": ["customer_id"],
    },
}


def known(**more: dict[str, Any]) -> World:
    known_tables = {each.name: each for each in (BILLS, BUYERS)}
    return World(known_tables, from_entries({**ENTRIES, **more}))


def confirmed(found: Asked, *, without: str = "-") -> World:
    """The world once a person has confirmed everything that is offered, but for some values."""
    made = {}
    for offer in found.offers:
        values = [each.value for each in offer.meanings if without not in each.value]
        chosen = " or ".join(values) if offer.several else values[-1]
        made[offer.entry] = {**offer.value, offer.field: chosen, "state": "confirmed"}
    return known(**made)


def test_unpaid_is_offered_as_the_other_values_of_the_column_that_has_paid() -> None:
    found = asked("How many invoices are unpaid?", known())
    assert found.status == "proposal"
    (offer,) = found.offers
    assert (offer.word, offer.entry) == ("unpaid", "/tables/billing_invoices/segments/unpaid")
    assert [each.text for each in offer.meanings] == [
        "status open",
        "status overdue",
        "status cancelled",
    ]
    told = answer_text(found, None, Words(known().definitions))
    assert "“unpaid” has no definition yet." in told

    better = confirmed(found, without="cancelled")
    answered = asked("How many invoices are unpaid?", better)
    assert answered.status == "fact"
    assert "overdue" in str(query(answered, better)["filters"])
    assert "cancelled" not in str(query(answered, better)["filters"])


def test_revenue_and_how_much_are_offered_as_totals_of_the_amounts() -> None:
    message = "How many invoices are unpaid, and how much?"
    found = asked(message, known())
    assert {each.word: [m.text for m in each.meanings] for each in found.offers}["how much"] == [
        "total of net",
        "total of gross",
    ]
    better = confirmed(found)
    answered = asked(message, better)
    assert answered.status == "fact", answered
    assert answered.reading is not None
    assert [each.metric for each in answered.reading.measures] == [None, "amount"]

    monthly = asked("monthly revenue", known())
    (offer,) = monthly.offers
    assert offer.entry == "/metrics/revenue"
    assert asked("monthly revenue", confirmed(monthly)).status == "fact"


def test_customers_are_ranked_by_what_the_invoices_are_about() -> None:
    message = "Which customers have the highest unpaid invoices? Bar chart of the top 10"
    found = asked(message, known())
    assert {each.word for each in found.offers} == {"highest", "unpaid"}
    answered = asked(message, confirmed(found))
    assert answered.status == "fact", answered
    reading = answered.reading
    assert reading is not None
    assert (reading.limit, reading.chart, reading.segments) == (10, "bar", ["unpaid"])
    assert [each.by.column for each in reading.groups][:1] == ["company"]


def test_what_no_definition_would_make_readable_is_not_offered() -> None:
    assert asked("How many invoices are purple?", known()).offers == []
    assert asked("untold revenue of the moon", known()).offers == []


def test_the_opposite_of_one_of_two_values_is_read_and_told_first() -> None:
    tasks = table("tasks", 9, {"name": "VARCHAR", "state": "VARCHAR"}, state=("finished", "begun"))
    here = World({"tasks": tasks}, Definitions())
    found = asked("How many tasks are unfinished?", here)
    assert found.status == "fact"
    assert "finished" in str(query(found, here)["filters"])
    assert found.assumed == ["I read “unfinished” as not “finished”."]


def test_a_truth_value_is_denied() -> None:
    paid = ColumnFacts("paid", "BOOLEAN", kind_of("BOOLEAN"))
    here = World({"orders": DatasetFacts("orders", 5, (paid,))}, Definitions())
    found = asked("How many orders are unpaid?", here)
    assert found.status == "fact"
    assert query(found, here)["filters"] == [
        {"left": {"column": "paid"}, "compare": "=", "right": {"value": False}}
    ]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("report the unpaid invoices every Monday at 8", ("week", "1", "08:00")),
        ("each Sunday, at 17:15 send it", ("week", "0", "17:15")),
        ("report it daily at 7 pm", ("day", "1", "19:00")),
        ("on the first: monthly at 6", ("month", "1", "06:00")),
    ],
)
def test_a_rhythm_is_read(message: str, expected: tuple[str, str, str]) -> None:
    found = rhythm_in(message)
    assert found is not None
    assert (found.every, found.weekday, found.time) == expected


@pytest.mark.parametrize(
    "message", ["revenue every month", "daily revenue", "every week", "every Monday at 99"]
)
def test_a_group_is_no_rhythm(message: str) -> None:
    assert rhythm_in(message) is None


METRO = World(
    {"metro": table("metro", 314, {"name": "VARCHAR", "passengers": "BIGINT"})},
    from_entries({"/tables/metro": {"row": "metro", "key": ["name"], "name_column": "name"}}),
)


def test_what_rows_are_called_is_offered_once_and_answers_from_then_on() -> None:
    message = "How many stations have more than 1000 passengers?"
    found = asked(message, METRO)
    assert found.status == "proposal"
    (offer,) = found.offers
    assert (offer.word, offer.entry, offer.field) == ("stations", "/tables/metro", "row")
    assert offer.value == {"key": ["name"], "name_column": "name"}
    told = answer_text(found, None, Words(METRO.definitions))
    assert "“stations” has no definition yet. It could be the rows of metro." in told

    made = {**offer.value, "row": offer.meanings[0].value, "state": "confirmed"}
    better = World(METRO.datasets, from_entries({offer.entry: made}))
    assert asked(message, better).status == "fact"
    assert asked("Which station has the most passengers?", better).status == "fact"
    # What a person called the rows is not asked about again.
    assert asked("How many trams have more than 1000 passengers?", better).offers == []
