"""Values read and repaired: texts, dates, numbers, telephone numbers, addresses, countries, categories."""

import unicodedata
from datetime import date
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.analysis.clean import clean, country_of
from steward.analysis.clean.categories import propose_categories
from steward.analysis.clean.operations.unicode import repaired
from steward.core.errors import Invalid
from steward.tables.changes import Cell, changed_cells, leftovers
from tests.analysis.cleaning import run
from tests.kits.shelf import Shelf

SLOW_FIXTURE = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def test_trim_and_collapse(shelf: Shelf) -> None:
    values = [" a  b ", "\u00a0x\u200b", "ok", "", None, " l1 \n  l2 "]
    found, change = run(shelf, "trim", values)
    assert found == ["a  b", "x", "ok", "", None, "l1 \n  l2"]
    assert change.counts == {"changed_cells": 3, "unconverted_cells": 0}
    cells = changed_cells(shelf.connection, change)
    assert cells[0] == Cell(1, "c", " a  b ", "a  b")
    assert run(shelf, "collapse_spaces", values)[0] == ["a b", "x", "ok", "", None, "l1\nl2"]
    joined = run(shelf, "collapse_spaces", values, lines="join")[0]
    assert joined[-1] == "l1 l2"


@pytest.mark.parametrize(
    ("style", "expected"),
    [
        ("lower", ["o'neil SMITH-jones".lower(), "élan", ""]),
        ("upper", ["O'NEIL SMITH-JONES", "ÉLAN", ""]),
        ("title", ["O'Neil Smith-Jones", "Élan", ""]),
        ("sentence", ["O'neil smith-jones", "Élan", ""]),
    ],
)
def test_case(shelf: Shelf, style: str, expected: list[str]) -> None:
    assert run(shelf, "case", ["o'neil SMITH-jones", "élan", ""], style=style)[0] == expected


def damaged(text: str) -> str:
    """What Windows-1252 makes of the UTF-8 of a text; bytes it does not know become controls."""
    characters = []
    for byte in text.encode():
        try:
            characters.append(bytes([byte]).decode("cp1252"))
        except UnicodeDecodeError:
            characters.append(chr(byte))
    return "".join(characters)


@pytest.mark.parametrize(
    "text",
    ["Müller", "Łódź", "“quoted” – it’s €5…", "Привет мир", "日本語", "Größe", "😀 ok", "Ελλάδα"],
)
def test_damage_is_undone_once_and_twice(shelf: Shelf, text: str) -> None:
    assert repaired(damaged(text)) == text
    assert repaired(damaged(damaged(text))) == text
    assert run(shelf, "unicode_repair", [damaged(text), text])[0] == [text, text]


@pytest.mark.parametrize(
    "text",
    [
        "weiß“",
        "„ABCÄ“",
        "“AMANHÃ”",
        "«CAFÉ»",
        "São Paulo",
        "5 °C",
        "SÃO",
        "Zürich…",
        "👨‍👩‍👧",
        "می‌خواهم",
    ],
)
def test_correct_texts_are_not_repaired(text: str) -> None:
    assert repaired(text) == text


def test_invisible_and_split_characters(shelf: Shelf) -> None:
    values = ["a\u200bb", "e\u0301", "x\x07y", "lost \ufffd", "plain", "ﬁne"]
    found, change = run(shelf, "unicode_repair", values)
    assert found == ["ab", "é", "xy", "lost \ufffd", "plain", "ﬁne"]
    assert change.counts == {"changed_cells": 3, "unconverted_cells": 1}
    assert [cell.old for cell in leftovers(shelf.connection, change)] == ["lost \ufffd"]
    assert run(shelf, "unicode_repair", values, form="NFKC")[0][-1] == "fine"


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cf"])))
def test_repair_settles(text: str) -> None:
    once = repaired(text)
    assert unicodedata.is_normalized("NFC", once)
    # Three layers of damage are undone at a time; nothing but damage moves.
    if text.isascii():
        assert once == text


def test_dates_in_many_forms(shelf: Shelf) -> None:
    values: dict[str | None, date | None] = {
        "2024-03-05": date(2024, 3, 5),
        "5.3.2024": date(2024, 3, 5),
        "25/04/2024": date(2024, 4, 25),
        "03/04/2024": date(2024, 4, 3),
        "March 5th, 2024": date(2024, 3, 5),
        "5. März 2024": date(2024, 3, 5),
        "1 août 2023": date(2023, 8, 1),
        "1 de enero de 2024": date(2024, 1, 1),
        "20240105": date(2024, 1, 5),
        " 7-Dec-1999 ": date(1999, 12, 7),
        "07.08.24": date(2024, 8, 7),
        "07.08.85": date(1985, 8, 7),
        None: None,
    }
    found, change = run(shelf, "parse_dates", list(values), columns=["c"])
    assert found == list(values.values())
    assert change.columns[0].type == "DATE"
    assert change.counts == {"changed_cells": 11, "unconverted_cells": 0}


