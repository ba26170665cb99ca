"""Cleaning operations: what they change, what they leave, and that they lose nothing on the way."""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steward.core.errors import Invalid, NotFound, TooLarge
from steward.data.changes import Cell, Change, changed_cells, leftovers
from steward.data.clean import catalogue, clean, country_of, propose_categories, suggest
from steward.data.clean import lookups as lookups_module
from steward.data.clean.operations.unicode import repaired
from tests.data.shelf import Shelf, opened

SLOW_FIXTURE = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with opened(tmp_path) as filled:
        yield filled


def texts(values: Sequence[str | None]) -> pl.DataFrame:
    return pl.DataFrame({"c": pl.Series(values, dtype=pl.String)})


def run(
    shelf: Shelf, name: str, values: Sequence[str | None], **arguments: Any
) -> tuple[list[Any], Change]:
    change = clean(shelf.connection, shelf.put("t", texts(values)), name, arguments)
    return shelf.column(change.sql, "c"), change


def test_every_operation_is_documented_and_has_a_schema() -> None:
    names = [name for name, _ in catalogue()]
    assert len(names) == 19
    for _, operation in catalogue():
        assert operation.title
        assert len(operation.description) > 20
        schema = operation.schema()
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        json.dumps(schema)


def test_unknown_operations_and_wrong_arguments_are_refused(shelf: Shelf) -> None:
    table = shelf.put("t", {"c": ["x"], "n": [1]})
    with pytest.raises(NotFound, match="'polish'"):
        clean(shelf.connection, table, "polish", {})
    with pytest.raises(Invalid, match="/style"):
        clean(shelf.connection, table, "case", {"style": "loud"})
    with pytest.raises(Invalid, match="/colums"):
        clean(shelf.connection, table, "trim", {"colums": ["c"]})
    with pytest.raises(Invalid, match="no column 'd'"):
        clean(shelf.connection, table, "trim", {"columns": ["d"]})
    with pytest.raises(Invalid, match="holds BIGINT, not text"):
        clean(shelf.connection, table, "trim", {"columns": ["n"]})


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


def test_missing_values(shelf: Shelf) -> None:
    assert run(shelf, "null_markers", ["N/A", " - ", "x", "", "None"])[0] == [
        None,
        None,
        "x",
        None,
        None,
    ]
    frame = pl.DataFrame(
        {
            "n": [None, 1, None, 3, 3, None],
            "t": [3, 1, 2, 5, 4, 6],
            "s": ["b", None, "a", "a", "b", None],
        }
    )
    table = shelf.put("t", frame)

    def filled(column: str, **arguments: Any) -> list[Any]:
        change = clean(shelf.connection, table, "fill_missing", {"columns": [column], **arguments})
        return shelf.column(change.sql, column)

    assert filled("n", value="7") == [7, 1, 7, 3, 3, 7]
    assert filled("n", strategy="median") == [3, 1, 3, 3, 3, 3]
    assert filled("n", strategy="previous") == [None, 1, 1, 3, 3, 3]
    assert filled("n", strategy="previous", order_by="t") == [1, 1, 1, 3, 3, 3]
    assert filled("s", strategy="most common") == ["b", "a", "a", "a", "b", "a"]
    with pytest.raises(Invalid, match="does not fit column 'n'"):
        filled("n", value="many")
    with pytest.raises(Invalid, match="needs numbers"):
        filled("s", strategy="mean")


def test_duplicate_rows_go_and_are_listed(shelf: Shelf) -> None:
    frame = pl.DataFrame({"a": [1, 2, 1, None, None], "b": ["x", "y", "x", None, None]})
    change = clean(shelf.connection, shelf.put("t", frame), "drop_duplicates", {})
    assert shelf.rows(change.sql) == frame.unique(keep="first", maintain_order=True).rows()
    assert change.counts["removed_rows"] == 2
    removed = changed_cells(shelf.connection, change)
    assert [(cell.row, cell.column) for cell in removed] == [(3, None), (5, None)]
    assert json.loads(removed[0].old or "") == {"a": 1, "b": "x"}
    by_one = clean(
        shelf.connection, change.inputs[0], "drop_duplicates", {"columns": ["b"], "keep": "last"}
    )
    assert shelf.column(by_one.sql, "a") == [2, 1, None]


