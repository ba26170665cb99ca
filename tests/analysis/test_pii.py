"""Personal data: everything planted is found, nothing else is, and no value is ever shown."""

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from random import Random

import duckdb
import phonenumbers
import pytest

from steward.analysis.pii import Finding, find, kind, mask, mask_inside
from steward.analysis.pii.kinds import PREFILTER, all_kinds
from steward.analysis.pii.people import looks_like_person
from steward.core.errors import Invalid
from steward.tables.table import Table, describe, quote


def made(connection: duckdb.DuckDBPyConnection, columns: dict[str, list[str | None]]) -> Table:
    names = list(columns)
    listed = ", ".join(f"{quote(name)} VARCHAR" for name in names)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE made ({listed})")
    rows = list(zip(*columns.values(), strict=True))
    marks = ", ".join("?" * len(names))
    connection.executemany(f"INSERT INTO made VALUES ({marks})", rows)
    return Table("made", "made", describe(connection, "made"))


def found(connection: duckdb.DuckDBPyConnection, table: Table) -> dict[str, list[Finding]]:
    result = find(connection, table)
    json.dumps(asdict(result), allow_nan=False)
    by_column: dict[str, list[Finding]] = {}
    for finding in result.findings:
        by_column.setdefault(finding.column, []).append(finding)
    return by_column


# Valid values made without the libraries that check them.


