"""The sample data: same bytes for a seed, planted problems as counted, a truth that is fair.

One file although it is long: every test reads the same generated and parsed samples.
"""

import ast
import csv
import hashlib
import inspect
import io
import re
import statistics
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path

import pytest

from scripts.samples import SampleSet, generate
from scripts.samples.__main__ import contents, main

Row = dict[str, str]
CRM, BILLING, SUPPORT = "crm_customers", "billing_invoices", "support_tickets"

GOLDEN = {
    CRM: "7c91abf5f542d3866e3859714cb0d958afc42860243463a6d2a312b206264760",
    BILLING: "f7903904dd0d47d62a3fa8bd168a35c648d081cb769a399461e90a1725c13e16",
    SUPPORT: "1dd234e3e399d3af94b59ba94844a7d27136d8c9e7f6787f5c70409ea8d49f61",
    "truth": "db4c388ebf63192fdda67da7bce84801dd982eddd9637e2039b9c425e9c133e9",
}

ISO2 = {"DE", "AT", "CH", "GB", "IE", "FR", "NL", "IT", "ES", "PL", "SE", "DK"}
FIVE_DIGITS = {"DE", "Germany", "Deutschland", "GER", "IT", "Italy", "Italia", "ITA"} | {
    "ES",
    "Spain",
    "España",
    "ESP",
}
CATEGORIES = {"Billing", "Technical", "Access", "Delivery", "Feature", "Cancellation"}
FREE_MAIL = {"freemail.example", "postfach.example", "webpost.example"}
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: [A-Z0-9]{1,4}){3,}")
CARD = re.compile(r"\b\d{4} \d{4} \d{4} \d{4}\b")
PHONE = re.compile(r"[+(]?\d[\d ()/]{6,}\d")


@pytest.fixture(scope="module")
def samples() -> SampleSet:
    return generate()


@pytest.fixture(scope="module")
def tables(samples: SampleSet) -> dict[str, list[Row]]:
    return read_all(samples)


def read_all(samples: SampleSet) -> dict[str, list[Row]]:
    tables = {}
    for dataset in samples.datasets:
        text = io.StringIO(dataset.content.decode(dataset.encoding), newline="")
        tables[dataset.name] = list(csv.DictReader(text, delimiter=dataset.delimiter, strict=True))
    return tables


def entities(samples: SampleSet, dataset: str) -> dict[str, str]:
    return {row.row_id: row.entity_id for row in samples.truth.rows if row.dataset == dataset}


def repaired(text: str) -> str:
    try:
        return text.encode("cp1252").decode("utf-8")
    except UnicodeError:
        return text


def padded(value: str) -> bool:
    return value != value.strip()


def day(text: str) -> date:
    if "." in text:
        return date(*(int(part) for part in reversed(text.split("."))))
    return date.fromisoformat(text)


def cents(text: str) -> int:
    assert re.fullmatch(r"-?\d+,\d\d", text)
    return int(text.replace(",", ""))


def revenue(text: str) -> int:
    return int(re.sub(r"\D", "", text)) * (1000 if text.endswith("k") else 1)


def mod97(iban: str) -> int:
    compact = iban.replace(" ", "")
    return int("".join(str(int(char, 36)) for char in compact[4:] + compact[:4])) % 97


def body_without_accounts(row: Row) -> str:
    return IBAN.sub("", re.sub(r"RE-\d{4}-\d{5}", "", row["body"]))