def test_columns_renamed_dropped_cast_split_and_merged(shelf: Shelf) -> None:
    table = shelf.put("t", {"full": ["Ann B C", "Cy", None], "n": ["1", "2", "x"], "z": [1, 2, 3]})

    def done(name: str, **arguments: Any) -> Change:
        return clean(shelf.connection, table, name, arguments)

    renamed = done("rename_columns", names={"z": "Z2"})
    assert [column.name for column in renamed.columns] == ["full", "n", "Z2"]
    assert renamed.lineage[2].inputs == (("t", "z"),)
    with pytest.raises(Invalid, match="two columns called 'FULL'"):
        done("rename_columns", names={"z": "FULL"})
    assert [column.name for column in done("drop_columns", columns=["n"]).columns] == ["full", "z"]
    with pytest.raises(Invalid, match="1 values do not fit"):
        done("cast_columns", types={"n": "INTEGER"})
    emptied = done("cast_columns", types={"n": "INTEGER"}, on_failure="empty")
    assert shelf.column(emptied.sql, "n") == [1, 2, None]
    assert [cell.old for cell in leftovers(shelf.connection, emptied)] == ["x"]
    split = done("split_column", column="full", separator=" ", into=["first", "rest"])
    assert [row[:2] for row in shelf.rows(split.sql)] == [
        ("Ann", "B C"),
        ("Cy", None),
        (None, None),
    ]
    assert (split.counts["fewer"], split.counts["more"]) == (1, 1)
    merged = done("merge_columns", columns=["full", "z"], into="both", separator="/", keep=True)
    assert shelf.column(merged.sql, "both") == ["Ann B C/1", "Cy/2", "3"]
    assert merged.lineage[1].inputs == (("t", "full"), ("t", "z"))


def test_values_replaced(shelf: Shelf) -> None:
    mapping = {"it's": 'say "so"', "b": None}
    assert run(shelf, "replace_values", ["it's", "b", "B"], column="c", replacements=mapping)[
        0
    ] == [
        'say "so"',
        None,
        "B",
    ]
    folded = run(
        shelf,
        "replace_values",
        ["b", "B"],
        column="c",
        replacements={"b": "x"},
        match="ignore case",
    )
    assert folded[0] == ["x", "x"]


def test_long_mappings_keep_the_order_of_rows(shelf: Shelf) -> None:
    values = [f"v{i * 7919 % 5000}" for i in range(20_000)]
    mapping = {f"v{i}": f"w{i}" for i in range(0, 5000, 2)}
    found, change = run(shelf, "replace_values", list(values), column="c", replacements=mapping)
    assert found == [mapping.get(value, value) for value in values]
    assert change.counts["changed_cells"] == sum(value in mapping for value in values)
    cells = changed_cells(shelf.connection, change, limit=1000)
    assert [cell.row for cell in cells] == sorted(cell.row for cell in cells)


def test_too_many_different_values_are_refused(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lookups_module, "MAX_VALUES", 50)
    with pytest.raises(TooLarge, match="more than 50 different values"):
        run(shelf, "countries", [f"nowhere {i}" for i in range(60)], columns=["c"])


