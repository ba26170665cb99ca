"""The help desk's ticket export: free text, noisy references, spelling by mood."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from scripts.samples.accounts import AccountNumbers
from scripts.samples.billing import BillingTable, Reminder
from scripts.samples.corruptions import company_spelling, mojibake, padded, typo
from scripts.samples.customers import TODAY, Customer, Person
from scripts.samples.dice import Dice, Odds
from scripts.samples.export import Dialect
from scripts.samples.letters import Letter, write_letter
from scripts.samples.names import SUPPORT_TEAM
from scripts.samples.phrases import SPELLINGS
from scripts.samples.truth import Ledger

NAME = "support_tickets"
DIALECT = Dialect(encoding="utf-8-sig", delimiter=",", line_end="\n", quote_all=True)
DESCRIPTION = (
    "Tickets from the help desk with what customers wrote, some of it personal data. They refer to "
    "billing accounts by hand-typed numbers, and to companies by whatever name the sender used."
)
COLUMNS = (
    "ticket_id",
    "requester_name",
    "requester_email",
    "company",
    "account_ref",
    "product",
    "channel",
    "opened_at",
    "closed_at",
    "priority",
    "category",
    "satisfaction",
    "agent",
    "subject",
    "body",
)
MEANINGS: dict[tuple[str, str], str] = {
    ("requester_name", "mojibake"): "UTF-8 that was read as Windows-1252 (MÃ¼ller)",
    ("requester_email", "missing"): "mostly tickets that came by phone",
    ("company", "missing"): "private customers, and senders who did not say",
    ("company", "outer_spaces"): "spaces before or after the value",
    ("account_ref", "missing"): "the sender has no account or did not give it",
    ("account_ref", "noise"): "lower case, or spaces inside or around the number",
    ("account_ref", "orphan"): "billing has no such account",
    ("opened_at", "local_offset"): "tickets of the old help desk carry +01:00 or +02:00, not Z",
    ("closed_at", "missing"): "the ticket is still open",
    ("closed_at", "before_opened"): "closed before it was opened",
    ("category", "spelling"): "the category is written another way",
    ("satisfaction", "missing"): "the survey was not sent or not answered",
    ("satisfaction", "out_of_range"): "neither 1 to 5 nor empty",
    ("body", "several_lines"): "line breaks inside the quoted text",
    ("body", "phone"): "contains a telephone number",
    ("body", "iban"): "contains an IBAN",
    ("body", "email"): "contains an e-mail address",
    ("body", "card"): "contains a payment card number (a well-known test number)",
}

_HISTORY_STARTS = date(2023, 1, 2)
_NEW_HELP_DESK = date(2024, 4, 1)
_BY_PAYER = {"prompt": 0.8, "late": 1.3, "poor": 1.9}
_BY_PRODUCT = {"Ledger": 0.75, "Depot": 0.95, "Route": 1.6, "Pulse": 1.0}
_BY_SEGMENT = {"Private": 0.5, "Small": 0.7, "Mid-market": 1.3, "Enterprise": 2.6}
_CATEGORY: dict[str, Odds[str]] = {
    "Ledger": Odds.of(("Billing", 20), ("Technical", 30), ("Access", 30), ("Feature", 20)),
    "Depot": Odds.of(("Technical", 25), ("Delivery", 45), ("Access", 15), ("Feature", 15)),
    "Route": Odds.of(("Technical", 62), ("Access", 12), ("Delivery", 14), ("Feature", 12)),
    "Pulse": Odds.of(("Technical", 36), ("Access", 34), ("Feature", 30)),
}
_CHANNEL = Odds.of(("email", 48), ("portal", 28), ("chat", 12), ("phone", 12))
_PRIORITY = Odds.of(("low", 22), ("normal", 52), ("high", 20), ("urgent", 6))
_HOURS_TO_CLOSE = {"low": 70.0, "normal": 30.0, "high": 11.0, "urgent": 4.0}


@dataclass(slots=True)
class _Ticket:
    """A ticket before it has a number."""

    customer: Customer
    opened: datetime
    category: str
    account_no: str
    invoice_no: str
    marks: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SupportTable:
    """The help desk's export."""

    rows: tuple[tuple[str, ...], ...]
    entities: tuple[str, ...]