def test_ambiguous_dates_stay_unless_the_order_is_known(shelf: Shelf) -> None:
    both = ["25/04/2024", "04/25/2024", "03/04/2024", "03/03/2024"]
    found, change = run(shelf, "parse_dates", both, columns=["c"])
    assert found == ["2024-04-25", "2024-04-25", "03/04/2024", "2024-03-03"]
    assert change.counts["unconverted_cells"] == 1
    assert "can only be day first" in change.warnings[0]
    assert run(shelf, "parse_dates", ["03/04/2024"], columns=["c"])[0] == ["03/04/2024"]
    american = run(shelf, "parse_dates", ["03/04/2024"], columns=["c"], order="month first")[0]
    assert american == [date(2024, 3, 4)]


def test_times_of_day(shelf: Shelf) -> None:
    values = ["25/04/2024 10:30", "2024-01-05T10:20:30.5", "5.3.2024 3:07 pm", "1/2/2024, 12:00 AM"]
    found, change = run(shelf, "parse_dates", list(values), columns=["c"])
    assert change.columns[0].type == "TIMESTAMP"
    assert [moment.isoformat() for moment in found] == [
        "2024-04-25T10:30:00",
        "2024-01-05T10:20:30.500000",
        "2024-03-05T15:07:00",
        "2024-02-01T00:00:00",
    ]


def test_what_is_no_date_is_kept_and_counted(shelf: Shelf) -> None:
    values = ["31.02.2024", "hello", "", "2024-01-05T10:20:30Z", "2024-13-01", "1.2.2024"]
    found, change = run(shelf, "parse_dates", list(values), columns=["c"])
    assert found == [*values[:-1], "2024-02-01"]
    assert change.counts == {"changed_cells": 1, "unconverted_cells": 5}
    assert [cell.old for cell in leftovers(shelf.connection, change)] == values[:-1]
    with pytest.raises(Invalid, match="5 values of 'c'"):
        run(shelf, "parse_dates", list(values), columns=["c"], output="typed")


@given(days=st.lists(st.dates(date(1970, 1, 1), date(2069, 12, 31)), min_size=1, max_size=40))
@settings(SLOW_FIXTURE, max_examples=4)
def test_dates_survive_every_unambiguous_form(shelf: Shelf, days: list[date]) -> None:
    forms = ("%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%b %d, %Y", "%Y%m%d", "%d.%m.%y")
    frame = pl.DataFrame(
        {f"c{i}": [d.strftime(form) for d in days] for i, form in enumerate(forms)}
    )
    table = shelf.put("t", frame)
    change = clean(shelf.connection, table, "parse_dates", {"columns": frame.columns})
    assert shelf.rows(change.sql) == [(day,) * len(forms) for day in days]


def test_numbers_as_people_write_them(shelf: Shelf) -> None:
    values = {
        "1.234,50": "1234.50",
        "€ 12,5": "12.5",
        "(1.234)": "-1234",
        "1 234 567,89": "1234567.89",
        "5-": "-5",
        "-€5,20": "-5.20",
        "$(3)": "-3",
        "−3": "-3",
        "7 EUR": "7",
        "1.234.567": "1234567",
        "007": "7",
        ",5": "0.5",
        "1.234": "1234",
        "-0,00": "0.00",
    }
    found, change = run(shelf, "parse_numbers", list(values), columns=["c"])
    assert change.columns[0].type == "DECIMAL(18,2)"
    assert found == [Decimal(text).quantize(Decimal("0.01")) for text in values.values()]
    cells = {cell.old: cell.new for cell in changed_cells(shelf.connection, change)}
    assert cells["(1.234)"] == "-1234"


def test_ambiguous_numbers_stay_unless_the_mark_is_known(shelf: Shelf) -> None:
    found, change = run(shelf, "parse_numbers", ["1,234", "5,678", "12"], columns=["c"])
    assert found == ["1,234", "5,678", "12"]
    assert change.counts == {"changed_cells": 0, "unconverted_cells": 2}
    settled = run(shelf, "parse_numbers", ["1,234", "5,678.5", "12"], columns=["c"])[0]
    assert settled == [Decimal("1234.0"), Decimal("5678.5"), Decimal("12.0")]
    told = run(shelf, "parse_numbers", ["1,234", "12"], columns=["c"], decimal=",")[0]
    assert told == [Decimal("1.234"), Decimal("12.000")]
    mixed = run(shelf, "parse_numbers", ["12,34", "1.5", "2,345"], columns=["c"])
    assert mixed[0] == ["12.34", "1.5", "2,345"]
    assert "decimal comma" in mixed[1].warnings[0]


