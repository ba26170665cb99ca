"""The real customers behind the three systems: who they are and how they behave."""

from dataclasses import dataclass
from datetime import date, timedelta

from scripts.samples.addresses import Address, Phone, draw_address, draw_phone
from scripts.samples.companies import Company, CompanyRegister
from scripts.samples.corruptions import ascii_spelling
from scripts.samples.countries import COUNTRIES, City, Country
from scripts.samples.dice import Dice, Odds
from scripts.samples.identifiers import NumberIssuer
from scripts.samples.names import NAMES

TODAY = date(2026, 9, 30)
"""The day of the exports; fixed, so that the samples never depend on the real date."""

_FIRST_DAY = date(2021, 1, 4)

_COUNTRY = Odds.of(
    ("DE", 37),
    ("GB", 11),
    ("FR", 9),
    ("AT", 8),
    ("CH", 8),
    ("NL", 7),
    ("IT", 6),
    ("ES", 4),
    ("IE", 4),
    ("PL", 3),
    ("SE", 2),
    ("DK", 1),
)
_SEGMENT = Odds.of(("Private", 5), ("Small", 52), ("Mid-market", 33), ("Enterprise", 10))
_REVENUE = {"Small": 600_000.0, "Mid-market": 8_000_000.0, "Enterprise": 120_000_000.0}
_PRODUCT = Odds.of(("Ledger", 34), ("Depot", 28), ("Route", 24), ("Pulse", 14))
_PAYER = Odds.of(("prompt", 68), ("late", 22), ("poor", 10))
_MAIL_STYLE = Odds.of(("first.last", 60), ("f.last", 25), ("last", 10), ("firstlast", 5))
_FREE_MAIL = ("freemail.example", "postfach.example", "webpost.example")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who writes, calls or pays for a customer."""

    first: str
    last: str
    email: str


@dataclass(frozen=True, slots=True)
class Customer:
    """One real customer; `company` is None for a private person.

    A customer `in_group` shares its e-mail domain with a sister company, a `namesake` its name
    with an unrelated one.
    """

    entity_id: str
    country: Country
    company: Company | None
    in_group: bool
    namesake: bool
    people: tuple[Person, ...]
    phone: Phone
    address: Address
    segment: str
    revenue: int | None
    employees: int | None
    product: str
    payer: str
    joined: date
    left: date | None
    vat: str | None
    iban: str
    in_crm: bool
    in_billing: bool

    @property
    def language(self) -> str:
        return self.address.city.language

    @property
    def contact(self) -> Person:
        return self.people[0]


class Population:
    """Draws customers one after another, without two that could not be told apart."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._register = CompanyRegister(dice)
        self._numbers = NumberIssuer(dice)
        self._mailboxes: set[str] = set()
        self._phones: set[Phone] = set()
        self._drawn: list[Customer] = []
        self._resembled: set[str] = set()

    def draw(self, count: int) -> tuple[Customer, ...]:
        for number in range(1, count + 1):
            self._drawn.append(self._customer(f"E-{number:06d}"))
        return tuple(self._drawn)

    def _customer(self, entity_id: str) -> Customer:
        dice = self._dice
        segment = dice.odds(_SEGMENT)
        model = self._model(entity_id, segment)
        country = COUNTRIES[dice.odds(_COUNTRY)] if model is None else model.country
        sister = model is not None and dice.chance(0.3)
        city = dice.pick(country.cities)
        if model is not None and sister:
            city = model.address.city
        while model is not None and not sister and city == model.address.city:
            city = dice.pick(country.cities)
        address = draw_address(dice, city)
        company = self._company(segment, country, city, model, sister)
        private = company is None
        revenue, employees = self._size(segment)
        payer = dice.odds(_PAYER)
        joined, left = self._stay(payer)
        in_crm = dice.chance(0.95)
        return Customer(
            entity_id=entity_id,
            country=country,
            company=company,
            in_group=sister,
            namesake=model is not None and not sister,
            people=self._people(city.language, company, 1 if private else dice.between(1, 3)),
            phone=self._phone(country, address, private),
            address=address,
            segment=segment,
            revenue=revenue,
            employees=employees,
            product=dice.odds(_PRODUCT),
            payer=payer,
            joined=joined,
            left=left,
            vat=None if private else self._numbers.vat(country.code),
            iban=self._numbers.iban(country.code),
            in_crm=in_crm,
            in_billing=not in_crm or dice.chance(0.72),
        )

    def _model(self, entity_id: str, segment: str) -> Customer | None:
        """Now and then an earlier company whose name the next one resembles."""
        if segment == "Private" or not self._drawn or not self._dice.chance(0.035):
            return None
        model = self._dice.pick(self._drawn)
        # Two resemblances of one model could not be told apart, whatever the rules.
        if model.company is None or model.entity_id in self._resembled:
            return None
        self._resembled.update((model.entity_id, entity_id))
        return model

    def _company(
        self,
        segment: str,
        country: Country,
        city: City,
        model: Customer | None,
        sister: bool,
    ) -> Company | None:
        if segment == "Private":
            return None
        if model is None or model.company is None:
            return self._register.found(country.code, city)
        if sister:
            return self._register.sister(model.company, country.code, city)
        return self._register.lookalike(model.company, country.code, city)

    def _people(self, language: str, company: Company | None, count: int) -> tuple[Person, ...]:
        dice = self._dice
        style = dice.odds(_MAIL_STYLE)
        people = []
        for _ in range(count):
            first, last = dice.pick(NAMES[language].first), dice.pick(NAMES[language].last)
            domain = dice.pick(_FREE_MAIL) if company is None else company.domain
            people.append(Person(first, last, self._mailbox(first, last, domain, style)))
        return tuple(people)

    def _mailbox(self, first: str, last: str, domain: str, style: str) -> str:
        local = mail_name(first, last, style)
        address = f"{local}@{domain}"
        while address in self._mailboxes:
            address = f"{local}{self._dice.between(2, 999)}@{domain}"
        self._mailboxes.add(address)
        return address

    def _phone(self, country: Country, address: Address, private: bool) -> Phone:
        mobile = 0.8 if private else 0.25
        phone = draw_phone(self._dice, country, address.city, mobile)
        while phone in self._phones:
            phone = draw_phone(self._dice, country, address.city, mobile)
        self._phones.add(phone)
        return phone

    def _size(self, segment: str) -> tuple[int | None, int | None]:
        """Yearly revenue in whole thousands and the staff that goes with it."""
        if segment == "Private":
            return None, None
        revenue = 1000 * max(20, int(self._dice.lognormal(_REVENUE[segment], 0.6) / 1000.0))
        return revenue, 1 + int(self._dice.lognormal(revenue / 150_000.0, 0.3))

    def _stay(self, payer: str) -> tuple[date, date | None]:
        """When the customer came and, for some, left; poor payers leave more often."""
        dice = self._dice
        span = (TODAY - _FIRST_DAY).days - 30
        # The better of two draws: the business grows, so recent years have more newcomers.
        joined = _FIRST_DAY + timedelta(days=max(dice.below(span), dice.below(span)))
        if not dice.chance({"prompt": 0.12, "late": 0.22, "poor": 0.4}[payer]):
            return joined, None
        left = joined + timedelta(days=90 + int(dice.lognormal(420.0, 0.6)))
        return joined, left if left < TODAY else None


def mail_name(first: str, last: str, style: str) -> str:
    """The part of an e-mail address before the @ sign."""
    given, family = _letters(first), _letters(last)
    if style == "first.last":
        return f"{given}.{family}"
    if style == "f.last":
        return f"{given[0]}.{family}"
    if style == "last":
        return family
    return given + family


def _letters(name: str) -> str:
    return "".join(char for char in ascii_spelling(name).lower() if char.isalpha())