DETECTORS: dict[tuple[str, str, str], Callable[[Row], bool]] = {
    (CRM, "company", "missing"): lambda r: not r["company"],
    (CRM, "company", "outer_spaces"): lambda r: padded(r["company"]),
    (CRM, "company", "mojibake"): lambda r: repaired(r["company"]) != r["company"],
    (CRM, "last_name", "mojibake"): lambda r: repaired(r["last_name"]) != r["last_name"],
    (CRM, "email", "missing"): lambda r: not r["email"],
    (CRM, "phone", "missing"): lambda r: not r["phone"],
    (CRM, "phone", "placeholder"): lambda r: bool(r["phone"]) and not re.search(r"\d", r["phone"]),
    (CRM, "city", "outer_spaces"): lambda r: padded(r["city"]),
    (CRM, "city", "mojibake"): lambda r: repaired(r["city"]) != r["city"],
    (CRM, "postcode", "lost_zero"): lambda r: (
        r["country"] in FIVE_DIGITS and len(r["postcode"]) < 5
    ),
    (CRM, "country", "not_iso2"): lambda r: r["country"] not in ISO2,
    (CRM, "account_manager", "differs_from_owner"): lambda r: r["owner"] != r["account_manager"],
    (CRM, "created", "dotted_date"): lambda r: "." in r["created"],
    (CRM, "created", "slashed_date"): lambda r: "/" in r["created"],
    (CRM, "created", "placeholder_date"): lambda r: r["created"] == "1900-01-01",
    (CRM, "annual_revenue", "missing"): lambda r: not r["annual_revenue"],
    (CRM, "annual_revenue", "not_plain"): lambda r: not re.fullmatch(r"\d*", r["annual_revenue"]),
    (CRM, "annual_revenue", "outlier"): lambda r: (
        bool(r["annual_revenue"]) and revenue(r["annual_revenue"]) > 5e6 * int(r["employees"])
    ),
    (CRM, "newsletter", "spelling"): lambda r: r["newsletter"] not in {"yes", "no"},
    (CRM, "tenant", "constant"): lambda r: r["tenant"] == "main",
    (BILLING, "account_name", "outer_spaces"): lambda r: padded(r["account_name"]),
    (BILLING, "billing_email", "missing"): lambda r: not r["billing_email"],
    (BILLING, "vat_id", "missing"): lambda r: not r["vat_id"],
    (BILLING, "iban", "missing"): lambda r: not r["iban"],
    (BILLING, "iban", "invalid"): lambda r: bool(r["iban"]) and mod97(r["iban"]) != 1,
    (BILLING, "issue_date", "iso_date"): lambda r: "-" in r["issue_date"],
    (BILLING, "due_date", "before_issue"): lambda r: day(r["due_date"]) < day(r["issue_date"]),
    (BILLING, "paid_date", "missing"): lambda r: not r["paid_date"],
    (BILLING, "net", "negative"): lambda r: cents(r["net"]) < 0,
    (BILLING, "gross", "mismatch"): lambda r: (
        cents(r["net"]) + cents(r["tax"]) != cents(r["gross"])
    ),
    (BILLING, "status", "spelling"): lambda r: r["status"] != r["status"].lower(),
    (BILLING, "company_code", "constant"): lambda r: r["company_code"] == "1000",
    (BILLING, "crm_id", "missing"): lambda r: not r["crm_id"],
    (SUPPORT, "requester_name", "mojibake"): lambda r: (
        repaired(r["requester_name"]) != r["requester_name"]
    ),
    (SUPPORT, "requester_email", "missing"): lambda r: not r["requester_email"],
    (SUPPORT, "company", "missing"): lambda r: not r["company"],
    (SUPPORT, "company", "outer_spaces"): lambda r: padded(r["company"]),
    (SUPPORT, "account_ref", "missing"): lambda r: not r["account_ref"],
    (SUPPORT, "account_ref", "noise"): lambda r: (
        bool(r["account_ref"]) and not re.fullmatch(r"AC-\d+", r["account_ref"])
    ),
    (SUPPORT, "opened_at", "local_offset"): lambda r: not r["opened_at"].endswith("Z"),
    (SUPPORT, "closed_at", "missing"): lambda r: not r["closed_at"],
    (SUPPORT, "closed_at", "before_opened"): lambda r: (
        bool(r["closed_at"])
        and datetime.fromisoformat(r["closed_at"]) < datetime.fromisoformat(r["opened_at"])
    ),
    (SUPPORT, "category", "spelling"): lambda r: r["category"] not in CATEGORIES,
    (SUPPORT, "satisfaction", "missing"): lambda r: not r["satisfaction"],
    (SUPPORT, "satisfaction", "out_of_range"): lambda r: (
        r["satisfaction"] not in {"", "1", "2", "3", "4", "5"}
    ),
    (SUPPORT, "body", "several_lines"): lambda r: "\n" in r["body"],
    (SUPPORT, "body", "phone"): lambda r: bool(
        PHONE.search(CARD.sub("", body_without_accounts(r)))
    ),
    (SUPPORT, "body", "iban"): lambda r: bool(IBAN.search(r["body"])),
    (SUPPORT, "body", "email"): lambda r: "@" in r["body"],
    (SUPPORT, "body", "card"): lambda r: bool(CARD.search(body_without_accounts(r))),
}
"""One independent reading per planted problem that shows in the row itself."""