def build(
    dice: Dice,
    customers: Sequence[Customer],
    bills: BillingTable,
    free_numbers: AccountNumbers,
    ledger: Ledger,
) -> SupportTable:
    """The rows in the order in which the tickets were opened."""
    tickets: list[_Ticket] = []
    for customer in customers:
        tickets.extend(_tickets_of(dice, customer, bills))
    for reminder in bills.reminders:
        tickets.extend(_tickets_about(dice, reminder))
    tickets.sort(key=lambda ticket: ticket.opened)
    clerk = _Clerk(dice, free_numbers)
    rows = []
    for number, ticket in enumerate(tickets, start=1):
        row_id = f"T-{100_000 + number}"
        rows.append(clerk.row(ticket, row_id))
        for column, kind in ticket.marks:
            ledger.note(column, kind, row_id)
    return SupportTable(tuple(rows), tuple(ticket.customer.entity_id for ticket in tickets))


def _tickets_of(dice: Dice, customer: Customer, bills: BillingTable) -> list[_Ticket]:
    accounts = bills.account_numbers.get(customer.entity_id, [""])
    invoices = bills.invoices.get(customer.entity_id, [])
    start, end = max(customer.joined, _HISTORY_STARTS), customer.left or TODAY
    days = (end - start).days
    if days < 1:
        return []
    rate = 1.65 * _BY_SEGMENT[customer.segment] * _BY_PRODUCT[customer.product]
    rate *= _BY_PAYER[customer.payer] * days / 365.0
    if not customer.in_billing:
        rate *= 0.3
    tickets = []
    for _ in range(min(dice.whole(dice.lognormal(rate, 0.5)), 60)):
        opened = _moment(dice, start + timedelta(days=dice.below(days)))
        category, invoice_no = dice.odds(_CATEGORY[customer.product]), ""
        if category == "Billing":
            known = [number for issued, number in invoices if issued < opened.date()]
            # Nobody asks about a bill before there is one.
            category, invoice_no = ("Billing", dice.pick(known)) if known else ("Access", "")
        tickets.append(_Ticket(customer, opened, category, dice.pick(accounts), invoice_no))
    if customer.left is not None and dice.chance(0.75):
        moment, number = _moment(dice, end), dice.pick(accounts)
        tickets.append(_Ticket(customer, moment, "Cancellation", number, ""))
    return tickets


def _tickets_about(dice: Dice, reminder: Reminder) -> list[_Ticket]:
    """Some customers write when an invoice is overdue."""
    day = reminder.due + timedelta(days=dice.between(6, 25))
    if not dice.chance(0.3) or not _HISTORY_STARTS <= day < TODAY:
        return []
    number, invoice = reminder.account_no, reminder.invoice_no
    return [_Ticket(reminder.customer, _moment(dice, day), "Billing", number, invoice)]


def _moment(dice: Dice, day: date) -> datetime:
    """A time of the day when people write: mostly office hours, rarely at weekends."""
    if day.isoweekday() > 5 and dice.chance(0.85):
        day -= timedelta(days=day.isoweekday() - 5)
    hour = dice.between(7, 16) if dice.chance(0.88) else dice.between(5, 21)
    return datetime.combine(day, time(hour, dice.below(60)))