def test_what_is_no_number_is_kept_and_counted(shelf: Shelf) -> None:
    values = ["abc", "", "1.2.3", "12 %", "1,23,4", "--5", "0x1F", "1e5", "12"]
    found, change = run(shelf, "parse_numbers", list(values), columns=["c"])
    assert found == values
    assert change.counts == {"changed_cells": 0, "unconverted_cells": 8}
    fraction = run(shelf, "parse_numbers", ["12 %", "0.5%", "3"], columns=["c"], percent="fraction")
    assert fraction[0] == [Decimal("0.120"), Decimal("0.005"), Decimal("3.000")]


@given(st.lists(st.decimals(-(10**9), 10**9, places=2), min_size=1, max_size=8))
@SLOW_FIXTURE
def test_money_survives_german_and_english_writing(shelf: Shelf, amounts: list[Decimal]) -> None:
    english = [f"{amount:,.2f}" for amount in amounts]
    german = [text.translate(str.maketrans(",.", ".,")) + " €" for text in english]
    for written in (english, german):
        found, change = run(shelf, "parse_numbers", written, columns=["c"])
        assert found == amounts
        assert change.counts["unconverted_cells"] == 0


def test_phones(shelf: Shelf) -> None:
    table = shelf.put(
        "t",
        {
            "phone": [
                "030 901820",
                "+49 (0)30 901820",
                "0033 1 42 68 53 00",
                "12",
                "call me",
                None,
            ],
            "land": ["Germany", None, "IT", "DE", None, "DE"],
        },
    )
    change = clean(
        shelf.connection, table, "phones", {"columns": ["phone"], "country_column": "land"}
    )
    assert shelf.column(change.sql, "phone") == [
        "+4930901820",
        "+4930901820",
        "+33142685300",
        "12",
        "call me",
        None,
    ]
    assert change.counts == {"changed_cells": 3, "unconverted_cells": 2}
    assert [cell.row for cell in leftovers(shelf.connection, change)] == [4, 5]
    with pytest.raises(Invalid, match="'XX' is no country"):
        clean(shelf.connection, table, "phones", {"columns": ["phone"], "region": "XX"})


def test_emails(shelf: Shelf) -> None:
    values = [
        " Ann.B@Example.ORG ",
        "mailto:bob@x.de",
        "Cy Coder <cy@x.io>;",
        "not an address",
        "a@b",
        "x" * 65 + "@x.de",
        "ok@x.de",
    ]
    found, change = run(shelf, "emails", list(values), columns=["c"])
    assert found == ["ann.b@example.org", "bob@x.de", "cy@x.io", *values[3:]]
    assert change.counts == {"changed_cells": 3, "unconverted_cells": 3}
    assert run(shelf, "emails", ["Ann@X.DE"], columns=["c"], name_case="keep")[0] == ["Ann@x.de"]


def test_countries(shelf: Shelf) -> None:
    values = [
        "Deutschland",
        "the Netherlands",
        "U.S.A.",
        "österreich",
        "FR",
        "Kingdom of Norway",
        "Mars",
    ]
    found, change = run(shelf, "countries", list(values), columns=["c"])
    assert found == ["DE", "NL", "US", "AT", "FR", "NO", "Mars"]
    assert change.counts == {"changed_cells": 5, "unconverted_cells": 1}
    assert run(shelf, "countries", ["DEU"], columns=["c"], form="name")[0] == ["Germany"]


def test_country_names_lead_to_one_country_each() -> None:
    germany = country_of("Germany")
    assert germany is not None
    assert (germany.alpha2, germany.alpha3) == ("DE", "DEU")
    korea = country_of("Korea, Republic of")
    assert korea is not None
    assert korea.alpha2 == "KR"
    assert country_of("Republic of Nowhere") is None


def test_categories_by_similarity(shelf: Shelf) -> None:
    values = ["Technical"] * 5 + [
        "technical",
        "Tecnical",
        "Level 1",
        "Level 1",
        "Level 2",
        "No",
        "Na",
    ]
    table = shelf.put("t", {"c": values})
    proposal = propose_categories(shelf.connection, table, "c")
    assert proposal.mapping == {"technical": "Technical", "Tecnical": "Technical"}
    change = clean(shelf.connection, table, "map_categories", {"column": "c"})
    assert change.arguments["mapping"] == proposal.mapping
    assert shelf.column(change.sql, "c").count("Technical") == 7
    again = clean(shelf.connection, table, "map_categories", change.arguments)
    assert again.sql == change.sql
    strict = clean(
        shelf.connection, table, "map_categories", {"column": "c", "allowed": ["Technical"]}
    )
    assert strict.counts == {"changed_cells": 2, "unconverted_cells": 5}