BY_TRUTH = {
    (CRM, "customer_id", "duplicate"),
    (CRM, "customer_id", "hard_duplicate"),
    (CRM, "company", "namesake"),
    (BILLING, "account_no", "second_account"),
    (BILLING, "vat_id", "invalid"),
    (BILLING, "net", "outlier"),
    (BILLING, "crm_id", "orphan"),
    (SUPPORT, "account_ref", "orphan"),
}
"""Planted problems that need other rows, the truth or another package; each has its own test."""


def test_the_same_seed_gives_the_same_bytes_everywhere(samples: SampleSet) -> None:
    digests = {
        name.removesuffix(".csv"): hashlib.sha256(data).hexdigest()
        for name, data in contents(samples).items()
    }
    assert digests == GOLDEN


def test_another_seed_gives_other_data() -> None:
    first, second = generate(seed=1, customers=60), generate(seed=2, customers=60)
    assert first == generate(seed=1, customers=60)
    assert all(a.content != b.content for a, b in zip(first.datasets, second.datasets, strict=True))


@pytest.mark.parametrize("customers", [1, 2, 17, 300])
def test_any_number_of_customers_works(customers: int) -> None:
    samples = generate(seed=5, customers=customers)
    assert {row.entity_id for row in samples.truth.rows} == {
        f"E-{number:06d}" for number in range(1, customers + 1)
    }


def test_no_customers_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        generate(customers=0)


def test_files_are_what_each_system_exports(
    samples: SampleSet, tables: Mapping[str, list[Row]]
) -> None:
    for dataset in samples.datasets:
        assert tuple(tables[dataset.name][0]) == dataset.columns
        assert len(tables[dataset.name]) == dataset.rows
        assert all(None not in row and None not in row.values() for row in tables[dataset.name])
    assert 1250 <= len(tables[CRM]) <= 1400
    assert 4500 <= len(tables[BILLING]) <= 5500
    assert 3600 <= len(tables[SUPPORT]) <= 4400
    crm, billing, support = (dataset.content for dataset in samples.datasets)
    assert crm.decode("utf-8").startswith("customer_id,")
    assert b"\r" not in crm
    with pytest.raises(UnicodeDecodeError):
        billing.decode("utf-8")
    assert billing.count(b"\r\n") == billing.count(b"\n") == len(tables[BILLING]) + 1
    assert support.startswith(b'\xef\xbb\xbf"ticket_id","')
    assert b'""timeout after 30 s""' in support


@pytest.mark.parametrize("place", DETECTORS, ids="-".join)
def test_planted_problems_are_in_the_bytes(
    samples: SampleSet, tables: Mapping[str, list[Row]], place: tuple[str, str, str]
) -> None:
    row_id = samples.dataset(place[0]).row_id
    found = [row[row_id] for row in tables[place[0]] if DETECTORS[place](row)]
    problem = samples.truth.problem(*place)
    assert found == list(problem.row_ids)
    assert problem.count > 3


def test_every_planted_problem_is_checked(samples: SampleSet) -> None:
    planted = {(p.dataset, p.column, p.kind) for p in samples.truth.problems}
    assert planted == set(DETECTORS) | BY_TRUTH


def test_duplicates_are_all_records_of_a_customer_but_one(samples: SampleSet) -> None:
    for dataset, column, kind in (
        (CRM, "customer_id", "duplicate"),
        (BILLING, "account_no", "second_account"),
    ):
        planted = set(samples.truth.problem(dataset, column, kind).row_ids)
        owner = entities(samples, dataset)
        if dataset == BILLING:
            accounts = {r["invoice_no"]: r["account_no"] for r in read_all(samples)[BILLING]}
            owner = {accounts[row_id]: entity for row_id, entity in owner.items()}
            planted = {accounts[row_id] for row_id in planted}
        originals = [entity for row_id, entity in owner.items() if row_id not in planted]
        assert len(originals) == len(set(originals)) == len(set(owner.values()))
        assert len(planted) > 20