HOSTILE_NAME = 'c"; DROP TABLE x; --'
HOSTILE = [
    "'; DROP TABLE x; --",
    '"',
    "\\",
    "%s",
    "$1",
    "{}",
    "a\x00b",
    "💣",
    "' OR '1'='1",
    "ß" * 300,
]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("trim", {}),
        ("collapse_spaces", {}),
        ("case", {"style": "title"}),
        ("unicode_repair", {}),
        ("parse_dates", {"columns": [HOSTILE_NAME]}),
        ("parse_numbers", {"columns": [HOSTILE_NAME]}),
        ("phones", {"columns": [HOSTILE_NAME]}),
        ("emails", {"columns": [HOSTILE_NAME]}),
        ("countries", {"columns": [HOSTILE_NAME]}),
        ("map_categories", {"column": HOSTILE_NAME}),
        ("null_markers", {}),
        ("fill_missing", {"columns": [HOSTILE_NAME], "value": "'); DROP"}),
        ("drop_duplicates", {}),
        ("split_column", {"column": HOSTILE_NAME, "separator": "'", "into": ["a'", 'b"']}),
        (
            "merge_columns",
            {"columns": [HOSTILE_NAME, "steward_row"], "into": "'", "separator": "'"},
        ),
        ("replace_values", {"column": HOSTILE_NAME, "replacements": {"'; DROP": "'"}}),
    ],
)
def test_hostile_names_and_values_change_nothing_else(
    shelf: Shelf, name: str, arguments: dict[str, Any]
) -> None:
    frame = pl.DataFrame(
        {HOSTILE_NAME: [*HOSTILE, None], "steward_row": range(11), "STEWARD_0_0": range(11)}
    )
    change = clean(shelf.connection, shelf.put("t", frame), name, arguments)
    rows = shelf.rows(change.sql)
    assert len(rows) == 11
    if change.cells_sql is not None:
        changed_cells(shelf.connection, change)
    if "steward_row" in [column.name for column in change.columns]:
        assert shelf.column(change.sql, "steward_row") == list(range(11))


@pytest.mark.parametrize("name", ["trim", "unicode_repair", "drop_duplicates", "null_markers"])
def test_empty_tables(shelf: Shelf, name: str) -> None:
    table = shelf.put("t", pl.DataFrame({"c": pl.Series([], dtype=pl.String)}))
    change = clean(shelf.connection, table, name, {})
    assert shelf.rows(change.sql) == []
    assert change.counts["changed_cells"] == 0


def test_all_changes_are_plain_data(shelf: Shelf) -> None:
    _, change = run(shelf, "parse_dates", ["5.3.2024", "x"], columns=["c"])
    json.dumps(change.as_dict())
    assert change.summary == (
        "Reads dates: 1 cells change: 1 in 'c' (1 could not be converted and stay as they are)."
    )
    assert change.lineage[0].transformation == "written as ISO date"


def test_suggestions_have_evidence_and_counts(shelf: Shelf) -> None:
    frame = pl.DataFrame(
        {
            "id": [f"{i:04}" for i in range(40)],
            "mail": [f"User{i}@X.de" for i in range(39)] + ["n/a"],
            "phone": ["030 901820"] * 40,
            "country": ["Germany", "DE", "Deutschland", "FR"] * 10,
            "joined": ["25.04.2024"] * 40,
            "amount": ["1.234,50"] * 40,
            "status": ["open", "Open", "closed", "closed "] * 10,
            "name": ["MÃ¼ller", "Anna"] * 20,
            "free": [f"text {i}" for i in range(40)],
        }
    )
    table = shelf.put("t", frame)
    made = {each.operation: each for each in suggest(shelf.connection, table)}
    assert set(made) == {
        "unicode_repair",
        "collapse_spaces",
        "null_markers",
        "emails",
        "phones",
        "countries",
        "parse_dates",
        "parse_numbers",
        "map_categories",
    }
    assert made["unicode_repair"].columns == ("name",)
    assert made["unicode_repair"].changed == 20
    assert made["countries"].changed == 20
    assert made["phones"].arguments["country_column"] == "country"
    assert made["emails"].changed == 39
    assert made["parse_dates"].columns == ("joined",)
    for each in made.values():
        change = clean(shelf.connection, table, each.operation, each.arguments)
        assert change.counts["changed_cells"] == each.changed
    duplicated = shelf.put("d", {"a": [1, 1], "b": ["x", "x"]})
    assert [s.operation for s in suggest(shelf.connection, duplicated)] == ["drop_duplicates"]