class _Clerk:
    """Writes tickets down the way the help desk does."""

    def __init__(self, dice: Dice, free_numbers: AccountNumbers) -> None:
        self._dice = dice
        self._free_numbers = free_numbers

    def row(self, ticket: _Ticket, row_id: str) -> tuple[str, ...]:
        dice, customer = self._dice, ticket.customer
        person = customer.contact if dice.chance(0.6) else dice.pick(customer.people)
        channel = dice.odds(_CHANNEL)
        priority = dice.odds(_PRIORITY)
        email = self._email(ticket, person, channel)
        reference = self._reference(ticket)
        company = self._company(ticket, has_reference=bool(reference), has_email=bool(email))
        closed, hours = self._closed(ticket, priority)
        letter = self._letter(ticket, person, channel)
        return (
            row_id,
            self._name(ticket, person),
            email,
            company,
            reference,
            customer.product,
            channel,
            self._stamp(ticket),
            closed,
            priority,
            self._category(ticket),
            self._satisfaction(ticket, priority, hours),
            dice.pick(SUPPORT_TEAM),
            letter.subject,
            letter.body,
        )

    def _name(self, ticket: _Ticket, person: Person) -> str:
        dice = self._dice
        name = f"{person.first} {person.last}"
        way = dice.below(40)
        if way < 3:
            name = f"{person.last}, {person.first}"
        elif way == 3:
            name = typo(dice, name)
        elif way == 4:
            name = name.lower()
        if dice.chance(0.02):
            broken = mojibake(name)
            if broken != name:
                ticket.marks.append(("requester_name", "mojibake"))
            return broken
        return name

    def _email(self, ticket: _Ticket, person: Person, channel: str) -> str:
        dice = self._dice
        if dice.chance(0.5 if channel == "phone" else 0.005):
            ticket.marks.append(("requester_email", "missing"))
            return ""
        return person.email.upper() if dice.chance(0.02) else person.email

    def _reference(self, ticket: _Ticket) -> str:
        dice, number = self._dice, ticket.account_no
        if not number or dice.chance(0.12):
            ticket.marks.append(("account_ref", "missing"))
            return ""
        if dice.chance(0.006):
            ticket.marks.append(("account_ref", "orphan"))
            return self._free_numbers.next()
        if dice.chance(0.12):
            ticket.marks.append(("account_ref", "noise"))
            spaced = number.replace("-", dice.pick((" - ", "- ", " -")))
            return dice.pick((number.lower(), f" {number}", f"{number} ", spaced, spaced.lower()))
        return number

    def _company(self, ticket: _Ticket, *, has_reference: bool, has_email: bool) -> str:
        dice, company = self._dice, ticket.customer.company
        # Senders who gave neither reference nor address always say who they are.
        silent = 0.15 if has_reference or has_email else 0.0
        if company is None or dice.chance(silent):
            ticket.marks.append(("company", "missing"))
            return ""
        way = dice.below(20)
        if way < 7:
            name = company.core
        elif way < 13:
            name = company.name
        elif way < 18:
            name = company_spelling(dice, company.core, company.legal)
        else:
            name = typo(dice, company.core)
        if dice.chance(0.015):
            ticket.marks.append(("company", "outer_spaces"))
            return padded(dice, name)
        return name

    def _stamp(self, ticket: _Ticket) -> str:
        if ticket.opened.date() >= _NEW_HELP_DESK:
            return f"{ticket.opened.isoformat()}Z"
        ticket.marks.append(("opened_at", "local_offset"))
        return f"{ticket.opened.isoformat()}{_offset(ticket.opened)}"

    def _closed(self, ticket: _Ticket, priority: str) -> tuple[str, float]:
        """The closing time as written, and the hours until then; -1 while open."""
        dice = self._dice
        hours = dice.lognormal(_HOURS_TO_CLOSE[priority], 0.8)
        closed = ticket.opened + timedelta(minutes=int(hours * 60.0))
        if closed.date() >= TODAY or dice.chance(0.015):
            ticket.marks.append(("closed_at", "missing"))
            return "", -1.0
        if dice.chance(0.004):
            ticket.marks.append(("closed_at", "before_opened"))
            closed = ticket.opened - timedelta(minutes=dice.between(5, 300))
        old = ticket.opened.date() < _NEW_HELP_DESK
        return f"{closed.isoformat()}{_offset(ticket.opened) if old else 'Z'}", hours

    def _category(self, ticket: _Ticket) -> str:
        if self._dice.chance(0.09):
            ticket.marks.append(("category", "spelling"))
            return self._dice.pick(SPELLINGS[ticket.category])
        return ticket.category

    def _satisfaction(self, ticket: _Ticket, priority: str, hours: float) -> str:
        dice = self._dice
        answered = 0.75 if priority in ("high", "urgent") else 0.48
        if hours < 0.0 or not dice.chance(answered):
            ticket.marks.append(("satisfaction", "missing"))
            return ""
        if dice.chance(0.004):
            ticket.marks.append(("satisfaction", "out_of_range"))
            return dice.pick(("0", "10", "99"))
        mood = 4.9 - hours / 60.0 + 0.8 * dice.normal()
        if ticket.category in ("Billing", "Cancellation"):
            mood -= 0.9
        return str(max(1, min(5, int(mood + 0.5))))

    def _letter(self, ticket: _Ticket, person: Person, channel: str) -> Letter:
        letter = write_letter(
            self._dice, ticket.customer, person, channel, ticket.category, ticket.invoice_no
        )
        ticket.marks.extend(("body", kind) for kind in letter.findings)
        return letter


def _offset(moment: datetime) -> str:
    """Central European time; the old help desk switched to summer time with the month."""
    return "+02:00" if 4 <= moment.month <= 10 else "+01:00"
