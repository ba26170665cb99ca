"""The accounts that the billing system keeps for customers, under its own numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from scripts.samples.addresses import draw_address
from scripts.samples.corruptions import ascii_spelling, company_spelling
from scripts.samples.customers import TODAY, Customer
from scripts.samples.dice import Dice, Odds
from scripts.samples.identifiers import grouped, spoiled_iban, spoiled_vat

_METHOD = Odds.of(("direct debit", 52), ("transfer", 36), ("card", 12))
_FINANCE_MAILBOX = {
    "de": ("buchhaltung", "rechnung"),
    "en": ("accounts", "invoices"),
    "fr": ("comptabilite", "factures"),
    "nl": ("administratie", "facturen"),
    "it": ("amministrazione", "contabilita"),
    "es": ("administracion", "facturas"),
    "pl": ("ksiegowosc", "faktury"),
    "sv": ("ekonomi", "faktura"),
    "da": ("bogholderi", "faktura"),
}


@dataclass(frozen=True, slots=True)
class Account:
    """A customer as billing knows it; `marks` hold for every invoice of the account."""

    customer: Customer
    number: str
    name: str
    email: str
    postcode: str
    city: str
    vat: str
    method: str
    iban: str
    currency: str
    tax_rate: int
    crm_id: str
    opened: date
    closed: date
    portal: bool
    marks: tuple[tuple[str, str], ...]


class AccountNumbers:
    """Account numbers spread over their range, none of them twice."""

    def __init__(self, dice: Dice, expected: int) -> None:
        self._size = 10_000
        while self._size < expected * 8:
            self._size *= 10
        self._offset = dice.below(self._size)
        self._count = 0

    def next(self) -> str:
        # A factor without a common divisor with the size visits every number once.
        place = (self._count * 7_919 + self._offset) % self._size
        self._count += 1
        return f"AC-{self._size + place}"


def open_accounts(
    dice: Dice,
    customers: Sequence[Customer],
    crm_ids: Mapping[str, Sequence[str]],
    deleted_ids: Sequence[str],
) -> tuple[tuple[Account, ...], AccountNumbers]:
    """One account for most paying customers, two for some, and the numbers still free."""
    numbers = AccountNumbers(dice, len(customers))
    desk = _Desk(dice, numbers, crm_ids, deleted_ids)
    accounts: list[Account] = []
    for customer in customers:
        if customer.in_billing:
            closed = customer.left or TODAY
            first = desk.open(customer, customer.joined, closed)
            accounts.append(first)
            if dice.chance(0.05) and (closed - customer.joined).days > 300:
                accounts.append(desk.open_second(first))
    return tuple(accounts), numbers


class _Desk:
    """Opens accounts."""

    def __init__(
        self,
        dice: Dice,
        numbers: AccountNumbers,
        crm_ids: Mapping[str, Sequence[str]],
        deleted_ids: Sequence[str],
    ) -> None:
        self._dice = dice
        self._numbers = numbers
        self._crm_ids = crm_ids
        # Each deleted record was one customer's, so it is referred to once.
        self._deleted_ids = list(reversed(deleted_ids))

    def open(
        self,
        customer: Customer,
        opened: date,
        closed: date,
        known: tuple[tuple[str, str], ...] = (),
    ) -> Account:
        dice = self._dice
        marks = list(known)
        crm_id = self._crm_id(customer, marks)
        # Without a CRM number, name and postcode must carry the link.
        moved = bool(crm_id) and dice.chance(0.08)
        country, address = customer.country, customer.address
        if moved:
            address = draw_address(dice, dice.pick(country.cities))
        method = dice.odds(_METHOD)
        currency = country.currency if dice.chance(0.7) else "EUR"
        return Account(
            customer=customer,
            number=self._numbers.next(),
            name=self._name(customer),
            email=self._email(customer, marks),
            postcode=address.postcode,
            city=address.city.name,
            vat=self._vat(customer, marks),
            method=method,
            iban=self._iban(customer, method, marks),
            currency=currency,
            tax_rate=19 if country.code == "DE" or customer.vat is None else 0,
            crm_id=crm_id,
            opened=opened,
            closed=closed,
            portal=dice.chance(0.06),
            marks=tuple(marks),
        )

    def open_second(self, first: Account) -> Account:
        """A second account of the same customer, opened because nobody found the first."""
        span = (first.closed - first.opened).days
        opened = first.opened + timedelta(days=self._dice.between(span // 3, span - 60))
        mark = ("account_no", "second_account")
        return self.open(first.customer, opened, first.closed, (mark,))

    def _crm_id(self, customer: Customer, marks: list[tuple[str, str]]) -> str:
        ids = self._crm_ids.get(customer.entity_id)
        if ids is None or self._dice.chance(0.1):
            marks.append(("crm_id", "missing"))
            return ""
        if self._deleted_ids and self._dice.chance(0.012):
            marks.append(("crm_id", "orphan"))
            return self._deleted_ids.pop()
        return ids[0] if self._dice.chance(0.8) else self._dice.pick(ids)

    def _name(self, customer: Customer) -> str:
        dice, company = self._dice, customer.company
        if company is None:
            person = customer.contact
            listed = f"{person.last}, {person.first}"
            return listed if dice.chance(0.5) else f"{person.first} {person.last}"
        way = dice.below(10)
        if way < 5:
            return company.name
        if way < 7:
            return ascii_spelling(company.name).upper()
        return company_spelling(dice, company.core, company.legal)

    def _email(self, customer: Customer, marks: list[tuple[str, str]]) -> str:
        dice, company = self._dice, customer.company
        if dice.chance(0.04):
            marks.append(("billing_email", "missing"))
            return ""
        if company is None or customer.in_group or dice.chance(0.55):
            return customer.contact.email
        return f"{dice.pick(_FINANCE_MAILBOX[customer.language])}@{company.domain}"

    def _vat(self, customer: Customer, marks: list[tuple[str, str]]) -> str:
        if customer.vat is None or self._dice.chance(0.1):
            marks.append(("vat_id", "missing"))
            return ""
        if self._dice.chance(0.02):
            marks.append(("vat_id", "invalid"))
            return spoiled_vat(self._dice, customer.vat)
        return customer.vat

    def _iban(self, customer: Customer, method: str, marks: list[tuple[str, str]]) -> str:
        if method != "direct debit":
            marks.append(("iban", "missing"))
            return ""
        iban = customer.iban
        if self._dice.chance(0.015):
            iban = spoiled_iban(self._dice, iban)
            marks.append(("iban", "invalid"))
        return grouped(iban) if self._dice.chance(0.25) else iban