def luhn(payload: str) -> str:
    total = 0
    for place, digit in enumerate(reversed(payload)):
        value = int(digit) * (2 if place % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return payload + str(-total % 10)


def a_card(random: Random) -> str:
    return luhn("4" + "".join(random.choices("0123456789", k=14)))


def an_iban(random: Random) -> str:
    account = "".join(random.choices("0123456789", k=18))
    check = 98 - int(account + "131400") % 97
    return f"DE{check:02d}{account}"


def an_nhs_number(random: Random) -> str:
    while True:
        digits = random.choices(range(10), k=9)
        check = (
            11
            - sum(digit * weight for digit, weight in zip(digits, range(10, 1, -1), strict=True))
            % 11
        )
        if check != 10:
            return "".join(map(str, digits)) + str(check % 11)


def an_ssn(random: Random) -> str:
    return f"{random.randint(100, 665)}-{random.randint(10, 99)}-{random.randint(1000, 9999)}"


def a_cpf(random: Random) -> str:
    digits = random.choices(range(10), k=9)
    for length in (9, 10):
        total = sum(digit * (length + 1 - place) for place, digit in enumerate(digits))
        digits.append((total * 10 % 11) % 10)
    text = "".join(map(str, digits))
    return f"{text[:3]}.{text[3:6]}.{text[6:9]}-{text[9:]}"


def a_dni(random: Random) -> str:
    number = random.randint(10_000_000, 99_999_999)
    return f"{number}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def a_pesel(random: Random) -> str:
    digits = [int(one) for one in f"{random.randint(50, 99)}{random.randint(1, 12):02d}"]
    digits += [int(one) for one in f"{random.randint(1, 28):02d}{random.randint(0, 9999):04d}"]
    weights = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
    total = sum(digit * weight for digit, weight in zip(digits, weights, strict=True))
    return "".join(map(str, digits)) + str(-total % 10)


def a_phone(random: Random) -> str:
    return f"+49 30 {random.randint(10_000_000, 99_999_999)}"


def an_ip(random: Random) -> str:
    return ".".join(str(random.randint(0, 255)) for _ in range(4))


def an_email(random: Random) -> str:
    return f"{random.choice(['jo', 'ann.b', 'x_y'])}{random.randint(1, 10**6)}@mail.example.org"


MAKERS: dict[str, tuple[str, Callable[[Random], str]]] = {
    "email": ("c1", an_email),
    "phone": ("c2", a_phone),
    "ip": ("c3", an_ip),
    "iban": ("c4", an_iban),
    "card": ("c5", a_card),
    "us_ssn": ("c6", an_ssn),
    "gb_nhs": ("c7", an_nhs_number),
    "br_cpf": ("c8", a_cpf),
    "es_dni": ("c9", a_dni),
    "pl_pesel": ("pesel", a_pesel),
}


def test_every_planted_value_is_found(connection: duckdb.DuckDBPyConnection) -> None:
    random = Random(3)
    columns: dict[str, list[str | None]] = {
        column: [maker(random) for _ in range(200)] for column, maker in MAKERS.values()
    }
    result = found(connection, made(connection, columns))
    for name, (column, _) in MAKERS.items():
        findings = result[column]
        assert [one.kind for one in findings] == [name]
        assert (findings[0].rows, findings[0].share, findings[0].where) == (200, 1.0, "whole value")
        assert findings[0].valid == findings[0].checked == len(set(columns[column]))
        assert findings[0].confidence == "high"


def test_values_without_their_check_digit_are_not_reported(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    random = Random(4)
    columns: dict[str, list[str | None]] = {
        "order_ref": [str(random.randint(4 * 10**15, 5 * 10**15)) for _ in range(2_000)],
        "tracking": [str(random.randint(10**9, 10**10 - 1)) for _ in range(2_000)],
        "batch": [f"{random.randint(10**7, 10**8 - 1)}{random.choice('ABCDEFGH')}" for _ in range(2_000)],
        "serial": [f"DE{random.randint(10**19, 10**20 - 1)}" for _ in range(2_000)],
        "at": [f"{random.randint(0, 23):02d}:{random.randint(0, 59):02d}:00" for _ in range(2_000)],
        "amount": [f"{random.uniform(0, 10**7):.2f}" for _ in range(2_000)],
        "version": [f"{random.randint(1, 9)}.0.{random.randint(0, 9)}.1" for _ in range(2_000)],
        "date": [f"2024-{random.randint(1, 12):02d}-{random.randint(1, 28):02d}" for _ in range(2_000)],
        "uuid": [f"{random.getrandbits(128):032x}" for _ in range(2_000)],
        "mention": [f"write to @user{random.randint(1, 99)} about #{random.randint(1, 10**7)}" for _ in range(2_000)],
    }  # fmt: skip
    assert found(connection, made(connection, columns)) == {}


def test_a_few_among_many_are_found(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        """
        CREATE TEMP TABLE made AS SELECT CASE range
            WHEN 77777 THEN 'please answer to jo@firm.example, thank you'
            WHEN 88888 THEN 'my account is DE89 3704 0044 0532 0130 00'
            ELSE 'ticket ' || range || ' about order ' || range * 7 END AS remark
        FROM range(100000)
        """
    )
    result = found(connection, Table("made", "made", describe(connection, "made")))
    assert [(one.kind, one.where, one.rows, one.valid) for one in result["remark"]] == [
        ("email", "inside text", 1, 1),
        ("iban", "inside text", 1, 1),
    ]


def test_a_column_of_many_values_is_counted_exactly(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    connection.execute(
        """
        CREATE TEMP TABLE made AS SELECT CASE WHEN range % 10 = 0 THEN 'nobody'
            WHEN range % 1000 = 1 THEN '+44 7911 ' || (100000 + range)
            ELSE 'u' || range || '@firm.example' END AS contact
        FROM range(20000)
        """
    )
    result = found(connection, Table("made", "made", describe(connection, "made")))
    assert [(one.kind, one.rows) for one in result["contact"]] == [("email", 17_980), ("phone", 20)]
    assert result["contact"][0].share == 0.899


def test_numbers_can_be_personal(connection: duckdb.DuckDBPyConnection) -> None:
    random = Random(6)
    cards = [int(a_card(random)) for _ in range(50)]
    connection.execute("CREATE TEMP TABLE made (paid_with BIGINT, telephone BIGINT, n INTEGER)")
    connection.executemany(
        "INSERT INTO made VALUES (?, ?, ?)",
        [(card, 2_025_550_100 + place, place) for place, card in enumerate(cards)],
    )
    result = found(connection, Table("made", "made", describe(connection, "made")))
    assert {name: [one.kind for one in findings] for name, findings in result.items()} == {
        "paid_with": ["card"],
        "telephone": ["phone"],
    }


def test_names_of_people_are_judged_by_column_and_list(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    columns: dict[str, list[str | None]] = {
        "Vorname": ["Xylo", "Quist", "Bram", "Tove", "Aoife", "Odd"],
        "who": ["Anna Smith", "José García", "Peter Müller", "Li Wang", "Olga Novak", "M. Kate"],
        "product_name": ["Anna", "Peter", "Olga", "Martin", "Victoria", "Max"],
        "town": ["Paris", "Victoria", "Leon", "San Jose", "Oslo", "Bergen"],
    }
    result = found(connection, made(connection, columns))
    assert set(result) == {"Vorname", "who"}
    by_name, by_list = result["Vorname"][0], result["who"][0]
    assert (by_name.where, by_name.confidence) == ("column name", "low")
    assert (by_list.where, by_list.confidence) == ("whole value", "medium")
    assert "not a model" in by_list.check


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("dateOfBirth", "birth_date"),
        ("home_address", "address"),
        ("PASSWORD", "secret"),
        ("religion", "sensitive"),
        ("passport_no", "passport"),
        ("last-name", "person_name"),
        ("login", "username"),
    ],
)
def test_some_kinds_are_known_by_the_columns_name_alone(
    connection: duckdb.DuckDBPyConnection, column: str, expected: str
) -> None:
    result = found(connection, made(connection, {column: ["abc", "def"], "other": ["abc", "def"]}))
    assert [one.kind for one in result[column]] == [expected]
    assert "other" not in result


@pytest.mark.parametrize(
    "column",
    ["email_address_count", "ip_address", "birth_rate", "company_name", "password_reset_at"],
)
def test_names_that_only_sound_personal(connection: duckdb.DuckDBPyConnection, column: str) -> None:
    assert found(connection, made(connection, {column: ["12", "15"]})) == {}


def test_no_result_holds_a_value(connection: duckdb.DuckDBPyConnection) -> None:
    random = Random(8)
    columns: dict[str, list[str | None]] = {
        column: [maker(random) for _ in range(40)] for column, maker in MAKERS.values()
    }
    columns["surname"] = ["Featherstonehaugh"] * 40
    columns["password"] = ["hunter2!"] * 40
    said = json.dumps(asdict(find(connection, made(connection, columns))))
    for values in columns.values():
        for value in values:
            assert value is not None
            assert value not in said
            assert re.sub(r"[^0-9A-Za-z]", "", value) not in said


@pytest.mark.parametrize(
    ("value", "name", "expected"),
    [
        ("jo@firm.example", "email", "j***@f***.example"),
        ("+44 7911 123456", "phone", "+** **** ****56"),
        ("DE89370400440532013000", "iban", "********************00"),
        ("Anna Smith", "person_name", "A*** S***"),
        ("hunter2", "secret", "***"),
        ("1234", None, "****"),
        ("", None, ""),
    ],
)
def test_masks(value: str, name: str | None, expected: str) -> None:
    assert mask(value, name) == expected


def test_masking_inside_text_leaves_the_rest() -> None:
    text = "From jo@firm.example, card 4111 1111 1111 1111: refund 12.50 please"
    assert mask_inside(text, ("email", "card")) == (
        "From j***@f***.example, card **** **** **** **11: refund 12.50 please"
    )


def test_every_personal_kind_passes_the_first_test() -> None:
    random = Random(9)
    samples = {name: maker(random) for name, (_, maker) in MAKERS.items()}
    samples |= {
        "mac": "00:1B:44:11:3A:B7",
        "gb_nino": "AB 12 34 56 C",
        "it_codice_fiscale": "RCCMNL83S18D969H",
        "fr_nir": "2 95 10 99 126 111 93",
        "es_nie": "X-2482300W",
        "ch_ahv": "756.9217.0769.85",
        "se_personnummer": "880320-0016",
        "fi_hetu": "131052-308T",
        "be_nn": "85073003328",
        "in_pan": "AAPPV8261K",
        "in_aadhaar": "234123412346",
        "nl_bsn": "111222333",
        "de_idnr": "36 574 261 809",
        "ca_sin": "123-456-782",
        "pt_nif": "501964843",
        "imei": "490154203237518",
    }
    for one in all_kinds():
        if not one.personal:
            continue
        value = samples[one.name]
        assert re.search(PREFILTER, value), one.name
        assert one.regex(hinted=False).fullmatch(value), one.name
        assert one.valid(value), one.name


def test_phone_numbers_of_every_region_are_found(connection: duckdb.DuckDBPyConnection) -> None:
    examples = []
    for region in sorted(phonenumbers.SUPPORTED_REGIONS):
        number = phonenumbers.example_number(region)
        if number is not None:
            style = phonenumbers.PhoneNumberFormat.INTERNATIONAL
            examples.append(phonenumbers.format_number(number, style))
    columns: dict[str, list[str | None]] = {"x": list(examples)}
    finding = found(connection, made(connection, columns))["x"][0]
    assert finding.kind == "phone"
    assert finding.rows >= 0.99 * len(examples)


def test_hostile_values_take_no_time(connection: duckdb.DuckDBPyConnection) -> None:
    columns: dict[str, list[str | None]] = {
        "a": ["a" * 200_000, "@" * 100_000, "a@" * 50_000, "1-" * 100_000, "1 " * 100_000],
        "b": ["::" * 50_000, "DE89" * 50_000, "+" * 100_000, "." * 100_000, "(" * 100_000],
    }
    assert found(connection, made(connection, columns)) == {}


def test_columns_can_be_chosen_and_must_exist(connection: duckdb.DuckDBPyConnection) -> None:
    table = made(connection, {"a": ["jo@firm.example"], 'b"': ["jo@firm.example"]})
    result = find(connection, table, ['b"'])
    assert (result.columns, result.columns_checked) == (('b"',), 1)
    with pytest.raises(Invalid, match="has no column 'c'"):
        find(connection, table, ["c"])


def test_nothing_to_read(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(
        "CREATE TEMP TABLE made AS SELECT NULL::VARCHAR AS email, [1] AS l WHERE false"
    )
    table = Table("made", "made", describe(connection, "made"))
    assert find(connection, table).findings == ()
    assert find(connection, table, []).columns_checked == 0


def test_kinds_are_found_by_name() -> None:
    assert kind("iban") is not None
    assert kind("person_name") is None
    assert looks_like_person("Marie-Louise Dubois")
    assert not looks_like_person("Order 17 for Anna")
