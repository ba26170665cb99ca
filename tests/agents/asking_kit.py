"""Small worlds for questions: tables by their columns, with definitions as a project would have them."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from steward.agents.asking.asking import Before, ask
from steward.agents.asking.compiling import compile_reading
from steward.agents.asking.lexicon import Lexicon
from steward.agents.asking.reading import Asked
from steward.agents.asking.world import World
from steward.definitions import ColumnFacts, DatasetFacts, Definitions
from steward.definitions.facts import kind_of

TODAY = date(2026, 11, 15)


def table(
    name: str, rows: int, columns: Mapping[str, str], /, **values: tuple[str, ...]
) -> DatasetFacts:
    """A dataset with columns by their types, and the values that a profile found."""
    found = tuple(
        ColumnFacts(
            column,
            type_name,
            kind_of(type_name),
            values=values.get(column, ()),
            distinct=len(values[column]) if column in values else None,
        )
        for column, type_name in columns.items()
    )
    return DatasetFacts(name, rows, found, profiled=True)


def number(additive: str = "always", total: str | None = None) -> dict[str, Any]:
    return {"role": "measure", "additive": additive, "total": total}


DIMENSION = {"role": "dimension"}
IDENTIFIER = {"role": "identifier"}
TIME = {"role": "time"}

CARS = table(
    "cars",
    406,
    {
        "Name": "VARCHAR",
        "Miles_per_Gallon": "DOUBLE",
        "Cylinders": "BIGINT",
        "Horsepower": "BIGINT",
        "Year": "DATE",
        "Origin": "VARCHAR",
    },
    Origin=("USA", "Europe", "Japan"),
)
FLIGHTS = table(
    "flights",
    336_776,
    {
        "flight": "BIGINT",
        "carrier": "VARCHAR",
        "origin": "VARCHAR",
        "dest": "VARCHAR",
        "dep_delay": "BIGINT",
        "arr_delay": "BIGINT",
        "distance": "BIGINT",
        "time_hour": "TIMESTAMP",
    },
    origin=("EWR", "JFK", "LGA"),
    dest=("ORD", "ATL", "JFK"),
    carrier=("UA", "DL"),
)
AIRLINES = table(
    "airlines",
    16,
    {"carrier": "VARCHAR", "name": "VARCHAR"},
    name=("United Air Lines Inc.", "Delta Air Lines Inc."),
)
INVOICES = table(
    "invoices",
    5_227,
    {
        "invoice_no": "VARCHAR",
        "customer_id": "VARCHAR",
        "issue_date": "DATE",
        "due_date": "DATE",
        "status": "VARCHAR",
        "country": "VARCHAR",
        "gross": "DOUBLE",
        "net": "DOUBLE",
    },
    status=("open", "overdue", "paid", "cancelled"),
    country=("Germany", "France", "Austria"),
)
CUSTOMERS = table(
    "customers",
    60,
    {"customer_id": "VARCHAR", "company": "VARCHAR", "segment": "VARCHAR"},
    segment=("Enterprise", "Small business"),
)
LINES = table(
    "lines",
    20_000,
    {
        "line_id": "BIGINT",
        "sold_at": "DATE",
        "unit_price": "DOUBLE",
        "quantity": "BIGINT",
        "cancelled": "BOOLEAN",
    },
)
DEFINITIONS = Definitions.model_validate(
    {
        "tables": {
            "cars": {
                "row": "car",
                "default_time": "Year",
                "columns": {
                    "Name": DIMENSION,
                    "Miles_per_Gallon": number("never", "avg"),
                    "Cylinders": DIMENSION,
                    "Horsepower": number("never", "avg"),
                    "Year": TIME,
                    "Origin": DIMENSION,
                },
            },
            "flights": {
                "row": "flight",
                "default_time": "time_hour",
                "columns": {
                    "flight": IDENTIFIER,
                    "carrier": IDENTIFIER,
                    "origin": DIMENSION,
                    "dest": DIMENSION,
                    "dep_delay": number("never", "avg"),
                    "arr_delay": number("never", "avg"),
                    "distance": number(),
                    "time_hour": TIME,
                },
            },
            "airlines": {"row": "airline", "key": ["carrier"], "name_column": "name"},
            "invoices": {
                "row": "invoice",
                "key": ["invoice_no"],
                "default_time": "issue_date",
                "segments": {"unpaid": {"where": "status in ('open', 'overdue')"}},
                "columns": {
                    "invoice_no": IDENTIFIER,
                    "customer_id": IDENTIFIER,
                    "issue_date": TIME,
                    "due_date": TIME,
                    "status": DIMENSION,
                    "country": {**DIMENSION, "synonyms": ["market"]},
                    "gross": number(),
                    "net": number(),
                },
            },
            "customers": {"row": "customer", "key": ["customer_id"], "name_column": "company"},
            "lines": {
                "row": "line",
                "default_time": "sold_at",
                "default_filters": [
                    {"where": "cancelled = false", "say": "without cancelled lines"}
                ],
                "columns": {
                    "line_id": IDENTIFIER,
                    "sold_at": TIME,
                    "unit_price": number("never", "avg"),
                    "quantity": number(),
                },
            },
        },
        "metrics": {
            "revenue": {
                "formula": "sum(unit_price * quantity)",
                "over": "lines",
                "synonyms": ["turnover"],
            },
            "invoiced": {"formula": "sum(gross)", "over": "invoices"},
        },
        "relationships": [
            {
                "from_table": "flights",
                "from_columns": ["carrier"],
                "to_table": "airlines",
                "to_columns": ["carrier"],
            },
            {
                "from_table": "invoices",
                "from_columns": ["customer_id"],
                "to_table": "customers",
                "to_columns": ["customer_id"],
            },
        ],
    }
)


def world(*tables: DatasetFacts, definitions: Definitions = DEFINITIONS) -> World:
    return World({each.name: each for each in tables}, definitions)


def asked(message: str, known: World, before: Asked | None = None) -> Asked:
    earlier = Before(before.reading) if before is not None and before.status == "fact" else None
    return ask(message, known, Lexicon(known), TODAY, earlier)


def query(found: Asked, known: World) -> dict[str, Any]:
    assert found.reading is not None
    return compile_reading(found.reading, known)