def test_outliers_stand_out_of_their_account(
    samples: SampleSet, tables: Mapping[str, list[Row]]
) -> None:
    amounts: dict[str, list[int]] = defaultdict(list)
    for row in tables[BILLING]:
        amounts[row["account_no"]].append(abs(cents(row["net"])))
    found = [
        row["invoice_no"]
        for row in tables[BILLING]
        if len(amounts[row["account_no"]]) >= 6
        and cents(row["net"]) > 20 * statistics.median(amounts[row["account_no"]])
    ]
    planted = samples.truth.problem(BILLING, "net", "outlier")
    assert found == list(planted.row_ids)
    assert found


def test_only_planted_keys_identify_rows(
    samples: SampleSet, tables: Mapping[str, list[Row]]
) -> None:
    unique = {
        (name, (column,))
        for name, rows in tables.items()
        for column in rows[0]
        if len({row[column] for row in rows}) == len(rows)
    }
    assert unique == {(key.dataset, key.columns) for key in samples.truth.keys}


def test_foreign_keys_hold_except_for_planted_orphans(
    samples: SampleSet, tables: Mapping[str, list[Row]]
) -> None:
    assert {(key.dataset, key.column) for key in samples.truth.foreign_keys} == {
        (BILLING, "crm_id"),
        (SUPPORT, "account_ref"),
    }
    for key in samples.truth.foreign_keys:
        targets = {row[key.target_column] for row in tables[key.target_dataset]}
        row_id = samples.dataset(key.dataset).row_id
        values = {row[row_id]: row[key.column] for row in tables[key.dataset]}
        assert sum(not value for value in values.values()) == key.missing > 0
        clean = {row: re.sub(r"\s", "", value).upper() for row, value in values.items() if value}
        assert sum(clean[row] != values[row] for row in clean) == key.noisy
        orphans = [row for row, value in clean.items() if value not in targets]
        assert len(orphans) == key.orphans > 0
        assert orphans == list(samples.truth.problem(key.dataset, key.column, "orphan").row_ids)


def test_references_point_at_the_same_customer(
    samples: SampleSet, tables: Mapping[str, list[Row]]
) -> None:
    crm, billing = entities(samples, CRM), entities(samples, BILLING)
    accounts = {row["account_no"]: billing[row["invoice_no"]] for row in tables[BILLING]}
    for row in tables[BILLING]:
        assert crm.get(row["crm_id"], billing[row["invoice_no"]]) == billing[row["invoice_no"]]
    for ticket, entity in zip(tables[SUPPORT], entities(samples, SUPPORT).values(), strict=True):
        reference = re.sub(r"\s", "", ticket["account_ref"]).upper()
        assert accounts.get(reference, entity) == entity


def test_vat_numbers_are_valid_except_for_planted_ones(
    samples: SampleSet, tables: Mapping[str, list[Row]]
) -> None:
    stdnum = pytest.importorskip("stdnum")
    valid = {code: stdnum.get_cc_module(code.lower(), "vat").is_valid for code in ISO2}
    rows = [row for row in tables[BILLING] if row["vat_id"]]
    wrong = [r["invoice_no"] for r in rows if not valid[r["billing_country"]](r["vat_id"])]
    assert wrong == list(samples.truth.problem(BILLING, "vat_id", "invalid").row_ids)
    assert len({row["vat_id"][:2] for row in rows}) == len(ISO2)
    assert wrong


def test_truth_covers_every_row_once(samples: SampleSet, tables: Mapping[str, list[Row]]) -> None:
    truth = list(csv.DictReader(io.StringIO(samples.truth.csv().decode("utf-8"))))
    expected = [
        (dataset.name, row[dataset.row_id])
        for dataset in samples.datasets
        for row in tables[dataset.name]
    ]
    assert [(row["dataset"], row["row_id"]) for row in truth] == expected
    assert len({row["entity_id"] for row in truth}) == samples.customers


