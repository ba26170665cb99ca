"""The billing system's invoice export: its own account numbers, German formats, Latin-1."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from scripts.samples.accounts import Account
from scripts.samples.corruptions import dotted_date, padded, western
from scripts.samples.customers import TODAY, Customer
from scripts.samples.dice import Dice, Odds
from scripts.samples.export import Dialect
from scripts.samples.truth import Ledger

NAME = "billing_invoices"
DIALECT = Dialect(encoding="iso-8859-1", delimiter=";", line_end="\r\n")
DESCRIPTION = (
    "Invoices from the billing system, which knows customers by its own account numbers and only "
    "sometimes by their CRM number. Semicolons, decimal commas and Latin-1, as it exports them."
)
COLUMNS = (
    "invoice_no",
    "account_no",
    "account_name",
    "billing_email",
    "billing_postcode",
    "billing_city",
    "billing_country",
    "vat_id",
    "payment_method",
    "iban",
    "product",
    "issue_date",
    "due_date",
    "paid_date",
    "net",
    "tax",
    "gross",
    "currency",
    "status",
    "company_code",
    "crm_id",
)
MEANINGS: dict[tuple[str, str], str] = {
    ("account_no", "second_account"): "the customer already has an older account",
    ("account_name", "outer_spaces"): "spaces before or after the value",
    ("billing_email", "missing"): "accounts that get their invoices on paper",
    ("vat_id", "missing"): "private customers, and some companies",
    ("vat_id", "invalid"): "the check digit is wrong",
    ("iban", "missing"): "accounts that do not pay by direct debit",
    ("iban", "invalid"): "the check digits are wrong",
    ("issue_date", "iso_date"): "YYYY-MM-DD instead of DD.MM.YYYY, from the ordering portal",
    ("due_date", "before_issue"): "due before it was issued",
    ("paid_date", "missing"): "not paid, cancelled, or a credit note",
    ("net", "outlier"): "a hundred times too high for the account",
    ("net", "negative"): "credit notes",
    ("gross", "mismatch"): "net and tax do not add up to gross",
    ("status", "spelling"): "upper case or capitalised instead of lower case",
    ("company_code", "constant"): "the same value in every row",
    ("crm_id", "missing"): "the account was never linked to the CRM",
    ("crm_id", "orphan"): "the CRM record was deleted",
}

_CADENCE: dict[str, Odds[str]] = {
    "Private": Odds.of(("yearly", 60), ("occasional", 40)),
    "Small": Odds.of(("yearly", 38), ("occasional", 31), ("quarterly", 27), ("monthly", 4)),
    "Mid-market": Odds.of(("yearly", 25), ("occasional", 20), ("quarterly", 44), ("monthly", 11)),
    "Enterprise": Odds.of(("yearly", 16), ("quarterly", 54), ("monthly", 30)),
}
_MONTHLY_FEE = {"Private": 40.0, "Small": 190.0, "Mid-market": 1100.0, "Enterprise": 6400.0}
_CADENCE_MONTHS = {"monthly": 1.0, "quarterly": 3.0, "yearly": 11.0, "occasional": 2.0}
_SEASON = (0.93, 0.9, 1.02, 1.0, 0.98, 1.0, 0.82, 0.74, 1.05, 1.1, 1.2, 1.34)
_RATE_OF_EURO = {"EUR": 1.0, "CHF": 0.96, "GBP": 0.86, "PLN": 4.3, "SEK": 11.3, "DKK": 7.5}
_TERMS = {"Private": 14, "Small": 14, "Mid-market": 30, "Enterprise": 60}


@dataclass(slots=True)
class _Invoice:
    """An invoice before it has a number; amounts in cents."""

    account: Account
    issued: date
    due: date
    net: int
    tax: int = 0
    gross: int = 0
    paid: date | None = None
    status: str = "open"
    marks: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reminder:
    """An invoice that stayed unpaid for long enough to be talked about."""

    customer: Customer
    account_no: str
    invoice_no: str
    due: date


@dataclass(frozen=True, slots=True)
class BillingTable:
    """The billing export, and what support needs to refer to it."""

    rows: tuple[tuple[str, ...], ...]
    entities: tuple[str, ...]
    account_numbers: dict[str, list[str]]
    invoices: dict[str, list[tuple[date, str]]]
    reminders: tuple[Reminder, ...]


def build(dice: Dice, accounts: Sequence[Account], ledger: Ledger) -> BillingTable:
    """The rows in the order of issue."""
    invoices: list[_Invoice] = []
    for account in accounts:
        invoices.extend(_invoices_of(dice, account))
    invoices.sort(key=lambda invoice: invoice.issued)
    rows: list[tuple[str, ...]] = []
    reminders: list[Reminder] = []
    issued: dict[str, list[tuple[date, str]]] = defaultdict(list)
    counters: dict[int, int] = defaultdict(int)
    for invoice in invoices:
        year = invoice.issued.year
        counters[year] += 1
        row_id = f"RE-{year}-{counters[year]:05d}"
        rows.append(_row(dice, invoice, row_id))
        issued[invoice.account.customer.entity_id].append((invoice.issued, row_id))
        for column, kind in (*invoice.account.marks, *invoice.marks):
            ledger.note(column, kind, row_id)
        if invoice.status in ("paid", "overdue") and _days_late(invoice) > 20:
            account = invoice.account
            reminders.append(Reminder(account.customer, account.number, row_id, invoice.due))
    numbers: dict[str, list[str]] = defaultdict(list)
    for account in accounts:
        numbers[account.customer.entity_id].append(account.number)
    entities = tuple(invoice.account.customer.entity_id for invoice in invoices)
    return BillingTable(tuple(rows), entities, dict(numbers), dict(issued), tuple(reminders))


def _invoices_of(dice: Dice, account: Account) -> list[_Invoice]:
    customer = account.customer
    cadence = dice.odds(_CADENCE[customer.segment])
    fee = dice.lognormal(_MONTHLY_FEE[customer.segment], 0.5) * _CADENCE_MONTHS[cadence]
    fee *= _RATE_OF_EURO[account.currency]
    invoices = []
    for issued in _issue_dates(dice, cadence, account.opened, account.closed):
        growth = 1.0 + 0.03 * (issued.year - 2021)
        amount = dice.lognormal(fee, 0.18) * _SEASON[issued.month - 1] * growth
        due = issued + timedelta(days=_TERMS[customer.segment])
        invoices.append(_Invoice(account, issued, due, net=int(amount * 100.0 + 0.5)))
    for invoice in invoices:
        _settle(dice, invoice, judged=len(invoices) >= 6)
    return invoices


def _issue_dates(dice: Dice, cadence: str, opened: date, closed: date) -> list[date]:
    """The issue dates between two days: at least one, on working days."""
    first = opened.year * 12 + opened.month - 1
    last = closed.year * 12 + closed.month - 1
    days = []
    for month in range(first, last + 1):
        if cadence == "occasional":
            wanted = dice.chance(0.14 * _SEASON[month % 12])
        else:
            step = {"monthly": 1, "quarterly": 3, "yearly": 12}[cadence]
            wanted = (month - first) % step == 0
        if wanted:
            latest = 27 if cadence == "occasional" else 5
            day = _working_day(date(month // 12, month % 12 + 1, dice.between(1, latest)))
            if opened <= day <= closed:
                days.append(day)
    return days or [_working_day(opened)]


def _working_day(day: date) -> date:
    weekday = day.isoweekday()
    return day + timedelta(days=8 - weekday) if weekday > 5 else day


def _settle(dice: Dice, invoice: _Invoice, *, judged: bool) -> None:
    """Amounts, payment and status, with the problems planted among them."""
    account = invoice.account
    if dice.chance(0.015):
        invoice.net, invoice.status = -invoice.net // 2, "credit"
        invoice.marks.append(("net", "negative"))
    elif judged and dice.chance(0.003):
        invoice.net *= 100
        invoice.marks.append(("net", "outlier"))
    invoice.tax = _share(invoice.net, account.tax_rate)
    invoice.gross = invoice.net + invoice.tax
    if dice.chance(0.006):
        invoice.gross += dice.pick((-1000, -100, -10, 10, 90, 900))
        invoice.marks.append(("gross", "mismatch"))
    if invoice.status != "credit":
        _pay(dice, invoice)
    if invoice.paid is None:
        invoice.marks.append(("paid_date", "missing"))
    if dice.chance(0.004):
        invoice.due = invoice.issued - timedelta(days=dice.between(1, 30))
        invoice.marks.append(("due_date", "before_issue"))


def _pay(dice: Dice, invoice: _Invoice) -> None:
    payer = invoice.account.customer.payer
    if dice.chance(0.01):
        invoice.status = "cancelled"
        return
    if payer == "prompt":
        days = -dice.between(0, 12) if dice.chance(0.8) else dice.between(1, 9)
    elif payer == "late":
        days = int(dice.lognormal(19.0, 0.6))
    else:
        days = 9999 if dice.chance(0.15) else int(dice.lognormal(48.0, 0.6))
    paid = max(invoice.due + timedelta(days=days), invoice.issued)
    if paid <= TODAY:
        invoice.paid, invoice.status = paid, "paid"
    else:
        invoice.status = "overdue" if invoice.due < TODAY else "open"


def _days_late(invoice: _Invoice) -> int:
    return ((invoice.paid or TODAY) - invoice.due).days


def _row(dice: Dice, invoice: _Invoice, row_id: str) -> tuple[str, ...]:
    account = invoice.account
    written = date.isoformat if account.portal else dotted_date
    if account.portal:
        invoice.marks.append(("issue_date", "iso_date"))
    status = invoice.status
    if dice.chance(0.02):
        status = dice.pick((status.upper(), status.capitalize()))
        invoice.marks.append(("status", "spelling"))
    name = account.name
    if dice.chance(0.012):
        name = padded(dice, name)
        invoice.marks.append(("account_name", "outer_spaces"))
    invoice.marks.append(("company_code", "constant"))
    return (
        row_id,
        account.number,
        western(name),
        account.email,
        account.postcode,
        western(account.city),
        account.customer.country.code,
        account.vat,
        account.method,
        account.iban,
        account.customer.product,
        written(invoice.issued),
        written(invoice.due),
        "" if invoice.paid is None else written(invoice.paid),
        _money(invoice.net),
        _money(invoice.tax),
        _money(invoice.gross),
        account.currency,
        status,
        "1000",
        account.crm_id,
    )


def _share(cents: int, percent: int) -> int:
    """The percentage of an amount, rounded half away from zero."""
    rounded = (abs(cents) * percent + 50) // 100
    return rounded if cents >= 0 else -rounded


def _money(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100},{abs(cents) % 100:02d}"
