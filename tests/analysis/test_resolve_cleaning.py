"""Cleaning steps: different spellings of one value come out the same, hostile text comes out at all."""

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.analysis.resolve.cleaning import _STEPS, cleaned
from steward.analysis.resolve.comparing import usage_of

CONNECTION = duckdb.connect()


def clean(value: str | None, *steps: str) -> str | None:
    found = CONNECTION.execute(
        f"SELECT {cleaned('v', steps)} FROM (SELECT ?::VARCHAR AS v)", [value]
    ).fetchone()
    assert found is not None
    answer: str | None = found[0]
    return answer


@pytest.mark.parametrize(
    ("role", "spellings"),
    [
        (
            "company",
            [
                *("Müller Logistik GmbH", "MUELLER LOGISTIK G.m.b.H.", " Muller  Logistik"),
                *("MÃ¼ller Logistik GmbH & Co. KG", "Müller Logistik GmbH&Co.KG"),
            ],
        ),
        ("company", ["Roux et Associés S.A.R.L.", "ROUX & ASSOCIES SARL", "roux associes"]),
        ("company", ["Bąk Meble sp. z o.o.", "Bak Meble Sp. z o. o.", "BAK MEBLE SP ZOO"]),
        ("person_name", ["Dr. Zoë O'Brien", "Zoe OBrien", "ZOE O’BRIEN"]),
        ("phone", ["+49 30 1234567", "0049 (0)30 123 4567", "(030) 123-4567", "030/1234567"]),
        ("phone", ["+353 1 234 5678", "01 2345678 ext 12"]),
        (
            "email",
            ["Ann.Lee+news@Example.com", " <ann.lee@example.com>", "mailto:ann.lee@example.com"],
        ),
        ("street", ["Hauptstraße 5", "Hauptstr. 5", "HAUPTSTRASSE 5"]),
        ("street", ["12 High Street", "12, high st."]),
        ("country", ["Deutschland", "DE", "Germany", "deu"]),
        ("birth_date", ["1980-01-31", "31.01.1980", "19800131", "01/31/1980"]),
        (
            "email_domain",
            ["a@acme.example", "https://www.acme.example/contact?x=1", "ACME.example"],
        ),
    ],
)
def test_spellings_of_one_value_agree(role: str, spellings: list[str]) -> None:
    steps = usage_of(role).clean
    assert len({clean(spelling, *steps) for spelling in spellings}) == 1
    assert clean(spellings[0], *steps)


def test_different_values_stay_different() -> None:
    steps = usage_of("company").clean
    assert clean("Weber Bau GmbH", *steps) != clean("Weber Bau Holding GmbH", *steps)
    assert clean("AG", *steps) == "ag", "a name that is only a legal form keeps it"


def test_what_says_nothing_is_missing() -> None:
    for filler in ("n/a", "-", "  ", "UNKNOWN", "none"):
        assert clean(filler, *usage_of("company").clean) is None
    assert clean("somebody@gmail.com", *usage_of("email_domain").clean) is None
    assert clean(None, *usage_of("phone").clean) is None


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=40))
def test_no_text_breaks_a_step(value: str) -> None:
    columns = ", ".join(cleaned("v", [step]) for step in _STEPS)
    found = CONNECTION.execute(
        f"SELECT {columns} FROM (SELECT ?::VARCHAR AS v)", [value.replace("\x00", "")]
    ).fetchone()
    assert found is not None
    assert all(answer is None or answer.strip() for answer in found)