def test_mixed_formats_are_all_present(tables: Mapping[str, list[Row]]) -> None:
    shapes = Counter(re.sub(r"\d", "9", row["created"]) for row in tables[CRM])
    assert set(shapes) == {"9999-99-99", "99.99.9999", "99/99/9999"}
    assert min(shapes.values()) > 100
    slashed = [row["created"] for row in tables[CRM] if "/" in row["created"]]
    assert all(int(text[:2]) <= 12 < int(text[3:5]) for text in slashed)
    countries = {row["country"] for row in tables[CRM]}
    assert {"DE", "Germany", "Deutschland", "UK", "GB", "France", "Österreich"} <= countries
    phones = {re.sub(r"\d+", "9", row["phone"]) for row in tables[CRM]}
    assert {"+9 9 9", "+9", "9 9 9", "(9) 9 9", "9/9", "9 9"} <= phones
    names = " | ".join(row["company"] for row in tables[CRM])
    assert all(form in names for form in ("GmbH", "G.m.b.H.", " mbH", "Ltd", "Limited", "S.r.l."))


# What follows asks whether the customers can be told apart, with rules of a page.

LEGAL_FORMS = re.compile(
    r"\b(gmbh|mbh|gesmbh|ag|kg|co|ek|ug|haftungsbeschraenkt|aktiengesellschaft|sagl|und|and|sp|zoo"
    r"|kommanditgesellschaft|ltd|limited|plc|llp|dac|sarl|sas|sa|bv|vof|srl|spa|snc|sl|ab"
    r"|aktiebolag|aps|as)\b"
)
UMLAUTS = str.maketrans(
    dict(zip("äöüßåøæł", ("ae", "oe", "ue", "ss", "aa", "oe", "ae", "l"), strict=True))
)
Attributes = dict[str, str]


def folded(text: str) -> str:
    spelt = unicodedata.normalize("NFKD", repaired(text.strip()).lower().translate(UMLAUTS))
    return "".join(char for char in spelt if not unicodedata.combining(char))


def core(company: str) -> str:
    """The company's name without its legal form, case and accents."""
    text = re.sub(r"sp\. ?z ?o\.o\.|s\.a r\.l\.|ges\.m\.b\.h\.|a/s", " ", folded(company))
    text = re.sub(r"\b(?:[a-z]\.\s?)+[a-z]?\b\.?", lambda m: re.sub(r"\W", "", m[0]) + " ", text)
    return " ".join(re.findall(r"[a-z0-9]+", LEGAL_FORMS.sub(" ", text)))


def attributes(company: str, email: str, **more: str) -> Attributes:
    email = email.lower()
    domain = email.partition("@")[2]
    return {
        "company": core(company),
        "email": email,
        "domain": "" if domain in FREE_MAIL else domain,
        **more,
    }


def crm_attributes(row: Row) -> Attributes:
    return attributes(
        row["company"],
        row["email"],
        crm=row["customer_id"],
        phone=re.sub(r"\D", "", row["phone"])[-8:],
        postcode=row["postcode"],
        house=row["postcode"] + "".join(re.findall(r"\d+", row["street"])),
    )


def party_records(
    samples: SampleSet, tables: Mapping[str, list[Row]]
) -> dict[str, tuple[str, Attributes]]:
    """CRM records, billing accounts and support senders, each with its customer and attributes."""
    truth = {(row.dataset, row.row_id): row.entity_id for row in samples.truth.rows}
    records: dict[str, tuple[str, Attributes]] = {}
    for row in tables[CRM]:
        records[row["customer_id"]] = truth[CRM, row["customer_id"]], crm_attributes(row)
    for row in tables[BILLING]:
        more = {"crm": row["crm_id"], "vat": row["vat_id"], "account": row["account_no"]}
        known = attributes(
            row["account_name"], row["billing_email"], postcode=row["billing_postcode"], **more
        )
        records[row["account_no"]] = truth[BILLING, row["invoice_no"]], known
    for row in tables[SUPPORT]:
        account = re.sub(r"\s", "", row["account_ref"]).upper()
        known = attributes(row["company"], row["requester_email"], account=account)
        sender = (known["email"] or folded(row["requester_name"]), known["company"], account)
        records["|".join(sender)] = truth[SUPPORT, row["ticket_id"]], known
    return records


def linked_by(
    records: Mapping[str, tuple[str, Attributes]], rules: Sequence[Sequence[str]]
) -> dict[str, str]:
    """The cluster of each record when records that agree on all parts of a rule are the same."""
    parent = {record: record for record in records}

    def root(record: str) -> str:
        while parent[record] != record:
            parent[record] = parent[parent[record]]
            record = parent[record]
        return record

    for rule in rules:
        seen: dict[tuple[str, ...], str] = {}
        for record, (_, known) in records.items():
            value = tuple(known.get(part, "") for part in rule)
            if all(value):
                parent[root(record)] = root(seen.setdefault(value, record))
    return {record: root(record) for record in records}


