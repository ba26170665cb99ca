"""The CRM's customer export: several hands, several imports, the same customer more than once."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from scripts.samples.addresses import draw_address, draw_phone
from scripts.samples.corruptions import (
    company_spelling,
    dotted_date,
    familiar_first_name,
    mojibake,
    padded,
    phone_text,
    short_street,
    slashed_date,
    typo,
)
from scripts.samples.customers import TODAY, Customer, mail_name
from scripts.samples.dice import Dice, Odds
from scripts.samples.export import Dialect
from scripts.samples.names import SALES_TEAM
from scripts.samples.truth import Ledger

NAME = "crm_customers"
DIALECT = Dialect(encoding="utf-8", delimiter=",", line_end="\n")
DESCRIPTION = (
    "Customer master data from the CRM, typed by many hands: the same customer appears more than "
    "once, and countries, dates, phone numbers and amounts are written in several ways."
)
COLUMNS = (
    "customer_id",
    "company",
    "first_name",
    "last_name",
    "email",
    "phone",
    "street",
    "city",
    "postcode",
    "country",
    "segment",
    "industry",
    "owner",
    "account_manager",
    "source",
    "created",
    "annual_revenue",
    "employees",
    "newsletter",
    "tenant",
)
MEANINGS: dict[tuple[str, str], str] = {
    ("customer_id", "duplicate"): "a further record of a customer that is already in the file",
    (
        "customer_id",
        "hard_duplicate",
    ): "a duplicate that agrees on fewer than two strong attributes",
    ("company", "namesake"): "an unrelated customer in another town has the same company name",
    ("company", "missing"): "private customers have no company",
    ("company", "outer_spaces"): "spaces before or after the value",
    ("company", "mojibake"): "UTF-8 that was read as Windows-1252 (MÃ¼ller)",
    ("last_name", "mojibake"): "UTF-8 that was read as Windows-1252 (MÃ¼ller)",
    ("email", "missing"): "mostly records that came from the legacy import",
    ("phone", "missing"): "mostly records that came from the web form",
    ("phone", "placeholder"): "a dash or a word instead of a number",
    ("city", "outer_spaces"): "spaces before or after the value",
    ("city", "mojibake"): "UTF-8 that was read as Windows-1252 (MÃ¼nchen)",
    ("postcode", "lost_zero"): "the leading zero is gone (1067 for 01067)",
    ("country", "not_iso2"): "a name or another code instead of the two-letter code",
    ("account_manager", "differs_from_owner"): "otherwise the column repeats `owner`",
    ("created", "dotted_date"): "DD.MM.YYYY instead of ISO",
    ("created", "slashed_date"): "MM/DD/YYYY instead of ISO, only where the day is above 12",
    ("created", "placeholder_date"): "1900-01-01 stands for an unknown date",
    ("annual_revenue", "missing"): "private and many small customers, and most web forms",
    ("annual_revenue", "not_plain"): "thousands separators, a currency sign or a unit",
    ("annual_revenue", "outlier"): "a thousand times too high",
    ("newsletter", "spelling"): "something other than yes or no",
    ("tenant", "constant"): "the same value in every row",
}

_SOURCES = Odds.of(("web form", 42), ("sales", 33), ("trade fair", 25))
_MISSING_PHONE = {"web form": 0.22, "sales": 0.03, "trade fair": 0.08, "legacy import": 0.08}
_MISSING_EMAIL = {"web form": 0.0, "sales": 0.03, "trade fair": 0.04, "legacy import": 0.12}
_FURTHER_RECORDS = Odds.of((0, 880), (1, 106), (2, 12), (3, 2))


@dataclass(slots=True)
class _Record:
    """A CRM record before it has a number; `marks` are the problems planted in it."""

    customer: Customer
    created: date
    source: str
    cells: dict[str, str]
    marks: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CrmTable:
    """The CRM export, and what the other systems need to refer to it."""

    rows: tuple[tuple[str, ...], ...]
    entities: tuple[str, ...]
    ids: dict[str, list[str]]
    deleted_ids: tuple[str, ...]


def build(dice: Dice, customers: Sequence[Customer], ledger: Ledger) -> CrmTable:
    """The rows in the order of their numbers, with the ids of each customer."""
    records: list[_Record] = []
    for customer in customers:
        if customer.in_crm:
            first = _first_record(dice, customer)
            records.append(first)
            further = dice.odds(_FURTHER_RECORDS)
            records.extend(_further_record(dice, first) for _ in range(further))
    records.sort(key=lambda record: record.created)
    return _number(dice, records, ledger)


def _number(dice: Dice, records: list[_Record], ledger: Ledger) -> CrmTable:
    rows: list[tuple[str, ...]] = []
    ids: dict[str, list[str]] = defaultdict(list)
    deleted: list[str] = []
    number = 0
    for record in records:
        number += 1
        while dice.chance(0.015):
            deleted.append(f"C-{number:05d}")
            number += 1
        row_id = f"C-{number:05d}"
        _finish(dice, record)
        record.cells["customer_id"] = row_id
        rows.append(tuple(record.cells[column] for column in COLUMNS))
        ids[record.customer.entity_id].append(row_id)
        for column, kind in record.marks:
            ledger.note(column, kind, row_id)
    entities = tuple(record.customer.entity_id for record in records)
    return CrmTable(tuple(rows), entities, dict(ids), tuple(deleted))


def _first_record(dice: Dice, customer: Customer) -> _Record:
    created = customer.joined - timedelta(days=dice.between(0, 45))
    source = dice.odds(_SOURCES)
    if created.year < 2024 and dice.chance(0.7):
        source = "legacy import"
    company, person = customer.company, customer.contact
    cells = {
        "company": "" if company is None else company.name,
        "first_name": person.first,
        "last_name": person.last,
        "email": "" if dice.chance(_MISSING_EMAIL[source]) else person.email,
        "phone": phone_text(dice, customer.phone),
        "street": customer.address.street,
        "city": customer.address.city.name,
        "postcode": customer.address.postcode,
    }
    # A record keeps at least one way to reach the customer.
    if cells["email"] and dice.chance(_MISSING_PHONE[source]):
        cells["phone"] = ""
    if company is not None and dice.chance(0.06):
        cells["company"] = company_spelling(dice, company.core, company.legal)
    if dice.chance(0.01):
        cells["last_name"] = typo(dice, person.last)
    return _Record(customer, created, source, cells)


def _further_record(dice: Dice, first: _Record) -> _Record:
    """Another record of the customer: some strong attributes agree, the others went their way."""
    customer = first.customer
    days = 5 + int(dice.lognormal(200.0, 1.0))
    created = min(first.created + timedelta(days=days), TODAY - timedelta(days=dice.below(20)))
    record = _Record(customer, created, dice.odds(_SOURCES), dict(first.cells))
    record.marks.append(("customer_id", "duplicate"))
    strong = [name for name in ("email", "phone", "company") if first.cells[name]] + ["street"]
    agreeing = 1 if dice.chance(0.04) else dice.between(2, 3)
    kept = dice.some(strong, agreeing)
    if len(kept) < 2:
        record.marks.append(("customer_id", "hard_duplicate"))
    _vary_person(dice, record)
    for name in strong:
        if name in kept:
            _respell(dice, record, name)
        else:
            _replace(dice, record, name)
    return record


def _vary_person(dice: Dice, record: _Record) -> None:
    cells, customer = record.cells, record.customer
    way = dice.below(20)
    if way < 4:
        person = dice.pick(customer.people)
        cells["first_name"], cells["last_name"] = person.first, person.last
    elif way < 8:
        cells["first_name"] = familiar_first_name(cells["first_name"])
    elif way < 11:
        cells["last_name"] = typo(dice, cells["last_name"])
    elif way < 13:
        cells["first_name"], cells["last_name"] = cells["last_name"], cells["first_name"]
    elif way == 13:
        cells["first_name"] = cells["first_name"][0] + "."


def _respell(dice: Dice, record: _Record, name: str) -> None:
    """The same value written another way: it agrees once it is normalised."""
    cells, customer = record.cells, record.customer
    if name == "email" and dice.chance(0.3):
        cells["email"] = dice.pick((cells["email"].upper(), cells["email"].capitalize()))
    elif name == "phone":
        cells["phone"] = phone_text(dice, customer.phone)
    elif name == "company" and customer.company is not None and dice.chance(0.7):
        company = customer.company
        cells["company"] = company_spelling(dice, company.core, company.legal)
    elif name == "street" and dice.chance(0.5):
        cells["street"] = short_street(cells["street"])


def _replace(dice: Dice, record: _Record, name: str) -> None:
    """A value that no longer agrees: another one, a mistyped one or none."""
    if name == "email":
        _other_email(dice, record)
    elif name == "phone":
        customer = record.customer
        other = draw_phone(dice, customer.country, customer.address.city)
        record.cells["phone"] = "" if dice.chance(0.4) else phone_text(dice, other)
    elif name == "company":
        record.cells["company"] = _slipped_company(dice, record)
    else:
        _other_address(dice, record)


def _other_email(dice: Dice, record: _Record) -> None:
    cells, customer = record.cells, record.customer
    person = customer.contact
    if customer.company is None or dice.chance(0.3):
        cells["email"] = "" if cells["phone"] else cells["email"]
    elif dice.chance(0.4) and not customer.in_group:
        cells["email"] = f"{dice.pick(('info', 'office', 'sales'))}@{customer.company.domain}"
    else:
        style = dice.pick(("f.last", "last", "firstlast"))
        name = mail_name(person.first, person.last, style)
        cells["email"] = f"{name}@{customer.company.domain}"


def _slipped_company(dice: Dice, record: _Record) -> str:
    company = record.customer.company
    if company is None:
        return ""
    slipped = typo(dice, company.core)
    return company_spelling(dice, slipped, company.legal)


def _other_address(dice: Dice, record: _Record) -> None:
    cells, customer = record.cells, record.customer
    if dice.chance(0.35):
        cells["street"] = typo(dice, cells["street"])
        return
    town = customer.address.city if dice.chance(0.6) else dice.pick(customer.country.cities)
    moved = draw_address(dice, town)
    cells["street"], cells["city"] = moved.street, moved.city.name
    cells["postcode"] = moved.postcode


def _finish(dice: Dice, record: _Record) -> None:
    """Fills the remaining columns and plants the problems that any record may have."""
    cells, customer = record.cells, record.customer
    cells["segment"] = customer.segment
    cells["industry"] = "" if customer.company is None else customer.company.industry
    cells["source"] = record.source
    cells["tenant"] = "main"
    record.marks.append(("tenant", "constant"))
    if customer.namesake:
        record.marks.append(("company", "namesake"))
    _add_owner(dice, record)
    _add_country(dice, record)
    _add_created(dice, record)
    _add_size(dice, record)
    cells["newsletter"] = dice.pick(("yes", "no", "no"))
    if dice.chance(0.16):
        cells["newsletter"] = dice.pick(("Y", "N", "TRUE", "FALSE", "1", "0", "Yes", "NO"))
        record.marks.append(("newsletter", "spelling"))
    for column in ("company", "email", "phone"):
        if not cells[column]:
            record.marks.append((column, "missing"))
    if cells["phone"] and cells["email"] and dice.chance(0.012):
        cells["phone"] = dice.pick(("-", "n/a", "unknown", "none"))
        record.marks.append(("phone", "placeholder"))
    _damage(dice, record)


def _add_owner(dice: Dice, record: _Record) -> None:
    team = SALES_TEAM[record.customer.country.region]
    record.cells["owner"] = record.cells["account_manager"] = dice.pick(team)
    if dice.chance(0.02):
        region = dice.pick(tuple(SALES_TEAM))
        other = dice.pick(SALES_TEAM[region])
        if other != record.cells["owner"]:
            record.cells["account_manager"] = other
            record.marks.append(("account_manager", "differs_from_owner"))


def _add_country(dice: Dice, record: _Record) -> None:
    country = record.customer.country
    typed_by_hand = {"web form": 0.05, "sales": 0.35, "trade fair": 0.5, "legacy import": 0.8}
    record.cells["country"] = country.code
    if dice.chance(typed_by_hand[record.source]):
        record.cells["country"] = dice.pick(country.spellings)
        record.marks.append(("country", "not_iso2"))


def _add_created(dice: Dice, record: _Record) -> None:
    day = record.created
    if record.source == "legacy import" and dice.chance(0.03):
        record.cells["created"] = "1900-01-01"
        record.marks.append(("created", "placeholder_date"))
    elif record.source == "legacy import":
        record.cells["created"] = dotted_date(day)
        record.marks.append(("created", "dotted_date"))
    elif record.source == "trade fair" and day.day > 12:
        record.cells["created"] = slashed_date(day)
        record.marks.append(("created", "slashed_date"))
    else:
        record.cells["created"] = day.isoformat()


def _add_size(dice: Dice, record: _Record) -> None:
    customer, cells = record.customer, record.cells
    cells["employees"] = "" if customer.employees is None else str(customer.employees)
    missing = 0.55 if record.source == "web form" else 0.1
    if customer.segment == "Small":
        missing += 0.2
    if customer.revenue is None or dice.chance(missing):
        cells["annual_revenue"] = ""
        record.marks.append(("annual_revenue", "missing"))
        return
    revenue = customer.revenue
    if dice.chance(0.012):
        revenue *= 1000
        record.marks.append(("annual_revenue", "outlier"))
    cells["annual_revenue"] = str(revenue)
    if dice.chance(0.14):
        cells["annual_revenue"] = _revenue_text(dice, revenue)
        record.marks.append(("annual_revenue", "not_plain"))


def _revenue_text(dice: Dice, revenue: int) -> str:
    grouped = f"{revenue:,}"
    way = dice.below(4)
    if way == 0:
        return grouped
    if way == 1:
        return "€ " + grouped.replace(",", ".")
    if way == 2:
        return f"{revenue // 1000}k"
    return f"EUR {grouped}"


def _damage(dice: Dice, record: _Record) -> None:
    cells = record.cells
    postcode = cells["postcode"]
    if postcode.startswith("0") and postcode.isdigit() and dice.chance(0.15):
        cells["postcode"] = postcode.lstrip("0")
        record.marks.append(("postcode", "lost_zero"))
    accented = [name for name in ("company", "last_name", "city") if not cells[name].isascii()]
    if accented and dice.chance(0.05):
        column = dice.pick(accented)
        broken = mojibake(cells[column])
        if broken != cells[column]:
            cells[column] = broken
            record.marks.append((column, "mojibake"))
    for column in ("company", "city"):
        if cells[column] and dice.chance(0.02):
            cells[column] = padded(dice, cells[column])
            record.marks.append((column, "outer_spaces"))