def pairs(groups: Iterable[object]) -> int:
    return sum(size * (size - 1) // 2 for size in Counter(groups).values())


def f1(records: Mapping[str, tuple[str, Attributes]], clusters: Mapping[str, str]) -> float:
    right = pairs((clusters[record], entity) for record, (entity, _) in records.items())
    return 2 * right / (pairs(clusters.values()) + pairs(entity for entity, _ in records.values()))


SENSIBLE = (
    ("email",),
    ("phone",),
    ("company", "postcode"),
    ("company", "domain"),
    ("vat",),
    ("crm",),
    ("account",),
)


def test_customers_can_be_resolved_but_not_by_the_first_idea(
    samples: SampleSet, tables: Mapping[str, list[Row]]
) -> None:
    records = party_records(samples, tables)
    crm_only = {key: value for key, value in records.items() if key.startswith("C-")}
    assert f1(records, linked_by(records, SENSIBLE)) >= 0.97
    assert f1(crm_only, linked_by(crm_only, SENSIBLE)) >= 0.97
    for naive in ([("company",)], [("email",)], [("company",), ("email",)]):
        assert f1(records, linked_by(records, naive)) < 0.95
        assert f1(crm_only, linked_by(crm_only, naive)) < 0.95


def test_duplicates_agree_on_two_strong_attributes(
    samples: SampleSet, tables: Mapping[str, list[Row]]
) -> None:
    strong = ("email", "phone", "company", "house")
    known = {row["customer_id"]: crm_attributes(row) for row in tables[CRM]}
    owner = entities(samples, CRM)
    records_of: dict[str, list[str]] = defaultdict(list)
    for row_id, entity in owner.items():
        records_of[entity].append(row_id)
    duplicates = samples.truth.problem(CRM, "customer_id", "duplicate").row_ids
    agreeing = {
        row_id: max(
            sum(
                bool(known[row_id][part]) and known[row_id][part] == known[other][part]
                for part in strong
            )
            for other in records_of[owner[row_id]]
            if other != row_id
        )
        for row_id in duplicates
    }
    assert sum(count >= 2 for count in agreeing.values()) >= 0.95 * len(duplicates)
    hard = samples.truth.problem(CRM, "customer_id", "hard_duplicate").row_ids
    assert set(hard) <= set(duplicates)
    assert 0 < len(hard) <= 0.1 * len(duplicates)


def test_different_customers_never_share_a_strong_identifier(
    samples: SampleSet, tables: Mapping[str, list[Row]]
) -> None:
    owners: dict[tuple[str, str], set[str]] = defaultdict(set)
    names: dict[str, set[str]] = defaultdict(set)
    for entity, known in party_records(samples, tables).values():
        for part in ("email", "phone", "vat", "account"):
            if known.get(part):
                owners[part, known[part]].add(entity)
        if known["company"]:
            names[known["company"]].add(entity)
    assert [key for key, customers in owners.items() if len(customers) > 1] == []
    owner = entities(samples, CRM)
    namesakes = {owner[r] for r in samples.truth.problem(CRM, "company", "namesake").row_ids}
    shared = {entity for group in names.values() if len(group) > 1 for entity in group}
    assert len(namesakes) > 10
    assert len(namesakes & shared) >= 0.9 * len(namesakes)
    assert len(shared) <= 2.3 * len(namesakes)


# And whether the numbers behave like a business.


def test_amounts_follow_the_season_and_have_a_long_tail(tables: Mapping[str, list[Row]]) -> None:
    amounts: dict[str, list[int]] = defaultdict(list)
    for row in tables[BILLING]:
        amounts[row["account_no"]].append(cents(row["net"]))
    usual = {account: statistics.median(values) for account, values in amounts.items()}
    by_month: dict[int, list[float]] = defaultdict(list)
    for row in tables[BILLING]:
        if len(amounts[row["account_no"]]) >= 6:
            ratio = cents(row["net"]) / usual[row["account_no"]]
            by_month[day(row["issue_date"]).month].append(ratio)
    level = {month: statistics.median(ratios) for month, ratios in by_month.items()}
    assert min(level[11], level[12]) > 1.25 * max(level[7], level[8])
    nets = [cents(row["net"]) for row in tables[BILLING] if cents(row["net"]) > 0]
    assert statistics.mean(nets) > 2 * statistics.median(nets)


def test_late_payers_write_more_tickets(
    samples: SampleSet, tables: Mapping[str, list[Row]]
) -> None:
    billing = entities(samples, BILLING)
    delays: dict[str, list[int]] = defaultdict(list)
    for row in tables[BILLING]:
        if row["paid_date"]:
            delay = (day(row["paid_date"]) - day(row["due_date"])).days
            delays[billing[row["invoice_no"]]].append(delay)
    tickets = Counter(entities(samples, SUPPORT).values())
    late = [tickets[entity] for entity, days in delays.items() if statistics.median(days) > 10]
    prompt = [tickets[entity] for entity, days in delays.items() if statistics.median(days) <= 0]
    assert statistics.mean(late) > 1.5 * statistics.mean(prompt)
    technical = Counter(r["product"] for r in tables[SUPPORT] if r["category"] == "Technical")
    products = Counter(row["product"] for row in tables[SUPPORT])
    share = {product: technical[product] / products[product] for product in products}
    assert share["Route"] > 1.4 * share["Ledger"]


def test_tickets_about_invoices_are_about_late_ones_of_the_same_customer(
    samples: SampleSet, tables: Mapping[str, list[Row]]
) -> None:
    billing, support = entities(samples, BILLING), entities(samples, SUPPORT)
    mentioned = set()
    for ticket in tables[SUPPORT]:
        for invoice in re.findall(r"RE-\d{4}-\d{5}", ticket["body"]):
            assert billing[invoice] == support[ticket["ticket_id"]]
            mentioned.add(invoice)
    late = {
        row["invoice_no"]
        for row in tables[BILLING]
        if row["paid_date"] and (day(row["paid_date"]) - day(row["due_date"])).days > 20
    }
    assert len(mentioned & late) / len(mentioned) > 3 * len(late) / len(billing)


def test_missing_values_depend_on_other_columns(tables: Mapping[str, list[Row]]) -> None:
    def missing(rows: Iterable[Row], column: str) -> float:
        return statistics.mean(not row[column] for row in rows)

    web = [row for row in tables[CRM] if row["source"] == "web form"]
    sales = [row for row in tables[CRM] if row["source"] == "sales"]
    assert missing(web, "phone") > 2 * missing(sales, "phone")
    assert all((row["segment"] == "Private") == (not row["company"]) for row in tables[CRM])
    assert all((r["payment_method"] == "direct debit") == bool(r["iban"]) for r in tables[BILLING])
    assert all(not row["satisfaction"] for row in tables[SUPPORT] if not row["closed_at"])


def test_the_command_writes_the_files_and_describes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "new" / "folder"
    assert main([str(target), "--seed", "3", "--customers", "40"]) == 0
    expected = generate(seed=3, customers=40)
    for dataset in expected.datasets:
        assert (target / dataset.filename).read_bytes() == dataset.content
    assert (target / "truth.csv").read_bytes() == expected.truth.csv()
    printed = capsys.readouterr().out
    assert printed.isascii()
    for dataset in expected.datasets:
        assert f"{dataset.filename}: {dataset.rows} rows" in printed
        assert dataset.description in printed


def test_the_command_refuses_a_bad_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    occupied = tmp_path / "file.txt"
    occupied.write_text("mine", encoding="utf-8")
    for bad in (occupied, occupied / "below"):
        with pytest.raises(SystemExit) as stopped:
            main([str(bad), "--customers", "5"])
        assert stopped.value.code == 2
        message = capsys.readouterr().err
        assert str(bad) in message
        assert "give a" in message
        assert "Traceback" not in message
    assert occupied.read_text(encoding="utf-8") == "mine"
    with pytest.raises(SystemExit):
        main([str(tmp_path), "--customers", "0"])
    assert "at least 1" in capsys.readouterr().err


def test_only_the_standard_library_is_used() -> None:
    package = Path(inspect.getfile(generate)).parent
    for path in package.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                own = name.startswith("scripts.samples")
                assert own or name.partition(".")[0] in sys.stdlib_module_names, (path.name, name)
